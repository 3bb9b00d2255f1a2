"""Transforms of pictures: tensors (..., H, W), NumPy arrays (H, W) or (H, W, C), PIL images."""

from . import augment, autoaugment, functional
from .augment import *
from .autoaugment import *
from .fixed import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToTensor,
)
from .functional import InterpolationMode
from .random import (
    RandomApply,
    RandomCrop,
    RandomErasing,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
)

__all__ = [
    *augment.__all__,
    *autoaugment.__all__,
    "CenterCrop",
    "Compose",
    "ConvertImageDtype",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "functional",
]
