"""Boxes (N, 4) as corners (x1, y1, x2, y2) unless said otherwise."""

from __future__ import annotations

import facula

__all__ = [
    "batched_nms", "box_area", "box_convert", "box_iou", "clip_boxes_to_image", "complete_box_iou", "distance_box_iou",
    "generalized_box_iou", "masks_to_boxes", "nms", "remove_small_boxes",
]  # fmt: skip


def _check(name: str, boxes) -> None:
    if boxes.dim() < 1 or boxes.shape[-1] != 4:
        raise RuntimeError(f"{name}: boxes should have shape (..., 4), got {tuple(boxes.shape)}.")


def box_area(boxes) -> facula.Tensor:
    """Widths times heights.

    >>> facula.vision.ops.box_area(facula.tensor([[0.0, 0.0, 2.0, 3.0]]))
    tensor([6.])
    """
    _check("box_area", boxes)
    x1, y1, x2, y2 = _floating(boxes).unbind(-1)
    return (x2 - x1) * (y2 - y1)


def _floating(t):
    """Integers by a type in which products of sizes do not run over."""
    return t if t.is_floating_point() else t.to(facula.int64)


def _overlaps(boxes1, boxes2):
    """(area of the intersection, of the union) of every box of the first with every box of the second."""
    corner = facula.max(boxes1[:, None, :2], boxes2[:, :2])
    opposite = facula.min(boxes1[:, None, 2:], boxes2[:, 2:])
    sides = (opposite - corner).clamp(min=0)
    both = sides[:, :, 0] * sides[:, :, 1]
    return both, box_area(boxes1)[:, None] + box_area(boxes2) - both


def box_iou(boxes1, boxes2) -> facula.Tensor:
    """Intersection over union of every box (N, 4) with every box (M, 4): (N, M).

    >>> facula.vision.ops.box_iou(facula.tensor([[0.0, 0.0, 2.0, 2.0]]), facula.tensor([[0.0, 0.0, 2.0, 1.0], [5.0, 5.0, 6.0, 6.0]]))
    tensor([[0.5000, 0.0000]])
    """
    both, union = _overlaps(boxes1, boxes2)
    return both / union


def generalized_box_iou(boxes1, boxes2) -> facula.Tensor:
    """IoU less the share of the enclosing box that neither covers. Source: Rezatofighi et al., arXiv:1902.09630.

    >>> facula.vision.ops.generalized_box_iou(facula.tensor([[0.0, 0.0, 1.0, 1.0]]), facula.tensor([[1.0, 0.0, 2.0, 1.0], [3.0, 0.0, 4.0, 1.0]]))
    tensor([[ 0.0000, -0.5000]])
    """
    both, union = _overlaps(boxes1, boxes2)
    sides = _enclosing(boxes1, boxes2)
    around = sides[:, :, 0] * sides[:, :, 1]
    return both / union - (around - union) / around


def _enclosing(boxes1, boxes2):
    corner = facula.min(boxes1[:, None, :2], boxes2[:, :2])
    opposite = facula.max(boxes1[:, None, 2:], boxes2[:, 2:])
    return (opposite - corner).clamp(min=0)


def _distance(boxes1, boxes2, eps: float):
    iou = box_iou(boxes1, boxes2)
    sides = _enclosing(boxes1, boxes2)
    diagonal = sides[:, :, 0] ** 2 + sides[:, :, 1] ** 2 + eps
    middle1, middle2 = ((b[:, :2] + b[:, 2:]) / 2 for b in (boxes1, boxes2))
    apart = ((middle1[:, None] - middle2) ** 2).sum(-1)
    return iou - apart / diagonal, iou


def distance_box_iou(boxes1, boxes2, eps: float = 1e-7) -> facula.Tensor:
    """IoU less the squared distance of the centres by the squared diagonal around both. Source: arXiv:1911.08287.

    >>> facula.vision.ops.distance_box_iou(facula.tensor([[0.0, 0.0, 2.0, 2.0]]), facula.tensor([[0.0, 0.0, 2.0, 2.0]]))
    tensor([[1.]])
    """
    return _distance(boxes1, boxes2, eps)[0]


def complete_box_iou(boxes1, boxes2, eps: float = 1e-7) -> facula.Tensor:
    """distance_box_iou less a term for unlike aspect ratios. Source: Zheng et al., arXiv:1911.08287.

    >>> facula.vision.ops.complete_box_iou(facula.tensor([[0.0, 0.0, 2.0, 2.0]]), facula.tensor([[0.0, 0.0, 2.0, 2.0]]))
    tensor([[1.]])
    """
    diou, iou = _distance(boxes1, boxes2, eps)
    (w1, h1), (w2, h2) = ((b[:, 2] - b[:, 0], b[:, 3] - b[:, 1]) for b in (boxes1, boxes2))
    v = 4 / facula.pi**2 * (facula.atan(w1 / h1)[:, None] - facula.atan(w2 / h2)) ** 2
    with facula.no_grad():
        alpha = v / (1 - iou + v + eps)
    return diou - alpha * v


