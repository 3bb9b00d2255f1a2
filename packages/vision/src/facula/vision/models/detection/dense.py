"""Detectors of one stage, which score every place: what they share, RetinaNet and FCOS.

Sources: Lin et al., Focal Loss for Dense Object Detection (2017); Tian et al., FCOS: Fully Convolutional One-Stage Object Detection (2019).
"""

from __future__ import annotations

import math
from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ...ops import boxes as box_ops
from ...ops.losses import generalized_box_iou_loss, sigmoid_focal_loss
from ...ops.misc import Conv2dNormActivation
from ._anchors import AnchorGenerator
from ._boxes import BoxCoder, BoxLinearCoder, Matcher, box_loss, by_place, matched
from ._transform import MEAN, STD, GeneralizedRCNNTransform, checked

__all__ = ["FCOS", "RetinaNet"]


def _normal(network: nn.Module) -> None:
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, std=0.01)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def _last(planes: int, out: int, prior: float | None = None) -> nn.Conv2d:
    """A 3x3 convolution with small weights, whose sigmoid is prior at first."""
    conv = nn.Conv2d(planes, out, kernel_size=3, stride=1, padding=1)
    nn.init.normal_(conv.weight, std=0.01)
    nn.init.constant_(conv.bias, 0.0 if prior is None else -math.log((1 - prior) / prior))
    return conv


class Detector(nn.Module):
    """Pictures of any size, a list of (3, H, W) in [0, 1]: in training losses by their names, else what is found in each.

    An heir has backbone, head, anchor_generator and transform, and says compute_loss and postprocess_detections.
    """

    def forward(self, images: list[Tensor], targets: list[dict[str, Tensor]] | None = None):
        sizes = checked(images, targets, self.training)
        batch, targets = self.transform(images, targets)
        features = self.backbone(batch.tensors)
        maps = [features] if isinstance(features, Tensor) else list(features.values())
        outputs = self.head(maps)
        anchors = self.anchor_generator(batch, maps)
        places = [m.shape[2] * m.shape[3] for m in maps]
        if self.training:
            return self.compute_loss(targets, outputs, anchors, places)
        return self.transform.postprocess(self.postprocess_detections(outputs, anchors, batch.image_sizes, places), batch.image_sizes, sizes)

    def _best(self, found: list[tuple[Tensor, Tensor, Tensor]]) -> dict[str, Tensor]:
        """What nms leaves of (boxes, scores, labels) of several maps or classes."""
        boxes, scores, labels = (facula.cat(parts) for parts in zip(*found))
        keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]}


class _ByLevel(Detector):
    """A Detector whose classes are scored by sigmoids, map by map."""

    def _begin(self, backbone, anchor_generator, usual) -> None:
        if not hasattr(backbone, "out_channels"):
            raise ValueError(
                "backbone should contain an attribute out_channels specifying the number of output channels (assumed to be the same for all the levels)"
            )
        if not isinstance(anchor_generator, (AnchorGenerator, type(None))):
            raise TypeError(f"anchor_generator should be of type AnchorGenerator or None instead of {type(anchor_generator)}")
        self.backbone, self.anchor_generator = backbone, anchor_generator or usual()

    def postprocess_detections(self, outputs: dict[str, Tensor], anchors: list[Tensor], image_shapes, places: list[int]) -> list[dict[str, Tensor]]:
        sizes = [n * (outputs["cls_logits"].shape[1] // sum(places)) for n in places]
        scores = self._scores(outputs)
        found = []
        for k, shape in enumerate(image_shapes):
            levels = []
            for score, codes, boxes in zip(scores[k].split(sizes), outputs["bbox_regression"][k].split(sizes), anchors[k].split(sizes)):
                classes, score = score.shape[-1], score.flatten()
                keep = (score > self.score_thresh).nonzero()[:, 0]
                score, top = score[keep].topk(min(self.topk_candidates, len(keep)))
                keep = keep[top]
                at = keep // classes
                levels.append((box_ops.clip_boxes_to_image(self._decode(codes[at], boxes[at]), shape), score, keep % classes))
            found.append(self._best(levels))
        return found


class RetinaNetClassificationHead(nn.Module):
    """(N, places, classes) of the maps, by four convolutions and one."""

    _version = 2

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, prior_probability: float = 0.01, norm_layer=None) -> None:
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer) for _ in range(4)))
        _normal(self.conv)
        self.cls_logits = _last(in_channels, num_anchors * num_classes, prior_probability)
        self.num_classes, self.num_anchors = num_classes, num_anchors

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        _older_convolutions(state_dict, prefix, local_metadata)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def compute_loss(self, targets: list[dict[str, Tensor]], head_outputs: dict[str, Tensor], matched_idxs: list[Tensor]) -> Tensor:
        losses = []
        for target, logits, at in zip(targets, head_outputs["cls_logits"], matched_idxs):
            something = (at >= 0).nonzero()[:, 0]
            wanted = facula.zeros_like(logits)
            wanted[something, target["labels"][at[something]]] = 1.0
            counts = at != Matcher.BETWEEN_THRESHOLDS
            losses.append(sigmoid_focal_loss(logits[counts], wanted[counts], reduction="sum") / max(1, len(something)))
        return sum(losses) / len(targets)

    def forward(self, x: list[Tensor]) -> Tensor:
        return facula.cat([by_place(self.cls_logits(self.conv(one)), self.num_classes) for one in x], dim=1)


