"""One-line programs about single arguments, beside PyTorch: truth values for dims, numbers that a dtype does not hold, no tensors for tensors.

Each line of argument_programs.txt gives the same values and dtypes there and here, or is refused with the same class.
"""

import warnings
from pathlib import Path

import pytest

import facula
import facula.nn.functional

torch = pytest.importorskip("torch")

PROGRAMS = Path(__file__).with_name("argument_programs.txt").read_text().splitlines()


def outcome(program, X):
    X.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(program, {"X": X, "F": X.nn.functional})
        except Exception as e:
            return e


def shown(result):
    """What two libraries' results are compared by."""
    if isinstance(result, (tuple, list)):
        return [shown(r) for r in result]
    return (str(result.dtype), tuple(result.shape), str(result.tolist())) if hasattr(result, "dtype") else str(result)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_ends_as_in_pytorch(program):
    expected, actual = outcome(program, torch), outcome(program, facula)
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (expected, actual)
    else:
        assert shown(expected) == shown(actual)
