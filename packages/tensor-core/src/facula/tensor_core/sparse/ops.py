"""What rows do with sparse tensors: a table by the row's name, over ops on indices and values."""

import math
from functools import partial

from facula.tensor_core import _ops
from facula.tensor_core.functions import create as _create, ranges as _ranges
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch.out import into
from facula.tensor_core._errors import DTypeError, GradError
from facula.tensor_core._state import can_cast, promote_types

Sparse = make = None  # _sparse's, which puts them here


def run(op, args, out):
    """The op on arguments of which at least one is sparse. `out is args[0]`: in place."""
    from facula.tensor_core.sparse import shapes as _sparse_shapes  # noqa: F401 - which adds its rows to the table

    if any(getattr(a, "_block", None) is not None or type(a) in (list, tuple) and any(getattr(b, "_block", None) is not None for b in a) for a in args):
        from facula.tensor_core.sparse import blocks as _blocks

        return _blocks.run(op, args, out, _run)
    return _run(op, args, out)


def _run(op, args, out):
    table = INPLACE if out is not None and out is args[0] else OPS
    if op.name not in table or out is not None and _first(args) is None:
        name = op.name + ("_" if out is not None and not op.name.endswith("_") else "")
        raise NotImplementedError(f"{name}: not defined for layout {_first(args).layout}. Convert with to_dense().".replace("facula.", ""))
    result = table[op.name](*args)
    if out is None:
        return _first(args)._as_me(result)
    return result if table is INPLACE else given(op.name, result, out)


def given(name, result, out):
    """out with the result in it: a sparse one takes its indices, a strided one its elements."""
    if not isinstance(result, Sparse):
        return into(name, result, out)
    if not isinstance(out, Sparse) or out.layout is not result.layout or out.sparse_dim() != result.sparse_dim() and out._nnz():
        raise RuntimeError(
            f"{name}: the result has layout {result.layout} and {result.sparse_dim()} sparse dims, out of layout {out.layout} and shape {tuple(out.shape)} "
            "cannot hold it. Give one of that layout."
        )
    if out.is_sparse and out._nnz() and any(n < old for n, old in zip(result._size[: result.sparse_dim()], out._size)):
        raise RuntimeError(f"{name}: shrinking the size of sparse dimensions (from {list(out.shape)} to {list(result.shape)}) on a non-empty sparse tensor is not supported. Give an empty out.")
    if result.dtype._kind == 0 and out.dtype._kind:
        raise RuntimeError(f"{name} does not support non-boolean outputs, got {out.dtype._name}. Give one of dtype bool.")
    _castable(name, result.dtype, out.dtype)
    if result.requires_grad or out.requires_grad:
        raise GradError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. Drop out=.")
    return out._become(result, result._v.to(out.dtype, copy=True))


def _castable(name, dtype, wanted):
    if not can_cast(dtype, wanted):
        raise DTypeError(f"{name}: result type {dtype._scalar_type} can't be cast to the desired output type {wanted._scalar_type}. Give another dtype.")


def grouped(t, n):
    """A strided tensor with its first n dims as one."""
    return t.reshape((math.prod(t.shape[:n]), *t.shape[n:]))


def _first(args):
    """The first sparse tensor among the arguments and what is listed in them."""
    for a in args:
        if isinstance(a, Sparse):
            return a
        if type(a) in (list, tuple) and (found := _first(a)) is not None:
            return found
    return None


def _same_shape(name, x, y):
    if x.shape != y.shape:
        raise RuntimeError(f"{name}: expected 'self' and 'other' to have same size, but self has size {tuple(x.shape)} while other has size {tuple(y.shape)}. Sparse tensors do not broadcast.")


def _terms(row, x, y, alpha):
    """Values of y as they are to be added to x's: of the dtype of a sum of dense ones, whose refusals are met here, and times alpha."""
    dtype = getattr(_ops, row)(*(_create.empty(0, dtype=t.dtype) for t in (x, y)), alpha=alpha).dtype
    factor = -alpha if row.startswith("sub") else alpha
    return y._v.to(dtype) if factor == 1 else y._v.to(dtype) * factor


