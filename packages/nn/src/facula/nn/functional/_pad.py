"""pad: constant, reflect, replicate, circular."""

from __future__ import annotations

from typing import Sequence

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._rows import row
from ._window import channels_last, some

_cat, _slice, _around = row("cat"), row("slice"), row("_pad_around")
_MODES = {"reflect": 0, "replicate": 1, "circular": 2}  # as the row numbers them


def _continued(x: Tensor, before: int, after: int, mode: str, dim: int) -> Tensor:
    """x with what `mode` says before and after it along dim; a negative padding cuts."""
    size = x.shape[dim]
    if mode == "reflect" and max(before, after) >= size:
        raise RuntimeError(
            f"pad: Padding size should be less than the corresponding input dimension, but got padding {(before, after)} at dimension {dim} of input {tuple(x.shape)}. Pad less, or replicate."
        )
    if mode == "circular" and max(before, after) > size:
        raise RuntimeError(f"pad: padding {(before, after)} would wrap around dim {dim} of size {size} more than once. Pad less.")
    if mode == "replicate" and size == 0:
        raise RuntimeError(f"pad: dim {dim} has size 0 and nothing to replicate.")
    if mode != "circular" and size + before + after < 1:
        raise RuntimeError(f"pad: input (dim {dim}: {size}) is too small for padding {(before, after)}: calculated output size {size + before + after}. Pad more.")
    if before < 0 or after < 0:
        kept = size + min(before, 0) + min(after, 0)
        if kept < 0:
            raise RuntimeError(f"pad: dim {dim} of size {size} with padding {(before, after)} would have a negative size.")
        parts = [x.narrow(dim, max(-before, 0), kept)]
    else:
        parts = [x]
    step = -1 if mode == "reflect" else 1
    if before > 0:
        parts.insert(0, _slice(x, dim, before if mode == "reflect" else size - before, before, step) if mode != "replicate" else _edge(x, dim, 0, before))
    if after > 0:
        parts.append(_slice(x, dim, size - 2 if mode == "reflect" else 0, after, step) if mode != "replicate" else _edge(x, dim, size - 1, after))
    return _cat(parts, dim) if len(parts[0].shape) < 4 else facula.cat(parts, dim)


def _edge(x: Tensor, dim: int, place: int, width: int) -> Tensor:
    """One slice of x, `width` times."""
    edge = _slice(x, dim, place, 1, 1)
    return edge if width == 1 else edge.expand([-1] * dim + [width] + [-1] * (x.dim() - dim - 1))


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """input with `pad` = (left, right, top, bottom, ...), from the last dim backwards.

    mode: "constant" (any dims, negative padding cuts), or "reflect", "replicate", "circular" of the last 1 to 3 dims.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.pad(facula.tensor([1.0, 2.0]), (1, 2))
    tensor([0., 1., 2., 0., 0.])
    """
    if type(input) is not Tensor:
        extend.want_tensor("pad", "input", 0, input)
    if type(mode) is not str:
        extend.check("pad", "mode", 2, "str", mode)
    if type(pad) is str:
        extend.want_ints("pad", "pad", 1, pad)
    if value is not None and type(value) is not float:
        extend.check("pad", "value", 3, "float", value)
        value = float(value)
    if isinstance(pad, Tensor):
        extend.want_ints("pad", "pad", 1, pad)
    pad = tuple(pad)
    if mode != "constant" and mode not in _MODES:
        extend.want_ints("pad", "pad", 1, pad)
        raise NotImplementedError(f"pad: unrecognised padding mode {mode!r}. Give 'constant', 'reflect', 'replicate' or 'circular'.")
    if len(pad) % 2:
        extend.want_ints("pad", "pad", 1, pad)
        raise RuntimeError(f"pad: padding length must be divisible by 2, but got {len(pad)}: {pad}")
    if len(pad) // 2 > input.dim():
        raise RuntimeError(f"pad: padding {pad} is for {len(pad) // 2} dims, the input has {input.dim()}.")
    if mode == "constant":
        return facula.constant_pad_nd(input, pad, 0.0 if value is None else value)
    dims, spatial = len(input.shape), len(pad) // 2
    if 1 <= spatial <= 3 and spatial < dims <= spatial + 2 and value is None and mode in _MODES and input.dtype._kind and 0 not in input.shape and type(input) is Tensor:
        if not extend.listening():
            try:  # what the row refuses is said below, by the sizes that are wrong
                return _around(input, pad, _MODES[mode])
            except (RuntimeError, TypeError):
                pass
    extend.want_ints("pad", "pad", 1, pad)
    pairs = [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    if value not in (None, 0) and mode in _MODES:
        raise RuntimeError(f"Padding mode '{mode}' doesn't take in value argument, got {value}")
    if input.dim() not in (len(pairs) + 1, len(pairs) + 2) or not 1 <= len(pairs) <= 3:
        raise NotImplementedError(
            f"pad: mode {mode!r} takes padding of the last 1, 2 or 3 dims of an input with 1 or 2 dims more, got {pad} for {list(input.shape)}."
        )
    if mode != "circular":
        some("pad", input, len(pairs))
        if input.dtype is facula.bool:
            raise extend.DTypeError(f'pad: "{mode}" not implemented for \'Bool\' (input: {tuple(input.shape)}). Convert with input.to(facula.uint8).')
    lead = input.dim() - len(pairs)
    format = {4: facula.channels_last, 5: facula.channels_last_3d}[input.dim()] if mode != "circular" and channels_last(input) else facula.contiguous_format
    if not any(pad):
        return input.clone(memory_format=format)  # never input itself
    for k, (before, after) in enumerate(pairs):
        if before or after:
            dim = lead + k
            if mode == "circular" and min(before, after) < 0:  # what is cut off is not wrapped around either
                input = input.narrow(dim, max(-before, 0), input.size(dim) + min(before, 0) + min(after, 0))
                before, after = max(before, 0), max(after, 0)
            input = _continued(input, before, after, mode, dim)
    return input.contiguous(memory_format=format)
