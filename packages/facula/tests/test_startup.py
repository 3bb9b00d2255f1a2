"""What starting the shim loads: a slow module that creeps in is named here. (Time itself is measured by benchmarks.)"""

import subprocess
import sys

SLOW = {
    "numpy",
    "multiprocessing",
    "zipfile",
    "tempfile",
    "socket",
    "logging",
    "asyncio",
    "ast",
    "inspect",
    "unittest",
    "difflib",
    "facula.vision",
    "facula.distributions",
    "facula.dist",
    "facula.jit",
}
PROGRAM = """
import sys
before = set(sys.modules)  # what the interpreter's own site loads is not ours
import facula.torch
with facula.torch.enabled(shadow=True):
    import torch, torch.nn, torch.optim, torch.utils.data
print(*set(sys.modules) - before)
"""


def test_importing_torch_through_facula_loads_nothing_slow():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert set() == SLOW & set(done.stdout.split())
