"""Factories: tensors from Python data, constants, ranges."""

import math
import warnings

from facula.tensor_core import _ops, _state
from facula.tensor_core._arguments import as_dtype, dtype_id, ints
from facula.tensor_core._errors import OutOfMemoryError, ShapeError
from facula.tensor_core._lib import lib
from facula.tensor_core._out import a_tensor, apart, resize
from facula.tensor_core._run import fitting, number
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import BY_CODE, DTYPES, Size, complex64, complex128, device, float64, int64, strided


def _finish(t, requires_grad):
    if requires_grad:
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
    if name == "arange":
        apart(name, out, ())
    lib.fc_copy(out._h, _ops.view(t, out.shape)._h)
    return out


def _place(device_):
    if device_ is None:
        return _state._device.id
    d = device_ if isinstance(device_, device) else device(device_)
    if d.type == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled: this build of facula has no CUDA backend. Use device='cpu'.")
    return d.id


def _check_layout(layout):
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"layout {layout} is not available here: use facula.strided")


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
        raise OutOfMemoryError(f"empty: not enough memory for a tensor of size {size}. Use a smaller one.")
    return own_tensor(h)


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
    _check_layout(layout)
    size = sizes if size is None else (size,)
    if out is not None:
        _fits("empty", out, dtype)
        return out.resize_(ints(size))
    t = _empty(ints(size), dtype, device)
    if memory_format is not None and memory_format.id > 1:
        t = own_tensor(lib.fc_to(t._h, t.dtype.id, memory_format.id, 0))
    return _finish(t, requires_grad)


def _filled(size, value, kind, dtype, device_, requires_grad, out=None):
    if out is None:
        t = _empty(ints(size), dtype, device_)
    else:
        _fits("full", out, dtype)
        t = out.resize_(ints(size))
    if value not in (0, 1):
        value = fitting("full", value, t.dtype)
    if lib.fc_fill(t._h, *number(value)):
        raise RuntimeError("fill: the memory is read-only. Clone the tensor first.")
    if out is None:
        lib.fc_fresh(t._h)
    if requires_grad:
        t.requires_grad = True
    return t


