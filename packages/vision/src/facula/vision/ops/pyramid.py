"""Feature maps of several sizes: made alike, and read where boxes belong. Source: Lin et al., Feature Pyramid Networks (2017)."""

from __future__ import annotations

import math

import facula
from facula import nn
from facula.nn import functional as F

from .boxes import box_area
from .misc import Conv2dNormActivation
from .pooling import _rois, _size, roi_align

__all__ = ["FeaturePyramidNetwork", "MultiScaleRoIAlign"]


class ExtraFPNBlock(nn.Module):
    """What makes further maps of (results, maps, names): a base to inherit from."""


class LastLevelMaxPool(ExtraFPNBlock):
    """Every second pixel of the last map."""

    def forward(self, x: list, y: list, names: list[str]) -> tuple[list, list[str]]:
        del y  # the maps before the pyramid
        return [*x, F.max_pool2d(x[-1], kernel_size=1, stride=2)], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two maps more by convolutions of stride 2, of the last result or the last map."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            nn.init.kaiming_uniform_(module.weight, a=1)
            nn.init.zeros_(module.bias)
        self.use_P5 = in_channels == out_channels

    def forward(self, p: list, c: list, names: list[str]) -> tuple[list, list[str]]:
        p6 = self.p6(p[-1] if self.use_P5 else c[-1])
        return [*p, p6, self.p7(F.relu(p6))], [*names, "p6", "p7"]


class FeaturePyramidNetwork(nn.Module):
    """A dict of maps (N, C, H, W), coarser and coarser, to one of the same keys and sizes, all of out_channels planes.

    in_channels_list: planes of each map; extra_blocks: an ExtraFPNBlock, which adds maps.

    >>> maps = {"0": facula.zeros(1, 2, 8, 8), "1": facula.zeros(1, 3, 4, 4)}
    >>> {k: v.shape for k, v in facula.vision.ops.FeaturePyramidNetwork([2, 3], 5)(maps).items()}
    {'0': torch.Size([1, 5, 8, 8]), '1': torch.Size([1, 5, 4, 4])}
    """

    _version = 2

    def __init__(self, in_channels_list: list[int], out_channels: int, extra_blocks: ExtraFPNBlock | None = None, norm_layer=None) -> None:
        super().__init__()
        if 0 in in_channels_list:
            raise ValueError(f"in_channels=0 is currently not supported, got {in_channels_list}.")
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        options = {"norm_layer": norm_layer, "activation_layer": None}
        self.inner_blocks, self.layer_blocks = nn.ModuleList(), nn.ModuleList()
        for planes in in_channels_list:
            self.inner_blocks.append(Conv2dNormActivation(planes, out_channels, kernel_size=1, padding=0, **options))
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, **options))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        self.extra_blocks = extra_blocks

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        if (local_metadata.get("version") or 1) < 2:  # a convolution was no block yet
            for old in [k for k in state_dict if k.startswith((f"{prefix}inner_blocks.", f"{prefix}layer_blocks."))]:
                head, _, last = old.rpartition(".")
                if head.count(".") == prefix.count(".") + 1:
                    state_dict[f"{head}.0.{last}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, x: dict) -> dict:
        names, maps = list(x), list(x.values())
        results, above = [], None
        for inner, layer, one in reversed(list(zip(self.inner_blocks, self.layer_blocks, maps))):
            here = inner(one)
            above = here if above is None else here + F.interpolate(above, size=here.shape[-2:], mode="nearest")
            results.insert(0, layer(above))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, maps, names)
        return dict(zip(names, results))


class MultiScaleRoIAlign(nn.Module):
    """roi_align, of each box in the map that its size says: equation 1 of the source.

    featmap_names: of the maps that count. canonical_scale, canonical_level: a box of that side belongs to that level.

    >>> pool = facula.vision.ops.MultiScaleRoIAlign(["0"], 2, 2)
    >>> pool({"0": facula.ones(1, 3, 8, 8)}, [facula.tensor([[0.0, 0.0, 8.0, 8.0]])], [(16, 16)]).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(self, featmap_names: list[str], output_size, sampling_ratio: int, *, canonical_scale: int = 224, canonical_level: int = 4) -> None:
        super().__init__()
        self.featmap_names, self.sampling_ratio, self.output_size = featmap_names, sampling_ratio, _size(output_size)
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level
        self.scales: list[float] | None = None  # those of the first maps that come

    def _levels(self, boxes) -> facula.Tensor:
        lowest, highest = (int(-math.log2(s)) for s in (self.scales[0], self.scales[-1]))
        side = facula.sqrt(facula.cat([box_area(b) for b in boxes]))
        level = facula.floor(self.canonical_level + facula.log2(side / self.canonical_scale) + 1e-6)
        return level.clamp(lowest, highest).to(facula.int64) - lowest

    def forward(self, x: dict, boxes: list, image_shapes: list[tuple[int, int]]) -> facula.Tensor:
        maps = [v for k, v in x.items() if k in self.featmap_names]
        if self.scales is None:
            if not image_shapes:
                raise ValueError("images list should not be empty")
            tallest = max(height for height, _ in image_shapes)
            self.scales = [2.0 ** round(math.log2(m.shape[-2] / tallest)) for m in maps]
        rois = _rois(boxes)
        if len(maps) == 1:
            return roi_align(maps[0], rois, self.output_size, self.scales[0], self.sampling_ratio)
        levels = self._levels(boxes)
        out = maps[0].new_zeros((len(rois), maps[0].shape[1], *self.output_size))
        for k, (one, scale) in enumerate(zip(maps, self.scales)):
            here = (levels == k).nonzero()[:, 0]
            if len(here):
                out = out.index_copy(0, here, roi_align(one, rois[here], self.output_size, scale, self.sampling_ratio))
        return out

    def __repr__(self) -> str:
        return f"MultiScaleRoIAlign(featmap_names={self.featmap_names}, output_size={self.output_size}, sampling_ratio={self.sampling_ratio})"
