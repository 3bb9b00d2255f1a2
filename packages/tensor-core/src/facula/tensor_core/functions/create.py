"""Factories: tensors unset or of one value, ranges, the identity."""

import math

from facula.tensor_core import _ops, _state
from facula.tensor_core.dispatch.arguments import as_dtype, dtype_id, ints, listed
from facula.tensor_core._errors import OutOfMemoryError, ShapeError
from facula.tensor_core.dispatch.guard import check, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, apart, resize
from facula.tensor_core.dispatch.run import fitting, number
from facula.tensor_core._limits import iinfo
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import DTYPES, complex64, complex128, device, dtype as _dtype, float64, int64, no_backend, strided

_full, _full_like, _empty_like = lib.full, lib.full_like, lib.empty_like  # give None wherever anything is unusual
_unset, _unset_like = _full, _empty_like  # what empty and empty_like ask first; fill_unset exchanges them, so that nobody else pays
_DIAGONAL, _POW = (next(op.id for op in _ops.OPS if op.name == name) for name in ("diagonal", "pow"))
_map2r = lib.map2r  # a number and a tensor


def _finish(t, requires_grad):
    if requires_grad:
        if requires_grad is not True:
            raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}. Write True or False.")
        t.requires_grad = True
    return t


def _fits(name, out, dtype):
    """Refuse an output that is no tensor, or of another dtype than the one asked for."""
    if out is None:
        return
    a_tensor(name, out)
    if dtype is not None and out.dtype is not dtype:
        raise RuntimeError(f"dtype {dtype.name} does not match dtype of out parameter ({out.dtype.name}). Leave one of them out.")


def _delivered(name, t, out):
    """A range in `out`: resized only where the number of elements is another."""
    if out.requires_grad:
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. Detach it.")
    if out.numel() != t.numel():
        resize(name, out, t.shape)
    apart(name, out, ())
    return _ops.copy_into_(out, _ops.view(t, out.shape))


def _place(device_):
    if device_ is None:
        return _state._device.id
    d = device_ if isinstance(device_, device) else device(device_)
    if d.type not in ("cpu", "meta"):
        if type(device_) is int:
            raise RuntimeError("Cannot access accelerator device when none is available: this build of facula has no CUDA backend. Use device='cpu'.")
        raise no_backend(d.type)
    return d.id


def plain(layout, pin_memory=False):
    """Refuses memory that is not made here: of another layout than strided, or pinned for an accelerator."""
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"layout {layout} is not available here: use facula.strided")
    if pin_memory:
        raise RuntimeError("pin_memory=True needs an accelerator, and there is none. Leave it out.")


def _like_layout(name, input, layout, pin_memory):
    plain(None, pin_memory)
    if layout is not None and layout is not input.layout:
        raise NotImplementedError(f"{name}: input has layout {input.layout}, the result cannot have {layout}. Convert it.")


def fill_unset(wanted):
    """Whether tensors that are made unset are filled: use_deterministic_algorithms with utils.deterministic.fill_uninitialized_memory."""
    global _unset, _unset_like
    _unset, _unset_like = (_nothing, _filled_like) if wanted else (_full, _empty_like)


def _nothing(*args):
    """The answer of a fast road that is closed."""


def _filled_like(h, dtype, format):
    return prepared(_empty_like(h, dtype, format))


def prepared(t):
    """An unset tensor as it is given out: where memory is to be the same in every run, NaN or the largest integer."""
    if _unset is _nothing and t.numel() and not t.is_meta:
        kind = t.dtype.kind
        lib.fc_fill(t._h, *number(math.nan if kind >= 2 else True if kind == 0 else iinfo(t.dtype).max))
    return t


def _kind_dtype(kind):
    """The dtype of a Python number of this kind (0 bool, 1 int, 2 float, 3 complex)."""
    default = lib.fc_default_dtype()
    return (DTYPES[0], int64, DTYPES[default], complex128 if DTYPES[default] is float64 else complex64)[kind]


