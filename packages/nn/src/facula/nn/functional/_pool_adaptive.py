"""Pooling to a given size, and fractional pooling: windows that differ in place and width."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._pool import alone_again, without_batch
from ._rows import REAL, only
from ._window import batched, ntuple, want_sizes

_max_row, _avg_row = (extend.function(extend.ops[f"adaptive_{name}_pool"]) for name in ("max", "avg"))


def _sizes(output_size: Any, x: Tensor, ndim: int) -> tuple[int, ...]:
    if output_size is None or isinstance(output_size, (tuple, list)) and len(output_size) < ndim:
        if output_size is not None:
            extend.want_ints("adaptive pooling", "output_size", 1, [n for n in output_size if n is not None])
        error = TypeError if output_size is None else RuntimeError
        raise error(f"adaptive pooling: argument 'output_size' must be {ndim} ints, not {output_size!r}. Give a size for each dim, or one int.")
    given = ntuple(output_size, ndim, "output_size")
    return tuple(x.size(x.dim() - ndim + k) if n is None else n for k, n in enumerate(given))


def _adaptive_first(input: Tensor, output_size: Any) -> None:
    """Refuse sizes for more dims than an item has: what PyTorch's Python counts before anything else."""
    if isinstance(output_size, (tuple, list)) and isinstance(input, Tensor) and input.dim() <= len(output_size):
        raise ValueError(f"adaptive pooling: Input dimension should be at least {len(output_size) + 1} for an output_size of {output_size!r}, got {input.dim()}. Add dims, or take fewer sizes.")


_adaptive_avg_pool2d_first = _adaptive_avg_pool3d_first = _adaptive_max_pool2d_first = _adaptive_max_pool3d_first = _adaptive_first
_adaptive_max_pool2d_with_indices_first = _adaptive_max_pool3d_with_indices_first = _adaptive_first


