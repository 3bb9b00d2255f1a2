"""SyncBatchNorm: the batch is that of all processes of a group."""

from __future__ import annotations

import sys
from typing import Any

import facula
from facula import Tensor

from .functional._norm import _move
from .functional._rows import row

from .module import Module
from .normalization import _BatchNorm

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """batch_norm of (N, C, ...) with statistics over all processes of process_group, or of the default group where there is one.

    Each process keeps the gradients of weight and bias that its own part of the batch gives, as DistributedDataParallel expects.

    >>> model = facula.nn.Sequential(facula.nn.Linear(2, 3), facula.nn.BatchNorm1d(3))
    >>> type(facula.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]).__name__
    'SyncBatchNorm'
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def _normalise(self, input: Tensor, mean: Tensor | None, var: Tensor | None, by_batch: bool, factor: float) -> Tensor:
        dist = sys.modules.get("facula.distributed")  # where nobody imported it there is no group
        alone = dist is None or not (self.process_group or dist.is_initialized()) or dist.get_world_size(self.process_group) == 1
        if alone or not by_batch:
            return super()._normalise(input, mean, var, by_batch, factor)
        out, new_mean, new_var = _made().apply(input, self.weight, self.bias, self.eps, dist, self.process_group)
        with facula.no_grad():
            _move(mean, new_mean, factor)
            _move(var, new_var, factor)
        return out

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with every batch norm in it replaced by a SyncBatchNorm that takes over its parameters and statistics."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group,
                bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                converted.weight, converted.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(converted, name, getattr(module, name))
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


_function = None


def _made() -> Any:
    """The autograd Function, made at first use so that nn starts without autograd."""
    global _function
    if _function is None:
        from facula.autograd import Function
        from facula.autograd.function import once_differentiable

        class SyncNorm(Function):
            """(batch norm, mean, unbiased variance): each process's mean and variance are joined, so nothing cancels."""

            @staticmethod
            def forward(ctx: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, dist: Any, group: Any) -> tuple:
                c, count = x.size(1), x.numel() // x.size(1)
                _, mean, _, var = row("_batch_norm_train")(x, None, None, eps)
                mine = facula.cat([mean, var, facula.full((1,), count, dtype=mean.dtype)]) if count else mean.new_zeros(2 * c + 1)
                everybody = [facula.empty_like(mine) for _ in range(dist.get_world_size(group))]
                dist.all_gather(everybody, mine, group=group)
                table = facula.stack(everybody)
                means, variances, counts = table[:, :c], table[:, c:-1], table[:, -1:]
                total = counts.sum().item()
                if total <= 1:
                    raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.size()} and {total:g} in all processes")
                mean = (means * counts).sum(0) / total
                var = ((variances + (means - mean).square()) * counts).sum(0) / total
                out, invstd = row("_batch_norm_eval")(x, mean, var, weight, bias, eps)
                ctx.save_for_backward(x, weight, mean, invstd)
                ctx.total, ctx.has_bias, ctx.dist, ctx.group = total, bias is not None, dist, group
                var = var * (total / (total - 1))
                ctx.mark_non_differentiable(mean, var)
                return out, mean, var

            @staticmethod
            @once_differentiable
            def backward(ctx: Any, g: Tensor, *_: Any) -> tuple:
                x, weight, mean, invstd = ctx.saved_tensors
                dx, dw, db = row("_batch_norm_backward")(g, x, mean, invstd, weight, False)
                sums = facula.cat([db, dw]).to(mean.dtype)  # of g, and of g times x normalised
                ctx.dist.all_reduce(sums, group=ctx.group)
                shape = (1, -1) + (1,) * (x.dim() - 2)
                of_g, of_gh = (t.reshape(shape) / ctx.total for t in sums.chunk(2))
                scale = (invstd if weight is None else invstd * weight).reshape(shape)
                h = (x - mean.reshape(shape)) * invstd.reshape(shape)
                dx = dx - ((of_g + h * of_gh) * scale).to(dx.dtype)
                return dx, None if weight is None else dw, db if ctx.has_bias else None, None, None, None

        _function = SyncNorm
    return _function
