"""The C tests under the sanitizers, where the compiler has them: races in the pool, accesses outside of memory, undefined behaviour.

And every row while its allocations are refused, for which a library of its own is linked.
"""

import runpy
import shutil
import subprocess
import sys

import pytest
from tree import ROOT

sanitize = runpy.run_path(str(ROOT / "tools/sanitize"))
QUICK = ("alloc", "generator", "parallel")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("sanitizer", sanitize["SANITIZERS"])
@pytest.mark.parametrize("name", QUICK)
def test_c_test_is_clean(name, sanitizer, tmp_path):
    if not sanitize["works"](sanitizer):
        pytest.skip(f"{sanitize['COMPILER']} cannot compile and run with -fsanitize={sanitizer}")
    command = ["make", "-C", ROOT / "csrc/test", f"SANITIZE={sanitizer}", f"BUILD={tmp_path}", name]
    done = subprocess.run(command, capture_output=True, text=True)

    assert 0 == done.returncode, done.stdout + done.stderr


def test_memory_may_end_in_the_midst_of_any_op():
    done = subprocess.run([sys.executable, ROOT / "tools/sanitize", "memory"], capture_output=True, text=True)

    assert 0 == done.returncode, done.stdout[-5000:] + done.stderr[-2000:]
