"""Initial values: fill a tensor in place, without recording, drawing what PyTorch draws for the same seed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import facula
from facula import Tensor

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_",
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse",
]  # fmt: skip

_Fill = TypeVar("_Fill", bound=Callable)
_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor that keeps the variance through `nonlinearity`; param is the slope of leaky_relu.

    Source: He et al., Delving Deep into Rectifiers (2015); 5/3 for tanh and 3/4 for selu are the field's constants.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"calculate_gain: negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"calculate_gain: unsupported nonlinearity {nonlinearity!r}. Known: {', '.join(_LINEAR)}, tanh, relu, leaky_relu, selu.")


# What several of these do stands apart from the public names: a program that puts its own function in the place of one, as is done
# to skip the drawing, changes that one alone.


def _uniform(tensor: Tensor, a: float, b: float, generator: Any) -> Tensor:
    with facula.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _normal(tensor: Tensor, mean: float, std: float, generator: Any) -> Tensor:
    with facula.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _constant(tensor: Tensor, val: float) -> Tensor:
    with facula.no_grad():
        return tensor.fill_(val)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the uniform distribution on [a, b).

    >>> import facula
    >>> from facula import nn
    >>> nn.init.uniform_(facula.empty(2), 1.0, 1.0)
    tensor([1., 1.])
    """
    return _uniform(tensor, a, b, generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from the normal distribution.

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.init.normal_(facula.empty(2))
    tensor([ 1.5410, -0.2934])
    """
    return _normal(tensor, mean, std, generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.constant_(facula.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return _constant(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.ones_(facula.empty(2))
    tensor([1., 1.])
    """
    return _constant(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.zeros_(facula.empty(2))
    tensor([0., 0.])
    """
    with facula.no_grad():
        return tensor.zero_()  # which a sparse tensor has, unlike fill_


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill from the normal distribution, values outside [a, b] drawn again.

    Where less than 0.3 of the mass lies inside, proposals are uniform on [a, b] and kept with the density's probability.

    >>> bool((facula.nn.init.trunc_normal_(facula.empty(1000)).abs() <= 2).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=2
        )
    if tensor.is_meta:
        return tensor  # nothing to draw, and nothing to ask
    with facula.no_grad():
        mass = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
        if mass > 0.3:
            low, high = facula.tensor([a, b], dtype=tensor.dtype, device="cpu").tolist()  # as the dtype can hold them
            tensor.normal_(mean, std, generator=generator)
            while True:
                outside = (tensor < low) | (tensor > high)
                if not outside.any():
                    return tensor
                # a full-size draw each time, so the stream is the same whatever was outside
                fresh = facula.empty_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(facula.where(outside, fresh, tensor))
        peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        wanted = facula.ones_like(tensor, dtype=facula.bool)
        while wanted.any():
            proposal = facula.empty_like(tensor).uniform_(a, b, generator=generator)
            height = ((proposal - mean) / std).pow(2) * -0.5 - peak
            kept = wanted & (facula.empty_like(tensor).uniform_(0, 1, generator=generator).log() <= height)
            tensor.copy_(facula.where(kept, proposal, tensor))
            wanted = wanted & ~kept
        return tensor


def _normal_cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.eye_(facula.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_: only tensors with 2 dimensions are supported, got {tensor.ndim}")
    with facula.no_grad():
        return tensor.copy_(facula.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution weight (3, 4 or 5 dims) so that it hands its input through, in each of `groups`.

    >>> import facula
    >>> from facula import nn
    >>> nn.init.dirac_(facula.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: only tensors with 3, 4, or 5 dimensions are supported, got {tensor.ndim}")
    if tensor.shape[0] % groups:
        raise ValueError(f"dirac_: dim 0 is {tensor.shape[0]}, which is not divisible by groups {groups}")
    per_group = tensor.shape[0] // groups
    centre = tuple(n // 2 for n in tensor.shape[2:])
    with facula.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, tensor.shape[1])):
                tensor[(g * per_group + d, d, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(f"fan in and fan out: tensor has {tensor.dim()} dimensions, fewer than 2 have none. Give a weight matrix.")
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill uniformly on [-a, a], a = gain sqrt(6 / (fan_in + fan_out)). Source: Glorot and Bengio (2010).

    >>> import facula
    >>> from facula import nn
    >>> bool((nn.init.xavier_uniform_(facula.empty(3, 3)).abs() <= 1).all())
    True
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return _uniform(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill normally with std = gain sqrt(2 / (fan_in + fan_out)). Source: Glorot and Bengio (2010).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.init.xavier_normal_(facula.empty(150, 50)).std().round(decimals=1)
    tensor(0.1000)
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return _normal(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill uniformly on [-b, b], b = gain sqrt(3 / fan). Source: He et al. (2015).

    >>> import facula
    >>> from facula import nn
    >>> bool((nn.init.kaiming_uniform_(facula.empty(3, 6)).abs() <= 1).all())
    True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return _uniform(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill normally with std = gain / sqrt(fan). Source: He et al. (2015).

    >>> _ = facula.manual_seed(0)
    >>> facula.nn.init.kaiming_normal_(facula.empty(200, 50)).std().round(decimals=2)
    tensor(0.2000)
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else _normal(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix times gain; dims after the first count as columns. Source: Saxe et al. (2013).

    >>> import facula
    >>> from facula import nn
    >>> w = nn.init.orthogonal_(facula.empty(2, 2))
    >>> (w @ w.T).round().abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: only tensors with 2 or more dimensions are supported, got {tensor.ndim}")
    if tensor.numel() == 0:
        return tensor
    rows, cols = tensor.size(0), tensor.numel() // tensor.size(0)
    with facula.no_grad():
        flat = facula.empty(rows, cols, dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
        if rows < cols:
            flat = flat.t()
        q, r = facula.linalg.qr(flat)
        q = q * facula.diagonal(r).sign()  # makes the distribution uniform over the orthogonal group
        if rows < cols:
            q = q.t()
        return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix normally, then zero `sparsity` of each column. Source: Martens (2010).

    >>> import facula
    >>> from facula import nn
    >>> nn.init.sparse_(facula.empty(4, 2), 0.5).count_nonzero()
    tensor(4)
    """
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: only tensors with 2 dimensions are supported, got {tensor.ndim}")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with facula.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            tensor[facula.randperm(rows)[:zeros], col] = 0
    return tensor


def _renamed(new: _Fill) -> _Fill:
    old = new.__name__[:-1]

    def deprecated(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning, stacklevel=2)
        return new(*args, **kwargs)

    given = {"constant": "2, 2), 1.0", "dirac": "2, 2, 2)", "sparse": "2, 2), 0.5"}.get(old, "2, 2)")
    deprecated.__name__ = old
    deprecated.__doc__ = f"The old name of {new.__name__}.\n\n    >>> facula.nn.init.{old}(facula.empty({given}).isfinite().all()\n    tensor(True)\n    "
    return deprecated  # type: ignore[return-value]


uniform, normal, constant, eye, dirac = _renamed(uniform_), _renamed(normal_), _renamed(constant_), _renamed(eye_), _renamed(dirac_)
xavier_uniform, xavier_normal = _renamed(xavier_uniform_), _renamed(xavier_normal_)
kaiming_uniform, kaiming_normal = _renamed(kaiming_uniform_), _renamed(kaiming_normal_)
orthogonal, sparse = _renamed(orthogonal_), _renamed(sparse_)
