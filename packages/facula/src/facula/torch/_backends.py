"""torch.backends: switches of libraries that Facula does not use. They can be set and read, and change nothing."""

from __future__ import annotations

import types


def _switches(name: str, available: bool = False, **values) -> types.SimpleNamespace:
    return types.SimpleNamespace(is_available=lambda: available, **values)


cudnn = _switches("cudnn", enabled=True, benchmark=False, deterministic=True, allow_tf32=False, version=lambda: None)
cuda = types.SimpleNamespace(
    is_built=lambda: False,
    matmul=types.SimpleNamespace(
        allow_tf32=False, allow_fp16_reduced_precision_reduction=False, allow_bf16_reduced_precision_reduction=False
    ),
)
mps = types.SimpleNamespace(is_available=lambda: False, is_built=lambda: False)
mkl = _switches("mkl")
mkldnn = _switches("mkldnn", enabled=False)
openmp = _switches("openmp")
