"""Writes the pickle of a checkpoint: Python's pickler, with tensors and our own types under PyTorch's names."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

from facula.tensor_core import _types
from facula.tensor_core.memory.copying import state_of
from facula.tensor_core.memory.legacy import FloatTensor
from facula.tensor_core._lib import lib
from facula.tensor_core.memory.storage import FloatStorage, TypedStorage, UntypedStorage
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._torch_names import STORAGE_OF, WRITTEN, Name, torch_name


# asked where a function of ours is to be found under PyTorch's names; facula.torch puts itself here while a program runs under it
function_homes: list[Callable[[FunctionType], tuple[str, str] | None]] = []


class StorageRef:
    """A storage on its way into a file. dtype: of its elements, None for plain bytes."""

    def __init__(self, key: str, dtype: Any, nbytes: int) -> None:
        self.key, self.dtype, self.nbytes = key, dtype, nbytes


class Writer(pickle._Pickler):
    """pickle's own Python pickler: the C one looks up every global it writes, and PyTorch's are not importable here."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file: Any, protocol: int, storage_of: Callable[[Tensor, Any], StorageRef], legacy: bool = False) -> None:
        super().__init__(file, protocol)
        self.storage_of, self.legacy = storage_of, legacy

    def persistent_id(self, obj):
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            obj = self.storage_itself(obj)
        if type(obj) is not StorageRef:
            return None
        typed = STORAGE_OF.get(obj.dtype)
        kind = torch_name("torch", typed) if typed else torch_name("torch.storage", "UntypedStorage")
        id = ("storage", kind, obj.key, "cpu", obj.nbytes // obj.dtype.itemsize if typed else obj.nbytes)
        return (*id, None) if self.legacy else id  # the old format has an entry for views of storages, which nobody uses

    def storage_itself(self, storage):
        """A storage that stands in the object for itself, not behind a tensor."""
        if storage.device.type == "meta":
            raise NotImplementedError("save: Cannot copy out of meta tensor; no data! A storage of the meta device has no bytes.")
        untyped = isinstance(storage, UntypedStorage)
        if untyped and self.legacy:
            raise RuntimeError("save: the format before 1.6 has no storages of bytes. Leave _use_new_zipfile_serialization out.")
        if not untyped and storage.dtype not in STORAGE_OF:
            raise KeyError(f"save: no storage type of {storage.dtype} is known to the format. Save a tensor over it.")
        ref = self.storage_of(storage._bytes, _types.uint8 if untyped else storage.dtype)
        return StorageRef(ref.key, None, ref.nbytes) if untyped else ref

    def reducer_override(self, obj):
        if type(obj) is Tensor:
            return tensor_parts(obj, self.storage_of)
        if isinstance(obj, Tensor) and obj.layout is not _types.strided and hasattr(obj, "_is_param"):
            return NotImplemented  # a Parameter, which says itself what it is
        if isinstance(obj, Tensor) and obj.is_sparse:
            plain = obj.detach()
            parts = (plain._indices(), plain._values(), plain.size(), plain.is_coalesced())
            return torch_name("torch._utils", "_rebuild_sparse_tensor"), (_types.sparse_coo, parts)
        if isinstance(obj, Tensor) and obj.layout in (_types.sparse_csr, _types.sparse_csc, _types.sparse_bsr, _types.sparse_bsc):
            return torch_name("torch._utils", "_rebuild_sparse_tensor"), (obj.layout, obj.detach().parts())
        if type(obj) is _types.layout:
            return torch_name("torch.serialization", "_get_layout"), ("torch." + obj._name,)
        if isinstance(obj, Tensor) and type(obj).__reduce_ex__ is Tensor.__reduce_ex__:
            function, args = tensor_parts(obj, self.storage_of)
            return torch_name("torch._tensor", "_rebuild_from_type_v2"), (function, type(obj), args, state_of(obj))
        if type(obj) is _types.Size:
            return torch_name("torch", "Size"), (tuple(obj),)
        if type(obj) is _types.device:
            return torch_name("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        return NotImplemented

    def save_global(self, obj, name=None):
        if obj is Tensor:
            obj = torch_name("torch", "Tensor")
        elif type(obj) in (_types.dtype, _types.memory_format):
            obj = torch_name("torch", obj._name)
        elif type(obj) in (type(FloatStorage), type(FloatTensor)):
            obj = torch_name("torch", obj.__name__)
        written = obj if type(obj) is Name else WRITTEN.get((getattr(obj, "__module__", None), getattr(obj, "__name__", None)))
        if written is None and type(obj) is FunctionType:
            written = next((torch_name(*home) for ask in function_homes if (home := ask(obj))), None)
        if written is None:
            super().save_global(obj, name)
            return
        if known := self.memo.get(id(written)):
            self.write(self.get(known[0]))
            return
        self.write(pickle.GLOBAL + f"{written.module}\n{written.name}\n".encode())
        self.memoize(written)

    for written_by_name in (Name, FunctionType, BuiltinFunctionType, _types.dtype, _types.memory_format):
        dispatch[written_by_name] = save_global
    del written_by_name


def tensor_parts(tensor: Tensor, storage_of: Callable[[Tensor, Any], StorageRef]) -> tuple:
    """(function, arguments) that make the tensor again, in PyTorch's terms."""
    requires_grad = tensor.requires_grad
    plain = tensor.detach()
    if plain.is_meta:
        args = (plain.dtype, tuple(plain.shape), plain.stride(), requires_grad)
        return torch_name("torch._utils", "_rebuild_meta_tensor_no_storage"), args
    if any(s < 0 for s in plain.stride()):  # PyTorch has no such tensors
        plain = plain.contiguous()
    storage = storage_of(plain, plain.dtype)
    args = (storage, lib.fc_offset(plain._h), tuple(plain.shape), plain.stride(), requires_grad, OrderedDict())
    if plain.dtype in STORAGE_OF:
        function = torch_name("torch._utils", "_rebuild_tensor_v2")
    else:
        function, args = torch_name("torch._utils", "_rebuild_tensor_v3"), (*args, plain.dtype)
    if lazy := lib.fc_lazy(plain._h):
        args = (*args, {name: True for bit, name in ((1, "conj"), (2, "neg")) if lazy & bit})
    if type(tensor) is Tensor and vars(tensor):
        return torch_name("torch._tensor", "_rebuild_from_type_v2"), (function, Tensor, args, vars(tensor))
    return function, args


def write_pickle(obj: Any, protocol: int, storage_of: Callable[[Tensor, Any], StorageRef], legacy: bool = False) -> bytes:
    """The pickle of obj; every storage that it reaches has gone through storage_of."""
    file = io.BytesIO()
    Writer(file, protocol, storage_of, legacy).dump(obj)
    return file.getvalue()
