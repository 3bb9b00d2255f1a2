"""The three kinds of picture that transforms take, and one way to look at them.

A tensor (..., H, W), a NumPy array (H, W) or (H, W, C), a PIL image. Pillow is never imported here: a PIL image
can only have been made by a program that has imported it.
"""

from __future__ import annotations

import sys

import facula

__all__ = ["as_array", "crop", "edges", "is_array", "is_pil", "map_array", "pad", "resampling", "resize", "size_of", "target_size"]


def is_pil(picture) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(picture, module.Image)


def is_array(picture) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(picture, numpy.ndarray)


def check(name: str, picture) -> None:
    if isinstance(picture, facula.Tensor):
        if picture.dim() < 2:
            raise TypeError(f"{name}: the tensor is no picture, its shape is {tuple(picture.shape)}. Give (..., H, W).")
    elif is_array(picture):
        if picture.ndim not in (2, 3):
            raise ValueError(
                f"{name}: pic should be 2/3 dimensional, its shape is {picture.shape}. Give (H, W) or (H, W, C)."
            )
    elif not is_pil(picture):
        raise TypeError(
            f"{name}: img should be PIL Image, ndarray or Tensor, got {type(picture).__name__}. Convert it to one of them."
        )


def size_of(picture) -> tuple[int, int]:
    """(height, width)."""
    if isinstance(picture, facula.Tensor):
        return tuple(picture.shape[-2:])
    return picture.size[::-1] if is_pil(picture) else picture.shape[:2]


def as_array(picture):
    import numpy

    return numpy.asarray(picture)


def map_array(function, picture):
    """`function` of the picture as an array (H, W[, C]); a PIL image comes back as one."""
    if not is_pil(picture):
        return function(picture)
    from PIL import Image

    return Image.fromarray(function(as_array(picture)))


def crop(picture, top: int, left: int, height: int, width: int):
    """That part of the picture; what lies outside of it is 0."""
    have_height, have_width = size_of(picture)
    around = (
        max(-left, 0),
        max(-top, 0),
        max(left + width - have_width, 0),
        max(top + height - have_height, 0),
    )
    if any(around):
        picture, top, left = pad(picture, around), max(top, 0), max(left, 0)
    rows, columns = slice(top, top + height), slice(left, left + width)
    if isinstance(picture, facula.Tensor):
        return picture[..., rows, columns]
    return map_array(lambda array: array[rows, columns], picture)


PADDING_MODES = ("constant", "edge", "reflect", "symmetric")  # torchvision's names, and NumPy's


