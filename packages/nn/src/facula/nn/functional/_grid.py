"""Sampling at places of a grid: grid_sample, affine_grid."""

from __future__ import annotations

import warnings
from typing import Any

from facula.tensor_core import extend
from facula import Tensor

from ._rows import row

_affine_grid, _grid_sample = row("_affine_grid"), row("_grid_sample")
_SAMPLES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")  # as the row numbers them


def _affine_grid_first(theta: Tensor, size: Any) -> None:
    if not isinstance(theta, Tensor):
        return
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if hasattr(size, "__len__") and len(size) not in (4, 5):
        raise NotImplementedError(f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {tuple(size)}.")


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The sampling grid of affine maps: theta (N, 2, 3), size (N, C, H, W) -> (N, H, W, 2); or (N, 3, 4) for (N, C, D, H, W).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.affine_grid(facula.eye(2, 3).unsqueeze(0), (1, 1, 2, 2), align_corners=True).shape
    torch.Size([1, 2, 2, 2])
    """
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0.", stacklevel=2)
        align_corners = False
    _affine_grid_first(theta, size)
    extend.want_ints("affine_grid", "size", 1, size)
    ndim = len(size) - 2
    if tuple(theta.shape[-2:]) != (ndim, ndim + 1) or theta.dim() != 3:
        raise extend.ArgumentsError(f"Expected a batch of {ndim}D affine matrices of shape Nx{ndim}x{ndim + 1} for size {tuple(size)}. Got {tuple(theta.shape)}.")
    if theta.size(0) != size[0]:
        raise RuntimeError(f"affine_grid: theta has {theta.size(0)} maps, size {tuple(size)} a batch of {size[0]}. Give one map for each item.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    spatial = tuple(int(n) for n in size[2:])
    if align_corners and min(spatial) == 1:
        warnings.warn(
            "affine_grid: with align_corners=True a dim of size 1 is sampled in its middle, as it was not before version 1.3.0. "
            "See the documentation of affine_grid for details.",
            stacklevel=2,
        )
    return _affine_grid(theta, spatial, align_corners)


def _grid_sample_first(mode: str, padding_mode: str) -> None:
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """input (N, C, H, W) at the places of grid (N, Ho, Wo, 2), x before y in [-1, 1]; or (N, C, D, H, W) with (N, Do, Ho, Wo, 3).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.grid_sample(facula.arange(4.0).view(1, 1, 2, 2), facula.zeros(1, 1, 1, 2), align_corners=True)
    tensor([[[[1.5000]]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("grid_sample", "input", 0, input)
    if type(grid) is not Tensor:
        extend.want_tensor("grid_sample", "grid", 1, grid)
    _grid_sample_first(mode, padding_mode)
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0.", stacklevel=2)
        align_corners = False
    ndim = len(input.shape) - 2
    size, places = input.shape, grid.shape
    if not 2 <= ndim <= 3 or len(places) != ndim + 2 or size[0] != places[0] or places[-1] != ndim or 0 in size[2:]:
        _check_grid(input, grid, ndim)
    if mode == "bicubic" and ndim == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    return _grid_sample(input, grid, _SAMPLES.index(mode), _PADDINGS.index(padding_mode), align_corners)


def _check_grid(input: Tensor, grid: Tensor, ndim: int) -> None:
    sizes = f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if not input.dim() or not grid.dim():
        raise extend.RankError(f"grid_sampler(): expected 4D or 5D input and grid, {sizes}")
    if input.size(0) != grid.size(0):
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, {sizes}")
    if grid.size(-1) != ndim:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {ndim} in last dimension, {sizes}")
    if 0 in input.shape[2:]:
        raise RuntimeError(f"grid_sampler(): expected input to have non-empty spatial dimensions, {sizes}")
    if ndim not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, {sizes}")
