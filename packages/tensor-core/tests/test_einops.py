"""einops on tensors: its backend is there whenever einops is, imported before or after."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import facula
import pytest

FOLDER = Path(facula.__file__).parent.parent


def run(program, *folders):
    path = ":".join(map(str, (*folders, FOLDER)))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("first", ["facula", "einops._backends"])
def test_the_backend_is_registered_in_either_order(first, tmp_path):
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops/__init__.py").write_text("from . import _backends\n")
    (tmp_path / "einops/_backends.py").write_text("class AbstractBackend: pass\n")
    program = f"""
    import {first}, gc, sys, facula, einops._backends
    gc.collect()
    (kind,) = einops._backends.AbstractBackend.__subclasses__()
    x = facula.arange(6.0).reshape(2, 3)
    assert kind().is_appropriate_type(x) and not kind().is_appropriate_type([1])
    assert kind().transpose(x, (1, 0)).shape == (3, 2) and kind().reduce(x, "prod", (0, 1)).item() == 0
    assert kind().add_axes(x, 3, {{1: 4}}).shape == (2, 4, 3) and kind().reduce(x, "max", (0,)).tolist() == [3, 4, 5]
    print(kind.framework_name, sum(type(f).__name__ == "_Waiting" for f in sys.meta_path))
    """

    assert "facula 0" == run(program, tmp_path)


def test_nothing_is_imported_for_it():
    assert "False" == run("import facula, sys; print('einops' in sys.modules)")


def test_expressions_of_einops():
    einops = pytest.importorskip("einops", reason="runs einops, which is not installed")
    x = facula.arange(24.0).reshape(2, 3, 4)

    assert (8, 3) == einops.rearrange(x, "a b c -> (a c) b").shape
    assert [5.5, 17.5] == einops.reduce(x, "a b c -> a", "mean").tolist()
    assert (2, 3, 4, 5) == einops.repeat(x, "a b c -> a b c r", r=5).shape
    assert (3, 3) == einops.einsum(x, x, "a b c, a d c -> b d").shape
