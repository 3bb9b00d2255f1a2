"""Factories: tensors unset or of one value, the identity."""

import math

from facula.tensor_core import _ops, _state
from facula.tensor_core.dispatch.arguments import LACKING, as_dtype, dtype_id, ints, listed, sequence
from facula.tensor_core._errors import IntegersOverflow, OutOfMemoryError
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_ints, want_tensor
from facula.tensor_core.dispatch import slow
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, taken
from facula.tensor_core.dispatch.run import fitting, number
from facula.tensor_core._limits import iinfo
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import DTYPES, complex64, complex128, device, float64, format_id, int64, layout as _layout, no_backend, strided

_full, _full_like, _empty_like = lib.full, lib.full_like, lib.empty_like  # give None wherever anything is unusual
_unset, _unset_like = _full, _empty_like  # what empty and empty_like ask first; fill_unset exchanges them, so that nobody else pays
_DIAGONAL = _ops.BY_NAME["diagonal"].id


def _switch(name, value):
    """Refuse what is no bool; None is the default."""
    if value is not None and value is not True and value is not False:
        raise TypeError(f"argument '{name}' must be bool, not {type(value).__name__}. Write True or False.")


def _finish(t, requires_grad):
    if requires_grad is False:
        return t
    _switch("requires_grad", requires_grad)
    if requires_grad:
        if type(t) is Tensor:  # a third of the property's time
            (slow.tape or slow.need_tape()).requires_grad(t, True)
        else:
            t.requires_grad = True
    return t


def _fits(name, out, dtype, device_=None):
    """Refuse an output that is no tensor, or of another dtype or device than the one asked for."""
    if out is None:
        return
    a_tensor(name, out)
    dtype = as_dtype(dtype)
    if dtype is not None and out.dtype is not dtype:
        raise RuntimeError(f"dtype {dtype._name} does not match dtype of out parameter ({out.dtype._name}). Leave one of them out.")
    if device_ is not None and _place(device_) != lib.fc_device(out._h):
        raise RuntimeError(f"{name}: device type {device_} does not match device type of out parameter ({out.device}). Leave one of them out.")


def _place(device_):
    if device_ is None:
        return _state._device._place
    if type(device_) is str and device_ == "cpu":  # what most programs say
        return 0
    d = device_ if isinstance(device_, device) else device(device_)
    if d.type not in ("cpu", "meta"):
        if type(device_) is int:
            raise RuntimeError("Cannot access accelerator device when none is available: this build of facula has no CUDA backend. Use device='cpu'.")
        raise no_backend(d.type)
    return d._place


def a_layout(layout):
    """Refuse what is no layout."""
    if layout is not None and type(layout) is not _layout:
        raise TypeError(f"argument 'layout' must be torch.layout, not {type(layout).__name__}: {layout!r}. Use facula.strided or its like.")


def plain(layout, pin_memory=False):
    """Refuses memory that is not made here: of another layout than strided, or pinned for an accelerator."""
    if layout is not None and layout is not strided:
        a_layout(layout)
        raise NotImplementedError(f"layout {layout} is not available here: use facula.strided")
    if pin_memory is not False:
        _switch("pin_memory", pin_memory)
    if pin_memory:
        raise RuntimeError("pin_memory=True needs an accelerator, and there is none. Leave it out.")


