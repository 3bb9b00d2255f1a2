"""Pooling over windows, adaptive pooling, unpooling."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._rows import REAL, only, row
from ._window import batched, channels_last, ntuple, out_size, padded, some, taps, want_sizes

_max_row, _values_row, _avg_row = row("max_pool"), row("_max_pool_values"), row("avg_pool")
_squeeze, _unsqueeze = row("squeeze"), row("unsqueeze")


class _Windows:
    """The geometry of a pooling: sizes after defaults and checks, and how far the last windows hang over."""

    def __init__(self, name: str, x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, ndim: int) -> None:
        for k, (what, value) in enumerate((("kernel_size", kernel), ("stride", kernel if stride is None else stride), ("padding", padding), ("dilation", dilation))):
            want_sizes(name, what, k + 1, value)
        self.kernel = ntuple(kernel, ndim, "kernel_size")
        self.stride = self.kernel if stride is None or isinstance(stride, (tuple, list)) and not stride else ntuple(stride, ndim, "stride")
        self.padding, self.dilation = ntuple(padding, ndim, "padding"), ntuple(dilation, ndim, "dilation")
        for k, s, p, d in zip(self.kernel, self.stride, self.padding, self.dilation):
            for what, n in (("kernel_size", k), ("stride", s), ("dilation", d)):
                if n <= 0:
                    raise RuntimeError(f"{name}: {what} must be greater than zero, but got {n}.")
            if p < 0:
                raise RuntimeError(f"{name}: pad must be non-negative, but got pad: {p}.")
            if 2 * p > k:
                raise RuntimeError(f"{name}: pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}")
        self.sizes = tuple(x.shape[-ndim:])
        if 0 in x.shape[1:]:
            raise RuntimeError(f"{name}: Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got: {list(x.shape)}")
        geometry = list(zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation))
        self.out = tuple(out_size(n, k, s, p, d, ceil_mode) for n, k, s, p, d in geometry)
        if any(n <= 0 for n in self.out):
            raise RuntimeError(f"{name}: Given input size {self.sizes}, the calculated output size {self.out} is too small.")

    def arguments(self) -> tuple:
        """kernel, stride, padding, dilation as the rows take them: three each, absent dims first."""
        absent = 3 - len(self.kernel)
        return tuple((fill,) * absent + t for fill, t in ((1, self.kernel), (1, self.stride), (0, self.padding), (1, self.dilation)))


@lru_cache(maxsize=1024, typed=True)  # True is no 1: it is refused
def _plain(ndim: int, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple:
    """kernel, stride, padding, dilation as the row takes them."""
    kernel = ntuple(kernel, ndim, "kernel_size")
    stride = kernel if stride is None or isinstance(stride, (tuple, list)) and not stride else ntuple(stride, ndim, "stride")
    padding, dilation = ntuple(padding, ndim, "padding"), ntuple(dilation, ndim, "dilation")
    if any(2 * p > k for p, k in zip(padding, kernel)):
        raise ValueError("padding is more than half of the kernel")  # seen by _max_pool alone
    absent = 3 - ndim
    return tuple((fill,) * absent + t for fill, t in ((1, kernel), (1, stride), (0, padding), (1, dilation)))


def _max_pool(
    ndim: int, input: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, return_indices: bool
) -> Any:
    name = f"max_pool{ndim}d"
    if type(input) is not Tensor:
        extend.want_tensor(name, "input", 0, input)
    shape = input.shape
    if 0 in shape:
        some(name, input, ndim)
    if ndim == 1 and not return_indices and input.dtype._kind < 2:
        only(name, input.dtype, REAL)
    alone = len(shape) == ndim + 1
    if alone or len(shape) == ndim + 2:
        try:  # as in _conv
            x = _unsqueeze(input, 0) if alone else input
            if not return_indices and type(input) is Tensor and not extend.listening() and (input._origin is None or not facula.is_grad_enabled()):
                best = _values_row(x, *_plain(ndim, kernel, stride, padding, dilation), ceil_mode)
                return without_batch(best, input) if alone else best
            best, at = _max_row(x, *_plain(ndim, kernel, stride, padding, dilation), ceil_mode)
            if alone:
                best = alone_again(best, f"MaxPool{ndim}DWithIndices", input)
            if not return_indices:
                return best
            return (best, without_batch(at, input)) if alone else (best, at)
        except (RuntimeError, TypeError, ValueError):
            pass
    extend.kinds_first(name, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
    x, added = batched(input, ndim, name)
    w = _Windows(name, x, kernel, stride, padding, dilation, ceil_mode, ndim)
    best, at = _max_row(x, *w.arguments(), ceil_mode)
    if added:
        best, at = alone_again(best, f"MaxPool{ndim}DWithIndices", input), without_batch(at, input)
    return (best, at) if return_indices else best


def _max_pool_functions(ndim: int) -> tuple:
    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return _max_pool(ndim, input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def plain(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return _max_pool(ndim, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

    with_indices.__name__, plain.__name__ = f"max_pool{ndim}d_with_indices", f"max_pool{ndim}d"
    example = f"facula.arange({2**ndim}.0).view(1, 1, {', '.join(['2'] * ndim)}), 2"
    last, before, after = 2**ndim - 1, "[" * (ndim + 2), "]" * (ndim + 2)
    with_indices.__doc__ = f"(maximum of each window over the last {ndim} dims, its flat place in the input).\n\n    >>> facula.nn.functional.max_pool{ndim}d_with_indices({example})\n    (tensor({before}{last}.{after}), tensor({before}{last}{after}))\n    "
    plain.__doc__ = f"Maximum of each window over the last {ndim} dims; with return_indices also its flat place in the input.\n\n    >>> facula.nn.functional.max_pool{ndim}d({example})\n    tensor({before}{last}.{after})\n    "
    return plain, with_indices


max_pool1d, max_pool1d_with_indices = _max_pool_functions(1)
max_pool2d, max_pool2d_with_indices = _max_pool_functions(2)
max_pool3d, max_pool3d_with_indices = _max_pool_functions(3)


def _avg_pool(
    ndim: int,
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None = None,
) -> Tensor:
    shape = input.shape
    alone = len(shape) == ndim + 1
    if (alone or len(shape) == ndim + 2) and 0 not in shape and divisor != 0 and input.dtype is not facula.int64:
        try:  # as in _max_pool
            result = _avg_row(_unsqueeze(input, 0) if alone else input, *_plain(ndim, kernel, stride, padding, 1)[:3], ceil_mode, count_include_pad, divisor or 0)
            return alone_again(result, f"AvgPool{ndim}D", input) if alone else result
        except (RuntimeError, TypeError, ValueError):
            pass
    name = f"avg_pool{ndim}d"
    x, added = batched(input, ndim, name)
    w = _Windows(name, x, kernel, stride, padding, 1, ceil_mode, ndim)
    if ndim == 3 and any(n < k for n, k in zip(w.sizes, w.kernel)):
        raise RuntimeError(f"{name}: input image {w.sizes} smaller than kernel size {w.kernel}. Pad it.")
    if divisor == 0:
        raise RuntimeError(f"{name}: divisor must be not zero")
    if x.dtype is facula.int64:
        result = _avg_integers(x, w, count_include_pad, divisor).clone(memory_format=facula.channels_last if ndim == 2 and extend.channels_last(x) else facula.contiguous_format)
    else:
        result = _avg_row(x, *w.arguments()[:3], ceil_mode, count_include_pad, divisor or 0)
    return alone_again(result, f"AvgPool{ndim}D", input) if added else result


def alone_again(result: Tensor, name: str, input: Tensor) -> Tensor:
    """The result without the batch that was added to input: one step, named as in PyTorch, which adds one to lines alone."""
    out = without_batch(result, input)
    return out if input.dim() == 2 else extend.one_node(out, f"{name}Backward0", input)


def without_batch(result: Tensor, input: Tensor) -> Tensor:
    """The result without the batch that was added to input; of lines a view of it, as in PyTorch."""
    out = _squeeze(result, (0,))
    return out if input.dim() == 2 else extend.alone(out)


def _avg_integers(x: Tensor, w: _Windows, count_include_pad: bool, divisor: int | None) -> Tensor:
    """Sums of windows divided as C divides."""
    unit = facula.ones((1, 1, *w.sizes), dtype=x.dtype, device=x.device)
    after = tuple(max((o - 1) * s + k - n - p, p) for o, s, k, n, p in zip(w.out, w.stride, w.kernel, w.sizes, w.padding))

    def sums(t: Tensor, before: tuple, after: tuple) -> Tensor:
        return sum(part for _, part in taps(padded(t, before, after), w.kernel, w.stride, w.dilation, w.out))

    total = sums(x, w.padding, after)
    if divisor is not None:
        return facula.div(total, divisor, rounding_mode="trunc")
    if count_include_pad:  # the padding counts, what hangs over it does not
        unit = facula.ones((1, 1, *(n + 2 * p for n, p in zip(w.sizes, w.padding))), dtype=x.dtype, device=x.device)
        count = sums(unit, (0,) * len(after), tuple(a - p for a, p in zip(after, w.padding)))
    else:
        count = sums(unit, w.padding, after)
    return facula.div(total, count, rounding_mode="trunc")


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """Mean of each window over the last dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.avg_pool1d(facula.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[2., 6.]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("avg_pool1d", "input", 0, input)
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window over the last 2 dims; divisor_override divides the sum instead of the count.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.avg_pool2d(facula.arange(4.0).view(1, 2, 2), 2)
    tensor([[[1.5000]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("avg_pool2d", "input", 0, input)
    result = _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return result if out is None else extend.into("avg_pool2d", result, out)


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window over the last 3 dims; divisor_override divides the sum instead of the count.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.avg_pool3d(facula.arange(8.0).view(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("avg_pool3d", "input", 0, input)
    result = _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return result if out is None else extend.into("avg_pool3d", result, out)


def _one_or_each(ndim: int, kernel_size: Any) -> None:
    if isinstance(kernel_size, (tuple, list, str)) and len(kernel_size) != ndim:
        raise ValueError(f"lp_pool{ndim}d: kernel_size must be one int or {ndim}, got {list(kernel_size)}. Give one for each dim.")


def _lp_pool2d_first(kernel_size: Any) -> None:
    _one_or_each(2, kernel_size)


def _lp_pool3d_first(kernel_size: Any) -> None:
    _one_or_each(3, kernel_size)


def _lp_pool(ndim: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Tensor:
    if norm_type in (math.inf, -math.inf):  # the largest or the least, which is where the roots of the sums tend
        sign = math.copysign(1, norm_type)
        return sign * _max_pool(ndim, sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode, False)
    kernel = ntuple(kernel_size, ndim, "kernel_size")
    mean = _avg_pool(ndim, input.pow(norm_type), kernel, stride, 0, ceil_mode, True)
    # PyTorch takes the root of relu(|mean|) * sign(mean) * count: for a negative mean that is nan or 0 by its own choice
    return (mean.sign() * mean.abs().relu()).mul(math.prod(kernel)).pow(1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window over the last dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.lp_pool1d(facula.tensor([[[3.0, 4.0]]]), 2.0, 2)
    tensor([[[5.]]])
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window over the last 2 dims.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.lp_pool2d(facula.ones(1, 1, 2, 2), 2.0, 2)
    tensor([[[[2.]]]])
    """
    _lp_pool2d_first(kernel_size)
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window over the last 3 dims.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.lp_pool3d(facula.ones(1, 1, 2, 2, 2), 1.0, 2)
    tensor([[[[[8.]]]]])
    """
    _lp_pool3d_first(kernel_size)
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


def _max_unpool(ndim: int, input: Tensor, indices: Tensor, kernel: Any, stride: Any, padding: Any, size: list) -> Tensor:
    name = f"max_unpool{ndim}d"
    x, added = batched(input, ndim, name)
    stride, padding = _own_each(kernel if stride is None else stride, ndim), _own_each(padding, ndim)
    if ndim == 3:  # whose kernel sees these, too
        extend.want_ints(name, "stride", 3, stride)
        extend.want_ints(name, "padding", 4, padding)
    some(name, input, ndim)
    only(name, input.dtype, REAL)
    if indices.dtype._name != "int64":
        raise RuntimeError(f"{name}: elements in indices should be type int64 but got: {indices.dtype._name}. Convert them with .long().")
    if indices.shape != input.shape:
        raise RuntimeError(f"{name}: Expected shape of indices to be same as that of the input tensor {list(input.shape)}, but got {list(indices.shape)}")
    if len(size) != ndim:
        raise RuntimeError(f"{name}: there should be exactly {ndim} elements in output_size, but got {len(size)}: {size}. Give kernel_size as one number, or {ndim}.")
    n, c = x.shape[:2]
    places = math.prod(size)
    flat = (indices.unsqueeze(0) if added else indices).reshape(n, c, math.prod(x.shape[2:]))
    zeros = facula.zeros((n, c, places), dtype=x.dtype, device=x.device)
    values = x.reshape(flat.shape)
    try:
        out = zeros.scatter(2, flat, values) if places and flat.numel() else zeros + values.sum()  # nothing: with a history even so
    except IndexError:
        raise RuntimeError(f"{name}: found an invalid max index, the output has {places} places: {size}") from None
    out = out.reshape(n, c, *size)
    if ndim == 2 and channels_last(x):
        out = out.contiguous(memory_format=facula.channels_last)
    out = out.squeeze(0) if added else out
    return extend.one_node(out, f"MaxUnpool{ndim}DBackward0" if ndim > 1 else "SqueezeBackward1", input)


def _own_each(value: Any, ndim: int) -> tuple:
    """A size for each dim: one number is for all of them, what else can be walked is taken as it is."""
    return tuple(value) if hasattr(value, "__iter__") else (value,) * ndim


def _unpooled(name: str, input: Tensor, kernel: Any, stride: Any, padding: Any, output_size: Any, ndim: int) -> list:
    """The sizes that were pooled: as they would be if the windows just filled them, or output_size where that is less than a stride off."""
    kernel, stride, padding = _own_each(kernel, ndim), _own_each(kernel if stride is None else stride, ndim), _own_each(padding, ndim)
    shape, n = input.shape, len(kernel)
    natural = [(shape[d - n] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(n)]
    size = natural if output_size is None else list(output_size)
    if len(size) == n + 2:
        size = size[2:]
    if len(size) != n:
        raise ValueError(f"{name}: output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of {len(size)}.")
    for want, usual, s in () if output_size is None else zip(size, natural, stride):
        if not usual - s < want < usual + s:
            raise ValueError(f"{name}: invalid output_size {size}: a dim must be within {s} of {usual}.")
    extend.want_ints(name, "output_size", 3, size)
    if min(size, default=0) < 0:
        raise ValueError(f"{name}: output_size must not be negative, but the sizes are {size}. Pad less, or give larger windows.")
    return size


def _max_unpool1d_first(input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> list:
    extend.want_tensor("max_unpool1d", "input", 0, input)
    return _unpooled("max_unpool1d", input, kernel_size, stride, padding, output_size, 1)


def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """The maxima of max_pool1d put back in their places, zeros elsewhere.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.max_unpool1d(facula.tensor([[[3.0]]]), facula.tensor([[[1]]]), 2)
    tensor([[[0., 3.]]])
    """
    size = _max_unpool1d_first(input, kernel_size, stride, padding, output_size)
    if type(indices) is not Tensor:
        extend.want_tensor("max_unpool1d", "indices", 1, indices)
    return _max_unpool(1, input, indices, kernel_size, stride, padding, size)


def _max_unpool2d_first(input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> list:
    extend.want_tensor("max_unpool2d", "input", 0, input)
    return _unpooled("max_unpool2d", input, kernel_size, stride, padding, output_size, 2)


def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """The maxima of max_pool2d put back in their places, zeros elsewhere.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.max_unpool2d(facula.tensor([[[3.0]]]), facula.tensor([[[1]]]), 2)
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    size = _max_unpool2d_first(input, kernel_size, stride, padding, output_size)
    if type(indices) is not Tensor:
        extend.want_tensor("max_unpool2d", "indices", 1, indices)
    return _max_unpool(2, input, indices, kernel_size, stride, padding, size)


def _max_unpool3d_first(input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any) -> list:
    extend.want_tensor("max_unpool3d", "input", 0, input)
    return _unpooled("max_unpool3d", input, kernel_size, stride, padding, output_size, 3)


def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """The maxima of max_pool3d put back in their places, zeros elsewhere.

    >>> x = facula.arange(8.0).view(1, 1, 2, 2, 2)
    >>> facula.nn.functional.max_unpool3d(*facula.nn.functional.max_pool3d(x, 2, return_indices=True), 2)
    tensor([[[[[0., 0.],
               [0., 0.]],
    <BLANKLINE>
              [[0., 0.],
               [0., 7.]]]]])
    """
    size = _max_unpool3d_first(input, kernel_size, stride, padding, output_size)
    if type(indices) is not Tensor:
        extend.want_tensor("max_unpool3d", "indices", 1, indices)
    return _max_unpool(3, input, indices, kernel_size, stride, padding, size)
