"""Transforms as functions of pictures, videos, masks and boxes: each asks the kernel for the type of its first argument.

`@kernels` is the table: what an operation does to pictures (tensors, Image, Video, PIL), to masks, to boxes. Kernels of pictures are those of v1.
"""

from __future__ import annotations

import facula

from ... import tv_tensors
from .. import _picture as P
from .. import color, geometry
from .. import functional as F
from ..functional import InterpolationMode, pil_to_tensor, to_pil_image
from . import _boxes as B
from . import _kernels as K
from ._boxes import clamp_bounding_boxes, convert_bounding_box_format, sanitize_bounding_boxes
from ._dispatch import is_pure_tensor, kernels, register_kernel

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness", "affine",
    "autocontrast", "center_crop", "clamp_bounding_boxes", "convert_bounding_box_format", "convert_image_dtype", "crop", "elastic",
    "elastic_transform", "equalize", "erase", "five_crop", "gaussian_blur", "gaussian_noise", "get_dimensions", "get_num_channels",
    "get_num_frames", "get_size", "grayscale_to_rgb", "hflip", "horizontal_flip", "invert", "is_pure_tensor", "jpeg", "normalize", "pad",
    "permute_channels", "perspective", "pil_to_tensor", "posterize", "register_kernel", "resize", "resized_crop", "rgb_to_grayscale", "rotate",
    "sanitize_bounding_boxes", "solarize", "ten_crop", "to_dtype", "to_grayscale", "to_image", "to_pil_image", "uniform_temporal_subsample",
    "vertical_flip", "vflip",
]  # fmt: skip


@kernels(F.hflip, F.hflip, B.horizontal_flip)
def horizontal_flip(inpt):
    """Left and right exchanged.

    >>> facula.vision.transforms.v2.functional.horizontal_flip(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """


@kernels(F.vflip, F.vflip, B.vertical_flip)
def vertical_flip(inpt):
    """Top and bottom exchanged.

    >>> facula.vision.transforms.v2.functional.vertical_flip(facula.tensor([[[1.0], [2.0]]]))
    tensor([[[2.],
             [1.]]])
    """


hflip, vflip = horizontal_flip, vertical_flip


