"""Pointwise functions that are more than a row: an argument that is no tensor, a check that PyTorch makes, a composition."""

import builtins
import math

from facula.tensor_core import _ops
from facula.tensor_core.functions import create as _create, math as _math
from facula.tensor_core.functions.conjugate import resolved
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, clear, into, same_dtype
from facula.tensor_core.dispatch.run import LARGEST, fitting, is_number, number_for, zero_dim
from facula.tensor_core.dispatch.slow import grad_mode, one_node, one_step, one_step_of, stepping
from facula.tensor_core.functions.shape import _alone, as_new, broadcast_tensors
from facula.tensor_core._state import result_type
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import BY_NAME, DTYPES, float32, float64, strided



def _tensors(op, **arguments):
    for place, (name, value) in enumerate(arguments.items()):
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}(): argument '{name}' (position {place + 1}) must be Tensor, not {type(value).__name__}. Convert it with facula.tensor.")


def _floating(input):
    """Integers as the default float."""
    return input if input.dtype._kind >= 2 else input.to(_default_float())


def _default_float():
    return DTYPES[lib.fc_default_dtype()]


def angle(input, *, out=None):
    """The angle of each element, in radians: of a negative real number pi, of others 0.

    >>> import facula
    >>> facula.angle(facula.tensor([-1.0, 2.0]))
    tensor([3.1416, 0.0000])
    >>> facula.tensor([-1.0, 2.0]).angle()
    tensor([3.1416, 0.0000])
    """
    if type(input) is not Tensor:
        want_tensor("angle", "input", 0, input)
    angles = _ops._angle(_floating(input), out=out)
    if out is not None or not input.is_complex() or input.layout is not strided:
        return angles
    new = as_new(angles)  # of complex numbers alone
    return angles if new is angles else one_node(new, "AngleBackward0", input)


def isreal(input):
    """Is the imaginary part zero?

    >>> x = facula.tensor([1 + 0j, 2j])
    >>> facula.isreal(x)
    tensor([ True, False])
    >>> x.isreal()
    tensor([ True, False])
    """
    return _ops.eq(_math.imag(input), 0) if input.is_complex() else _create.ones_like(input, dtype=DTYPES[0])


def _real(name, value):
    """A number of nan_to_num's as a float."""
    if value is not None and type(value) is not float:
        check("nan_to_num", name, None, "float", value)
        return float(value)
    return value


def nan_to_num(input, nan=None, posinf=None, neginf=None, *, out=None):
    """input with nan (0) for NaN and posinf, neginf (the largest and the least finite number) for infinities.

    >>> import facula
    >>> facula.nan_to_num(facula.tensor([float("nan"), float("inf")]), posinf=1.0)
    tensor([0., 1.])
    >>> facula.tensor([facula.nan, facula.inf]).nan_to_num(posinf=1.0)
    tensor([0., 1.])
    """
    if type(input) is not Tensor:
        want_tensor("nan_to_num", "input", 0, input)
    nan, posinf, neginf = _real("nan", nan), _real("posinf", posinf), _real("neginf", neginf)
    if input.dtype._kind < 2:
        return into("nan_to_num", _ops.copy(input, None, 1), out, (input,))
    if input.is_complex():
        pairs = nan_to_num(_ops.real_view(resolved(input)), nan, posinf, neginf)
        return into("nan_to_num", _alone(_ops.complex_view(pairs)), out)
    largest = LARGEST.get(input.dtype._name, 1.7976931348623157e308)
    return _ops._nan_to_num(input, nan=0.0 if nan is None else nan, posinf=largest if posinf is None else posinf, neginf=-largest if neginf is None else neginf, out=out)


def logit(input, eps=None, *, out=None):
    """log(x / (1 - x)), of x held between eps and 1 - eps if eps is given.

    >>> x = facula.tensor([0.5, 0.75])
    >>> facula.logit(x)
    tensor([0.0000, 1.0986])
    >>> x.logit()
    tensor([0.0000, 1.0986])
    """
    if type(input) is not Tensor:
        want_tensor("logit", "input", 0, input)
    if eps is not None:
        if type(eps) is not float:
            check("logit", "eps", 1, "float", eps)
        if out is None and stepping(input):
            return one_step_of(logit(input.detach(), eps), "LogitBackward0", (input,), (lambda g, x: _logit_gradient(g, x, eps),), (input,))
        eps, input = float(eps), _floating(input)
        if isinstance(out, Tensor):
            clear("logit", out, (input,))
        if eps != eps:  # bounds nothing
            return _ops._logit(input, out=out)
        if eps > 0.5:  # the upper bound is the lower one, and is asked last
            fitting("logit", eps, input.dtype)
            input = _ops.where_rows(_ops.lt(input, eps), number_for("logit", eps, input), _ops.clamp_max(input, 1 - eps))
        else:
            input = _ops.clamp_numbers(input, min=eps, max=1 - eps)
    return _ops._logit(input, out=out)


