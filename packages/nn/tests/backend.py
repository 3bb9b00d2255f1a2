"""`torch`: Facula, or PyTorch itself with FACULA_TEST_BACKEND=torch, which proves that the tests expect the right thing."""

import os

if os.environ.get("FACULA_TEST_BACKEND") == "torch":
    import torch
else:
    import facula as torch


def wait_for(*names):
    """Skip, saying why, while tensor-core has not these names yet."""
    import pytest

    for name in names:
        there = torch
        try:
            for part in name.split("."):
                there = getattr(there, part)
        except (AttributeError, ModuleNotFoundError):
            pytest.skip(f"tensor-core has no {name} yet")


__all__ = ["torch", "wait_for"]
