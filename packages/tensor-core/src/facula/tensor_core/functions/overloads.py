"""Public names whose row depends on the types of the arguments. A small hand-written table: one function per name."""

import warnings

from facula.tensor_core.dispatch.arguments import LACKING
from facula.tensor_core import _ops, return_types
from facula.tensor_core.functions import index as _index
from facula.tensor_core.functions.shape import wrap_dim
from facula.tensor_core._errors import RankError, ShapeError
from facula.tensor_core.dispatch.guard import check, real_order, want_tensor
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core.dispatch.run import fitting, fitting_result, is_number, number_for, zero_dim
from facula.tensor_core._tensor import Tensor


def _extreme(name, whole, index, pair):
    row, fold, along = getattr(_ops, pair), getattr(_ops, whole), getattr(_ops, index)
    result = getattr(return_types, name)

    def extreme(input, second=_ABSENT, keepdim=_ABSENT, *, dim=_ABSENT, other=_ABSENT, axis=_ABSENT, out=None, keepdims=_ABSENT):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        if second is _ABSENT:  # a dim or another tensor, one without a name
            second = dim if dim is not _ABSENT else axis
        elif isinstance(second, Tensor) and keepdim is keepdims:
            return row(input, second, out=out)
        if keepdim is _ABSENT:
            keepdim = keepdims
        if other is not _ABSENT:
            if second is not _ABSENT or keepdim is not _ABSENT:
                raise TypeError(f"{name}() received an invalid combination of arguments: another tensor and a dim. Give one of them.")
            return row(input, other, out=out)
        if second is not _ABSENT:
            dim, keepdim = second, False if keepdim is _ABSENT else keepdim
            if dim is None or isinstance(dim, Tensor):
                check(name, "dim", 1, "int", dim)
        else:
            if keepdim is not _ABSENT:
                raise TypeError(f"{name}() received an invalid combination of arguments: keepdim={keepdim!r} without a dim. Name the dim.")
            if not input.numel():
                raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
            whole = fold(input, None)  # not (), which is amax's own: so autograd tells the nodes apart
            return whole if out is None else into(name + "_of_all", whole, out)  # of any dtype that it can be cast to
        values = along(input, dim, keepdim)
        if out is not None:
            return into(name, result(*values), out)
        return _tuple(result, values)  # 60 ns, result(*values) 400

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"""The {name}imum: of all elements; with a dim, (values, indices) along it; with another tensor, element by element.

    >>> import facula
    >>> x = facula.tensor([1.0, 3.0, 2.0])
    >>> facula.{name}(x)
    tensor({"3." if name == "max" else "1."})
    >>> x.{name}(0).indices
    tensor({"1" if name == "max" else "0"})
    """
    return extreme


_tuple = tuple.__new__
_ABSENT = object()  # the default of an argument for which None is no value
max = _extreme("max", "amax", "max_index", "maximum")
min = _extreme("min", "amin", "min_index", "minimum")


def _ops_error(op, text):
    from facula.tensor_core._errors import DTypeError

    return DTypeError(f"{op}(): {text}")


