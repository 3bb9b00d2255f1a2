"""Rotation, affine, perspective and elastic maps, and blur, of floating or uint8 tensors (..., C, H, W) and PIL images."""

from __future__ import annotations

import math

import facula
from facula.nn import functional as F

from . import _picture as P
from .functional import InterpolationMode

__all__ = ["affine", "elastic_transform", "gaussian_blur", "perspective", "rotate"]


def matrix(center, angle, translate, scale, shear) -> list[float]:
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


def _float_of(img):
    return img.dtype if img.is_floating_point() else facula.float32


def _sampled(img, matrix, mode: str, fill, size=None):
    """img read where the matrix points to, pixels measured from the middle of the picture; fill outside."""
    width, height = img.shape[-1], img.shape[-2]
    out_width, out_height = size or (width, height)
    dtype = _float_of(img)
    theta = facula.tensor(matrix, dtype=dtype).reshape(1, 2, 3)
    x = facula.linspace(-out_width * 0.5 + 0.5, out_width * 0.5 + 0.5 - 1, out_width)
    y = facula.linspace(-out_height * 0.5 + 0.5, out_height * 0.5 + 0.5 - 1, out_height)
    scaled = theta.transpose(1, 2) / facula.tensor([0.5 * width, 0.5 * height], dtype=dtype)
    return _read(img, _homogeneous(x, y, dtype).bmm(scaled).reshape(1, out_height, out_width, 2), mode, fill)


def _homogeneous(x, y, dtype):
    """(1, H * W, 3): (x, y, 1) of every pixel."""
    base = facula.empty(1, len(y), len(x), 3, dtype=dtype)
    base[..., 0], base[..., 1], base[..., 2] = x, y.unsqueeze(-1), 1
    return base.reshape(1, -1, 3)


def _read(img, grid, mode: str, fill):
    """img at the places of the grid (1, H, W, 2), [-1, 1] from edge to edge; fill outside."""
    channels = img.shape[-3] if img.dim() > 2 else 1
    planes = img.reshape(-1, channels, *img.shape[-2:]).to(grid.dtype)
    if fill is not None:
        planes = facula.cat([planes, facula.ones_like(planes[:, :1])], dim=1)
    out = F.grid_sample(planes, grid.expand(len(planes), -1, -1, -1), mode=mode, padding_mode="zeros", align_corners=False)
    if fill is not None:
        mask, out = out[:, -1:], out[:, :-1]
        value = facula.tensor(fill if isinstance(fill, (list, tuple)) else [float(fill)], dtype=grid.dtype)
        if len(value) not in (1, channels):
            raise ValueError(
                f"The number of elements in 'fill' cannot broadcast to match the number of channels of the image ({len(value)} != {channels})"
            )
        value = value.reshape(1, -1, 1, 1).expand_as(out)
        out = facula.where(mask < 0.5, value, out) if mode == "nearest" else out * mask + (1.0 - mask) * value
    out = out if img.is_floating_point() else out.round().to(img.dtype)
    return out.reshape(*img.shape[:-2], *grid.shape[1:3])


def _mode(name: str, img, interpolation) -> str:
    mode = InterpolationMode(interpolation)
    if not isinstance(img, facula.Tensor):
        raise TypeError(f"{name}: img should be PIL Image or Tensor, got {type(img).__name__}. Use to_tensor first.")
    if mode not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(
            f"{name}: interpolation {mode.value!r} is for PIL images; tensors take 'nearest' and 'bilinear'."
        )
    return mode.value


