"""Kernels of pictures and masks where v1 has none, or a narrower one: plain tensors and PIL images in and out."""

from __future__ import annotations

import io

import facula

from .. import _picture as P
from .. import color, geometry
from .. import functional as F
from ..functional import InterpolationMode, pil_to_tensor, to_pil_image


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    return P.resize(img, size, InterpolationMode(interpolation).value, max_size, antialias, own=(facula.uint8,))


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    return resize(P.crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def resize_mask(mask, size, interpolation=InterpolationMode.NEAREST, max_size=None, antialias=None):
    exact = InterpolationMode(interpolation) is InterpolationMode.NEAREST_EXACT
    return resize(mask, size, interpolation if exact else InterpolationMode.NEAREST, max_size)


def resized_crop_mask(mask, top, left, height, width, size, interpolation=InterpolationMode.NEAREST, antialias=None):
    return resize_mask(P.crop(mask, top, left, height, width), size, interpolation)


def rotate_mask(mask, angle, interpolation=None, expand=False, center=None, fill=None):
    return geometry.rotate(mask, angle, InterpolationMode.NEAREST, expand, center, fill)


def affine_mask(mask, angle, translate, scale, shear, interpolation=None, fill=None, center=None):
    return geometry.affine(mask, angle, translate, scale, shear, InterpolationMode.NEAREST, fill, center)


def perspective_mask(mask, startpoints, endpoints, interpolation=None, fill=None, coefficients=None):
    return geometry.perspective(mask, startpoints, endpoints, InterpolationMode.NEAREST, fill, coefficients)


def elastic_mask(mask, displacement, interpolation=None, fill=None):
    return geometry.elastic_transform(mask, displacement, InterpolationMode.NEAREST, fill)


def pad_mask(mask, padding, fill=None, padding_mode="constant"):
    if isinstance(fill, (list, tuple)):
        raise ValueError(f"pad: Non-scalar fill value is not supported for masks, got {fill}. Give one number.")
    return P.pad(mask, padding, fill, padding_mode)


def erase(img, i, j, h, w, v, inplace=False):
    if P.is_pil(img):
        return to_pil_image(F.erase(pil_to_tensor(img), i, j, h, w, v))
    return F.erase(img, i, j, h, w, v, inplace)


def grayscale_to_rgb(img):
    if P.is_pil(img):
        return img.convert("RGB")
    return img if img.shape[-3] >= 3 else color.rgb_to_grayscale(img, 3)


def permute_channels(img, permutation):
    if P.is_pil(img):
        return to_pil_image(permute_channels(pil_to_tensor(img), permutation))
    if len(permutation) != img.shape[-3]:
        raise ValueError(f"Length of permutation does not match number of channels: {len(permutation)} != {img.shape[-3]}")
    return img.index_select(-3, facula.as_tensor(permutation))


def posterize(img, bits):
    if P.is_pil(img) or not img.is_floating_point():
        return color.posterize(img, bits)
    levels = 1 << bits
    return img.mul(levels).floor().clamp(0, levels - 1).mul(1.0 / levels)


# v1's formulas with the rounding of v2's: of uint8 pictures, a last bit of a float decides which number is left


def _blend(img, other, ratio: float):
    return img.mul(float(ratio)).add_(other, alpha=1.0 - ratio).clamp_(0, color.top_of(img)).to(img.dtype)


def adjust_saturation(img, saturation_factor):
    if P.is_pil(img):
        return color.adjust_saturation(img, saturation_factor)
    color.check_factor("adjust_saturation", saturation_factor)
    img, channels = color.checked("adjust_saturation", img)
    if channels == 1:
        return img
    red, green, blue = img.unbind(-3)
    gray = red.mul(0.2989).add_(green, alpha=0.587).add_(blue, alpha=0.114).unsqueeze(-3)
    return _blend(img, gray if img.is_floating_point() else gray.floor_(), saturation_factor)


def adjust_sharpness(img, sharpness_factor):
    if P.is_pil(img):
        return color.adjust_sharpness(img, sharpness_factor)
    color.check_factor("adjust_sharpness", sharpness_factor)
    img, _ = color.checked("adjust_sharpness", img)
    if min(img.shape[-2:]) <= 2:
        return img
    inside = color.blurred_inside(img)
    out = img.to(inside.dtype, copy=True)
    middle = out[..., 1:-1, 1:-1]
    middle.add_(inside - middle, alpha=1.0 - sharpness_factor)
    return out.clamp_(0, color.top_of(img)).to(img.dtype)


def autocontrast(img):
    if P.is_pil(img):
        return color.autocontrast(img)
    img, _ = color.checked("autocontrast", img)
    values = img if img.is_floating_point() else img.to(facula.float32)
    low, high = values.amin((-2, -1), keepdim=True), values.amax((-2, -1), keepdim=True)
    step = (high - low).mul(1.0 / color.top_of(img))
    flat = high == low
    return ((values - low.masked_fill(flat, 0.0)) / step.masked_fill(flat, 1.0)).clamp(0, color.top_of(img)).to(img.dtype)


def equalize(img):
    if P.is_pil(img) or img.dtype == facula.uint8:
        flat = img if P.is_pil(img) or img.dim() < 5 else img.flatten(0, -4)
        return color.equalize(flat) if flat is img else color.equalize(flat).reshape(img.shape)
    return to_dtype(equalize(to_dtype(img, facula.uint8, True)), img.dtype, True)


def gaussian_noise(img, mean=0.0, sigma=0.1, clip=True):
    if P.is_pil(img):
        raise ValueError("gaussian_noise: not implemented for PIL images. Use to_image first.")
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if img.is_floating_point():
        out = img + (mean + facula.randn_like(img) * sigma)
        return out.clamp(0, 1) if clip else out
    if img.dtype != facula.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={img.dtype}")
    noise = mean * 255 + facula.randn_like(img, dtype=facula.float32) * (sigma * 255)
    out = img + noise.to(facula.int16)
    return (out.clamp(0, 255) if clip else out).to(facula.uint8)


def to_dtype(img, dtype=facula.float32, scale=False):
    if not scale or img.dtype == dtype:
        return img.to(dtype)
    if img.is_floating_point():
        if (img.dtype, dtype) in ((facula.float32, facula.int32), (facula.float32, facula.int64), (facula.float64, facula.int64)):
            raise RuntimeError(f"The conversion from {img.dtype} to {dtype} cannot be performed safely. Use a smaller integer dtype.")
    elif dtype.is_floating_point:  # times the reciprocal here, divided in v1: the last bit differs
        return img.to(dtype).mul(1.0 / facula.iinfo(img.dtype).max)
    return F.convert_image_dtype(img, dtype)


def jpeg(img, quality):
    from PIL import Image

    if not P.is_pil(img):
        frames = img.reshape(-1, *img.shape[-3:])
        return facula.stack([pil_to_tensor(jpeg(to_pil_image(f), quality)) for f in frames]).reshape(img.shape) if len(frames) else img.clone()
    file = io.BytesIO()
    img.save(file, format="JPEG", quality=quality)
    return Image.open(file).copy()  # no file's image, but one like any other


def uniform_temporal_subsample(video, num_samples):
    return video.index_select(-4, facula.linspace(0, video.shape[-4] - 1, num_samples).long())
