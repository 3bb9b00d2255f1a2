"""Tensors from Python's data: numbers, nested sequences, arrays, buffers and other tensors."""

import functools
import warnings

from facula.tensor_core import _state, _warned
from facula.tensor_core.memory import interop as _interop
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch.kinds import kinds_first
from facula.tensor_core.dispatch.run import fitting, is_array
from facula.tensor_core.functions.create import _finish, _kind_dtype, plain
from facula.tensor_core.memory.dlpack import from_dlpack
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import BY_CODE, device as _device


def _scan(data, shape, depth, flat):
    """Collect nested sequences into flat; the shape is fixed by the first element of every level."""
    if isinstance(data, Tensor):  # a row where the first element of its level is one, else a number
        if data.dim() and depth < len(shape):
            data = data.detach().unbind(0)
        elif data._origin is not None:
            _warned.has_history()
    if isinstance(data, (dict, set, bytes)):
        refused = TypeError if isinstance(data, bytes) else RuntimeError
        raise refused(f"Could not infer dtype of {type(data).__name__}: new(): invalid data type. Tensors hold numbers.")
    if flat and len(shape) == depth and hasattr(data, "__array__") and getattr(data, "ndim", 1) == 0:  # an array among numbers is one
        data = data[()]
    if isinstance(data, (list, tuple)) or (hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, Tensor))):
        if flat and len(shape) == depth:
            what = "new(): self-referential lists are incompatible: " if isinstance(data, list) and any(v is data for v in data) else ""
            raise TypeError(f"tensor: {what}expected a number at dim {depth}, as before it, got a {type(data).__name__} of length {len(data)}. Every row must have one depth.")
        if len(shape) == depth:
            shape.append(len(data))
        elif depth >= len(shape) or shape[depth] != len(data):
            raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)}). Every row must have one length.")
        if depth == 128:
            raise ValueError(f"too many dimensions {type(data).__name__!r}: self-referential lists are incompatible. Give numbers.")
        try:
            items = list(data) if isinstance(data, (list, tuple)) else [data[k] for k in range(len(data))]
        except Exception:
            raise ValueError(f"could not determine the shape of object type {type(data).__name__!r}. Its items cannot be read.") from None
        for item in items:
            _scan(item, shape, depth + 1, flat)
        return
    if not isinstance(data, Tensor) and hasattr(data, "__array__") and getattr(data, "ndim", 0):
        _scan(data.tolist(), shape, depth, flat)
        return
    if isinstance(data, str):
        if depth and not flat:
            raise ValueError(f"too many dimensions 'str': {data!r}. Tensors hold numbers.")
    elif depth != len(shape):
        raise TypeError(f"not a sequence: expected one of length {shape[depth]} at dim {depth}, got {data!r}. Every row must have one length.")
    flat.append(data)


def _item(t, dtype):
    """The number in t, on its way to a tensor of dtype."""
    if t.numel() != 1:
        refused = TypeError if dtype._kind < 2 else ValueError
        raise refused(f"only one element tensors can be converted to Python scalars, got one of shape {tuple(t.shape)}. Use facula.stack for others.")
    if dtype._kind < 2 <= t.dtype._kind:
        raise TypeError(f"only integer tensors of a single element can be converted to an index, got {t.dtype} on the way to {dtype}. Convert it with .to({dtype}).")
    return t.item()


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


def _all_numbers(data, depth):
    """RuntimeError for the first thing in nested lists that is no number."""
    if isinstance(data, (list, tuple)):
        for item in data if depth < 128 else ():
            _all_numbers(item, depth + 1)
    elif not isinstance(data, (Tensor, bytes)) and not hasattr(data, "__array__"):
        _number(data)


def _kind(value):
    return 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2 if isinstance(value, float) else 3


def _dtype_without_numbers(data):
    """The dtype of nested sequences that hold none: of the empty arrays among them, the default one of empty lists."""
    if hasattr(data, "__array__"):
        return _interop.dtype_of(data)
    dtypes = [_dtype_without_numbers(data[k]) for k in range(len(data))]
    return functools.reduce(_state.promote_types, dtypes) if dtypes else _state.get_default_dtype()


