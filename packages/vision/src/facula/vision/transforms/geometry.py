"""Rotation, affine maps and blur, of floating or uint8 tensors (..., C, H, W) and PIL images."""

from __future__ import annotations

import math

import facula
from facula.nn import functional as F

from . import _picture as P
from .functional import InterpolationMode

__all__ = ["affine", "gaussian_blur", "rotate"]


def _matrix(center, angle, translate, scale, shear) -> list[float]:
    """The inverse of T(center) T(translate) R(angle) Shear(shear) S(scale) T(-center), two rows of three."""
    rot, sx, sy = math.radians(angle), *map(math.radians, shear)
    a = math.cos(rot - sy) / math.cos(sy)
    b = -math.cos(rot - sy) * math.tan(sx) / math.cos(sy) - math.sin(rot)
    c = math.sin(rot - sy) / math.cos(sy)
    d = -math.sin(rot - sy) * math.tan(sx) / math.cos(sy) + math.cos(rot)
    m = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    (cx, cy), (tx, ty) = center, translate
    m[2] += m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] += m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    return m


def _sampled(img, matrix, mode: str, fill, size=None):
    """img read where the matrix points to, pixels measured from the middle of the picture; fill outside."""
    width, height = img.shape[-1], img.shape[-2]
    out_width, out_height = size or (width, height)
    dtype = img.dtype if img.is_floating_point() else facula.float32
    theta = facula.tensor(matrix, dtype=dtype).reshape(1, 2, 3)
    x = facula.linspace(-out_width * 0.5 + 0.5, out_width * 0.5 + 0.5 - 1, out_width)
    y = facula.linspace(-out_height * 0.5 + 0.5, out_height * 0.5 + 0.5 - 1, out_height)
    base = facula.empty(1, out_height, out_width, 3, dtype=dtype)
    base[..., 0], base[..., 1], base[..., 2] = x, y.unsqueeze(-1), 1
    scaled = theta.transpose(1, 2) / facula.tensor([0.5 * width, 0.5 * height], dtype=dtype)
    grid = base.reshape(1, -1, 3).bmm(scaled).reshape(1, out_height, out_width, 2)
    planes = img.reshape(1, -1, height, width).to(dtype)
    channels = planes.shape[1]
    if fill is not None:
        planes = facula.cat([planes, facula.ones(1, 1, height, width, dtype=dtype)], dim=1)
    out = F.grid_sample(planes, grid, mode=mode, padding_mode="zeros", align_corners=False)
    if fill is not None:
        mask, out = out[:, -1:], out[:, :-1]
        value = facula.tensor(fill if isinstance(fill, (list, tuple)) else [float(fill)] * channels, dtype=dtype)
        value = value.reshape(1, -1, 1, 1).expand_as(out)
        out = facula.where(mask < 0.5, value, out) if mode == "nearest" else out * mask + (1.0 - mask) * value
    out = out if img.is_floating_point() else out.round().to(img.dtype)
    return out.reshape(*img.shape[:-2], out_height, out_width)


def _mode(name: str, img, interpolation) -> str:
    mode = InterpolationMode(interpolation)
    if not isinstance(img, facula.Tensor):
        raise TypeError(f"{name}: img should be PIL Image or Tensor, got {type(img).__name__}. Use to_tensor first.")
    if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(
            f"{name}: interpolation {mode.value!r} is for PIL images; tensors take 'nearest' and 'bilinear'."
        )
    return mode.value


def _resample(interpolation):
    from PIL import Image

    return getattr(Image.Resampling, InterpolationMode(interpolation).name)


