"""CUDA: not built."""

from types import SimpleNamespace


def is_built():
    """Was it compiled in?"""
    return False


# what a GPU's matrix products may do; kept as set, for there is no GPU
matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False)


def flash_sdp_enabled():
    """May attention use the GPU's flash kernel?"""
    return False


mem_efficient_sdp_enabled = cudnn_sdp_enabled = flash_sdp_enabled


def math_sdp_enabled():
    """May attention be computed by plain products? Always."""
    return True
