"""MNIST and Fashion-MNIST from their own files."""

from __future__ import annotations

import os

import facula

from ._idx import read_idx
from .utils import download_url
from .vision import PictureTensors

__all__ = ["MNIST", "FashionMNIST"]


class MNIST(PictureTensors):
    """Handwritten digits of 28x28 pixels, 60,000 to train on and 10,000 to test.

    root: the folder that holds `MNIST/raw/train-images-idx3-ubyte` and its three companions, each plain or `.gz`;
        the files may also lie in `root` itself.
    download: fetch what is missing, checked against the known digest.

    Raises RuntimeError naming every missing file and where it was looked for.

    >>> try:
    ...     facula.vision.datasets.MNIST("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    _label_dims = 1
    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/"]
    digests = {
        "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
    }
    classes = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four",
        "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine",
    ]  # fmt: skip

    def __init__(self, root, train: bool = True, transform=None, target_transform=None, download: bool = False) -> None:
        super().__init__(os.path.expanduser(root), transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        missing = [name for name in self._names if self._find(name) is None]
        if missing:
            raise RuntimeError(
                f"{type(self).__name__}: Dataset not found: {', '.join(missing)} (plain or .gz) neither in "
                f"{self.raw_folder} nor in {self.root}. Put them there, or use download=True."
            )
        images, labels = (read_idx(self._find(name)) for name in self._names)
        if images.dim() != 3 or labels.dim() != self._label_dims or len(images) != len(labels) or images.dtype != facula.uint8:
            raise RuntimeError(
                f"{type(self).__name__}: images are {tuple(images.shape)} {images.dtype} and labels "
                f"{tuple(labels.shape)} in {self.root}. Give the files of one data set."
            )
        self.data = images
        self.targets = labels.to(facula.int64)

    @property
    def raw_folder(self) -> str:
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def _names(self) -> list[str]:
        part = "train" if self.train else "t10k"
        return [name for name in self.digests if name.startswith(part)]

    def _find(self, name: str) -> str | None:
        for folder in (self.raw_folder, self.root):
            for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
                if os.path.isfile(path):
                    return path
        return None

    def download(self) -> None:
        """Fetches the files that are not there yet into `raw_folder`."""
        for name, digest in self.digests.items():
            if self._find(name) is None:
                self._fetch(name + ".gz", digest)

    def _fetch(self, file_name: str, digest: str) -> None:
        problems = []
        for mirror in self.mirrors:
            try:
                return download_url(mirror + file_name, self.raw_folder, file_name, digest)
            except (OSError, RuntimeError) as error:  # urllib's errors are OSErrors
                problems.append(f"{mirror}: {error}")
        raise RuntimeError(
            f"{type(self).__name__}: {file_name} could not be fetched ({'; '.join(problems)}). "
            f"Put it into {self.raw_folder} by hand."
        )


class FashionMNIST(MNIST):
    """Pictures of clothes by Zalando Research, in MNIST's format and numbers.

    >>> try:
    ...     facula.vision.datasets.FashionMNIST("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    digests = {
        "train-images-idx3-ubyte": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte": "bb300cfdad3c16e7a12a480ee83cd310",
    }
    classes = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip
