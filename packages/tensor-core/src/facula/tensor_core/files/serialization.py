"""facula.save and facula.load: PyTorch's checkpoint files, both ways.

By default load reads data only (tensors, containers, numbers, text): no bytes of a file can run code. `weights_only=False`
unpickles, which runs whatever the file's author wanted.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
from collections.abc import Callable
from functools import partial
from reprlib import repr as short  # a hostile object's whole repr may take forever
from typing import Any, BinaryIO

from facula.tensor_core.files.checkpoint import (
    Checkpoint,
    CheckpointError,
    LoadedStorage,
    atomic,
    check_geometry,
    storage_bytes,
    write_checkpoint,
)
from facula.tensor_core.functions.conjugate import turned
from facula.tensor_core._lib import lib
from facula.tensor_core.files.config import mapped, weights_only_of_environment
from facula.tensor_core.files.pickle_reader import read_pickle_at
from facula.tensor_core.files.pickle_writer import StorageRef, write_pickle
from facula.tensor_core.memory.copying import set_state, slots_of
from facula.tensor_core.memory.storage import TypedStorage, UntypedStorage
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._torch_names import STORAGE_OF, StorageType, find_data, python_3
from facula.tensor_core._types import device as Device
from facula.tensor_core._types import dtype as Dtype
from facula.tensor_core._types import strided, uint8

__all__ = ["load", "save"]

# --- what files may name besides data --------------------------------------------------------------------------------

_safe: dict[tuple[str, str], Any] = {}
BLOCKED = frozenset({"sys", "os", "posix", "nt"})  # what a file may not name, allowed or not


def _named(item: Any) -> tuple[tuple[str, str], Any]:
    if isinstance(item, tuple):
        item, path = item
        module, _, name = path.rpartition(".")
        return (module, name), item
    return (item.__module__, item.__qualname__), item


def add_safe_globals(safe_globals: list) -> None:
    """Let load(weights_only=True) use these classes and functions. An item may be (object, "module.name").

    >>> import decimal
    >>> facula.serialization.add_safe_globals([decimal.Decimal])
    >>> facula.serialization.get_safe_globals()
    [<class 'decimal.Decimal'>]
    >>> facula.serialization.clear_safe_globals()
    """
    _safe.update(map(_named, safe_globals))


def get_safe_globals() -> list:
    """What add_safe_globals was given.

    >>> facula.serialization.get_safe_globals()
    []
    """
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Forget what add_safe_globals was given.

    >>> facula.serialization.clear_safe_globals()
    >>> facula.serialization.get_safe_globals()
    []
    """
    _safe.clear()


class safe_globals:
    """add_safe_globals for a block.

    >>> import decimal
    >>> with facula.serialization.safe_globals([decimal.Decimal]):
    ...     print(facula.serialization.get_safe_globals())
    [<class 'decimal.Decimal'>]
    >>> facula.serialization.get_safe_globals()
    []
    """
    def __init__(self, safe_globals: list) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = dict(_safe)
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error: object) -> None:
        _safe.clear()
        _safe.update(self._before)


# --- save ------------------------------------------------------------------------------------------------------------


