"""Normalisation modules."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from . import functional as F
from . import init
from .functional._cross_map import cross_map
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "GroupNorm", "RMSNorm", "LocalResponseNorm", "CrossMapLRN2d",
]  # fmt: skip


class _NormBase(Module):
    """Parameters and running statistics of batch and instance norms."""

    _version = 2  # 2: num_batches_tracked

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make(num_features, affine, affine and bias, track_running_stats, device, dtype)
        self.reset_parameters()

    def _make(self, n: int, weight: bool, bias: bool, track: bool, device: Any, dtype: Any) -> None:
        def fresh() -> Tensor:
            return facula.empty(n, device=device, dtype=dtype)

        self.register_parameter("weight", Parameter(fresh()) if weight else None)
        self.register_parameter("bias", Parameter(fresh()) if bias else None)
        self.register_buffer("running_mean", fresh() if track else None)
        self.register_buffer("running_var", fresh() if track else None)
        self.register_buffer("num_batches_tracked", facula.tensor(0, dtype=facula.int64, device=device) if track else None)

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and fresh running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if len(input.shape) not in self._dims:
            wanted = " or ".join(f"{d}D" for d in self._dims)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, *rest: Any) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            here = self.num_batches_tracked
            state_dict[key] = facula.tensor(0, dtype=facula.int64) if here is None else here
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        own, kept = self._parameters, self._buffers
        if not self.training and kept.get("running_mean") is not None and "weight" in own and "bias" in own:  # see Linear
            return F.batch_norm(input, kept["running_mean"], kept.get("running_var"), own["weight"], own["bias"], False, 0.0, self.eps)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a cumulative mean
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return self._normalise(input, self.running_mean if tracked else None, self.running_var if tracked else None, by_batch, factor)

    def _normalise(self, input: Tensor, mean: Tensor | None, var: Tensor | None, by_batch: bool, factor: float) -> Tensor:
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """batch_norm of (N, C) or (N, C, L).

    >>> import facula
    >>> from facula import nn
    >>> nn.BatchNorm1d(1)(facula.tensor([[1.0], [3.0]])).shape
    torch.Size([2, 1])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """batch_norm of (N, C, H, W).

    >>> import facula
    >>> from facula import nn
    >>> nn.BatchNorm2d(3)(facula.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """batch_norm of (N, C, D, H, W).

    >>> norm = facula.nn.BatchNorm3d(2)
    >>> x = norm(facula.randn(4, 2, 3, 3, 3))
    >>> x.mean((0, 2, 3, 4)).abs().round(decimals=3)
    tensor([0., 0.], grad_fn=<RoundBackward1>)
    """

    _dims = (5,)


class _InstanceNorm(_NormBase):
    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, strict: bool, missing: list, unexpected: list, errors: list) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:  # before 0.4.0 it tracked them always
            old = [n for n in ("running_mean", "running_var") if prefix + n in state_dict]
            if old:
                errors.append(
                    f"Unexpected running stats buffer(s) {' and '.join(map(repr, old))} for {type(self).__name__} with track_running_stats=False. "
                    "A checkpoint from before 0.4.0 has them though they were not used: delete these keys, or set track_running_stats=True."
                )
            for name in old:
                state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channel = input.dim() - self._batched + 1
        if input.size(channel) != self.num_features and self.affine:
            raise ValueError(f"expected input's size at dim={channel} to match num_features ({self.num_features}), but got: {input.size(channel)}.")
        x = input if input.dim() == self._batched else input.unsqueeze(0)
        out = F.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out if input.dim() == self._batched else out.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """instance_norm of (N, C, L) or (C, L).

    >>> import facula
    >>> from facula import nn
    >>> nn.InstanceNorm1d(2)(facula.zeros(1, 2, 5)).shape
    torch.Size([1, 2, 5])
    """

    _dims, _batched = (2, 3), 3


class InstanceNorm2d(_InstanceNorm):
    """instance_norm of (N, C, H, W) or (C, H, W).

    >>> x = facula.nn.InstanceNorm2d(2)(facula.randn(4, 2, 3, 3))
    >>> bool((x.mean((2, 3)).abs() < 1e-5).all())
    True
    """

    _dims, _batched = (3, 4), 4


class InstanceNorm3d(_InstanceNorm):
    """instance_norm of (N, C, D, H, W) or (C, D, H, W).

    >>> x = facula.nn.InstanceNorm3d(2)(facula.randn(4, 2, 3, 3, 3))
    >>> bool((x.mean((2, 3, 4)).abs() < 1e-5).all())
    True
    """

    _dims, _batched = (4, 5), 5


class _LastDims(Module):
    """A norm over the last dims, of sizes normalized_shape."""

    def _set_shape(self, normalized_shape: Any, eps: Any, elementwise_affine: bool) -> None:
        if not hasattr(normalized_shape, "__len__"):  # one size, Python's or NumPy's
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine

    def _register(self, name: str, wanted: bool, device: Any, dtype: Any) -> None:
        fresh = Parameter(facula.empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
        self.register_parameter(name, fresh)


class LayerNorm(_LastDims):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.LayerNorm(2)(facula.tensor([[1.0, 3.0]])).tolist()
    [[-0.9999949932098389, 0.9999949932098389]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_shape(normalized_shape, eps, elementwise_affine)
        self._register("weight", elementwise_affine, device, dtype)
        self._register("bias", elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        own = self._parameters
        if "weight" in own and "bias" in own:  # see Linear
            return F.layer_norm(input, self.normalized_shape, own["weight"], own["bias"], self.eps)
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"


class RMSNorm(_LastDims):
    """x / sqrt(mean(x^2) + eps) * weight over the last dims.

    >>> import facula
    >>> from facula import nn
    >>> nn.RMSNorm(4)(facula.zeros(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set_shape(normalized_shape, eps, elementwise_affine)
        self._register("weight", elementwise_affine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalisation of each item's channels in num_groups groups.

    >>> import facula
    >>> from facula import nn
    >>> nn.GroupNorm(2, 4)(facula.zeros(1, 4, 5)).shape
    torch.Size([1, 4, 5])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            fresh = Parameter(facula.empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, fresh)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of x^2 over neighbouring channels)^beta.

    >>> import facula
    >>> from facula import nn
    >>> nn.LocalResponseNorm(2)(facula.zeros(1, 3, 4)).shape
    torch.Size([1, 3, 4])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """LocalResponseNorm of (N, C, H, W), under its name in Torch.

    >>> facula.nn.CrossMapLRN2d(2, alpha=2.0, beta=1.0)(facula.ones(1, 3, 1, 1)).flatten()
    tensor([0.5000, 0.3333, 0.3333])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return cross_map(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