def from_data(data, dtype, device_):
    """A new tensor from numbers, nested sequences, arrays or tensors: always a copy, but over the memory of a storage, as in PyTorch."""
    dtype = as_dtype(dtype)
    if device_ is None:
        device_ = _state.elsewhere()
    t = lib.from_numbers(data, -1 if dtype is None else dtype._id)
    if t is not None:  # plain numbers: the common case
        return t if device_ is None else t.to(device=device_)
    if isinstance(data, Tensor):
        data = data.detach()
        t = own_tensor(lib.fc_to(data._h, lib.fc_dtype(data._h) if dtype is None else dtype._id, 1, 1))
        return t if device_ is None else t.to(device=device_)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        if dtype is not None and not is_array(data):  # a number: NumPy's wrap, as arrays
            fitting("tensor", data, dtype)
        t = _interop.from_array(data, copy=True)
        t = t if dtype is None else t.to(dtype)
        return t if device_ is None else t.to(device=device_)
    if hasattr(data, "__dlpack__") and not hasattr(data, "untyped"):
        return from_data(from_dlpack(data), dtype, device_)
    if isinstance(data, list) and data and type(data[0]).__module__ == "numpy" and getattr(data[0], "ndim", 0):
        _warned.once("Creating a tensor from a list of numpy.ndarrays is extremely slow. Convert the list to a single one first, with numpy.array().", stacklevel=3)
    if hasattr(data, "untyped"):
        from facula.tensor_core.memory.storage import over

        t = over(data, dtype or (_state.get_default_dtype() if hasattr(data, "dtype") else BY_CODE["<i8"]))
        return t if device_ is None else t.to(device=device_)
    shape, flat = [], []
    try:
        _scan(data, shape, 0, flat)
        numbers = [v if isinstance(v, Tensor) else _number(v) for v in flat]
    except RuntimeError as error:  # what has no dtype: where one is given it is no number
        raise (error if dtype is None else TypeError(str(error))) from None
    except TypeError:
        if dtype is None:  # of rows that are no rectangle PyTorch first says what has no dtype
            _all_numbers(data, 0)
        raise
    if dtype is None:
        if any(hasattr(v, "dtype") for v in flat):
            for v, n in zip(flat, numbers):
                own = v.dtype if isinstance(v, Tensor) else _interop.dtype_of(v) if hasattr(v, "dtype") else _kind_dtype(_kind(n))
                dtype = own if dtype is None or dtype is own else _state.promote_types(dtype, own)
        else:
            dtype = _kind_dtype(max(map(_kind, numbers))) if numbers else _dtype_without_numbers(data)
    numbers = [_item(n, dtype) if isinstance(n, Tensor) else n for n in numbers]
    if dtype._kind == 0:
        numbers = [n != 0 for n in numbers]
    from facula.tensor_core.memory.pack import pack

    t = pack(numbers, shape, dtype)
    return t if device_ is None else t.to(device=device_)


_PLACES = (type(None), str, _device)  # what says where at a glance


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor from a number, nested sequences, a NumPy array or a tensor. Always a copy.

    The dtype is the data's kind's: bool, int64, the default dtype for floats. Raises ValueError for ragged rows.

    >>> import facula
    >>> facula.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if pin_memory:
        plain(None, pin_memory)
    if type(device) not in _PLACES or requires_grad is not False and requires_grad is not True:
        kinds_first("tensor", dtype=dtype, device=device, requires_grad=requires_grad)
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
    """data as a tensor, sharing memory where it can.

    >>> x = facula.tensor([1, 2])
    >>> facula.as_tensor(x) is x
    True
    >>> facula.as_tensor([1, 2], dtype=facula.float32)
    tensor([1., 2.])
    """
    if device is None:
        device = _state.elsewhere()
    elif type(device) not in _PLACES:
        kinds_first("as_tensor", dtype=dtype, device=device)
    if isinstance(data, Tensor):
        return data if dtype is None and device is None else data.to(device=device, dtype=dtype)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        t = _interop.from_array(data)
        return t if dtype is None and device is None else t.to(device=device, dtype=dtype)
    return from_data(data, dtype, device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """obj (a tensor, array, DLPack object, buffer, number or sequence) as a tensor that shares its memory where that can be.

    copy=True forces a copy, copy=False raises ValueError where one is needed.
    requires_grad: None leaves that of a tensor, and its history; False gives a result without history, or makes a leaf a constant.

    >>> facula.asarray([1, 2])
    tensor([1, 2])
    >>> facula.asarray(bytearray([1, 2]), dtype=facula.uint8)
    tensor([1, 2], dtype=torch.uint8)
    """
    if device is None:
        device = _state.elsewhere()
    if isinstance(obj, Tensor):
        shared = obj
    elif type(obj).__module__ == "numpy" and not hasattr(obj, "__setitem__"):
        if copy is False:
            raise RuntimeError(f"asarray: can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray, got {obj!r}.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    elif hasattr(obj, "__array_interface__"):
        shared = _interop.from_array(obj)
    elif hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        shared = from_dlpack(obj)
    elif _is_buffer(obj):
        from facula.tensor_core.memory.interop import frombuffer

        shared = frombuffer(obj, dtype=dtype or _state.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("asarray: can't alias arbitrary sequence into a tensor, and copy=False was asked. Leave copy out.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    wanted = shared.to(device=device, dtype=dtype) if dtype is not None or device is not None else shared
    if copy is False and wanted is not shared:
        raise ValueError(f"asarray: can't alias tensor with dtype '{shared.dtype._scalar_type}' into dtype '{wanted.dtype._scalar_type}', from device '{shared.device}' to '{wanted.device}'. Leave copy out.")
    if copy and wanted is shared:
        wanted = wanted.clone()
    if requires_grad is None or wanted.requires_grad == bool(requires_grad):
        return wanted
    return _finish(wanted, True) if requires_grad else wanted.requires_grad_(False) if wanted.is_leaf else wanted.detach()


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


__all__ = ["as_tensor", "asarray", "tensor"]