def lerp(input, end, weight, *, out=None):
    """input + weight * (end - input), of floating tensors of one dtype; weight may be a number.

    >>> import facula
    >>> facula.lerp(facula.zeros(2), facula.ones(2), 0.25)
    tensor([0.2500, 0.2500])
    >>> facula.zeros(2).lerp(facula.ones(2), 0.25)
    tensor([0.2500, 0.2500])
    """
    if type(input) is type(end) is Tensor and input.dtype is end.dtype and input.dtype._kind >= 2 and (type(weight) is float and -65504 <= weight <= 65504 or type(weight) is Tensor and weight.dtype is input.dtype):
        return _ops.lerp(input, end, weight, out=out)
    want_tensor("lerp", "input", 0, input)
    want_tensor("lerp", "end", 1, end)
    kind = lib.fc_dtype(input._h) if isinstance(input, Tensor) else -1
    for name, other in (("end", end), ("weight", weight)):
        if isinstance(other, Tensor) and lib.fc_dtype(other._h) != kind and (name == "end" or other.dim()):
            raise RuntimeError(f"lerp: expected dtype {input.dtype._name} for `{name}` but got dtype {other.dtype._name}. Convert one with .to().")
    if isinstance(input, Tensor):
        if input.dtype._kind < 2:
            if isinstance(weight, Tensor) and weight.dtype._kind >= 2:  # of no dims: all are of its dtype then
                return lerp(_ops.copy(input, weight.dtype), _ops.copy(end, weight.dtype), weight, out=out)
            raise NotImplementedError(f'"lerp" not implemented for {input.dtype._name!r}. Convert to a floating dtype.')
        if isinstance(weight, builtins.complex) and not input.is_complex():
            raise RuntimeError(f"lerp: value cannot be converted to type {input.dtype._name} without overflow: {weight}")
        if type(weight) in (int, float) and not -65504 <= weight <= 65504:
            fitting("lerp", weight, input.dtype if input.dtype.itemsize > 2 else float32)
    return _ops.lerp(input, end, weight, out=out)


def polygamma(n, input, *, out=None):
    """The n-th derivative of digamma.

    >>> import facula
    >>> facula.polygamma(1, facula.tensor([1.0]))
    tensor([1.6449])
    """
    if type(n) is not int or not -(2**63) <= n < 2**63:
        check("polygamma", "n", 0, "int", n)
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n. It is {n}.")
    return _ops._polygamma(input, n=n, out=out)


def _logit_gradient(g, x, eps):
    """g / (x (1 - x)), and 0 where x is beyond the bounds."""
    held = _ops.logical_and(_ops.ge(x, eps), _ops.le(x, 1 - eps))
    slope = _ops.div(g, _ops.mul(x, _ops.rsub(x, 1)))
    return _ops.where_rows(held, slope, 0) if grad_mode() else slope.masked_fill_(_ops.logical_not(held), 0)


def mvlgamma(input, p, *, out=None):
    """Logarithm of the multivariate gamma function of dimension p.

        log(pi) p (p - 1) / 4 + sum of lgamma(input - j / 2) for j from 0 to p - 1

    Raises RuntimeError unless every element is above (p - 1) / 2.

    >>> x = facula.tensor([2.0, 3.0])
    >>> facula.mvlgamma(x, 1)
    tensor([0.0000, 0.6931])
    >>> x.mvlgamma(1)
    tensor([0.0000, 0.6931])
    """
    if p < 1:
        raise RuntimeError(f"mvlgamma: p has to be greater than or equal to 1, got {p}.")
    if input.dtype._kind == 0:
        raise DTypeError("mvlgamma: The input tensor may not be a boolean tensor.")
    x = _floating(input)
    from facula.tensor_core.functions.ranges import arange


    steps = _ops.mul(arange(p, dtype=x.dtype, device=x.device), -0.5)
    over = lambda function, x: _ops.sum(function(_ops.add(_ops.unsqueeze(x, -1), steps)), -1)
    if out is None and x is input and stepping(input):
        return one_step_of(mvlgamma(x.detach(), p), "MvlgammaBackward0", (x,), (lambda g, x: _ops.mul(g, over(_ops.digamma, x)),), (x,))
    total, more = over(_ops.lgamma, x), p * (p - 1) * math.log(math.pi) / 4
    return one_node(_ops.add_(total, more) if out is None else _ops.add(total, more, out=out), "MvlgammaBackward0", input)


