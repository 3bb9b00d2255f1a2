"""docs/adding-an-op.md is true: its three edits, made in a copy of the tree, give a new op with everything that ops have."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from tree import ROOT

PAGE = (ROOT / "docs/adding-an-op.md").read_text()
EDITS = re.findall(r"In `([^`]+)`:\n\n```\w+ (?:row|rule|oracle)\n(.+?)\n```", PAGE, re.S)

USE = """
import inspect
import facula
x = facula.tensor([1.0, -3.0], requires_grad=True)
y = facula.squash(x)
y.sum().backward()
assert y.tolist() == [0.5, -0.75], y
assert x.grad.tolist() == [0.25, 0.0625], x.grad
assert x.detach().squash().tolist() == y.tolist()
assert facula.squash(facula.tensor([1.0], dtype=facula.float16)).dtype is facula.float16
assert x.detach().clone().squash_().tolist() == y.tolist()
assert facula.squash(x.detach(), out=facula.empty(2)).tolist() == y.tolist()
assert "X / (1 + |x|)" in facula.squash.__doc__, facula.squash.__doc__
assert ">>> facula.squash(x)\\ntensor([ 0.5000, -0.7500])\\n>>> x.squash()\\n" in inspect.getdoc(facula.squash), facula.squash.__doc__
assert ">>> x.squash_()\\ntensor([ 0.5000, -0.7500])" in inspect.getdoc(x.squash_), x.squash_.__doc__
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with the page's edits, built in place."""
    copy = tmp_path_factory.mktemp("tree")
    skip = shutil.ignore_patterns("__pycache__", "*.so", "_ops.py", "*.pyi", ".native-stamp", ".types-stamp")
    for folder in ("csrc", "packages", "tools", "benchmarks"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=skip)
    for path, text in EDITS:
        with open(copy / path, "a") as f:
            f.write("\n" + text + "\n")
    done = subprocess.run([sys.executable, copy / "tools/build"], capture_output=True, text=True)
    assert 0 == done.returncode, done.stdout + done.stderr
    return copy


def run(tree, *arguments):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sorted(tree.glob("packages/*/src"))))}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environ, cwd=tree)
    assert 0 == done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_page_shows_three_edits():
    assert ["csrc/ops/map.def", "packages/autograd/src/facula/autograd/rules/elementwise.py",
            "packages/tensor-core/tests/oracles/map.py"] == [path for path, _ in EDITS]  # fmt: skip


def test_the_op_computes_and_differentiates(tree):
    run(tree, "-c", USE)


def test_its_types_are_written(tree):
    stubs = (tree / "packages/tensor-core/src/facula/tensor_core/_ops.pyi").read_text()

    assert "def squash(input: Tensor, *, out: Tensor | None = None) -> Tensor: ..." in stubs.splitlines()


def test_it_is_among_the_benchmarks(tree, tmp_path):
    out = run(tree, "benchmarks/bench_ops.py", "--quick", "--only", "squash", "--out", tmp_path / "ops.json")

    assert "squash" in out


def test_its_oracle_and_its_promise_hold(tree):
    tests = tree / "packages/tensor-core/tests"
    out = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "squash or oracle and every",
              tests / "test_ops.py", tests / "test_same_bits.py")  # fmt: skip

    assert "passed" in out


def test_its_derivative_agrees_with_differences(tree):
    out = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "squash", tree / "packages/autograd/tests/test_rules.py")

    assert "passed" in out
