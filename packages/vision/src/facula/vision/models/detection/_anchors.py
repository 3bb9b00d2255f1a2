"""The boxes that a detector starts from, at every place of every map."""

from __future__ import annotations

import math

import facula
from facula import Tensor, nn

from ._transform import ImageList


def _places(height: int, width: int, x: Tensor, y: Tensor) -> Tensor:
    """(H W, 2) of (x, y), row by row."""
    return facula.stack((x[None, :].expand(height, width), y[:, None].expand(height, width)), -1).reshape(-1, 2)


class AnchorGenerator(nn.Module):
    """Boxes of given sides and ratios (height by width) around every place; sizes and aspect_ratios: a tuple for each map."""

    def __init__(self, sizes=((128, 256, 512),), aspect_ratios=((0.5, 1.0, 2.0),)) -> None:
        super().__init__()
        sizes = sizes if isinstance(sizes[0], (list, tuple)) else tuple((s,) for s in sizes)
        ratios = aspect_ratios if isinstance(aspect_ratios[0], (list, tuple)) else (aspect_ratios,) * len(sizes)
        self.sizes, self.aspect_ratios = sizes, ratios
        self.cell_anchors = [self.generate_anchors(s, r) for s, r in zip(sizes, ratios)]

    def generate_anchors(self, scales, aspect_ratios, dtype=facula.float32) -> Tensor:
        """(ratios sizes, 4), around 0, in whole pixels."""
        with facula.device("cpu"):  # numbers, also of a network without any
            tall = facula.tensor(aspect_ratios, dtype=dtype).sqrt()[:, None]
            scales = facula.tensor(scales, dtype=dtype)
            half = facula.stack((((1 / tall) * scales).view(-1), (tall * scales).view(-1)), 1)
            return (facula.cat((-half, half), 1) / 2).round()

    def num_anchors_per_location(self) -> list[int]:
        return [len(s) * len(a) for s, a in zip(self.sizes, self.aspect_ratios)]

    def forward(self, image_list: ImageList, feature_maps: list[Tensor]) -> list[Tensor]:
        if len(feature_maps) != len(self.cell_anchors):
            raise AssertionError(
                f"AnchorGenerator: {len(feature_maps)} feature maps and {len(self.cell_anchors)} sizes. There needs to be a match between the number of "
                "feature maps passed and the number of sizes / aspect ratios specified."
            )
        height, width = image_list.tensors.shape[-2:]
        boxes = []
        for one, cell in zip(feature_maps, self.cell_anchors):
            rows, columns = one.shape[-2:]
            places = _places(rows, columns, facula.arange(columns) * (width // columns), facula.arange(rows) * (height // rows))
            boxes.append((facula.cat((places, places), 1)[:, None] + cell.to(one.dtype)).reshape(-1, 4))
        return [facula.cat(boxes) for _ in image_list.image_sizes]


class DefaultBoxGenerator(nn.Module):
    """SSD's boxes, in shares of the picture. Source: Liu et al., SSD: Single Shot MultiBox Detector (2016), section 2.2.

    aspect_ratios: those of each map beside 1; scales: sides, a number more than maps, or evenly from min_ratio to max_ratio;
    steps: pixels between places; clip: sides to [0, 1].
    """

    def __init__(
        self, aspect_ratios: list[list[int]], min_ratio: float = 0.15, max_ratio: float = 0.9, scales: list[float] | None = None,
        steps: list[int] | None = None, clip: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if steps is not None and len(aspect_ratios) != len(steps):
            raise ValueError(f"aspect_ratios and steps should have the same length, got {len(aspect_ratios)} and {len(steps)}")
        self.aspect_ratios, self.steps, self.clip = aspect_ratios, steps, clip
        n = len(aspect_ratios)
        even = [min_ratio + (max_ratio - min_ratio) * k / (n - 1.0) for k in range(n)] + [1.0] if n > 1 else [min_ratio, max_ratio]
        self.scales = even if scales is None else scales
        self._wh_pairs = []
        for k, ratios in enumerate(aspect_ratios):
            side = self.scales[k]
            pairs = [[side, side], [math.sqrt(side * self.scales[k + 1])] * 2]
            for root in map(math.sqrt, ratios):
                pairs += [[side * root, side / root], [side / root, side * root]]
            self._wh_pairs.append(facula.tensor(pairs, dtype=facula.float32, device="cpu"))

    def num_anchors_per_location(self) -> list[int]:
        return [2 + 2 * len(r) for r in self.aspect_ratios]

    def forward(self, image_list: ImageList, feature_maps: list[Tensor]) -> list[Tensor]:
        height, width = image_list.tensors.shape[-2:]
        boxes = []
        for k, (one, pairs) in enumerate(zip(feature_maps, self._wh_pairs)):
            rows, columns = one.shape[-2:]
            down, along = (rows, columns) if self.steps is None else (height / self.steps[k], width / self.steps[k])
            x, y = ((facula.arange(n) + 0.5) / by for n, by in ((columns, along), (rows, down)))
            middle = _places(rows, columns, x.to(one.dtype), y.to(one.dtype))[:, None]
            half = 0.5 * (pairs.clamp(min=0, max=1) if self.clip else pairs).to(one.dtype)
            size = facula.tensor([width, height])
            boxes.append(facula.cat(((middle - half) * size, (middle + half) * size), -1).reshape(-1, 4))
        return [facula.cat(boxes) for _ in image_list.image_sizes]

    def __repr__(self) -> str:
        return f"DefaultBoxGenerator(aspect_ratios={self.aspect_ratios}, clip={self.clip}, scales={self.scales}, steps={self.steps})"
