"""Transforms that draw colours, turns and blur: torchvision's random numbers in torchvision's order."""

from __future__ import annotations

import math
import random

import facula
from facula import nn

from . import color, geometry
from . import functional as F
from ._picture import size_of
from .random import _uniform

__all__ = [
    "ColorJitter", "ElasticTransform", "FiveCrop", "GaussianBlur", "LinearTransformation", "RandomAdjustSharpness", "RandomAffine", "RandomAutocontrast", "RandomChoice",
    "RandomEqualize", "RandomGrayscale", "RandomInvert",
    "RandomOrder", "RandomPerspective", "RandomPosterize", "RandomRotation", "RandomSolarize", "TenCrop",
]  # fmt: skip


class ColorJitter(nn.Module):
    """Brightness, contrast, saturation and hue changed by drawn factors, in a drawn order.

    A number v means factors in [max(0, 1 - v), 1 + v], for hue in [-v, v]; a pair is the range itself.

    >>> facula.vision.transforms.ColorJitter(brightness=0.5)(facula.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0) -> None:
        super().__init__()
        self.brightness = self._range("brightness", brightness, 1)
        self.contrast = self._range("contrast", contrast, 1)
        self.saturation = self._range("saturation", saturation, 1)
        self.hue = self._range("hue", hue, 0, (-0.5, 0.5))

    @staticmethod
    def _range(name, value, middle, bound=(0, math.inf)):
        if isinstance(value, (int, float)):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative, got {value}.")
            low, high = float(middle - value), float(middle + value)
            low = max(low, 0.0) if middle == 1 else low
        else:
            low, high = map(float, value)
        if not bound[0] <= low <= high <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {[low, high]}.")
        return None if low == high == middle else (low, high)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """(order of the four changes, their factors or None)."""
        order = facula.randperm(4)
        return order, *(None if kind is None else _uniform(*kind) for kind in (brightness, contrast, saturation, hue))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        change = (color.adjust_brightness, color.adjust_contrast, color.adjust_saturation, color.adjust_hue)
        for k in order.tolist():
            if factors[k] is not None:
                img = change[k](img, factors[k])
        return img

    def extra_repr(self) -> str:
        return f"brightness={self.brightness}, contrast={self.contrast}, saturation={self.saturation}, hue={self.hue}"


class _WithP(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, img):
        return self.apply_to(img) if facula.rand(1).item() < self.p else img

    def extra_repr(self) -> str:
        return f"p={self.p}"


class RandomGrayscale(_WithP):
    """Grey with probability p, as many channels as before.

    >>> facula.vision.transforms.RandomGrayscale(p=1.0)(facula.rand(3, 2, 2)).std(0).max().round(decimals=3)
    tensor(0.)
    """

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def apply_to(self, img):
        return color.rgb_to_grayscale(img, num_output_channels=F.get_dimensions(img)[0])


class RandomInvert(_WithP):
    """Inverted with probability p.

    >>> facula.vision.transforms.RandomInvert(p=1.0)(facula.tensor([[[0.25, 1.0]]]))
    tensor([[[0.7500, 0.0000]]])
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    apply_to = staticmethod(color.invert)


class RandomPosterize(_WithP):
    """The upper bits alone, with probability p.

    >>> facula.vision.transforms.RandomPosterize(1, p=1.0)(facula.tensor([[[100, 200]]], dtype=facula.uint8))
    tensor([[[  0, 128]]], dtype=torch.uint8)
    """

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def apply_to(self, img):
        return color.posterize(img, self.bits)


class RandomSolarize(_WithP):
    """Values from threshold on inverted, with probability p.

    >>> facula.vision.transforms.RandomSolarize(0.5, p=1.0)(facula.tensor([[[0.25, 0.75]]]))
    tensor([[[0.2500, 0.2500]]])
    """

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def apply_to(self, img):
        return color.solarize(img, self.threshold)


class RandomAdjustSharpness(_WithP):
    """adjust_sharpness by that factor, with probability p.

    >>> facula.vision.transforms.RandomAdjustSharpness(2.0, p=1.0)(facula.ones(1, 4, 4)).shape
    torch.Size([1, 4, 4])
    """

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def apply_to(self, img):
        return color.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(RandomInvert):
    """autocontrast with probability p.

    >>> facula.vision.transforms.RandomAutocontrast(p=1.0)(facula.tensor([[[0.25, 0.5]]]))
    tensor([[[0., 1.]]])
    """

    apply_to = staticmethod(color.autocontrast)


class RandomEqualize(RandomInvert):
    """equalize with probability p.

    >>> facula.vision.transforms.RandomEqualize(p=1.0)(facula.zeros(1, 2, 2, dtype=facula.uint8)).sum()
    tensor(0)
    """

    apply_to = staticmethod(color.equalize)