def _older_convolutions(state_dict, prefix: str, local_metadata) -> None:
    """Before version 2 convolutions and activations stood side by side."""
    if (local_metadata.get("version") or 1) < 2:
        for k in range(4):
            for kind in ("weight", "bias"):
                if f"{prefix}conv.{2 * k}.{kind}" in state_dict:
                    state_dict[f"{prefix}conv.{k}.0.{kind}"] = state_dict.pop(f"{prefix}conv.{2 * k}.{kind}")


class RetinaNetRegressionHead(nn.Module):
    """(N, places, 4) of the maps, by four convolutions and one."""

    _version = 2

    def __init__(self, in_channels: int, num_anchors: int, norm_layer=None) -> None:
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer) for _ in range(4)))
        self.bbox_reg = _last(in_channels, num_anchors * 4)
        _normal(self.conv)
        self.box_coder = BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self._loss_type = "l1"

    _load_from_state_dict = RetinaNetClassificationHead._load_from_state_dict

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], matched_idxs: list[Tensor]) -> Tensor:
        losses = []
        for target, codes, boxes, at in zip(targets, head_outputs["bbox_regression"], anchors, matched_idxs):
            something = (at >= 0).nonzero()[:, 0]
            true = target["boxes"][at[something]]
            losses.append(box_loss(self._loss_type, self.box_coder, boxes[something], true, codes[something]) / max(1, len(something)))
        return sum(losses) / max(1, len(targets))

    def forward(self, x: list[Tensor]) -> Tensor:
        return facula.cat([by_place(self.bbox_reg(self.conv(one)), 4) for one in x], dim=1)


class RetinaNetHead(nn.Module):
    """Scores and codes of every place."""

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, norm_layer=None) -> None:
        super().__init__()
        self.classification_head = RetinaNetClassificationHead(in_channels, num_anchors, num_classes, norm_layer=norm_layer)
        self.regression_head = RetinaNetRegressionHead(in_channels, num_anchors, norm_layer=norm_layer)

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], matched_idxs: list[Tensor]) -> dict[str, Tensor]:
        return {
            "classification": self.classification_head.compute_loss(targets, head_outputs, matched_idxs),
            "bbox_regression": self.regression_head.compute_loss(targets, head_outputs, anchors, matched_idxs),
        }

    def forward(self, x: list[Tensor]) -> dict[str, Tensor]:
        return {"cls_logits": self.classification_head(x), "bbox_regression": self.regression_head(x)}


