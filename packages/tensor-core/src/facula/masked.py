"""Reductions and normalizations of the elements that a mask selects, as torch.masked has them.

`mask` is True (or not zero) where an element counts; it is broadcast to input's shape and may be left out. Where all elements of a
result are masked out, it is the reduction's identity: 0 for sum, -inf for amax, NaN where there is none, as for mean.

>>> import facula
>>> x, mask = facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([[True, False], [True, True]])
>>> facula.masked.sum(x, 1, mask=mask)
tensor([1., 7.])
>>> facula.masked.softmax(x, 0, mask=mask)
tensor([[0.1192, 0.0000],
        [0.8808, 1.0000]])

Sparse masks are made dense for strided inputs. Of sparse inputs there are sum, prod, amax and amin, of compressed ones mean too: the mask lists
the elements that count, and the result is sparse.
"""

import builtins

import facula
from facula.tensor_core import _limits
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.sparse.masked import reduced

_INF = float("inf")


def _lowest(name, dtype):
    return -_INF if dtype.is_floating_point else _integer(name, dtype).min


def _highest(name, dtype):
    return _INF if dtype.is_floating_point else _integer(name, dtype).max


def _integer(name, dtype):
    """The limits of an integer dtype. Of bool and complex numbers, and of what PyTorch has few ops for, there is no identity."""
    if dtype._kind != 1 or not (dtype.is_signed or dtype is facula.uint8):
        raise DTypeError(f"masked.{name}: there is no identity for {dtype._name}, which stands for what is masked out. Convert with input.to(facula.int64).")
    return _limits.iinfo(dtype)


def _mask(input, mask):
    """The mask as a dense one of truth values, of input's shape."""
    if mask.shape != input.shape:
        if mask.dim() > input.dim():
            raise IndexError(f"masked: expected a mask that can be broadcast to input, got one of {mask.dim()} dims for {input.dim()}. Reduce it first.")
        mask = facula.broadcast_to(mask.to_dense() if mask.is_sparse else mask, input.shape)
    elif mask.layout is not facula.strided:
        mask = mask.to_dense()
    return mask.to(facula.bool)


def _dense(name, *inputs):
    for x in inputs:
        if x.layout is not facula.strided:
            raise ValueError(f"masked {name} expects strided tensors, got one of layout {x.layout}. Convert with input.to_dense().")


def _filled(name, input, mask, value):
    """input with value(name, dtype) where it is masked out."""
    _dense(name, input)
    if mask is None:
        return input
    dtype = input.dtype
    return facula.where(_mask(input, mask), input, facula.tensor(value(name, dtype), dtype=dtype, device=input.device))


def _zero(name, dtype):
    return 0


def _one(name, dtype):
    return 1


def _dims(dim, ndim):
    """dim as a sorted tuple of dims counted from the front. None and () are all of them."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim = builtins.max(ndim, 1)
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    for k, d in enumerate(given):
        if d in given[:k]:
            raise RuntimeError(f"masked: dim={d} appears multiple times in the list of dims {given}. Name each once.")
        if not -ndim <= d < ndim:
            raise IndexError(f"masked: Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
    return tuple(sorted(d % ndim for d in given))


def _wide(input, dtype):
    """What sums of input are in: dtype, or input's own, of integers int64."""
    return dtype or (facula.int64 if input.dtype._kind < 2 and input.dtype._name not in ("uint16", "uint32", "uint64") else input.dtype)


