"""Derivatives of reductions and scans."""

import facula as F

from .._core import composing
from .._table import D
from ._tools import count, has_zero, kept, listed, only_where, spread, zeros

D("sum",       x=lambda g, x_shape, dim, keepdim: spread(g, x_shape, dim, keepdim))
D("mean",      x=lambda g, x_shape, dim, keepdim: spread(g, x_shape, dim, keepdim) / count(x_shape, dim))
D("nansum",    x=lambda g, x, dim, keepdim: spread(g, x.shape, dim, keepdim) * (x == x))  # g says first how the gradient lies
D("prod",      x=lambda g, x, out, dim, keepdim: prod_gradient(g, x, out, dim, keepdim))
D("amax",      x=lambda g, x, out, dim, keepdim: shared(g, x, out, dim, keepdim))
D("amin",      x=lambda g, x, out, dim, keepdim: shared(g, x, out, dim, keepdim))
D("_aminmax",  node="AminmaxBackward0", x=lambda gs, x, out0, out1, dim, keepdim: both_shared(gs, x, out0, out1, dim, keepdim))
D("max_index", node="MaxBackward0", flat=(1,), x=lambda g, x_shape, out1, dim, keepdim: placed(g, x_shape, out1, dim, keepdim))
D("min_index", node="MinBackward0", flat=(1,), x=lambda g, x_shape, out1, dim, keepdim: placed(g, x_shape, out1, dim, keepdim))
D("logsumexp", x=lambda g, x, out, dim, keepdim: kept(g, x.shape, dim, keepdim) * weights(x, kept(out, x.shape, dim, keepdim)))
D("var",       x=lambda g, x, dim, correction, keepdim: var_gradient(g, x, dim, correction, keepdim))
D("std",       x=lambda g, x, out, dim, correction, keepdim: var_gradient(halved(g, out), x, dim, correction, keepdim))
D("norm_p",    node="LinalgVectorNormBackward0", real=True, x=lambda g, x, out, dim, p, keepdim: norm_gradient(g, x, out, dim, p, keepdim))

D("cumsum",    x=lambda g, dim: backwards(lambda t: F.cumsum(t, dim), g, dim))
D("cumprod",   x=lambda g, x, out, dim: cumprod_gradient(g, x, out, dim))
D("cummax",    flat=(1,), x=lambda g, x_shape, out1, dim: placed(g, x_shape, out1, dim, True))
D("cummin",    flat=(1,), x=lambda g, x_shape, out1, dim: placed(g, x_shape, out1, dim, True))
D("logcumsumexp", x=lambda g, x, out, dim: logcumsumexp_gradient(g, x, out, dim))


def halved(g, out) -> F.Tensor:
    """g / (2 out), 0 where out is 0; the denominator is never 0, so that this has derivatives too."""
    return only_where(out != 0, g / (2 * F.where(out != 0, out, 1)))


def shared(g, x, out, dim, keepdim) -> F.Tensor:
    """Of an extreme: ties share the gradient evenly, and where nothing is equal to it, which is NaN, it is NaN."""
    extreme = kept(out, x.shape, dim, keepdim)
    hit = extreme == x
    if dim is None and x.is_floating_point():  # max() and min() of all share among NaNs, too
        hit = hit | (x.isnan() & extreme.isnan())
    hits = F.sum(hit, listed(dim, x.ndim), True) if x.ndim else hit
    g = kept(g, x.shape, dim, keepdim)
    return g / hits * hit if dim is not None else (hit * (g / hits)).contiguous()  # the operand that comes first says how the gradient lies


def both_shared(gs, x, least, greatest, dim, keepdim) -> F.Tensor:
    """Of both extremes, of which one may have no gradient. It lies as x does, of all elements too."""
    dim = () if dim is None else dim
    parts = [shared(g, x, out, dim, keepdim) for g, out in zip(gs, (least, greatest)) if g is not None]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def placed(g, x_shape, index, dim, keepdim) -> F.Tensor:
    """Each gradient where its index says."""
    if not x_shape:
        return g
    if not keepdim:
        g, index = g.unsqueeze(dim), index.unsqueeze(dim)
    return F.scatter_add(zeros(x_shape, g), dim, index, g)


def weights(x, out) -> F.Tensor:
    """exp(x - out): NaN where both are infinite, as in PyTorch."""
    return F.exp(x - out)