def float_power(input, exponent, *, out=None):
    """input to the power of exponent in float64, or complex128.

    >>> x = facula.tensor([2, 3])
    >>> facula.float_power(x, 2)
    tensor([4., 9.], dtype=torch.float64)
    >>> x.float_power(2)
    tensor([4., 9.], dtype=torch.float64)
    """
    wide = BY_NAME["complex128" if any(isinstance(a, builtins.complex) or isinstance(a, Tensor) and a.is_complex() for a in (input, exponent)) else "float64"]

    def widened(a):
        return a.to(wide) if isinstance(a, Tensor) else a

    if is_number(input) and is_number(exponent):
        raise TypeError("float_power(): one of input and exponent must be a Tensor")
    if out is not None:
        for name, a in (("input", input), ("exponent", exponent)):
            if not isinstance(a, Tensor) and not is_number(a):
                raise TypeError(f"float_power(): argument '{name}' must be Tensor or Number, not {type(a).__name__}. Convert it.")
        a_tensor("float_power", out)
        if out.dtype is not wide:
            raise RuntimeError(f"float_power: out has dtype {out.dtype._scalar_type} but the operation's result requires dtype {wide._scalar_type}. Give an output of that dtype.")
    return _ops.pow(widened(input), builtins.complex(exponent) if is_number(exponent) and wide.is_complex else widened(exponent), out=out)


def ldexp(input, other, *, out=None):
    """input * 2**other.

    >>> x = facula.tensor([1.0, 3.0])
    >>> facula.ldexp(x, facula.tensor([4, -1]))
    tensor([16.0000,  1.5000])
    >>> x.ldexp(facula.tensor([4, -1]))
    tensor([16.0000,  1.5000])
    """
    _tensors("ldexp", input=input, other=other)
    given, base = other, 2.0
    if input.dtype._kind >= 2 and input.dtype is not float32:  # as PyTorch: a number, or a tensor of no dims, beside which powers lie as their exponents do
        base = number_for("ldexp", 2, input)
    if input.is_complex() and other.dtype._kind == 2:  # powers in the complex dtype, of which there is none for halves
        if other.dtype._name == "float16":
            raise DTypeError("ldexp: \"pow\" not implemented for 'ComplexHalf'. Convert the exponents with .float().")
        other = other.to(BY_NAME["complex64" if other.dtype.itemsize <= 4 else "complex128"])
    if not input.is_floating_point() or other.dtype._kind > 1:
        return one_node(_ops.mul(input, _ops.pow(base, other), out=out), "LdexpBackward0", input, given)
    if other.dtype._kind == 0:
        raise NotImplementedError("ldexp: not implemented for exponents of dtype bool. Convert them with .int().")
    wide = input.dtype if input.dtype.itemsize > 2 else BY_NAME["float32"]  # a half does not hold every exponent; integers do not widen it
    exponent = other if other.dtype.itemsize <= 4 else other.to(BY_NAME["int32"])
    product = _ops._ldexp(input, exponent if wide is input.dtype else exponent.to(wide))
    return into("ldexp", one_node(product if product.dtype is input.dtype else product.to(input.dtype), "LdexpBackward0", input, given), out)


def frexp(input, *, out=None):
    """(mantissa, exponent) with input = mantissa * 2**exponent and 1/2 <= |mantissa| < 1; exponents are int32.

    >>> x = facula.tensor([8.0, 3.0])
    >>> facula.frexp(x)
    torch.return_types.frexp(
    mantissa=tensor([0.5000, 0.7500]),
    exponent=tensor([4, 2], dtype=torch.int32))
    >>> x.frexp()
    torch.return_types.frexp(
    mantissa=tensor([0.5000, 0.7500]),
    exponent=tensor([4, 2], dtype=torch.int32))
    """
    from facula.tensor_core import return_types

    if not input.is_floating_point():
        raise DTypeError(f"torch.frexp() only supports floating-point dtypes, got {input.dtype._name}. Convert with .to(facula.float32).")
    mantissa, exponent = _ops._frexp_mantissa(input), _ops._frexp_exponent(input).to(BY_NAME["int32"])
    return into("frexp", return_types.frexp(mantissa, exponent), out, (input,))


