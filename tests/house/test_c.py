"""The C library without Python: its own tests, and a C program that uses nothing but facula.h."""

import shutil
import subprocess

import pytest
from tree import ROOT

import build_native

CSRC = ROOT / "csrc"
PROGRAMS = sorted((CSRC / "test").glob("example*.c"))

pytestmark = pytest.mark.skipif(not shutil.which(build_native.CC[0]), reason="no C compiler on PATH")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_c_tests_pass(tmp_path):
    done = subprocess.run(["make", "-C", CSRC / "test", f"BUILD={tmp_path}"], capture_output=True, text=True)

    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_c_program_runs_without_python(program, tmp_path):
    objects = build_native.compile_all(ROOT, 2, print, binding=False)
    target = tmp_path / program.stem
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Icsrc/include"]
    build_native.run([*build_native.CC, *flags, program, *objects, "-o", target, "-lm", "-lpthread", "-ldl"], ROOT)
    done = subprocess.run([target], capture_output=True, text=True)
    expected = [line[3:] for line in program.read_text().splitlines() if line.startswith(" * > ")]

    assert 0 == done.returncode
    assert [line.removeprefix("> ") for line in expected] == done.stdout.splitlines()


# gcc 12 makes vfmaddsub of two products side by side, a difference and a sum, whatever -ffp-contract says: one rounding where the scalar
# code at the end of a line has two (see `turned` in mathfn_complex_t.h)
@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
def test_nothing_is_contracted_behind_our_back():
    objects = build_native.compile_all(ROOT, 2, print, binding=False)
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", *objects], capture_output=True, text=True, check=True).stdout

    assert code.count("\tv") > 10_000
    assert [] == [line for line in code.splitlines() if "vfmaddsub" in line or "vfmsubadd" in line]
