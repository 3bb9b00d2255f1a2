"""Colour: brightness, contrast, saturation, hue and their like, of tensors (..., 1 or 3, H, W) and PIL images.

Tensors by torchvision's formulas; PIL images by Pillow itself, which torchvision asks as well.
"""

from __future__ import annotations

import facula

from . import _picture as P

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness", "autocontrast", "equalize", "invert",
    "posterize",
    "rgb_to_grayscale", "solarize", "to_grayscale",
]  # fmt: skip


def checked(name: str, img):
    if not isinstance(img, facula.Tensor):
        raise TypeError(f"{name}: img should be PIL Image or Tensor. Got {type(img).__name__}. Use to_tensor first.")
    channels = img.shape[-3] if img.dim() > 2 else 1
    if channels not in (1, 3):
        raise TypeError(f"{name}: Input image tensor permitted channel values are 1 or 3, but found {channels}")
    return img, channels


def top_of(img) -> float:
    """The value of white."""
    return 1.0 if img.is_floating_point() else facula.iinfo(img.dtype).max


def _blend(a, b, ratio: float):
    ratio = float(ratio)
    return (ratio * a + (1.0 - ratio) * b).clamp(0, top_of(a)).to(a.dtype)


def check_factor(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name}: factor ({factor}) is not non-negative.")


def _enhanced(kind: str, img, factor: float):
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(img).enhance(factor)


def adjust_brightness(img, brightness_factor: float):
    """0 is black, 1 the picture, 2 twice as bright.

    >>> facula.vision.transforms.functional.adjust_brightness(facula.full((3, 1, 1), 0.5), 0.5).flatten()
    tensor([0.2500, 0.2500, 0.2500])
    """
    check_factor("adjust_brightness", brightness_factor)
    if P.is_pil(img):
        return _enhanced("Brightness", img, brightness_factor)
    img, _ = checked("adjust_brightness", img)
    return _blend(img, facula.zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor: float):
    """0 is grey, 1 the picture.

    >>> facula.vision.transforms.functional.adjust_contrast(facula.tensor([[[0.0, 1.0]]]).expand(3, 1, 2), 0.5)[0].round(decimals=2)
    tensor([[0.2500, 0.7500]])
    """
    check_factor("adjust_contrast", contrast_factor)
    if P.is_pil(img):
        return _enhanced("Contrast", img, contrast_factor)
    img, channels = checked("adjust_contrast", img)
    dtype = img.dtype if img.is_floating_point() else facula.float32
    gray = rgb_to_grayscale(img) if channels == 3 else img
    return _blend(img, gray.to(dtype).mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img, saturation_factor: float):
    """0 is black and white, 1 the picture.

    >>> facula.vision.transforms.functional.adjust_saturation(facula.tensor([1.0, 0.0, 0.0]).view(3, 1, 1), 0.0).flatten().round(decimals=2)
    tensor([0.3000, 0.3000, 0.3000])
    """
    check_factor("adjust_saturation", saturation_factor)
    if P.is_pil(img):
        return _enhanced("Color", img, saturation_factor)
    img, channels = checked("adjust_saturation", img)
    return img if channels == 1 else _blend(img, rgb_to_grayscale(img), saturation_factor)


def adjust_gamma(img, gamma: float, gain: float = 1):
    """gain * img ** gamma, of values in [0, 1].

    >>> facula.vision.transforms.functional.adjust_gamma(facula.full((3, 1, 1), 0.5), 2.0).flatten()
    tensor([0.2500, 0.2500, 0.2500])
    """
    if gamma < 0:
        raise ValueError(f"adjust_gamma: Gamma should be a non-negative real number, got {gamma}")
    if P.is_pil(img):
        mode = img.mode
        table = [int((255 + 1 - 1e-3) * gain * (v / 255.0) ** gamma) for v in range(256)] * 3
        return img.convert("RGB").point(table).convert(mode)
    from .functional import convert_image_dtype

    img, _ = checked("adjust_gamma", img)
    result = img if img.is_floating_point() else convert_image_dtype(img, facula.float32)
    return convert_image_dtype((gain * result**gamma).clamp(0, 1), img.dtype)