def _joined(x, y, other):
    """A sum of two sparse tensors: both lists one after the other. y is in coordinate form; other: its values as _terms has them."""
    _same_shape("add", x, y)
    x = x.coo()
    if x.sparse_dim() != y.sparse_dim() and not (x._nnz() and y._nnz()):  # one of them is 0
        return make(x._i, x._v.to(other.dtype), x.shape, x._coalesced) if x._nnz() else make(y._i, other, y.shape, y._coalesced)
    if x.sparse_dim() != y.sparse_dim():
        raise RuntimeError(f"add: expected the same sparse_dim, got {x.sparse_dim()} and {y.sparse_dim()}")
    both = make(_ops.cat([x._i, y._i], 1), _ops.cat([x._v.to(other.dtype), other], 0), x.shape)
    return both.coalesce() if x._coalesced and y._coalesced else both


def _places(x):
    from facula.tensor_core.sparse.tensor import _flat

    return _flat(x._i, x.shape[: x.sparse_dim()])


def _add(x, y, alpha=1, row="add"):
    if isinstance(x, Sparse) and isinstance(y, Sparse):
        y = y.coo()
        return x._as_me(_joined(x, y, _terms(row, x, y, alpha)), x.index_dtype())
    if isinstance(x, Sparse) and not x.is_sparse and row == "add":  # a compressed one may come first; alpha is its factor all the same, in PyTorch
        return _add(y, x, alpha)
    if isinstance(x, Sparse):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _same_shape("add", x, y)
    y = y.coo()
    n = y.sparse_dim()
    terms = _terms(row, x, y, alpha)
    return grouped(x.to(terms.dtype), n).index_add(0, _places(y), terms).reshape(x.shape)


def become(name, x, made):
    """What an in-place op makes of x: another sparse tensor, in x's layout from here on. A leaf's gradient is written where it lies, for the tape adds to those values."""
    made, values = (made := x._as_me(made, x.index_dtype())), made._v
    if x._holds_gradient and values.shape == x._v.shape:
        x._v.copy_(values)
        if x._behind is not None:
            x._behind[0].copy_(x._v.index_select(0, x._behind[1]))
        return x
    from facula.tensor_core.extend import grad_mode

    if x._v.requires_grad and x._v.is_leaf and grad_mode():
        raise GradError(f"{name}: a leaf Variable that requires grad is being used in an in-place operation. Write under no_grad(), or to a clone.")
    if not can_cast(values.dtype, x.dtype):
        raise DTypeError(f"{name}: result type {values.dtype._scalar_type} can't be cast to the desired output type {x.dtype._scalar_type}. Use {name.rstrip('_')}.")
    hold(x, values.to(x.dtype))
    x._lies_as(made)
    return x


def hold(x, values):
    """Put values into x: a leaf that requires grad goes on doing so, and keeps its gradient."""
    if x._v.requires_grad and x._v.is_leaf and values.is_floating_point():
        values = values.detach().requires_grad_()
        values._grad = getattr(x._v, "_grad", None)
    x._v = values


def _add_(x, y, alpha=1, row="add_"):
    if isinstance(x, Sparse):
        if not isinstance(y, Sparse):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        y = y.coo()
        return become(row, x, _joined(x, y, _terms(row, x, y, alpha)))
    _same_shape("add_", x, y)
    y = y.coo()
    n = y.sparse_dim()
    if x.is_contiguous():
        x.view((math.prod(x.shape[:n]), *x.shape[n:])).index_add_(0, _places(y), _terms(row, x, y, alpha).to(x.dtype))
        return x
    return getattr(x, row)(y.to_dense(), alpha=alpha)


def _mul(x, y):
    for a, b in ((y, x), (x, y)):
        if isinstance(a, Sparse) and not a.dim() and isinstance(b, Sparse):  # one number
            if b.dim():
                return b._with(b._v * a.to_dense())
            if a.is_coalesced():  # and neither gives way to the other's dtype
                return b._with(b._v.to(promote_types(a.dtype, b.dtype)) * a.to_dense())
    if isinstance(x, Sparse) and isinstance(y, Sparse) and not x.dim() and not y.dim():
        return _mul(x, y.coalesce())
    if isinstance(x, Sparse) and isinstance(y, Sparse):  # nonzero where both are
        x, y = x.coo().coalesce(), y.coo()
        n = x.sparse_dim()
        if y.sparse_dim() != n or x.shape[:n] != y.shape[:n]:
            _same_shape("mul", x, y)
            values = x._v * grouped(y.to_dense(), n).index_select(0, _places(x))
            return x._with(values)
        mine, its = _in_both(x, y := y.coalesce())
        values = x._v.index_select(0, mine) * y._v.index_select(0, its)  # dense dims broadcast
        return make(x._i.index_select(1, mine), values, (*x.shape[:n], *values.shape[1:]), True)
    if not isinstance(x, Sparse):
        x, y = y, x
    if hasattr(y, "dim") and y.dim():
        x = _repeated(x, y.shape) if y.dim() > x.dim() else x
        return x._with(x._v * y.expand(x.shape).sparse_mask(x)._v)
    return x._with(x._v * y)


