"""Regions of interest: values of a feature map inside boxes, on a grid of fixed size."""

from __future__ import annotations

import facula
from facula import nn
from facula.nn import functional as F

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
    rois = _rois(boxes).to(input.dtype)
    planes, height, width = input.shape[1:]
    x1, y1, x2, y2 = (rois[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)).unbind(1)
    tall, wide = (y2 - y1, x2 - x1) if aligned else ((y2 - y1).clamp(min=1.0), (x2 - x1).clamp(min=1.0))
    counts = [(sampling_ratio, sampling_ratio)] * len(rois)
    if sampling_ratio <= 0:
        counts = [tuple(c) for c in facula.stack([tall / rows, wide / columns], 1).ceil().int().tolist()]
    pixels = input.permute(0, 2, 3, 1).reshape(-1, planes)
    out = input.new_zeros((len(rois), rows, columns, planes))
    for ny, nx in set(counts):
        if ny <= 0 or nx <= 0:
            continue
        these = facula.tensor([k for k, count in enumerate(counts) if count == (ny, nx)], dtype=facula.int64)
        y, by_y = _samples(y1[these], tall[these], rows, ny, height)
        x, by_x = _samples(x1[these], wide[these], columns, nx, width)
        first = rois[these, 0].to(facula.int64).view(-1, 1, 1, 1, 1) * (height * width)
        place = first + y[:, :, None, :, None] * width + x[:, None, :, None, :]
        weight = by_y[:, :, None, :, None] * by_x[:, None, :, None, :] / (ny * nx)
        # a cell is a weighted sum of rows of pixels: no sample is ever written out
        cells = F.embedding_bag(place.view(-1, 4 * ny * nx), pixels, mode="sum", per_sample_weights=weight.reshape(-1, 4 * ny * nx).detach())
        found = cells.view(len(these), rows, columns, planes)
        out = found if len(these) == len(rois) else out.index_copy(0, these, found)
    return out.permute(0, 3, 1, 2).contiguous()


def _samples(start, length, cells: int, n: int, size: int):
    """For n samples in each of the cells along one direction, the two pixels beside each and their weights: (K, cells, 2 n); 0 off the map."""
    cell = (length / cells).detach()[:, None, None]
    inside = (facula.arange(n, dtype=start.dtype) + 0.5) / n
    at = start.detach()[:, None, None] + facula.arange(cells, dtype=start.dtype)[:, None] * cell + inside * cell
    on = ((at >= -1.0) & (at <= size)).to(at.dtype)
    at = at.clamp(0, size - 1)
    low = at.floor()
    after = (at - low) * on
    places = facula.stack([low, (low + 1).clamp(max=size - 1)], -1)
    return places.to(facula.int64).flatten(2), facula.stack([on - after, after], -1).flatten(2)


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
