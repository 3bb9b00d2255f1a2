"""Transforms that draw: each takes torchvision's random numbers in torchvision's order."""

from __future__ import annotations

import math

import facula
from facula import nn

from . import functional as F

__all__ = [
    "RandomApply",
    "RandomCrop",
    "RandomErasing",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
]

_ATTEMPTS = 10  # of finding a part with the drawn area and ratio that fits


def _pair(size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (*size, size[0])[:2]


def _below(n: int) -> int:
    return facula.randint(0, n, size=(1,)).item()


def _uniform(low: float, high: float) -> float:
    return facula.empty(1).uniform_(low, high).item()


class _Flip(nn.Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def extra_repr(self) -> str:
        return f"p={self.p}"


class RandomHorizontalFlip(_Flip):
    """Mirrored with probability p.

    >>> facula.vision.transforms.RandomHorizontalFlip(p=1.0)(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """

    def forward(self, img):
        return F.hflip(img) if facula.rand(1) < self.p else img


class RandomVerticalFlip(_Flip):
    """Upside down with probability p.

    >>> facula.vision.transforms.RandomVerticalFlip(p=1.0)(facula.tensor([[[1.0], [2.0]]]))
    tensor([[[2.],
             [1.]]])
    """

    def forward(self, img):
        return F.vflip(img) if facula.rand(1) < self.p else img


class RandomApply(nn.Module):
    """All the given transforms with probability p, or none.

    >>> facula.vision.transforms.RandomApply([lambda x: 2 * x], p=1.0)(facula.tensor([1.0]))
    tensor([2.])
    """

    def __init__(self, transforms, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img):
        if self.p < facula.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img


class RandomCrop(nn.Module):
    """A part of that size at a random place, of the padded picture.

    >>> facula.vision.transforms.RandomCrop(2)(facula.zeros(1, 3, 3)).shape
    torch.Size([1, 2, 2])
    """

    def __init__(self, size, padding=None, pad_if_needed: bool = False, fill=0, padding_mode="constant") -> None:
        super().__init__()
        self.size = _pair(size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """(top, left, height, width)."""
        _, height, width = F.get_dimensions(img)
        crop_height, crop_width = output_size
        if height < crop_height or width < crop_width:
            raise ValueError(
                f"RandomCrop: Required crop size {output_size} is larger than input image size {(height, width)}. "
                "Use padding, or pad_if_needed=True."
            )
        if (height, width) == (crop_height, crop_width):
            return 0, 0, height, width
        return _below(height - crop_height + 1), _below(width - crop_width + 1), crop_height, crop_width

    def _pad(self, img, padding):
        return F.pad(img, padding, self.fill, self.padding_mode)

    def forward(self, img):
        if self.padding is not None:
            img = self._pad(img, self.padding)
        if self.pad_if_needed:
            _, height, width = F.get_dimensions(img)
            if width < self.size[1]:
                img = self._pad(img, (self.size[1] - width, 0))
            if height < self.size[0]:
                img = self._pad(img, (0, self.size[0] - height))
        return F.crop(img, *self.get_params(img, self.size))

    def extra_repr(self) -> str:
        return f"size={self.size}, padding={self.padding}"


class RandomResizedCrop(nn.Module):
    """A part of random area and ratio, resized to `size`.

    >>> facula.vision.transforms.RandomResizedCrop(4)(facula.zeros(3, 8, 8)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(
        self,
        size,
        scale=(0.08, 1.0),
        ratio=(3 / 4, 4 / 3),
        interpolation=F.InterpolationMode.BILINEAR,
        antialias: bool = True,
    ) -> None:
        super().__init__()
        self.size = _pair(size)
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation
        self.antialias = antialias

    @staticmethod
    def get_params(img, scale, ratio) -> tuple[int, int, int, int]:
        """(top, left, height, width)."""
        _, height, width = F.get_dimensions(img)
        for _ in range(_ATTEMPTS):
            area = height * width * _uniform(*scale)
            aspect = _log_uniform(*ratio)
            part_width, part_height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < part_width <= width and 0 < part_height <= height:
                return _below(height - part_height + 1), _below(width - part_width + 1), part_height, part_width
        # The middle, as near to the allowed ratios as the picture is.
        if width / height < min(ratio):
            part_height, part_width = round(width / min(ratio)), width
        elif width / height > max(ratio):
            part_height, part_width = height, round(height * max(ratio))
        else:
            part_height, part_width = height, width
        return (height - part_height) // 2, (width - part_width) // 2, part_height, part_width

    def forward(self, img):
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, self.antialias)


def _log_uniform(low: float, high: float) -> float:
    # In float32 throughout, as torchvision: the bounds' logarithms and the exponential are tensors there.
    low, high = facula.log(facula.tensor([low, high])).tolist()
    return facula.exp(facula.empty(1).uniform_(low, high)).item()


class RandomErasing(nn.Module):
    """A random rectangle overwritten with `value` ("random": normal numbers), with probability p.

    Source: Zhong et al., Random Erasing Data Augmentation (2017).

    >>> bool((facula.vision.transforms.RandomErasing(p=1.0)(facula.ones(1, 8, 8)) == 0).any())
    True
    """

    def __init__(self, p: float = 0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace: bool = False) -> None:
        super().__init__()
        if isinstance(value, str) and value != "random":
            raise ValueError(
                f"RandomErasing: If value is str, it should be 'random', got {value!r}. Give it or a number."
            )
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """(top, left, height, width, what goes there); the whole picture and itself where no part fits. value: None for normal numbers."""
        channels, height, width = img.shape[-3:]
        for _ in range(_ATTEMPTS):
            area = height * width * _uniform(*scale)
            aspect = _log_uniform(*ratio)
            part_height, part_width = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if part_height >= height or part_width >= width:
                continue
            if value is None:
                there = facula.empty([channels, part_height, part_width]).normal_()
            else:
                there = facula.tensor(value, dtype=facula.float32).reshape(-1, 1, 1)
            return _below(height - part_height + 1), _below(width - part_width + 1), part_height, part_width, there
        return 0, 0, height, width, img

    def forward(self, img):
        if not facula.rand(1) < self.p:
            return img
        value = [self.value] if isinstance(self.value, (int, float)) else None if self.value == "random" else list(self.value)
        *part, there = self.get_params(img, self.scale, self.ratio, value)
        return img if there is img else F.erase(img, *part, there.to(img.dtype), self.inplace)