class MissingFolder(RuntimeError, FileNotFoundError):
    """The folder of a file to be written is not there."""


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False) -> None:
    """Write obj to a file (a path, or an object with `write`) that facula.load and torch.load read.

    Tensors that share memory share it in the file. A path is replaced at once or not at all.
    _use_new_zipfile_serialization=False writes PyTorch's format before 1.6, which is no zip.
    _disable_byteorder_record chooses nothing: the order of the bytes is in every zip, in PyTorch's too.
    Raises RuntimeError for tensors of two dtypes over one storage, what pickle raises for objects that it cannot write.

    >>> import io
    >>> file = io.BytesIO()
    >>> facula.save([facula.ones(2), "step", 3], file)
    >>> _ = file.seek(0)
    >>> facula.load(file)
    [tensor([1., 1.]), 'step', 3]
    """
    if pickle_module is not pickle:
        raise ValueError(f"save: pickle_module {getattr(pickle_module, '__name__', pickle_module)!r} is not supported. Leave it out.")
    if not 2 <= pickle_protocol <= 5:
        raise ValueError(f"save: pickle_protocol {pickle_protocol}; 2 to 5 are possible, and torch.load reads 2.")
    storages: dict[Any, tuple[StorageRef, Tensor]] = {}

    def storage_of(tensor, dtype):
        id = lib.fc_storage_id(tensor._h)
        if not lib.fc_storage_bytes(tensor._h):
            id = id, dtype  # nothing is shared
        if id not in storages:
            storages[id] = StorageRef(str(len(storages)), dtype, lib.fc_storage_bytes(tensor._h)), tensor
        ref = storages[id][0]
        if ref.dtype is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{ref.dtype} and {dtype}. Save a clone of one."
            )
        return ref

    pickled = write_pickle(obj, pickle_protocol, storage_of, not _use_new_zipfile_serialization)
    records = {ref.key: storage_bytes(tensor) for ref, tensor in storages.values()}
    write = write_checkpoint
    if not _use_new_zipfile_serialization:
        from facula.tensor_core.files.legacy_checkpoint import write_legacy

        itemsizes = {ref.key: ref.dtype.itemsize for ref, _ in storages.values()}
        if odd := next((ref.dtype for ref, _ in storages.values() if ref.dtype not in STORAGE_OF), None):
            raise RuntimeError(f"save: the format before 1.6 has no storage of {odd}. Leave _use_new_zipfile_serialization out.")

        def write(file, root, pickled, records):
            write_legacy(file, pickled, records, itemsizes)

    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.path.abspath(os.fspath(f)))
        if not os.path.isdir(folder):
            raise MissingFolder(f"save: Parent directory {folder} does not exist. Make it first.")
        root = os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive"
        with atomic(f) as file:
            write(file, root, pickled, records)
    elif hasattr(f, "write"):
        whole = io.BytesIO()  # a zip wants to seek; a stream may not
        write(whole, "archive", pickled, records)
        f.write(whole.getbuffer())
        if hasattr(f, "flush"):
            f.flush()  # another reader of the same file shall find it
    else:
        raise AttributeError(f"save: expected 'f' to be a path or an object with write(), got {type(f).__name__}.")


