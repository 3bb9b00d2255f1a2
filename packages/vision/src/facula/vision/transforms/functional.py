"""Transforms as functions of a picture: a tensor (..., H, W), an array (H, W) or (H, W, C), or a PIL image."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import facula

from . import _picture as P

if TYPE_CHECKING:
    from .color import *  # noqa: F403
    from .geometry import *  # noqa: F403

_COLOR = (
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness", "autocontrast", "equalize", "invert",
    "posterize", "rgb_to_grayscale", "solarize", "to_grayscale",
)  # fmt: skip
_GEOMETRY = ("affine", "elastic_transform", "gaussian_blur", "perspective", "rotate")
__all__ = [
    *_COLOR,
    *_GEOMETRY,
    "InterpolationMode",
    "center_crop",
    "convert_image_dtype",
    "crop",
    "erase",
    "five_crop",
    "get_dimensions",
    "hflip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "ten_crop",
    "to_pil_image",
    "to_tensor",
    "vflip",
]


class InterpolationMode(enum.Enum):
    """How pictures are sampled between pixels.

    >>> facula.vision.transforms.InterpolationMode.BILINEAR.value
    'bilinear'
    """
    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"  # these three for PIL images
    HAMMING = "hamming"
    LANCZOS = "lanczos"

    @classmethod
    def _missing_(cls, value):
        """Pillow's number of it."""
        return {0: cls.NEAREST, 1: cls.LANCZOS, 2: cls.BILINEAR, 3: cls.BICUBIC, 4: cls.BOX, 5: cls.HAMMING}.get(value)


def to_tensor(pic) -> facula.Tensor:
    """A tensor (C, H, W) of an array or PIL image: uint8 scaled to [0, 1] in the default dtype, others as they are.

    >>> import numpy
    >>> facula.vision.transforms.functional.to_tensor(numpy.full((1, 2, 1), 255, numpy.uint8))
    tensor([[[1., 1.]]])
    """
    if isinstance(pic, facula.Tensor):
        raise TypeError("to_tensor: pic should be PIL Image or ndarray, got a Tensor. It is one already.")
    tensor = pil_to_tensor(pic)
    if tensor.dtype == facula.uint8:
        return tensor.to(facula.get_default_dtype()).div(255)
    return tensor.to(facula.get_default_dtype()) if P.is_pil(pic) and tensor.dtype == facula.bool else tensor


def pil_to_tensor(pic) -> facula.Tensor:
    """A tensor (C, H, W) with the same numbers.

    >>> from PIL import Image
    >>> facula.vision.transforms.functional.pil_to_tensor(Image.new("L", (2, 1), 7))
    tensor([[[7, 7]]], dtype=torch.uint8)
    """
    P.check("pil_to_tensor", pic)
    array = P.as_array(pic)
    array = array if array.ndim == 3 else array[:, :, None]
    return facula.tensor(array).permute(2, 0, 1).contiguous()


