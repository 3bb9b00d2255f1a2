"""NumPy in and out without copying, and conversions of dtype, device and memory format."""

import builtins
import itertools
import weakref

from facula.tensor_core import _ops, _tensor, _warned
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch import slow
from facula.tensor_core._lib import address, lib, pointer
from facula.tensor_core._tensor import Tensor, _owners, own_tensor
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_tensor
from facula.tensor_core._types import ALIASES, BY_CODE, BY_NAME, BY_SCALAR_TYPE, DEVICES, DTYPES, device, dtype, format_id, memory_format, no_backend

_dtype, _device = dtype, device  # where a parameter has the name
_CPU = DEVICES[0]

borrow_ids = itertools.count(1)  # numbers of the owners of borrowed memory
lib.lend_by(_owners, borrow_ids)
_asarray = _ndarray = None  # NumPy's, once it was needed


def borrow(owner, data, nbytes, writable, d, shape, stride, offset=0):
    """A tensor over memory that `owner` keeps alive until the tensor's storage goes."""
    id = next(borrow_ids)
    _owners[id] = owner
    h = lib.fc_from_memory(pointer(data), nbytes, id, writable, d._id, len(shape), list(shape), list(stride), offset)
    if not h:
        del _owners[id]
        raise RuntimeError(f"from_memory: a tensor of shape {tuple(shape)} cannot be made over this memory")
    return own_tensor(h)


def owner_of(t):
    """What keeps the memory of a tensor that borrows it alive; None where the memory is its own."""
    return _owners.get(lib.fc_storage_owner(t._h))


def from_numpy(ndarray):
    """A tensor over a NumPy array's memory; a write to one shows in the other.

    Raises TypeError for what is no array, and for dtypes that no tensor has.

    >>> import facula, numpy
    >>> facula.from_numpy(numpy.arange(3))
    tensor([0, 1, 2])
    """
    if ndarray.__class__ is _ndarray and (t := lib.from_array(ndarray)) is not None:
        return t
    import numpy

    globals()["_ndarray"] = numpy.ndarray
    if not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {ndarray.__class__.__name__})")
    return from_array(ndarray)


def dtype_of(a):
    """The dtype of NumPy's array or number `a`, of either byte order. Raises TypeError where no tensor has it."""
    d = BY_CODE.get(a.dtype.newbyteorder("<").str if a.dtype.byteorder == ">" else a.dtype.str)
    if d is None:
        names = ", ".join(x._name for x in DTYPES if x._code)
        raise TypeError(f"can't convert np.ndarray of type numpy.{a.dtype}. The only supported types are: {names}.")
    return d