def _empty(size, dtype, device_):
    place, id = _place(device_), lib.fc_default_dtype() if dtype is None else dtype_id(dtype)
    try:
        h = lib.fc_empty(id, place, len(size), size)
    except TypeError:
        size = [_size(s) for s in size]
        h = lib.fc_empty(id, place, len(size), size)
    if not h:
        if len(size) > 64:
            raise RuntimeError(f"empty: a tensor has at most 64 dims, got {len(size)}. Join some.")
        bad = [s for s in size if s < 0]
        if bad:
            raise RuntimeError(f"empty: Trying to create tensor with negative dimension {bad[0]}: {size}. Sizes are 0 or more.")
        count, run = math.prod(size), math.prod(max(s, 1) for s in size)
        if run * DTYPES[id].itemsize >= 2**63:
            what = "Storage size calculation overflowed" if count else "Stride calculation overflowed"
            raise RuntimeError(f"empty: {what} with sizes={list(size)}. Choose smaller ones.")
        raise OutOfMemoryError(f"empty: not enough memory for a tensor of size {size}. Use a smaller one.")
    return own_tensor(h)


def _blank(name, sizes, dtype, layout, device, requires_grad, pin_memory):
    from facula.tensor_core.sparse.tensor import blank

    return blank(name, ints(sizes), dtype, layout, device, pin_memory).requires_grad_(requires_grad)


def _size(s):
    try:
        return s.__index__()
    except AttributeError:
        raise TypeError(f"empty: sizes must be ints, but found {type(s).__name__} {s!r}. Convert it with int().") from None


def empty(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None):
    """A tensor of this size whose elements are not set.

    >>> import facula
    >>> facula.empty(2, 3).shape
    torch.Size([2, 3])
    """
    if not sizes or size is not None:
        sizes = listed("empty", "size", sizes, size)
    if out is None and device is None and layout is None and memory_format is None and not (requires_grad or pin_memory):
        t = _unset(-1 if dtype is None else dtype_id(dtype), _state._device.id, sizes, None)
        if t is not None:
            return t
    if layout is not None and layout is not strided and out is None:
        return _blank("empty", sizes, dtype, layout, device, requires_grad, pin_memory)
    plain(layout, pin_memory)
    if out is not None:
        _fits("empty", out, dtype)
        if out.is_sparse:
            return _finish(out.sparse_resize_and_clear_(wanted := ints(sizes), len(wanted), 0), requires_grad)
        return _finish(prepared(out.resize_(ints(sizes))), requires_grad)
    t = _empty(ints(sizes), dtype, device)
    if memory_format is not None:
        check("empty_like", "memory_format", None, "memory_format", memory_format)
    if memory_format is not None and memory_format.id > 1:
        t = own_tensor(lib.fc_to(t._h, t.dtype.id, memory_format.id, 0))
    return _finish(prepared(t), requires_grad)


def _filled(size, value, dtype, device_, requires_grad, out=None):
    if out is None:
        t = _empty(ints(size), dtype, device_)
    else:
        _fits("full", out, dtype)
        if out.is_sparse and not value:
            return _finish(out.sparse_resize_and_clear_(wanted := ints(size), len(wanted), 0), requires_grad)
        t = out.resize_(ints(size))
    if value not in (0, 1):
        value = fitting("full", value, t.dtype)
    if lib.fc_fill(t._h, *number(value)):
        raise RuntimeError("fill: the memory is read-only. Clone the tensor first.")
    if out is None:
        lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


