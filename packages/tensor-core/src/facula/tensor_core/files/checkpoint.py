"""PyTorch's checkpoint container: an uncompressed zip of one pickle and one record per storage."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import sys
from collections.abc import Iterator
from reprlib import repr as short  # a hostile object's whole repr may take forever
from typing import TYPE_CHECKING, Any, BinaryIO

from facula.tensor_core._lib import buffer, lib
from facula.tensor_core.memory.storage import TypedStorage, UntypedStorage, of, over, raw
from facula.tensor_core.files.config import unmarked_byteorder
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import uint8

if TYPE_CHECKING:
    import zipfile  # 13 ms with tempfile: loaded by what reads and writes

ALIGNMENT = 64  # of the records' data, so that they can be mapped
CHUNK = 1 << 20
LOCAL_HEADER = 30  # bytes of a zip's local header, before name and extra field


class CheckpointError(RuntimeError, ValueError):
    """A file that is not what it should be.

    >>> issubclass(facula.serialization.CheckpointError, RuntimeError)
    True
    """


# --- writing -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def atomic(path: Any) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well, and leaves no trace when it does not."""
    path = os.path.realpath(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # a pipe or a device: there is nothing to replace
        with open(path, "wb") as file:
            yield file
        return
    import tempfile

    handle, part = tempfile.mkstemp(dir=os.path.dirname(path), prefix=os.path.basename(path) + ".", suffix=".part")
    try:
        with open(handle, "wb") as file:
            if mode is None:
                mask = os.umask(0)
                os.umask(mask)
                mode = 0o666 & ~mask
            os.chmod(part, stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def add_record(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    """One stored record whose data begins on a multiple of ALIGNMENT."""
    import zipfile

    info = zipfile.ZipInfo(name)
    data = memoryview(data)
    start = archive.fp.tell() + LOCAL_HEADER + len(name.encode()) + 4
    start += 20 if len(data) > zipfile.ZIP64_LIMIT else 0  # zipfile then adds its own extra field
    padding = -start % ALIGNMENT
    info.extra = struct.pack("<HH", 0x4246, padding) + b"Z" * padding
    with archive.open(info, "w", force_zip64=len(data) > zipfile.ZIP64_LIMIT) as record:
        for at in range(0, len(data), CHUNK):
            record.write(data[at : at + CHUNK])


def write_checkpoint(file: BinaryIO, root: str, pickled: bytes, storages: dict[str, Any]) -> None:
    """The whole container. root: the folder inside the zip, by which PyTorch finds its records."""
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        add_record(archive, f"{root}/data.pkl", pickled)
        add_record(archive, f"{root}/byteorder", sys.byteorder.encode())
        for key, data in storages.items():
            add_record(archive, f"{root}/data/{key}", data)
        add_record(archive, f"{root}/version", b"3\n")


# --- reading -----------------------------------------------------------------------------------------------------------


class Checkpoint:
    """An open container. Nothing that it holds can make it read more bytes than the file has."""

    def __init__(self, file: BinaryIO) -> None:
        import zipfile

        try:
            self.archive = zipfile.ZipFile(file)
            infos = self.archive.infolist()
        except Exception as error:  # zipfile lets a dozen kinds through for damaged directories
            raise CheckpointError(f"load: the zip directory cannot be read: {error}. The file is damaged or cut off.") from error
        file.seek(0, os.SEEK_END)
        size = file.tell()
        if sum(info.file_size for info in infos) > size:
            raise CheckpointError(f"load: the records claim more bytes than the {size} of the file. It is damaged or made up.")
        roots = [info.filename[: -len("data.pkl")] for info in infos if info.filename.endswith("data.pkl") and info.filename.count("/") <= 1]
        if len(roots) != 1:
            raise CheckpointError(f"load: the zip holds {len(roots)} records named data.pkl where a checkpoint has one.")
        self.root = roots[0]
        self.records = {info.filename: info for info in infos}
        marked = self.read("byteorder").decode("ascii", "replace").strip() if self.has("byteorder") else unmarked_byteorder(sys.byteorder)
        self.swapped = marked != sys.byteorder

    def has(self, name: str) -> bool:
        return self.root + name in self.records

    def info(self, name: str) -> zipfile.ZipInfo:
        from zipfile import ZIP_STORED

        info = self.records.get(self.root + name)
        if info is None:
            raise CheckpointError(f"load: the pickle names the record {name!r}, which the file does not hold.")
        if info.compress_type != ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
            raise CheckpointError(f"load: the record {name!r} is compressed or encrypted; a checkpoint's are stored as they are.")
        return info

    def place(self, name: str) -> int:
        """Where a record's data begins in the file."""
        info = self.info(name)
        file = self.archive.fp
        file.seek(info.header_offset)
        header = file.read(LOCAL_HEADER)
        if len(header) < LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise CheckpointError(f"load: the record {name!r} has no header where the directory says. The file is damaged.")
        names, extra = struct.unpack("<HH", header[26:30])
        return info.header_offset + LOCAL_HEADER + names + extra

    def fill(self, name: str, view: memoryview) -> None:
        """Copies a record into memory of its size."""
        info = self.info(name)
        if not info.CRC and len(view):  # written without checksums
            self.archive.fp.seek(self.place(name))
            piece = self.archive.fp.read(len(view))
            if len(piece) < len(view):
                raise CheckpointError(f"load: the record {name!r} ends after {len(piece)} of {len(view)} bytes.")
            view[:] = piece
            return
        try:
            with self.archive.open(info) as record:
                at = 0
                while at < len(view):
                    piece = record.read(min(CHUNK, len(view) - at))
                    if not piece:
                        raise CheckpointError(f"load: the record {name!r} ends after {at} of {len(view)} bytes.")
                    view[at : at + len(piece)] = piece
                    at += len(piece)
                record.read(1)  # at the end zipfile compares the checksum
        except CheckpointError:
            raise
        except Exception as error:
            raise CheckpointError(f"load: the record {name!r} cannot be read: {error}. The file is damaged.") from error

    def read(self, name: str) -> bytes:
        data = bytearray(self.info(name).file_size)
        self.fill(name, memoryview(data))
        return bytes(data)


class LoadedStorage(TypedStorage):
    """A storage of a file: bytes, looked at as elements by the tensors that share it. Once all is loaded it is a TypedStorage like any other."""

    def __init__(self, dtype: Any, nbytes: int) -> None:
        self.dtype, self.held, self.loose = dtype, nbytes, dtype is None
        self.tensor: Tensor | None = None
        self.view = memoryview(bytearray())

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return of(self.typed(self.dtype or uint8))

    @classmethod
    def over(cls, storage: UntypedStorage, dtype: Any) -> LoadedStorage:
        """That storage in the place of one of the file."""
        made = cls(dtype, len(storage))
        made.tensor, made.view, made.dtype = over(storage, dtype or uint8), raw(storage), dtype or uint8
        return made

    def settle(self) -> None:
        """Leaves the file behind."""
        storage, dtype = self._untyped_storage, self.dtype or uint8
        self.__class__ = TypedStorage
        self.__dict__ = {"_untyped_storage": storage, "dtype": dtype}

    def typed(self, dtype: Any) -> Tensor:
        """All of it as a 1-d tensor of dtype; made at the first call."""
        if self.tensor is None:
            if self.held % dtype.itemsize:
                raise CheckpointError(f"load: a storage of {self.held} bytes does not hold whole elements of {dtype}.")
            self.dtype = dtype
            h = lib.fc_empty(dtype._id, 0, 1, [self.held // dtype.itemsize])
            if not h:
                raise MemoryError(f"load: no memory for a storage of {self.held} bytes")
            self.tensor = own_tensor(h)
            if self.held:
                self.view = memoryview(buffer(lib.fc_data(h), self.held)).cast("B")
        if dtype is not self.dtype:
            if self.loose and self.dtype is uint8:  # bytes that were looked at before the first tensor came
                return over(self._untyped_storage, dtype)
            raise CheckpointError(f"load: tensors of {self.dtype} and {dtype} share a storage. Save one of them as a clone.")
        return self.tensor

    def swap(self) -> None:
        """Reverses the bytes of every number."""
        size = self.dtype.itemsize // (2 if self.dtype.is_complex else 1)
        data = bytearray(self.view)
        for k in range(size // 2):
            data[k::size], data[size - 1 - k :: size] = data[size - 1 - k :: size], data[k::size]
        self.view[:] = data

    def strided(self, dtype: Any, offset: int, size: Any, stride: Any) -> Tensor:
        """The tensor over this storage. Raises CheckpointError for one that would leave it."""
        check_geometry(offset, size, stride)
        base = self.typed(dtype)
        last = offset + sum((n - 1) * s for n, s in zip(size, stride))
        if 0 not in size and last >= base.numel():
            raise CheckpointError(f"load: a tensor of size {tuple(size)} and stride {tuple(stride)} at {offset} leaves its storage of {base.numel()} elements.")
        if 0 in size:
            offset, stride = min(offset, base.numel()), dense_strides(size)
        h = lib.fc_as_strided(base._h, len(size), list(size), list(stride), offset)
        if not h:
            raise CheckpointError(f"load: a tensor of size {tuple(size)} and stride {tuple(stride)} at {offset} cannot be made.")
        return own_tensor(h)


def dense_strides(size: Any) -> list[int]:
    strides, run = [], 1
    for n in reversed(size):
        strides.append(run)
        run *= max(n, 1)
    return strides[::-1]


def check_geometry(offset: Any, size: Any, stride: Any) -> None:
    if not all(isinstance(numbers, (tuple, list)) for numbers in (size, stride)):  # a tensor would say how long it is, and may lie
        raise CheckpointError(f"load: a tensor whose size is {type(size).__name__} and stride {type(stride).__name__}, not tuples.")
    if len(size) != len(stride) or len(size) > 64:
        raise CheckpointError(f"load: a tensor with {len(size)} sizes and {len(stride)} strides.")
    numbers = [offset, *size, *stride]
    if not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
        raise CheckpointError(f"load: a tensor with offset, sizes and strides {short(numbers)}: all must be integers from 0 up.")
    elements = 1
    for n in size:
        elements *= n
    if elements >= 2**62:
        raise CheckpointError(f"load: a tensor of size {tuple(size)}: too many elements.")


def storage_bytes(tensor: Tensor) -> memoryview:
    """The whole storage that a tensor looks into."""
    nbytes = lib.fc_storage_bytes(tensor._h)
    return memoryview(buffer(lib.fc_storage_data(tensor._h), nbytes)).cast("B") if nbytes else memoryview(bytearray())