def _degrees_of_freedom(name, input, dim, correction):
    """Warn, as PyTorch does, where the divisor is not positive."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        count = input.numel()
    else:
        shape = input.shape or (1,)
        count = 1
        for d in dim if isinstance(dim, (tuple, list)) else (dim,):
            if type(d) is not int or not -len(shape) <= d < len(shape):
                return
            count *= shape[d]
    if count <= correction:
        warnings.warn(f"{name}(): degrees of freedom is <= 0: {count} elements and a correction of {correction}. Take a smaller correction.", UserWarning, stacklevel=3)


def _correction(name, first, dim, unbiased, correction):
    """(dim, what is subtracted from N) of the three ways to say it: by correction, by unbiased, and by a truth value alone, without a name."""
    if first is True or first is False:
        if unbiased is not LACKING or dim is not None or correction is not None:
            raise TypeError(f"{name}() received an invalid combination of arguments: {first} where a dim is wanted. Name the dims, or drop the rest.")
        first, unbiased = None, first
    if first is not None:
        if dim is not None:
            raise TypeError(f"{name}() got multiple values for argument 'dim': {first!r} and {dim!r}. Give one of them.")
        dim = first
    if unbiased is LACKING:
        return dim, 1 if correction is None else correction
    if not isinstance(unbiased, bool) or correction is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: unbiased={unbiased!r}, correction={correction!r}. Give a truth value, or a correction.")
    return dim, int(unbiased)


def _spread_name(name):
    fold = getattr(_ops, name)

    def spread(input, first=None, unbiased=LACKING, keepdim=False, *, dim=None, correction=None, out=None, axis=None, keepdims=LACKING):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        dim, correction = _correction(name, first, dim if axis is None else axis, unbiased, correction)
        _degrees_of_freedom(name, input, dim, correction)
        return fold(input, dim, correction=correction, keepdim=keepdim if keepdims is LACKING else keepdims, out=out)

    spread.__name__ = spread.__qualname__ = name
    spread.__doc__ = f"""The {"variance" if name == "var" else "standard deviation"} of all elements, or over dims; the sum of squares is divided by N - correction.

    >>> import facula
    >>> x = facula.tensor([1.0, 3.0])
    >>> facula.{name}(x)
    tensor({"2." if name == "var" else "1.4142"})
    >>> x.{name}(correction=0)
    tensor(1.)
    """
    return spread


var = _spread_name("var")
std = _spread_name("std")


def _with_mean(name):
    fold = getattr(_ops, name.removesuffix("_mean"))

    def both(input, first=None, unbiased=LACKING, keepdim=False, *, dim=None, correction=None, axis=None, keepdims=LACKING):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        dim, correction = _correction(name, first, dim if axis is None else axis, unbiased, correction)
        keepdim = keepdim if keepdims is LACKING else keepdims
        mean = _ops.mean(input, dim, keepdim)  # first: a gradient's strides are those of the newer one's, which are input's
        _degrees_of_freedom(name.removesuffix("_mean"), input, dim, correction)
        return fold(input, dim, correction=correction, keepdim=keepdim), mean

    both.__name__ = both.__qualname__ = name
    both.__doc__ = f"({'variance' if name == 'var_mean' else 'standard deviation'}, mean) over dims.\n\n    >>> facula.{name}(facula.tensor([1.0, 3.0]))\n    (tensor({'2.' if name == 'var_mean' else '1.4142'}), tensor(2.))\n    "
    return both


var_mean = _with_mean("var_mean")
std_mean = _with_mean("std_mean")


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements, or over dims: (sum |x|^p)^(1/p); 'fro' is p = 2.

    >>> facula.norm(facula.tensor([3.0, 4.0]))
    tensor(5.)
    >>> facula.norm(facula.tensor([[3.0, -4.0], [0.0, 2.0]]), 1, dim=1)
    tensor([7., 2.])
    """
    if dtype is not None:
        input = input.to(dtype)
    real_order("linalg.vector_norm", p)
    if p in ("fro", None):
        p = 2
    if p == "nuc":
        from facula.tensor_core.linalg.norm import matrix_norm

        if dim is None and input.dim() != 2:
            raise RuntimeError(f"norm: the nuclear norm is of matrices, got {input.dim()} dims. Name two with dim.")
        return matrix_norm(input, "nuc", (0, 1) if dim is None else (dim,) if isinstance(dim, int) else dim, keepdim, out=out)
    if isinstance(p, str):
        raise RuntimeError(f"norm: p must be a number or 'fro', got {p!r}. Other matrix norms are in facula.linalg.")
    if input.dtype.kind < 2:
        raise _ops_error("linalg.vector_norm", f"Expected a floating point or complex tensor as input. Got {input.dtype.name}")
    if not input.numel() and (p < 0 or p == float("inf")):
        from facula.tensor_core.linalg.norm import vector_norm

        return vector_norm(input, p, dim, keepdim, out=out)  # which says where there is none
    return _ops.norm_p(input, dim, p=p, keepdim=keepdim, out=out)


