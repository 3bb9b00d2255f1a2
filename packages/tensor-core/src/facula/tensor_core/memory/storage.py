"""Storages: the memory that tensors look into, as bytes (UntypedStorage) or as elements (TypedStorage, FloatStorage and its like)."""

import copy
from weakref import WeakValueDictionary

from facula.tensor_core import _ops, _types, _warned
from facula.tensor_core.functions import create as _create
from facula.tensor_core.memory import data as _data
from facula.tensor_core.functions.conjugate import bare
from facula.tensor_core.memory.interop import borrow, owner_of, to
from facula.tensor_core.memory.resize import resize_storage
from facula.tensor_core._lib import address, buffer, lib
from facula.tensor_core.memory.storage_bytes import from_buffer, from_file, mapped, swapped
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._torch_names import STORAGES

_known = WeakValueDictionary()  # storage number -> its UntypedStorage: a tensor's storage is one object while somebody holds it


def _flat(tensor):
    """All bytes of a tensor's storage, as a uint8 tensor over them."""
    h, size = tensor._h, tensor.dtype.itemsize
    view = own_tensor(lib.fc_alias(h, 0))
    lib.fc_epoch_refresh(view._h)
    whole = _ops.as_strided(bare(view), (lib.fc_storage_bytes(h) // size,), (1,), 0)
    return own_tensor(lib.fc_view_op(_VIEW_DTYPE, whole._h, _types.uint8._id, 0, 0, 0))


_VIEW_DTYPE = _ops.BY_NAME["view_dtype"].id


def of(tensor):
    """The UntypedStorage of a tensor."""
    number = lib.fc_storage_id(tensor._h)
    found = _known.get(number)
    if found is None:
        found = _known[number] = UntypedStorage.__new__(UntypedStorage)
        found._bytes = _flat(tensor)
    return found


def raw(storage):
    """A writable buffer over the storage's bytes."""
    h = storage._bytes._h
    if storage.device.type == "meta":
        raise NotImplementedError("Not available for 'Meta' device: a storage there has no bytes.")
    return memoryview(buffer(lib.fc_storage_data(h), lib.fc_storage_bytes(h))).cast("B") if lib.fc_storage_bytes(h) else memoryview(bytearray())


class _Common:
    """What both kinds of storage do."""

    is_cuda = is_sparse = is_hpu = is_sparse_csr = False

    @property
    def device(self):
        """Where the memory is."""
        return self._bytes.device

    def get_device(self):
        return -1

    def data_ptr(self):
        """Address of the first byte."""
        return address(lib.fc_storage_data(self._bytes._h))

    def is_shared(self):
        """Is it in memory that forked processes share?"""
        from facula.tensor_core.memory import shared as _shared

        return _shared.is_shared(self._bytes._h)

    def share_memory_(self):
        """Moved to memory that processes forked from here on share; tensors over it follow. In place."""
        from facula.tensor_core.memory import shared as _shared

        _shared.share_memory_(self._bytes)
        return self

    def is_pinned(self, device="cuda"):
        return False

    def cpu(self):
        """Itself: it is on the CPU."""
        if self.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return self

    def _there(self):
        """Refuse storages without memory."""
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type: it has no elements.")

    def tolist(self):
        """All elements as Python numbers."""
        return self._elements().tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __copy__(self):
        return self.clone()

    def __repr__(self):
        lines = " " + "\n ".join(str(v) for v in self.tolist()) if self.device.type != "meta" else "..."
        return f"{lines}\n[{self._title()} of size {len(self)}]"

    def __deepcopy__(self, memo):
        copied = memo.get(id(self))
        if copied is None:
            copied = memo[id(self)] = self.clone()
        return copied

    def _index(self, k):
        n = len(self)
        if not hasattr(k, "__index__"):
            raise TypeError(f"can't index a {type(self).__name__} with {type(k).__name__}. Use an int.")
        if not -n <= k < n:
            raise IndexError(f"index {k} out of range for storage of size {n}")
        return k % n

    def _converter(name, dtype):  # noqa: N805 - makes the methods below
        def convert(self):
            return TypedStorage(wrap_storage=of(to(self._elements(), dtype, copy=True)), dtype=dtype)

        convert.__name__, convert.__doc__ = name, f"A copy with elements of {dtype}."
        return convert

    double, float, half = _converter("double", _types.float64), _converter("float", _types.float32), _converter("half", _types.float16)
    long, int, short = _converter("long", _types.int64), _converter("int", _types.int32), _converter("short", _types.int16)
    char, byte, bool = _converter("char", _types.int8), _converter("byte", _types.uint8), _converter("bool", _types.bool_)
    bfloat16, complex_float = _converter("bfloat16", _types.bfloat16), _converter("complex_float", _types.complex64)
    complex_double = _converter("complex_double", _types.complex128)
    float8_e4m3fn, float8_e5m2 = _converter("float8_e4m3fn", _types.float8_e4m3fn), _converter("float8_e5m2", _types.float8_e5m2)
    float8_e4m3fnuz, float8_e5m2fnuz = _converter("float8_e4m3fnuz", _types.float8_e4m3fnuz), _converter("float8_e5m2fnuz", _types.float8_e5m2fnuz)


class UntypedStorage(_Common):
    """Memory as bytes: UntypedStorage(nbytes), or UntypedStorage([1, 2, 255]). Tensors over it see what is written to it.

    >>> facula.UntypedStorage([1, 2, 255]).nbytes()
    3
    """

    def __init__(self, *data, device=None):
        if len(data) > 1:
            raise TypeError(f"UntypedStorage() takes a size or a sequence, got {len(data)} arguments.")
        values = data[0] if data else 0
        if hasattr(values, "__index__") and not isinstance(values, Tensor):
            if values < 0:
                raise RuntimeError(f"UntypedStorage: the size must not be negative, got {values}.")
            self._bytes = _create.empty(values, dtype=_types.uint8, device=device or "cpu")
        elif hasattr(values, "__len__") and not isinstance(values, (str, Tensor)):
            self._bytes = _data.tensor([v & 255 for v in values], dtype=_types.uint8, device=device or "cpu")
        else:
            raise TypeError(f"UntypedStorage: invalid data type {type(values).__name__!r}. Give a size or a sequence of ints.")
        _known[lib.fc_storage_id(self._bytes._h)] = self

    def _elements(self):
        return _ops.as_strided(self._bytes, (len(self),), (1,), 0)

    def _title(self):
        return f"torch.storage.UntypedStorage(device={self.device})"

    @property
    def filename(self):
        """The file whose bytes a shared storage maps; None for others."""
        return getattr(owner_of(self._bytes), "filename", None)

    @property
    def _cdata(self):
        return lib.fc_storage_id(self._bytes._h)

    def __len__(self):
        return lib.fc_storage_bytes(self._bytes._h)

    size = nbytes = __len__
    __hash__ = object.__hash__

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def element_size(self):
        return 1

    def untyped(self):
        return self

    def __getitem__(self, k):
        """One byte, or for a slice a storage over that part of this memory, which cannot be resized from then on."""
        self._there()
        if not isinstance(k, slice):
            return raw(self)[self._index(k)]
        first, n = self._part(k)
        if not n:
            return self.new()
        h = self._bytes._h
        lib.fc_lend(h)
        return of(borrow(self._bytes, address(lib.fc_storage_data(h)) + first, n, lib.fc_storage_writable(h), _types.uint8, (n,), (1,)))

    def _part(self, k):
        """Where a slice begins and how many bytes it has."""
        first, end, step = k.indices(len(self))
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        return first, max(end - first, 0)

    def __setitem__(self, k, value):
        memory = raw(self)
        if isinstance(k, slice):
            first, n = self._part(k)
            memory[first:first + n] = bytes([value & 255]) * n
        else:
            if not 0 <= k < len(self):  # read from the end, but not written, as in PyTorch
                raise RuntimeError(f"out of bounds: byte {k} of a storage of {len(self)} bytes. Count from its start.")
            memory[self._index(k)] = value & 255

    def fill_(self, value):
        """Every byte set to value. In place."""
        raw(self)[:] = bytes([value & 255]) * len(self)
        return self

    def copy_(self, source, non_blocking=None):
        """The bytes of another storage of this size. In place."""
        if len(source.untyped()) != len(self):
            raise RuntimeError(f"copy_: size does not match, self was {len(self)} bytes but source has {len(source.untyped())}. Resize one.")
        raw(self)[:] = bytes(raw(source.untyped()))
        return self

    def resizable(self):
        """Can it be resized? Memory that is borrowed, or lent to arrays of other libraries, cannot."""
        return bool(lib.fc_storage_resizable(self._bytes._h))

    def resize_(self, nbytes):
        """The same storage with another size; bytes that both have are kept. Tensors over it follow. In place."""
        resize_storage(self._bytes._h, nbytes)
        return self

    def new(self):
        """An empty storage on the same device."""
        return UntypedStorage(0, device=self.device)

    def clone(self):
        """A copy of the memory."""
        if self.device.type == "meta":
            return UntypedStorage(len(self), device="meta")
        return of(_ops.copy(self._elements(), None, 0))

    def byteswap(self, dtype):
        """The bytes of every number of this dtype reversed. In place."""
        raw(self)[:] = swapped(raw(self), dtype.itemsize // (2 if dtype.is_complex else 1))

    def type(self, dtype=None):
        return "torch.storage.UntypedStorage" if dtype is None else TypedStorage(wrap_storage=self, dtype=_dtype_of(dtype))

    def __sizeof__(self):
        return object.__sizeof__(self) + len(self)

    def __reduce__(self):
        if self.device.type == "meta":
            return _on_meta, (len(self),)
        return _of_bytes, (bytes(raw(self)),)

    @classmethod
    def from_buffer(cls, data, byte_order=None, count=-1, offset=0, *, dtype=None):
        """A storage with a copy of a buffer's bytes from `offset` on; `count` elements of dtype, all by default."""
        return _of_bytes(from_buffer(cls.__name__, data, count, offset, dtype or _types.uint8, byte_order))

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """A storage over a file's bytes; shared: writes go to the file, which grows to nbytes."""
        return of(mapped(filename, shared, nbytes, _types.uint8))


def _of_bytes(data):
    made = UntypedStorage(len(data))
    raw(made)[:] = data
    return made


def _on_meta(nbytes):
    return UntypedStorage(nbytes, device="meta")


def _dtype_of(word):
    if isinstance(word, _types.dtype):
        return word
    if isinstance(word, str):
        name = word.rpartition(".")[2]
        if name in STORAGES:
            return STORAGES[name]
    if hasattr(word, "dtype"):
        return word.dtype
    raise ValueError(f"type: no storage type {word!r}. Write it like 'torch.FloatStorage'.")


class TypedStorage(_Common):
    """Memory as elements of a dtype: TypedStorage(size, dtype=...), TypedStorage([1.0, 2.0], dtype=...), or over an UntypedStorage.

    >>> facula.TypedStorage([1.0, 2.0], dtype=facula.float32).tolist()
    [1.0, 2.0]
    """

    def __init__(self, *data, wrap_storage=None, dtype=None, device=None, _internal=False):
        from facula.tensor_core import _state

        dtype = dtype or _state.get_default_dtype()
        if len(data) > 1 or data and wrap_storage is not None:
            raise TypeError(f"TypedStorage: takes a size, a sequence, or wrap_storage, got {len(data)} arguments and wrap_storage={wrap_storage is not None}.")
        values = data[0] if data else 0
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"TypedStorage: wrap_storage must be UntypedStorage, got {type(wrap_storage).__name__}.")
            storage = wrap_storage
        elif isinstance(values, (Tensor, str)) or not (hasattr(values, "__index__") or hasattr(values, "__len__")):
            raise TypeError(f"TypedStorage: invalid data type {type(values).__name__!r}. Give a size or a sequence of numbers.")
        elif hasattr(values, "__index__"):
            storage = UntypedStorage(values * dtype.itemsize, device=device)
        else:
            storage = of(_data.tensor(values, dtype=dtype, device=device or "cpu"))
        self._untyped_storage, self.dtype = storage, dtype
        if not _internal and wrap_storage is None:
            _warned.typed_storage()

    @property
    def _bytes(self):
        return self._untyped_storage._bytes

    def _elements(self):
        n = len(self)
        whole = _ops.as_strided(self._bytes, (n * self.dtype.itemsize,), (1,), 0)
        return own_tensor(lib.fc_view_op(_VIEW_DTYPE, whole._h, self.dtype._id, 0, 0, 0))

    def _title(self):
        return f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    def untyped(self):
        """The same memory as bytes."""
        return self._untyped_storage

    def __len__(self):
        return len(self._untyped_storage) // self.dtype.itemsize

    size = __len__
    _size = __len__

    def nbytes(self):
        return len(self._untyped_storage)

    def __sizeof__(self):
        return object.__sizeof__(self) + len(self._untyped_storage)

    def element_size(self):
        return self.dtype.itemsize

    def __getitem__(self, k):
        if isinstance(k, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        self._there()
        return self._elements()[self._index(k)].item()

    def __setitem__(self, k, value):
        elements = self._elements()
        elements[k if isinstance(k, slice) else self._index(k)] = value

    def fill_(self, value):
        """Every element set to value. In place."""
        self._elements().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """The elements of another storage of as many, converted. In place."""
        if len(source) != len(self):
            raise RuntimeError(f"copy_: size does not match, self was {len(self)} but source has {len(source)} elements. Resize one.")
        self._elements().copy_(source._elements())
        return self

    def resize_(self, size):
        """Room for `size` elements. In place; answers nothing, as in PyTorch."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def resizable(self):
        return self._untyped_storage.resizable()

    def clone(self):
        """A copy of the memory."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def __deepcopy__(self, memo):
        return TypedStorage(wrap_storage=copy.deepcopy(self._untyped_storage, memo), dtype=self.dtype)

    def type(self, dtype=None, non_blocking=False):
        """Its type's name, or a copy with elements of another type."""
        if dtype is None:
            return "torch." + next((name for name, d in STORAGES.items() if d is self.dtype), "TypedStorage")
        d = _dtype_of(dtype)
        return self if d is self.dtype else TypedStorage(wrap_storage=of(to(self._elements(), d)), dtype=d)

    def pickle_storage_type(self):
        """"FloatStorage" and its like: the name under which a checkpoint knows it."""
        return self.type().rpartition(".")[2]

    def __reduce__(self):
        return _typed, (self._untyped_storage, self.dtype)

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """A storage over a file's elements; shared: writes go to the file, which grows to them."""
        dtype = getattr(cls, "dtype", None) or _types.float32
        return TypedStorage(wrap_storage=of(mapped(filename, shared, size, dtype)), dtype=dtype)


def _typed(storage, dtype):
    return TypedStorage(wrap_storage=storage, dtype=dtype)


class _StorageType(type):
    """Metaclass of FloatStorage and its like: names of TypedStorage with a dtype."""

    def __instancecheck__(cls, thing):
        return type(thing) is TypedStorage and thing.dtype is cls.dtype

    def __call__(cls, *data, wrap_storage=None, device=None):
        return TypedStorage(*data, wrap_storage=wrap_storage, dtype=cls.dtype, device=device)

    def from_buffer(cls, data, byte_order=None, count=-1, offset=0):
        """A storage with a copy of a buffer's bytes."""
        return TypedStorage(wrap_storage=_of_bytes(from_buffer(cls.__name__, data, count, offset, cls.dtype, byte_order)), dtype=cls.dtype)

    def from_file(cls, filename, shared=False, size=0):
        """A storage over a file's elements."""
        return TypedStorage(wrap_storage=of(mapped(filename, shared, size, cls.dtype)), dtype=cls.dtype)


TYPES = {name: _StorageType(name, (), {"dtype": d, "__module__": "facula", "__doc__": f"TypedStorage of {d}.\n\n>>> facula.{name}([0, 1]).dtype\n{d}\n"}) for name, d in STORAGES.items()}
globals().update(TYPES)


# --- Tensor's side --------------------------------------------------------------------------------------------------


def untyped_storage(self):
    """The memory that the tensor looks into, as bytes.

    >>> facula.ones(3).untyped_storage().nbytes()
    12
    """
    return of(self)


def storage(self):
    """The memory that the tensor looks into, as elements of its dtype.

    >>> facula.tensor([1, 2]).storage().tolist()
    [1, 2]
    """
    _warned.typed_storage()
    return TypedStorage(wrap_storage=of(self), dtype=self.dtype)


def storage_type(self):
    """The class that a storage of its dtype goes by.

    >>> facula.ones(1).storage_type().__name__
    'FloatStorage'
    """
    return TYPES.get(self.storage().type().rpartition(".")[2], TypedStorage)


def over(storage, dtype, offset=0, size=None, stride=None):
    """A tensor over a storage."""
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        raise RuntimeError(f"Expected a Storage of type {dtype} or an UntypedStorage, but got type {storage.dtype} for argument 1 'storage'")
    flat = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype)._elements()
    if size is None:
        size = (max(flat.numel() - offset, 0),)
    if stride is None:
        stride, run = [0] * len(size), 1
        for d in range(len(size) - 1, -1, -1):
            stride[d] = run
            run *= max(size[d], 1)
    t = _ops.as_strided(flat, tuple(size), tuple(stride), offset)
    t._viewed = None
    return t


METHODS = ["storage", "storage_type", "untyped_storage"]
__all__ = ["TypedStorage", "UntypedStorage", "from_file", *TYPES]
