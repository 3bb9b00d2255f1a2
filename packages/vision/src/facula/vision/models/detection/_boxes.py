"""What detectors do with boxes: write them relative to others, match them with the true ones, choose some of them, compare them."""

from __future__ import annotations

import math

import facula
from facula import Tensor
from facula.nn import functional as F

from ...ops import boxes as box_ops
from ...ops.losses import complete_box_iou_loss, distance_box_iou_loss, generalized_box_iou_loss


class BalancedPositiveNegativeSampler:
    """Chooses batch_size_per_image of what is labelled, at most positive_fraction of it among labels from 1 up, the rest among 0."""

    def __init__(self, batch_size_per_image: int, positive_fraction: float) -> None:
        self.batch_size_per_image, self.positive_fraction = batch_size_per_image, positive_fraction

    def __call__(self, matched_idxs: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        chosen: tuple[list[Tensor], list[Tensor]] = ([], [])
        for labels in matched_idxs:
            kinds = [(labels >= 1).nonzero()[:, 0], (labels == 0).nonzero()[:, 0]]
            positives = min(len(kinds[0]), int(self.batch_size_per_image * self.positive_fraction))
            counts = (positives, min(len(kinds[1]), self.batch_size_per_image - positives))
            for found, places, count in zip(chosen, kinds, counts):
                mask = facula.zeros(labels.shape, dtype=facula.uint8)
                mask[places[facula.randperm(len(places))[:count]]] = 1
                found.append(mask)
        return chosen


class BoxCoder:
    """A box relative to another: (dx, dy) of the centre by its size, and logarithms of the ratio of sizes, each times a weight."""

    def __init__(self, weights: tuple[float, float, float, float], bbox_xform_clip: float = math.log(1000.0 / 16)) -> None:
        self.weights, self.bbox_xform_clip = weights, bbox_xform_clip

    def encode(self, reference_boxes: list[Tensor], proposals: list[Tensor]) -> tuple[Tensor, ...]:
        return self.encode_single(facula.cat(reference_boxes), facula.cat(proposals)).split([len(b) for b in reference_boxes])

    def encode_single(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        size, true_size = (b[:, 2:] - b[:, :2] for b in (proposals, reference_boxes))
        apart = reference_boxes[:, :2] + 0.5 * true_size - (proposals[:, :2] + 0.5 * size)
        weights = facula.tensor(self.weights, dtype=reference_boxes.dtype)
        return facula.cat((weights[:2] * apart / size, weights[2:] * facula.log(true_size / size)), dim=1)

    def decode(self, rel_codes: Tensor, boxes: list[Tensor]) -> Tensor:
        """(N, K, 4) of rel_codes (N, 4 K)."""
        all_boxes = facula.cat(boxes)
        count = len(all_boxes)
        each = rel_codes.numel() // count if count else rel_codes.shape[-1]
        return self.decode_single(rel_codes.reshape(count, each), all_boxes).reshape(count, each // 4, 4)

    def decode_single(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        boxes = boxes.to(rel_codes.dtype)
        size = (boxes[:, 2:] - boxes[:, :2])[:, None]
        middle = boxes[:, None, :2] + 0.5 * size
        wx, wy, ww, wh = self.weights
        codes = rel_codes.reshape(len(boxes), rel_codes.shape[1] // 4, 4)
        middle = middle + codes[..., :2] / facula.tensor([wx, wy], dtype=codes.dtype) * size
        half = 0.5 * ((codes[..., 2:] / facula.tensor([ww, wh], dtype=codes.dtype)).clamp(max=self.bbox_xform_clip).exp() * size)
        return facula.cat((middle - half, middle + half), dim=2).flatten(1)


class BoxLinearCoder:
    """A box as distances of its sides from the centre of another, by the other's size where normalize_by_size says so."""

    def __init__(self, normalize_by_size: bool = True) -> None:
        self.normalize_by_size = normalize_by_size

    def _size(self, boxes: Tensor) -> Tensor:
        size = boxes[..., 2:] - boxes[..., :2]
        return facula.cat((size, size), dim=-1)

    def encode(self, reference_boxes: Tensor, proposals: Tensor) -> Tensor:
        middle = 0.5 * (reference_boxes[..., :2] + reference_boxes[..., 2:])
        targets = facula.cat((middle - proposals[..., :2], proposals[..., 2:] - middle), dim=-1)
        return targets / self._size(reference_boxes) if self.normalize_by_size else targets

    def decode(self, rel_codes: Tensor, boxes: Tensor) -> Tensor:
        boxes = boxes.to(rel_codes.dtype)
        middle = 0.5 * (boxes[..., :2] + boxes[..., 2:])
        codes = rel_codes * self._size(boxes) if self.normalize_by_size else rel_codes
        return facula.cat((middle - codes[..., :2], middle + codes[..., 2:]), dim=-1)


class Matcher:
    """Of a table (true boxes, boxes) of how well they fit, the true box of each box, or that it has none (-1) or perhaps one (-2).

    allow_low_quality_matches: the boxes that fit a true box best belong to it however badly they do.
    """

    BELOW_LOW_THRESHOLD = -1
    BETWEEN_THRESHOLDS = -2

    def __init__(self, high_threshold: float, low_threshold: float, allow_low_quality_matches: bool = False) -> None:
        if low_threshold > high_threshold:
            raise AssertionError(f"low_threshold should be <= high_threshold, got {low_threshold} and {high_threshold}")
        self.high_threshold, self.low_threshold = high_threshold, low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        if not match_quality_matrix.numel():
            kind = "proposal" if match_quality_matrix.shape[0] else "ground-truth"
            raise ValueError(f"No {kind} boxes available for one of the images during training")
        values, best = match_quality_matrix.max(dim=0)
        matches = best.masked_fill(values < self.high_threshold, self.BETWEEN_THRESHOLDS)
        matches = matches.masked_fill(values < self.low_threshold, self.BELOW_LOW_THRESHOLD)
        if self.allow_low_quality_matches:
            wanted = (match_quality_matrix == match_quality_matrix.max(dim=1)[0][:, None]).any(0)
            matches = facula.where(wanted, best, matches)
        return matches


class SSDMatcher(Matcher):
    """One threshold, and the box that fits a true box best belongs to it."""

    def __init__(self, threshold: float) -> None:
        super().__init__(threshold, threshold)

    def __call__(self, match_quality_matrix: Tensor) -> Tensor:
        matches = super().__call__(match_quality_matrix)
        best = match_quality_matrix.max(dim=1)[1]
        matches[best] = facula.arange(len(best))
        return matches


def matched(matcher: Matcher, targets: list[dict[str, Tensor]], anchors: list[Tensor]) -> list[Tensor]:
    """The matcher's word for every picture; -1 everywhere where there is no true box."""
    return [
        matcher(box_ops.box_iou(target["boxes"], boxes)) if len(target["boxes"]) else facula.full((len(boxes),), -1, dtype=facula.int64)
        for target, boxes in zip(targets, anchors)
    ]


def box_loss(kind: str, coder: BoxCoder, anchors: Tensor, true: Tensor, codes: Tensor) -> Tensor:
    """Sum over boxes: "l1" and "smooth_l1" of the codes, "giou", "diou" and "ciou" of the boxes that they mean."""
    if kind in ("l1", "smooth_l1"):
        return {"l1": F.l1_loss, "smooth_l1": F.smooth_l1_loss}[kind](codes, coder.encode_single(true, anchors), reduction="sum")
    losses = {"giou": generalized_box_iou_loss, "diou": distance_box_iou_loss, "ciou": complete_box_iou_loss}
    if kind not in losses:
        raise AssertionError(f"Unsupported loss: {kind}. Known: l1, smooth_l1, {', '.join(losses)}.")
    return losses[kind](coder.decode_single(codes, anchors), true, reduction="sum")


def by_place(scores: Tensor, columns: int) -> Tensor:
    """(N, A columns, H, W) to (N, H W A, columns)."""
    n, _, height, width = scores.shape
    return scores.view(n, -1, columns, height, width).permute(0, 3, 4, 1, 2).reshape(n, -1, columns)
