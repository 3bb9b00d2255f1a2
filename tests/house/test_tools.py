"""What the tools say and read, where they are not at home."""

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys

import pytest
from tree import ROOT

import environment


def tool(name, monkeypatch, root=ROOT):
    """A tool as a module, of the clone at `root`."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", root)
    return module


def test_the_hash_of_wheels_is_of_sources_alone(tmp_path, monkeypatch):
    wheels = tool("wheels", monkeypatch, tmp_path)
    source = tmp_path / "packages/nn/src/facula/nn/linear.py"
    (tmp_path / "csrc").mkdir()
    source.parent.mkdir(parents=True)
    source.write_text("1")
    before = wheels.content_hash()
    for made in ("_native.abi3.so", "_ops.py", "__pycache__/linear.pyc", ".pytest_cache/x", "tests/test_linear.py", "api.pyi"):
        path = source.parent / made
        path.parent.mkdir(exist_ok=True)
        path.write_text("made")
    same = wheels.content_hash()
    source.write_text("2")

    assert before == same != wheels.content_hash()


def test_every_tracked_source_is_hashed(monkeypatch):
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        pytest.skip("no clone, or git is not installed")
    listed = subprocess.run(["git", "ls-files", "-z", "csrc", "packages"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tracked = {ROOT / name for name in listed.split("\0") if name and "/tests/" not in name}

    assert set() == tracked - set(tool("wheels", monkeypatch).sources())


def test_a_folder_that_cannot_be_made_is_named(capsys):
    with pytest.raises(SystemExit) as caught:
        environment.ensure(ROOT / "README.md/venv", [])

    assert all(text in str(caught.value) for text in (str(ROOT / "README.md/venv"), "cannot be made", "Copy the clone"))


def test_what_builds_and_what_runs_is_read_from_the_project_file():
    assert ["hatchling", "cffi"] == [r.partition(">")[0] for r in environment.declared("requires")]
    assert ["numpy", "cffi"] == [r.partition(">")[0] for r in environment.declared("dependencies")]


@pytest.mark.parametrize("what", ["ops", "races", "thread", "address,undefined"])
def test_a_compiler_without_sanitizers_is_said(what, tmp_path):
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\nexit 1\n")
    cc.chmod(0o755)
    done = subprocess.run([sys.executable, ROOT / "tools/sanitize", what], capture_output=True, text=True, env={"CC": str(cc), "PATH": ""})

    assert 0 == done.returncode, done.stderr
    assert f"{cc} cannot; left out" in done.stdout
