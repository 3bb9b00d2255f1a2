"""CIFAR-10 and CIFAR-100 from their own files."""

from __future__ import annotations

import hashlib
import math
import os
import pickle

import facula
from facula.tensor_core.extend import read_pickle

from .vision import PictureTensors

__all__ = ["CIFAR10", "CIFAR100"]

class _Bytes:
    """An array of bytes as NumPy pickles it, read without NumPy, whose own constructors believe whatever a pickle says."""

    def __setstate__(self, state) -> None:
        _, shape, kind, fortran, self.data = state
        if type(kind) is not _Kind or kind.name not in ("u1", "|u1") or fortran or type(self.data) not in (bytes, str):
            raise TypeError("an array is not of uint8 in C order")
        if type(shape) is not tuple or not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(self.data):
            raise ValueError(f"an array of shape {shape} has {len(self.data)} bytes")

    def pictures(self):
        data = _latin1(self.data) if type(self.data) is str else self.data
        return facula.frombuffer(bytearray(data), dtype=facula.uint8).reshape(-1, 3, 32, 32).permute(0, 2, 3, 1)


class _Kind:
    """A NumPy dtype by name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __setstate__(self, state) -> None:
        """Byte order and alignment: bytes have none."""


def _latin1(text: str, codec: str = "latin1") -> bytes:
    return text.encode("latin1")


_READ = {
    ("numpy.core.multiarray", "_reconstruct"): lambda *args: _Bytes(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *args: _Bytes(),
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): lambda name, *args: _Kind(name),
    ("_codecs", "encode"): _latin1,  # bytes as Python 3 writes them in protocol 2
}


def _resolve(module: str, name: str):
    if (module, name) not in _READ:
        raise pickle.UnpicklingError(f"the file names {module}.{name}; only arrays are read")
    return _READ[module, name]


class CIFAR10(PictureTensors):
    """60,000 pictures of 32x32 pixels in 10 classes; 50,000 to train on.

    root: the folder that holds `cifar-10-batches-py` from the Python archive, unpacked. download is refused: unpack it by hand.
    A sample is (picture, label): an array (32, 32, 3) of uint8, which every transform takes, and an int.

    Raises RuntimeError naming what is missing or damaged.

    >>> try:
    ...     facula.vision.datasets.CIFAR10("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    base_folder = "cifar-10-batches-py"
    train_list = [[f"data_batch_{k}", d] for k, d in enumerate(
        ("c99cafc152244af753f735de768cd75f", "d4bba439e000b95fd0a9bffe97cbabec", "54ebc095f3ab1f0389bbae665268c751",
         "634d18415352ddfa80567beed471001a", "482c414d41f54cd18b22e5b47cb7c3cb"), 1)]  # fmt: skip
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = ("batches.meta", "label_names")
    key = "labels"

    def __init__(self, root, train: bool = True, transform=None, target_transform=None, download: bool = False) -> None:
        super().__init__(os.path.expanduser(root), transform=transform, target_transform=target_transform)
        self.train = train
        folder = os.path.join(self.root, self.base_folder)
        names = self.train_list if train else self.test_list
        missing = [n for n, _ in names if not os.path.isfile(os.path.join(folder, n))]
        if missing:
            what = (
                "is not fetched: unpack the Python archive"
                if download
                else "not found or corrupted. Unpack the archive"
            )
            raise RuntimeError(
                f"{type(self).__name__}: Dataset {what} into {self.root} ({', '.join(missing)} not in {folder})."
            )
        parts, targets = [], []
        for name, digest in names:
            batch = self._read(os.path.join(folder, name), digest)
            if type(batch.get("data")) is not _Bytes or type(batch.get(self.key)) is not list:
                raise RuntimeError(f"{type(self).__name__}: {name} has no data or no {self.key}. Unpack the archive again.")
            parts.append(batch["data"].pictures())
            targets += batch[self.key]
        self.data = facula.cat(parts).contiguous()
        self.targets = facula.tensor(targets, dtype=facula.int64)
        self.classes = self._read(os.path.join(folder, self.meta[0]), None)[self.meta[1]]

    def _read(self, path: str, digest: str | None) -> dict:
        with open(path, "rb") as file:
            data = file.read()
        if digest is not None and hashlib.md5(data, usedforsecurity=False).hexdigest() != digest:
            raise RuntimeError(f"{type(self).__name__}: {path} is damaged: its md5 is not {digest}.")
        try:
            found = read_pickle(data, _resolve, trusted=(_Bytes, _Kind).__contains__)
        except pickle.UnpicklingError as error:
            raise RuntimeError(f"{type(self).__name__}: {path} cannot be read ({error}).") from error
        if type(found) is not dict:
            raise RuntimeError(f"{type(self).__name__}: {path} holds a {type(found).__name__}, not a dict. Unpack the archive again.")
        return found


class CIFAR100(CIFAR10):
    """60,000 pictures of 32x32 pixels in 100 classes, from `cifar-100-python`.

    >>> try:
    ...     facula.vision.datasets.CIFAR100("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    base_folder = "cifar-100-python"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = ("meta", "fine_label_names")
    key = "fine_labels"