def _like_layout(name, input, layout, pin_memory, **given):
    want_tensor(name, "input", 0, input)
    kinds_first(name, layout=layout, pin_memory=pin_memory, **given)
    plain(None, pin_memory)
    if layout is not None and layout is not input.layout:
        raise NotImplementedError(f"{name} with different sparse layout is not supported: input has layout {input.layout}, the result cannot have {layout}. Convert it.")


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
        kind = t.dtype._kind
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
    except OverflowError:
        raise IntegersOverflow(f"empty: Overflow when unpacking long long: a size of {size} is beyond 64 bits. Give a smaller one.") from None
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
    from facula.tensor_core.sparse.making import blank

    a_layout(layout)
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
    format = 1 if memory_format is None else format_id("empty", memory_format)
    if memory_format is not None and (format == 1 or out is not None):
        kinds_first("empty", size=wanted_sizes("empty", sizes), out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
        raise RuntimeError(f"empty: {'an output' if out is not None else 'a new tensor'} in memory format {memory_format} is not supported. Leave the format out.")
    if out is None and layout is None and memory_format is None and pin_memory is False:
        t = _unset(-1 if dtype is None else dtype_id(dtype), _state._device._place if device is None else _place(device), sizes, None)
        if t is not None:
            return t if requires_grad is False else _finish(t, requires_grad)
    if layout is not None or pin_memory is not False:
        kinds_first("empty", size=wanted_sizes("empty", sizes), out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
    if layout is not None and layout is not strided and out is None:
        return _blank("empty", sizes, dtype, layout, device, requires_grad, pin_memory)
    plain(layout, pin_memory)
    if out is not None:
        sizes = wanted_sizes("empty", sizes)
        _fits("empty", out, dtype, device)
        if out.is_sparse:
            return _finish(out.sparse_resize_and_clear_(wanted := ints(sizes), len(wanted), 0), requires_grad)
        return _finish(prepared(out if out.shape == (wanted := ints(sizes)) and out._origin is None else out.resize_(wanted)), requires_grad)
    t = _empty(ints(sizes), dtype, device)
    if format > 1:
        t = own_tensor(lib.fc_empty_like(t._h, t.dtype._id, format))
    return _finish(prepared(t), requires_grad)


def wanted_sizes(name, size):
    """The sizes that an output gets. Refuses what is none, before it is looked whether they fit."""
    size = tuple(ints(size))
    check(name, "size", 0, "sizes", size)
    if any(type(s) is int and not -(2**63) <= s < 2**63 for s in size):
        raise IntegersOverflow(f"{name}(): argument 'size' Overflow when unpacking long long: a size of {size} is beyond 64 bits. Give a smaller one.")
    return size


def _filled(size, value, dtype, device_, requires_grad, out=None):
    if out is None:
        t = _empty(ints(size), dtype, device_)
    else:
        size = wanted_sizes("full", size)
        _fits("full", out, dtype, device_)
        if out.is_sparse and not value:
            return _finish(out.sparse_resize_and_clear_(wanted := ints(size), len(wanted), 0), requires_grad)
        taken("full", out)
        t = out if out.shape == (wanted := ints(size)) else out.resize_(wanted)
    if value not in (0, 1):
        value = fitting("full", value, t.dtype)
    if t._origin is not None:
        return t.fill_(value)
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
    if out is None and layout is None and pin_memory is False:
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device._place if device is None else _place(device), sizes, 0)
        if t is not None:
            return t if requires_grad is False else _finish(t, requires_grad)
    if layout is not None or pin_memory is not False:
        kinds_first("zeros", size=wanted_sizes("zeros", sizes), out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
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
    if out is None and layout is None and pin_memory is False:
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device._place if device is None else _place(device), sizes, 1)
        if t is not None:
            return t if requires_grad is False else _finish(t, requires_grad)
    if layout is not None or pin_memory is not False:
        kinds_first("ones", size=wanted_sizes("ones", sizes), out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
    plain(layout, pin_memory)
    return _filled(sizes, 1, dtype, device, requires_grad, out)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of one value; its dtype is the value's kind's unless given.

    >>> import facula
    >>> facula.full((2,), 7)
    tensor([7, 7])
    """
    if type(size) is not tuple:
        size = sequence("full", "size", size)
    if fill_value is None:
        raise TypeError("full(): argument 'fill_value' (position 2) must be Number, not NoneType. Use empty() for values that are not set.")
    if out is None and layout is None and pin_memory is False:
        id = _KINDS.get(type(fill_value), -2) if dtype is None else dtype_id(dtype)
        if id > -2 and (t := _full(id, _state._device._place if device is None else _place(device), size, fill_value)) is not None:
            return t if requires_grad is False else _finish(t, requires_grad)
    if layout is not None or pin_memory is not False:
        kinds_first("full", size=size, fill_value=fill_value, out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory, requires_grad=requires_grad)
    plain(layout, pin_memory)
    if isinstance(fill_value, Tensor):
        check("full", "fill_value", 1, "number", fill_value)
        fill_value = fill_value.item()
    if out is not None:
        check("full", "fill_value", 1, "number", fill_value)
    if dtype is None and out is None:
        dtype = _kind_dtype(number(fill_value)[0])
    return _filled((size,), fill_value, dtype, device, requires_grad, out)


_KINDS = {bool: 0, int: int64._id, float: -1}  # the dtype of a number, -1 for the default one


def _like(input, dtype, memory_format):
    """An unset tensor with input's shape, and strides where the format preserves them."""
    id = lib.fc_dtype(input._h) if dtype is None else dtype_id(dtype)
    return own_tensor(lib.fc_empty_like(input._h, id, 1 if memory_format is None else format_id("empty_like", memory_format)))


def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """An unset tensor of input's shape, dtype and device.

    >>> facula.empty_like(facula.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    if type(input) is not Tensor:
        want_tensor("empty_like", "input", 0, input)
    if layout is strided and input.layout is not strided:
        return empty(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory, memory_format=memory_format)
    if layout is not None or pin_memory is not False:
        _like_layout("empty_like", input, layout, pin_memory, dtype=dtype, device=device, requires_grad=requires_grad, memory_format=memory_format)
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("empty_like", input, 0, dtype, device, requires_grad, memory_format)
    if type(input) is not Tensor and (own := getattr(input, "made_like", None)) is not None:
        return _finish(own(empty_like, (), memory_format, dtype=dtype, device=device), requires_grad)
    if dtype is device is memory_format is None and requires_grad is False and (t := _unset_like(input._h, lib.fc_dtype(input._h), 1)) is not None:
        return t
    if device is not None and _place(device) != lib.fc_device(input._h):
        from facula.tensor_core.memory.resize import on_meta

        seen = _like(on_meta(input), dtype, memory_format)
        return _finish(prepared(own_tensor(lib.fc_empty_strided(lib.fc_dtype(seen._h), _place(device), seen.dim(), list(seen.shape), list(seen.stride())))), requires_grad)
    return _finish(prepared(_like(input, dtype, memory_format)), requires_grad)


def _sparse_like(name, input, value, dtype, device, requires_grad, memory_format):
    """No elements in the shape and layout of a sparse tensor; of an unset value, or another than 0, those that a compressed one lists."""
    if memory_format is not None:
        raise RuntimeError(f"{name}: memory format option is only supported by strided tensors, got {memory_format} for layout {input.layout}. Leave it out.")
    if value == 0 and (input.is_sparse or name != "empty_like"):
        return input.blank(dtype).placed(device).requires_grad_(requires_grad)
    if input.is_sparse:
        raise NotImplementedError(f"{name}: not defined for layout {input.layout}. Convert with to_dense().")
    return input.filled(value, dtype).placed(device).requires_grad_(requires_grad)


def _like_filled(input, value, dtype, device, requires_grad, memory_format):
    if type(input) is not Tensor:
        want_tensor("full_like", "input", 0, input)
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("full_like", input, value, dtype, device, requires_grad, memory_format)
    if type(input) is not Tensor and (own := getattr(input, "made_like", None)) is not None:
        return _finish(own(full_like, (value,), memory_format, dtype=dtype, device=device), requires_grad)
    if memory_format is None and requires_grad is False and (device is None or _place(device) == lib.fc_device(input._h)):
        t = _full_like(input, -1 if dtype is None else dtype_id(dtype), value)
        if t is not None:
            return t
    t = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    if isinstance(value, Tensor):
        check("full_like", "fill_value", 1, "number", value)
    if value not in (0, 1):
        value = fitting("full_like", value, t.dtype)
    lib.fc_fill(t._h, *number(value))
    lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Zeros of input's shape, dtype and device.

    >>> facula.zeros_like(facula.tensor([5, 6]))
    tensor([0, 0])
    """
    if layout is not None:
        a_layout(layout)
        want_tensor("zeros_like", "input", 0, input)
    if layout is not None and layout is not input.layout:
        if strided not in (layout, input.layout):
            from facula.tensor_core.sparse.making import blank_like

            return blank_like(input, dtype, layout).requires_grad_(requires_grad)
        return zeros(input.shape, dtype=dtype or input.dtype, layout=layout, device=device or input.device, requires_grad=requires_grad, pin_memory=pin_memory)
    if layout is not None or pin_memory is not False:
        _like_layout("zeros_like", input, layout, pin_memory, dtype=dtype, device=device, requires_grad=requires_grad, memory_format=memory_format)
    return _like_filled(input, 0, dtype, device, requires_grad, memory_format)


def ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Ones of input's shape, dtype and device.

    >>> facula.ones_like(facula.tensor([5, 6]))
    tensor([1, 1])
    """
    if layout is not None or pin_memory is not False:
        _like_layout("ones_like", input, layout, pin_memory, dtype=dtype, device=device, requires_grad=requires_grad, memory_format=memory_format)
    return _like_filled(input, 1, dtype, device, requires_grad, memory_format)


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """One value in input's shape, dtype and device.

    >>> facula.full_like(facula.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
    """
    if layout is not None or pin_memory is not False:
        _like_layout("full_like", input, layout, pin_memory, dtype=dtype, device=device, requires_grad=requires_grad, memory_format=memory_format)
    return _like_filled(input, fill_value, dtype, device, requires_grad, memory_format)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An unset tensor with these strides. Raises RuntimeError for negative sizes or strides.

    >>> facula.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    want_ints("empty_strided", "size", 0, size)
    want_ints("empty_strided", "stride", 1, stride)
    if layout is not None or pin_memory is not False:
        kinds_first("empty_strided", dtype=dtype, layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)
    plain(layout, pin_memory)
    if len(size) != len(stride):
        kinds_first("empty_strided", dtype=dtype, device=device)
        raise RuntimeError(f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    return _of_strides(size, stride, dtype, device, requires_grad)


def _of_strides(size, stride, dtype, device, requires_grad):
    try:
        h = lib.fc_empty_strided(lib.fc_default_dtype() if dtype is None else dtype_id(dtype), _place(device), len(size), list(size), list(stride))
    except OverflowError:
        raise IntegersOverflow(f"empty_strided: Overflow when unpacking long long: a size of {tuple(size)} or a stride of {tuple(stride)} is beyond 64 bits. Give smaller ones.") from None
    if not h:
        if min((*size, *stride), default=0) >= 0:
            raise RuntimeError(f"empty_strided: Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}. Choose smaller ones.")
        raise RuntimeError(f"empty_strided: sizes and strides must not be negative, got {tuple(size)} and {tuple(stride)}.")
    return _finish(prepared(own_tensor(h)), requires_grad)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-d tensor holding one number, of the default dtype unless given.

    >>> facula.scalar_tensor(2)
    tensor(2.)
    """
    if s is None:
        raise TypeError("scalar_tensor(): argument 's' (position 1) must be Number, not NoneType. Give 0.")
    if layout is None and requires_grad is pin_memory is False:
        t = _full(-1 if dtype is None else dtype_id(dtype), _state._device._place if device is None else _place(device), (), s)
        if t is not None:
            return t
    return full((), s, dtype=dtype or _state.get_default_dtype(), layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)


_MOST = 1 << 62


def eye(n, m=LACKING, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The identity matrix, n rows by m (default n) columns.

    >>> import facula
    >>> facula.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is LACKING else m
    if type(n) is not int or type(m) is not int or n > _MOST or m > _MOST:
        check("eye", "n", 0, "size", n)
        check("eye", "m", 1, "size", m)
    if n < 0 or m < 0:
        raise RuntimeError(f"eye: {'n' if n < 0 else 'm'} must be greater or equal to 0, got {n if n < 0 else m}.")
    plain(layout, pin_memory)
    t = zeros(n, m, dtype=dtype, device=device) if out is None else _filled((n, m), 0, dtype, device, False, out)
    if n and m:
        lib.fc_fill(lib.fc_view_op(_DIAGONAL, t._h, 0, 0, 1, 0) or _ops.diagonal(t, 0, 0, 1)._h, 1, 1, 1.0, 0.0)
    if out is None:
        lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


__all__ = [
    "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "ones", "ones_like", "scalar_tensor", "zeros", "zeros_like",
]  # fmt: skip