def _angles(name: str, value) -> tuple[float, float]:
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive, got {value}.")
        return -float(value), float(value)
    if len(value) not in (2, 4):
        raise ValueError(f"{name} should be a sequence of length 2, got {value}.")
    return tuple(float(v) for v in value)


class RandomRotation(nn.Module):
    """Turned by an angle in [-degrees, degrees], or in the range given as a pair.

    >>> facula.vision.transforms.RandomRotation((90, 90))(facula.arange(4.0).view(1, 2, 2))
    tensor([[[1., 3.],
             [0., 2.]]])
    """

    def __init__(self, degrees, interpolation=F.InterpolationMode.NEAREST, expand=False, center=None, fill=0) -> None:
        super().__init__()
        self.degrees = _angles("degrees", degrees)
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    @staticmethod
    def get_params(degrees) -> float:
        """The angle."""
        return _uniform(*degrees)

    def forward(self, img):
        return geometry.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(nn.Module):
    """Turned, moved by at most the share translate of the size, scaled and sheared, each by drawn amounts.

    >>> facula.vision.transforms.RandomAffine(0, translate=(0.0, 0.0))(facula.arange(4.0).view(1, 2, 2))
    tensor([[[0., 1.],
             [2., 3.]]])
    """

    def __init__(
        self,
        degrees,
        translate=None,
        scale=None,
        shear=None,
        interpolation=F.InterpolationMode.NEAREST,
        fill=0,
        center=None,
    ) -> None:
        super().__init__()
        self.degrees, self.shear = _angles("degrees", degrees), None if shear is None else _angles("shear", shear)
        if translate is not None and any(not 0 <= t <= 1 for t in translate):
            raise ValueError(f"translation values should be between 0 and 1, got {translate}")
        if scale is not None and any(s <= 0 for s in scale):
            raise ValueError(f"scale values should be positive, got {scale}")
        self.translate, self.scale = translate, scale
        self.interpolation, self.fill, self.center = interpolation, fill, center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """(angle, pixels moved (x, y), scale, shear (x, y)) for a picture of img_size (width, height)."""
        width, height = img_size
        angle = _uniform(*degrees)
        moved, scale, shear = (0, 0), 1.0, (0.0, 0.0)
        if translate is not None:
            dx, dy = translate[0] * width, translate[1] * height
            moved = (int(round(_uniform(-dx, dx))), int(round(_uniform(-dy, dy))))
        if scale_ranges is not None:
            scale = _uniform(*scale_ranges)
        if shears is not None:
            x = _uniform(*shears[:2])
            shear = (x, _uniform(*shears[2:]) if len(shears) == 4 else 0.0)
        return angle, moved, scale, shear

    def forward(self, img):
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, size_of(img)[::-1])
        return geometry.affine(img, *drawn, self.interpolation, self.fill, self.center)


