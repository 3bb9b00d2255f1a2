"""The network that proposes boxes. Source: Ren et al., Faster R-CNN (2015)."""

from __future__ import annotations

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ...ops import boxes as box_ops
from ...ops.misc import Conv2dNormActivation
from ._anchors import AnchorGenerator
from ._boxes import BalancedPositiveNegativeSampler, BoxCoder, Matcher, by_place, matched
from ._transform import ImageList

__all__ = ["AnchorGenerator", "RPNHead", "RegionProposalNetwork"]  # programs take the first from here


class RPNHead(nn.Module):
    """For every map (objectness of the anchors at each place, their codes), by conv_depth 3x3 convolutions and 1x1."""

    _version = 2

    def __init__(self, in_channels: int, num_anchors: int, conv_depth: int = 1) -> None:
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, norm_layer=None) for _ in range(conv_depth)))
        self.cls_logits = nn.Conv2d(in_channels, num_anchors, kernel_size=1)
        self.bbox_pred = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=1)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.normal_(layer.weight, std=0.01)
                nn.init.zeros_(layer.bias)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        if (local_metadata.get("version") or 1) < 2:  # there was one convolution
            for kind in ("weight", "bias"):
                if f"{prefix}conv.{kind}" in state_dict:
                    state_dict[f"{prefix}conv.0.0.{kind}"] = state_dict.pop(f"{prefix}conv.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def forward(self, x: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        hidden = [self.conv(one) for one in x]
        return [self.cls_logits(h) for h in hidden], [self.bbox_pred(h) for h in hidden]


class RegionProposalNetwork(nn.Module):
    """Boxes that may hold something, and in training what they cost.

    fg_iou_thresh, bg_iou_thresh: an anchor is something from the one on, nothing below the other. pre_nms_top_n, post_nms_top_n:
    {"training": n, "testing": n}, kept of each map before and of all after nms.
    """

    def __init__(
        self, anchor_generator, head: nn.Module, fg_iou_thresh: float, bg_iou_thresh: float, batch_size_per_image: int, positive_fraction: float,
        pre_nms_top_n: dict[str, int], post_nms_top_n: dict[str, int], nms_thresh: float, score_thresh: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.anchor_generator, self.head = anchor_generator, head
        self.box_coder = BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self.proposal_matcher = Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.fg_bg_sampler = BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh, self.min_size = nms_thresh, score_thresh, 1e-3

    def _most(self, table: dict[str, int]) -> int:
        return table["training" if self.training else "testing"]

    def assign_targets_to_anchors(self, anchors: list[Tensor], targets: list[dict[str, Tensor]]) -> tuple[list[Tensor], list[Tensor]]:
        """(1 for something, 0 for nothing, -1 for what does not count; the true box of each anchor)."""
        labels, boxes = [], []
        for at, target, own in zip(matched(self.proposal_matcher, targets, anchors), targets, anchors):
            labels.append((at >= 0).float().masked_fill(at == Matcher.BETWEEN_THRESHOLDS, -1.0))
            boxes.append(target["boxes"][at.clamp(min=0)] if len(target["boxes"]) else facula.zeros(own.shape))
        return labels, boxes

    def filter_proposals(self, proposals: Tensor, objectness: Tensor, image_shapes, num_anchors_per_level: list[int]) -> tuple[list[Tensor], list[Tensor]]:
        objectness = objectness.detach().reshape(len(proposals), -1)
        best, levels, start = [], [], 0
        for k, scores in enumerate(objectness.split(num_anchors_per_level, 1)):
            top = scores.topk(min(self._most(self._pre_nms_top_n), scores.shape[1]), dim=1)[1]
            best.append(top + start)
            levels.append(facula.full((top.shape[1],), k, dtype=facula.int64))
            start += scores.shape[1]
        best, levels = facula.cat(best, dim=1), facula.cat(levels)
        boxes_kept, scores_kept = [], []
        for boxes, scores, at, shape in zip(proposals, objectness, best, image_shapes):
            boxes, scores, level = box_ops.clip_boxes_to_image(boxes[at], shape), scores[at].sigmoid(), levels
            keep = box_ops.remove_small_boxes(boxes, self.min_size)
            keep = keep[scores[keep] >= self.score_thresh]
            boxes, scores, level = boxes[keep], scores[keep], level[keep]
            keep = box_ops.batched_nms(boxes, scores, level, self.nms_thresh)[: self._most(self._post_nms_top_n)]
            boxes_kept.append(boxes[keep])
            scores_kept.append(scores[keep])
        return boxes_kept, scores_kept

    def compute_loss(self, objectness: Tensor, pred_bbox_deltas: Tensor, labels: list[Tensor], regression_targets) -> tuple[Tensor, Tensor]:
        positive, negative = (facula.cat(masks).nonzero()[:, 0] for masks in self.fg_bg_sampler(labels))
        chosen = facula.cat([positive, negative])
        wanted = facula.cat(list(regression_targets))[positive]
        box_loss = F.smooth_l1_loss(pred_bbox_deltas[positive], wanted, beta=1 / 9, reduction="sum") / len(chosen)
        return F.binary_cross_entropy_with_logits(objectness.flatten()[chosen], facula.cat(labels)[chosen]), box_loss

    def forward(self, images: ImageList, features: dict[str, Tensor], targets: list[dict[str, Tensor]] | None = None):
        """(boxes of each picture, losses by their names)."""
        maps = list(features.values())
        scores, codes = self.head(maps)
        anchors = self.anchor_generator(images, maps)
        per_level = [s[0].numel() for s in scores]
        objectness = facula.cat([by_place(s, 1) for s in scores], dim=1).flatten()
        deltas = facula.cat([by_place(c, 4) for c in codes], dim=1).reshape(-1, 4)
        proposals = self.box_coder.decode(deltas.detach(), anchors).view(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, per_level)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        labels, true = self.assign_targets_to_anchors(anchors, targets)
        loss, box_loss = self.compute_loss(objectness, deltas, labels, self.box_coder.encode(true, anchors))
        return boxes, {"loss_objectness": loss, "loss_rpn_box_reg": box_loss}
