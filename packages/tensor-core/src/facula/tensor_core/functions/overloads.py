"""Public names whose row depends on the types of the arguments. A small hand-written table: one function per name."""


from facula.tensor_core import _ops, _warned
from facula.tensor_core.dispatch.slow import one_node, one_step
from facula.tensor_core.functions.index_key import nonzero
from facula.tensor_core.functions.shape import wrap_dim
from facula.tensor_core._errors import RankError
from facula.tensor_core.dispatch.kinds import check, kinds_first, right, want_tensor
from facula.tensor_core.dispatch.out import clear, into
from facula.tensor_core.dispatch.run import fitting, fitting_result, is_number, number_for, zero_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME, float32


def _ops_error(op, text):
    from facula.tensor_core._errors import DTypeError

    return DTypeError(f"{op}(): {text}")


def where(condition, input=None, other=None, *, out=None):
    """input where condition, else other; numbers welcome. With a condition alone, nonzero(as_tuple=True).

    >>> import facula
    >>> facula.where(facula.tensor([True, False]), 1.0, facula.zeros(2))
    tensor([1., 0.])
    """
    try:
        if input is None or other is None:
            if input is None and other is None:
                return nonzero(condition, as_tuple=True)
            raise TypeError("where() received an invalid combination of arguments: input without other, or other without input. Give both.")
        if not isinstance(condition, Tensor):
            raise TypeError(f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}. Convert it with facula.tensor.")
        if condition.dtype._name == "uint8":
            _warned.once("where received a uint8 condition tensor. This behavior is deprecated: use a boolean condition, condition.bool().")
        if condition.dtype._name not in ("bool", "uint8"):
            raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype._name}. Convert with .bool().")
        if type(input) is not Tensor or type(other) is not Tensor:  # NumPy's numbers count as Python's
            input, other = (v.item() if hasattr(v, "item") and is_number(v) else v for v in (input, other))
        if out is not None and (is_number(input) or is_number(other)):
            raise TypeError("where(): arguments 'input' and 'other' must be Tensors, not numbers, where an output is given. Convert them with facula.tensor.")
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
        if type(input) is bool or type(other) is bool:  # which has no say in the dtype as a tensor without dims either
            input, other = (zero_dim(v, BY_NAME["bool"]) if type(v) is bool else v for v in (input, other))
        return _ops.where_rows(condition, input, other, out=out)
    except Exception:
        kinds_first("where", condition=condition, input=input, other=other, out=out)
        raise


def _of_its_dtype(value, t):
    """A number as a tensor of the dtype that it has beside t, which has no dims: a number counts less than such a tensor."""
    from facula.tensor_core._state import result_type

    return zero_dim(value, result_type(t, value))


@one_step(clamp_max=("ClampBackward0", "ClampBackward1"), clamp_min=("ClampBackward0", "ClampBackward1"))
def clamp(input, min=None, max=None, *, out=None):
    """input held between min and max, numbers or tensors; where min > max, max.

    >>> import facula
    >>> facula.tensor([-1.0, 0.5, 2.0]).clamp(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if type(input) is not Tensor:
        want_tensor("clamp", "input", 0, input)
    if min is None and max is None:
        kinds_first("clamp", input=input, out=out)
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if max is None or min is None:
        bound = max if min is None else min
        if _plain(bound):
            fitting_result("clamp", bound, input)
        return _ops.clamp_max(input, bound, out=out) if min is None else _ops.clamp_min(input, bound, out=out)
    if is_number(min) != is_number(max):
        mixed = max if is_number(min) else min
        if isinstance(mixed, Tensor) and not right("number", mixed):
            raise TypeError("clamp() received an invalid combination of arguments: min and max must be two tensors or two numbers, which one of no dims without a history is. Convert the number with facula.tensor.")
        min, max = (zero_dim(v) if is_number(v) else v for v in (min, max))
    if is_number(min) and is_number(max):
        if input.dtype._kind == 0 and type(min) is type(max) is bool:
            raise _ops_error("clamp", "\"clamp_scalar_cpu\" not implemented for 'Bool'. Convert input with .to(facula.uint8)")
        if input.dtype._kind == 1 and type(min) is type(max) is int:
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
    if _plain(min):
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
    if _plain(max):
        fitting_result("clamp_max", max, input)
    return _ops.clamp_max(input, max, out=out)


def _fits(input, low, high):
    """Do these numbers leave the dtype alone, and is neither NaN?"""
    if low != low or high != high:
        return False
    kind = input.dtype._kind
    if type(low) in _PLAIN and type(high) in _PLAIN and (kind == 2 or kind == 1 and type(low) is type(high) is int):
        return True
    from facula.tensor_core._state import result_type

    return result_type(input, low) is input.dtype and result_type(input, high) is input.dtype


_PLAIN = (int, float)


def _plain(value):
    """A number that a dtype may be too narrow for, NumPy's integers too."""
    return type(value) in _PLAIN or is_number(value) and hasattr(value, "__index__")
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
        floats = (isinstance(input, Tensor) and input.dtype._kind >= 2) or (isinstance(other, Tensor) and other.dtype._kind >= 2)
        return (_ops._floor_quotient if floats else _ops.floor_divide)(input, other, out=out)  # floor_divide's derivative is refused, the other's is 0
    if rounding_mode == "trunc":
        if not isinstance(input, Tensor) and is_number(input):
            from facula.tensor_core._state import result_type

            input = zero_dim(input, result_type(input, other) if isinstance(other, Tensor) else None)
        if isinstance(input, Tensor) and isinstance(other, Tensor) and other.numel() != 1 and _half(input, other):
            return into("div", one_node(_ops.trunc(_ops.div(input, other)), "DivBackward2", input, other), out)
        return _ops.trunc_divide(input, other, out=out)
    if type(rounding_mode) is not str:
        check("div", "rounding_mode", None, "str", rounding_mode)
    kinds_first("div", input=input, other=other, out=out)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