def retinanet_anchors() -> AnchorGenerator:
    sizes = tuple((x, int(x * 2 ** (1.0 / 3)), int(x * 2 ** (2.0 / 3))) for x in (32, 64, 128, 256, 512))
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class RetinaNet(_ByLevel):
    """backbone: a network with an attribute out_channels. fg_iou_thresh, bg_iou_thresh: an anchor is something from the one on, nothing below the other.

    >>> backbone = facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 8))
    >>> backbone.out_channels = 4
    >>> anchors = facula.vision.models.detection.AnchorGenerator(((16,),))
    >>> net = facula.vision.models.detection.RetinaNet(backbone, 2, 32, 64, anchor_generator=anchors).eval()
    >>> sorted(net([facula.zeros(3, 32, 40)])[0])
    ['boxes', 'labels', 'scores']
    """

    def __init__(
        self, backbone: nn.Module, num_classes: int, min_size=800, max_size: int = 1333, image_mean=None, image_std=None,
        anchor_generator: AnchorGenerator | None = None, head: nn.Module | None = None, proposal_matcher: Matcher | None = None,
        score_thresh: float = 0.05, nms_thresh: float = 0.5, detections_per_img: int = 300, fg_iou_thresh: float = 0.5, bg_iou_thresh: float = 0.4,
        topk_candidates: int = 1000, **kwargs,
    ) -> None:  # fmt: skip
        super().__init__()
        self._begin(backbone, anchor_generator, retinanet_anchors)
        self.head = head or RetinaNetHead(backbone.out_channels, self.anchor_generator.num_anchors_per_location()[0], num_classes)
        self.proposal_matcher = proposal_matcher or Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.box_coder = BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self._decode = self.box_coder.decode_single
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def _scores(self, outputs: dict[str, Tensor]) -> Tensor:
        return outputs["cls_logits"].sigmoid()

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], places: list[int]) -> dict[str, Tensor]:
        del places  # FCOS asks for them
        return self.head.compute_loss(targets, head_outputs, anchors, matched(self.proposal_matcher, targets, anchors))


def _tower(planes: int, num_convs: int, norm_layer) -> nn.Sequential:
    norm = norm_layer or partial(nn.GroupNorm, 32)
    parts = ((nn.Conv2d(planes, planes, 3, stride=1, padding=1), norm(planes), nn.ReLU()) for _ in range(num_convs))
    return nn.Sequential(*(layer for part in parts for layer in part))


class FCOSClassificationHead(nn.Module):
    """(N, places, classes) of the maps."""

    def __init__(
        self, in_channels: int, num_anchors: int, num_classes: int, num_convs: int = 4, prior_probability: float = 0.01, norm_layer=None
    ) -> None:
        super().__init__()
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.conv = _tower(in_channels, num_convs, norm_layer)
        _normal(self.conv)
        self.cls_logits = _last(in_channels, num_anchors * num_classes, prior_probability)

    forward = RetinaNetClassificationHead.forward


class FCOSRegressionHead(nn.Module):
    """((N, places, 4), (N, places, 1)) of the maps: distances of the sides, and how near the centre a place is."""

    def __init__(self, in_channels: int, num_anchors: int, num_convs: int = 4, norm_layer=None) -> None:
        super().__init__()
        self.conv = _tower(in_channels, num_convs, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=3, stride=1, padding=1)
        self.bbox_ctrness = nn.Conv2d(in_channels, num_anchors, kernel_size=3, stride=1, padding=1)
        for part in (self.bbox_reg, self.bbox_ctrness, self.conv):
            _normal(part)

    def forward(self, x: list[Tensor]) -> tuple[Tensor, Tensor]:
        hidden = [self.conv(one) for one in x]
        sides = [by_place(F.relu(self.bbox_reg(h)), 4) for h in hidden]
        return facula.cat(sides, dim=1), facula.cat([by_place(self.bbox_ctrness(h), 1) for h in hidden], dim=1)


class FCOSHead(nn.Module):
    """Scores, sides and nearness to the centre of every place."""

    def __init__(self, in_channels: int, num_anchors: int, num_classes: int, num_convs: int = 4) -> None:
        super().__init__()
        self.box_coder = BoxLinearCoder(normalize_by_size=True)
        self.classification_head = FCOSClassificationHead(in_channels, num_anchors, num_classes, num_convs)
        self.regression_head = FCOSRegressionHead(in_channels, num_anchors, num_convs)

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], matched_idxs: list[Tensor]) -> dict[str, Tensor]:
        logits, codes = head_outputs["cls_logits"], head_outputs["bbox_regression"]
        labels, true = [], []
        for target, at in zip(targets, matched_idxs):
            some = len(target["labels"]) > 0
            label = target["labels"][at.clamp(min=0)] if some else facula.zeros_like(at)
            labels.append(label.masked_fill(at < 0, -1))
            true.append(target["boxes"][at.clamp(min=0)] if some else target["boxes"].new_zeros((len(at), 4)))
        labels, true, boxes = facula.stack(labels), facula.stack(true), facula.stack(anchors)
        something = labels >= 0
        wanted = facula.zeros_like(logits)
        picture, place = something.nonzero(as_tuple=True)
        wanted[picture, place, labels[something]] = 1.0
        sides = self.box_coder.encode(boxes, true)
        along, down = sides[:, :, [0, 2]], sides[:, :, [1, 3]]
        middle = ((along.amin(-1) / along.amax(-1)) * (down.amin(-1) / down.amax(-1))).sqrt()
        nearness = head_outputs["bbox_ctrness"].squeeze(2)
        count = max(1, int(something.sum()))
        return {
            "classification": sigmoid_focal_loss(logits, wanted, reduction="sum") / count,
            "bbox_regression": generalized_box_iou_loss(self.box_coder.decode(codes, boxes)[something], true[something], reduction="sum") / count,
            "bbox_ctrness": F.binary_cross_entropy_with_logits(nearness[something], middle[something], reduction="sum") / count,
        }

    def forward(self, x: list[Tensor]) -> dict[str, Tensor]:
        logits = self.classification_head(x)
        sides, nearness = self.regression_head(x)
        return {"cls_logits": logits, "bbox_regression": sides, "bbox_ctrness": nearness}


