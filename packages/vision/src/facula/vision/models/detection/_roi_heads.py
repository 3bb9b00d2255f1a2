"""What proposed boxes hold: classes, better boxes, masks, keypoints."""

from __future__ import annotations

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ...ops import boxes as box_ops
from ._boxes import BalancedPositiveNegativeSampler, BoxCoder, Matcher, matched
from ._masks import (
    heatmaps_to_keypoints,
    keypointrcnn_inference,
    keypointrcnn_loss,
    keypoints_to_heatmap,
    maskrcnn_inference,
    maskrcnn_loss,
    paste_masks_in_image,
    project_masks_on_boxes,
)

__all__ = [
    "RoIHeads", "fastrcnn_loss", "heatmaps_to_keypoints", "keypointrcnn_inference", "keypointrcnn_loss", "keypoints_to_heatmap",
    "maskrcnn_inference", "maskrcnn_loss", "paste_masks_in_image", "project_masks_on_boxes",
]  # fmt: skip


def fastrcnn_loss(class_logits: Tensor, box_regression: Tensor, labels: list[Tensor], regression_targets) -> tuple[Tensor, Tensor]:
    """(of the classes, of the boxes of what is something)."""
    labels, wanted = facula.cat(labels), facula.cat(list(regression_targets))
    positive = (labels > 0).nonzero()[:, 0]
    codes = box_regression.reshape(len(class_logits), -1, 4)[positive, labels[positive]]
    box_loss = F.smooth_l1_loss(codes, wanted[positive], beta=1 / 9, reduction="sum") / labels.numel()
    return F.cross_entropy(class_logits, labels), box_loss