def zeros(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros.

    >>> import facula
    >>> facula.zeros(2)
    tensor([0., 0.])
    """
    if not sizes or size is not None:
        sizes = listed("zeros", "size", sizes, size)
    if out is None and device is None and layout is None and not (requires_grad or pin_memory):
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device.id, sizes, 0)
        if t is not None:
            return t
    if layout is not None and layout is not strided and out is None:
        return _blank("zeros", sizes, dtype, layout, device, requires_grad, pin_memory)
    plain(layout, pin_memory)
    return _filled(sizes, 0, dtype, device, requires_grad, out)


def ones(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones.

    >>> import facula
    >>> facula.ones(2, dtype=facula.int32)
    tensor([1, 1], dtype=torch.int32)
    """
    if not sizes or size is not None:
        sizes = listed("ones", "size", sizes, size)
    if out is None and device is None and layout is None and not (requires_grad or pin_memory):
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device.id, sizes, 1)
        if t is not None:
            return t
    plain(layout, pin_memory)
    return _filled(sizes, 1, dtype, device, requires_grad, out)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of one value; its dtype is the value's kind's unless given.

    >>> import facula
    >>> facula.full((2,), 7)
    tensor([7, 7])
    """
    if type(size) is int:
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int. Write (n,).")
    if fill_value is None:
        raise TypeError("full(): argument 'fill_value' (position 2) must be Number, not NoneType. Use empty() for values that are not set.")
    if out is None and layout is None and not (requires_grad or pin_memory):
        id = _KINDS.get(type(fill_value), -2) if dtype is None else dtype_id(dtype)
        if id > -2 and (t := _full(id, _state._device.id if device is None else _place(device), size, fill_value)) is not None:
            return t
    plain(layout, pin_memory)
    if isinstance(fill_value, Tensor):
        if fill_value.dim():
            raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not Tensor of shape {tuple(fill_value.shape)}. Give fill_value.item().")
        fill_value = fill_value.item()
    if dtype is None and out is None:
        dtype = _kind_dtype(number(fill_value)[0])
    return _filled((size,), fill_value, dtype, device, requires_grad, out)


_KINDS = {bool: 0, int: int64.id, float: -1}  # the dtype of a number, -1 for the default one


def _like(input, dtype, memory_format):
    """An unset tensor with input's shape, and strides where the format preserves them."""
    id = lib.fc_dtype(input._h) if dtype is None else dtype_id(dtype)
    fmt = 1 if memory_format is None else memory_format.id
    return own_tensor(lib.fc_empty_like(input._h, id, fmt))


def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """An unset tensor of input's shape, dtype and device."""
    if type(input) is not Tensor:
        want_tensor("empty_like", "input", 0, input)
    if layout is strided and input.layout is not strided:
        return empty(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory, memory_format=memory_format)
    if layout is not None or pin_memory:
        _like_layout("empty_like", input, layout, pin_memory)
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("empty_like", input, 0, dtype, requires_grad, memory_format)
    if type(input) is not Tensor and (own := getattr(input, "made_like", None)) is not None:
        return _finish(own(empty_like, (), memory_format, dtype=dtype, device=device), requires_grad)
    if dtype is device is memory_format is None and not requires_grad and (t := _unset_like(input._h, lib.fc_dtype(input._h), 1)) is not None:
        return t
    if device is not None and _place(device) != lib.fc_device(input._h):
        return empty(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)
    return _finish(prepared(_like(input, dtype, memory_format)), requires_grad)


def _sparse_like(name, input, value, dtype, requires_grad, memory_format):
    """No elements in the shape and layout of a sparse tensor."""
    if memory_format is not None:
        raise RuntimeError(f"{name}: memory format option is only supported by strided tensors, got {memory_format} for layout {input.layout}. Leave it out.")
    if value != 0:
        raise NotImplementedError(f"{name}: not defined for layout {input.layout}. Convert with to_dense().")
    from facula.tensor_core.sparse.shapes import empty_like

    return empty_like(input, dtype).requires_grad_(requires_grad)