def to_pil_image(pic):
    """A PIL image of a tensor (C, H, W) or (H, W), floating in [0, 1] or uint8, or of an array.

    >>> from PIL import Image
    >>> isinstance(facula.vision.transforms.functional.to_pil_image(facula.zeros(3, 2, 4)), Image.Image)
    True
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "to_pil_image needs Pillow, which is not installed: pip install facula-vision[pillow]"
        ) from error
    P.check("to_pil_image", pic)
    if isinstance(pic, facula.Tensor):
        pic = pic.unsqueeze(0) if pic.dim() == 2 else pic
        if pic.is_floating_point():
            pic = pic.mul(255).to(facula.uint8)
        pic = pic.permute(1, 2, 0).contiguous().numpy()
    array = P.as_array(pic)
    return Image.fromarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)


def convert_image_dtype(image, dtype=None):
    """Another dtype with its own range: floating pictures are in [0, 1], integer ones in [0, maximum].

    >>> facula.vision.transforms.functional.convert_image_dtype(facula.tensor([0, 255], dtype=facula.uint8), facula.float32)
    tensor([0., 1.])
    """
    dtype = dtype or facula.float32
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        # The top value takes an equal share of [0, 1]; just under 1 keeps float32 from rounding past it.
        return image.mul(facula.iinfo(dtype).max + 1 - 1e-3).to(dtype)
    top = facula.iinfo(image.dtype).max
    if dtype.is_floating_point:
        return image.to(dtype) / top
    new_top = facula.iinfo(dtype).max
    if top > new_top:
        return facula.div(image, (top + 1) // (new_top + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((new_top + 1) // (top + 1))


def normalize(tensor, mean, std, inplace: bool = False):
    """(tensor - mean) / std by channel, of a floating tensor (..., C, H, W).

    >>> facula.vision.transforms.functional.normalize(facula.tensor([[[0.5, 1.0]]]), [0.5], [0.25])
    tensor([[[0., 2.]]])
    """
    if not isinstance(tensor, facula.Tensor):
        raise TypeError(f"normalize: img should be Tensor Image. Got {type(tensor).__name__}. Use to_tensor first.")
    if not tensor.is_floating_point():
        raise TypeError(f"normalize: Input tensor should be a float tensor. Got {tensor.dtype}. Use to_tensor first.")
    if tensor.dim() < 3:
        raise ValueError(
            f"normalize: Expected tensor to be a tensor image of size (..., C, H, W). Got {tuple(tensor.shape)}. "
            "Add the channel with unsqueeze(0)."
        )
    mean = facula.as_tensor(mean, dtype=tensor.dtype)
    std = facula.as_tensor(std, dtype=tensor.dtype)
    if (std == 0).any():
        raise ValueError(
            f"normalize: std evaluated to zero ({std.tolist()}), leading to division by zero. Use 1 there."
        )
    mean, std = (t.reshape(-1, 1, 1) for t in (mean, std))
    return (tensor if inplace else tensor.clone()).sub_(mean).div_(std)


def get_dimensions(img) -> list[int]:
    """[channels, height, width].

    >>> facula.vision.transforms.functional.get_dimensions(facula.zeros(3, 4, 5))
    [3, 4, 5]
    """
    P.check("get_dimensions", img)
    if isinstance(img, facula.Tensor):
        channels = img.shape[-3] if img.dim() > 2 else 1
    else:
        shape = P.as_array(img).shape
        channels = shape[2] if len(shape) == 3 else 1
    return [channels, *P.size_of(img)]


def crop(img, top: int, left: int, height: int, width: int):
    """The part with that corner and size; what lies outside the picture is 0.

    >>> facula.vision.transforms.functional.crop(facula.arange(9.0).view(1, 3, 3), 0, 1, 1, 2)
    tensor([[[1., 2.]]])
    """
    P.check("crop", img)
    return P.crop(img, top, left, height, width)


def center_crop(img, output_size):
    """The middle (height, width); a smaller picture is surrounded by 0.

    >>> facula.vision.transforms.functional.center_crop(facula.arange(9.0).view(1, 3, 3), 1)
    tensor([[[4.]]])
    """
    height, width = (output_size,) * 2 if isinstance(output_size, int) else (*output_size, output_size[0])[:2]
    P.check("center_crop", img)
    have_height, have_width = P.size_of(img)
    if height > have_height or width > have_width:
        more_height, more_width = max(height - have_height, 0), max(width - have_width, 0)
        around = (more_width // 2, more_height // 2, (more_width + 1) // 2, (more_height + 1) // 2)
        img = P.pad(img, around)
        have_height, have_width = P.size_of(img)
    return P.crop(img, round((have_height - height) / 2), round((have_width - width) / 2), height, width)


def pad(img, padding, fill=0, padding_mode: str = "constant"):
    """`padding`: one number, (left and right, top and bottom) or (left, top, right, bottom).

    >>> facula.vision.transforms.functional.pad(facula.zeros(1, 1, 1), 1, fill=9)
    tensor([[[9., 9., 9.],
             [9., 0., 9.],
             [9., 9., 9.]]])
    """
    P.check("pad", img)
    return P.pad(img, padding, fill, padding_mode)


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size: int | None = None, antialias: bool = True):
    """`size`: (height, width), or the length of the shorter edge.

    >>> facula.vision.transforms.functional.resize(facula.zeros(3, 8, 8), (2, 4)).shape
    torch.Size([3, 2, 4])
    """
    P.check("resize", img)
    return P.resize(img, size, InterpolationMode(interpolation).value, max_size, antialias)


def resized_crop(
    img, top: int, left: int, height: int, width: int, size, interpolation=InterpolationMode.BILINEAR, antialias=True
):
    """crop, then resize.

    >>> facula.vision.transforms.functional.resized_crop(facula.zeros(3, 8, 8), 0, 0, 4, 4, (2, 2)).shape
    torch.Size([3, 2, 2])
    """
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img):
    """Left and right exchanged.

    >>> facula.vision.transforms.functional.hflip(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """
    P.check("hflip", img)
    return img.flip(-1) if isinstance(img, facula.Tensor) else P.map_array(lambda a: a[:, ::-1].copy(), img)


def vflip(img):
    """Top and bottom exchanged.

    >>> facula.vision.transforms.functional.vflip(facula.tensor([[[1.0], [2.0]]]))
    tensor([[[2.],
             [1.]]])
    """
    P.check("vflip", img)
    return img.flip(-2) if isinstance(img, facula.Tensor) else P.map_array(lambda a: a[::-1].copy(), img)


def five_crop(img, size):
    """The four corners and the middle, as a tuple.

    >>> [crop.item() for crop in facula.vision.transforms.functional.five_crop(facula.arange(9.0).view(1, 3, 3), 1)]
    [0.0, 2.0, 6.0, 8.0, 4.0]
    """
    from .augment import FiveCrop

    return FiveCrop(size)(img)


def ten_crop(img, size, vertical_flip: bool = False):
    """five_crop of the picture and of its mirror image.

    >>> len(facula.vision.transforms.functional.ten_crop(facula.arange(9.0).view(1, 3, 3), 1))
    10
    """
    from .augment import TenCrop

    return TenCrop(size, vertical_flip)(img)


def erase(img, i: int, j: int, h: int, w: int, v, inplace: bool = False):
    """A tensor with v in the part with that corner and size.

    >>> facula.vision.transforms.functional.erase(facula.ones(1, 2, 2), 0, 0, 1, 2, 0.0)
    tensor([[[0., 0.],
             [1., 1.]]])
    """
    if not isinstance(img, facula.Tensor):
        raise TypeError(f"erase: img should be Tensor Image. Got {type(img).__name__}. Use to_tensor first.")
    img = img if inplace else img.clone()
    img[..., i : i + h, j : j + w] = v
    return img


def __getattr__(name: str):
    """Colours and geometry live in files of their own."""
    import importlib

    if name in _COLOR or name in _GEOMETRY:
        return getattr(importlib.import_module(f"{__package__}.{'color' if name in _COLOR else 'geometry'}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
