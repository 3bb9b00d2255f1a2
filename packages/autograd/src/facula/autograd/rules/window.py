"""Derivatives of convolution and pooling.

Convolution is linear in its input and in its weight, and so are its two gradients: each one's derivatives are the other two.
Gradients keep the memory format of the operands, as PyTorch's do; that of five dims in max_pool alone.
"""

import math

import facula as F

from .._core import GradError, row
from .._support import FORMATS, format_of, formed
from .._table import D
from ._tools import straight

D("convolution",             node="ConvolutionBackward0",
                             x=lambda g, y, x_shape, x_seen, stride, padding, dilation, transposed, groups:
                                 alike(row("convolution_grad_input")(g, y, spatial(x_shape), stride, padding, dilation, transposed, groups), deep(g, groups), x_seen, y),
                             y=lambda g, x, y_shape, y_seen, stride, padding, dilation, transposed, groups:
                                 alike(row("convolution_grad_weight")(g, x, spatial(y_shape), stride, padding, dilation, transposed, groups), deep(g, groups), x, y_seen),
                             z=lambda g: F.sum(g, (0, *range(2, g.ndim))))
D("convolution_grad_input",  x=lambda g, y, x_shape, stride, padding, dilation, transposed, groups:
                                 convolved(g, y, x_shape, stride, padding, dilation, transposed, groups),
                             y=lambda g, x, y_shape, stride, padding, dilation, transposed, groups:
                                 crossed(row("convolution_grad_weight")(x, g, spatial(y_shape), stride, padding, dilation, transposed, groups),
                                         x if transposed else g, g if transposed else x, stride, padding, dilation))
D("convolution_grad_weight", x=lambda g, y, x_shape, stride, padding, dilation, transposed, groups:
                                 convolved(y, g, x_shape, stride, padding, dilation, transposed, groups),
                             y=lambda g, x, y_shape, stride, padding, dilation, transposed, groups:
                                 reached(row("convolution_grad_input")(x, g, spatial(y_shape), stride, padding, dilation, transposed, groups), x, g, stride, padding, dilation, transposed))

D("max_pool",           node="MaxPool2DWithIndicesBackward0", flat=(1,),
                        x=lambda g, x_shape, x_format, x_origin, out1: straight(formed(put_back(g, out1, spatial(x_shape)), x_format), x_origin))
D("_max_pool_values",   x=lambda g, x, x_shape, x_format, x_origin, kernel, stride, padding, dilation, ceil_mode:
                            straight(formed(put_back(g, row("max_pool")(x, kernel, stride, padding, dilation, ceil_mode)[1], spatial(x_shape)), x_format), x_origin))
D("adaptive_max_pool",  flat=(1,), x=lambda g, x_shape, x_format, x_origin, out1: straight(formed(row("max_pool_grad")(some(g), out1, spatial(x_shape)), shallow(x_format)), x_origin))
D("max_pool_grad",      x=lambda g, y, y_shape: F.gather(g.flatten(2), 2, y.flatten(2)).reshape(tuple(y_shape)))
D("avg_pool",           node="AvgPool2DBackward0",
                        x=lambda g, x_shape, x_format, x_origin, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
                            straight(formed(row("avg_pool_grad")(g, spatial(x_shape), kernel, stride, padding, ceil_mode, count_include_pad, divisor), shallow(x_format)), x_origin))
D("avg_pool_grad",      x=lambda g, kernel, stride, padding, ceil_mode, count_include_pad, divisor:
                            row("avg_pool")(g, kernel, stride, padding, ceil_mode, count_include_pad, divisor))
D("adaptive_avg_pool",  x=lambda g, x_shape, x_format, x_origin: averaged(g, x_shape, x_format, x_origin))
D("adaptive_avg_pool_grad", x=lambda g, x_shape: row("adaptive_avg_pool")(g, spatial(x_shape)))
D("_im2col",            node="Im2ColBackward0",
                        x=lambda g, x_shape, kernel, dilation, padding, stride: row("_col2im")(g, tuple(x_shape[2:]), kernel, dilation, padding, stride))
D("_col2im",            node="Col2ImBackward0",
                        x=lambda g, kernel, dilation, padding, stride: row("_im2col")(g, kernel, dilation, padding, stride))


def averaged(g, x_shape, x_format, x_origin) -> F.Tensor:
    """The gradient of an average over places; of all of them, which PyTorch calls a mean, it knows nothing of x."""
    whole = math.prod(g.shape[2:]) == 1
    if whole and g.ndim == 3 and not g.is_contiguous():
        return g.expand(x_shape) / x_shape[2]
    found = formed(row("adaptive_avg_pool_grad")(g if whole else some(g), spatial(x_shape)), shallow(x_format))
    return found if whole else straight(found, x_origin)


