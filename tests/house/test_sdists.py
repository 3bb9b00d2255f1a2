"""The sdists install outside of the repository, with nothing but a compiler, and give the same files as the wheels."""

import os
import subprocess
import sys
import tarfile

import pytest
from tree import PARTS, ROOT

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
    out = tmp_path_factory.mktemp("sdists")
    run(sys.executable, ROOT / "tools/wheels", "--sdists", "--out", out)
    return sorted(out.glob("*.tar.gz"))


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