divide = div


def _half(input, other):
    """Is the quotient a half? PyTorch rounds those before it cuts them, unless they are divided by one number."""
    if input.dtype.itemsize != 2 and other.dtype.itemsize != 2:
        return False
    from facula.tensor_core._state import result_type

    quotient = result_type(input, other)
    return quotient._kind == 2 and quotient.itemsize == 2


def true_divide(input, other, *, out=None):
    """div(input, other).

    >>> x = facula.tensor([1, 2])
    >>> facula.true_divide(x, 4)
    tensor([0.2500, 0.5000])
    >>> x.true_divide(4)
    tensor([0.2500, 0.5000])
    """
    return _ops.div(input, other, out=out)


@one_step(div="RoundBackward1")
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
    if input.dtype._kind < 2:
        kinds_first("round", decimals=decimals)
        raise _ops_error("round", f"decimals={decimals} is for floating point tensors, got {input.dtype._name}")
    if not -(2**15) < decimals < 2**15:
        check("round", "decimals", None, "int", decimals)
    scale = 10.0 ** abs(decimals) if -309 < decimals < 309 else float("inf")
    x = _ops.copy(input, float32) if input.dtype.itemsize == 2 else input  # halves are rounded once, at the end
    rounded = _ops.div(_ops.round(_ops.mul(x, scale)), scale) if decimals > 0 else _ops.mul(_ops.round(_ops.div(x, scale)), scale)
    return into("round", rounded if x is input else _ops.copy(rounded, input.dtype), out, (input,), strides=True)


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
    if src is None:
        raise TypeError('scatter() missing 1 required positional arguments: "src". Give a tensor, or value=.')
    if not isinstance(src, Tensor):
        if type(dim) is not int or type(index) is not Tensor or type(src) not in (int, float, bool, complex):
            kinds_first("scatter", dim=dim, index=index, src=src)
        wrap_dim("scatter", dim, input.dim())
    elif reduce is not None:
        wrap_dim("scatter", dim, input.dim())
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"scatter: reduce argument must be either add or multiply, got {reduce!r}")
    if reduce is not None and isinstance(src, Tensor):
        _warned.once("scatter: reduce with a tensor src is deprecated and will be removed in a future PyTorch release. Use scatter_reduce, which knows more reductions.")
    if not index.numel():
        wrap_dim("scatter", dim, input.dim())
        if isinstance(src, Tensor) and src.dtype is not input.dtype:
            raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype._name} and {src.dtype._name}. Convert one.")
        return into("scatter", _ops.copy(input, None, 0), out)
    if is_number(src):
        src = _ops.expand(number_for("scatter", src, input), index.shape)
    if reduce == "add":
        return _ops.scatter_add(input, dim, index, src, out=out)
    if reduce == "multiply":
        from facula.tensor_core.functions.bins import scatter_reduce

        return scatter_reduce(input, dim, index, src, "prod", out=out)
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
            wrap_dim("index_add", dim, input.dim())
            if index.dim() > 1:
                raise IndexError(f"index_add(): Index is supposed to be a vector, but got dim: {index.dim()} with size: {list(index.shape)}. Flatten it.")
            raise RuntimeError(f"index_add(): self ({input.dtype._scalar_type}) and source ({source.dtype._scalar_type}) must have the same scalar type. Convert one with .to().")
        alpha = fitting("index_add", alpha, input.dtype)
        if isinstance(out, Tensor):
            clear("index_add", out, (input, index, source))
        source = _ops.mul(source, (bool, int)[input.dtype._kind](alpha) if input.dtype._kind < 2 else alpha)
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
    if isinstance(exponent, int) and exponent < 0 and isinstance(input, Tensor) and input.dtype._kind <= 1:
        raise RuntimeError("Integers to negative integer powers are not allowed. Convert input to a floating dtype.")
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(f"pow() received an invalid combination of arguments - got ({type(input).__name__}, {type(exponent).__name__}). One must be a Tensor.")
    if type(exponent) in _PLAIN:
        _checked_exponent(input, exponent)
    elif isinstance(input, Tensor) and isinstance(exponent, Tensor) and input.dtype._kind == exponent.dtype._kind == 0:
        raise _ops_error("pow", "\"pow\" not implemented for 'Bool'. Convert with input.to(facula.uint8)")
    return _ops.pow(input, exponent, out=out)


def _checked_exponent(input, exponent):
    """The exponent, refused where pow refuses it."""
    return fitting_result("pow", exponent, input, ("float32", "complex64"))


def _pow_operator(plain):
    """x ** n and x **= n as the rows do them, with pow's refusal of integers to negative integers."""

    def power(self, exponent):
        if type(exponent) is int and exponent < 0 and self.dtype._kind <= 1:
            return pow(self, exponent)  # which raises
        if type(exponent) in _PLAIN and not -128 < exponent < 128:
            _checked_exponent(self, exponent)
        elif type(exponent) is Tensor and self.dtype._kind == exponent.dtype._kind == 0:
            return pow(self, exponent)  # which raises
        return plain(self, exponent)

    power.__name__ = power.__qualname__ = "pow_"
    power.__doc__ = "pow(self, exponent).\n\n    >>> facula.tensor([2.0, 3.0]).pow_(2)\n    tensor([4., 9.])\n    "
    return power


__all__ = ["clamp", "clamp_max", "clamp_min", "clip", "div", "divide", "index_add", "pow", "round", "scatter", "true_divide", "where"]
METHODS = __all__
