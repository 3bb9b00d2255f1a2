"""Small programs, probes.txt, run on Facula and on PyTorch where it is installed: what each leaves in R must be the same.

Each begins with a line "# title". L(1.0, 2.0) is a leaf of those numbers; E(f) is what f() gives, or the kind of error that it raises.
"""

import warnings
from pathlib import Path

import pytest
from backend import BACKEND
from backend import torch as ours

theirs = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
if BACKEND == "torch":
    pytest.skip("PyTorch is like itself", allow_module_level=True)

TEXT = Path(__file__).with_name("probes.txt").read_text()
PROBES = dict(block.partition("\n")[::2] for block in TEXT.removeprefix("# ").split("\n# "))


def seen(value, torch):
    if isinstance(value, torch.Tensor):
        values = value.detach().to_dense()
        values = torch.view_as_real(values) if values.is_complex() else values
        return tuple(value.shape), str(value.dtype), [round(float(x), 5) for x in values.flatten()], value.requires_grad
    if isinstance(value, (tuple, list)):
        return [seen(v, torch) for v in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__


def kind(error):
    return next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")


def run(code, torch):
    import importlib

    def attempt(f):
        try:
            return "ok", seen(f(), torch)
        except Exception as error:
            return "error", kind(error)

    names = {
        "torch": torch, "Function": torch.autograd.Function, "F": torch.nn.functional, "v": torch.vmap, "E": attempt, "weakref": __import__("weakref"),
        "L": lambda *values: torch.tensor(values, requires_grad=True), "fw": importlib.import_module(torch.__name__ + ".autograd.forward_ad"),
    }  # fmt: skip
    code = code.replace("from torch.", f"from {torch.__name__}.").replace("import torch.", f"import {torch.__name__}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    return repr(seen(names["R"], torch))


@pytest.mark.parametrize("title", PROBES)
def test_a_program_gives_what_pytorch_gives(title):
    pytest.importorskip("facula.nn")

    assert run(PROBES[title], theirs) == run(PROBES[title], ours)
