"""SSD and SSDlite. Sources: Liu et al., SSD: Single Shot MultiBox Detector (2016); Howard et al., Searching for MobileNetV3 (2019)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ...ops import boxes as box_ops
from ...ops.misc import Conv2dNormActivation
from ._anchors import DefaultBoxGenerator
from ._boxes import BoxCoder, SSDMatcher, by_place, matched
from .dense import Detector
from ._transform import MEAN, STD, GeneralizedRCNNTransform

__all__ = ["SSD"]


def _initialise(network: nn.Module, weight: Callable) -> None:
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            weight(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


_narrow = partial(nn.init.normal_, mean=0.0, std=0.03)


class SSDScoringHead(nn.Module):
    """(N, places, num_columns) of the maps, a layer for each."""

    def __init__(self, module_list: nn.ModuleList, num_columns: int) -> None:
        super().__init__()
        self.module_list, self.num_columns = module_list, num_columns

    def forward(self, x: list[Tensor]) -> Tensor:
        return facula.cat([by_place(layer(one), self.num_columns) for layer, one in zip(self.module_list, x)], dim=1)


def _convolutions(in_channels: list[int], num_anchors: list[int], columns: int) -> nn.ModuleList:
    layers = nn.ModuleList(nn.Conv2d(planes, columns * n, kernel_size=3, padding=1) for planes, n in zip(in_channels, num_anchors))
    _initialise(layers, nn.init.xavier_uniform_)
    return layers


class SSDClassificationHead(SSDScoringHead):
    """Scores of the classes."""

    def __init__(self, in_channels: list[int], num_anchors: list[int], num_classes: int) -> None:
        super().__init__(_convolutions(in_channels, num_anchors, num_classes), num_classes)


class SSDRegressionHead(SSDScoringHead):
    """Codes of the boxes."""

    def __init__(self, in_channels: list[int], num_anchors: list[int]) -> None:
        super().__init__(_convolutions(in_channels, num_anchors, 4), 4)


class SSDHead(nn.Module):
    """Scores and codes of every place."""

    def __init__(self, in_channels: list[int], num_anchors: list[int], num_classes: int) -> None:
        super().__init__()
        self.classification_head = SSDClassificationHead(in_channels, num_anchors, num_classes)
        self.regression_head = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x: list[Tensor]) -> dict[str, Tensor]:
        return {"bbox_regression": self.regression_head(x), "cls_logits": self.classification_head(x)}


def _separable(in_channels: list[int], num_anchors: list[int], columns: int, norm_layer) -> nn.ModuleList:
    layers = nn.ModuleList(
        nn.Sequential(
            Conv2dNormActivation(planes, planes, groups=planes, norm_layer=norm_layer, activation_layer=nn.ReLU6), nn.Conv2d(planes, columns * n, 1)
        )
        for planes, n in zip(in_channels, num_anchors)
    )
    _initialise(layers, _narrow)
    return layers


class SSDLiteClassificationHead(SSDScoringHead):
    """Scores of the classes, by separable convolutions."""

    def __init__(self, in_channels: list[int], num_anchors: list[int], num_classes: int, norm_layer) -> None:
        super().__init__(_separable(in_channels, num_anchors, num_classes, norm_layer), num_classes)


class SSDLiteRegressionHead(SSDScoringHead):
    """Codes of the boxes, by separable convolutions."""

    def __init__(self, in_channels: list[int], num_anchors: list[int], norm_layer) -> None:
        super().__init__(_separable(in_channels, num_anchors, 4, norm_layer), 4)


class SSDLiteHead(nn.Module):
    """Scores and codes of every place, by separable convolutions."""

    def __init__(self, in_channels: list[int], num_anchors: list[int], num_classes: int, norm_layer) -> None:
        super().__init__()
        self.classification_head = SSDLiteClassificationHead(in_channels, num_anchors, num_classes, norm_layer)
        self.regression_head = SSDLiteRegressionHead(in_channels, num_anchors, norm_layer)

    forward = SSDHead.forward


def retrieve_out_channels(model: nn.Module, size: tuple[int, int]) -> list[int]:
    """The planes of the maps that the network makes of a picture of (width, height)."""
    before = model.training
    model.eval()
    with facula.no_grad():
        maps = model(facula.zeros((1, 3, size[1], size[0])))
    model.train(before)
    return [m.shape[1] for m in ([maps] if isinstance(maps, Tensor) else maps.values())]


class SSD(Detector):
    """size: (width, height) to which all pictures go. anchor_generator: a DefaultBoxGenerator; num_classes: 0, which is nothing, among them.

    iou_thresh: a box from which on is something; positive_fraction: of the boxes that count, the others the worst of what is nothing.

    >>> backbone = facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 8))
    >>> boxes = facula.vision.models.detection.DefaultBoxGenerator([[2]])
    >>> net = facula.vision.models.detection.ssd.SSD(backbone, boxes, (32, 32), 3).eval()
    >>> sorted(net([facula.zeros(3, 32, 40)])[0])
    ['boxes', 'labels', 'scores']
    """

    def __init__(
        self, backbone: nn.Module, anchor_generator: DefaultBoxGenerator, size: tuple[int, int], num_classes: int, image_mean=None, image_std=None,
        head: nn.Module | None = None, score_thresh: float = 0.01, nms_thresh: float = 0.45, detections_per_img: int = 200,
        iou_thresh: float = 0.5, topk_candidates: int = 400, positive_fraction: float = 0.25, **kwargs,
    ) -> None:  # fmt: skip
        super().__init__()
        self.backbone, self.anchor_generator = backbone, anchor_generator
        self.box_coder = BoxCoder(weights=(10.0, 10.0, 5.0, 5.0))
        if head is None:
            planes = backbone.out_channels if hasattr(backbone, "out_channels") else retrieve_out_channels(backbone, size)
            if len(planes) != len(anchor_generator.aspect_ratios):
                raise ValueError(
                    f"The length of the output channels from the backbone ({len(planes)}) do not match the length of the anchor generator "
                    f"aspect ratios ({len(anchor_generator.aspect_ratios)})"
                )
            head = SSDHead(planes, anchor_generator.num_anchors_per_location(), num_classes)
        self.head = head
        self.proposal_matcher = SSDMatcher(iou_thresh)
        self.transform = GeneralizedRCNNTransform(
            min(size), max(size), image_mean or MEAN, image_std or STD, size_divisible=1, fixed_size=size, **kwargs
        )
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates
        self.neg_to_pos_ratio = (1.0 - positive_fraction) / positive_fraction

    def compute_loss(self, targets, head_outputs: dict[str, Tensor], anchors: list[Tensor], places: list[int]) -> dict[str, Tensor]:
        del places  # FCOS asks for them
        box_losses, wanted, count = [], [], 0
        for target, codes, boxes, at in zip(targets, head_outputs["bbox_regression"], anchors, matched(self.proposal_matcher, targets, anchors)):
            something = (at >= 0).nonzero()[:, 0]
            at = at[something]
            count += len(at)
            true = self.box_coder.encode_single(target["boxes"][at], boxes[something])
            box_losses.append(F.smooth_l1_loss(codes[something], true, reduction="sum"))
            labels = facula.zeros((len(boxes),), dtype=target["labels"].dtype)
            labels[something] = target["labels"][at]
            wanted.append(labels)
        wanted = facula.stack(wanted)
        logits = head_outputs["cls_logits"]
        losses = F.cross_entropy(logits.view(-1, logits.shape[-1]), wanted.view(-1), reduction="none").view(wanted.shape)
        positive = wanted > 0
        worst = losses.detach().masked_fill(positive, -math.inf).sort(1, descending=True)[1].sort(1)[1]  # the rank of each
        negative = worst < self.neg_to_pos_ratio * positive.sum(1, keepdim=True)
        count = max(1, count)
        return {
            "bbox_regression": facula.stack(box_losses).sum() / count,
            "classification": (losses[positive].sum() + losses[negative].sum()) / count,
        }

    def postprocess_detections(self, outputs: dict[str, Tensor], anchors: list[Tensor], image_shapes, places: list[int]) -> list[dict[str, Tensor]]:
        del places
        found = []
        for codes, scores, boxes, shape in zip(outputs["bbox_regression"], outputs["cls_logits"].softmax(-1), anchors, image_shapes):
            boxes = box_ops.clip_boxes_to_image(self.box_coder.decode_single(codes, boxes), shape)
            classes = []
            for label in range(1, scores.shape[-1]):
                keep = (scores[:, label] > self.score_thresh).nonzero()[:, 0]
                score, top = scores[keep, label].topk(min(self.topk_candidates, len(keep)))
                classes.append((boxes[keep[top]], score, facula.full((len(top),), label, dtype=facula.int64)))
            found.append(self._best(classes))
        return found


class SSDFeatureExtractorVGG(nn.Module):
    """VGG up to its fourth pooling, scaled to one length, and coarser maps; highres: one more, for pictures of 512 pixels."""

    def __init__(self, backbone: nn.Sequential, highres: bool) -> None:
        super().__init__()
        pools = [k for k, layer in enumerate(backbone) if isinstance(layer, nn.MaxPool2d)]
        backbone[pools[2]].ceil_mode = True
        self.scale_weight = nn.Parameter(facula.ones(512) * 20)
        self.features = nn.Sequential(*backbone[: pools[3]])
        # planes in, between and out, and how the 3x3 convolution goes
        rows = [(1024, 256, 512, {"padding": 1, "stride": 2}), (512, 128, 256, {"padding": 1, "stride": 2}), (256, 128, 256, {}), (256, 128, 256, {})]
        rows += [(256, 128, 256, {"kernel_size": 4})] if highres else []
        extra = nn.ModuleList(
            nn.Sequential(nn.Conv2d(a, b, kernel_size=1), nn.ReLU(inplace=True), nn.Conv2d(b, c, **{"kernel_size": 3, **how}), nn.ReLU(inplace=True))
            for a, b, c, how in rows
        )
        _initialise(extra, nn.init.xavier_uniform_)
        wide = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1), nn.Conv2d(512, 1024, kernel_size=3, padding=6, dilation=6), nn.ReLU(inplace=True),
            nn.Conv2d(1024, 1024, kernel_size=1), nn.ReLU(inplace=True),
        )  # fmt: skip
        _initialise(wide, nn.init.xavier_uniform_)
        extra.insert(0, nn.Sequential(*backbone[pools[3] : -1], wide))
        self.extra = extra

    def forward(self, x) -> dict[str, Tensor]:
        x = self.features(x)
        maps = [self.scale_weight.view(1, -1, 1, 1) * F.normalize(x)]
        for block in self.extra:
            x = block(x)
            maps.append(x)
        return {str(k): m for k, m in enumerate(maps)}


class SSDLiteFeatureExtractorMobileNet(nn.Module):
    """A MobileNet V3 cut after the expansion of its block c4_pos, and coarser maps by separable convolutions."""

    def __init__(self, backbone: nn.Sequential, c4_pos: int, norm_layer, width_mult: float = 1.0, min_depth: int = 16) -> None:
        super().__init__()
        cut = backbone[c4_pos]
        if cut.use_res_connect:
            raise ValueError("backbone[c4_pos].use_res_connect should be False")
        self.features = nn.Sequential(
            nn.Sequential(*backbone[:c4_pos], cut.block[0]), nn.Sequential(cut.block[1:], *backbone[c4_pos + 1 :])
        )
        normed = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.ReLU6)
        self.extra = nn.ModuleList()
        before = backbone[-1].out_channels
        for depth in (512, 256, 256, 128):
            out = max(min_depth, int(depth * width_mult))
            half = out // 2
            self.extra.append(nn.Sequential(normed(before, half, kernel_size=1), normed(half, half, stride=2, groups=half), normed(half, out, kernel_size=1)))
            before = out
        _initialise(self.extra, _narrow)

    def forward(self, x) -> dict[str, Tensor]:
        maps = []
        for block in (*self.features, *self.extra):
            x = block(x)
            maps.append(x)
        return {str(k): m for k, m in enumerate(maps)}
