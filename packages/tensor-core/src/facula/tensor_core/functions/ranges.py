"""Factories of ranges: arange, linspace and logspace."""

import math

from facula.tensor_core import _ops, _state
from facula.tensor_core._errors import ShapeError
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import complex128, dtype as _dtype, float64, int64
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch.kinds import check, kinds_first
from facula.tensor_core.dispatch.slow import by_examples
from facula.tensor_core.dispatch.out import apart, copied, resize, taken
from facula.tensor_core.dispatch.run import fitting, number, zero_dim
from facula.tensor_core.functions.create import _finish, _fits, _kind_dtype, _place, empty, plain
from facula.tensor_core.functions.shape import _alone

_POW = _ops.BY_NAME["pow"].id
_map2r = lib.map2r  # a number and a tensor


def _delivered(name, t, out, requires_grad):
    """A range in `out`: resized only where the number of elements is another."""
    taken(name, out)
    if copied(t, out):
        return _finish(out, requires_grad)
    if out.numel() != t.numel():
        resize(name, out, t.shape)
    apart(name, out, ())
    return _finish(_ops.copy_into_(out, _ops.view(t, out.shape)), requires_grad)


def _here(out, dtype, layout, device, requires_grad, pin_memory):
    """Is an output for a range like any other range, of the output's dtype?"""
    if type(out) is not Tensor or lib.fc_device(out._h) or layout is not None or not (requires_grad is pin_memory is False):
        return False
    return (dtype is None or dtype is out.dtype) and (device is None or _place(device) == 0) and (out.dtype._kind == 2 or out.dtype is int64)


