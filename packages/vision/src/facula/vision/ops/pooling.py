"""Regions of interest: values of a feature map inside boxes, on a grid of fixed size."""

from __future__ import annotations

import facula
from facula import nn

__all__ = ["RoIAlign", "RoIPool", "roi_align", "roi_pool"]


def _rois(boxes):
    """(K, 5) with the picture's number first, from that or from a list of (L, 4) a picture."""
    if isinstance(boxes, facula.Tensor):
        if boxes.dim() != 2 or boxes.shape[1] != 5:
            raise RuntimeError(f"roi: boxes should be (K, 5), the picture's number first, got {tuple(boxes.shape)}.")
        return boxes
    rows = [facula.cat([facula.full((len(b), 1), float(k), dtype=b.dtype), b], dim=1) for k, b in enumerate(boxes)]
    return facula.cat(rows) if rows else facula.empty(0, 5)


def _size(output_size) -> tuple[int, int]:
    return (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)


def roi_align(input, boxes, output_size, spatial_scale: float = 1.0, sampling_ratio: int = -1, aligned: bool = False) -> facula.Tensor:
    """Means of bilinear samples in each cell of a grid over each box: (K, C, height, width).

    input: (N, C, H, W); boxes: (K, 5) or a list of (L, 4), in the units of the picture; spatial_scale: from those to the
    input's. sampling_ratio: samples a cell and direction, -1 for as many as the cell has pixels, rounded up.
    aligned: pixel centres at half numbers. Source: He et al., Mask R-CNN, arXiv:1703.06870.

    >>> facula.vision.ops.roi_align(facula.ones(1, 1, 4, 4), facula.tensor([[0.0, 0.0, 0.0, 3.0, 3.0]]), 2)
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    rows, columns = _size(output_size)
    rois = _rois(boxes)
    out = []
    for picture, x1, y1, x2, y2 in rois.tolist():
        shift = 0.5 if aligned else 0.0
        x1, y1, x2, y2 = (v * spatial_scale - shift for v in (x1, y1, x2, y2))
        width, height = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        y, in_y = _samples(y1, height, rows, sampling_ratio, input.shape[-2])
        x, in_x = _samples(x1, width, columns, sampling_ratio, input.shape[-1])
        wide = _along(_along(input[int(picture)], y, in_y, -2), x, in_x, -1)
        c, ny, nx = wide.shape
        out.append(wide.reshape(c, rows, ny // rows, columns, nx // columns).mean((2, 4)))
    return facula.stack(out) if out else input.new_zeros((0, input.shape[1], rows, columns))


def _samples(start: float, length: float, cells: int, ratio: int, size: int):
    """Positions of the samples along one direction, and which of them lie on the map."""
    cell = length / cells
    n = ratio if ratio > 0 else max(-int(-length // cells), 1)
    at = facula.tensor(
        [start + cell * k + (i + 0.5) * cell / n for k in range(cells) for i in range(n)], dtype=facula.float64
    )
    return at.clamp(0, size - 1), (at >= -1) & (at <= size)


def _along(plane, at, on, dim: int):
    """Linear interpolation of one dim at positions; 0 off the map."""
    low = at.floor().to(facula.int64)
    high = (low + 1).clamp(max=plane.shape[dim] - 1)
    weight, on = (at - low).to(plane.dtype), on.to(plane.dtype)
    if dim == -2:
        weight, on = weight[:, None], on[:, None]
    return (plane.index_select(dim, low) * (1 - weight) + plane.index_select(dim, high) * weight) * on


def roi_pool(input, boxes, output_size, spatial_scale: float = 1.0) -> facula.Tensor:
    """The largest value in each cell of a grid of whole pixels over each box: (K, C, height, width).

    >>> facula.vision.ops.roi_pool(facula.arange(16.0).view(1, 1, 4, 4), facula.tensor([[0.0, 0.0, 0.0, 3.0, 3.0]]), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    rows, columns = _size(output_size)
    out = []
    for picture, *corners in _rois(boxes).tolist():
        x1, y1, x2, y2 = (_round(v * spatial_scale) for v in corners)
        plane = input[int(picture)]
        h, w = max(y2 - y1 + 1, 1) / rows, max(x2 - x1 + 1, 1) / columns
        cells = []
        for i in range(rows):
            top, bottom = _span(y1, i, h, plane.shape[-2])
            for j in range(columns):
                left, right = _span(x1, j, w, plane.shape[-1])
                empty = bottom <= top or right <= left
                cells.append(
                    plane.new_zeros(plane.shape[0]) if empty else plane[:, top:bottom, left:right].amax((1, 2))
                )
        out.append(facula.stack(cells, dim=1).reshape(-1, rows, columns))
    return facula.stack(out) if out else input.new_zeros((0, input.shape[1], rows, columns))


def _round(v: float) -> int:
    """Halves away from 0, as C rounds."""
    return int(v + 0.5) if v >= 0 else -int(0.5 - v)


def _span(start: int, k: int, cell: float, size: int) -> tuple[int, int]:
    low, high = int(k * cell) + start, -int(-(k + 1) * cell // 1) + start
    return min(max(low, 0), size), min(max(high, 0), size)


class RoIAlign(nn.Module):
    """roi_align as a layer.

    >>> facula.vision.ops.RoIAlign(2, 1.0, 2)(facula.ones(1, 1, 4, 4), facula.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])).shape
    torch.Size([1, 1, 2, 2])
    """

    def __init__(self, output_size, spatial_scale: float, sampling_ratio: int, aligned: bool = False) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input, rois) -> facula.Tensor:
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)


class RoIPool(nn.Module):
    """roi_pool as a layer.

    >>> facula.vision.ops.RoIPool(2, 1.0)(facula.arange(16.0).view(1, 1, 4, 4), facula.tensor([[0.0, 0.0, 0.0, 3.0, 3.0]]))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    def __init__(self, output_size, spatial_scale: float) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, input, rois) -> facula.Tensor:
        return roi_pool(input, rois, self.output_size, self.spatial_scale)
