"""Resampling: interpolate and its old names."""

from __future__ import annotations

import math
import struct
import warnings
from functools import lru_cache
from typing import Any, Callable

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._pool_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ._rows import REAL, only, row

_resample, _resample_bytes = row("_resample"), row("_resample_bytes")

# one output place along a dim is a weighted sum of input places: (place, weight) pairs
Rule = list[list[tuple[int, float]]]


def _source(k: int, scale: float, align_corners: bool, rounded: Callable[[float], float], cubic: bool = False) -> float:
    """Where output place k lies in the input's coordinates. rounded: to the numbers that PyTorch computes it in."""
    if align_corners:
        return rounded(scale * k)
    at = rounded(scale * (k + 0.5) - 0.5)  # by one fused step
    return at if cubic or at >= 0 else 0.0


def _scale(size: int, out: int, factor: float | None, align_corners: bool) -> float:
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / factor if factor is not None and factor > 0 else size / out


def _nearest(size: int, out: int, factor: float | None, exact: bool, plane: bool) -> Rule:
    if plane and out in (size, 2 * size):
        return [[(k * size // out, 1.0)] for k in range(out)]  # as PyTorch, whatever the factor says; in lines and volumes it has its say
    # PyTorch computes the scale and the product in float32; so must we, to pick the same neighbours
    scale = _f32(1.0 / factor) if factor is not None else _f32(size / out)
    shift = 0.5 if exact else 0.0
    return [[(min(int(_f32((k + shift) * scale)), size - 1), 1.0)] for k in range(out)]


def _f32(x: float) -> float:
    return struct.unpack("f", struct.pack("f", x))[0]


def _linear(size: int, out: int, factor: float | None, align_corners: bool, rounded: Callable[[float], float]) -> Rule:
    if out == size:
        return [[(k, 1.0)] for k in range(out)]  # as PyTorch, whatever the factor says
    scale = rounded(_scale(size, out, factor, align_corners))
    rule = []
    for k in range(out):
        at = _source(k, scale, align_corners, rounded)
        low = min(int(at), size - 1)
        high, part = min(low + 1, size - 1), at - low
        rule.append([(low, 1.0 - part), (high, part)])
    return rule


def _keys(x: float, a: float) -> float:
    """The cubic convolution kernel. Source: Keys (1981)."""
    x = abs(x)
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _cubic(size: int, out: int, factor: float | None, align_corners: bool, rounded: Callable[[float], float]) -> Rule:
    scale = rounded(_scale(size, out, factor, align_corners))
    rule = []
    for k in range(out):
        at = _source(k, scale, align_corners, rounded, cubic=True)
        low = math.floor(at)
        part = at - low
        rule.append([(min(max(low + j, 0), size - 1), _keys(j - part, -0.75)) for j in (-1, 0, 1, 2)])
    return rule


def _antialiased(size: int, out: int, factor: float | None, align_corners: bool, cubic: bool) -> Rule:
    """The filter stretched over all input that an output place covers, weights normalised; as Pillow does."""
    if out == size:
        return [[(k, 1.0)] for k in range(out)]
    scale = _scale(size, out, factor, align_corners)
    kernel: Callable[[float], float] = (lambda x: _keys(x, -0.5)) if cubic else (lambda x: max(0.0, 1 - abs(x)))
    width = (2.0 if cubic else 1.0) * max(scale, 1.0)
    shrink = 1.0 / scale if scale >= 1.0 else 1.0
    rule = []
    for k in range(out):
        centre = scale * (k + 0.5)
        first, last = max(int(centre - width + 0.5), 0), min(int(centre + width + 0.5), size)
        weights = [kernel((j - centre + 0.5) * shrink) for j in range(first, last)]
        total = sum(weights)
        rule.append([(j, w / total if total else 0.0) for j, w in zip(range(first, last), weights)])
    return rule


def _fixed_point(rule: Rule) -> tuple[Rule, int]:
    """The weights of bytes, as PyTorch has them: integers of 16 bits over the highest power of two that the largest allows."""
    merged = []
    for taps in rule:
        sums: dict[int, float] = {}
        for place, weight in taps:
            sums[place] = sums.get(place, 0.0) + weight
        merged.append(sums)
    most = max((w for sums in merged for w in sums.values()), default=0.0)
    if most == 1.0 and all(len(sums) == 1 for sums in merged):
        return [[(p, 1) for p in sums] for sums in merged], 0  # bytes that only move
    bits = next((b for b in range(22) if int(0.5 + most * 2.0 ** (b + 1)) >= 2**15), 22)
    return [[(p, int(math.copysign(math.floor(abs(w) * 2.0**bits + 0.5), w))) for p, w in sums.items()] for sums in merged], bits


@lru_cache(maxsize=256)
def _taps(kind: str, size: int, out: int, factor: float | None, align_corners: bool, dtype: Any) -> tuple[Tensor, Tensor, int]:
    """A rule as the row takes it: places and weights (out, taps), -1 where there are fewer taps; bits: of the weights of bytes, which are integers."""
    rounded = _f32 if dtype is facula.float32 else float
    if kind.startswith("nearest"):
        rule = _nearest(size, out, factor, kind == "nearest-exact", kind == "nearest in a plane")
    elif kind.startswith("antialiased "):
        rule = _antialiased(size, out, factor, align_corners, kind.endswith("bicubic"))
    elif kind == "bicubic":
        rule = _cubic(size, out, factor, align_corners, rounded)
    else:
        rule = _linear(size, out, factor, align_corners, rounded)
    bits = 0
    if dtype is facula.uint8:
        (rule, bits), dtype = _fixed_point(rule), facula.int16
    most = max(len(r) for r in rule)
    padded = [r + [(-1, 0)] * (most - len(r)) for r in rule]
    with facula.inference_mode(False):  # kept: ordinary tensors, whoever asks first
        places = facula.tensor([[p for p, _ in r] for r in padded], device="cpu")
        return places, facula.tensor([[w for _, w in r] for r in padded], dtype=dtype, device="cpu"), bits


_NONE = type(None)
_PLAIN = {  # arguments whose equality tells that they mean the same
    (size, factor, str, align, recompute, bool)
    for size, factor in ((int, _NONE), (_NONE, int), (_NONE, float))
    for align in (_NONE, bool)
    for recompute in (_NONE, bool)
}
MOST_STEPS = 64  # 3 of 6 us of a small image are what stands between its arguments and these
_steps: dict[tuple, tuple] = {}  # of calls that were found right: what _resample is asked for

_MODES = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5, "lanczos": 4}


def _output_size(x: Tensor, size: Any, scale_factor: Any, exact: bool) -> tuple[list[int], list[float] | None]:
    """The sizes, and the factors where these were given; exact: only the sizes are used, so a factor may be a tensor."""
    ndim = x.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    what, given = ("output_size", size) if size is not None else ("scale_factor", scale_factor)
    if isinstance(given, (list, tuple)):
        if len(given) != ndim:
            raise ValueError(f"Input and {what} must have the same number of spatial dimensions, but got input with spatial dimensions of {list(x.shape[2:])} and {what} {given}.")
        given = list(given)
    else:
        given = [given] * ndim
    if size is not None:
        return [int(n) for n in given], None
    for f in given:
        if isinstance(f, str) or isinstance(f, Tensor) and not exact:
            raise TypeError(f"interpolate(): argument 'scale_factor' must be a float or a tuple of them, but found {type(f).__name__} {f!r}. Convert it with float().")
    factors = [float(f) for f in given]
    sizes = [n * f for n, f in zip(x.shape[2:], factors)]
    if not all(abs(n) < 2.0**63 for n in sizes):
        raise RuntimeError(f"interpolate: scale_factor {scale_factor} makes sizes {sizes}, and no dim is as large. Give a smaller one.")
    return [int(math.floor(n)) for n in sizes], factors


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """input (N, C, *) resampled to `size`, or by scale_factor.

    mode: "nearest", "nearest-exact", "area", "linear" (3-d), "bilinear", "bicubic" (4-d), "trilinear" (5-d).
    align_corners: the outermost places coincide, instead of the outer edges. recompute_scale_factor: use the ratio of the
    sizes instead of the factor given. antialias: for bilinear and bicubic, filter what is shrunk.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.interpolate(facula.tensor([[[1.0, 3.0]]]), scale_factor=2.0)
    tensor([[[1., 1., 3., 3.]]])
    """
    kinds = type(size), type(scale_factor), type(mode), type(align_corners), type(recompute_scale_factor), type(antialias)
    asked = None
    if kinds in _PLAIN and type(input) is Tensor and not input.is_meta and not extend.listening():
        asked = (input.shape, input.dtype, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
        steps = _steps.get(asked)
        if steps is not None:
            x = input if input._origin is None else _by_rows(input, mode)
            for places, weights, dim in steps:
                x = _resample(x, places, weights, dim)
            return x if x._origin is None else _one_step(x, input, mode, antialias)
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    for k, n in enumerate(() if scale_factor is not None else size if isinstance(size, (tuple, list)) else (size,)):
        if n is not None and (not k and isinstance(n, bool) or (n.is_floating_point() if isinstance(n, Tensor) else not hasattr(n, "__index__"))):
            _check_mode(input, size, mode, align_corners, recompute_scale_factor, antialias)
            raise TypeError(f"interpolate: expected size to be one of int or tuple of ints, but got size with {type(n).__name__}. Convert it with int().")
    try:
        out, factors = _output_size(input, size, scale_factor, bool(recompute_scale_factor) or mode == "area")
    except TypeError:
        _check_mode(input, size, mode, align_corners, recompute_scale_factor, antialias)
        raise
    _check_mode(input, size, mode, align_corners, recompute_scale_factor, antialias)
    if recompute_scale_factor:
        factors = None
    if 0 in input.shape[1:] and mode != "area":
        raise RuntimeError(f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes {list(input.shape)}")
    if any(n < (mode != "area") for n in out):  # an average over areas may have no places
        raise RuntimeError(f"interpolate: Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} output {out}")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[input.dim() - 3](input, out)
    _check_kind(mode, input)
    if math.prod((*input.shape[:2], *out)) > 2**28 and not input.is_meta:
        facula.empty((*input.shape[:2], *out), dtype=input.dtype)  # where memory does not suffice, this says so before tables of those lengths are made
    kind = "antialiased " + mode if antialias else "nearest in a plane" if mode == "nearest" and input.dim() == 4 else mode
    work = input.dtype if input.dtype in (facula.float32, facula.float64, facula.uint8) else facula.float32
    x = _by_rows(input, mode)
    x = x.float() if input.dtype in (facula.float16, facula.bfloat16) else x  # rounded once, after the last dim
    steps = []
    for k in _order(x, out, mode):
        factor = None if factors is None else factors[k]
        if x.is_meta:  # the shape is all, whatever its size
            places, weights = (facula.empty((out[k], 1), dtype=d, device="meta") for d in (facula.int64, facula.int16 if work is facula.uint8 else work))
            bits = 0
        else:
            places, weights, bits = _taps(kind, input.shape[2 + k], out[k], factor, bool(align_corners), work)
        x = _resample(x, places, weights, 2 + k) if x.is_floating_point() else _resample_bytes(x, places, weights, 2 + k, bits)  # rounded after each
        steps.append((places, weights, 2 + k))
    if asked is not None and work is input.dtype is not facula.uint8:
        if len(_steps) >= MOST_STEPS:
            _steps.clear()
        _steps[asked] = tuple(steps)
    x = x if x.dtype is input.dtype else x.to(input.dtype)
    return x if type(x) is not Tensor or x._origin is None else _one_step(x, input, mode, antialias)


def _by_rows(input: Tensor, mode: str) -> Tensor:
    """input, whose gradient lies by rows in the modes that PyTorch computes channel by channel, wherever the channels lie."""
    return extend.gradient_lies(input, "rows") if mode == "bicubic" or input.dim() == 5 and mode != "trilinear" else input


def _check_mode(input: Tensor, size: Any, mode: str, align_corners: Any, recompute_scale_factor: Any, antialias: bool) -> None:
    """What interpolate refuses whatever the size of its result."""
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if antialias and (mode not in ("bilinear", "bicubic") or input.dim() != 4):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if mode not in ("nearest", "area", "nearest-exact") and (not isinstance(mode, str) or mode not in _MODES or mode == "lanczos"):
        raise NotImplementedError(f"interpolate: mode {mode!r} is not known. Give nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear.")
    if not 3 <= input.dim() <= 5 or (mode in _MODES and _MODES[mode] != input.dim()):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})")
    if mode in _MODES and align_corners is not None and align_corners is not True and align_corners is not False:
        raise TypeError(f"interpolate(): argument 'align_corners' must be bool, not {type(align_corners).__name__}. Write True or False.")


def _check_kind(mode: str, input: Tensor) -> None:
    """The dtypes that a mode refuses."""
    if mode in _MODES and not (input.is_floating_point() or input.dtype is facula.uint8):
        raise NotImplementedError(f"interpolate: mode {mode!r} not implemented for {input.dtype}. Convert with input.float().")
    if mode in ("linear", "trilinear") and input.dtype is facula.uint8:
        raise NotImplementedError(f"interpolate: mode {mode!r} not implemented for {input.dtype}. Convert with input.float().")
    if mode in ("nearest", "nearest-exact"):
        only("interpolate, mode " + mode, input.dtype, (*REAL, facula.uint8))


def _order(x: Tensor, out: list[int], mode: str) -> list[int]:
    """The dims in the order in which they are resampled."""
    order = list(range(len(out))) if x.is_floating_point() else list(reversed(range(len(out))))
    if mode in ("nearest", "nearest-exact"):  # values only move: dims that shrink go first, outer before inner; those that grow last, inner before outer
        order.sort(key=lambda k: (True, -k) if out[k] > x.shape[2 + k] else (False, k))
    return order


def _one_step(x: Tensor, input: Tensor, mode: str, antialias: bool) -> Tensor:
    """x, input's dims resampled one by one: one node to who looks at it."""
    kind = "".join(word.capitalize() for word in mode.split("-"))
    return extend.one_node(x, f"Upsample{kind}{x.dim() - 2}D{'Aa' if antialias else ''}Backward0", input)


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """The old name of interpolate.

    >>> facula.nn.functional.upsample(facula.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate, mode nearest.

    >>> facula.nn.functional.upsample_nearest(facula.tensor([[[[1.0, 2.0]]]]), size=(1, 4))
    tensor([[[[1., 1., 2., 2.]]]])
    """
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate, mode bilinear with align_corners.

    >>> facula.nn.functional.upsample_bilinear(facula.tensor([[[[1.0, 2.0]]]]), size=(1, 3))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
