"""CrossMapLRN2d as Torch computed it: a running sum over channels, and a gradient that is not that of what it gives."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

_function = None


def cross_map(input: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
    """input (N, C, H, W) / (k + alpha / size * running sums of squares)^beta."""
    return _made().apply(input, size, alpha, beta, k)


def _windows(x: Tensor, count: int) -> Tensor:
    """Sums of `count` neighbours along dim 1, without a border."""
    kept = x.size(1) - count + 1
    return sum(x.narrow(1, j, kept) for j in range(count))


def _scale(input: Tensor, size: int, alpha: float, k: float) -> Tensor:
    """The sums over channels c - reach + 1 .. c + reach - 1, from which channel 0 is never dropped, scaled."""
    reach = int((size - 1) / 2 + 1)
    squares = input * input
    total = _windows(facula.constant_pad_nd(squares, (0, 0, 0, 0, reach - 1, reach - 1)), 2 * reach - 1)
    if input.size(1) > reach:
        total[:, reach:] += squares[:, :1]
    return total.mul_(alpha / size).add_(k)


def _made() -> Any:
    """The autograd Function, made at first use so that nn starts without autograd."""
    global _function
    if _function is None:
        from facula.autograd import Function
        from facula.autograd.function import once_differentiable

        class CrossMapLRN2d(Function):
            @staticmethod
            def forward(ctx: Any, input: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
                if input.dim() != 4:
                    raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead. Give (N, C, H, W).")
                input = input.contiguous()
                ctx.scale = _scale(input, size, alpha, k)
                ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
                output = ctx.scale.pow(-beta).mul_(input)
                ctx.save_for_backward(input, output)
                return output

            @staticmethod
            @once_differentiable
            def backward(ctx: Any, grad: Tensor) -> tuple:
                input, output = ctx.saved_tensors
                size, c = ctx.size, input.size(1)
                before = int(size - (size - 1) / 2)
                if before >= size:
                    raise RuntimeError(f"CrossMapLRN2d: size {size} has no gradient: start ({before}) + length ({c}) exceeds dimension size ({c + size - 1}). Take a larger one.")
                ratios = facula.constant_pad_nd(grad * output / ctx.scale, (0, 0, 0, 0, before, size - 1 - before))
                shared = _windows(ratios, size).mul_(input)  # without the channel 0 that stayed in the sums: Torch's gradient leaves it out
                return ctx.scale.pow(-ctx.beta).mul_(grad).sub_(shared, alpha=2 * ctx.alpha * ctx.beta / size), None, None, None, None

        _function = CrossMapLRN2d
    return _function
