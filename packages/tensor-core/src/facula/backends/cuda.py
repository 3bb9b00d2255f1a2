"""CUDA: not built."""

import contextlib
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
