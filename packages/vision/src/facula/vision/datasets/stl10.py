"""STL-10 from its own files. Source: Coates, Ng and Lee, An Analysis of Single-Layer Networks in Unsupervised Feature Learning (2011)."""

from __future__ import annotations

import os

import facula

from .vision import PictureTensors

__all__ = ["STL10"]

_BYTES = 3 * 96 * 96  # of a picture: planes, each column by column


class STL10(PictureTensors):
    """5,000 pictures of 96x96 pixels in 10 classes to train on, 8,000 to test, 100,000 without labels (theirs is -1).

    root: the folder that holds `stl10_binary`, unpacked; download is refused. split: "train", "test", "unlabeled" or "train+unlabeled".
    folds: one of the ten given choices of 1,000 pictures of "train", 0 to 9. A sample is (picture, label): an array (96, 96, 3) of uint8 and an int.

    Raises RuntimeError naming what is missing or damaged.

    >>> try:
    ...     facula.vision.datasets.STL10("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    base_folder = "stl10_binary"
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root, split: str = "train", folds: int | None = None, transform=None, target_transform=None, download: bool = False) -> None:
        super().__init__(os.path.expanduser(root), transform=transform, target_transform=target_transform)
        if split not in self.splits:
            raise ValueError(f"STL10: Unknown value {split!r} for argument split. Valid values are {self.splits}.")
        if folds is not None and (type(folds) is not int or not 0 <= folds < 10):
            raise ValueError(f"STL10: folds is {folds!r}. Choose one from 0 to 9, or None for all.")
        self.split, self.folds = split, folds
        self._download = download
        pictures, labels = zip(*(self._part(name) for name in split.split("+")))
        if folds is not None and "train" in split:
            lines = self._bytes("fold_indices.txt").decode("ascii").splitlines()
            chosen = facula.tensor([int(k) for k in lines[folds].split()])
            pictures, labels = (pictures[0][chosen], *pictures[1:]), (labels[0][chosen], *labels[1:])
        self.data = facula.cat(pictures).contiguous()
        self.targets = self.labels = facula.cat(labels)
        self.classes = self._bytes("class_names.txt").decode("ascii").split()

    def extra_repr(self) -> str:
        return f"Split: {self.split}"

    def _bytes(self, name: str) -> bytes:
        path = os.path.join(self.root, self.base_folder, name)
        if not os.path.isfile(path):
            what = "is not fetched: unpack the archive" if self._download else "not found or corrupted. Unpack the archive"
            raise RuntimeError(f"STL10: Dataset {what} into {self.root} ({name} not in {os.path.dirname(path)}).")
        with open(path, "rb") as file:
            return file.read()

    def _part(self, name: str):
        """(pictures, labels) of one file, and of the one with its labels."""
        data = self._bytes(f"{name}_X.bin")
        count, rest = divmod(len(data), _BYTES)
        if rest or not count:
            raise RuntimeError(f"STL10: {name}_X.bin is damaged: {len(data)} bytes are no number of pictures of {_BYTES}. Unpack the archive again.")
        pictures = facula.frombuffer(bytearray(data), dtype=facula.uint8).reshape(count, 3, 96, 96).permute(0, 3, 2, 1)
        if name == "unlabeled":
            return pictures, facula.full((count,), -1, dtype=facula.int64)
        labels = self._bytes(f"{name}_y.bin")
        if len(labels) != count:
            raise RuntimeError(f"STL10: {name}_y.bin has {len(labels)} labels for {count} pictures. Unpack the archive again.")
        return pictures, facula.frombuffer(bytearray(labels), dtype=facula.uint8).to(facula.int64) - 1
