"""Data sets in MNIST's format: Kuzushiji-MNIST, EMNIST, QMNIST."""

from __future__ import annotations

import string


from .mnist import MNIST

__all__ = ["EMNIST", "KMNIST", "QMNIST"]


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ValueError(f"Unknown value {value!r} for argument {name}. Valid values are {', '.join(known)}.")
    return value


class KMNIST(MNIST):
    """Ten Kuzushiji characters of 28x28 pixels, in MNIST's format and numbers.

    >>> try:
    ...     facula.vision.datasets.KMNIST("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    digests = {
        "train-images-idx3-ubyte": "bdb82020997e1d708af4cf47b453dcf7",
        "train-labels-idx1-ubyte": "e144d726b3acfaa3e44228e80efcd344",
        "t10k-images-idx3-ubyte": "5c965bf0a639b31b8f53240b1b52f4d7",
        "t10k-labels-idx1-ubyte": "7320c461ea6c1c855c0b718fb2a4b134",
    }
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


# Small letters that EMNIST's merged splits do not tell from their capitals.
_MERGED = set("cijklmopsuvwxyz")
_TOLD_APART = sorted(set(string.digits + string.ascii_letters) - _MERGED)


class EMNIST(MNIST):
    """Handwritten letters and digits of 28x28 pixels; split: byclass, bymerge, balanced, letters, digits or mnist.

    root holds `EMNIST/raw/emnist-<split>-train-images-idx3-ubyte` and its companions, each plain or `.gz`, as in the
    archive gzip.zip that NIST publishes. The pictures are transposed there, and here.

    >>> try:
    ...     facula.vision.datasets.EMNIST("nowhere", split="letters")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    classes_split_dict = {
        "byclass": sorted(string.digits + string.ascii_letters), "bymerge": _TOLD_APART, "balanced": _TOLD_APART,
        "letters": ["N/A", *string.ascii_lowercase], "digits": list(string.digits), "mnist": list(string.digits),
    }  # fmt: skip
    splits = tuple(classes_split_dict)

    def __init__(self, root, split: str, **kwargs) -> None:
        self.split = _one_of("split", split, self.splits)
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[split]

    @property
    def _names(self) -> list[str]:
        prefix = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return [f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"]

    def download(self) -> None:
        """Nothing where the files are there; else RuntimeError: they are published only as one archive of 536 MB."""
        if any(self._find(name) is None for name in self._names):
            raise RuntimeError(
                "EMNIST: the files come only as one archive of 536 MB, which is not fetched here. Get "
                f"https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip and unpack it into {self.raw_folder}."
            )


class QMNIST(MNIST):
    """MNIST rebuilt from NIST's digits, with all 60,000 test pictures and where each came from.

    what: train, test, test10k (MNIST's own test pictures), test50k (the others) or nist (all digits; its two files
        are read unpacked from .xz); by default train or test, as `train` says.
    compat: True: a target is the class; False: the tensor of the eight published numbers, the class first.

    >>> try:
    ...     facula.vision.datasets.QMNIST("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    mirrors = ["https://raw.githubusercontent.com/facebookresearch/qmnist/master/"]
    digests = {
        "qmnist-train-images-idx3-ubyte": "ed72d4157d28c017586c42bc6afe6370",
        "qmnist-train-labels-idx2-int": "0058f8dd561b90ffdd0f734c6a30e5e4",
        "qmnist-test-images-idx3-ubyte": "1394631089c404de565df7b7aeaf9412",
        "qmnist-test-labels-idx2-int": "5b5b05890a5e13444e108efe57b788aa",
    }
    subsets = {"train": "qmnist-train", "test": "qmnist-test", "test10k": "qmnist-test", "test50k": "qmnist-test", "nist": "xnist"}
    _label_dims = 2

    def __init__(self, root, what: str | None = None, compat: bool = True, train: bool = True, **kwargs) -> None:
        self.what = _one_of("what", ("train" if train else "test") if what is None else what, tuple(self.subsets))
        self.compat = compat
        super().__init__(root, train, **kwargs)
        part = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}.get(self.what)
        if part is not None:
            self.data, self.targets = self.data[part].clone(), self.targets[part].clone()

    @property
    def _names(self) -> list[str]:
        prefix = self.subsets[self.what]
        return [f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx2-int"]

    def download(self) -> None:
        """Fetches the two files of `what` that are not there yet; nist's, which are packed with xz, are not fetched."""
        for name in self._names:
            if self._find(name) is None:
                if name not in self.digests:
                    raise RuntimeError(f"QMNIST: {name} is published as .xz, which is not fetched here. Unpack it into {self.raw_folder}.")
                self._fetch(name + ".gz", self.digests[name])

    def extra_repr(self) -> str:
        return f"Split: {self.what}"

    def _target(self, index: int):
        row = self.targets[index]
        return int(row[0]) if self.compat else row