def _like_filled(input, value, dtype, device, requires_grad, memory_format):
    if type(input) is not Tensor:
        want_tensor("full_like", "input", 0, input)
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("full_like", input, value, dtype, requires_grad, memory_format)
    if type(input) is not Tensor and (own := getattr(input, "made_like", None)) is not None:
        return _finish(own(full_like, (value,), memory_format, dtype=dtype, device=device), requires_grad)
    if memory_format is None and not requires_grad and (device is None or _place(device) == lib.fc_device(input._h)):
        t = _full_like(input, -1 if dtype is None else dtype_id(dtype), value)
        if t is not None:
            return t
    t = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    if value not in (0, 1):
        value = fitting("full_like", value, t.dtype)
    lib.fc_fill(t._h, *number(value))
    lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Zeros of input's shape, dtype and device."""
    if layout is not None and layout is not input.layout:
        return zeros(input.shape, dtype=dtype or input.dtype, layout=layout, device=device or input.device, requires_grad=requires_grad, pin_memory=pin_memory)
    if layout is not None or pin_memory:
        _like_layout("zeros_like", input, layout, pin_memory)
    return _like_filled(input, 0, dtype, device, requires_grad, memory_format)


def ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Ones of input's shape, dtype and device."""
    if layout is not None or pin_memory:
        _like_layout("ones_like", input, layout, pin_memory)
    return _like_filled(input, 1, dtype, device, requires_grad, memory_format)


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """One value in input's shape, dtype and device."""
    if layout is not None or pin_memory:
        _like_layout("full_like", input, layout, pin_memory)
    return _like_filled(input, fill_value, dtype, device, requires_grad, memory_format)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An unset tensor with these strides. Raises RuntimeError for negative sizes or strides."""
    plain(layout, pin_memory)
    if len(size) != len(stride):
        raise RuntimeError(f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    h = lib.fc_empty_strided(lib.fc_default_dtype() if dtype is None else dtype_id(dtype), _place(device), len(size), list(size), list(stride))
    if not h:
        if min((*size, *stride), default=0) >= 0:
            raise RuntimeError(f"empty_strided: Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}. Choose smaller ones.")
        raise RuntimeError(f"empty_strided: sizes and strides must not be negative, got {tuple(size)} and {tuple(stride)}.")
    return _finish(prepared(own_tensor(h)), requires_grad)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-d tensor holding one number, of the default dtype unless given."""
    if layout is None and not (requires_grad or pin_memory):
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device.id if device is None else _place(device), (), s)
        if t is not None:
            return t
    return full((), s, dtype=dtype or _state.get_default_dtype(), layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


def arange(start=None, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """start, start + step, ... below end. int64 where all three are ints, else the default dtype.

    >>> import facula
    >>> facula.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if type(start) is int and (end is None or type(end) is int) and type(step) is int and dtype is out is layout is device is None:
        first, stop = (0, start) if end is None else (start, end)
        if step and (stop - first) * step >= 0 and not (requires_grad or pin_memory) and not _state._device.id:  # the common case, flat
            return _ops.arange_of(first, step, -((first - stop) // step), int64, math.nan, 0.0)
    if start is None and step != 1 or start is end is None:
        raise TypeError("arange() received an invalid combination of arguments - got (). Give an end.")
    plain(layout, pin_memory)
    if end is None:
        start, end = 0, start
    start = 0 if start is None else start
    start, end, step = (v.item() if hasattr(v, "item") else v for v in (start, end, step))
    for position, (name, value) in enumerate((("start", start), ("end", end), ("step", step))):
        if type(value) is not float and type(value) is not int:
            check("arange", name, position, "number", value)
    if complex in (type(start), type(end), type(step)):
        raise RuntimeError(f"arange: value cannot be converted to a real number without overflow, got {start}, {end}, {step}.")
    dtype = as_dtype(dtype)
    if dtype is not None and dtype.kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {dtype.name!r}. Convert the result with .to().')
    _fits("arange", out, dtype)
    if out is not None and out.dtype.kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {out.dtype.name!r}. Give an output of another dtype.')
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}. Both ends must be finite.")
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    if dtype is None:
        dtype = out.dtype if out is not None else (int64 if whole else _state.get_default_dtype())
    if step != step:
        raise ShapeError("arange: step must be nonzero, got nan.")
    if dtype is int64 and not whole:  # counted in integers, as PyTorch does for this dtype alone
        start, end, step, whole = int(start), int(end), int(step), True
    if step == 0 or step != step:
        raise ShapeError(f"arange: step must be nonzero, got {step}{' as an integer' if dtype.kind == 1 else ''}.")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}.")
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if dtype.kind <= 1:
        t = _ops.arange_of(int(start), int(step), max(0, count), dtype, math.nan, 0.0)
    else:
        t = _ops.arange_of(0, 0, max(0, count), dtype, float(start), float(step))
    return _ranged("arange", t, out, device, requires_grad)


def _ranged(name, t, out, device, requires_grad):
    """A range on the device asked for, or in `out`."""
    if (device is not None or _state._device.id) and _place(device) == 1:
        t = own_tensor(lib.fc_empty(lib.fc_dtype(t._h), 1, 1, t.shape))
    if out is not None:
        return _delivered(name, t, out)
    return _finish(t, requires_grad)


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`steps` numbers evenly spaced from start to end, both included; counted from the nearer end, so both are exact.

    >>> import facula
    >>> facula.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    plain(layout, pin_memory)
    if type(start) is not float or type(end) is not float:
        start, end = _end("start", start, device), _end("end", end, device)
    if out is None and _easy(start, end, steps, dtype, device):
        return _finish(_ops.linspace_of(steps, dtype or _state.get_default_dtype(), float(start), float(end)), requires_grad)
    if not hasattr(steps, "__index__"):
        raise TypeError(f"linspace(): argument 'steps' must be int, not {type(steps).__name__}: {steps}")
    dtype = as_dtype(dtype)
    if dtype is not None and dtype.kind == 0:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Convert the result with .bool().')
    _fits("linspace", out, dtype)
    if out is not None and out.dtype.kind == 0:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Give an output of another dtype.')
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}.")
    if dtype is None:
        dtype = out.dtype if out is not None else _kind_dtype(3 if isinstance(start, complex) or isinstance(end, complex) else 2)
    if dtype.kind != 3 and (isinstance(start, complex) or isinstance(end, complex)):
        raise RuntimeError(f"linspace(): inferred dtype complex can't be safely cast to passed dtype {dtype.name}. Give a complex dtype.")
    if steps:
        _ends_fit("linspace", dtype, start, end)
    if dtype.kind == 1:  # PyTorch cuts the ends first
        start, end = int(start), int(end)
    if dtype.kind == 3:
        t = _complex_steps(start, end, steps, dtype)
    else:
        t = _ops.linspace_of(steps, dtype, float(start), float(end))
    return _ranged("linspace", t, out, device, requires_grad)


def _easy(start, end, steps, dtype, device):
    """A range here of a floating dtype, whose ends every such dtype holds?"""
    if type(steps) is not int or steps < 0 or dtype is not None and (type(dtype) is not _dtype or dtype.kind != 2) or (_state._device.id if device is None else _place(device)):
        return False
    return type(start) in _REAL and type(end) in _REAL and -60000 < start < 60000 and -60000 < end < 60000


_REAL = (float, int)


def _ends_fit(name, dtype, *ends):
    """Refuse ends that the dtype does not hold."""
    if dtype.kind < 3 and any(isinstance(v, complex) for v in ends):
        raise RuntimeError(f"torch.{name}(): inferred dtype {_kind_dtype(3)} can't be safely cast to passed dtype {dtype}, got {ends}. Pass a complex one.")
    for v in ends:
        number(v)
        fitting(name, v, dtype)


def _end(what, v, device=None):
    """An end of linspace as a number; 0 where neither it nor the result has elements."""
    if type(v) is int:
        return v
    if isinstance(v, Tensor) and v.dim():
        raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, but got {what} with {v.dim()} dimension(s).")
    v = 0.0 if getattr(v, "is_meta", False) and _place(device) == 1 else v.item() if hasattr(v, "item") else v
    if type(v) is not float:
        check("linspace", what, None, "number", v)
    return v


def _complex_steps(start, end, steps, dtype):
    """The steps of the real and of the imaginary part, side by side."""
    start, end, part = complex(start), complex(end), dtype.to_real()
    steps = [_ops.linspace_of(steps, part, a, b) for a, b in ((start.real, end.real), (start.imag, end.imag))]
    return _ops.complex_view(_ops.stack(steps, -1))


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """base to the powers linspace(start, end, steps)."""
    plain(layout, pin_memory)
    if out is None and type(base) in _REAL:
        first, last = (v if type(v) is float else _end(what, v, device) for what, v in (("start", start), ("end", end)))
        if _easy(first, last, steps, dtype, device):
            t = _ops.linspace_of(steps, float64, float(first), float(last))
            return _finish(_ops.copy(_map2r(_POW, None, 2, 0, float(base), 0.0, t._h), dtype or _state.get_default_dtype()), requires_grad)
    _fits("logspace", out, dtype)
    if dtype is None and out is None and (isinstance(start, complex) or isinstance(end, complex)):
        dtype = _state.get_default_dtype().to_complex()
    dtype = as_dtype(dtype) or (_state.get_default_dtype() if out is None else out.dtype)
    if type(start) is not float or type(end) is not float:
        first, last = _end("start", start, device), _end("end", end, device)
        if as_dtype(dtype).kind != 3 and (isinstance(first, complex) or isinstance(last, complex)):
            raise RuntimeError(f"logspace(): inferred dtype complex can't be safely cast to passed dtype {as_dtype(dtype).name}. Give a complex dtype.")
    if not isinstance(start, Tensor) and not isinstance(end, Tensor) and steps:
        _ends_fit("logspace", dtype, start, end)
    if as_dtype(dtype).kind == 1:  # as linspace cuts the ends
        start, end = int(_end("start", start, device)), int(_end("end", end, device))
    if type(start) is float is type(end) and as_dtype(dtype).kind < 3 and type(steps) is int and steps >= 0 and device is None:
        t = _ops.linspace_of(steps, float64, start, end)
    else:
        t = linspace(start, end, steps, dtype=complex128 if as_dtype(dtype).kind == 3 else float64, device=device)
    t = _map2r(_POW, None, 2, 0, float(base), 0.0, t._h) if type(base) is float or type(base) is int else _ops.pow(base, t)
    t = _ops.copy(t, as_dtype(dtype))
    return _delivered("logspace", t, out) if out is not None else _finish(t, requires_grad)


_MOST = 1 << 62


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The identity matrix, n rows by m (default n) columns.

    >>> import facula
    >>> facula.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if type(n) is not int or m is not None and type(m) is not int or n > _MOST or m is not None and m > _MOST:
        check("eye", "n", 0, "int", n)
        check("eye", "m", 1, "int", n if m is None else m)
    m = n if m is None else m
    if n < 0 or m < 0:
        raise RuntimeError(f"eye: n and m must be greater or equal to 0, got {n} and {m}.")
    plain(layout, pin_memory)
    t = zeros(n, m, out=out, dtype=dtype, device=device)
    if n and m:
        lib.fc_fill(lib.fc_view_op(_DIAGONAL, t._h, 0, 0, 1, 0) or _ops.diagonal(t, 0, 0, 1)._h, 1, 1, 1.0, 0.0)
    if out is None:
        lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


__all__ = [
    "arange", "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "linspace", "logspace", "ones",
    "ones_like", "scalar_tensor", "zeros", "zeros_like",
]  # fmt: skip