def adjust_hue(img, hue_factor: float):
    """Hues turned by hue_factor of the circle, in [-0.5, 0.5].

    >>> facula.vision.transforms.functional.adjust_hue(facula.tensor([1.0, 0.0, 0.0]).view(3, 1, 1), 1 / 3).flatten().round(decimals=2)
    tensor([0., 1., 0.])
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if P.is_pil(img):
        return _pil_hue(img, hue_factor)
    img, channels = checked("adjust_hue", img)
    if channels == 1:
        return img
    from .functional import convert_image_dtype

    dtype = img.dtype
    hue, saturation, value = _rgb_to_hsv(img if img.is_floating_point() else convert_image_dtype(img, facula.float32))
    return convert_image_dtype(_hsv_to_rgb((hue + hue_factor) % 1.0, saturation, value), dtype)


def _pil_hue(img, hue_factor: float):
    if img.mode in ("L", "1", "I", "F"):
        return img
    import numpy
    from PIL import Image

    hue, saturation, value = img.convert("HSV").split()
    turned = (numpy.array(hue, dtype=numpy.int64) + int(hue_factor * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(turned.astype(numpy.uint8), "L"), saturation, value)).convert(img.mode)


def _rgb_to_hsv(img):
    r, g, b = img.unbind(-3)
    high, low = img.amax(-3), img.amin(-3)
    flat = high == low
    span = high - low
    one = facula.ones_like(high)
    saturation = span / facula.where(flat, one, high)
    divisor = facula.where(flat, one, span)
    rc, gc, bc = ((high - c) / divisor for c in (r, g, b))
    hue = (
        (high == r) * (bc - gc)
        + ((high == g) & (high != r)) * (2.0 + rc - bc)
        + ((high != g) & (high != r)) * (4.0 + gc - rc)
    )
    return facula.fmod(hue / 6.0 + 1.0, 1.0), saturation, high


def _hsv_to_rgb(hue, saturation, value):
    sector = facula.floor(hue * 6.0)
    f = hue * 6.0 - sector
    sector = sector.to(facula.int32) % 6
    p = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    q = (value * (1.0 - saturation * f)).clamp(0.0, 1.0)
    t = (value * (1.0 - saturation * (1.0 - f))).clamp(0.0, 1.0)
    choices = ((value, q, p, p, t, value), (t, value, value, q, p, p), (p, p, t, value, value, q))
    planes = []
    for six in choices:
        plane = six[5]
        for k in range(4, -1, -1):
            plane = facula.where(sector == k, six[k], plane)
        planes.append(plane)
    return facula.stack(planes, dim=-3)


def invert(img):
    """White less the picture.

    >>> facula.vision.transforms.functional.invert(facula.tensor([[[0.25, 1.0]]]))
    tensor([[[0.7500, 0.0000]]])
    """
    if P.is_pil(img):
        from PIL import ImageOps

        return ImageOps.invert(img)
    img, _ = checked("invert", img)
    return top_of(img) - img


def posterize(img, bits: int):
    """The upper bits of each uint8 value, the others 0.

    >>> facula.vision.transforms.functional.posterize(facula.tensor([[[100, 200]]], dtype=facula.uint8), 1)
    tensor([[[  0, 128]]], dtype=torch.uint8)
    """
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    if P.is_pil(img):
        from PIL import ImageOps

        return ImageOps.posterize(img, bits)
    img, _ = checked("posterize", img)
    if img.dtype != facula.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    return img & (256 - 2 ** (8 - bits))


def solarize(img, threshold: float):
    """Values from threshold on inverted.

    >>> facula.vision.transforms.functional.solarize(facula.tensor([[[0.25, 0.75]]]), 0.5)
    tensor([[[0.2500, 0.2500]]])
    """
    if P.is_pil(img):
        from PIL import ImageOps

        return ImageOps.solarize(img, threshold)
    img, _ = checked("solarize", img)
    if threshold > top_of(img):
        raise TypeError(f"Threshold should be less than bound of img: {threshold} > {top_of(img)}.")
    return facula.where(img >= threshold, invert(img), img)


def rgb_to_grayscale(img, num_output_channels: int = 1):
    """Luma of ITU-R BT.601, 0.2989 R + 0.587 G + 0.114 B, of a tensor (..., 3, H, W) or a PIL image, once or three times.

    >>> facula.vision.transforms.functional.rgb_to_grayscale(facula.tensor([1.0, 0.0, 0.0]).view(3, 1, 1))
    tensor([[[0.2989]]])
    """
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3, got {num_output_channels}")
    if P.is_pil(img):
        return to_grayscale(img, num_output_channels)
    img, channels = checked("rgb_to_grayscale", img)
    if img.dim() < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.dim()}")
    if channels == 3:
        red, green, blue = img.unbind(-3)
        img = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    return (
        img.expand((*img.shape[:-3], 3, *img.shape[-2:]))
        if num_output_channels == 3
        else img.clone()
        if channels == 1
        else img
    )


def to_grayscale(img, num_output_channels: int = 1):
    """A PIL image in grey, of one or three equal channels.

    >>> from PIL import Image
    >>> facula.vision.transforms.functional.to_grayscale(Image.new("RGB", (2, 2), "white")).getpixel((0, 0))
    255
    """
    if not P.is_pil(img):
        raise TypeError(f"to_grayscale: Input should be PIL Image, got {type(img).__name__}. Use rgb_to_grayscale.")
    gray = img.convert("L")
    if num_output_channels == 1:
        return gray
    if num_output_channels != 3:
        raise ValueError(f"num_output_channels should be either 1 or 3, got {num_output_channels}")
    from PIL import Image

    return Image.merge("RGB", (gray, gray, gray))


def adjust_sharpness(img, sharpness_factor: float):
    """0 is blurred, 1 the picture, 2 twice as sharp; the border stays.

    >>> facula.vision.transforms.functional.adjust_sharpness(facula.eye(3).expand(1, 3, 3), 0.0)[0, 1]
    tensor([0.0000, 0.5385, 0.0000])
    """
    check_factor("adjust_sharpness", sharpness_factor)
    if P.is_pil(img):
        return _enhanced("Sharpness", img, sharpness_factor)
    img, channels = checked("adjust_sharpness", img)
    if min(img.shape[-2:]) <= 2:
        return img
    blurred = img.clone()
    blurred[..., 1:-1, 1:-1] = blurred_inside(img).to(img.dtype)
    return _blend(img, blurred, sharpness_factor)


def blurred_inside(img):
    """The picture under [[1, 1, 1], [1, 5, 1], [1, 1, 1]] / 13 without its border, floating; whole numbers of an integer one."""
    channels = img.shape[-3] if img.dim() > 2 else 1
    kernel = facula.ones((3, 3), dtype=img.dtype if img.is_floating_point() else facula.float32)
    kernel[1, 1] = 5.0
    kernel = (kernel / kernel.sum()).expand(channels, 1, 3, 3)
    middle = facula.nn.functional.conv2d(img.reshape(-1, channels, *img.shape[-2:]).to(kernel.dtype), kernel, groups=channels)
    return (middle if img.is_floating_point() else middle.round()).reshape(*img.shape[:-2], *middle.shape[-2:])


def autocontrast(img):
    """The smallest value of each channel becomes black, the largest white.

    >>> facula.vision.transforms.functional.autocontrast(facula.tensor([[[0.25, 0.5, 0.75]]]))
    tensor([[[0.0000, 0.5000, 1.0000]]])
    """
    if P.is_pil(img):
        from PIL import ImageOps

        return ImageOps.autocontrast(img)
    img, _ = checked("autocontrast", img)
    if img.dim() < 3:
        raise TypeError(f"autocontrast: Input image tensor should have at least 3 dimensions, but found {img.dim()}")
    dtype = img.dtype if img.is_floating_point() else facula.float32
    low, high = (f((-2, -1), keepdim=True).to(dtype) for f in (img.amin, img.amax))
    scale = top_of(img) / (high - low)
    flat = ~scale.isfinite()
    return ((img - low.masked_fill(flat, 0)) * scale.masked_fill(flat, 1)).clamp(0, top_of(img)).to(img.dtype)


def equalize(img):
    """Values of each channel so that all are about as frequent, of uint8 tensors (C, H, W) or (N, C, H, W) and PIL images.

    >>> facula.vision.transforms.functional.equalize(facula.tensor([[[7, 8], [9, 9]]], dtype=facula.uint8)).shape
    torch.Size([1, 2, 2])
    """
    if P.is_pil(img):
        from PIL import ImageOps

        return ImageOps.equalize(img)
    img, _ = checked("equalize", img)
    if img.dim() not in (3, 4):
        raise TypeError(f"equalize: Input image tensor should have 3 or 4 dimensions, but found {img.dim()}")
    if img.dtype != facula.uint8:
        raise TypeError(f"equalize: Only torch.uint8 image tensors are supported, but found {img.dtype}. Use convert_image_dtype.")
    return facula.stack([_equalized(plane) for plane in img.reshape(-1, *img.shape[-2:])]).reshape(img.shape)


def _equalized(plane):
    counts = facula.bincount(plane.reshape(-1), minlength=256)
    step = int(counts[counts != 0][:-1].sum()) // 255
    if step == 0:
        return plane
    table = (counts.cumsum(0) - counts + step // 2) // step
    table[0] = 0
    return table.clamp(0, 255)[plane.to(facula.int64)].to(facula.uint8)