def where(condition, input=None, other=None, *, out=None):
    """input where condition, else other; numbers welcome. With a condition alone, nonzero(as_tuple=True).

    >>> import facula
    >>> facula.where(facula.tensor([True, False]), 1.0, facula.zeros(2))
    tensor([1., 0.])
    """
    if input is None and other is None:
        return _index.nonzero(condition, as_tuple=True)
    if not isinstance(condition, Tensor):
        raise TypeError(f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}. Convert it with facula.tensor.")
    if condition.dtype.name == "uint8":
        warnings.warn("where received a uint8 condition tensor. This behavior is deprecated: use a boolean condition, condition.bool().", UserWarning, stacklevel=2)
    if condition.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.name}. Convert with .bool().")
    if is_number(input) and is_number(other):
        from facula.tensor_core._state import result_type

        d = result_type(input, other)
        input, other = zero_dim(fitting("where", input, d), d), zero_dim(fitting("where", other, d), d)
    elif type(input) in _PLAIN:
        fitting_result("where", input, other, _FLOATS)
        input = input if not isinstance(other, Tensor) or other.dim() else _of_its_dtype(input, other)
    elif type(other) in _PLAIN:
        fitting_result("where", other, input, _FLOATS)
        other = other if not isinstance(input, Tensor) or input.dim() else _of_its_dtype(other, input)
    return _ops.where_rows(condition, input, other, out=out)


def _of_its_dtype(value, t):
    """A number as a tensor of the dtype that it has beside t, which has no dims: a number counts less than such a tensor."""
    from facula.tensor_core._state import result_type

    return zero_dim(value, result_type(t, value))