# --- load ------------------------------------------------------------------------------------------------------------


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """The object in a file (a path, or an object with `read` and `seek`) that facula.save or torch.save wrote.

    map_location: where storages go: a device, a dict from location to device, or a function of (storage, location).
    weights_only: True (the default without a pickle_module) reads data only; False unpickles and so runs what the file says.
    pickle_module: a module whose Unpickler reads the file.
    mmap: tensors look into the file (at a path, of save's zip format), whose pages are read when they are touched; writes stay private.
    pickle_load_args: encoding, of texts that Python 2 pickled ("utf-8"; "bytes" leaves them as they are); errors and fix_imports, for weights_only=False.
    Raises pickle.UnpicklingError for a pickle that is no data, RuntimeError for a file that is damaged.

    >>> import io
    >>> file = io.BytesIO()
    >>> facula.save({"weight": facula.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> facula.load(file)
    {'weight': tensor([1., 1.])}
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError(f"load: f must be a file path in order to use the mmap argument, got {type(f).__name__}.")
    weights_only = weights_only_of_environment(weights_only)
    if pickle_module is not None and weights_only:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified. Leave one of the two out.")
    if unknown := set(pickle_load_args) - {"encoding", "errors", "fix_imports"}:
        raise TypeError(f"load() got an unexpected keyword argument '{min(unknown)}'")
    if pickle_module is not None:
        weights_only = False  # who names one wants it, be it pickle itself
    with contextlib.ExitStack() as stack:
        whole = mapped(f) if mmap else None
        if isinstance(f, (str, os.PathLike)):
            f = stack.enter_context(open(f, "rb"))
        elif not all(hasattr(f, name) for name in ("read", "seek", "tell")):
            raise AttributeError(
                f"load: expected 'f' to be a path or an object with read(), seek() and tell(), got {type(f).__name__}. You can only torch.load from a file "
                "that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )
        options = {"encoding": "utf-8", **pickle_load_args}
        read = partial(safely, options["encoding"]) if weights_only is not False else partial(unsafely, pickle_module or pickle, options)
        return _load(f, map_location, read, whole)


def _load(f: BinaryIO, map_location: Any, read: Reader, whole: Any) -> Any:
    start, stream = f.tell(), f
    head = f.read(16)
    if start or not hasattr(f, "seekable"):  # a zip's reader asks that
        f = io.BytesIO(head + f.read())
    f.seek(0)
    if not head:
        raise EOFError("load: the file is empty.")
    if head.startswith(b"PK\x03\x04"):
        return Unarchiver(Checkpoint(f), map_location, read, whole).run()
    if whole is not None:
        raise RuntimeError("load: mmap can only be used with files saved with _use_new_zipfile_serialization=True, and this is none. Leave it out.")
    if head[8:9] == b"{":
        from facula.safetensors import load as load_safetensors

        return load_safetensors(f.read())
    if head.startswith(b"\x80"):
        from facula.tensor_core.files.legacy_checkpoint import load_legacy

        result, end = load_legacy(f.read(), map_location, read)
        stream.seek(start + end)  # another may follow
        return result
    raise pickle.UnpicklingError(f"load: the file begins with {head[:8]!r}: it is no checkpoint. Was it written by save?")


class Unarchiver:
    """Reads the pickle of a checkpoint; storages come from its records, once each."""

    def __init__(self, checkpoint: Checkpoint | None, map_location: Any, read: Reader, mapped: Any = None) -> None:
        self.checkpoint, self.map_location, self.read, self.mapped = checkpoint, map_location, read, mapped
        self.storages: dict[str, LoadedStorage] = {}
        self.parts: dict[str, LoadedStorage] = {}

    def run(self) -> Any:
        result = self.read(self, self.checkpoint.read("data.pkl"), 0)[0]
        self.settle()
        return result

    def settle(self) -> None:
        """Storages that stand in the object for themselves are what users know as such."""
        for storage in (*self.storages.values(), *self.parts.values()):
            storage.settle()

    def find_safe(self, module: str, name: str) -> Any:
        own = python_3(module, name)
        if module in BLOCKED or own[0] in BLOCKED:
            raise pickle.UnpicklingError(f"Weights only load failed: the file uses {module}.{name}, and module {module} is blocked whatever add_safe_globals was given. Do not open it.")
        if own in _safe:
            return _safe[own]
        try:
            return self.find_tensor_function(module, name) or find_data(module, name)
        except KeyError:
            raise pickle.UnpicklingError(
                f"Weights only load failed: the file uses {module}.{name}, which is not data. If you trust its author, allow that with "
                f"facula.serialization.add_safe_globals([{name}]), or load(..., weights_only=False) to run everything in it."
            ) from None

    def find_tensor_function(self, module: str, name: str) -> Callable | None:
        return {
            ("torch._utils", "_rebuild_tensor_v2"): rebuild_v2,
            ("torch._utils", "_rebuild_tensor"): rebuild_v2,
            ("torch._utils", "_rebuild_tensor_v3"): rebuild_v3,
            ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta,
            ("torch._utils", "_rebuild_sparse_tensor"): self.rebuild_sparse,
            ("torch._tensor", "_rebuild_from_type_v2"): self.rebuild_from_type,
        }.get((module, name))

    def rebuild_from_type(self, function: Any, cls: Any, args: Any, state: Any) -> Tensor:
        """A tensor with attributes."""
        if function not in (rebuild_v2, rebuild_v3, rebuild_meta) or type(args) is not tuple:
            raise CheckpointError("load: a tensor is rebuilt by something that is not a tensor's function.")
        tensor = function(*args)
        if cls is not Tensor:
            if not (isinstance(cls, type) and issubclass(cls, Tensor)):
                raise CheckpointError(f"load: a tensor is rebuilt as {short(cls)}, which is no kind of tensor.")
            from facula.tensor_core.extend import make_subclass

            tensor = make_subclass(cls, tensor, tensor.requires_grad)
        if state:
            if not hasattr(cls, "__setstate__"):
                _check_state(cls, state)
            set_state(tensor, state)
        return tensor

    def rebuild_sparse(self, layout: Any, data: Any) -> Tensor:
        """A sparse tensor of indices, values, size and, in newer files, whether it is coalesced."""
        from facula.tensor_core.sparse import making as _sparse
        from facula.tensor_core.sparse import rows as _sparse_rows

        parts = {"sparse_coo": 2, "sparse_csr": 3, "sparse_csc": 3, "sparse_bsr": 3, "sparse_bsc": 3}.get(getattr(layout, "_name", None))
        if parts is None or type(data) is not tuple or len(data) not in (parts + 1, 4) or not all(map(_stored, data[:parts])):
            raise CheckpointError(f"load: a sparse tensor of layout {short(layout)} from {short(data)}. Only COO, CSR, CSC, BSR and BSC tensors are read.")
        size = data[parts]
        check_geometry(0, size, size)
        build = _sparse.of_parts if parts == 2 else _sparse_rows.of_parts
        made, check = build(*data[:parts], tuple(size), *([layout] if parts == 3 else [bool(data[3:] and data[3])]))
        self.when_filled(check)
        return made

    def when_filled(self, check: Callable[[], None]) -> None:
        """Looks at what tensors hold: at once, where storages come full."""
        check()

    def storage(self, id: Any) -> LoadedStorage:
        """The storage of a persistent id: ("storage", type, key, location, elements), in old files with a part of it that is meant, or None."""
        id = tuple(text(part) for part in id) if type(id) is tuple else id
        id, part = (id[:5], id[5]) if type(id) is tuple and len(id) == 6 else (id, None)
        if type(id) is not tuple or len(id) != 5 or id[0] != "storage" or not isinstance(id[1], StorageType) or type(id[2]) is not str:
            raise CheckpointError(f"load: a persistent id is {short(id)}, not that of a storage.")
        _, kind, key, location, count = id
        if type(count) is not int or count < 0:
            raise CheckpointError(f"load: a storage of {short(count)} elements.")
        if key not in self.storages:
            made = self.new_storage(kind.dtype, count * (kind.dtype.itemsize if kind.dtype else 1), key)
            self.storages[key] = self.place(made, location)
        return self.storages[key] if part is None else self.part(self.storages[key], part)

    def part(self, whole: LoadedStorage, part: Any) -> LoadedStorage:
        """What PyTorch 0.3 knew as a view of a storage: (key, first element, elements), over the same memory."""
        if type(part) is not tuple or len(part) != 3 or not all(type(n) is int and n >= 0 for n in part[1:]) or type(key := text(part[0])) is not str:
            raise CheckpointError(f"load: a part of a storage is {short(part)}, not its key, first element and length.")
        dtype = whole.dtype or uint8
        first, end = part[1] * dtype.itemsize, (part[1] + part[2]) * dtype.itemsize
        if end > whole.held:
            raise CheckpointError(f"load: a part of {part[2]} elements at {part[1]} leaves its storage of {whole.held} bytes. The file is damaged.")
        if key not in self.parts:
            self.parts[key] = NoStorage(dtype, end - first) if isinstance(whole, NoStorage) else LoadedStorage.over(whole.untyped()[first:end], dtype)
        return self.parts[key]

    def new_storage(self, dtype: Dtype | None, nbytes: int, key: str) -> LoadedStorage:
        """A storage that reads its record when the first tensor says what its elements are."""
        held = self.checkpoint.info(f"data/{key}").file_size
        if nbytes != held:
            raise CheckpointError(f"load: storage {key!r} should have {nbytes} bytes, its record has {held}.")
        storage = RecordStorage(dtype, nbytes, self.checkpoint, f"data/{key}", None if self.checkpoint.swapped else self.mapped)
        if dtype is not None:
            storage.typed(dtype)
        return storage

    def place(self, storage: LoadedStorage, location: Any) -> LoadedStorage:
        """Applies map_location. Only the CPU is there to be a place, and the meta device, which has none."""
        target = self.map_location
        if callable(target):
            mapped = target(storage.untyped(), location)
            if isinstance(mapped, (UntypedStorage, TypedStorage)) and mapped.device.type == "cpu":
                return storage if mapped.untyped() is storage.untyped() else LoadedStorage.over(mapped.untyped(), storage.dtype)
            target = getattr(mapped, "device", None)
        elif isinstance(target, dict):
            target = target.get(location)
        where = Device(location if target is None else target)
        if where.type == "meta":
            return NoStorage(storage.dtype, storage.held)
        if where.type != "cpu":
            raise RuntimeError(
                f"load: Attempting to deserialize object on a {where.type.upper()} device, which is not here (location {short(location)}). "
                "Use load with map_location='cpu'."
            )
        return storage


class NoStorage(LoadedStorage):
    """What map_location="meta" makes of a storage: its tensors have shapes alone."""

    @property
    def _untyped_storage(self):
        return UntypedStorage(self.held, device="meta")

    def strided(self, dtype, offset, size, stride):
        check_geometry(offset, size, stride)
        return rebuild_meta(dtype, size, stride)


class RecordStorage(LoadedStorage):
    def __init__(self, dtype, nbytes, checkpoint, record, mapped):
        super().__init__(dtype, nbytes)
        self.checkpoint, self.record, self.mapped = checkpoint, record, mapped

    def look(self, dtype):
        """The record as it lies in the mapped file; None where numbers may not lie like that."""
        at = self.checkpoint.place(self.record)
        if not self.held or at % dtype.itemsize or self.held % dtype.itemsize or at + self.held > len(self.mapped):
            return None
        import ctypes

        from facula.tensor_core.memory.interop import borrow

        start = ctypes.addressof(ctypes.c_char.from_buffer(self.mapped, at))
        return borrow(self.mapped, start, self.held, True, dtype, (self.held // dtype.itemsize,), (1,))

    def typed(self, dtype):
        if self.tensor is None and self.mapped is not None and (found := self.look(dtype)) is not None:
            self.tensor, self.dtype = found, dtype
            return found
        fresh = self.tensor is None
        tensor = super().typed(dtype)
        if fresh:
            self.checkpoint.fill(self.record, self.view)
            if self.checkpoint.swapped:
                self.swap()
                self.loose = False  # its bytes are those of dtype alone
        return tensor


def _check_state(cls: type, state: Any) -> None:
    """A tensor's attributes come as a dict of names, with slots of its class as a pair of them."""
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if not (attributes is None or type(attributes) is dict and all(type(k) is str for k in attributes)):
        raise CheckpointError(f"load: a tensor's attributes come as {type(attributes).__name__}, not as a dict of names.")
    if slots is not None and not (type(slots) is dict and slots.keys() <= set(slots_of(cls))):
        raise CheckpointError(f"load: slots of {short(cls)} come as {short(slots)}. It has {slots_of(cls)}.")