def box_convert(boxes, in_fmt: str, out_fmt: str) -> facula.Tensor:
    """Boxes between "xyxy" (corners), "xywh" (corner and size) and "cxcywh" (centre and size).

    >>> facula.vision.ops.box_convert(facula.tensor([[1.0, 1.0, 3.0, 5.0]]), "xyxy", "xywh")
    tensor([[1., 1., 2., 4.]])
    """
    formats = ("xyxy", "xywh", "cxcywh")
    if in_fmt not in formats or out_fmt not in formats:
        raise ValueError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}. Known: {', '.join(formats)}"
        )
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        c, d = c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return facula.stack((a, b, c, d), dim=-1)


def clip_boxes_to_image(boxes, size: tuple[int, int]) -> facula.Tensor:
    """Corners moved into a picture of (height, width).

    >>> facula.vision.ops.clip_boxes_to_image(facula.tensor([[-1.0, 0.0, 9.0, 3.0]]), (4, 5))
    tensor([[0., 0., 5., 3.]])
    """
    height, width = size
    x = boxes[..., 0::2].clamp(min=0, max=width)
    y = boxes[..., 1::2].clamp(min=0, max=height)
    return facula.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size: float) -> facula.Tensor:
    """Indices of the boxes whose sides are both at least min_size.

    >>> facula.vision.ops.remove_small_boxes(facula.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 0.5]]), 1.0)
    tensor([0])
    """
    return ((boxes[:, 2] - boxes[:, 0] >= min_size) & (boxes[:, 3] - boxes[:, 1] >= min_size)).nonzero()[:, 0]


def nms(boxes, scores, iou_threshold: float) -> facula.Tensor:
    """Indices of the boxes that remain, best first, when each drops those that overlap it by more than the threshold.

    >>> boxes = facula.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
    >>> facula.vision.ops.nms(boxes, facula.tensor([0.9, 0.8, 0.7]), 0.5)
    tensor([0, 2])
    """
    _check("nms", boxes)
    if boxes.dim() != 2 or scores.dim() != 1 or len(boxes) != len(scores):
        raise RuntimeError(
            f"nms: boxes {tuple(boxes.shape)} and scores {tuple(scores.shape)}; expected (N, 4) and (N,)."
        )
    import numpy

    order = scores.detach().sort(descending=True, stable=True)[1]
    x1, y1, x2, y2 = boxes.detach()[order].numpy().T
    areas = (x2 - x1) * (y2 - y1)
    left = numpy.arange(len(order))
    kept = []
    with numpy.errstate(divide="ignore", invalid="ignore"):
        while len(left):
            first, left = left[0], left[1:]
            kept.append(first)
            wide = numpy.minimum(x2[first], x2[left]) - numpy.maximum(x1[first], x1[left])
            tall = numpy.minimum(y2[first], y2[left]) - numpy.maximum(y1[first], y1[left])
            both = wide.clip(0) * tall.clip(0)
            left = left[~(both / (areas[first] + areas[left] - both) > iou_threshold)]
    return order[facula.tensor(kept, dtype=facula.int64)]


_MANY = 4000  # numbers: from there on classes are looked at one by one, in torchvision as well


def batched_nms(boxes, scores, idxs, iou_threshold: float) -> facula.Tensor:
    """nms within each class of idxs.

    >>> boxes = facula.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
    >>> facula.vision.ops.batched_nms(boxes, facula.tensor([0.9, 0.8, 0.7]), facula.tensor([0, 1, 0]), 0.5)
    tensor([0, 1, 2])
    """
    if not boxes.numel():
        return facula.empty((0,), dtype=facula.int64)
    if boxes.numel() > _MANY:
        kept = [at[nms(boxes[at], scores[at], iou_threshold)] for at in ((idxs == k).nonzero()[:, 0] for k in idxs.unique())]
        found = facula.cat(kept)
        return found[scores[found].sort(descending=True)[1]]
    # boxes of different classes are moved so far apart that they cannot overlap
    return nms(boxes + (idxs.to(boxes.dtype) * (boxes.max() + 1))[:, None], scores, iou_threshold)


def masks_to_boxes(masks) -> facula.Tensor:
    """The box around the nonzero pixels of each mask (N, H, W).

    >>> mask = facula.zeros(1, 4, 5)
    >>> mask[0, 1:3, 2:5] = 1
    >>> facula.vision.ops.masks_to_boxes(mask)
    tensor([[2., 1., 4., 2.]])
    """
    boxes = facula.zeros((masks.shape[0], 4))
    for k, mask in enumerate(masks):
        y, x = (mask != 0).nonzero(as_tuple=True)
        boxes[k] = facula.tensor([x.min().item(), y.min().item(), x.max().item(), y.max().item()])
    return boxes
