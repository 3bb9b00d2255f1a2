"""Reductions and scans whose rows depend on the types of the arguments, or that answer in a named tuple."""

import warnings

from facula.tensor_core import _ops, return_types
from facula.tensor_core._errors import DTypeError, ShapeError
from facula.tensor_core._tensor import Tensor
from facula.tensor_core.dispatch.arguments import LACKING, renamed
from facula.tensor_core.dispatch.kinds import check, kinds_first, real_order, right, want_tensor
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core.dispatch.slow import one_node, one_step
from facula.tensor_core.functions.shape import as_new, wrap_dim
from facula.tensor_core._types import int64 as _int64


def _extreme(name, whole, index, pair):
    row, fold, along = getattr(_ops, pair), getattr(_ops, whole), getattr(_ops, index)
    result = getattr(return_types, name)

    def extreme(input, second=_ABSENT, keepdim=_ABSENT, *, dim=_ABSENT, other=_ABSENT, axis=_ABSENT, out=None, keepdims=_ABSENT):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        if axis is not _ABSENT:
            dim = renamed(name, "axis", axis, dim, _ABSENT)
        if second is _ABSENT:  # a dim or another tensor, one without a name
            second = dim
        elif dim is not _ABSENT:
            raise TypeError(f"{name}() received an invalid combination of arguments: {type(second).__name__} and dim={dim!r}. Give one of them.")
        elif isinstance(second, Tensor) and keepdim is keepdims:
            return row(input, second, out=out)
        if keepdims is not _ABSENT:
            keepdim = renamed(name, "keepdims", keepdims, keepdim, _ABSENT)
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
            if out is not None:
                a_tensor(name, out)
            if not input.numel():
                raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
            if out is not None and type(out) is Tensor and not out.shape and out.dtype is input.dtype:
                return fold(input, None, out=out)
            whole = fold(input, None)  # not (), which is amax's own: so autograd tells the nodes apart
            return whole if out is None else into(name + "_of_all", whole, out)  # of any dtype that it can be cast to
        values = along(input, dim, keepdim)
        if out is not None:
            return into(name, result(*values), out, (input,))
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
    if 0 in input.shape:
        count = 0
    if type(correction) is not int:
        check(name, "correction", None, "number", correction)
    if isinstance(correction, complex):
        raise RuntimeError(f"{name}(): value cannot be converted to type double without overflow: correction is {correction}. Take its real part.")
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
        dim, correction = _correction(name, first, dim if axis is None else renamed(name, "axis", axis, dim, None), unbiased, correction)
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
    node = name.title().replace("_", "") + "Backward0"

    @one_step(std="StdMeanBackward0", var="VarMeanBackward0")
    def both(input, first=None, unbiased=LACKING, keepdim=False, *, dim=None, correction=None, axis=None, keepdims=LACKING):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        dim, correction = _correction(name, first, dim if axis is None else renamed(name, "axis", axis, dim, None), unbiased, correction)
        keepdim = keepdim if keepdims is LACKING else keepdims
        mean = _ops.mean(input, dim, keepdim)  # first: a gradient's strides are those of the newer one's, which are input's
        _degrees_of_freedom(name.removesuffix("_mean"), input, dim, correction)
        return fold(input, dim, correction=correction, keepdim=keepdim), one_node(mean, node, input)

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
        from facula.tensor_core.linalg.norm import widened

        input = widened("linalg.vector_norm", input, dtype)
    real_order("linalg.vector_norm", p)
    if isinstance(p, Tensor):
        check("linalg.vector_norm", "ord", 1, "number", p)
    if p in ("fro", None):
        p = 2
    if p == "nuc":
        from facula.tensor_core.linalg.norm import matrix_norm

        if dim is None and input.dim() != 2:
            raise RuntimeError(f"norm: the nuclear norm is of matrices, got {input.dim()} dims. Name two with dim.")
        return matrix_norm(input, "nuc", (0, 1) if dim is None else (dim,) if isinstance(dim, int) else dim, keepdim, out=out)
    if isinstance(p, str):
        raise RuntimeError(f"norm: p must be a number or 'fro', got {p!r}. Other matrix norms are in facula.linalg.")
    if input.dtype._kind < 2:
        raise DTypeError(f"linalg.vector_norm(): Expected a floating point or complex tensor as input. Got {input.dtype._name}")
    if not input.numel() and (p < 0 or p == float("inf")):
        from facula.tensor_core.linalg.norm import vector_norm

        return vector_norm(input, p, dim, keepdim, out=out)  # which says where there is none
    return _ops.norm_p(input, dim, p=p, keepdim=keepdim, out=out)


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
    dim = dim if axis is None else renamed("logsumexp", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    if dim is None:
        raise TypeError('logsumexp() missing 1 required positional arguments: "dim"')
    if isinstance(out, Tensor) and out.dtype._kind < 2:
        kinds_first("logsumexp", dim=dim, keepdim=keepdim)
        raise RuntimeError(f"logsumexp: Expected floating point type for result tensor, but got: {out.dtype._name}. Give an output of that kind.")
    if isinstance(dim, (tuple, list)) and not dim and input.dim() and not keepdim and input.numel():  # PyTorch forgets to drop the dims
        raise ShapeError(f"logsumexp: output with shape [] doesn't match the broadcast shape {[1] * input.dim()}. Name the dims, or keep them.")
    if keepdim is not False and keepdim is not True:
        check("logsumexp", "keepdim", 2, "bool", keepdim)
    if not input.is_complex():
        return _ops.logsumexp(input, dim, keepdim, out=out)
    from facula.tensor_core.functions.math import real

    peak = _ops.amax(real(input).detach(), dim, True) if input.numel() else 0
    peak = _ops.where_rows(_ops.isfinite(peak), peak, peak.new_zeros(())) if input.numel() else 0
    total = _ops.log(_ops.sum(_ops.exp(_ops.sub(input, peak)), dim, True))
    result = _ops.add(total, peak)
    if not keepdim:
        result = _ops.sum(result, dim)  # each dim is 1 by now
    return into("logsumexp", one_node(result, "LogsumexpBackward0", input), out)


def logcumsumexp(input, dim=None, *, out=None, axis=None):
    """Running logarithm of the sum of exponentials along dim, without overflow.

    >>> x = facula.zeros(3)
    >>> facula.logcumsumexp(x, 0)
    tensor([0.0000, 0.6931, 1.0986])
    >>> x.logcumsumexp(0)
    tensor([0.0000, 0.6931, 1.0986])
    """
    dim = dim if axis is None else renamed("logcumsumexp", "axis", axis, dim, None)
    if not input.is_complex():
        return _ops.logcumsumexp(input, dim, out=out)
    from facula.tensor_core.functions.math import real
    from facula.tensor_core.functions.joining import stack
    from facula.tensor_core.functions.splitting import unbind

    if not input.dim() or not input.numel():
        wrap_dim("logcumsumexp", dim, input.dim())
        return into("logcumsumexp", _ops.copy(input, None, 0), out, (input,))
    parts = unbind(input, dim)
    sums = [_ops.where_rows(_ops.eq(real(parts[0]), float("-inf")), parts[0].new_full((), float("-inf")), parts[0])]  # nothing has the angle 0
    for x in parts[1:]:  # a step for each element: complex logarithms have no running kernel
        sums.append(_ops.logaddexp(x, sums[-1]))
    return into("logcumsumexp", stack(sums, dim), out, (input,))


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
    dim = dim if axis is None else renamed("any", "axis", axis, dim, None)
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
    dim = dim if axis is None else renamed("all", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _truth(_ops.all, input, dim, keepdim, out)


def _truth(fold, input, dim, keepdim, out):
    if out is not None:
        a_tensor(fold.__name__, out)
    if out is not None and out.dtype._name not in ("bool", "uint8"):
        kinds_first(fold.__name__, dim=dim, keepdim=keepdim)
        raise RuntimeError(f"{fold.__name__} only supports bool tensor for result, got: {out.dtype._name}. Give one of dtype bool.")
    if keepdim is not False and keepdim is not True:
        check(fold.__name__, "keepdim", 2, "bool", keepdim)
    if isinstance(dim, (tuple, list)) and not dim:  # no dim, not every dim: PyTorch's one exception
        result = _ops.ne(input, 0, out=out)
        return _u8(input, as_new(result) if out is None else result, out)
    return _u8(input, fold(input, dim, keepdim, out=out), out)


def _u8(input, result, out):
    """uint8 answers in kind, as in PyTorch, where no output says otherwise."""
    return result.to(input.dtype) if input.dtype._name == "uint8" and out is None else result


def _delivered(kind, results, out):
    """The results as a named tuple, in the tensors of `out` if given."""
    if out is None:
        return _tuple(kind, results)
    return into(kind.__name__, kind(*results), out)


def _running(name, of_231):
    scan, result = getattr(_ops, name), getattr(return_types, name)

    def running(input, dim=None, *, out=None, axis=None):
        dim = dim if axis is None else renamed(name, "axis", axis, dim, None)
        try:
            found = scan(input, dim)
        except (DTypeError, IndexError):  # what has nothing to compare is given back, of any dtype and along any dim
            if not isinstance(input, Tensor) or not right("int", dim) or input.numel() and (input.dim() or dim not in (0, -1)):
                raise
            found = _ops.copy(input, None, 0), input.new_zeros(input.shape, dtype=_int64)
        return _delivered(result, found, out)

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
    dim = dim if axis is None else renamed("aminmax", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    if dim is not None:
        check("aminmax", "dim", 1, "int", dim)
    if dim is None and not input.numel():
        kinds_first("aminmax", keepdim=keepdim, out=out)
        raise RuntimeError(f"aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity (shape {tuple(input.shape)}). Give a dim with elements.")
    both = _ops._aminmax(input, dim, keepdim)
    return _tuple(return_types.aminmax, both) if out is None else into("aminmax", return_types.aminmax(*both), out, () if dim is None else (input,))


__all__ = ["all", "aminmax", "any", "cummax", "cummin", "logcumsumexp", "logsumexp", "max", "min", "norm", "std", "std_mean", "var", "var_mean"]
METHODS = [n for n in __all__ if n not in ("std_mean", "var_mean")]