def clamp(input, min=None, max=None, *, out=None):
    """input held between min and max, numbers or tensors; where min > max, max.

    >>> import facula
    >>> facula.tensor([-1.0, 0.5, 2.0]).clamp(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if type(input) is not Tensor:
        want_tensor("clamp", "input", 0, input)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if max is None or min is None:
        bound = max if min is None else min
        if type(bound) in _PLAIN:
            fitting_result("clamp", bound, input)
        return _ops.clamp_max(input, bound, out=out) if min is None else _ops.clamp_min(input, bound, out=out)
    if is_number(min) != is_number(max):
        mixed = max if is_number(min) else min
        if isinstance(mixed, Tensor) and mixed.dim():
            raise TypeError("clamp() received an invalid combination of arguments: min and max must be two tensors or two numbers. Convert the number with facula.tensor.")
        min, max = (zero_dim(v) if is_number(v) else v for v in (min, max))
    if is_number(min) and is_number(max):
        if input.dtype.kind == 0 and type(min) is type(max) is bool:
            raise _ops_error("clamp", "\"clamp_scalar_cpu\" not implemented for 'Bool'. Convert input with .to(facula.uint8)")
        if input.dtype.kind == 1 and type(min) is type(max) is int:
            min, max = fitting("clamp", min, input.dtype), fitting("clamp", max, input.dtype)
        return _ops.clamp_numbers(input, min=min, max=max, out=out) if _fits(input, min, max) else _ops.clamp_max(_ops.clamp_min(input, min), max, out=out)
    return _ops.clamp_tensor(input, min, max, out=out)


def clamp_min(input, min, *, out=None):
    """input, at least min: a number or a tensor.

    >>> x = facula.tensor([1.0, 5.0])
    >>> facula.clamp_min(x, 2)
    tensor([2., 5.])
    >>> x.clamp_min(2)
    tensor([2., 5.])
    """
    if type(min) in _PLAIN:
        fitting_result("clamp_min", min, input)
    return _ops.clamp_min(input, min, out=out)


def clamp_max(input, max, *, out=None):
    """input, at most max: a number or a tensor.

    >>> x = facula.tensor([1.0, 5.0])
    >>> facula.clamp_max(x, 2)
    tensor([1., 2.])
    >>> x.clamp_max(2)
    tensor([1., 2.])
    """
    if type(max) in _PLAIN:
        fitting_result("clamp_max", max, input)
    return _ops.clamp_max(input, max, out=out)


def _fits(input, low, high):
    """Do these numbers leave the dtype alone?"""
    kind = input.dtype.kind
    if type(low) in _PLAIN and type(high) in _PLAIN and (kind == 2 or kind == 1 and type(low) is type(high) is int):
        return True
    from facula.tensor_core._state import result_type

    return result_type(input, low) is input.dtype and result_type(input, high) is input.dtype


_PLAIN = (int, float)
_FLOATS = ("float16", "bfloat16", "float32", "complex64")
clip = clamp


def div(input, other, *, rounding_mode=None, out=None):
    """input / other; integers divide as floats unless rounding_mode is "trunc" or "floor".

    >>> x = facula.tensor([7.0, -7.0])
    >>> facula.div(x, 2)
    tensor([ 3.5000, -3.5000])
    >>> facula.div(x, 2, rounding_mode="floor")
    tensor([ 3., -4.])
    >>> x.div(2, rounding_mode="floor")
    tensor([ 3., -4.])
    """
    if rounding_mode is None:
        return _ops.div(input, other, out=out)
    if rounding_mode == "floor":
        floats = (isinstance(input, Tensor) and input.dtype.kind >= 2) or (isinstance(other, Tensor) and other.dtype.kind >= 2)
        return (_ops._floor_quotient if floats else _ops.floor_divide)(input, other, out=out)  # floor_divide's derivative is refused, the other's is 0
    if rounding_mode == "trunc":
        if not isinstance(input, Tensor) and is_number(input):
            from facula.tensor_core._state import result_type

            input = zero_dim(input, result_type(input, other) if isinstance(other, Tensor) else None)
        if isinstance(other, Tensor) and other.numel() != 1 and _half(input, other):
            return into("div", _ops.trunc(_ops.div(input, other)), out)
        return _ops.trunc_divide(input, other, out=out)
    if type(rounding_mode) is not str:
        check("div", "rounding_mode", None, "str", rounding_mode)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


divide = div


def _half(input, other):
    """Is the quotient a half? PyTorch rounds those before it cuts them, unless they are divided by one number."""
    if input.dtype.itemsize != 2 and other.dtype.itemsize != 2:
        return False
    from facula.tensor_core._state import result_type

    quotient = result_type(input, other)
    return quotient.kind == 2 and quotient.itemsize == 2


def true_divide(input, other, *, out=None):
    """div(input, other).

    >>> x = facula.tensor([1, 2])
    >>> facula.true_divide(x, 4)
    tensor([0.2500, 0.5000])
    >>> x.true_divide(4)
    tensor([0.2500, 0.5000])
    """
    return _ops.div(input, other, out=out)


def round(input, *, decimals=0, out=None):
    """The nearest integer, halves to even; or the nearest number with so many decimals.

    >>> x = facula.tensor([0.5, 1.5, -1.26])
    >>> facula.round(x)
    tensor([ 0.,  2., -1.])
    >>> facula.round(x, decimals=1)
    tensor([ 0.5000,  1.5000, -1.3000])
    >>> x.round(decimals=1)
    tensor([ 0.5000,  1.5000, -1.3000])
    """
    if type(input) is not Tensor:
        want_tensor("round", "input", 0, input)
    if type(decimals) is not int:
        check("round", "decimals", None, "int", decimals)
    if decimals == 0:
        return _ops.round(input, out=out)
    if input.dtype.kind < 2:
        raise _ops_error("round", f"decimals={decimals} is for floating point tensors, got {input.dtype.name}")
    if not -(2**15) < decimals < 2**15:
        check("round", "decimals", None, "int", decimals)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return into("round", _ops.div(_ops.round(_ops.mul(input, scale)), scale), out)
    return into("round", _ops.mul(_ops.round(_ops.div(input, scale)), scale), out)


def logsumexp(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=LACKING):
    """Logarithm of the sum of exponentials over dims, without overflow.

    >>> x = facula.tensor([0.0, 0.0])
    >>> facula.logsumexp(x, 0)
    tensor(0.6931)
    >>> x.logsumexp(0)
    tensor(0.6931)
    """
    if type(input) is not Tensor:
        want_tensor("logsumexp", "input", 0, input)
    dim = dim if axis is None else axis
    keepdim = keepdim if keepdims is LACKING else keepdims
    if dim is None:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    if isinstance(dim, (tuple, list)) and not dim and input.dim() and not keepdim:  # PyTorch forgets to drop the dims
        raise ShapeError(f"logsumexp: output with shape [] doesn't match the broadcast shape {[1] * input.dim()}. Name the dims, or keep them.")
    if not input.is_complex():
        return _ops.logsumexp(input, dim, keepdim, out=out)
    from facula.tensor_core.functions.math import real

    peak = _ops.amax(real(input).detach(), dim, True) if input.numel() else 0
    peak = _ops.where_rows(_ops.isfinite(peak), peak, peak.new_zeros(())) if input.numel() else 0
    total = _ops.log(_ops.sum(_ops.exp(_ops.sub(input, peak)), dim, True))
    result = _ops.add(total, peak)
    if not keepdim:
        result = _ops.sum(result, dim)  # each dim is 1 by now
    return into("logsumexp", result, out)


def logcumsumexp(input, dim=None, *, out=None, axis=None):
    """Running logarithm of the sum of exponentials along dim, without overflow.

    >>> x = facula.zeros(3)
    >>> facula.logcumsumexp(x, 0)
    tensor([0.0000, 0.6931, 1.0986])
    >>> x.logcumsumexp(0)
    tensor([0.0000, 0.6931, 1.0986])
    """
    dim = dim if axis is None else axis
    if not input.is_complex():
        return _ops.logcumsumexp(input, dim, out=out)
    from facula.tensor_core.functions.math import real
    from facula.tensor_core.functions.joining import stack
    from facula.tensor_core.functions.splitting import unbind

    if not input.dim() or not input.numel():
        wrap_dim("logcumsumexp", dim, input.dim())
        return into("logcumsumexp", _ops.copy(input, None, 0), out)
    parts = unbind(input, dim)
    sums = [_ops.where_rows(_ops.eq(real(parts[0]), float("-inf")), parts[0].new_full((), float("-inf")), parts[0])]  # nothing has the angle 0
    for x in parts[1:]:  # a step for each element: complex logarithms have no running kernel
        sums.append(_ops.logaddexp(x, sums[-1]))
    return into("logcumsumexp", stack(sums, dim), out)


def any(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=LACKING):
    """Is one element nonzero? Of all, or over dims.

    >>> x = facula.tensor([[True, False], [False, False]])
    >>> facula.any(x, 1)
    tensor([ True, False])
    >>> facula.any(x)
    tensor(True)
    >>> x.any()
    tensor(True)
    """
    if type(input) is not Tensor:
        want_tensor("any", "input", 0, input)
    dim = dim if axis is None else axis
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _truth(_ops.any, input, dim, keepdim, out)


def all(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=LACKING):
    """Is every element nonzero? Of all, or over dims.

    >>> x = facula.tensor([[True, False], [True, True]])
    >>> facula.all(x, 1)
    tensor([False,  True])
    >>> facula.all(x)
    tensor(False)
    >>> x.all()
    tensor(False)
    """
    if type(input) is not Tensor:
        want_tensor("all", "input", 0, input)
    dim = dim if axis is None else axis
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _truth(_ops.all, input, dim, keepdim, out)


def _truth(fold, input, dim, keepdim, out):
    if out is not None:
        a_tensor(fold.__name__, out)
    if out is not None and out.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(f"{fold.__name__} only supports bool tensor for result, got: {out.dtype.name}. Give one of dtype bool.")
    if keepdim is not False and keepdim is not True:
        check(fold.__name__, "keepdim", 2, "bool", keepdim)
    if isinstance(dim, (tuple, list)) and not dim:  # no dim, not every dim: PyTorch's one exception
        return _u8(input, _ops.ne(input, 0, out=out))
    return _u8(input, fold(input, dim, keepdim, out=out))


def _u8(input, result):
    """uint8 answers in kind, as in PyTorch."""
    return result.to(input.dtype) if input.dtype.name == "uint8" else result


def _delivered(kind, results, out):
    """The results as a named tuple, in the tensors of `out` if given."""
    if out is None:
        return _tuple(kind, results)
    return into(kind.__name__, kind(*results), out)


def _running(name, of_231):
    scan, result = getattr(_ops, name), getattr(return_types, name)

    def running(input, dim=None, *, out=None, axis=None):
        return _delivered(result, scan(input, dim if axis is None else axis), out)

    running.__name__ = running.__qualname__ = name
    shown = f">>> x = facula.tensor([2, 3, 1])\n    >>> facula.{name}(x, 0).values\n    {of_231}\n    >>> x.{name}(0).values\n    {of_231}\n    "
    running.__doc__ = f"(values, indices) of the running {name[3:]}imum along dim.\n\n    {shown}"
    return running


cummax = _running("cummax", "tensor([2, 3, 3])")
cummin = _running("cummin", "tensor([2, 2, 1])")


def aminmax(input, *, dim=None, keepdim=False, out=None, axis=None, keepdims=LACKING):
    """(min, max) of all elements, or along one dim.

    >>> x = facula.tensor([3.0, 1.0, 2.0])
    >>> facula.aminmax(x)
    torch.return_types.aminmax(
    min=tensor(1.),
    max=tensor(3.))
    >>> x.aminmax()
    torch.return_types.aminmax(
    min=tensor(1.),
    max=tensor(3.))
    """
    if type(input) is not Tensor:
        want_tensor("aminmax", "input", 0, input)
    dim = dim if axis is None else axis
    keepdim = keepdim if keepdims is LACKING else keepdims
    if dim is not None:
        check("aminmax", "dim", 1, "int", dim)
    if dim is None and not input.numel():
        raise RuntimeError(f"aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity (shape {tuple(input.shape)}). Give a dim with elements.")
    both = _ops._aminmax(input, dim, keepdim)
    return _tuple(return_types.aminmax, both) if out is None else _delivered(return_types.aminmax, both, out)


def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """input with src (a tensor or a number) written at index along dim; reduce="add" adds instead.

    >>> x = facula.zeros(3)
    >>> facula.scatter(x, 0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0]))
    tensor([5., 0., 1.])
    >>> x.scatter(0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0]))
    tensor([5., 0., 1.])
    """
    src = value if src is None else src
    if type(src) is Tensor and reduce is None and 0 not in index.shape and len(src.shape) == len(index.shape):
        return _ops.scatter(input, dim, index, src, out=out)
    if isinstance(src, Tensor) and (src.dim() or 1) != (index.dim() or 1) and index.numel():
        raise RankError(f"scatter(): Index tensor must have the same number of dimensions as src tensor, got {index.dim()} and {src.dim()}.")
    if not index.numel():
        wrap_dim("scatter", dim, input.dim())
        if isinstance(src, Tensor) and src.dtype is not input.dtype:
            raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype.name} and {src.dtype.name}. Convert one.")
        return into("scatter", _ops.copy(input, None, 0), out)
    if is_number(src):
        src = _ops.expand(number_for("scatter", src, input), index.shape)
    if reduce == "add":
        return _ops.scatter_add(input, dim, index, src, out=out)
    if reduce == "multiply":
        from facula.tensor_core.functions.bins import scatter_reduce

        return scatter_reduce(input, dim, index, src, "prod", out=out)
    if reduce is not None:
        raise RuntimeError(f"scatter: reduce argument must be either add or multiply, got {reduce!r}")
    return _ops.scatter(input, dim, index, src, out=out)


def index_add(input, dim, index, source, *, alpha=1, out=None):
    """input with alpha * the slices of source added at index along dim.

    >>> x = facula.zeros(3)
    >>> facula.index_add(x, 0, facula.tensor([0, 2, 0]), facula.tensor([1.0, 2.0, 3.0]))
    tensor([4., 0., 2.])
    >>> x.index_add(0, facula.tensor([0, 2, 0]), facula.tensor([1.0, 2.0, 3.0]))
    tensor([4., 0., 2.])
    """
    if alpha != 1:
        if source.dtype is not input.dtype:
            raise RuntimeError(f"index_add(): self ({input.dtype.scalar_type}) and source ({source.dtype.scalar_type}) must have the same scalar type. Convert one with .to().")
        alpha = fitting("index_add", alpha, input.dtype)
        source = _ops.mul(source, (bool, int)[input.dtype.kind](alpha) if input.dtype.kind < 2 else alpha)
    return _ops.index_add(input, dim, index, source, out=out)


def pow(input, exponent, *, out=None):
    """input to the power of exponent; either may be a number.

    Raises RuntimeError for integers to negative integer powers.

    >>> x = facula.tensor([1.0, 2.0, 3.0])
    >>> facula.pow(2, x)
    tensor([2., 4., 8.])
    >>> facula.pow(x, 2)
    tensor([1., 4., 9.])
    >>> x.pow(2)
    tensor([1., 4., 9.])
    """
    if isinstance(exponent, int) and exponent < 0 and isinstance(input, Tensor) and input.dtype.kind <= 1:
        raise RuntimeError("Integers to negative integer powers are not allowed. Convert input to a floating dtype.")
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(f"pow() received an invalid combination of arguments - got ({type(input).__name__}, {type(exponent).__name__}). One must be a Tensor.")
    if type(exponent) in _PLAIN:
        _checked_exponent(input, exponent)
    elif isinstance(input, Tensor) and isinstance(exponent, Tensor) and input.dtype.kind == exponent.dtype.kind == 0:
        raise _ops_error("pow", "\"pow\" not implemented for 'Bool'. Convert with input.to(facula.uint8)")
    return _ops.pow(input, exponent, out=out)


def _checked_exponent(input, exponent):
    """The exponent, refused where pow refuses it."""
    return fitting_result("pow", exponent, input, ("float32", "complex64"))


def _pow_operator(plain):
    """x ** n and x **= n as the rows do them, with pow's refusal of integers to negative integers."""

    def power(self, exponent):
        if type(exponent) is int and exponent < 0 and self.dtype.kind <= 1:
            return pow(self, exponent)  # which raises
        if type(exponent) in _PLAIN and not -128 < exponent < 128:
            _checked_exponent(self, exponent)
        elif type(exponent) is Tensor and self.dtype.kind == exponent.dtype.kind == 0:
            return pow(self, exponent)  # which raises
        return plain(self, exponent)

    power.__doc__ = "pow(self, exponent).\n\n    >>> facula.tensor([2.0, 3.0]).pow_(2)\n    tensor([4., 9.])\n    "
    return power


__all__ = [
    "all", "aminmax", "any", "clamp", "clamp_max", "clamp_min", "clip", "cummax", "cummin", "div", "divide", "index_add", "logcumsumexp", "logsumexp", "max",
    "min", "norm", "pow", "round", "scatter", "std", "std_mean", "true_divide", "var", "var_mean", "where",
]  # fmt: skip
METHODS = [n for n in __all__ if n not in ("std_mean", "var_mean")]