class RandomPerspective(nn.Module):
    """Seen from elsewhere with probability p: each corner moved by up to distortion_scale of half the picture.

    >>> facula.vision.transforms.RandomPerspective(p=1.0)(facula.ones(1, 4, 6)).shape
    torch.Size([1, 4, 6])
    """

    def __init__(self, distortion_scale: float = 0.5, p: float = 0.5, interpolation=F.InterpolationMode.BILINEAR, fill=0) -> None:
        super().__init__()
        self.p, self.distortion_scale, self.interpolation, self.fill = p, distortion_scale, interpolation, fill or 0

    @staticmethod
    def get_params(width: int, height: int, distortion_scale: float):
        """(the four corners, where they go): top left, top right, bottom right, bottom left, each [x, y]."""
        far_x, far_y = (int(distortion_scale * (n // 2)) + 1 for n in (width, height))
        left, right, top, bottom = (0, far_x), (width - far_x, width), (0, far_y), (height - far_y, height)
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        sides = [(left, top), (right, top), (right, bottom), (left, bottom)]
        return corners, [[int(facula.randint(*x, (1,))), int(facula.randint(*y, (1,)))] for x, y in sides]

    def forward(self, img):
        if not facula.rand(1) < self.p:
            return img
        height, width = size_of(img)
        return geometry.perspective(img, *self.get_params(width, height, self.distortion_scale), self.interpolation, self.fill)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def _two(name: str, value) -> list[float]:
    if isinstance(value, (int, float)):
        return [float(value)] * 2
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(value).__name__}. Give one or two.")
    if len(value) not in (1, 2):
        raise ValueError(f"{name} should be a number or a sequence of 1 or 2 numbers. Got {len(value)}. Give one or two.")
    return [float(v) for v in value] * (2 // len(value))


class ElasticTransform(nn.Module):
    """Every pixel read alpha times a random direction away, directions smoothed by a Gaussian of sigma pixels; alpha and sigma: x and y.

    Source: Simard et al., Best Practices for Convolutional Neural Networks (2003).

    >>> facula.vision.transforms.ElasticTransform(sigma=0.5)(facula.ones(1, 8, 8)).shape
    torch.Size([1, 8, 8])
    """

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=F.InterpolationMode.BILINEAR, fill=0) -> None:
        super().__init__()
        self.alpha, self.sigma = _two("alpha", alpha), _two("sigma", sigma)
        self.interpolation, self.fill = interpolation, fill

    @staticmethod
    def get_params(alpha, sigma, size):
        """The displacement (1, H, W, 2) of a picture of that size (H, W)."""
        both = []
        for a, s, length in zip(alpha, sigma, (size[1], size[0])):
            away = facula.rand(1, 1, *size) * 2 - 1
            if s > 0.0:
                width = int(8 * s + 1) | 1
                away = geometry.gaussian_blur(away, [width, width], list(sigma))
            both.append(away * a / length)
        return facula.cat(both, 1).permute(0, 2, 3, 1)

    def forward(self, tensor):
        displacement = self.get_params(self.alpha, self.sigma, size_of(tensor))
        return geometry.elastic_transform(tensor, displacement, self.interpolation, self.fill)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}, fill={self.fill}"


class GaussianBlur(nn.Module):
    """Blurred with a sigma drawn from a range (or that number).

    >>> facula.vision.transforms.GaussianBlur(3)(facula.ones(1, 4, 4)).mean().round(decimals=3)
    tensor(1.)
    """

    def __init__(self, kernel_size, sigma=(0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        if any(k <= 0 or k % 2 == 0 for k in self.kernel_size):
            raise ValueError(f"Kernel size value should be an odd and positive number, got {kernel_size}.")
        self.sigma = (sigma, sigma) if isinstance(sigma, (int, float)) else tuple(sigma)
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """The sigma."""
        return _uniform(sigma_min, sigma_max)

    def forward(self, img):
        sigma = self.get_params(*self.sigma)
        return geometry.gaussian_blur(img, self.kernel_size, [sigma, sigma])


class RandomOrder(nn.Module):
    """All the given transforms, in an order drawn by Python's random.

    >>> facula.vision.transforms.RandomOrder([lambda x: x + 1, lambda x: x + 2])(facula.tensor([1.0]))
    tensor([4.])
    """

    def __init__(self, transforms) -> None:
        super().__init__()
        self.transforms = list(transforms)

    def forward(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for k in order:
            img = self.transforms[k](img)
        return img


class RandomChoice(nn.Module):
    """One of the given transforms, chosen by Python's random with weights p.

    >>> facula.vision.transforms.RandomChoice([lambda x: x + 1, lambda x: x + 1])(facula.tensor([1.0]))
    tensor([2.])
    """

    def __init__(self, transforms, p=None) -> None:
        super().__init__()
        self.transforms, self.p = list(transforms), p

    def forward(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)


class FiveCrop(nn.Module):
    """The four corners and the middle, as a tuple.

    >>> [crop.item() for crop in facula.vision.transforms.FiveCrop(1)(facula.arange(9.0).view(1, 3, 3))]
    [0.0, 2.0, 6.0, 8.0, 4.0]
    """

    def __init__(self, size) -> None:
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else (*size, size[0])[:2]

    def forward(self, img):
        (height, width), (h, w) = size_of(img), self.size
        if h > height or w > width:
            raise ValueError(f"Requested crop size {(h, w)} is bigger than input size {(height, width)}")
        corners = [(0, 0), (0, width - w), (height - h, 0), (height - h, width - w)]
        return (*(F.crop(img, top, left, h, w) for top, left in corners), F.center_crop(img, [h, w]))


class TenCrop(FiveCrop):
    """FiveCrop of the picture and of its mirror image (upside down, with vertical_flip).

    >>> len(facula.vision.transforms.TenCrop(1)(facula.arange(9.0).view(1, 3, 3)))
    10
    """

    def __init__(self, size, vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return super().forward(img) + super().forward(F.vflip(img) if self.vertical_flip else F.hflip(img))


class LinearTransformation(nn.Module):
    """(flat picture - mean_vector) @ transformation_matrix, in the picture's shape: whitening.

    >>> facula.vision.transforms.LinearTransformation(2 * facula.eye(2), facula.ones(2))(facula.tensor([[[1.0, 3.0]]]))
    tensor([[[0., 4.]]])
    """

    def __init__(self, transformation_matrix, mean_vector) -> None:
        super().__init__()
        n, m = transformation_matrix.shape
        if n != m or mean_vector.shape[0] != n:
            raise ValueError(
                f"transformation_matrix should be square and mean_vector as long, got {(n, m)} and {tuple(mean_vector.shape)}."
            )
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor):
        flat = tensor.reshape(-1, self.mean_vector.shape[0])
        return ((flat - self.mean_vector) @ self.transformation_matrix).reshape(tensor.shape)
