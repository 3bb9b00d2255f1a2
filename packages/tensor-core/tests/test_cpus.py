"""Which copies of the kernels a machine gets, and what is said where none of them runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from facula.tensor_core._lib import lib

EMULATOR = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
WANTED = {  # as /proc/cpuinfo calls them
    3: "avx2 fma bmi1 bmi2 movbe f16c abm",
    4: "avx512f avx512bw avx512vl avx512dq avx512cd",
}
CPUS = {"core2duo": None, "qemu64": None, "Nehalem": 2, "Haswell,-f16c": 2, "Haswell,-abm": 2, "Haswell,-movbe": 2, "Haswell,-fma": 2, "Haswell": 3}
PROGRAM = "import facula; print(facula.tensor_core._native.fc_isa_level(), facula.arange(100.0).half().sum().item())"


def test_the_level_is_the_best_whose_instructions_the_kernel_lists():
    listed = [line.split(":")[1].split() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")]
    if not listed:
        pytest.skip("/proc/cpuinfo lists no flags here")
    level = 2
    while level + 1 in WANTED and set(WANTED[level + 1].split()) <= set(listed[0]):
        level += 1

    assert level == lib.fc_isa_level()


@pytest.mark.skipif(not EMULATOR, reason="qemu-x86_64 is not installed: apt-get install qemu-user")
@pytest.mark.parametrize("cpu", CPUS)
def test_an_older_cpu_gets_what_it_can_run_or_a_sentence(cpu):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([EMULATOR, "-cpu", cpu, sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True)
    level = CPUS[cpu]

    assert f"{level} 4952.0\n" == done.stdout if level else "x86-64-v2" in done.stderr.splitlines()[-1], done.stderr
