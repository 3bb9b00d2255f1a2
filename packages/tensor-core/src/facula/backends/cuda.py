"""CUDA: not built."""

import contextlib
import enum
from types import SimpleNamespace


def is_built():
    """Was it compiled in?

    >>> facula.backends.cuda.is_built()
    False
    """
    return False


# what a GPU's matrix products may do; kept as set, for there is no GPU
matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False)


_roads = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduced": False}  # kept as set: attention is the same by any


def _switch(name, doc):
    def read():
        return _roads[name]

    def write(enabled):
        _roads[name] = bool(enabled)

    words = ("fp16_bf16_reduction_math_sdp_allowed", "allow_fp16_bf16_reduction_math_sdp") if name == "reduced" else (f"{name}_sdp_enabled", f"enable_{name}_sdp")
    asks, sets = (f"facula.backends.cuda.{word}" for word in words)
    read.__doc__ = f"May attention use {doc}? As set; it decides nothing here.\n\n    >>> {asks}()\n    {_roads[name]}\n    "
    write.__doc__ = f"Allow {doc} for attention, or not.\n\n    >>> {sets}({not _roads[name]})\n    >>> {asks}()\n    {not _roads[name]}\n    >>> {sets}({_roads[name]})\n    "
    return read, write


flash_sdp_enabled, enable_flash_sdp = _switch("flash", "the GPU's flash kernel")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient", "the GPU's memory-efficient kernel")
math_sdp_enabled, enable_math_sdp = _switch("math", "plain products")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn", "cuDNN's kernel")
fp16_bf16_reduction_math_sdp_allowed, allow_fp16_bf16_reduction_math_sdp = _switch("reduced", "sums in halves")


def is_flash_attention_available():
    """Was the GPU's flash kernel compiled in?

    >>> facula.backends.cuda.is_flash_attention_available()
    False
    """
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Other settings of the switches within the block. PyTorch deprecates it: torch.nn.attention.sdpa_kernel is the newer form.

    >>> with facula.backends.cuda.sdp_kernel(enable_flash=False):
    ...     facula.backends.cuda.flash_sdp_enabled()
    False
    """
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

    public = {"_LinalgBackend": "linalg", "_BlasBackend": "blas", "_ROCmFABackend": "rocm_fa"}[name]
    text = f"The library for {doc}: the default one, and no other can be set, for there is no GPU. Raises RuntimeError for others."
    choose.__doc__ = f"{text}\n\n    >>> facula.backends.cuda.preferred_{public}_library().name\n    '{default.capitalize()}'\n    "
    return choose


preferred_linalg_library = _preference("_LinalgBackend", "factorisations on a GPU", "default", ("cusolver", "magma"))
preferred_blas_library = _preference("_BlasBackend", "matrix products on a GPU", "cublas", ("cublaslt", "ck"))
preferred_rocm_fa_library = _preference("_ROCmFABackend", "attention on an AMD GPU", "default", ("aotriton", "ck"))
