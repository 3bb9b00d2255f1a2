"""Programs written for PyTorch give PyTorch's numbers on Facula."""

import importlib.util
import json
import math
import os
import sys
from pathlib import Path

import facula
import pytest

PROGRAMS = Path(__file__).parent / "programs"
sys.path.insert(0, str(PROGRAMS))
import record  # noqa: E402

EXPECTED = json.loads((PROGRAMS / "expected.json").read_text())
TOLERANCE = {"float32": 1e-5, "float64": 1e-8}
# programs that wait for a name; they count again by themselves when it is there
WAITING: dict[str, str] = {}
SHADOW = ["--shadow"] if importlib.util.find_spec("torch") else []


def test_every_program_has_its_numbers():
    assert sorted(EXPECTED) == [path.stem for path in record.programs()]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", EXPECTED)
def test_program_gives_pytorchs_numbers(name, dtype, monkeypatch):
    if not hasattr(facula, WAITING.get(name, "Tensor")):
        pytest.xfail(f"facula.{WAITING[name]} is not there yet")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p and p != str(PROGRAMS)))
    command = [sys.executable, "-m", "facula.torch", *SHADOW, str(PROGRAMS / f"{name}.py"), *record.arguments(dtype)]

    actual = record.numbers(command)

    expected = EXPECTED[name][dtype]
    assert len(expected) == len(actual)
    apart = [
        i
        for i, (e, a) in enumerate(zip(expected, actual))
        if not math.isclose(e, a, rel_tol=TOLERANCE[dtype], abs_tol=1e-12)
    ]
    assert not apart, (
        f"from number {apart[0]} on: {expected[apart[0]]!r} on PyTorch, {actual[apart[0]]!r} here ({len(apart)} differ)"
    )
