"""The library under Python's own switches: without docstrings and asserts, with warnings as errors, in an ASCII locale."""

import os
import subprocess
import sys

import pytest

EVERY_MODULE = """
import importlib, pkgutil, facula
for module in pkgutil.walk_packages(facula.__path__, "facula."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
model = facula.nn.Linear(2, 1)
model(facula.ones(3, 2)).sum().backward()
print(model.bias.grad.item(), facula.hann_window(4).sum().item())
"""


@pytest.mark.parametrize("flags", ["-OO", "-W error -X dev", "-bb -X utf8=0"])
def test_every_module_imports(flags):
    environ = {**os.environ, "LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, *flags.split(), "-c", EVERY_MODULE], env=environ, capture_output=True, text=True)

    assert "3.0 2.0\n" == done.stdout, done.stderr
    assert "" == done.stderr


@pytest.mark.parametrize("flags", ["-O", "-OO"])
def test_errors_do_not_rest_on_asserts(flags):
    code = "import facula; facula.masked.var(facula.ones(2), 0, unbiased=False, correction=1)"
    done = subprocess.run([sys.executable, flags, "-c", code], capture_output=True, text=True)

    assert "AssertionError: Only one of unbiased and correction may be given" == done.stderr.splitlines()[-1]