def put_back(g, places, size) -> F.Tensor:
    """g in the places that it came from; of a window over nothing but padding, whose place is outside, it is lost."""
    try:
        return row("max_pool_grad")(g, places, size)
    except IndexError:
        inside = places < math.prod(size)
        return row("max_pool_grad")(F.where(inside, g, F.zeros_like(g)), F.where(inside, places, F.zeros_like(places)), size)


def some(g) -> F.Tensor:
    """g, which PyTorch's adaptive pooling refuses where it has places of size 0."""
    if 0 in g.shape[1:]:
        raise GradError(f"adaptive pooling: Expected grad_output to have non-zero size for non-batch dimensions, but got {list(g.shape)}. Ask for places.")
    return g


def shallow(format) -> int:
    """The format, but for that of five dims."""
    return 0 if format == 3 else format


def deep(g, groups) -> bool:
    """Do volumes keep their channels last in the convolution whose gradient is g? csrc/cpu/nn/conv.c says it of results."""
    return g.dtype == F.bfloat16 or g.dtype == F.float32 and (g.shape[0] != 1 or groups != 1)


def alike(g, deep, x, weight) -> F.Tensor:
    """g with its channels last, where one of the operands lies so, of volumes if `deep`, of lines the weight; as it is where one was not kept."""
    for t in (x, weight):
        format = 0 if t is None else format_of(t)
        if format == 2 or format == 3 and deep or format == 4 and (t is weight or t.is_contiguous()):
            g = formed(g, format)
            return g if format == 4 or format_of(g) == format else g.clone(memory_format=FORMATS[format])  # of one place: strides tell
    return g if x is None or weight is None else formed(g, 0)


def crossed(weight, big, small, stride, padding, dilation) -> F.Tensor:
    """A second gradient of a weight, as PyTorch leaves it: a convolution of big by small over the batch, whose channels change places and whose last places are cut off."""
    if weight.is_complex():  # made of real ones, anew
        return formed(weight, 0)
    turned, big, small = (t.transpose(0, 1) for t in (weight, big, small))
    sizes = zip(spatial(weight.shape), spatial(big.shape), spatial(small.shape), stride, padding, dilation)
    return cut(alike(turned, deep(big, 1), big, small), [(n + 2 * p - s * (m - 1) - 1) // d + 1 - k for k, n, m, s, p, d in sizes]).transpose(0, 1)


def reached(input, out, weight, stride, padding, dilation, transposed) -> F.Tensor:
    """A second gradient of an input, as PyTorch leaves it: of a transposed convolution a convolution of all that came out, whose last places are cut off."""
    if input.is_complex() or not transposed:
        return formed(input, 0) if input.is_complex() else input
    sizes = zip(spatial(input.shape), spatial(out.shape), spatial(weight.shape), stride, padding, dilation)
    return cut(input, [(n + 2 * p - d * (k - 1) - 1) // s + 1 - m for m, n, k, s, p, d in sizes])


def cut(t, beyond) -> F.Tensor:
    """t as the first places of a tensor that had so many more."""
    beyond = beyond[5 - t.ndim :]
    if not any(beyond):
        return t
    if format_of(t) == 4:
        return cut(t.transpose(1, 2).unsqueeze(1), [0, *beyond, 0]).squeeze(1).transpose(1, 2)
    whole = F.constant_pad_nd(t, [n for more in reversed(beyond) for n in (0, more)])
    return whole[(..., *(slice(k) for k in t.shape[2:]))]


def spatial(shape) -> tuple:
    """The spatial sizes of (N, C, ...) as the rows take them: three, the absent ones 1."""
    return (1,) * (5 - len(shape)) + tuple(shape[2:])


def convolved(input, weight, out_shape, stride, padding, dilation, transposed, groups) -> F.Tensor:
    """The convolution whose result has out_shape: for a transposed one that says the output padding."""
    extra = (0, 0, 0)
    if transposed:
        sizes = zip(spatial(out_shape), spatial(input.shape), spatial(weight.shape), stride, padding, dilation)
        extra = tuple(out - ((n - 1) * s - 2 * p + d * (k - 1) + 1) for out, n, k, s, p, d in sizes)
    return row("convolution")(input, weight, None, stride, padding, dilation, transposed, extra, groups)
