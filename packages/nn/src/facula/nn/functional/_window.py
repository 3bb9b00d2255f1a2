"""Sliding windows over the last dims of a tensor: what convolution, pooling, unfold and fold compose from.

A tap is one place in the kernel; its slice is what the input shows there in all windows at once. All taps of an
(N, C, *spatial) input give prod(kernel) slices of shape (N, C, *out), by strided slicing alone.
"""

from __future__ import annotations

import itertools
from typing import Any, Iterator

import facula
from facula import Tensor
from facula.tensor_core import extend



def ntuple(value: Any, n: int, name: str = "value") -> tuple:
    """`value` n times, or its n elements."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return (value,) * n
    several = isinstance(value, (list, tuple))
    for k, v in enumerate(value if several else (value,)):
        if (v is True or v is False) and not k:
            raise TypeError(f"{name} must be {'tuple of ints' if several else 'int or tuple of ints'}, but found {v}. Convert it with int().")
        if type(v) is int and not -(2**63) <= v < 2**63:
            error = extend.IntegersOverflow if several else extend.IntegerOverflow
            raise error(f"{name}: Overflow when unpacking long long: {v}. Give one of 64 bits.")
    if several:
        if len(value) == 1:
            return tuple(value) * n
        if len(value) != n:
            raise extend.ShapeError(f"{name} has {len(value)} elements, {n} are wanted. Give one number or {n}.")
        if any([v is True or v is False for v in value[1:]]):  # PyTorch looks for a bool in the first place alone
            return (value[0], *[int(v) if isinstance(v, bool) else v for v in value[1:]])
        return tuple(value)
    return (value,) * n


def want_sizes(function: str, name: str, position: int, value: Any) -> None:
    """Refuse what is neither one size for all dims nor a sequence of them."""
    if isinstance(value, (list, tuple)):
        extend.want_ints(function, name, position, value)
    elif type(value) is not int:
        extend.check(function, name, position, "ints", value)


def out_size(size: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil_mode: bool = False) -> int:
    """The number of windows along one dim. With ceil_mode a last window may hang over, if it begins inside."""
    span = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return span // stride + 1
    n = -(-span // stride) + 1
    return n - 1 if (n - 1) * stride >= size + padding else n


def taps(
    x: Tensor, kernel: tuple, stride: tuple, dilation: tuple, out: tuple
) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    """(place in the kernel, slice of x there) for a padded x; x must be large enough for every window."""
    lead = (slice(None),) * (x.dim() - len(kernel))
    for place in itertools.product(*(range(k) for k in kernel)):
        cut = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, s, n in zip(place, dilation, stride, out)
        )
        yield place, x[lead + cut]


def padded(x: Tensor, before: tuple, after: tuple, value: float = 0.0) -> Tensor:
    """x with a border of `value`; before and after hold one number for each of the last dims, not negative."""
    if not any(before) and not any(after):
        return x
    return facula.constant_pad_nd(x, [w for pair in zip(before[::-1], after[::-1]) for w in pair], value)


channels_last = extend.channels_last


def some(name: str, x: Tensor, ndim: int) -> None:
    """Refuse an input of ndim spatial dims with a size of 0 in any dim but that of the batch."""
    if 0 in (x.shape[1:] if x.dim() == ndim + 2 else x.shape):
        raise RuntimeError(f"{name}: Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {list(x.shape)}")


def batched(x: Tensor, ndim: int, name: str) -> tuple[Tensor, bool]:
    """(x with a batch dim, whether one was added) for an input of ndim spatial dims."""
    if x.dim() == ndim + 2:
        return x, False
    if x.dim() == ndim + 1:
        return x.unsqueeze(0), True
    error = extend.ShapeError if x.dim() > ndim else extend.RankError
    raise error(f"{name}: Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {name}, but got input of size: {list(x.shape)}")
