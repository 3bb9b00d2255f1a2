"""torch.backends: switches of libraries that Facula does not use. They can be set and read, and change nothing."""

from __future__ import annotations

import types


def _switches(name: str, **values) -> types.ModuleType:
    """A module of switches, so that `import torch.backends.cudnn as cudnn` works."""
    module = types.ModuleType(f"torch.backends.{name}", f"Switches of {name}, which Facula does not use.")
    module.is_available = lambda: False
    module.__dict__.update(values)
    return module


cudnn = _switches("cudnn", enabled=True, benchmark=False, deterministic=True, allow_tf32=False, version=lambda: None)
cuda = _switches(
    "cuda",
    is_built=lambda: False,
    matmul=types.SimpleNamespace(
        allow_tf32=False, allow_fp16_reduced_precision_reduction=False, allow_bf16_reduced_precision_reduction=False
    ),
)
mps = _switches("mps", is_built=lambda: False)
mkl = _switches("mkl")
mkldnn = _switches("mkldnn", enabled=False)
openmp = _switches("openmp")
opt_einsum = _switches("opt_einsum", enabled=False, strategy=None)
