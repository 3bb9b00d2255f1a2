"""Handwritten digits that come with the package."""

from __future__ import annotations

from pathlib import Path

import facula

from ._idx import read_idx
from .vision import PictureTensors

__all__ = ["Digits"]

_FILES = Path(__file__).parent / "files"


class Digits(PictureTensors):
    """1,797 handwritten digits of 8x8 pixels: 1,433 to train on, 364 held out, nothing to download.

    The held-out ones are the first, sixth, eleventh, ... picture of each digit in the original order: both parts have
    the same writers and nearly the same share of every class, so this measures new pictures, not new writers.
    `data` is uint8 (N, 8, 8): the original counts 0..16 spread over 0..255 by round(count * 255 / 16).

    Source: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository (1998),
    CC BY 4.0, https://doi.org/10.24432/C50P49; the test set of that collection.

    >>> digits = facula.vision.datasets.Digits(train=False)
    >>> len(digits), digits[0][1] in range(10)
    (364, True)
    """

    classes = [str(digit) for digit in range(10)]

    def __init__(self, train: bool = True, transform=None, target_transform=None) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.train = train
        counts = read_idx(_FILES / "digits-images-idx3-ubyte.gz")
        labels = read_idx(_FILES / "digits-labels-idx1-ubyte.gz")
        chosen = facula.tensor(_split(labels.tolist(), train))
        self.data = (counts[chosen].to(facula.float32) * (255 / 16)).round().to(facula.uint8)
        self.targets = labels[chosen].to(facula.int64)


def _split(labels: list[int], train: bool) -> list[int]:
    seen = [0] * 10
    chosen = []
    for i, label in enumerate(labels):
        if (seen[label] % 5 != 0) == train:
            chosen.append(i)
        seen[label] += 1
    return chosen