def _in_both(x, y):
    """Where in the lists of two coalesced tensors the indices stand that both have."""
    from facula.tensor_core.functions.index_key import nonzero
    from facula.tensor_core.functions.order import searchsorted

    wanted, there = _places(x), _places(y)
    at = searchsorted(there, wanted).clamp(max=max(y._nnz() - 1, 0))
    mine = nonzero(there.index_select(0, at) == wanted).reshape(-1) if y._nnz() else at[:0]
    return mine, at.index_select(0, mine)


def _repeated(x, shape):
    """x as often as the dims ask that shape has before its own."""
    x = x.coo()
    for size in reversed(shape[: len(shape) - x.dim()]):
        nnz, index = x._nnz(), x._i.repeat(1, size)
        lead = _ranges.arange(size).repeat_interleave(nnz).unsqueeze(0)
        x = make(_ops.cat([lead, index], 0), x._v.repeat(size, *(1,) * (x._v.dim() - 1)), (size, *x.shape), x._coalesced)
    return x


def _mul_(x, y):
    if not isinstance(x, Sparse):
        return x.mul_(y.to_dense())
    return become("mul_", x, _mul(x, y))


def _div(x, y):
    if not isinstance(x, Sparse) or isinstance(y, Sparse) or (hasattr(y, "dim") and y.dim()):
        raise RuntimeError("div: Sparse division requires a number or a strided tensor of no dims as divisor. Convert with to_dense().")
    return x._with(x._v / y)


def _quotient(row, x, y):
    """A quotient rounded to a whole number, by the row of that name."""
    if not isinstance(x, Sparse) or isinstance(y, Sparse) or (hasattr(y, "dim") and y.dim()):
        raise RuntimeError(f"{row}: Sparse floor division requires a number or a strided tensor of no dims as divisor. Convert with to_dense().")
    x = x.distinct()
    return x._with(getattr(_ops, row)(x._v, y))


def _div_(x, y):
    return become("div_", x, _div(x, y))


def _zero_preserving(name, linear=False):
    """A row that maps 0 to 0, on the values; all but linear ones need each index once."""
    function = getattr(_ops, name)

    def apply(x, *rest):
        x = x if linear else x.distinct()
        return x._with(function(x._v, *rest))

    return apply


def _nan_to_num(x, nan=0, posinf=0, neginf=0):
    x = x.distinct()
    return x._with(_ops._nan_to_num(x._v, nan=nan, posinf=posinf, neginf=neginf))


def _angle(x):
    if x.is_sparse:
        raise NotImplementedError("angle: not defined for layout torch.sparse_coo. Convert with to_sparse_csr() or to_dense().")
    return x._with(_ops._angle(x._v))


def want_coalesced(name, x):
    """Refuse to write what is not linear to values that add up."""
    if x.is_sparse and not x._coalesced:
        raise RuntimeError(f"{name}_ requires coalesced input: an index of shape {tuple(x.shape)} may be listed twice. Coalesce it, or use {name}.")


def _in_place(name):
    function = OPS[name]

    def apply(x, *rest):
        if name not in _LINEAR:
            want_coalesced(name, x)
        made = function(x, *rest)
        _castable(name + "_", made.dtype, x.dtype)
        return become(name + "_", x, made)

    return apply


def _drawn_(x, mean, std, generator=None):
    if x.is_sparse:
        raise NotImplementedError(f"normal_: not defined for layout {x.layout}. Convert with to_dense().")
    _ops.normal_(x._v, mean, std, generator=generator)
    return x


def _pow(x, exponent):
    if not isinstance(x, Sparse) or hasattr(exponent, "dim") or exponent == 0:
        raise RuntimeError("pow: a sparse tensor takes a number other than 0 as exponent")
    x = x.distinct()
    return x._with(x._v**exponent)