def heaviside(input, values, *, out=None):
    """0 where input is negative, 1 where positive, values where it is 0. Both of one dtype.

    >>> x = facula.tensor([-1.0, 0.0, 2.0])
    >>> facula.heaviside(x, facula.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    >>> x.heaviside(facula.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    if type(input) is not Tensor:
        want_tensor("heaviside", "input", 0, input)
    if isinstance(values, Tensor) and isinstance(input, Tensor) and input.dtype is not values.dtype:
        kinds_first("heaviside", out=out)
        what = "complex tensors" if input.is_complex() or values.is_complex() else "tensors with different dtypes"
        raise RuntimeError(f"heaviside is not yet implemented for {what}. Got {input.dtype._name} and {values.dtype._name}. Convert one.")
    return _ops._heaviside(input, values, out=out)


def _parts_of_complex(name, first, second):
    """Refuse what complex numbers are not made of: parts of one real floating dtype."""
    if first.dtype not in (float32, float64) or second.dtype._kind != 2:
        raise DTypeError(f"{name}: Expected both inputs to be Half, Float or Double tensors but got {first.dtype._scalar_type} and {second.dtype._scalar_type}. Convert with .float().")
    if first.dtype is not second.dtype:
        raise RuntimeError(f"{name}: Expected object of scalar type {first.dtype._scalar_type} but got scalar type {second.dtype._scalar_type} for second argument. Convert one.")


def polar(abs, angle, *, out=None):
    """Complex numbers from sizes and angles.

    >>> facula.polar(facula.tensor([2.0]), facula.tensor([facula.pi / 2])).imag
    tensor([2.])
    """
    if type(abs) is not Tensor or type(angle) is not Tensor:
        _tensors("polar", abs=abs, angle=angle)
    if abs.dtype is not angle.dtype or abs.dtype is not float32 and abs.dtype is not float64:
        _parts_of_complex("polar", abs, angle)
    if out is not None:
        same_dtype("polar", abs.dtype.to_complex(), out)
    if not (lib.fc_lies_oddly(abs._h) or lib.fc_lies_oddly(angle._h)):  # then nor does the result, whatever is broadcast
        if abs.shape == angle.shape:
            result = _ops.polar(abs, angle)
        else:
            result = one_node(_ops.polar(*(t.contiguous() for t in broadcast_tensors(abs, angle))), "PolarBackward0", abs, angle)
        return result if out is None else into("polar", result, out)
    return into("polar", one_node(_turned(_ops.polar, abs, angle), "PolarBackward0", abs, angle), out)


@one_step(complex_view="ComplexBackward0")
def complex_(real, imag, *, out=None):
    """Complex numbers from real and imaginary parts of one dtype, float32 or float64.

    >>> import facula
    >>> facula.complex(facula.tensor([1.0]), facula.tensor([2.0]))
    tensor([1.+2.j])
    """
    if type(real) is not Tensor or type(imag) is not Tensor:
        _tensors("complex", real=real, imag=imag)
    if real.dtype is not imag.dtype or real.dtype is not float32 and real.dtype is not float64:
        _parts_of_complex("complex", real, imag)
    if stepping(real, imag):  # the gradients are the parts of what comes in, as they lie
        back = [lambda g, part=part, shape=t.shape: part(g).sum_to_size(shape) for part, t in ((_math.real, real), (_math.imag, imag))]
        result = one_step_of(complex_(real.detach(), imag.detach()), "ComplexBackward0", (real, imag), back)
        return result if out is None else into("complex", result, out)
    flat = not (lib.fc_lies_oddly(real._h) or lib.fc_lies_oddly(imag._h))  # then nor does the result, whatever is broadcast
    if flat:
        pair = (real, imag) if real.shape == imag.shape else broadcast_tensors(real, imag)
        result = _alone(_ops.complex_view(_ops.stack(pair, -1)))
        result = result if pair[0] is real and pair[1] is imag else one_node(result, "ComplexBackward0", real, imag)
    else:
        result = _turned(_of_parts, real, imag)
    return result if out is None else into("complex", result, out)


def _of_parts(real, imag):
    return _ops.complex_view(_ops.stack((real, imag), -1))


def _turned(make, x, y):
    """A result that lies as another pointwise result of the two would: made of both in the order of that one's memory."""
    like = _ops.add(x.detach(), y.detach())
    x, y = broadcast_tensors(x, y)
    if like.is_contiguous():
        result = make(x.contiguous(), y.contiguous())
    else:
        order = sorted(builtins.range(like.dim()), key=like.stride, reverse=True)
        x, y = (_ops.permute(t, order).contiguous() for t in (x, y))
        result = _ops.permute(make(x, y), [order.index(d) for d in builtins.range(len(order))])
    lib.fc_lie_as(result._h, like._h)
    return _alone(result)


