"""A part that is not installed: absent to hasattr(), and named, with what to install, to everybody else."""

import subprocess
import sys

import pytest

HIDE = """
import importlib.abc, sys
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("facula.nn", "facula.autograd", "facula.func", "facula.hub", "facula.cli")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hide())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.startswith(("facula.nn", "facula.autograd", "facula.cli")) else found(name, package)
import facula
"""


def said(code):
    done = subprocess.run([sys.executable, "-c", HIDE + code], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize("name", ["nn", "autograd", "no_grad", "hub", "func"])
def test_hasattr_is_false(name):
    assert "False" == said(f"print(hasattr(facula, {name!r}))")


def test_the_attribute_says_what_to_install():
    assert "AttributeError: facula.nn comes with facula-nn, which is not installed: pip install facula-nn" == said("facula.nn")
    assert "facula.no_grad comes with facula-autograd" in said("facula.no_grad")


def test_the_import_says_what_to_install():
    assert "ModuleNotFoundError: facula.nn comes with facula-nn, which is not installed: pip install facula-nn" == said("from facula import nn")


def test_methods_of_a_missing_part_are_absent():
    assert "False" == said("print(hasattr(facula.ones(1), 'backward'))")
    assert "facula-autograd" in said("facula.ones(1).backward()")
    assert "ModuleNotFoundError" in said("facula.ones(1).requires_grad = True")


def test_the_core_has_no_name_that_it_says_another_part_brings():
    from facula.tensor_core import _ownership, api

    assert [] == [name for name in _ownership.NAMES if name in api.__all__]