def _matmul(x, y):
    if isinstance(y, Sparse):
        if isinstance(x, Sparse):
            if x.dtype is not y.dtype:
                raise RuntimeError(f"matmul: mat1 dtype {x.dtype._scalar_type} does not match mat2 dtype {y.dtype._scalar_type}. Convert one.")
            return _matmul(x, y.to_dense()).to_sparse()
        y = y.coo()
        return _matmul(_transposed(y, 0, 1), x.t()).t() if x.dim() == 2 else _matmul(_transposed(y, 0, 1), x)
    if x.dim() != 2 or x.dense_dim() or y.dim() not in (1, 2) or y.size(0) != x.size(1):
        shapes = f"mat1 and mat2 shapes cannot be multiplied ({x.size(0)}x{x.size(1)} and {y.size(0)}x{y.size(1)}): " if x.dim() == y.dim() == 2 else ""
        shapes = f"mv: expected self.size(-1) == vec.size(-1): {x.size(1)} and {y.size(0)}: " if x.dim() == 2 and y.dim() == 1 else shapes
        raise RuntimeError(f"matmul: {shapes}expected a sparse matrix and a matrix or vector that fits, got {tuple(x.shape)} and {tuple(y.shape)}")
    x = x.coo()
    terms = y.index_select(0, x._i[1]) * (x._v if y.dim() == 1 else x._v.unsqueeze(1))
    return _create.zeros((x.size(0), *y.shape[1:]), dtype=terms.dtype).index_add(0, x._i[0], terms)


def _transposed(x, dim0, dim1):
    if not x.is_sparse:
        return x.transpose(dim0, dim1)
    n, dims = x.sparse_dim(), x.dim()
    a, b = dim0 % dims, dim1 % dims
    if (a < n) != (b < n):
        raise RuntimeError(f"transpose: dims {a} and {b} of a sparse tensor must both be sparse or both dense (sparse_dim {n})")
    size = list(x.shape)
    size[a], size[b] = size[b], size[a]
    if a >= n:
        return make(x._i, x._v.transpose(a - n + 1, b - n + 1), size, x._coalesced)
    order = list(range(n))
    order[a], order[b] = order[b], order[a]
    return make(_ops.index_select(x._i, 0, _data.tensor(order)), x._v, size, x._coalesced and (a == b or not x._nnz()))


def _norm(x, dim=None, p=2, keepdim=False):
    over = range(x.dim()) if dim is None or dim == () else dim if isinstance(dim, (tuple, list)) else (dim,)
    if keepdim or {d % max(x.dim(), 1) for d in over} != set(range(x.dim())):
        what = "does not support keepdim=True" if keepdim else "only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input"
        raise RuntimeError(f"norm: norm_sparse currently {what}, got dim {dim} for {x.dim()} dims. Convert with to_dense().")
    return _ops.norm_p(x.distinct()._v, None, p=p)


def _copy(x, dtype, *rest):
    return x._with(x._v.clone() if dtype is None else x._v.to(dtype))


_ZERO_PRESERVING = (
    "abs sqrt square sign sgn sin sinh tan tanh asin asinh atan atanh expm1 log1p relu erf erfinv ceil floor round trunc frac "
    "deg2rad rad2deg isinf isposinf isneginf signbit"
).split()
_LINEAR = ("neg", "conj_physical")
OPS = {
    "add": _add, "sub": partial(_add, row="sub"), "mul": _mul, "div": _div, **{row: partial(_quotient, row) for row in ("floor_divide", "_floor_quotient", "trunc_divide")}, "pow": _pow, "matmul": _matmul,
    "transpose": _transposed, "copy": _copy, "_nan_to_num": _nan_to_num, "norm_p": _norm,
    "isnan": _zero_preserving("isnan"), "_angle": _angle,
    **{name: _zero_preserving(name, linear=True) for name in _LINEAR},
    **{name: _zero_preserving(name) for name in _ZERO_PRESERVING},
}  # fmt: skip
INPLACE = {
    "add": _add_, "sub": partial(_add_, row="sub_"), "mul": _mul_, "div": _div_, "normal_": _drawn_,
    **{name: _in_place(name) for name in (*_LINEAR, *_ZERO_PRESERVING) if not name.startswith(("is", "signbit"))},
}  # fmt: skip

__all__ = []