def prelu(input, weight):
    """input where positive, else weight * input; weight is one number or one for each channel (dim 1).

    Raises RuntimeError for another number of weights.

    >>> x = facula.tensor([-2.0, 3.0])
    >>> facula.prelu(x, facula.tensor([0.25]))
    tensor([-0.5000,  3.0000])
    >>> x.prelu(facula.tensor([0.25]))
    tensor([-0.5000,  3.0000])
    """
    if weight.numel() != 1 or weight.dim() > 1:
        channels = input.size(1) if input.dim() > 1 else 1
        if weight.dim() != 1:
            raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
        if weight.numel() != channels:
            raise RuntimeError(f"prelu: weight has {weight.numel()} elements and input has {channels} channels. Give 1 or {channels}.")
        weight = weight.reshape((1, -1) + (1,) * (input.dim() - 2))
    elif weight.dim() > input.dim():
        weight = weight.reshape(())
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype._name} and {weight.dtype._name}. Convert one.")
    return _ops._prelu(input, weight)


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|input - other| <= atol + rtol * |other|, element by element; equal infinities are close, NaNs only with equal_nan.

    >>> x = facula.tensor([1.0, 2.0])
    >>> facula.isclose(x, facula.tensor([1.0 + 1e-9, 2.1]))
    tensor([ True, False])
    >>> x.isclose(facula.tensor([1.0 + 1e-9, 2.1]))
    tensor([ True, False])
    """
    _tensors("isclose", input=input, other=other)
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: {input.dtype._name} did not match {other.dtype._name}. Convert one.")
    if not (rtol >= 0 and atol >= 0):
        which, given = ("atol", atol) if rtol >= 0 else ("rtol", rtol)
        raise RuntimeError(f"isclose: {which} must be greater than or equal to zero, but got {given}.")
    close = _ops.eq(input, other)
    if equal_nan and input.dtype._kind >= 2:
        close = _ops.logical_or_(close, _ops.logical_and(_ops.isnan(input), _ops.isnan(other)))  # into one that lies as the comparison does
    if rtol == 0 and atol == 0:
        return close
    if input.dtype._kind < 2:
        input, other = input.to(_default_float()), other.to(_default_float())
    error = _ops.abs(_ops.sub(input, other))
    allowed = _ops.add(_ops.abs(_ops.mul(other, rtol)), atol)
    return _ops.logical_or_(close, _ops.logical_and(_ops.isfinite(error), _ops.le(error, allowed)))


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """isclose everywhere?

    >>> x = facula.tensor([1.0])
    >>> facula.allclose(x, facula.tensor([1.0 + 1e-9]))
    True
    >>> x.allclose(facula.tensor([1.0 + 1e-9]))
    True
    """
    return bool(_ops.all(isclose(input, other, float(rtol), float(atol), equal_nan)))


def scalar_first(row):
    """A row whose operands may both be numbers but not at once, under its public name."""

    def function(input, other, *, out=None):
        if is_number(input) and is_number(other):
            raise TypeError(f"{row.__name__}(): one of the two arguments must be a Tensor")
        if is_number(input) and out is not None:
            input = zero_dim(input, result_type(input, other) if isinstance(other, Tensor) else None)  # which counts no more than the number
        return row(input, other, out=out)

    if "_polynomial_" in row.__name__:
        two = function

        def function(x, n, *, out=None):
            return two(x, n, out=out)

    function.__name__ = function.__qualname__ = row.__name__.removeprefix("_special_")
    function.__doc__ = row.__doc__
    return function


def unhalved(name, row):
    """A row of one operand under a name by which PyTorch refuses it float16 and bfloat16."""

    def function(input, *, out=None):
        if type(input) is Tensor and input.dtype._kind == 2 and input.dtype.itemsize == 2:
            raise DTypeError(f"{name}: not defined for {input.dtype._name} (input: {tuple(input.shape)}). Convert with input.to(facula.float32).")
        return row(input, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = row.__doc__
    return function


__all__ = [
    "allclose", "angle", "complex", "float_power", "frexp", "heaviside", "isclose", "isreal", "ldexp", "lerp", "logit",
    "mvlgamma", "nan_to_num", "polar", "polygamma", "prelu",
]  # fmt: skip
complex = complex_
METHODS = [n for n in __all__ if n not in ("complex", "polar")]
