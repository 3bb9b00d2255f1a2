"""Generated files agree with their sources, ruff is content, every part has what a part has."""

import os
import shutil
import subprocess
import sys

import pytest
from tree import PARTS, ROOT


def test_workflow_is_what_tox_ini_makes():
    done = subprocess.run([sys.executable, ROOT / "tools/make_workflow", "--check"], capture_output=True, text=True)

    assert "" == done.stderr


@pytest.mark.parametrize("part", PARTS)
def test_part_is_typed_described_and_tested(part):
    folder = ROOT / "packages" / part

    assert list(folder.glob("src/facula/**/py.typed"))
    assert len((folder / "README.md").read_text()) > 200
    assert list(folder.glob("tests/test_*.py"))


def test_ruff_is_content():
    ruff = shutil.which("ruff", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
    if not ruff:
        pytest.skip("ruff is not installed: pip install ruff")
    done = subprocess.run([ruff, "check", "--no-cache", "--output-format=concise", ROOT], capture_output=True, text=True)

    assert 0 == done.returncode, done.stdout