def rotate(img, angle: float, interpolation=InterpolationMode.NEAREST, expand: bool = False, center=None, fill=None):
    """img turned by angle degrees against the clock around center (the middle); expand: large enough for all of it.

    >>> facula.vision.transforms.functional.rotate(facula.arange(4.0).view(1, 2, 2), 90)
    tensor([[[1., 3.],
             [0., 2.]]])
    """
    if P.is_pil(img):
        return img.rotate(angle, _resample(interpolation), expand, center, fillcolor=_pil_fill(fill, img))
    mode = _mode("rotate", img, interpolation)
    height, width = img.shape[-2:]
    middle = [0.0, 0.0] if center is None else [c - 0.5 * s for c, s in zip(center, (width, height))]
    # the matrix for reading turns the other way
    matrix = _matrix(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    return _sampled(img, matrix, mode, fill, _whole(matrix, width, height) if expand else None)


def _whole(matrix, width: int, height: int) -> tuple[int, int]:
    points = facula.tensor(
        [
            [-0.5 * width, -0.5 * height, 1.0],
            [-0.5 * width, 0.5 * height, 1.0],
            [0.5 * width, 0.5 * height, 1.0],
            [0.5 * width, -0.5 * height, 1.0],
        ]
    )
    moved = points @ facula.tensor(matrix, dtype=points.dtype).reshape(2, 3).T
    low = (moved.amin(0) + facula.tensor([width * 0.5, height * 0.5])) / 1e-4
    high = (moved.amax(0) + facula.tensor([width * 0.5, height * 0.5])) / 1e-4
    size = (high.trunc() * 1e-4).ceil() - (low.trunc() * 1e-4).floor()
    return int(size[0]), int(size[1])


def _pil_fill(fill, img):
    if fill is None or isinstance(fill, (list, tuple)):
        return None if fill is None else tuple(int(v) for v in fill)
    bands = len(img.getbands())
    return int(fill) if bands == 1 else (int(fill),) * bands


def affine(
    img, angle: float, translate, scale: float, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None
):
    """img turned, moved by translate pixels, scaled and sheared by degrees (x, y), around center (the middle).

    >>> facula.vision.transforms.functional.affine(facula.tensor([[[1.0, 2.0]]]), 0.0, [1, 0], 1.0, [0.0])
    tensor([[[0., 1.]]])
    """
    if scale <= 0.0:
        raise ValueError(f"affine: Argument scale should be positive, got {scale}")
    shear = (shear, 0.0) if isinstance(shear, (int, float)) else tuple(shear) if len(shear) == 2 else (shear[0], 0.0)
    if P.is_pil(img):
        from PIL import Image

        width, height = img.size
        matrix = _matrix(center or (width * 0.5, height * 0.5), angle, translate, scale, shear)
        return img.transform(
            img.size, Image.Transform.AFFINE, matrix, _resample(interpolation), fillcolor=_pil_fill(fill, img)
        )
    mode = _mode("affine", img, interpolation)
    height, width = img.shape[-2:]
    middle = [0.0, 0.0] if center is None else [c - 0.5 * s for c, s in zip(center, (width, height))]
    return _sampled(img, _matrix(middle, angle, translate, scale, shear), mode, fill)


def gaussian_blur(img, kernel_size, sigma=None):
    """img under a Gaussian of odd kernel_size (x, y) and sigma, 0.3 ((k - 1) / 2 - 1) + 0.8 unless given; edges reflected.

    >>> facula.vision.transforms.functional.gaussian_blur(facula.ones(1, 4, 4), 3).mean().round(decimals=3)
    tensor(1.)
    """
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if any(k % 2 == 0 or k < 1 for k in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    sigmas = (
        [k * 0.15 + 0.35 for k in sizes]
        if sigma is None
        else [float(sigma)] * 2
        if isinstance(sigma, (int, float))
        else list(sigma)
    )
    if any(s <= 0 for s in sigmas):
        raise ValueError(f"sigma should have positive values. Got {sigmas}")
    if P.is_pil(img):
        from .functional import pil_to_tensor, to_pil_image

        return to_pil_image(gaussian_blur(pil_to_tensor(img), sizes, sigmas))
    if not isinstance(img, facula.Tensor):
        raise TypeError(
            f"gaussian_blur: img should be PIL Image or Tensor, got {type(img).__name__}. Use to_tensor first."
        )
    dtype = img.dtype if img.is_floating_point() else facula.float32
    x, y = (_gaussian(k, s, dtype) for k, s in zip(sizes, sigmas))
    planes = img.reshape(-1, 1, *img.shape[-2:]).to(dtype)
    around = [sizes[0] // 2, sizes[0] // 2, sizes[1] // 2, sizes[1] // 2]
    out = F.conv2d(F.pad(planes, around, mode="reflect"), (y[:, None] * x[None, :])[None, None]).reshape(img.shape)
    return out if img.is_floating_point() else out.round().to(img.dtype)


def _gaussian(size: int, sigma: float, dtype):
    half = (size - 1) * 0.5
    weights = facula.exp(-0.5 * (facula.linspace(-half, half, size, dtype=dtype) / sigma) ** 2)
    return weights / weights.sum()
