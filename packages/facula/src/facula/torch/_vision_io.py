"""torchvision.io: image files to uint8 tensors (C, H, W) and back, through Pillow."""

from __future__ import annotations

import enum
import io
from typing import Any

import facula

__all__ = ["ImageReadMode", "decode_image", "encode_jpeg", "encode_png", "read_file", "read_image", "write_file", "write_jpeg", "write_png"]


class ImageReadMode(enum.Enum):
    """The channels that are wanted, whatever the file has."""

    UNCHANGED = None
    GRAY = "L"
    GRAY_ALPHA = "LA"
    RGB = "RGB"
    RGB_ALPHA = "RGBA"


def _tensor(file: Any, mode: Any) -> facula.Tensor:
    from PIL import Image

    from facula.vision.transforms.functional import pil_to_tensor

    wanted = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    try:
        with Image.open(file) as image:
            if wanted.value is None and image.mode == "P":
                image = image.convert("RGB")
            return pil_to_tensor(image if wanted.value is None else image.convert(wanted.value))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # what Pillow's readers raise, each its own
        raise RuntimeError(f"decode_image: this is not an image that Pillow reads ({type(error).__name__}: {error}). Look at the file.") from error


def read_file(path: str) -> facula.Tensor:
    """The bytes of a file, uint8."""
    with open(path, "rb") as file:
        return facula.frombuffer(bytearray(file.read()), dtype=facula.uint8)


def write_file(filename: str, data: facula.Tensor) -> None:
    """A file of these bytes."""
    with open(filename, "wb") as file:
        file.write(data.numpy().tobytes())


def decode_image(input: Any, mode: Any = ImageReadMode.UNCHANGED) -> facula.Tensor:
    """The image in a file's bytes, or in the file of that name."""
    return _tensor(io.BytesIO(input.numpy().tobytes()) if isinstance(input, facula.Tensor) else input, mode)


def read_image(path: str, mode: Any = ImageReadMode.UNCHANGED) -> facula.Tensor:
    """The image in a file."""
    return _tensor(path, mode)


def _encode(image: facula.Tensor, kind: str, **options: Any) -> facula.Tensor:
    from facula.vision.transforms.functional import to_pil_image

    out = io.BytesIO()
    to_pil_image(image).save(out, kind, **options)
    return facula.frombuffer(bytearray(out.getvalue()), dtype=facula.uint8)


def encode_png(input: facula.Tensor, compression_level: int = 6) -> facula.Tensor:
    """The bytes of a PNG file."""
    return _encode(input, "PNG", compress_level=compression_level)


def encode_jpeg(input: facula.Tensor, quality: int = 75) -> facula.Tensor:
    """The bytes of a JPEG file."""
    return _encode(input, "JPEG", quality=quality)


def write_png(input: facula.Tensor, filename: str, compression_level: int = 6) -> None:
    """A PNG file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: facula.Tensor, filename: str, quality: int = 75) -> None:
    """A JPEG file."""
    write_file(filename, encode_jpeg(input, quality))