# --- reductions -------------------------------------------------------------------------------------------------------


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of the elements that count, over dims; of none 0.

    >>> facula.masked.sum(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(4.)
    """
    if input.layout is not facula.strided:
        return reduced("sum", input, _dims(dim, input.dim()), bool(keepdim), _wide(input, dtype), mask, 0)
    return facula.sum(_filled("sum", input, mask, _zero), _dims(dim, input.dim()), bool(keepdim), dtype=_wide(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of the elements that count, over dims; of none 1.

    >>> facula.masked.prod(facula.tensor([2.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(6.)
    """
    if input.layout is not facula.strided:
        return reduced("prod", input, _dims(dim, input.dim()), bool(keepdim), _wide(input, dtype), mask, 1)
    result = _filled("prod", input, mask, _one).to(_wide(input, dtype))
    for d in reversed(_dims(dim, input.dim())):
        result = facula.prod(result, d, bool(keepdim))
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest of the elements that count, over dims; of none -inf, or the least integer.

    >>> facula.masked.amax(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(3.)
    """
    if input.layout is not facula.strided:
        return reduced("amax", input, _dims(dim, input.dim()), bool(keepdim), dtype, mask, _lowest("amax", input.dtype))
    return facula.amax(_filled("amax", input, mask, _lowest), _dims(dim, input.dim()), bool(keepdim)).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest of the elements that count, over dims; of none inf, or the largest integer.

    >>> facula.masked.amin(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([False, True, True]))
    tensor(3.)
    """
    if input.layout is not facula.strided:
        return reduced("amin", input, _dims(dim, input.dim()), bool(keepdim), dtype, mask, _highest("amin", input.dtype))
    return facula.amin(_filled("amin", input, mask, _highest), _dims(dim, input.dim()), bool(keepdim)).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the largest of the elements that count is, along dim. In input's dtype, unless dtype names another.

    >>> facula.masked.argmax(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(2.)
    """
    return facula.argmax(_filled("argmax", input, mask, _lowest), dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the smallest of the elements that count is, along dim. In input's dtype, unless dtype names another.

    >>> facula.masked.argmin(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([False, True, True]))
    tensor(2.)
    """
    return facula.argmin(_filled("argmin", input, mask, _highest), dim, bool(keepdim)).to(dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(x))) of the elements that count, over dims.

    >>> facula.masked.logsumexp(facula.tensor([0.0, 5.0, 0.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(0.6931)
    """
    filled = _filled("logsumexp", input, mask, lambda name, d: complex(-_INF) if d.is_complex else _lowest(name, d))
    return facula.logsumexp(filled, _dims(dim, input.dim()), keepdim=keepdim).to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of the elements that count, over dims. linalg.vector_norm has the values of ord.

    >>> facula.masked.norm(facula.tensor([3.0, 7.0, 4.0]), 2.0, 0, mask=facula.tensor([True, False, True]))
    tensor(5.)
    """
    if ord == -_INF and mask is not None and not input.is_floating_point():
        raise AssertionError(f"input must be floating point, got {input.dtype}")
    filled = _filled("norm", input, mask, _highest if ord == -_INF else _zero)
    return facula.linalg.vector_norm(filled, ord, _dims(dim, input.dim()), bool(keepdim), dtype=dtype or input.dtype)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of the elements that count, over dims; of none NaN. Of integers with a floating dtype only (ValueError).

    >>> facula.masked.mean(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(2.)
    """
    source = "Input" if dtype is None else "Optional"
    dtype = dtype or input.dtype
    if dtype._kind < 2:
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: {dtype}")
    if input.layout in (facula.sparse_csr, facula.sparse_csc):
        return reduced("mean", input, _dims(dim, input.dim()), bool(keepdim), dtype, mask, 0)
    _dense("mean", input)
    count, mask = _counted(input, dim, keepdim, mask)
    return facula.div(sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask), count)


def _counted(input, dim, keepdim, mask):
    """(how many elements count, the mask as truth values or None)."""
    if mask is None:
        return sum(facula.ones(input.shape, dtype=facula.int64, device=input.device), dim, keepdim=keepdim), None
    mask = _mask(input, mask)
    return facula.sum(mask, dim, bool(keepdim)), mask


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median of the elements that count, along dim; of none NaN, and of no integers a ValueError.

    >>> facula.masked.median(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor(1.)
    """
    dtype = dtype or input.dtype
    (d,) = _dims(dim, input.dim())[:1]
    floating = input.is_floating_point()
    wide = input if floating else input.to(facula.float32)
    found = facula.nanmedian(_filled("median", wide, mask, lambda name, d: float("nan")), d, keepdim).values
    if floating:
        return found
    if facula.isnan(found).any():
        raise ValueError(f"masked median expects no fully masked out rows if dtype is not floating point, got {input.dtype}. Convert with input.to(facula.float32).")
    return found.to(dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of the elements that count, over dims: their squared distances from the mean by their number - correction (1).

    >>> facula.masked.var(facula.tensor([1.0, 5.0, 3.0]), 0, unbiased=False, mask=facula.tensor([True, False, True]))
    tensor(1.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    _dense("std/var", input)
    dtype = dtype or (input.dtype if input.dtype._kind >= 2 else facula.float32)
    wide = dtype if dtype._kind >= 2 else facula.float32
    count, mask = _counted(input, dim, True, mask)
    apart = facula.sub(input, facula.div(sum(input, dim, keepdim=True, dtype=dtype, mask=mask), count))
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    count = count if keepdim else count.reshape(total.shape)
    if correction:
        count = facula.clamp_min(facula.sub(count.to(wide.to_real() if wide.is_complex else wide), correction), 0)
    return facula.div(total, count).to(dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The square root of var.

    >>> facula.masked.std(facula.tensor([1.0, 5.0, 3.0]), 0, unbiased=False, mask=facula.tensor([True, False, True]))
    tensor(1.)
    """
    return facula.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


# --- normalizations: results of input's shape -------------------------------------------------------------------------


def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sums of the elements that count, along dim. In input's dtype, unless dtype names another.

    >>> facula.masked.cumsum(facula.tensor([1.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    dtype = dtype or input.dtype
    return facula.cumsum(_filled("cumsum", input, mask, _zero), _dims(dim, input.dim())[0], dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Running products of the elements that count, along dim. In input's dtype, unless dtype names another.

    >>> facula.masked.cumprod(facula.tensor([2.0, 5.0, 3.0]), 0, mask=facula.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    dtype = dtype or input.dtype
    return facula.cumprod(_filled("cumprod", input, mask, _one), _dims(dim, input.dim())[0], dtype=dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    """exp(x) / sum(exp(x)) of the elements that count, along dim; of the others 0.

    >>> facula.masked.softmax(facula.tensor([0.0, 5.0, 0.0]), 0, mask=facula.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return facula.softmax(_filled("softmax", input, mask, _lowest), _dims(dim, input.dim())[0], dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """log(softmax) of the elements that count, along dim; of the others -inf.

    >>> facula.masked.log_softmax(facula.tensor([0.0, 5.0, 0.0]), 0, mask=facula.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    return facula.log_softmax(_filled("log_softmax", input, mask, _lowest), _dims(dim, input.dim())[0], dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmax of -input.

    >>> facula.masked.softmin(facula.tensor([0.0, 5.0, 0.0]), 0, mask=facula.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return facula.softmax(facula.neg(_filled("softmin", input, mask, _highest)), _dims(dim, input.dim())[0], dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """input by the norm of the elements that count, along dim, or by eps where that is larger; what does not count is 0.

    >>> facula.masked.normalize(facula.tensor([3.0, 7.0, 4.0]), 2.0, 0, mask=facula.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return facula.div(_filled("normalize", input, mask, _zero), facula.maximum(length, length.new_full((), eps)))


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)); where one is masked out the other, where both are -inf.

    >>> facula.masked.logaddexp(facula.tensor([0.0, 1.0]), facula.tensor([0.0, 2.0]), input_mask=facula.tensor([True, True]), other_mask=facula.tensor([True, False]))
    tensor([0.6931, 1.0000])
    """
    x, y = _filled("logaddexp", input, input_mask, _lowest), _filled("logaddexp", other, other_mask, _lowest)
    return facula.logaddexp(x, y).to(dtype or input.dtype)


__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm", "normalize", "prod",
    "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
