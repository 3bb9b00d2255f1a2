"""Data sets of pictures."""

from ._idx import read_idx
from .cifar import CIFAR10, CIFAR100
from .coco import CocoCaptions, CocoDetection
from .digits import Digits
from .fake import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import MNIST, FashionMNIST
from .mnist_kin import EMNIST, KMNIST, QMNIST
from .stl10 import STL10
from .vision import VisionDataset
from .voc import VOCDetection, VOCSegmentation

__all__ = [
    "CIFAR10", "CIFAR100", "EMNIST", "KMNIST", "MNIST", "QMNIST", "STL10", "CocoCaptions", "CocoDetection", "DatasetFolder", "Digits", "FakeData",
    "FashionMNIST", "ImageFolder", "VOCDetection", "VOCSegmentation", "VisionDataset", "read_idx",
]  # fmt: skip
