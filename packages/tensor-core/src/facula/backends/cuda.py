"""CUDA: not built."""

import contextlib
import enum
from types import SimpleNamespace


def is_built():
    """Was it compiled in?"""
    return False


# what a GPU's matrix products may do; kept as set, for there is no GPU
matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False)


_roads = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduced": False}  # kept as set: attention is the same by any


def _switch(name, doc):
    def read():
        return _roads[name]

    def write(enabled):
        _roads[name] = bool(enabled)

    read.__doc__, write.__doc__ = f"May attention use {doc}? As set; it decides nothing here.", f"Allow {doc} for attention, or not."
    return read, write


flash_sdp_enabled, enable_flash_sdp = _switch("flash", "the GPU's flash kernel")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient", "the GPU's memory-efficient kernel")
math_sdp_enabled, enable_math_sdp = _switch("math", "plain products")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn", "cuDNN's kernel")
fp16_bf16_reduction_math_sdp_allowed, allow_fp16_bf16_reduction_math_sdp = _switch("reduced", "sums in halves")


def is_flash_attention_available():
    """Was the GPU's flash kernel compiled in?"""
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Other settings of the switches within the block. PyTorch deprecates it: torch.nn.attention.sdpa_kernel is the newer form."""
    before = dict(_roads)
    _roads.update(flash=bool(enable_flash), math=bool(enable_math), mem_efficient=bool(enable_mem_efficient), cudnn=bool(enable_cudnn))
    try:
        yield {}
    finally:
        _roads.update(before)


def _preference(name, doc, default, others):
    """A choice among a GPU's libraries, of which none is there: only the default can be chosen."""
    kind = enum.Enum(name, [n.capitalize() for n in (default, *others)])
    kind.__str__ = lambda self: f"{name}.{self.name}"

    def choose(backend=None):
        backend = backend.name.lower() if isinstance(backend, kind) else backend
        if backend is not None and not isinstance(backend, str):
            raise RuntimeError(f"preferred library: Unknown input value type {type(backend).__name__}. Choose from: {default}, {', '.join(others)}.")
        if backend in others:
            raise RuntimeError(f"preferred library: Cannot set preferred backend to {backend}, which is not built. Leave the default.")
        if backend not in (None, "default", default):
            raise RuntimeError(f"preferred library: Unknown input value {backend!r}. Choose from: {default}, {', '.join(others)}.")
        return next(iter(kind))

    choose.__doc__ = f"The library for {doc}: the default one, and no other can be set, for there is no GPU. Raises RuntimeError for others."
    return choose


preferred_linalg_library = _preference("_LinalgBackend", "factorisations on a GPU", "default", ("cusolver", "magma"))
preferred_blas_library = _preference("_BlasBackend", "matrix products on a GPU", "cublas", ("cublaslt", "ck"))
preferred_rocm_fa_library = _preference("_ROCmFABackend", "attention on an AMD GPU", "default", ("aotriton", "ck"))