def rotate(img, angle: float, interpolation=InterpolationMode.NEAREST, expand: bool = False, center=None, fill=None):
    """img turned by angle degrees against the clock around center (the middle); expand: large enough for all of it.

    >>> facula.vision.transforms.functional.rotate(facula.arange(4.0).view(1, 2, 2), 90)
    tensor([[[1., 3.],
             [0., 2.]]])
    """
    if P.is_pil(img):
        return img.rotate(angle, P.resampling(InterpolationMode(interpolation).value), expand, center, fillcolor=_pil_fill(fill, img))
    mode = _mode("rotate", img, interpolation)
    height, width = img.shape[-2:]
    middle = [0.0, 0.0] if center is None else [c - 0.5 * s for c, s in zip(center, (width, height))]
    # the matrix for reading turns the other way
    back = matrix(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    return _sampled(img, back, mode, fill, whole(back, width, height) if expand else None)


def whole(matrix, width: int, height: int) -> tuple[int, int]:
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


def shears(shear) -> tuple[float, float]:
    """(x, y) of one number for x, or of one or two in a sequence."""
    return (shear, 0.0) if isinstance(shear, (int, float)) else tuple(shear) * (2 // len(shear))


def affine(
    img, angle: float, translate, scale: float, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None
):
    """img turned, moved by translate pixels, scaled and sheared by degrees (x, y), around center (the middle).

    >>> facula.vision.transforms.functional.affine(facula.tensor([[[1.0, 2.0]]]), 0.0, [1, 0], 1.0, [0.0])
    tensor([[[0., 1.]]])
    """
    if scale <= 0.0:
        raise ValueError(f"affine: Argument scale should be positive, got {scale}")
    shear = shears(shear)
    if P.is_pil(img):
        from PIL import Image

        width, height = img.size
        back = matrix(center or (width * 0.5, height * 0.5), angle, translate, scale, shear)
        return img.transform(
            img.size, Image.Transform.AFFINE, back, P.resampling(InterpolationMode(interpolation).value), fillcolor=_pil_fill(fill, img)
        )
    mode = _mode("affine", img, interpolation)
    height, width = img.shape[-2:]
    middle = [0.0, 0.0] if center is None else [c - 0.5 * s for c, s in zip(center, (width, height))]
    return _sampled(img, matrix(middle, angle, translate, scale, shear), mode, fill)


def perspective_coefficients(startpoints, endpoints) -> list[float]:
    """The eight numbers (a ... h) with which x = (a u + b v + c) / (g u + h v + 1), y = (d u + e v + f) / (g u + h v + 1), for (x, y) of the
    four startpoints and (u, v) of the endpoints.
    """
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(f"Please provide exactly four corners, got {len(startpoints)} startpoints and {len(endpoints)} endpoints.")
    rows = []
    for (u, v), (x, y) in zip(endpoints, startpoints):
        rows += [[u, v, 1, 0, 0, 0, -x * u, -x * v], [0, 0, 0, u, v, 1, -y * u, -y * v]]
    # in float64: the products of coordinates are large beside the others
    known = facula.tensor(startpoints, dtype=facula.float64).reshape(8, 1)
    return facula.linalg.lstsq(facula.tensor(rows, dtype=facula.float64), known).solution.to(facula.float32).flatten().tolist()


def coefficients_of(startpoints, endpoints, coefficients) -> list[float]:
    if (coefficients is None) == (startpoints is None or endpoints is None):
        raise ValueError("perspective: startpoints and endpoints, or the coefficients: give either, not both and not none.")
    if coefficients is not None and len(coefficients) != 8:
        raise ValueError(f"perspective: Argument coefficients should have 8 float values, got {len(coefficients)}.")
    return perspective_coefficients(startpoints, endpoints) if coefficients is None else list(coefficients)


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None, coefficients=None):
    """img seen so that its startpoints, four corners (x, y), come to lie at the endpoints; or by the coefficients of that map.

    >>> corners = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> facula.vision.transforms.functional.perspective(facula.arange(4.0).view(1, 2, 2), corners, corners).round(decimals=3)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    c = coefficients_of(startpoints, endpoints, coefficients)
    if P.is_pil(img):
        from PIL import Image

        how = P.resampling(InterpolationMode(interpolation).value)
        return img.transform(img.size, Image.Transform.PERSPECTIVE, c, how, fillcolor=_pil_fill(fill, img))
    mode = _mode("perspective", img, interpolation)
    height, width = img.shape[-2:]
    dtype = _float_of(img)
    over, under = facula.tensor([c[:3], c[3:6]], dtype=dtype), facula.tensor([[*c[6:], 1.0]] * 2, dtype=dtype)
    x = facula.linspace(0.5, width - 0.5, width, dtype=dtype)
    y = facula.linspace(0.5, height - 0.5, height, dtype=dtype)
    places = _homogeneous(x, y, dtype)
    over = over.T.unsqueeze(0) / facula.tensor([0.5 * width, 0.5 * height], dtype=dtype)
    grid = places.bmm(over) / places.bmm(under.T.unsqueeze(0)) - 1.0
    return _read(img, grid.reshape(1, height, width, 2), mode, fill)


def places(size: tuple[int, int], dtype):
    """The grid (1, H, W, 2) at which reading gives the picture itself."""
    height, width = size
    x, y = (facula.linspace((1 - n) / n, (n - 1) / n, n, dtype=dtype) for n in (width, height))
    return facula.stack([x.expand(height, width), y.unsqueeze(-1).expand(height, width)], dim=-1).unsqueeze(0)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """img with every pixel read displacement (1, H, W, 2) away, in halves of the picture's width and height.

    >>> facula.vision.transforms.functional.elastic_transform(facula.ones(1, 2, 2), facula.zeros(1, 2, 2, 2))
    tensor([[[1., 1.],
             [1., 1.]]])
    """
    if not isinstance(displacement, facula.Tensor):
        raise TypeError(f"elastic_transform: Argument displacement should be a Tensor, got {type(displacement).__name__}.")
    if P.is_pil(img):
        from .functional import pil_to_tensor, to_pil_image

        return to_pil_image(elastic_transform(pil_to_tensor(img), displacement, interpolation, fill))
    mode = _mode("elastic_transform", img, interpolation)
    check_displacement(displacement, img.shape[-2:])
    dtype = _float_of(img)
    return _read(img, places(img.shape[-2:], dtype) + displacement.to(dtype), mode, fill)


def check_displacement(displacement, size) -> None:
    if tuple(displacement.shape) != (1, *size, 2):
        raise ValueError(f"Argument displacement shape should be {(1, *size, 2)}, but given {tuple(displacement.shape)}")


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
