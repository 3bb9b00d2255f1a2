"""The sdists install outside of the repository, with nothing but a compiler, and give the same files as the wheels."""

import os
import shutil
import subprocess
import sys
import tarfile

import pytest
from tree import PARTS, ROOT

import environment

USE = """
import facula, facula.autograd, facula.nn, facula.optim, facula.data, facula.jit, facula.dist, facula.vision, facula.distributions
import facula.cli, facula.utils.data, facula.utils.trainer
assert facula.__file__.startswith({where!r}), facula.__file__
model = facula.nn.Linear(2, 1)
model(facula.ones(3, 2)).sum().backward()
assert [3.0] == model.bias.grad.tolist()
assert 364 == len(facula.vision.datasets.Digits(train=False))
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert 0 == done.returncode, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def sdists(tmp_path_factory):
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install hatchling")
    clone = tmp_path_factory.mktemp("sdists") / "ein Ordner, größer"  # unpacked from an archive, where git is not installed
    for name in ("csrc", "packages", "tools"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    environment.ensure(environment.TOOLS, environment.declared("requires"))
    (clone / ".venv-tools").symlink_to(environment.TOOLS)
    for path in clone.rglob("pyproject.toml"):
        path.chmod(0o444)
    said = run(sys.executable, clone / "tools/wheels", "--sdists", env={**os.environ, "PATH": "", "LC_ALL": "C"})
    folder, _, version = said.strip().rpartition(" ")

    assert str(clone / "build/wheels") == folder
    assert [] == [p.name for p in clone.glob("build/tree-*")]
    return sorted(clone.glob(f"build/wheels/*-{version}.tar.gz"))


def test_every_part_has_one_sdist_with_its_licence_and_tests(sdists):
    assert len(PARTS) == len(sdists)
    for sdist in sdists:
        with tarfile.open(sdist) as t:
            names = {n.partition("/")[2] for n in t.getnames()}

        assert {"LICENSE", "README.md", "pyproject.toml"} <= names
        assert any(n.startswith("tests/test_") for n in names), sdist.name


def test_the_sdists_install_elsewhere_and_work(sdists, tmp_path):
    target, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", target, *sdists,
        cwd=elsewhere, env=environ)  # fmt: skip
    run(sys.executable, "-c", USE.format(where=str(target)), cwd=elsewhere, env={**environ, "PYTHONPATH": str(target)})
