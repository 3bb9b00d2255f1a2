"""Data sets of pictures."""

from ._idx import read_idx
from .digits import Digits
from .folder import DatasetFolder, ImageFolder
from .mnist import MNIST, FashionMNIST
from .vision import VisionDataset

__all__ = ["MNIST", "DatasetFolder", "Digits", "FashionMNIST", "ImageFolder", "VisionDataset", "read_idx"]
