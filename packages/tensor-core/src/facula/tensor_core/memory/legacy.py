"""PyTorch's old constructors: `Tensor(...)`, `FloatTensor(...)` and their like, called with sizes, data, a tensor or a storage."""


from facula.tensor_core import _state, _types, _warned
from facula.tensor_core.dispatch.run import is_array, is_number
from facula.tensor_core.functions import create as _create
from facula.tensor_core.memory import data as _data
from facula.tensor_core._tensor import Tensor, make_subclass

_TYPES = {
    "FloatTensor": _types.float32, "DoubleTensor": _types.float64, "HalfTensor": _types.float16, "BFloat16Tensor": _types.bfloat16,
    "LongTensor": _types.int64, "IntTensor": _types.int32, "ShortTensor": _types.int16, "CharTensor": _types.int8,
    "ByteTensor": _types.uint8, "BoolTensor": _types.bool_,
}  # fmt: skip


def made(name, data, dtype, device=None):
    """Sizes: unset memory; a sequence: its values; an array, tensor or storage of this dtype: its memory. On the CPU, whatever the default device."""
    from facula.tensor_core.memory.storage import TypedStorage, UntypedStorage, over

    if device is not None and _types.device(device).type != "cpu":
        raise RuntimeError(f"{name}: legacy constructor expects device type: cpu but device type: {device} was passed. Use facula.empty(..., device=...).")
    if not data:
        return _create.empty(0, dtype=dtype, device="cpu")
    first = data[0]
    if first is None:
        raise TypeError(f"{name}: new(): data must be a sequence (got NoneType). Give sizes or numbers.")
    if len(data) == 1 and isinstance(first, Tensor):
        if device is not None:
            raise RuntimeError(f"{name}: legacy tensor constructor of the form {name}(tensor, device=device) is not supported. Use facula.tensor(...) or facula.as_tensor(...).")
        if first.dtype is not dtype and name != "Tensor":
            raise TypeError(f"{name}: expected a tensor of dtype {dtype} but got {first.dtype}. Convert it with .to({dtype}).")
        return first.detach()
    if len(data) == 1 and isinstance(first, (TypedStorage, UntypedStorage)):
        return over(first, dtype)
    if len(data) == 1 and (isinstance(first, (float, complex)) or not hasattr(first, "__len__") and is_number(first) and not hasattr(first, "__index__")):
        raise TypeError(f"{name}: new(): data must be a sequence (got {type(first).__name__}). Use facula.tensor({first}).")
    if len(data) == 1 and is_array(first) and (first.ndim or first.dtype.kind not in "iu"):
        return (_data.as_tensor if first.flags.writeable else _data.tensor)(first, dtype=dtype, device="cpu")
    if len(data) == 1 and (not hasattr(first, "__index__") or getattr(first, "ndim", 0)) and not isinstance(first, _types.Size):
        return _data.tensor(first, dtype=dtype, device="cpu")
    return _create.empty(*data, dtype=dtype, device="cpu")


def construct(cls, *data, size=None, device=None):
    """Tensor(2, 3): uninitialised of that size; Tensor([1, 2]): those values; Tensor(other): its memory."""
    t = made("Tensor", data if size is None else tuple(size), _state.get_default_dtype(), device)
    return t if cls is Tensor else make_subclass(cls, t)


def new(self, *data, size=None, device=None):
    """Tensor(...) with this tensor's dtype.

    >>> facula.ones(1, dtype=facula.float64).new([1, 2]).dtype
    torch.float64
    """
    return made("new", data if size is None else tuple(size), self.dtype, device)


class _TensorType(type):
    """Metaclass of FloatTensor and its like: names of Tensor with a dtype."""

    def __new__(meta, name, bases, names):
        if bases:
            raise TypeError(f"{name}: type 'torch.{bases[0].__name__}' is not an acceptable base type. Make it of facula.Tensor.")
        return type.__new__(meta, name, bases, names)

    def __instancecheck__(cls, thing):
        return isinstance(thing, Tensor) and thing.dtype is cls.dtype and not thing.is_meta

    def __call__(cls, *data, device=None):
        return made(cls.__name__, data, cls.dtype, device)


TYPES = {name: _TensorType(name, (), {"dtype": d, "__module__": "facula", "__doc__": f"Tensors of {d}, called like the old constructor.\n\n>>> facula.{name}([0, 1]).dtype\n{d}\n"}) for name, d in _TYPES.items()}
globals().update(TYPES)


def set_default_tensor_type(t):
    """Set the default dtype by a tensor type or its name, such as FloatTensor. Raises TypeError for what is none.

    >>> facula.set_default_tensor_type(facula.DoubleTensor)
    >>> facula.ones(1).dtype
    torch.float64
    >>> facula.set_default_tensor_type("torch.FloatTensor")
    """
    found = TYPES.get(t.rpartition(".")[2]) if isinstance(t, str) else t
    if found not in TYPES.values():
        raise TypeError(f"set_default_tensor_type: invalid type object {t!r}. Use facula.set_default_dtype.")
    _warned.once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    _state.set_default_dtype(found.dtype)


METHODS = ["new"]
__all__ = [*TYPES, "set_default_tensor_type"]