def edges(around) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of one number, (left and right, top and bottom), or all four."""
    numbers = (around,) if isinstance(around, int) else tuple(around)
    if len(numbers) not in (1, 2, 4):
        raise ValueError(f"pad: padding {around}. Give 1, 2 or 4 numbers.")
    return numbers * (4 // len(numbers))


def pad(picture, padding, fill=0, padding_mode: str = "constant"):
    """`padding`: one number, (left and right, top and bottom) or (left, top, right, bottom); one below 0 cuts off."""
    if padding_mode not in PADDING_MODES:
        raise ValueError(f"pad: Padding mode should be one of {', '.join(PADDING_MODES)}, got {padding_mode!r}. Give one of them.")
    left, top, right, bottom = around = edges(padding)
    if isinstance(fill, (list, tuple)):
        if len(fill) > 1:
            return _pad_by_channel(picture, around, fill, padding_mode)
        (fill,) = fill
    if isinstance(picture, facula.Tensor):
        if padding_mode == "constant":
            from facula.nn import functional as F

            return F.pad(picture, (left, right, top, bottom), value=fill or 0)
        height, width = size_of(picture)
        return picture[..., _lines(height, top, bottom, padding_mode)[:, None], _lines(width, left, right, padding_mode)]
    import numpy

    def padded(array):
        widths = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
        cut = array[tuple(slice(max(-before, 0), n - max(-after, 0)) for n, (before, after) in zip(array.shape, widths))]
        options = {"constant_values": fill or 0} if padding_mode == "constant" else {}
        return numpy.pad(cut, [(max(before, 0), max(after, 0)) for before, after in widths], padding_mode, **options)

    return map_array(padded, picture)


def _lines(n: int, before: int, after: int, padding_mode: str) -> facula.Tensor:
    """Which of n lines stand around them and, in between, they themselves."""
    most = n - (padding_mode == "reflect")
    if padding_mode != "edge" and max(before, after) > most:
        error = RuntimeError if padding_mode == "reflect" else IndexError  # torchvision's
        raise error(f"pad: {padding_mode} padding by {(before, after)} of {n} lines. Pad by {most} at most.")
    at = facula.arange(-before, n + after)
    if padding_mode == "symmetric":
        at = facula.where(at < 0, -1 - at, at)
        return facula.where(at < n, at, 2 * n - 1 - at)
    if padding_mode == "reflect":
        return n - 1 - (n - 1 - at.abs()).abs()
    return at.clamp(0, n - 1)


def _pad_by_channel(picture, around, fill, padding_mode: str):
    if padding_mode != "constant":
        raise ValueError(f"pad: Padding mode {padding_mode!r} is not supported if fill is not scalar, got {fill}. Give one number.")
    padded = pad(picture, around)
    inside = pad(facula.ones(size_of(picture), dtype=facula.bool), around)
    if isinstance(padded, facula.Tensor):
        return facula.where(inside, padded, facula.tensor(fill).to(padded.dtype).reshape(-1, 1, 1))
    import numpy

    return map_array(lambda a: numpy.where(inside.numpy()[..., None], a, numpy.asarray(fill, a.dtype)), padded)


PIL_ONLY = ("box", "hamming", "lanczos")


def resize(picture, size, interpolation: str = "bilinear", max_size: int | None = None, antialias: bool = True, own=()):
    """`size`: (height, width), or the length of the shorter edge, the ratio kept and the longer cut at `max_size`.

    interpolation: "nearest", "bilinear" or "bicubic", computed in float32 with antialiasing, integers rounded, but in dtypes that are
    `own` in themselves. None: the longer edge becomes `max_size`.
    """
    from facula.nn import functional as F

    height, width = target_size(size_of(picture), size, max_size)
    if (height, width) == size_of(picture):
        return picture
    if is_pil(picture):  # Pillow's own filters, which torchvision asks as well
        return picture.resize((width, height), resampling(interpolation))
    if interpolation in PIL_ONLY:
        raise ValueError(f"resize: interpolation {interpolation!r} is for PIL images. Use 'bilinear'.")
    if isinstance(picture, facula.Tensor):
        planes = picture.reshape(-1, 1, *picture.shape[-2:])
    else:
        array = as_array(picture)
        planes = facula.tensor(array if array.ndim == 3 else array[:, :, None]).permute(2, 0, 1).unsqueeze(1)
    options = {} if interpolation.startswith("nearest") else {"align_corners": False, "antialias": bool(antialias)}
    floating = planes.is_floating_point() or planes.dtype in own
    out = F.interpolate(
        planes if floating else planes.to(facula.float32), size=(height, width), mode=interpolation, **options
    )
    if not floating:
        # Bicubic weights overshoot; outside the dtype's range a conversion would wrap round.
        limits = facula.iinfo(planes.dtype)
        out = out.round().clamp(limits.min, limits.max).to(planes.dtype)
    if isinstance(picture, facula.Tensor):
        return out.reshape(*picture.shape[:-2], height, width)
    result = out.squeeze(1).permute(1, 2, 0).contiguous().numpy()
    return map_array(lambda array: result if array.ndim == 3 else result[:, :, 0], picture)


def resampling(interpolation: str):
    """Pillow's name of a way to sample."""
    from PIL import Image

    return getattr(Image.Resampling, interpolation.removesuffix("-exact").upper())


def target_size(have: tuple[int, int], size, max_size: int | None = None) -> tuple[int, int]:
    height, width = have
    short, long = sorted(have)
    if size is None:
        if not isinstance(max_size, int):
            raise ValueError(f"resize: max_size must be an integer when size is None, but got {max_size} instead.")
        new_short, new_long = int(max_size * short / long), max_size
    else:
        if not isinstance(size, int):
            if len(size) == 2:
                if max_size is not None:
                    raise ValueError(f"resize: max_size={max_size} is for one number as size, got {tuple(size)}. Leave it out.")
                return tuple(size)
            (size,) = size
        if max_size is not None and max_size <= size:
            raise ValueError(f"resize: max_size = {max_size} must be strictly greater than the requested size for the smaller edge size = {size}.")
        new_short, new_long = size, int(size * long / short)
        if max_size is not None and new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_short, new_long) if height <= width else (new_long, new_short)
