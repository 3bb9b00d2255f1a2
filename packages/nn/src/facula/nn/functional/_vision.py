"""Resampling: interpolate, grid_sample, affine_grid."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

import facula
from facula import Tensor

from ._pool_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

# one output place along a dim is a weighted sum of input places: (place, weight) pairs
Rule = list[list[tuple[int, float]]]


def _source(k: int, scale: float, align_corners: bool, cubic: bool = False) -> float:
    """Where output place k lies in the input's coordinates."""
    if align_corners:
        return scale * k
    at = scale * (k + 0.5) - 0.5
    return at if cubic or at >= 0 else 0.0


def _scale(size: int, out: int, factor: float | None, align_corners: bool) -> float:
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / factor if factor is not None and factor > 0 else size / out


def _nearest(size: int, out: int, factor: float | None, exact: bool) -> Rule:
    if not exact and out in (size, 2 * size):
        return [[(k * size // out, 1.0)] for k in range(out)]  # as PyTorch, whatever the factor says
    # PyTorch computes the scale and the product in float32; so must we, to pick the same neighbours
    scale = _f32(1.0 / factor) if factor is not None else _f32(size / out)
    shift = 0.5 if exact else 0.0
    return [[(min(int(_f32((k + shift) * scale)), size - 1), 1.0)] for k in range(out)]


def _f32(x: float) -> float:
    return facula.tensor(x, dtype=facula.float32).item()


def _linear(size: int, out: int, factor: float | None, align_corners: bool) -> Rule:
    if out == size:
        return [[(k, 1.0)] for k in range(out)]  # as PyTorch, whatever the factor says
    scale = _scale(size, out, factor, align_corners)
    rule = []
    for k in range(out):
        at = _source(k, scale, align_corners)
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


def _cubic(size: int, out: int, factor: float | None, align_corners: bool) -> Rule:
    scale = _scale(size, out, factor, align_corners)
    rule = []
    for k in range(out):
        at = _source(k, scale, align_corners, cubic=True)
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


def _resample(x: Tensor, dim: int, rule: Rule) -> Tensor:
    """Apply a rule along one dim: by index where each output is one input, else as a product with the rule's matrix or its taps."""
    most = max(len(r) for r in rule)
    total = None
    for j in range(most):
        places = [r[j][0] if j < len(r) else 0 for r in rule]
        weights = [r[j][1] if j < len(r) else 0.0 for r in rule]
        part = x.index_select(dim, facula.tensor(places, dtype=facula.int64, device=x.device))
        if any(w != 1.0 for w in weights):
            shape = [1] * x.dim()
            shape[dim] = -1
            part = part * facula.tensor(weights, dtype=x.dtype, device=x.device).reshape(shape)
        total = part if total is None else total + part
    return total


_MODES = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5, "lanczos": 4}


def _output_size(x: Tensor, size: Any, scale_factor: Any) -> tuple[list[int], list[float] | None]:
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
    factors = [float(f) for f in given]
    return [int(math.floor(n * f)) for n, f in zip(x.shape[2:], factors)], factors


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
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    elif mode not in _MODES or mode == "lanczos":
        raise NotImplementedError(f"interpolate: mode {mode!r} is not known. Give nearest, nearest-exact, area, linear, bilinear, bicubic or trilinear.")
    out, factors = _output_size(input, size, scale_factor)
    if not 3 <= input.dim() <= 5 or (mode in _MODES and _MODES[mode] != input.dim()):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got {mode})")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor:
        factors = None
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if any(n <= 0 for n in out):
        raise RuntimeError(f"interpolate: Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} output {out}")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[input.dim() - 3](input, out)
    corners = bool(align_corners)
    x = input
    for k, n in enumerate(out):
        dim, old, factor = 2 + k, x.size(2 + k), None if factors is None else factors[k]
        if mode in ("nearest", "nearest-exact"):
            rule = _nearest(old, n, factor, mode == "nearest-exact")
        elif antialias:
            rule = _antialiased(old, n, factor, corners, mode == "bicubic")
        elif mode == "bicubic":
            rule = _cubic(old, n, factor, corners)
        else:
            rule = _linear(old, n, factor, corners)
        x = _resample(x, dim, rule)
    return x


def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """The old name of interpolate."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate, mode nearest."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """interpolate, mode bilinear with align_corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The sampling grid of affine maps: theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); or (N, 3, 4) for (N, C, D, H, W)."""
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0.", stacklevel=2)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    ndim = len(size) - 2
    if ndim not in (2, 3):
        raise NotImplementedError(f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {tuple(size)}.")
    if tuple(theta.shape[-2:]) != (ndim, ndim + 1) or theta.dim() != 3:
        raise ValueError(f"Expected a batch of {ndim}D affine matrices of shape Nx{ndim}x{ndim + 1} for size {tuple(size)}. Got {tuple(theta.shape)}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    spatial = tuple(size[2:])
    axes = []
    for k in reversed(range(ndim)):  # x first
        n = spatial[k]
        line = facula.linspace(-1, 1, n, dtype=theta.dtype) if n > 1 else facula.zeros(1, dtype=theta.dtype)
        if not align_corners and n > 1:
            line = line * (n - 1) / n
        shape = [1] * ndim
        shape[k] = n
        axes.append(line.reshape(shape).expand(spatial))
    axes.append(facula.ones(spatial, dtype=theta.dtype))
    base = facula.stack(axes, -1).reshape(1, -1, ndim + 1)
    return facula.matmul(base, theta.transpose(1, 2)).reshape(theta.size(0), *spatial, ndim)


def _unnormalised(at: Tensor, size: int, align_corners: bool) -> Tensor:
    return (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2


def _reflected(at: Tensor, low: float, high: float) -> Tensor:
    """at folded back into [low, high] by mirrors at both ends."""
    if low == high:
        return facula.zeros_like(at)
    span = high - low
    away = (at - low).abs()
    turns = (away / span).floor()
    rest = away - turns * span
    return facula.where(facula.fmod(turns, 2) == 0, rest + low, span - rest + low)


def _inside(at: Tensor, size: int, padding_mode: str, align_corners: bool) -> Tensor:
    if padding_mode == "reflection":
        at = _reflected(at, 0.0, size - 1.0) if align_corners else _reflected(at, -0.5, size - 0.5)
    return at if padding_mode == "zeros" else at.clamp(0, size - 1)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """input (N, C, H, W) at the places of grid (N, Ho, Wo, 2), x before y in [-1, 1]; or (N, C, D, H, W) with (N, Do, Ho, Wo, 3)."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0.", stacklevel=2)
        align_corners = False
    ndim = input.dim() - 2
    if ndim not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}")
    if input.size(0) != grid.size(0) or grid.size(-1) != ndim:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size and grid to have size {ndim} in last dimension, but got input {list(input.shape)} and grid {list(grid.shape)}")
    if mode == "bicubic" and ndim == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    n, c = input.shape[:2]
    sizes, out = tuple(input.shape[2:]), tuple(grid.shape[1:-1])
    ats = [_unnormalised(grid[..., ndim - 1 - k], sizes[k], align_corners) for k in range(ndim)]  # in the order of input's dims
    if mode != "bicubic":
        ats = [_inside(at, size, padding_mode, align_corners) for at, size in zip(ats, sizes)]
    flat = input.reshape(n, c, -1)

    def fetch(places: list[Tensor]) -> Tensor:
        valid, index = None, None
        for at, size in zip(places, sizes):
            if mode == "bicubic":
                at = _inside(at, size, padding_mode, align_corners)
            ok = (at >= 0) & (at <= size - 1)
            valid = ok if valid is None else valid & ok
            at = facula.where(ok, at, facula.zeros_like(at)).long()
            index = at if index is None else index * size + at
        values = flat.gather(2, index.reshape(n, 1, -1).expand(n, c, -1)).reshape(n, c, *out)
        return values * valid.unsqueeze(1).to(values.dtype)

    if mode == "nearest":
        return fetch([at.detach().round() for at in ats])
    steps = (-1, 0, 1, 2) if mode == "bicubic" else (0, 1)
    lows = [at.detach().floor() for at in ats]
    parts = [at - low for at, low in zip(ats, lows)]
    weights = [[_tap_weight(part, j, mode) for j in steps] for part in parts]

    def blend(dim: int, places: list[Tensor]) -> Tensor:
        if dim == ndim:
            return fetch(places)
        total = None
        for j, w in zip(steps, weights[dim]):
            term = blend(dim + 1, [*places, lows[dim] + j]) * w.unsqueeze(1)
            total = term if total is None else total + term
        return total

    return blend(0, [])


def _tap_weight(part: Tensor, j: int, mode: str) -> Tensor:
    if mode == "bilinear":
        return part if j else 1 - part
    a, x = -0.75, (part - j).abs()
    if j in (0, 1):
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