def _three(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (3 - len(sizes)) + sizes


def _adaptive_avg(ndim: int, input: Tensor, output_size: Any) -> Tensor:
    sizes = _sizes(output_size, input, ndim)
    if all(n == 1 for n in sizes):  # the mean, of however many dims before those
        _adaptive_first(input, output_size)
        mean = input.mean(tuple(range(-ndim, 0)), keepdim=True)
        return _as_channels_lie(mean) if input.dim() == ndim + 2 and extend.channels_last(input) else mean
    if input.dim() == ndim + 1 and not input.size(0):  # no channels: a batch of none of one channel
        return _adaptive_avg(ndim, input.unsqueeze(1), output_size).squeeze(1)
    x, added = batched(input, ndim, f"adaptive_avg_pool{ndim}d")
    if 0 in x.shape[2:] or ndim == 3 and not added and not x.size(1):
        raise RuntimeError(f"adaptive_avg_pool{ndim}d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(input.shape)}")
    try:
        x = _avg_row(x, _three(sizes))
    except extend.DTypeError:
        if ndim == 3 or 0 not in sizes and 0 not in x.shape:
            raise
        x = x.new_empty((*x.shape[:2], *sizes))  # of a dtype that the kernel does not take, nothing needs none
    return x if not added else alone_again(x.contiguous(), f"AdaptiveAvgPool{ndim}D", input)  # an image alone has no channels that lie last


def _as_channels_lie(mean: Tensor) -> Tensor:
    """Means of channels that lie last: the strides of their dims of size 1 tell so."""
    c, *ones = mean.shape[1:]
    return mean.as_strided_(mean.shape, (c, 1, *(c for _ in ones)))


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Mean over windows chosen so that the last dim becomes output_size.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.adaptive_avg_pool1d(facula.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[2., 6.]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("adaptive_avg_pool1d", "input", 0, input)
    if type(output_size) is not int:
        extend.check("adaptive_avg_pool1d", "output_size", 1, "ints", output_size)
    if not 1 < input.dim() < 4:
        batched(input, 1, "adaptive_avg_pool1d")
    return _adaptive_avg(2, input.unsqueeze(-2), (1, *_sizes(output_size, input, 1))).squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Mean over windows chosen so that the last 2 dims become output_size; None keeps a dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.adaptive_avg_pool2d(facula.arange(4.0).view(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Mean over windows chosen so that the last 3 dims become output_size; None keeps a dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.adaptive_avg_pool3d(facula.arange(8.0).view(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _adaptive_avg(3, input, output_size)


def _adaptive_max(ndim: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    if input.dim() == ndim + 1 and not input.size(0):  # no channels: a batch of none of one channel
        best, places = (t.squeeze(1) for t in _adaptive_max(ndim, input.unsqueeze(1), output_size, True))
        return (best, places) if return_indices else best
    x, added = batched(input, ndim, f"adaptive_max_pool{ndim}d")
    if 0 in input.shape[1:]:
        raise RuntimeError(
            f"adaptive_max_pool{ndim}d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(input.shape)}"
        )
    if not x.dtype.is_floating_point:
        only(f"adaptive_max_pool{ndim}d", x.dtype, REAL)
    best, places = _max_row(x, _three(_sizes(output_size, x, ndim)))
    if added:
        best, places = alone_again(best, f"AdaptiveMaxPool{ndim}D", input), without_batch(places, input)
    return (best, places) if return_indices else best


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool1d and the flat places of the maxima.

    >>> facula.nn.functional.adaptive_max_pool1d_with_indices(facula.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    return _adaptive_max(1, input, output_size, True)


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool2d and the flat places of the maxima.

    >>> facula.nn.functional.adaptive_max_pool2d_with_indices(facula.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
    (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return _adaptive_max(2, input, output_size, True)


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool3d and the flat places of the maxima.

    >>> facula.nn.functional.adaptive_max_pool3d_with_indices(facula.arange(8.0).view(1, 2, 2, 2), 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _adaptive_max(3, input, output_size, True)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum over windows chosen so that the last dim becomes output_size.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.adaptive_max_pool1d(facula.tensor([[1.0, 3.0, 5.0, 2.0]]), 2)
    tensor([[3., 5.]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("adaptive_max_pool1d", "input", 0, input)
    if type(output_size) is not int:
        extend.check("adaptive_max_pool1d", "output_size", 1, "ints", output_size)
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum over windows chosen so that the last 2 dims become output_size; None keeps a dim.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.adaptive_max_pool2d(facula.arange(4.0).view(1, 2, 2), 1)
    tensor([[[3.]]])
    """
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum over windows chosen so that the last 3 dims become output_size; None keeps a dim.

    >>> facula.nn.functional.adaptive_max_pool3d(facula.arange(8.0).view(1, 2, 2, 2), 1).flatten()
    tensor([7.])
    """
    return _adaptive_max(3, input, output_size, return_indices)


def _fractional_windows(samples: Tensor, sizes: tuple, out: tuple, kernel: tuple) -> Tensor:
    """The flat places of each window's elements, (N, C, product of out, product of kernel), in their order. samples: (N, C, dims).

    Windows of a dim have one width, and their starts advance by a random fraction, computed in the samples' dtype as PyTorch does.
    Source: Graham, Fractional Max-Pooling (2014)."""
    at = None
    for k, (size, n, width) in enumerate(zip(sizes, out, kernel)):
        sample = samples[..., 1 - k if len(sizes) == 2 else k].unsqueeze(-1)  # PyTorch lists two dims from the last, three from the first
        step = (size - width) / (n - 1) if n > 1 else 0.0
        if samples.dtype.itemsize == 2:  # a number beside halves is not rounded
            step = facula.tensor(step, dtype=samples.dtype, device="cpu").item()
        starts = ((facula.arange(n - 1, dtype=samples.dtype, device=samples.device) + sample) * step).long() - (sample * step).long()
        starts = facula.cat((starts, starts.new_full((*samples.shape[:2], 1), size - width)), -1)
        span = starts.unsqueeze(-1) + facula.arange(width, device=samples.device)
        at = span if at is None else (at[:, :, :, None, :, None] * size + span[:, :, None, :, None, :]).flatten(4).flatten(2, 3)
    return at


def _each(name: str, what: str, value: Any, n: int, error: type[Exception]) -> tuple:
    """`value` n times, or its n elements; one element alone is none for all."""
    if isinstance(value, (list, tuple)) and len(value) != n:
        raise error(f"{name}: {what} must either be a single number or a tuple of {n}, got {value!r}.")
    return ntuple(value, n, what)


def _some_size(name: str, output_size: Any, output_ratio: Any) -> None:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")


def _fractional_first(ndim: int, input: Tensor, output_size: Any, output_ratio: Any, samples: Tensor | None) -> None:
    """What PyTorch's Python refuses: it makes sizes of ratios and draws the samples before its parser sees a size."""
    name = f"fractional_max_pool{ndim}d"
    _some_size(name, output_size, output_ratio)
    extend.want_tensor(name, "input", 0, input)
    if output_size is None:
        ratios = [output_ratio] * ndim if isinstance(output_ratio, (int, float)) else list(output_ratio)  # a tensor without dims has no list
        for k in range(ndim):
            size = input.size(k - ndim)
            if k == len(ratios):
                raise IndexError(f"{name}: output_ratio has {k} elements, {ndim} are wanted: {output_ratio!r}. Give one number, or one for each dim.")
            int(size * ratios[k])
    if samples is None:
        if input.dim() <= ndim:
            raise extend.RankError(f"{name}: Dimension out of range: the input has {input.dim()} dims, {ndim + 1} are wanted. Give channels.")
        if input.dtype._kind < 2:
            raise extend.DTypeError(f'{name}: "check_uniform_bounds" not implemented for {input.dtype._scalar_type!r}. Convert it with .float().')


def _fractional_max_pool2d_first(input: Tensor, output_size: Any, output_ratio: Any, _random_samples: Tensor | None) -> None:
    _fractional_first(2, input, output_size, output_ratio, _random_samples)


def _fractional_max_pool3d_first(input: Tensor, output_size: Any, output_ratio: Any, _random_samples: Tensor | None) -> None:
    _fractional_first(3, input, output_size, output_ratio, _random_samples)


_fractional_max_pool2d_with_indices_first, _fractional_max_pool3d_with_indices_first = _fractional_max_pool2d_first, _fractional_max_pool3d_first


def _fractional(
    ndim: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{ndim}d"
    _some_size(name, output_size, output_ratio)
    if output_size is None:
        _each(name, "output_ratio", output_ratio, ndim, ValueError)
    x, added = batched(input, ndim, name)
    if 0 in (input if added else x).shape[1:]:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got {list(input.shape)}.")
    if x.is_complex():
        only(name, x.dtype, REAL)
    want_sizes(name, "kernel_size", 1, kernel_size)
    sizes, kernel = tuple(x.shape[2:]), _each(name, "kernel_size", kernel_size, ndim, RuntimeError)
    if output_size is None:
        output_size = [int(n * r) for n, r in zip(sizes, _each(name, "output_ratio", output_ratio, ndim, ValueError))]
    out = _each(name, "output_size", output_size, ndim, RuntimeError)
    for what, n, o, k in zip(("time", "height", "width")[3 - ndim :], sizes, out, kernel):
        if o + k - 1 + (ndim == 3) > n:  # PyTorch's volumes leave one place more
            raise RuntimeError(f"{name}: pool {what} {k} too large relative to input {what} {n}, for output {what} {o}.")
        if o < 0:
            raise RuntimeError(f"{name}: Trying to create tensor with negative dimension {o}: {list(out)}.")
    if samples is not None:
        _check_samples(name, samples, x, ndim)
    else:
        samples = facula.rand(x.size(0), x.size(1), ndim, dtype=x.dtype, device=x.device)
    shape = (x.size(0), x.size(1), *out)
    if x.is_meta or 0 in shape:
        best, places = x.new_empty(shape) if x.is_meta else x.reshape(-1)[:0].reshape(shape), facula.empty(shape, dtype=facula.int64, device=x.device)
    else:
        flat, windows = x.flatten(2), _fractional_windows(samples[: x.size(0)], sizes, out, kernel)
        best = flat.detach().gather(2, windows.flatten(2)).reshape(windows.shape).max(-1)[1].unsqueeze(-1)
        places = windows.gather(3, best).squeeze(-1)
        best, places = flat.gather(2, places).reshape(shape), places.reshape(shape)
    best, places = (best.squeeze(0), places.squeeze(0)) if added else (best, places)
    return extend.one_node(best, f"FractionalMaxPool{ndim}DBackward0", input), places


def _check_samples(name: str, samples: Tensor, x: Tensor, ndim: int) -> None:
    problem = None
    if samples.dtype is not x.dtype:
        problem = f"to have the same dtype as input, {x.dtype}, got {samples.dtype}"
    elif samples.dim() != 3:
        problem = f"to have 3 dimensions, got {samples.dim()}"
    else:
        rows, channels, dims = samples.shape
        if rows < x.size(0):
            problem = f".size(0) no less then input batch size, {x.size(0)}, got {rows}"
        elif channels != x.size(1):
            problem = f".size(1) equals to input channel size, {x.size(1)}, got {channels}"
        elif dims != ndim:
            problem = f".size(2) equals to {ndim}; got {dims}"
    if problem is not None:
        raise RuntimeError(f"{name}: Expect _random_samples{'' if problem[0] == '.' else ' '}{problem}.")


def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """fractional_max_pool2d and the flat places of the maxima.

    >>> x, places = facula.nn.functional.fractional_max_pool2d_with_indices(facula.arange(25.0).view(1, 5, 5), 2, output_size=3)
    >>> x.equal(places.float())
    True
    """
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """fractional_max_pool3d and the flat places of the maxima.

    >>> x, places = facula.nn.functional.fractional_max_pool3d_with_indices(facula.arange(125.0).view(1, 5, 5, 5), 2, output_size=3)
    >>> x.equal(places.float())
    True
    """
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Maximum over windows at random, nearly even places, so that the last 2 dims become output_size, or shrink by output_ratio.

    >>> facula.nn.functional.fractional_max_pool2d(facula.arange(25.0).view(1, 5, 5), 2, output_size=3).shape
    torch.Size([1, 3, 3])
    """
    found = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Maximum over windows at random, nearly even places, so that the last 3 dims become output_size, or shrink by output_ratio.

    >>> facula.nn.functional.fractional_max_pool3d(facula.arange(125.0).view(1, 5, 5, 5), 2, output_size=3).shape
    torch.Size([1, 3, 3, 3])
    """
    found = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]