class RoIHeads(nn.Module):
    """A pool, a head and a predictor each for boxes and, where given, masks and keypoints."""

    def __init__(
        self, box_roi_pool, box_head, box_predictor, fg_iou_thresh: float, bg_iou_thresh: float, batch_size_per_image: int, positive_fraction: float,
        bbox_reg_weights, score_thresh: float, nms_thresh: float, detections_per_img: int, mask_roi_pool=None, mask_head=None, mask_predictor=None,
        keypoint_roi_pool=None, keypoint_head=None, keypoint_predictor=None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self.box_coder = BoxCoder(bbox_reg_weights or (10.0, 10.0, 5.0, 5.0))
        self.box_roi_pool, self.box_head, self.box_predictor = box_roi_pool, box_head, box_predictor
        self.score_thresh, self.nms_thresh, self.detections_per_img = score_thresh, nms_thresh, detections_per_img
        self.mask_roi_pool, self.mask_head, self.mask_predictor = mask_roi_pool, mask_head, mask_predictor
        self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor = keypoint_roi_pool, keypoint_head, keypoint_predictor

    def has_mask(self) -> bool:
        return None not in (self.mask_roi_pool, self.mask_head, self.mask_predictor)

    def has_keypoint(self) -> bool:
        return None not in (self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor)

    def select_training_samples(self, proposals: list[Tensor], targets: list[dict[str, Tensor]] | None):
        """(boxes, which true box each has, its label, its codes), of boxes chosen among the proposals and the true ones."""
        if targets is None:
            raise ValueError("targets should not be None")
        for key in ("boxes", "labels", *(["masks"] if self.has_mask() else [])):
            if not all(key in t for t in targets):
                raise ValueError(f"Every element of targets should have a {key} key")
        true = [t["boxes"].to(proposals[0].dtype) for t in targets]
        proposals = [facula.cat(pair) for pair in zip(proposals, true)]
        matches = matched(self.proposal_matcher, targets, proposals)
        at, labels = [m.clamp(min=0) for m in matches], []
        for match, place, target in zip(matches, at, targets):
            label = target["labels"][place].to(facula.int64) if len(target["boxes"]) else facula.zeros_like(place)
            label = label.masked_fill(match == Matcher.BELOW_LOW_THRESHOLD, 0)
            labels.append(label.masked_fill(match == Matcher.BETWEEN_THRESHOLDS, -1))
        chosen = [(positive | negative).nonzero()[:, 0] for positive, negative in zip(*self.fg_bg_sampler(labels))]
        proposals, at, labels = ([t[k] for t, k in zip(parts, chosen)] for parts in (proposals, at, labels))
        wanted = [(boxes if len(boxes) else facula.zeros((1, 4), dtype=boxes.dtype))[place] for boxes, place in zip(true, at)]
        return proposals, at, labels, self.box_coder.encode(wanted, proposals)

    def postprocess_detections(self, class_logits: Tensor, box_regression: Tensor, proposals: list[Tensor], image_shapes):
        """(boxes, scores, labels) of each picture."""
        counts = [len(boxes) for boxes in proposals]
        all_boxes = self.box_coder.decode(box_regression, proposals).split(counts, 0)
        all_scores = F.softmax(class_logits, -1).split(counts, 0)
        found: tuple[list, list, list] = ([], [], [])
        for boxes, scores, shape in zip(all_boxes, all_scores, image_shapes):
            labels = facula.arange(scores.shape[-1])[1:].expand(len(scores), -1).reshape(-1)  # 0 is nothing
            boxes = box_ops.clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)
            scores = scores[:, 1:].reshape(-1)
            keep = (scores > self.score_thresh).nonzero()[:, 0]
            keep = keep[box_ops.remove_small_boxes(boxes[keep], min_size=1e-2)]
            best = box_ops.batched_nms(boxes[keep], scores[keep], labels[keep], self.nms_thresh)[: self.detections_per_img]
            for part, value in zip(found, (boxes, scores, labels)):
                part.append(value[keep[best]])
        return found

    def forward(self, features: dict[str, Tensor], proposals: list[Tensor], image_shapes, targets: list[dict[str, Tensor]] | None = None):
        """(what is found in each picture, losses by their names): the one outside of training, the others in it."""
        for t in targets or ():
            if not t["boxes"].is_floating_point():
                raise TypeError(f"target boxes must of float type, instead got {t['boxes'].dtype}")
            if t["labels"].dtype != facula.int64:
                raise TypeError(f"target labels must of int64 type, instead got {t['labels'].dtype}")
            if self.has_keypoint() and t["keypoints"].dtype != facula.float32:
                raise TypeError(f"target keypoints must of float type, instead got {t['keypoints'].dtype}")
        result: list[dict[str, Tensor]] = []
        losses: dict[str, Tensor] = {}
        at: list[Tensor] = []
        if self.training:
            proposals, at, labels, wanted = self.select_training_samples(proposals, targets)
        class_logits, codes = self.box_predictor(self.box_head(self.box_roi_pool(features, proposals, image_shapes)))
        if self.training:
            losses["loss_classifier"], losses["loss_box_reg"] = fastrcnn_loss(class_logits, codes, labels, wanted)
            positive = [(label > 0).nonzero()[:, 0] for label in labels]
            boxes, at = ([t[k] for t, k in zip(parts, positive)] for parts in (proposals, at))
        else:
            parts = zip(*self.postprocess_detections(class_logits, codes, proposals, image_shapes))
            result = [{"boxes": b, "labels": k, "scores": s} for b, s, k in parts]
            boxes = [r["boxes"] for r in result]
        if self.has_mask():
            logits = self.mask_predictor(self.mask_head(self.mask_roi_pool(features, boxes, image_shapes)))
            if self.training:
                losses["loss_mask"] = maskrcnn_loss(logits, boxes, [t["masks"] for t in targets], [t["labels"] for t in targets], at)
            else:
                for r, mask in zip(result, maskrcnn_inference(logits, [r["labels"] for r in result])):
                    r["masks"] = mask
        if self.has_keypoint():
            logits = self.keypoint_predictor(self.keypoint_head(self.keypoint_roi_pool(features, boxes, image_shapes)))
            if self.training:
                losses["loss_keypoint"] = keypointrcnn_loss(logits, boxes, [t["keypoints"] for t in targets], at)
            else:
                for r, points, scores in zip(result, *keypointrcnn_inference(logits, boxes)):
                    r["keypoints"], r["keypoints_scores"] = points, scores
        return result, losses