def arange(start=None, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """start, start + step, ... below end. int64 where all three are ints, else the default dtype.

    >>> import facula
    >>> facula.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if type(start) is int and (type(end) is int or end is None and step == 1) and type(step) is int and out is layout is None and (dtype is None or dtype is int64):
        first, stop = (0, start) if end is None else (start, end)
        if step and (stop - first) * step >= 0 and requires_grad is pin_memory is False and not (_state._device._place if device is None else _place(device)):  # the common case, flat
            return _ops.arange_of(first, step, -((first - stop) // step), int64, math.nan, 0.0)
    elif out is layout is None and type(start) in _REAL and type(step) in _REAL and (type(end) in _REAL or end is None and step == 1) and (dtype is None or type(dtype) is _dtype and dtype._kind == 2):
        first, stop = (0, start) if end is None else (start, end)
        if step and 0 <= (stop - first) * step < 1e15 and pin_memory is False and not (_state._device._place if device is None else _place(device)):
            count = math.ceil((stop - first) / step)
            return _finish(_ops.arange_of(0, 0, count, dtype or _state.get_default_dtype(), float(first), float(step)), requires_grad)
    if out is not None and _here(out, dtype, layout, device, requires_grad, pin_memory):
        return _delivered("arange", arange(start, end, step, dtype=out.dtype), out, requires_grad)
    try:
        return _arange(start, end, step, out, dtype, layout, device, requires_grad, pin_memory)
    except Exception:
        kinds_first("arange", start=start, end=end, step=step, out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
        raise


def _arange(start, end, step, out, dtype, layout, device, requires_grad, pin_memory):
    """arange of any arguments."""
    if (start is None or end is None) and step != 1 or start is end is None:
        raise TypeError(f"arange() received an invalid combination of arguments: start {start}, end {end}, step {step}. Give an end, beside a step both.")
    plain(layout, pin_memory)
    if end is None:
        start, end = 0, start
    start = 0 if start is None else start
    for position, (name, value) in enumerate((("start", start), ("end", end), ("step", step))):
        if type(value) is not float:
            check("arange", name, position, "number", value)
            number(value)  # which refuses one beyond 64 bits
    start, end, step = (v.item() if hasattr(v, "item") else v for v in (start, end, step))
    if complex in (type(start), type(end), type(step)):
        raise RuntimeError(f"arange: value cannot be converted to a real number without overflow, got {start}, {end}, {step}.")
    dtype = as_dtype(dtype)
    if dtype is not None and dtype._kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {dtype._name!r}. Convert the result with .to().')
    _fits("arange", out, dtype, device)
    if out is not None and out.dtype._kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {out.dtype._name!r}. Give an output of another dtype.')
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}. Both ends must be finite.")
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    if dtype is None:
        dtype = out.dtype if out is not None else (int64 if whole else _state.get_default_dtype())
    if step != step:
        raise ShapeError("arange: step must be nonzero, got nan.")
    if dtype is int64 and not whole and (end - start) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}.")
    if dtype is int64 and not whole:  # counted in integers, as PyTorch does for this dtype alone
        start, end, step, whole = int(start), int(end), int(step), True
    if step == 0 or step != step:
        raise ShapeError(f"arange: step must be nonzero, got {step}{' as an integer' if dtype._kind == 1 else ''}.")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}.")
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if dtype._kind <= 1:
        t = _ops.arange_of(int(start), int(step), max(0, count), dtype, math.nan, 0.0)
    else:
        t = _ops.arange_of(0, 0, max(0, count), dtype, float(start), float(step))
    return _ranged("arange", t, out, device, requires_grad)


def _ranged(name, t, out, device, requires_grad):
    """A range on the device asked for, or in `out`."""
    if out.is_meta if out is not None else (device is not None or _state._device._place) and _place(device) == 1:
        t = own_tensor(lib.fc_empty(lib.fc_dtype(t._h), 1, 1, t.shape))
    if out is not None:
        return _delivered(name, t, out, requires_grad)
    return _finish(t, requires_grad)


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`steps` numbers evenly spaced from start to end, both included; counted from the nearer end, so both are exact.

    >>> import facula
    >>> facula.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    plain(layout, pin_memory)
    asked = device
    if type(start) not in _REAL or type(end) not in _REAL or out is not None:
        if _ops.interpreting and out is None and (each := by_examples(lambda a, b: linspace(a, b, steps, dtype=dtype, device=device), start, end)) is not None:
            return _finish(each, requires_grad)
        device = _where(start, end, device, out)
        start, end = _end("start", start, device), _end("end", end, device)
    if out is None and _easy(start, end, steps, dtype, device):
        return _finish(_ops.linspace_of(steps, dtype or _state.get_default_dtype(), float(start), float(end)), requires_grad)
    if out is not None and _here(out, dtype, layout, device, requires_grad, pin_memory):
        return _delivered("linspace", linspace(start, end, steps, dtype=out.dtype), out, requires_grad)
    _whole_steps("linspace", start, end, steps)
    dtype = as_dtype(dtype)
    number(start), number(end)  # which refuses what is beyond 64 bits
    if dtype is not None and dtype._kind == 0 and steps:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Convert the result with .bool().')
    _fits("linspace", out, dtype, asked)
    if out is not None and out.dtype._kind == 0 and steps:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Give an output of another dtype.')
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}.")
    if dtype is None:
        dtype = out.dtype if out is not None else _kind_dtype(3 if isinstance(start, complex) or isinstance(end, complex) else 2)
    if dtype._kind != 3 and (isinstance(start, complex) or isinstance(end, complex)):
        raise RuntimeError(f"torch.linspace(): inferred dtype complex can't be safely cast to passed dtype {dtype._name}. Give a complex dtype.")
    if steps:
        _ends_fit("linspace", dtype, start, end)
    else:
        start = end = 0  # whatever they are
    if dtype._kind == 1:
        start, end = _whole(start, dtype), _whole(end, dtype)
    if dtype._kind == 0:  # of no steps
        t = empty(0, dtype=dtype)
    elif dtype._kind == 3:
        t = _complex_steps(start, end, steps, dtype)
    else:
        t = _ops.linspace_of(steps, dtype, float(start), float(end))
    return _ranged("linspace", t, out, device, requires_grad)


def _whole(end, dtype):
    """An end in a dtype of integers, of which it is before a step is taken: cut, and a negative one of an unsigned dtype from above."""
    return int(end) if dtype.is_signed else int(end) % (1 << 8 * dtype.itemsize)


def _whole_steps(name, start, end, steps):
    if not hasattr(steps, "__index__"):
        given = ", ".join(type(v).__name__ for v in (start, end, steps))
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}): argument 'steps' must be int, not {type(steps).__name__}: {steps}")


def _easy(start, end, steps, dtype, device):
    """A range here of a floating dtype, whose ends every such dtype holds?"""
    if type(steps) is not int or steps < 0 or dtype is not None and (type(dtype) is not _dtype or dtype._kind != 2) or (_state._device._place if device is None else _place(device)):
        return False
    return type(start) in _REAL and type(end) in _REAL and -60000 < start < 60000 and -60000 < end < 60000


_REAL = (float, int)


def _ends_fit(name, dtype, *ends):
    """Refuse ends that the dtype does not hold."""
    if dtype._kind < 3 and any(isinstance(v, complex) for v in ends):
        raise RuntimeError(f"torch.{name}(): inferred dtype {_kind_dtype(3)} can't be safely cast to passed dtype {dtype}, got {ends}. Pass a complex one.")
    for v in ends:
        fitting(name, v, dtype)


def _where(start, end, device, out):
    """The device of a range: an end without elements, or an output, leaves it none."""
    return "meta" if any(isinstance(t, Tensor) and t.is_meta for t in (start, end, out)) else device


def _end(what, v, device=None):
    """An end of linspace as a number; 0 where neither it nor the result has elements."""
    if type(v) in _REAL:
        return v
    if isinstance(v, Tensor) and v.dim():
        raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, but got {what} with {v.dim()} dimension(s).")
    v = 0.0 if getattr(v, "is_meta", False) and _place(device) == 1 else v.item() if hasattr(v, "item") and not v.ndim else v
    if type(v) is not float:
        check("linspace", what, None, "number", v)
    return v


def _complex_steps(start, end, steps, dtype):
    """The steps of the real and of the imaginary part, side by side."""
    start, end, part = complex(start), complex(end), dtype.to_real()
    steps = [_ops.linspace_of(steps, part, a, b) for a, b in ((start.real, end.real), (start.imag, end.imag))]
    return _alone(_ops.complex_view(_ops.stack(steps, -1)))


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """base to the powers linspace(start, end, steps).

    >>> facula.logspace(0, 3, 4)
    tensor([   1.,   10.,  100., 1000.])
    """
    plain(layout, pin_memory)
    asked = device
    if type(start) not in _REAL or type(end) not in _REAL or out is not None:
        if _ops.interpreting and out is None and (each := by_examples(lambda a, b: logspace(a, b, steps, base, dtype=dtype, device=device), start, end)) is not None:
            return _finish(each, requires_grad)
        device = _where(start, end, device, out)
    if out is None and type(base) in _REAL:
        first, last = _end("start", start, device), _end("end", end, device)
        if _easy(first, last, steps, dtype, device):
            t = _ops.linspace_of(steps, float64, float(first), float(last))
            return _finish(_ops.copy(_map2r(_POW, None, 2, 0, float(base), 0.0, t._h), dtype or _state.get_default_dtype()), requires_grad)
    if out is not None and _here(out, dtype, layout, device, requires_grad, pin_memory):
        return _delivered("logspace", logspace(start, end, steps, base, dtype=out.dtype), out, requires_grad)
    _whole_steps("logspace", start, end, steps)
    _fits("logspace", out, dtype, asked)
    if isinstance(base, complex) or isinstance(base, Tensor) and base._origin is not None:
        raise TypeError(f"logspace() received an invalid combination of arguments: base {base} is no float. Take its real part, detached.")
    if dtype is None and out is None and any(isinstance(v, complex) or isinstance(v, Tensor) and v.is_complex() for v in (start, end)):
        dtype = _state.get_default_dtype().to_complex()
    dtype = as_dtype(dtype) or (_state.get_default_dtype() if out is None else out.dtype)
    if dtype._kind == 0 and steps > 1:
        raise NotImplementedError('"logspace" not implemented for \'Bool\'. Convert the result with .bool().')
    if type(start) is not float or type(end) is not float:
        first, last = _end("start", start, device), _end("end", end, device)
        if as_dtype(dtype)._kind != 3 and (isinstance(first, complex) or isinstance(last, complex)):
            raise RuntimeError(f"torch.logspace(): inferred dtype complex can't be safely cast to passed dtype {as_dtype(dtype)._name}. Give a complex dtype.")
    for v in (start, end):
        if not isinstance(v, Tensor):
            number(v)
    if not isinstance(start, Tensor) and not isinstance(end, Tensor) and steps:
        _ends_fit("logspace", dtype, start, end)
    if dtype._kind == 1 and steps:
        first, last = _end("start", start, device), _end("end", end, device)
        if steps == 1:  # of which no step is taken, so that nothing is cut but the power
            end = start = float(first)
            fitting("logspace", _ops.pow(base, zero_dim(start, float64)).item(), dtype)
        else:
            start, end = _whole(first, dtype), _whole(last, dtype)
    if type(start) is float is type(end) and as_dtype(dtype)._kind < 3 and type(steps) is int and steps >= 0 and device is None:
        t = _ops.linspace_of(steps, float64, start, end)
    else:
        t = linspace(start, end, steps, dtype=complex128 if as_dtype(dtype)._kind == 3 else float64, device=device)
    t = _map2r(_POW, None, 2, 0, float(base), 0.0, t._h) if type(base) is float or type(base) is int else _ops.pow(base, t)
    t = _ops.copy(t, as_dtype(dtype))
    return _delivered("logspace", t, out, requires_grad) if out is not None else _finish(t, requires_grad)


__all__ = ["arange", "linspace", "logspace"]