def from_array(array, copy=False):
    """A tensor from anything with the array interface; memory is shared unless copy, or unless strides forbid it."""
    if array.__class__ is _ndarray and (t := lib.from_array(array)) is not None:
        return lib.to(t._h, lib.fc_dtype(t._h), 1, 1) if copy else t
    import numpy

    globals()["_ndarray"] = numpy.ndarray
    a = numpy.asarray(array)
    d = dtype_of(a)
    if a.dtype.byteorder == ">":
        if not copy:
            raise ValueError("given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.")
        a = a.astype(a.dtype.newbyteorder("="))
    if any(s % d.itemsize for s in a.strides):
        if not copy:
            raise ValueError("given numpy array strides not a multiple of the element byte size. Copy array to reallocate the memory.")
        a = a.copy()
    if any(s < 0 for s in a.strides):
        if not copy:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
                "(You can probably work around this by making a copy of your array  with array.copy().) "
            )
        a = a.copy()
    t = borrow(a, a.__array_interface__["data"][0], a.nbytes, bool(a.flags.writeable), d, a.shape, [s // d.itemsize for s in a.strides])
    if copy:
        return own_tensor(lib.fc_to(t._h, d._id, 1, 1))
    if not a.flags.writeable:
        _warned.once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors: writes to this tensor are refused.", stacklevel=3)
    return t


def beside_array(tensor, array, division=False):
    """A tensor and an array as two tensors of the dtype that NumPy has for the two: PyTorch leaves such an operator to NumPy."""
    other = from_array(array)
    if tensor.dtype is BY_NAME["bfloat16"]:  # which NumPy lacks
        return tensor, other
    import numpy

    common = numpy.result_type(tensor.dtype._code, array.dtype)
    d = BY_CODE["<f8" if division and common.kind in "biu" else common.str]
    return tuple(t if t.dtype is d else _ops.copy(t, d) for t in (tensor, other))


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor over a buffer's memory, from byte `offset` on.

    >>> facula.frombuffer(bytearray([1, 0, 2, 0]), dtype=facula.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError(f"frombuffer: object does not implement Python buffer protocol: {buffer.__class__.__name__}. Give bytes, a bytearray or an array.") from None
    if not view.c_contiguous or view.format == "O":
        what = "it holds references to objects" if view.format == "O" else f"it is not contiguous (strides {view.strides} of bytes)"
        raise RuntimeError(f"frombuffer: could not retrieve buffer from object: {what}. Copy it first.")
    size = view.nbytes - offset
    if view.nbytes == 0 or count == 0:
        raise ValueError(f"both buffer length ({view.nbytes}) and count ({count}) must not be 0")
    if offset < 0 or offset >= view.nbytes:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({view.nbytes} bytes) minus 1")
    if count < 0:
        if size % dtype.itemsize:
            raise ValueError(f"buffer length ({size} bytes) after offset ({offset} bytes) must be a multiple of element size ({dtype.itemsize})")
        count = size // dtype.itemsize
    if count * dtype.itemsize > size:
        raise ValueError(f"requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) must not be greater than actual buffer length ({view.nbytes} bytes)")
    from facula.tensor_core._lib import bytes_of

    if view.readonly:
        _warned.once("The given buffer is not writable, and PyTorch does not support non-writable tensors: writes to this tensor are refused.")
    data = bytes_of(view)
    t = borrow((view, data), address(data) + offset, size, not view.readonly, dtype, (count,), (1,))
    if requires_grad:
        t.requires_grad = True
    return t


def numpy(self, *, force=False):
    """The tensor as a NumPy array over the same memory.

    Raises RuntimeError for a tensor that requires grad (unless force, or where nothing is recorded) or is a conjugate or negative view (unless force), TypeError for bfloat16, which NumPy lacks.

    >>> x = facula.zeros(2)
    >>> x.numpy()[0] = 5
    >>> x
    tensor([5., 0.])
    """
    if self.requires_grad and not force and _recording():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if _tensor.leaving is None and _asarray is not None and (view := lib.lent_view(self)) is not None:
        return _asarray(view)
    if not force:
        _refuse_lazy(self)
    return lent_array(self)


def _recording():
    from facula.tensor_core.extend import grad_mode

    return grad_mode()


def _refuse_lazy(t):
    if lazy := lib.fc_lazy(t._h):
        bit, cure = ("conjugate", "conj") if lazy & 1 else ("negative", "neg")
        raise RuntimeError(f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{cure}().numpy() instead.")


class _View:
    """A tensor that NumPy may look into for good: nobody else has it."""

    def __init__(self, tensor):
        self.__array_interface__ = lib.array_interface(tensor)
        self.tensor = tensor


_looked_into = {}  # id of a tensor whose array interface was read -> (weak reference to it, aliases of the storages it had then)


@property
def __array_interface__(self):
    """The array interface, version 3: how NumPy and others find the tensor's elements where they lie (shape, strides in bytes, address).

    AttributeError where NumPy cannot look into the memory, or should not: dtypes it lacks, meta and empty tensors, tensors that require grad,
    lazily conjugated ones and those inside a transform. It then asks `__array__`, which says why.

    >>> facula.zeros(2, 3).__array_interface__["strides"]
    (12, 4)
    """
    described = None if self.requires_grad or _tensor.leaving is not None else lib.array_interface(self)
    if described is None:
        raise AttributeError(f"__array_interface__: a tensor of {self.dtype._name} on {self.device} of shape {tuple(self.shape)} has none as it is. Ask numpy().")
    lib.fc_lend(self._h)
    _keep_storage(self)
    return described


def _keep_storage(t):
    """As long as t lives its storage of now does: arrays keep t, which set_() and .data = can point elsewhere."""
    key = id(t)
    here = _looked_into.get(key)
    if here is None:
        here = _looked_into[key] = weakref.ref(t, lambda _: _looked_into.pop(key)), []
    _, storages = here
    if not storages or not lib.fc_same_storage(storages[-1]._h, t._h):
        storages.append(own_tensor(lib.fc_alias(t._h, 0)))


def to_array(tensor):
    if _tensor.leaving is not None:
        _tensor.leaving(tensor, "numpy")
    if (view := lib.array_view(tensor)) is not None and _asarray is not None:
        return _asarray(view)
    import numpy

    globals()["_asarray"] = numpy.asarray
    if not tensor.dtype._code:
        raise TypeError(f"Got unsupported ScalarType {tensor.dtype._scalar_type}: NumPy has no such dtype. Convert with .float() first.")
    if tensor.is_meta:
        raise TypeError("can't convert meta device type tensor to numpy: it has no elements.")
    if tensor.numel() == 0:
        return numpy.empty(tuple(tensor.shape), tensor.dtype._code)
    alone = own_tensor(lib.fc_resolve(tensor._h) if lib.fc_lazy(tensor._h) else lib.fc_alias(tensor._h, 0))
    return numpy.asarray(_View(alone))


def lent_array(tensor):
    """An array that a user keeps: the tensor's bytes stay where they are from now on."""
    lib.fc_lend(tensor._h)
    return to_array(tensor)


def to_numpy(self):
    """numpy(): the name that pandas and matplotlib look for.

    >>> facula.tensor([1, 2]).to_numpy()
    array([1, 2])
    """
    return numpy(self)


def __array__(self, dtype=None, copy=None):
    _refuse_lazy(self)
    a = lent_array(self.detach()) if not self.requires_grad else numpy(self)
    if dtype is not None:
        b = a.astype(dtype, copy=False)
        if copy is False and b is not a and b.dtype != a.dtype:
            raise ValueError(f"__array__: a copy is needed to convert {a.dtype} to {dtype}, and copy=False was asked.")
        a = b
    return a.copy("K") if copy else a  # in the order of the tensor's memory, as a copy of NumPy's


def __array_wrap__(self, array, context=None, return_scalar=False):
    """What a function of NumPy's made of this tensor, as a tensor; truth values as uint8, as PyTorch has them."""
    return wrapped_truth(from_array(array)) if hasattr(array, "dtype") else array


def wrapped_truth(t):
    """A result of NumPy's: truth values as uint8."""
    return t if t.dtype._kind else _ops.copy(t, BY_NAME["uint8"])


def _parse(args):
    """dtype and device from to()'s positional arguments."""
    d = place = None
    for a in args:
        if isinstance(a, dtype):
            d = a
        elif isinstance(a, Tensor):
            d, place = a.dtype, a.device
        elif isinstance(a, builtins.type):
            d = as_dtype(a)
        elif isinstance(a, (str, device, int)) and not isinstance(a, bool):
            place = device(a)
        elif a is not None and not isinstance(a, bool):
            raise TypeError(f"to() received an invalid combination of arguments: {a.__class__.__name__} {a!r} is neither dtype, device nor Tensor")
    return d, place


_OF_NUMBERS = {bool: BY_NAME["bool"], float: BY_NAME["float64"], complex: BY_NAME["complex128"]}  # a number stands for a tensor of it, but that an int is a device
_WANTED = {Tensor, _dtype, _device, str, int, bool, builtins.type, builtins.type(None)}


def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None, tensor=None):
    """The tensor in another dtype, on another device, or in another memory format; itself when nothing changes.

    >>> import facula
    >>> facula.tensor([1.7]).to(facula.int64)
    tensor([1])
    """
    if len(args) == 1 and dtype is device is memory_format is tensor is None and copy is False:
        wanted = args[0]
        if wanted.__class__ is _dtype:
            if (own := self.dtype) is wanted:
                return self
            if own._kind == 3:
                _warned.discarded(self, wanted)
            return _ops.copy(self, wanted, 1)
        if wanted.__class__ is Tensor and wanted.device is self.device:
            return self if self.dtype is wanted.dtype else _ops.copy(self, wanted.dtype, 1)
        if (wanted.__class__ is str and wanted == "cpu" or wanted.__class__ is _device and wanted.type == "cpu") and self.device is _CPU:
            return self
    if not args and (device == "cpu" if device.__class__ is str else device.__class__ is _device and device.type == "cpu") and memory_format is tensor is None and copy is False and self.device is _CPU:
        if dtype is None or dtype.__class__ is _dtype:
            if dtype is None or (own := self.dtype) is dtype:
                return self
            if own._kind == 3:
                _warned.discarded(self, dtype)
            return _ops.copy(self, dtype, 1)
    if (args[0] if args else dtype if device is None else device).__class__ not in _WANTED and (relevant := overriding((*args, device, dtype))):
        return ask_method("to", relevant, self, *args, **{name: value for name, value in (("device", device), ("dtype", dtype)) if value is not None})
    for name, value in () if non_blocking is copy is False else (("non_blocking", non_blocking), ("copy", copy)):
        if value is not True and value is not False:
            raise TypeError(f"to(): argument '{name}' must be bool, not {value.__class__.__name__}. Write True or False.")
    if len(args) > 1 and any([a.__class__ is int for a in args[1:]]):
        raise TypeError(f"to() received an invalid combination of arguments: an int where a bool or a memory format is wanted, {args}. Write True or False.")
    if args and args[0].__class__ in _OF_NUMBERS:
        args = (_OF_NUMBERS[args[0].__class__], *args[1:])
    flags = args[1:]
    if flags and not isinstance(args[0], (_dtype, Tensor, builtins.type)):  # a device, a dtype
        if flags[0] is not None:
            check("to", "dtype", 1, "dtype", flags[0])
        flags = flags[1:]
    if len(flags) > 2:
        raise TypeError(f"to() received an invalid combination of arguments: {len(args)} by position. Behind copy write memory_format=.")
    for name, value in zip(("non_blocking", "copy"), flags):
        if value is not True and value is not False:
            raise TypeError(f"to(): argument '{name}' (position {len(args) - len(flags) + 1}) must be bool, not {value.__class__.__name__}. Write True or False.")
    if device is not None and device.__class__ is not str and device.__class__ is not _device:
        check("to", "device", None, "device", device)
    if tensor is not None:
        want_tensor("to", "tensor", None, tensor)
    copy = copy or len(flags) > 1 and flags[1]
    d, place = _parse((*args, tensor, as_dtype(dtype), device))
    if args[:1] and args[0].__class__ is int or device.__class__ is int:
        raise RuntimeError(f"to(): Cannot access accelerator device when none is available: device {place.index}. Use device='cpu'.")
    if place is not None and place.type not in ("cpu", "meta"):
        raise no_backend(place.type, made=False)
    d = self.dtype if d is None else d
    fmt = 1 if memory_format is None else format_id("to", memory_format)
    if place is not None and place._place != lib.fc_device(self._h):
        if self.is_meta:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        from facula.tensor_core.memory.resize import on_meta

        there = own_tensor(lib.fc_empty_like(on_meta(self)._h, d._id, fmt))
        if self._origin is not None and d._kind >= 2:
            slow.tape.without(there, self, "to")
        return there
    if not copy and d is self.dtype and (fmt == 1 or lib.fc_suggested_format(self._h) == fmt):
        return self
    if self.dtype._kind == 3:
        _warned.discarded(self, d)
    return _ops.copy(self, d, fmt)


def channels_last_strides(shape):
    """The strides of channels_last and channels_last_3d: dim 1 is the fastest, dim 0 the slowest."""
    stride, run = [0] * len(shape), 1
    for d in (1, *range(len(shape) - 1, 1, -1), 0):
        stride[d] = run
        run *= max(shape[d], 1)
    return tuple(stride)


def type(self, dtype=None, non_blocking=False):
    """The tensor's type as a string, or the tensor in another dtype.

    >>> facula.tensor([1.0]).type()
    'torch.FloatTensor'
    >>> facula.tensor([1.0]).type(facula.int64)
    tensor([1])
    """
    if non_blocking is not False:
        check("type", "non_blocking", 1, "bool", non_blocking)
    if dtype is None:
        return f"torch.{'meta.' if self.is_meta else ''}{self.dtype._scalar_type}Tensor"
    if dtype == "torch.Tensor":
        dtype = Tensor
    if isinstance(dtype, str):
        word = dtype.removeprefix("torch.").removesuffix("Tensor")
        if word not in BY_SCALAR_TYPE:
            raise ValueError(f"invalid type: '{dtype}'. Write it like 'torch.FloatTensor'.")
        dtype = BY_SCALAR_TYPE[word]
    if dtype is Tensor:
        from facula.tensor_core._state import get_default_dtype

        dtype = get_default_dtype()
    wanted = dtype if isinstance(dtype, _dtype) else getattr(dtype, "dtype", None)
    if not isinstance(wanted, _dtype):
        if isinstance(dtype, builtins.type):
            raise ValueError(f"type: invalid type: {dtype.__name__!r}. Write it like torch.float32.")
        raise TypeError(f"type: dtype must be a type, str, or dtype object, got {dtype!r}. Write it like torch.float32.")
    return to(self, wanted)


def contiguous(self, *, memory_format=None):
    """The tensor itself if it lies in memory in the order of its dims (or the memory format), else a copy that does.

    >>> x = facula.zeros(2, 3).t()
    >>> x.is_contiguous(), x.contiguous().is_contiguous()
    (False, True)
    """
    fmt = 0 if memory_format is None else format_id("contiguous", memory_format)
    if fmt == 1 and not self.is_contiguous():
        raise RuntimeError("contiguous: preserve memory format is unsupported by the contiguous operator. Name the format, or use clone().")
    return self if lib.fc_is_contiguous(self._h, fmt) else _ops.copy(self, None, fmt)


def cpu(self, *, memory_format=None):
    """The tensor on the CPU.

    >>> facula.tensor([1, 2]).cpu()
    tensor([1, 2])
    """
    return self if memory_format is None and self.device is _CPU else to(self, "cpu")


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """A copy in the memory of a GPU. Raises AssertionError: there is none.

    >>> facula.ones(2).cuda()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled: this build of facula has no CUDA backend. Use device='cpu'.
    """
    kinds_first("cuda", device=device)
    if isinstance(device, (str, _device)) and _device(device).type != "cuda":
        raise RuntimeError(f"cuda: Invalid device, must be cuda device, got {device}. Use to() for others.")
    return to(self, "cuda")


def _converter(name, d):
    def convert(self, memory_format=None):
        try:
            if memory_format is None:
                if (own := self.dtype) is d:
                    return self
                if own._kind == 3:
                    _warned.discarded(self, d)
                return _ops.copy(self, d, 1)
            return to(self, d, memory_format=memory_format)
        except AttributeError:
            want_tensor(name, "input", 0, self)
            raise

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"to(facula.{d._name}).\n\n    >>> facula.tensor([0, 1]).{name}().dtype\n    torch.{d._name}\n    "
    return convert


CONVERTERS = {n: _converter(n, d) for n, d in {**ALIASES, "bool": DTYPES[0], "byte": BY_NAME["uint8"], "char": BY_NAME["int8"], "bfloat16": BY_NAME["bfloat16"]}.items()}
__all__ = ["from_numpy", "frombuffer"]
METHODS = ["__array__", "__array_interface__", "to_numpy", "__array_wrap__", "contiguous", "cpu", "cuda", "numpy", "to", "type"]
_ = memory_format