@kernels(K.resize, K.resize_mask, B.resize)
def resize(inpt, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """`size`: (height, width), the length of the shorter edge, or None where max_size is that of the longer.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.functional.resize(boxes, (8, 4))
    BoundingBoxes([[0, 0, 2, 6]], format=BoundingBoxFormat.XYXY, canvas_size=(8, 4), clamping_mode=soft)
    """


@kernels(P.crop, P.crop, B.crop)
def crop(inpt, top: int, left: int, height: int, width: int):
    """The part with that corner and size; what lies outside is 0.

    >>> facula.vision.transforms.v2.functional.crop(facula.arange(9.0).view(1, 3, 3), 0, 1, 1, 2)
    tensor([[[1., 2.]]])
    """


@kernels(F.center_crop, F.center_crop, B.center_crop)
def center_crop(inpt, output_size):
    """The middle (height, width); what is smaller is surrounded by 0.

    >>> facula.vision.transforms.v2.functional.center_crop(facula.arange(9.0).view(1, 3, 3), [1])
    tensor([[[4.]]])
    """


@kernels(K.resized_crop, K.resized_crop_mask, B.resized_crop)
def resized_crop(inpt, top: int, left: int, height: int, width: int, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    """crop, then resize.

    >>> facula.vision.transforms.v2.functional.resized_crop(facula.zeros(3, 8, 8), 0, 0, 4, 4, (2, 2)).shape
    torch.Size([3, 2, 2])
    """


@kernels(P.pad, K.pad_mask, B.pad)
def pad(inpt, padding, fill=None, padding_mode: str = "constant"):
    """`padding`: one number, (left and right, top and bottom) or (left, top, right, bottom). fill: a number, or one for each channel.

    >>> facula.vision.transforms.v2.functional.pad(facula.zeros(1, 1, 1), [1, 0], fill=9)
    tensor([[[9., 0., 9.]]])
    """


@kernels(geometry.rotate, K.rotate_mask, B.rotate)
def rotate(inpt, angle: float, interpolation=InterpolationMode.NEAREST, expand: bool = False, center=None, fill=None):
    """Turned by angle degrees against the clock around center (the middle); expand: large enough for all of it.

    >>> facula.vision.transforms.v2.functional.rotate(facula.arange(4.0).view(1, 2, 2), 90)
    tensor([[[1., 3.],
             [0., 2.]]])
    """


@kernels(geometry.affine, K.affine_mask, B.affine)
def affine(inpt, angle: float, translate, scale: float, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Turned, moved by translate pixels, scaled and sheared by degrees (x, y), around center (the middle).

    >>> facula.vision.transforms.v2.functional.affine(facula.tensor([[[1.0, 2.0]]]), 0.0, [1, 0], 1.0, [0.0])
    tensor([[[0., 1.]]])
    """


@kernels(geometry.perspective, K.perspective_mask, B.perspective)
def perspective(inpt, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None, coefficients=None):
    """Seen so that startpoints, four corners (x, y), come to lie at endpoints; or by the coefficients of that map.

    >>> corners = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> facula.vision.transforms.v2.functional.perspective(facula.ones(1, 2, 2), corners, corners).round().sum()
    tensor(4.)
    """


@kernels(geometry.elastic_transform, K.elastic_mask, B.elastic)
def elastic(inpt, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Every pixel read displacement (1, H, W, 2) away, in halves of the width and height.

    >>> facula.vision.transforms.v2.functional.elastic(facula.ones(1, 2, 2), facula.zeros(1, 2, 2, 2)).sum()
    tensor(4.)
    """


elastic_transform = elastic


@kernels(F.five_crop)
def five_crop(inpt, size):
    """The four corners and the middle, as a tuple.

    >>> [crop.item() for crop in facula.vision.transforms.v2.functional.five_crop(facula.arange(9.0).view(1, 3, 3), [1])]
    [0.0, 2.0, 6.0, 8.0, 4.0]
    """


@kernels(F.ten_crop)
def ten_crop(inpt, size, vertical_flip: bool = False):
    """five_crop of the picture and of its mirror image.

    >>> len(facula.vision.transforms.v2.functional.ten_crop(facula.arange(9.0).view(1, 3, 3), [1]))
    10
    """


@kernels(K.erase)
def erase(inpt, i: int, j: int, h: int, w: int, v, inplace: bool = False):
    """v in the part with that corner and size.

    >>> facula.vision.transforms.v2.functional.erase(facula.ones(1, 2, 2), 0, 0, 1, 2, 0.0)
    tensor([[[0., 0.],
             [1., 1.]]])
    """


@kernels(color.adjust_brightness)
def adjust_brightness(inpt, brightness_factor: float):
    """0 is black, 1 the picture, 2 twice as bright.

    >>> facula.vision.transforms.v2.functional.adjust_brightness(facula.full((3, 4, 4), 0.5), 1.0).mean()
    tensor(0.5000)
    """


@kernels(color.adjust_contrast)
def adjust_contrast(inpt, contrast_factor: float):
    """0 is grey, 1 the picture.

    >>> facula.vision.transforms.v2.functional.adjust_contrast(facula.full((3, 4, 4), 0.5), 1.0).mean()
    tensor(0.5000)
    """


@kernels(K.adjust_saturation)
def adjust_saturation(inpt, saturation_factor: float):
    """0 is black and white, 1 the picture.

    >>> facula.vision.transforms.v2.functional.adjust_saturation(facula.full((3, 4, 4), 0.5), 1.0).mean()
    tensor(0.5000)
    """


@kernels(K.adjust_sharpness)
def adjust_sharpness(inpt, sharpness_factor: float):
    """0 is blurred, 1 the picture; the border stays.

    >>> facula.vision.transforms.v2.functional.adjust_sharpness(facula.full((3, 4, 4), 0.5), 1.0).mean()
    tensor(0.5000)
    """


@kernels(color.adjust_hue)
def adjust_hue(inpt, hue_factor: float):
    """Hues turned by hue_factor of the circle, in [-0.5, 0.5].

    >>> facula.vision.transforms.v2.functional.adjust_hue(facula.full((3, 4, 4), 0.5), 0.25).mean()
    tensor(0.5000)
    """


@kernels(color.adjust_gamma)
def adjust_gamma(inpt, gamma: float, gain: float = 1):
    """gain * inpt ** gamma, of values in [0, 1].

    >>> facula.vision.transforms.v2.functional.adjust_gamma(facula.full((3, 1, 1), 0.5), 2.0).mean()
    tensor(0.2500)
    """


@kernels(K.autocontrast)
def autocontrast(inpt):
    """The smallest value of each channel becomes black, the largest white.

    >>> facula.vision.transforms.v2.functional.autocontrast(facula.tensor([[[0.25, 0.5]]]))
    tensor([[[0., 1.]]])
    """


@kernels(K.equalize)
def equalize(inpt):
    """Values of each channel so that all are about as frequent.

    >>> facula.vision.transforms.v2.functional.equalize(facula.zeros(1, 2, 2)).sum()
    tensor(0.)
    """


@kernels(color.invert)
def invert(inpt):
    """White less the picture.

    >>> facula.vision.transforms.v2.functional.invert(facula.tensor([[[0.25, 1.0]]]))
    tensor([[[0.7500, 0.0000]]])
    """


@kernels(K.posterize)
def posterize(inpt, bits: int):
    """The upper bits of each value, the others 0.

    >>> facula.vision.transforms.v2.functional.posterize(facula.tensor([[[100, 200]]], dtype=facula.uint8), 1)
    tensor([[[  0, 128]]], dtype=torch.uint8)
    """


@kernels(color.solarize)
def solarize(inpt, threshold: float):
    """Values from threshold on inverted.

    >>> facula.vision.transforms.v2.functional.solarize(facula.tensor([[[0.25, 0.75]]]), 0.5)
    tensor([[[0.2500, 0.2500]]])
    """


@kernels(color.rgb_to_grayscale, video=False)
def rgb_to_grayscale(inpt, num_output_channels: int = 1):
    """Luma, in one or three equal channels.

    >>> facula.vision.transforms.v2.functional.rgb_to_grayscale(facula.ones(3, 2, 2)).shape
    torch.Size([1, 2, 2])
    """


to_grayscale = rgb_to_grayscale


@kernels(K.grayscale_to_rgb, video=False)
def grayscale_to_rgb(inpt):
    """Three channels of one; what has them stays.

    >>> facula.vision.transforms.v2.functional.grayscale_to_rgb(facula.ones(1, 2, 2)).shape
    torch.Size([3, 2, 2])
    """


@kernels(K.permute_channels)
def permute_channels(inpt, permutation):
    """Channels in that order.

    >>> facula.vision.transforms.v2.functional.permute_channels(facula.arange(3).view(3, 1, 1), [2, 0, 1]).flatten()
    tensor([2, 0, 1])
    """


@kernels(geometry.gaussian_blur)
def gaussian_blur(inpt, kernel_size, sigma=None):
    """Under a Gaussian of odd kernel_size (x, y) and sigma; edges reflected.

    >>> facula.vision.transforms.v2.functional.gaussian_blur(facula.ones(1, 4, 4), 3).mean().round(decimals=3)
    tensor(1.)
    """


@kernels(K.gaussian_noise)
def gaussian_noise(inpt, mean: float = 0.0, sigma: float = 0.1, clip: bool = True):
    """With normal numbers added, in shares of white; clip: kept between black and white.

    >>> facula.vision.transforms.v2.functional.gaussian_noise(facula.ones(1, 2, 2), sigma=0.0).sum()
    tensor(4.)
    """


@kernels(F.normalize)
def normalize(inpt, mean, std, inplace: bool = False):
    """(inpt - mean) / std by channel, of floating pictures (..., C, H, W).

    >>> facula.vision.transforms.v2.functional.normalize(facula.tensor([[[0.5, 1.0]]]), [0.5], [0.25])
    tensor([[[0., 2.]]])
    """


@kernels(K.jpeg)
def jpeg(inpt, quality: int):
    """As a JPEG file of that quality, 1 to 100, would keep it.

    >>> from PIL import Image
    >>> facula.vision.transforms.v2.functional.jpeg(Image.new("L", (2, 1)), 90).size
    (2, 1)
    """


@kernels(video=K.uniform_temporal_subsample)
def uniform_temporal_subsample(inpt, num_samples: int):
    """That many frames of (..., T, C, H, W), evenly spaced.

    >>> facula.vision.transforms.v2.functional.uniform_temporal_subsample(facula.zeros(5, 3, 2, 2), 2).shape
    torch.Size([2, 3, 2, 2])
    """


@kernels(K.to_dtype, lambda mask, dtype=facula.float32, scale=False: mask.to(dtype), lambda boxes, dtype=facula.float32, scale=False: boxes.to(dtype))
def to_dtype(inpt, dtype=facula.float32, scale: bool = False):
    """Another dtype; scale: pictures and videos from one's range to the other's, [0, 1] for floating ones.

    >>> facula.vision.transforms.v2.functional.to_dtype(facula.tensor([[[0, 255]]], dtype=facula.uint8), scale=True)
    tensor([[[0., 1.]]])
    """


def convert_image_dtype(image, dtype=facula.float32):
    """to_dtype with scale, of a tensor.

    >>> facula.vision.transforms.v2.functional.convert_image_dtype(facula.tensor([[[0, 255]]], dtype=facula.uint8))
    tensor([[[0., 1.]]])
    """
    return K.to_dtype(image, dtype, True)


def to_image(inpt):
    """A tv_tensors.Image of a tensor, an array (H, W[, C]) or a PIL image; the same numbers.

    >>> facula.vision.transforms.v2.functional.to_image(facula.zeros(1, 2, 4)).shape
    torch.Size([1, 2, 4])
    """
    if not (isinstance(inpt, facula.Tensor) or P.is_array(inpt) or P.is_pil(inpt)):
        raise TypeError(f"to_image: Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead.")
    return tv_tensors.Image(inpt if isinstance(inpt, facula.Tensor) else pil_to_tensor(inpt))


def get_size(inpt) -> list[int]:
    """[height, width] of a picture, video or mask, or of the canvas of boxes.

    >>> facula.vision.transforms.v2.functional.get_size(facula.zeros(3, 2, 4))
    [2, 4]
    """
    return list(inpt.canvas_size if isinstance(inpt, tv_tensors.BoundingBoxes) else P.size_of(inpt))


def get_dimensions(inpt) -> list[int]:
    """[channels, height, width] of a picture or video.

    >>> facula.vision.transforms.v2.functional.get_dimensions(facula.zeros(3, 2, 4))
    [3, 2, 4]
    """
    return F.get_dimensions(inpt)


def get_num_channels(inpt) -> int:
    """Channels of a picture or video.

    >>> facula.vision.transforms.v2.functional.get_num_channels(facula.zeros(3, 2, 4))
    3
    """
    return F.get_dimensions(inpt)[0]


def get_num_frames(inpt) -> int:
    """Frames of a video (..., T, C, H, W).

    >>> facula.vision.transforms.v2.functional.get_num_frames(facula.zeros(5, 3, 2, 4))
    5
    """
    return inpt.shape[-4]
