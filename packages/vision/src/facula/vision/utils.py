"""Pictures side by side, and pictures in files."""

from __future__ import annotations

import os
import struct
import zlib

import facula

__all__ = ["make_grid", "save_image"]


def make_grid(
    tensor,
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> facula.Tensor:
    """One picture (3, H, W) of many (N, C, H, W), nrow in a row, padding pixels of pad_value between them.

    tensor: also a list of pictures, or one picture; single channels are repeated. normalize: value_range, or the smallest and
    largest value of all (of each, with scale_each), becomes [0, 1].

    >>> facula.vision.utils.make_grid(facula.zeros(4, 3, 8, 8), nrow=2, padding=1).shape
    torch.Size([3, 19, 19])
    """
    if isinstance(tensor, (list, tuple)):
        tensor = facula.stack(list(tensor), dim=0)
    if not isinstance(tensor, facula.Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    tensor = tensor.detach()
    tensor = tensor.unsqueeze(0) if tensor.dim() == 2 else tensor
    if tensor.dim() == 3:
        tensor = (tensor.expand(3, -1, -1) if tensor.shape[0] == 1 else tensor).unsqueeze(0)
    if tensor.dim() == 4 and tensor.shape[1] == 1:
        tensor = tensor.expand(-1, 3, -1, -1)
    if normalize:
        tensor = facula.stack([_scaled(t, value_range) for t in tensor]) if scale_each else _scaled(tensor, value_range)
    if tensor.shape[0] == 1:
        return tensor.squeeze(0)
    count, channels, height, width = tensor.shape
    columns = min(nrow, count)
    rows = -(-count // columns)
    height, width = height + padding, width + padding
    grid = facula.full((channels, height * rows + padding, width * columns + padding), pad_value, dtype=tensor.dtype)
    for k, picture in enumerate(tensor):
        top, left = k // columns * height + padding, k % columns * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = picture
    return grid


def _scaled(t, value_range):
    low, high = value_range if value_range is not None else (t.min().item(), t.max().item())
    return (t.clamp(low, high) - low) / max(high - low, 1e-5)


def save_image(tensor, fp, format: str | None = None, **kwargs) -> None:
    """Write pictures in [0, 1], set in a grid by make_grid(**kwargs), to a file: PNG without Pillow, other formats with it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facula.vision.utils.save_image(facula.zeros(3, 4, 6), folder + "/black.png")
    ...     print(open(folder + "/black.png", "rb").read()[1:4])
    b'PNG'
    """
    grid = make_grid(tensor, **kwargs)
    array = grid.mul(255).add(0.5).clamp(0, 255).permute(1, 2, 0).to(facula.uint8).contiguous().numpy()
    named = format or (os.path.splitext(os.fspath(fp))[1][1:] if not hasattr(fp, "write") else "png")
    if named.lower() == "png":
        data = _png(array)
        if hasattr(fp, "write"):
            fp.write(data)
        else:
            with open(fp, "wb") as file:
                file.write(data)
        return
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"save_image writes {named} with Pillow, which is not installed: pip install facula-vision[pillow]"
        ) from error
    Image.fromarray(array).save(fp, format=format)


def _png(array) -> bytes:
    """An 8-bit RGB picture. Source: W3C, Portable Network Graphics, third edition."""
    height, width, _ = array.shape
    rows = b"".join(b"\0" + row.tobytes() for row in array)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
