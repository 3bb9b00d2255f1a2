"""Reductions and scans."""

import numpy as np

from . import O


def axis(dim):
    """NumPy's axis: no dims given means all of them."""
    return None if dim in (None, ()) else dim


def near_one(a):
    """Factors whose product stays in range: modulus around 1."""
    if a.dtype.kind == "f":
        return np.where(a < 0, -1, 1) * np.exp(np.abs(a) % 1 / 20 - 0.025)
    return a / np.maximum(np.abs(a), 1e-3) if a.dtype.kind == "c" else a


def wide(x):
    """What an integer sum is taken in."""
    return x if x.dtype.kind in "fc" else x.astype(np.int64)


def total(x, dim, keepdim):
    return np.sum(wide(x), axis=axis(dim), keepdims=keepdim)


def size(x, dim, keepdim):
    """The size of the terms of a sum: its error is measured at that."""
    return np.sum(np.abs(x), axis=axis(dim), keepdims=keepdim)


def average_size(x, dim, keepdim):
    return np.mean(np.abs(x), axis=axis(dim), keepdims=keepdim)


def best(where, what):
    def fold(x, dim, keepdim):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        return what(x, axis=dim, keepdims=keepdim), where(x, axis=dim, keepdims=keepdim)

    return fold


def where_best(find):
    def fold(x, dim, keepdim):
        if x.ndim == 0:
            return np.zeros((), np.int64)
        found = find(x, axis=dim)
        return np.expand_dims(found, dim) if keepdim and dim is not None else found

    return fold


def logsumexp(x, dim, keepdim):
    peak = np.max(x, axis=axis(dim), keepdims=True, initial=-np.inf) if x.dtype.kind == "f" else 0
    out = np.log(np.sum(np.exp(x - peak), axis=axis(dim), keepdims=True)) + peak
    return out if keepdim else np.sum(out, axis=axis(dim))


def spread(x, dim, keepdim):
    return np.mean(np.abs(x) ** 2, axis=axis(dim), keepdims=keepdim)


def variance(x, dim, correction, keepdim):
    return np.var(x, axis=axis(dim), ddof=1 if correction is None else correction, keepdims=keepdim)


def norm(x, dim, p, keepdim):
    return np.sum(np.abs(x) ** p, axis=axis(dim), keepdims=keepdim) ** (np.longdouble(1) / p)


SUM = dict(ulp=130, culp=130, specials=False)  # a lane adds 256 elements in a row, each half an ulp, then 11 levels

O("sum", total, scale=size, **SUM)
O("nansum", lambda x, dim, keepdim: np.nansum(wide(x), axis=axis(dim), keepdims=keepdim),
  scale=lambda x, dim, keepdim: np.nansum(np.abs(x), axis=axis(dim), keepdims=keepdim),
  domain=lambda a: np.where(a > 4, np.nan, a) if a.dtype.kind == "f" else a, **SUM)  # fmt: skip
O("mean", lambda x, dim, keepdim: np.mean(x, axis=axis(dim), keepdims=keepdim), scale=average_size, **SUM)
O("prod", lambda x, dim, keepdim: np.prod(wide(x), axis=axis(dim), keepdims=keepdim),
  domain=near_one, ulp=512, culp=512, specials=False)  # fmt: skip; equal factors, of an expanded row, round alike
O("amax", lambda x, dim, keepdim: np.max(x, axis=axis(dim), keepdims=keepdim))
O("amin", lambda x, dim, keepdim: np.min(x, axis=axis(dim), keepdims=keepdim))
O("_aminmax", lambda x, dim, keepdim: (np.min(x, axis=dim, keepdims=keepdim), np.max(x, axis=dim, keepdims=keepdim)), result=("SAME", "SAME"))
O("any", lambda x, dim, keepdim: np.any(x != 0, axis=axis(dim), keepdims=keepdim))
O("all", lambda x, dim, keepdim: np.all(x != 0, axis=axis(dim), keepdims=keepdim))
O("count_nonzero", lambda x, dim: np.sum(x != 0, axis=axis(dim)))
O("argmax", where_best(np.argmax))
O("argmin", where_best(np.argmin))
O("max_index", best(np.argmax, np.max), result=("SAME", "INDEX"))
O("min_index", best(np.argmin, np.min), result=("SAME", "INDEX"))
O("logsumexp", logsumexp, ulp=4, culp=32, specials=False, domain=lambda a: a if a.dtype.kind in "fc" else a % 8 if a.dtype != bool else a,
  scale=lambda x, dim, keepdim: np.max(np.abs(x), axis=axis(dim), keepdims=keepdim, initial=0))  # fmt: skip
O("var", variance, ulp=130, culp=130, scale=spread, specials=False)
O("std", lambda x, dim, correction, keepdim: np.sqrt(variance(x, dim, correction, keepdim)),
  scale=lambda x, dim, keepdim: np.sqrt(spread(x, dim, keepdim)), ulp=130, culp=130, specials=False)  # fmt: skip
O("norm_p", norm, ulp=130, culp=130, specials=False)

O("cumsum", lambda x, dim: np.cumsum(wide(x), axis=dim) if x.ndim else wide(x),
  scale=lambda x, dim: np.cumsum(np.abs(x), axis=dim) if x.ndim else np.abs(x), ulp=16, culp=16, specials=False)  # fmt: skip
O("cumprod", lambda x, dim: np.cumprod(wide(x), axis=dim) if x.ndim else wide(x),
  domain=near_one, ulp=256, culp=1024, specials=False)  # fmt: skip

def running(better):
    """(best so far, where); of equals the last, and NaN, once met, stays."""

    def scan(x, dim):
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        lines = np.moveaxis(x, dim, -1)
        best, where = np.array(lines), np.zeros(lines.shape, np.int64)
        for k in range(1, lines.shape[-1]):
            old, new = best[..., k - 1], lines[..., k]
            takes = better(new, old) | (new != new) if x.dtype.kind == "f" else better(new, old)
            takes &= ~((old != old) & (new == new))
            best[..., k] = np.where(takes, new, old)
            where[..., k] = np.where(takes, k, where[..., k - 1])
        return np.moveaxis(best, -1, dim), np.moveaxis(where, -1, dim)

    return scan


O("cummax", running(np.greater_equal), result=("SAME", "INDEX"))
O("cummin", running(np.less_equal), result=("SAME", "INDEX"))
O("logcumsumexp", lambda x, dim: np.logaddexp.accumulate(x, axis=dim) if x.ndim else x, ulp=64, culp=64, specials=False,
  scale=lambda x, dim: np.maximum.accumulate(np.abs(x), axis=dim) if x.ndim else np.abs(x))  # fmt: skip
