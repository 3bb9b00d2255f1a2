"""Discrete Fourier transforms by NumPy. norm counts as PyTorch's: 0 none, 1 by the root of the number of elements, 2 by that number."""

import math

import numpy as np

from facula.tensor_core.dispatch.host import Spec, complex_of, real_of, row, strides

_FORWARD, _BACKWARD = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")  # NumPy's names of norm 0, 1, 2


def _order(stride, dim, last=()):
    """How the result of a transform over dim + last lies, as PyTorch's do: the other dims outermost, in the order of the input's memory."""
    if len(stride) == 1:
        return (0,)
    moved = (*dim, *last)
    others = [d for d in _partitioned(len(stride), moved) if d not in moved]
    return (*_outermost(others, stride), *_outermost(dim, stride), *last)


def _partitioned(n, moved):
    """All n dims, those that are not moved first: each that is changes places with the last that is not, which decides among dims of one stride."""
    dims, k, end = list(range(n)), 0, n - 1
    while k < end:
        if dims[k] not in moved:
            k += 1
        elif dims[end] in moved:
            end -= 1
        else:
            dims[k], dims[end] = dims[end], dims[k]
    return dims


def _outermost(dims, stride):
    return sorted(dims, key=lambda d: -stride[d])


def _same(x, dim, norm, forward):
    return [Spec(x.dtype._name, tuple(x.shape), order=_order(x.stride(), dim))]


def _half(x, dim, norm, onesided):
    shape = list(x.shape)
    if onesided:
        shape[dim[-1]] = shape[dim[-1]] // 2 + 1
    return [Spec(complex_of(x.dtype._name), tuple(shape), order=_order(x.stride(), dim[:-1], dim[-1:]))]


def _whole(x, dim, norm, last_dim_size):
    shape = list(x.shape)
    shape[dim[-1]] = last_dim_size
    between = strides(x.shape, _order(x.stride(), dim[:-1])) if len(dim) > 1 else x.stride()  # the other dims are transformed first
    return [Spec(real_of(x.dtype._name), tuple(shape), order=_order(between, (), dim[-1:]))]


def _normed(transform, norm, sizes):
    """transform(norm); by the root of all sizes at once, where NumPy takes one root and rounds for each dim."""
    if norm != 1 or len(sizes) < 2:
        return transform(norm)
    result = transform(0)
    result *= 1 / math.sqrt(math.prod(sizes))
    return result


def _over(name, x, dim, norm, names):
    """NumPy's transform `name` over dim: of one the function that is not for several, which is twice as fast."""
    if len(dim) == 1:
        return getattr(np.fft, name)(x, axis=dim[0], norm=names[norm])
    transform = getattr(np.fft, name + "n")
    return _normed(lambda n: transform(x, axes=dim, norm=names[n]), norm, [x.shape[d] for d in dim])


@row("_fft_c2c", _same)
def c2c(x, dim, norm, forward):
    return _over("fft", x, dim, norm, _FORWARD) if forward else _over("ifft", x, dim, norm, _BACKWARD)


@row("_fft_r2c", _half)
def r2c(x, dim, norm, onesided):
    return _over("rfft" if onesided else "fft", x, dim, norm, _FORWARD)


@row("_fft_c2r", _whole)
def c2r(x, dim, norm, last_dim_size):
    def transform(norm):
        turned = _over("ifft", x, dim[:-1], norm, _BACKWARD) if len(dim) > 1 else x
        return np.fft.irfft(turned, n=last_dim_size, axis=dim[-1], norm=_BACKWARD[norm])

    return _normed(transform, norm, [*(x.shape[d] for d in dim[:-1]), last_dim_size])
