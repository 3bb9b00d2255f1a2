"""pad: constant, reflect, replicate, circular."""

from __future__ import annotations

from typing import Sequence

import facula
from facula import Tensor

from ._window import channels_last, padded


def _constant(x: Tensor, pairs: list[tuple[int, int]], value: float) -> Tensor:
    lead = x.dim() - len(pairs)
    for k, (before, after) in enumerate(pairs):
        size = x.size(lead + k)
        if size + before + after < 0:
            raise RuntimeError(f"pad: dim {lead + k} of size {size} with padding {(before, after)} would have a negative size.")
        if before < 0 or after < 0:  # a negative padding cuts
            x = x.narrow(lead + k, max(-before, 0), size + min(before, 0) + min(after, 0))
    grow = [(max(b, 0), max(a, 0)) for b, a in pairs]
    if not any(b or a for b, a in grow):
        return x.clone()
    return padded(x, tuple(b for b, _ in grow), tuple(a for _, a in grow), value)


def _places(size: int, before: int, after: int, mode: str, dim: int) -> list[int]:
    """For each place of the padded dim, the place of the input that it copies."""
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            f"pad: padding {(before, after)} must be less than the input's size {size} at dim {dim} to reflect it. Pad less, or replicate."
        )
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError(f"pad: padding {(before, after)} would wrap around dim {dim} of size {size} more than once. Pad less.")
    if mode == "replicate" and size == 0:
        raise RuntimeError(f"pad: dim {dim} has size 0 and nothing to replicate.")
    span = range(-before, size + after)
    if mode == "replicate":
        return [min(max(k, 0), size - 1) for k in span]
    if mode == "circular":
        return [k % size for k in span]
    return [-k if k < 0 else 2 * (size - 1) - k if k >= size else k for k in span]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """input with `pad` = (left, right, top, bottom, ...), from the last dim backwards.

    mode: "constant" (any dims, negative padding cuts), or "reflect", "replicate", "circular" of the last 1 to 3 dims.
    """
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError(f"pad: padding length must be divisible by 2, but got {len(pad)}: {pad}")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(f"pad: padding {pad} is for {len(pad) // 2} dims, the input has {input.dim()}.")
    pairs = [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    if mode == "constant":
        return _constant(input, pairs, 0.0 if value is None else value)
    if value not in (None, 0):
        raise RuntimeError(f"Padding mode '{mode}' doesn't take in value argument, got {value}")
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad: unrecognised padding mode {mode!r}. Give 'constant', 'reflect', 'replicate' or 'circular'.")
    if input.dim() not in (len(pairs) + 1, len(pairs) + 2) or not 1 <= len(pairs) <= 3:
        raise NotImplementedError(
            f"pad: mode {mode!r} takes padding of the last 1, 2 or 3 dims of an input with 1 or 2 dims more, got {pad} for {list(input.shape)}."
        )
    lead = input.dim() - len(pairs)
    format = {4: facula.channels_last, 5: facula.channels_last_3d}[input.dim()] if mode != "circular" and channels_last(input) else None
    for k, (before, after) in enumerate(pairs):
        if before or after:
            dim = lead + k
            if mode == "circular" and min(before, after) < 0:  # what is cut off is not wrapped around either
                input = _constant(input, [(0, 0)] * k + [(min(before, 0), min(after, 0))] + [(0, 0)] * (len(pairs) - k - 1), 0.0)
                before, after = max(before, 0), max(after, 0)
            places = _places(input.size(dim), before, after, mode, dim)
            input = input.index_select(dim, facula.tensor(places, dtype=facula.int64, device=input.device))
    return input.contiguous(memory_format=format) if format is not None else input