def _fcos_anchors() -> AnchorGenerator:
    return AnchorGenerator(((8,), (16,), (32,), (64,), (128,)), ((1.0,),) * 5)


class FCOS(_ByLevel):
    """backbone: a network with an attribute out_channels. center_sampling_radius: a place belongs to a box within so many strides of its centre.

    >>> backbone = facula.nn.Sequential(facula.nn.Conv2d(3, 32, 3, 8))
    >>> backbone.out_channels = 32
    >>> anchors = facula.vision.models.detection.AnchorGenerator(((8,),), ((1.0,),))
    >>> net = facula.vision.models.detection.FCOS(backbone, 2, 32, 64, anchor_generator=anchors).eval()
    >>> sorted(net([facula.zeros(3, 32, 40)])[0])
    ['boxes', 'labels', 'scores']
    """

    def __init__(
        self, backbone: nn.Module, num_classes: int, min_size: int = 800, max_size: int = 1333, image_mean=None, image_std=None,
        anchor_generator: AnchorGenerator | None = None, head: nn.Module | None = None, center_sampling_radius: float = 1.5,
        score_thresh: float = 0.2, nms_thresh: float = 0.6, detections_per_img: int = 100, topk_candidates: int = 1000, **kwargs,
    ) -> None:  # fmt: skip
        super().__init__()
        self._begin(backbone, anchor_generator, _fcos_anchors)
        per_place = self.anchor_generator.num_anchors_per_location()[0]
        if per_place != 1:
            raise AssertionError(f"FCOS: anchor_generator.num_anchors_per_location()[0] should be 1, got {per_place}.")
        self.head = head or FCOSHead(backbone.out_channels, per_place, num_classes)
        self.box_coder = BoxLinearCoder(normalize_by_size=True)
        self._decode = self.box_coder.decode
        self.transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        self.center_sampling_radius = center_sampling_radius
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def _scores(self, outputs: dict[str, Tensor]) -> Tensor:
        return (outputs["cls_logits"].sigmoid() * outputs["bbox_ctrness"].sigmoid()).sqrt()

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], places: list[int]) -> dict[str, Tensor]:
        return self.head.compute_loss(targets, head_outputs, anchors, [self._match(t["boxes"], boxes, places) for t, boxes in zip(targets, anchors)])

    def _match(self, true: Tensor, boxes: Tensor, places: list[int]) -> Tensor:
        """The smallest true box around each place that is near its centre and of the size that its map is for; -1 for none."""
        if not len(true):
            return facula.full((len(boxes),), -1, dtype=facula.int64)
        middle, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2] - boxes[:, 0]
        near = (middle[:, None] - (true[:, :2] + true[:, 2:]) / 2).abs().amax(2) < self.center_sampling_radius * size[:, None]
        sides = facula.cat([middle[:, None] - true[None, :, :2], true[None, :, 2:] - middle[:, None]], dim=2)
        low, high = size * 4, size * 8
        low[: places[0]], high[-places[-1] :] = 0, math.inf
        farthest = sides.amax(2)
        fits = near & (sides.amin(2) > 0) & (farthest > low[:, None]) & (farthest < high[:, None])
        best, at = (fits.float() * (1e8 - box_ops.box_area(true))).max(dim=1)
        return at.masked_fill(best < 1e-5, -1)