def _finished(tensor: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    if type(metadata) is dict and (bits := (metadata.get("conj") is True and tensor.is_complex()) | 2 * (metadata.get("neg") is True)):
        tensor = turned(tensor, bits).detach()
    return tensor.requires_grad_(True) if requires_grad else tensor


def rebuild_v2(storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, backward_hooks: Any = None, metadata: Any = None):
    """A tensor over a typed storage."""
    if not isinstance(storage, LoadedStorage) or storage.dtype is None:
        raise CheckpointError("load: a tensor without a typed storage.")
    return _finished(storage.strided(storage.dtype, offset, size, stride), requires_grad, metadata)


def rebuild_v3(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, backward_hooks: Any, dtype: Any, metadata: Any = None
):  # fmt: skip
    """A tensor over bytes."""
    if not isinstance(storage, LoadedStorage) or not isinstance(dtype, Dtype):
        raise CheckpointError("load: a tensor without a storage or a dtype.")
    return _finished(storage.strided(dtype, offset, size, stride), requires_grad, metadata)


def rebuild_meta(dtype: Any, size: Any, stride: Any, requires_grad: Any = False):
    """A tensor of the meta device."""
    if not isinstance(dtype, Dtype):
        raise CheckpointError("load: a meta tensor without a dtype.")
    check_geometry(0, size, stride)
    return _finished(own_tensor(lib.fc_empty_strided(dtype._id, 1, len(size), list(size), list(stride))), requires_grad, None)


def _stored(part: Any) -> bool:
    """Is it a tensor whose elements are all in the file? Its indices are looked at one by one."""
    return isinstance(part, Tensor) and part.layout is strided and part.device.type == "cpu" and part.numel() * part.element_size() <= lib.fc_storage_bytes(part._h)


# --- the two ways to read a pickle ------------------------------------------------------------------------------------

Reader = Callable[["Unarchiver", bytes, int], tuple[Any, int]]  # the object of the pickle at a byte, and the place behind it


def text(part: Any) -> Any:
    """A word of the format, which the unpickler gives as bytes where encoding="bytes" was asked."""
    return part.decode("ascii", "replace") if type(part) is bytes else part


def safely(encoding: str, archive: Unarchiver, data: bytes, at: int) -> tuple[Any, int]:
    """weights_only: data, and what add_safe_globals was given."""
    return read_pickle_at(data, at, archive.find_safe, archive.storage, lambda cls: cls in _safe.values(), encoding)


def unsafely(pickle_module: Any, options: dict, archive: Unarchiver, data: bytes, at: int) -> tuple[Any, int]:
    """weights_only=False: Python's unpickler, or another module's, which imports and calls. PyTorch's own names mean ours."""

    class Unpickler(pickle_module.Unpickler):
        def persistent_load(self, id):
            return archive.storage(id)

        def find_class(self, module, name):
            with contextlib.suppress(KeyError):
                return archive.find_tensor_function(module, name) or find_data(module, name)
            if (module, name) == ("torch._C", "_VariableFunctionsClass"):  # of which torch.tanh is a method there, found by getattr
                return importlib.import_module("facula")
            ours = "facula" + module[5:] if f"{module}.".startswith("torch.") else ""
            ours = "facula.tensor_core.return_types" if module == "torch.return_types" else ours
            while ours:  # a file of PyTorch's, or the namespace that it is part of: torch.nn.modules.linear.Linear is our facula.nn.Linear
                with contextlib.suppress(ImportError, AttributeError):
                    return super().find_class(ours, name)
                ours = ours.rpartition(".")[0]
            return super().find_class(module, name)

    file = io.BytesIO(data)
    file.seek(at)
    return Unpickler(file, **options).load(), file.tell()