def zeros(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros.

    >>> import facula
    >>> facula.zeros(2)
    tensor([0., 0.])
    """
    if layout is not None:
        _check_layout(layout)
    return _filled(sizes if size is None else (size,), 0, 1, dtype, device, requires_grad, out)


def ones(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones.

    >>> import facula
    >>> facula.ones(2, dtype=facula.int32)
    tensor([1, 1], dtype=torch.int32)
    """
    if layout is not None:
        _check_layout(layout)
    return _filled(sizes if size is None else (size,), 1, 1, dtype, device, requires_grad, out)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of one value; its dtype is the value's kind's unless given.

    >>> import facula
    >>> facula.full((2,), 7)
    tensor([7, 7])
    """
    _check_layout(layout)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if dtype is None and out is None:
        dtype = _kind_dtype(number(fill_value)[0])
    return _filled((size if not isinstance(size, int) else (size,),), fill_value, 1, dtype, device, requires_grad, out)


def _like(input, dtype, memory_format):
    """An unset tensor with input's shape, and strides where the format preserves them."""
    id = lib.fc_dtype(input._h) if dtype is None else dtype_id(dtype)
    fmt = 1 if memory_format is None else memory_format.id
    return own_tensor(lib.fc_empty_like(input._h, id, fmt))


def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """An unset tensor of input's shape, dtype and device."""
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("empty_like", input, 0, dtype, requires_grad)
    if device is not None and _place(device) != lib.fc_device(input._h):
        return empty(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)
    return _finish(_like(input, dtype, memory_format), requires_grad)


def _sparse_like(name, input, value, dtype, requires_grad):
    """No elements in the shape and layout of a sparse tensor."""
    if value != 0:
        raise NotImplementedError(f"{name}: not defined for layout {input.layout}. Convert with to_dense().")
    from facula.tensor_core._sparse_shapes import empty_like

    return empty_like(input, dtype).requires_grad_(requires_grad)


def _like_filled(input, value, dtype, device, requires_grad, memory_format):
    if type(input) is not Tensor and input.layout is not strided:
        return _sparse_like("full_like", input, value, dtype, requires_grad)
    t = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    if value not in (0, 1):
        value = fitting("full_like", value, t.dtype)
    lib.fc_fill(t._h, *number(value))
    lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """Zeros of input's shape, dtype and device."""
    return _like_filled(input, 0, dtype, device, requires_grad, memory_format)


def ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """Ones of input's shape, dtype and device."""
    return _like_filled(input, 1, dtype, device, requires_grad, memory_format)


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None):
    """One value in input's shape, dtype and device."""
    return _like_filled(input, fill_value, dtype, device, requires_grad, memory_format)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An unset tensor with these strides. Raises RuntimeError for negative sizes or strides."""
    if len(size) != len(stride):
        raise RuntimeError(f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    h = lib.fc_empty_strided(lib.fc_default_dtype() if dtype is None else dtype_id(dtype), _place(device), len(size), list(size), list(stride))
    if not h:
        raise RuntimeError(f"empty_strided: sizes and strides must not be negative, got {tuple(size)} and {tuple(stride)}.")
    return _finish(own_tensor(h), requires_grad)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False):
    """A 0-d tensor holding one number, of the default dtype unless given."""
    return full((), s, dtype=dtype or _state.get_default_dtype(), device=device, requires_grad=requires_grad)


def arange(start=None, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """start, start + step, ... below end. int64 where all three are ints, else the default dtype.

    >>> import facula
    >>> facula.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if start is None and end is None:
        raise TypeError("arange() received an invalid combination of arguments - got (). Give an end.")
    if end is None:
        start, end = 0, start
    start = 0 if start is None else start
    start, end, step = (v.item() if hasattr(v, "item") else v for v in (start, end, step))
    if any(isinstance(v, complex) for v in (start, end, step)):
        raise RuntimeError(f"arange: value cannot be converted to a real number without overflow, got {start}, {end}, {step}.")
    dtype = as_dtype(dtype)
    if dtype is not None and dtype.kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {dtype.name!r}. Convert the result with .to().')
    _fits("arange", out, dtype)
    if out is not None and out.dtype.kind not in (1, 2):
        raise NotImplementedError(f'"arange" not implemented for {out.dtype.name!r}. Give an output of another dtype.')
    if not all(math.isfinite(v) for v in (start, end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}. Both ends must be finite.")
    whole = all(isinstance(v, int) for v in (start, end, step))
    dtype = as_dtype(dtype)
    if dtype is None:
        dtype = out.dtype if out is not None else (int64 if whole else _state.get_default_dtype())
    if dtype is int64 and not whole:  # counted in integers, as PyTorch does for this dtype alone
        start, end, step, whole = int(start), int(end), int(step), True
    if step == 0 or step != step:
        raise ShapeError(f"arange: step must be nonzero, got {step}{' as an integer' if dtype.kind == 1 else ''}.")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: upper bound and lower bound inconsistent with step sign: {start} to {end} by {step}.")
    if whole:
        count = max(0, -((start - end) // step))
    else:
        count = max(0, math.ceil((end - start) / step))
    integral = dtype.kind <= 1
    if integral and not whole:
        start, step = int(start), int(step)
    first, by = (math.nan, 0.0) if integral else (float(start), float(step))
    t = _ops.arange_of(int(start) if integral else 0, int(step) if integral else 0, count, dtype, first, by)
    if _place(device) == 1:
        t = own_tensor(lib.fc_empty(dtype.id, 1, 1, [count]))
    if out is not None:
        return _delivered("arange", t, out)
    return _finish(t, requires_grad)


def range_(start=0, end=None, step=1, **options):
    """Like arange, with the end included. Deprecated in PyTorch too."""
    if end is None:
        start, end = 0, start
    return arange(start, end + step * 0.5 if isinstance(step, float) else end + (1 if step > 0 else -1), step, **{"dtype": _state.get_default_dtype(), **options})


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """`steps` numbers evenly spaced from start to end, both included; counted from the nearer end, so both are exact.

    >>> import facula
    >>> facula.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    for what, v in (("start", start), ("end", end)):
        if isinstance(v, Tensor) and v.dim():
            raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, but got {what} with {v.dim()} dimension(s).")
    if not hasattr(steps, "__index__"):
        raise TypeError(f"linspace(): argument 'steps' must be int, not {type(steps).__name__}: {steps}")
    dtype = as_dtype(dtype)
    if dtype is not None and dtype.kind == 0:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Convert the result with .bool().')
    start, end = (v.item() if hasattr(v, "item") else v for v in (start, end))
    _fits("linspace", out, dtype)
    if out is not None and out.dtype.kind == 0:
        raise NotImplementedError('"linspace" not implemented for \'Bool\'. Give an output of another dtype.')
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}.")
    dtype = as_dtype(dtype)
    if dtype is None:
        dtype = out.dtype if out is not None else _kind_dtype(max(2, number(start)[0], number(end)[0]))
    if dtype.kind == 1:  # PyTorch cuts the ends first
        start, end = int(start), int(end)
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    if dtype.kind == 3:
        t = _stack_values([start + step * k if k < steps / 2 else end - step * (steps - 1 - k) for k in range(steps)], dtype)
    else:
        t = _ops.linspace_of(steps, dtype, float(start), float(end))
    if _place(device) == 1:
        t = own_tensor(lib.fc_empty(dtype.id, 1, 1, [steps]))
    if out is not None:
        return _delivered("linspace", t, out)
    return _finish(t, requires_grad)


def _stack_values(values, dtype):
    return tensor(values, dtype=dtype)


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """base to the powers linspace(start, end, steps)."""
    _fits("logspace", out, dtype)
    dtype = dtype or (_state.get_default_dtype() if out is None else out.dtype)
    t = _ops.pow(base, linspace(start, end, steps, dtype=float64, device=device)).to(dtype)
    if out is not None:
        return _delivered("logspace", t, out)
    return _finish(t, requires_grad)


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The identity matrix, n rows by m (default n) columns.

    >>> import facula
    >>> facula.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    if n < 0 or m < 0:
        raise RuntimeError(f"eye: n and m must be greater or equal to 0, got {n} and {m}.")
    t = zeros(n, m, out=out, dtype=dtype, device=device)
    if n and m:
        lib.fc_fill(lib.fc_view_op(_OP_DIAGONAL(), t._h, 0, 0, 1, 0), 1, 1, 1.0, 0.0)
    if out is None:
        lib.fc_fresh(t._h)
    return _finish(t, requires_grad)


def _OP_DIAGONAL():
    from facula.tensor_core.extend import ops

    return ops["diagonal"].id


# --- tensors from Python data -----------------------------------------------------------------------------------------


def _scan(data, shape, depth, flat):
    """Collect nested sequences into flat; the shape is fixed by the first element of every level."""
    if isinstance(data, Tensor) and depth:  # within a sequence a tensor is a number
        if data.origin is not None:
            warnings.warn("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using tensor.detach() first.", UserWarning, stacklevel=4)
        if data.numel() != 1:
            raise ValueError(f"only one element tensors can be converted to Python scalars, got one of shape {tuple(data.shape)}. Use facula.stack for others.")
        data = data.detach().reshape(())
    if isinstance(data, (dict, set, bytes)):
        refused = TypeError if isinstance(data, bytes) else RuntimeError
        raise refused(f"Could not infer dtype of {type(data).__name__}: new(): invalid data type. Tensors hold numbers.")
    if isinstance(data, (list, tuple)) or (hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, Tensor))):
        if flat and len(shape) == depth:
            raise TypeError(f"tensor: expected a number at dim {depth}, as before it, got a {type(data).__name__} of length {len(data)}. Every row must have one depth.")
        if len(shape) == depth:
            shape.append(len(data))
        elif depth >= len(shape) or shape[depth] != len(data):
            raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)}). Every row must have one length.")
        for item in data:
            _scan(item, shape, depth + 1, flat)
        return
    if isinstance(data, Tensor) and data.dim() or hasattr(data, "__array__") and getattr(data, "ndim", 0):
        _scan(data.tolist(), shape, depth, flat)
        return
    if isinstance(data, str):
        if depth and not flat:
            raise ValueError(f"too many dimensions 'str': {data!r}. Tensors hold numbers.")
    elif depth != len(shape):
        raise TypeError(f"not a sequence: expected one of length {shape[depth]} at dim {depth}, got {data!r}. Every row must have one length.")
    flat.append(data)


def _number(value):
    if type(value) in (float, int, bool, complex):
        return value
    if isinstance(value, (int, float, complex)):
        return value
    if hasattr(value, "item"):
        return value.item()
    for kind, name in ((float, "__float__"), (int, "__index__"), (complex, "__complex__")):
        if hasattr(value, name):
            return kind(value)
    if isinstance(value, str):
        raise TypeError(f"new(): invalid data type 'str': {value!r}. Tensors hold numbers.")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}: {value!r}. Tensors hold numbers.")


def _kind(value):
    return 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2 if isinstance(value, float) else 3


def from_data(data, dtype, device_):
    """A new tensor from numbers, nested sequences, arrays or tensors: always a copy."""
    dtype = as_dtype(dtype)
    if device_ is None and (default := _state.default_device()).type != "cpu" and not isinstance(data, Tensor):
        device_ = default
    dtype = as_dtype(dtype)
    t = lib.from_numbers(data, -1 if dtype is None else dtype.id)
    if t is not None:  # plain numbers: the common case
        return t if device_ is None else t.to(device_)
    if isinstance(data, Tensor):
        data = data.detach()
        t = own_tensor(lib.fc_to(data._h, lib.fc_dtype(data._h) if dtype is None else dtype.id, 0, 1))
        return t if device_ is None else t.to(device_)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        from facula.tensor_core._interop import from_array

        t = from_array(data, copy=True)
        t = t if dtype is None else t.to(dtype)
        return t if device_ is None else t.to(device_)
    if isinstance(data, list) and data and type(data[0]).__module__ == "numpy" and getattr(data[0], "ndim", 0):
        warnings.warn("Creating a tensor from a list of numpy.ndarrays is extremely slow. Convert the list to a single one first, with numpy.array().", UserWarning, stacklevel=3)
    shape, flat = [], []
    _scan(data, shape, 0, flat)
    numbers = [_number(v) for v in flat]
    if dtype is None:
        if any(hasattr(v, "dtype") for v in flat):
            for v, n in zip(flat, numbers):
                own = v.dtype if isinstance(v, Tensor) else BY_CODE[v.dtype.str] if hasattr(v, "dtype") else _kind_dtype(_kind(n))
                dtype = own if dtype is None or dtype is own else _state.promote_types(dtype, own)
        else:
            dtype = _kind_dtype(max(map(_kind, numbers))) if numbers else _state.get_default_dtype()
    from facula.tensor_core._pack import pack

    t = pack(numbers, shape, dtype)
    return t if device_ is None else t.to(device_)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor from a number, nested sequences, a NumPy array or a tensor. Always a copy.

    The dtype is the data's kind's: bool, int64, the default dtype for floats. Raises ValueError for ragged rows.

    >>> import facula
    >>> facula.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        _copied()
    return _finish(from_data(data, dtype, device), requires_grad)


def _copied():
    """What PyTorch says of tensor(tensor)."""
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than tensor(sourceTensor).",
        UserWarning,
        stacklevel=3,
    )


def as_tensor(data, dtype=None, device=None):
    """data as a tensor, sharing memory where it can."""
    if isinstance(data, Tensor):
        return data if dtype is None and device is None else data.to(device=device, dtype=dtype)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        from facula.tensor_core._interop import from_array

        t = from_array(data)
        return t if dtype is None and device is None else t.to(device=device, dtype=dtype)
    return from_data(data, dtype, device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """obj (a tensor, array, DLPack object, buffer, number or sequence) as a tensor that shares its memory where that can be.

    copy=True forces a copy, copy=False raises ValueError where one is needed.
    """
    if isinstance(obj, Tensor):
        shared = obj
    elif hasattr(obj, "__array_interface__"):
        from facula.tensor_core._interop import from_array

        shared = from_array(obj)
    elif hasattr(obj, "__dlpack__"):
        from facula.tensor_core._dlpack import from_dlpack

        shared = from_dlpack(obj)
    elif _is_buffer(obj):
        from facula.tensor_core._interop import frombuffer

        shared = frombuffer(obj, dtype=dtype or _state.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence into a tensor, and copy=False was asked. Leave copy out.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    wanted = shared.to(device=device, dtype=dtype) if dtype is not None or device is not None else shared
    if copy is False and wanted is not shared:
        raise ValueError(f"asarray: can't alias tensor with dtype {shared.dtype.name} on {shared.device} into {wanted.dtype.name} on {wanted.device}. Leave copy out.")
    if copy and wanted is shared:
        wanted = wanted.clone()
    if requires_grad:
        return _finish(wanted.detach(), True)
    return wanted


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def complex_(real, imag, *, out=None):
    """A complex tensor from its real and imaginary parts, both float32 or both float64."""
    if real.dtype is not imag.dtype:
        raise RuntimeError(f"complex: expected object of dtype {real.dtype} but got dtype {imag.dtype} for the second argument")
    if real.dtype.kind != 2:
        raise RuntimeError(f"complex: expected both inputs to be Half, Float or Double tensors but got {real.dtype.name}")
    t = _ops.add(real, _ops.mul(imag, 1j))
    if out is None:
        return t
    if out.dtype is not t.dtype:
        raise RuntimeError(f"complex: expected object of scalar type {t.dtype.name} but got scalar type {out.dtype.name} for argument 'out'")
    return out.resize_(t.shape).copy_(t)


__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "full", "full_like", "linspace", "logspace", "ones",
    "ones_like", "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip
_ = Size