def others(x, dim) -> F.Tensor:
    """The product of all elements along dim but oneself: exact where some are zero."""
    n = x.shape[dim]
    ones = F.ones_like(x.narrow(dim, 0, 1))
    before = F.cumprod(F.cat([ones, x.narrow(dim, 0, n - 1)], dim), dim)
    after = backwards(lambda t: F.cumprod(t, dim), F.cat([x.narrow(dim, 1, n - 1), ones], dim), dim)
    return before * after


def prod_gradient(g, x, out, dim, keepdim) -> F.Tensor:
    if not x.ndim:
        return g
    g, out = kept(g, x.shape, dim, keepdim), kept(out, x.shape, dim, keepdim)
    if not has_zero(x):
        return g * out / x
    dims = listed(dim, x.ndim)
    if len(dims) == 1:
        return g * others(x, dims[0])
    rest = [d for d in range(x.ndim) if d not in dims]
    turned = x.permute(*rest, *dims)
    flat = turned.reshape(*[x.shape[d] for d in rest], -1)
    back = others(flat, len(rest)).reshape(turned.shape)
    return g * back.permute(*[([*rest, *dims]).index(d) for d in range(x.ndim)])


def var_gradient(g, x, dim, correction, keepdim) -> F.Tensor:
    n = count(x.shape, dim)
    correction = 1 if correction is None else correction
    g = kept(g, x.shape, dim, keepdim)
    return (2 / (n - correction) if n != correction else float("nan")) * g * (x - F.mean(x, listed(dim, x.ndim) if x.ndim else None, True))


def norm_gradient(g, x, out, dim, p, keepdim) -> F.Tensor | None:
    """x |x|^(p-2) / out^(p-1), and 0 where that is 0 / 0; none of a count, as in PyTorch."""
    if p == 0:
        return None
    g, out = kept(g, x.shape, dim, keepdim), kept(out, x.shape, dim, keepdim)
    if p == 1:
        return F.sgn(x) * g
    if p == 2:
        if composing():  # by the steps that say how gradients of gradients lie
            return g * F.masked_fill(x / F.where(out != 0, out, 1), out == 0, 0)
        rate = F.masked_fill(g / F.where(out != 0, out, 1), out == 0, 0)
        return x * rate if 0 in g.stride() else rate * x  # a gradient that lies somehow says how the product lies
    if p in (float("inf"), float("-inf")):
        # the fold's own sizes, bit for bit: abs rounds those of complex numbers otherwise
        size = F.linalg.vector_norm(F.unsqueeze(x, -1), 1, (-1,)) if x.is_complex() else F.abs(x)
        hit = size == out
        return F.sgn(x) * only_where(hit, g / F.sum(hit, listed(dim, x.ndim), True))
    size = F.abs(x)
    there = (size != 0) & (out != 0)
    size, out = F.where(there, size, 1), F.where(out != 0, out, 1)  # powers of 0 may be infinite, and their derivatives NaN
    return F.sgn(x) * size ** (p - 1) * g / out ** (p - 1)


def backwards(scan, t, dim) -> F.Tensor:
    """A scan from the other end."""
    if not t.ndim:
        return scan(t)
    return F.flip(scan(F.flip(t, (dim,))), (dim,))


def cumprod_gradient(g, x, out, dim) -> F.Tensor:
    """Sum over j >= i of g_j prod(x_k, k <= j, k != i)."""
    if not x.ndim or x.shape[dim] == 1:
        return g
    if not has_zero(x):
        return backwards(lambda t: F.cumsum(t, dim), g * out, dim) / x
    n = x.shape[dim]
    rows = []
    for i in range(n):  # the products without x_i, one by one
        rest = F.cat([x.narrow(dim, 0, i), F.ones_like(x.narrow(dim, 0, 1)), x.narrow(dim, i + 1, n - i - 1)], dim)
        tail = F.cumprod(rest, dim).narrow(dim, i, n - i) * g.narrow(dim, i, n - i)
        rows.append(F.sum(tail, (dim,), True))
    return F.cat(rows, dim)


def logcumsumexp_gradient(g, x, out, dim) -> F.Tensor:
    """Sum over j >= i of g_j exp(x_i - out_j), shifted by the last and largest out."""
    if not x.ndim or not x.shape[dim]:
        return g
    top = out.narrow(dim, out.shape[dim] - 1, 1)
    return backwards(lambda t: F.cumsum(t, dim), g * F.exp(top - out), dim).contiguous() * F.exp(x - top)
