"""`torch`: Facula, or PyTorch itself with FACULA_TEST_BACKEND=torch, which proves that the tests expect the right thing."""

import os

if os.environ.get("FACULA_TEST_BACKEND") == "torch":
    import torch
else:
    import facula as torch

__all__ = ["torch"]
