"""The library under test: Facula, or PyTorch with FACULA_TEST_BACKEND=torch, which tells whether a test's expectation is right."""

import importlib
import os

BACKEND = os.environ.get("FACULA_TEST_BACKEND", "facula")
torch = importlib.import_module(BACKEND)
checkpointing = importlib.import_module(BACKEND + ".utils.checkpoint")


def leaf(*values, shape=None, dtype=None):
    """A float64 leaf that requires gradients, from numbers."""
    data = torch.tensor([float(v) for v in values], dtype=dtype or torch.float64)
    if shape is not None:
        data = data.reshape(shape)
    return data.detach().clone().requires_grad_()


def node(*values, shape=None):
    """A float64 tensor with history (the clone of a leaf) and that leaf."""
    x = leaf(*values, shape=shape)
    return x, x.clone()


def plain(*values):
    return torch.tensor([float(v) for v in values], dtype=torch.float64)


def near(expected, actual, tolerance=1e-9):
    """Whether a (nested) list of numbers and a tensor agree."""
    if hasattr(actual, "tolist"):
        actual = actual.tolist()
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(actual) and all(near(e, a, tolerance) for e, a in zip(expected, actual))
    return abs(expected - actual) <= tolerance * max(1, abs(expected))
