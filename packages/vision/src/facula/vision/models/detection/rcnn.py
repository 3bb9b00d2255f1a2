"""Faster, Mask and Keypoint R-CNN. Sources: Ren et al., arXiv:1506.01497; He et al., arXiv:1703.06870; Li et al., arXiv:2111.11429 for the second versions."""

from __future__ import annotations

from collections.abc import Callable

from facula import Tensor, nn
from facula.nn import functional as F

from ...ops.misc import Conv2dNormActivation
from ...ops.pyramid import MultiScaleRoIAlign
from ._anchors import AnchorGenerator
from ._roi_heads import RoIHeads
from ._rpn import RegionProposalNetwork, RPNHead
from ._transform import MEAN, STD, GeneralizedRCNNTransform, checked

__all__ = ["FasterRCNN", "KeypointRCNN", "MaskRCNN"]


class GeneralizedRCNN(nn.Module):
    """Pictures of any size, a list of (3, H, W) in [0, 1]: in training losses by their names, else what is found in each.

    targets: for each picture a dict of "boxes" (N, 4) and "labels" (N,), and what else the heads want.
    """

    def __init__(self, backbone: nn.Module, rpn: nn.Module, roi_heads: nn.Module, transform: nn.Module) -> None:
        super().__init__()
        self.transform, self.backbone, self.rpn, self.roi_heads = transform, backbone, rpn, roi_heads

    def forward(self, images: list[Tensor], targets: list[dict[str, Tensor]] | None = None):
        sizes = checked(images, targets, self.training)
        batch, targets = self.transform(images, targets)
        features = self.backbone(batch.tensors)
        features = {"0": features} if isinstance(features, Tensor) else features
        proposals, losses = self.rpn(batch, features, targets)
        found, others = self.roi_heads(features, proposals, batch.image_sizes, targets)
        return {**others, **losses} if self.training else self.transform.postprocess(found, batch.image_sizes, sizes)


def default_anchors() -> AnchorGenerator:
    return AnchorGenerator(((32,), (64,), (128,), (256,), (512,)), ((0.5, 1.0, 2.0),) * 5)


def default_pool(size: int) -> MultiScaleRoIAlign:
    return MultiScaleRoIAlign(featmap_names=["0", "1", "2", "3"], output_size=size, sampling_ratio=2)


def _kind(name: str, value, kind: type) -> None:
    if not isinstance(value, (kind, type(None))):
        raise TypeError(f"{name} should be of type {kind.__name__} or None instead of {type(value)}")


class FasterRCNN(GeneralizedRCNN):
    """Boxes and classes. backbone: a network with an attribute out_channels; num_classes: 0, which is nothing, among them.

    min_size, max_size, image_mean, image_std and others: those of the transform; rpn_ and box_: those of the two stages.

    >>> backbone = facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 8))
    >>> backbone.out_channels = 4
    >>> anchors, pool = facula.vision.models.detection.AnchorGenerator(((16,),)), facula.vision.ops.MultiScaleRoIAlign(["0"], 3, 2)
    >>> net = facula.vision.models.detection.FasterRCNN(backbone, 2, 32, 64, rpn_anchor_generator=anchors, box_roi_pool=pool).eval()
    >>> sorted(net([facula.zeros(3, 32, 40)])[0])
    ['boxes', 'labels', 'scores']
    """

    def __init__(
        self, backbone: nn.Module, num_classes: int | None = None, min_size=800, max_size: int = 1333, image_mean=None, image_std=None,
        rpn_anchor_generator: AnchorGenerator | None = None, rpn_head: nn.Module | None = None, rpn_pre_nms_top_n_train: int = 2000,
        rpn_pre_nms_top_n_test: int = 1000, rpn_post_nms_top_n_train: int = 2000, rpn_post_nms_top_n_test: int = 1000, rpn_nms_thresh: float = 0.7,
        rpn_fg_iou_thresh: float = 0.7, rpn_bg_iou_thresh: float = 0.3, rpn_batch_size_per_image: int = 256, rpn_positive_fraction: float = 0.5,
        rpn_score_thresh: float = 0.0, box_roi_pool: MultiScaleRoIAlign | None = None, box_head: nn.Module | None = None,
        box_predictor: nn.Module | None = None, box_score_thresh: float = 0.05, box_nms_thresh: float = 0.5, box_detections_per_img: int = 100,
        box_fg_iou_thresh: float = 0.5, box_bg_iou_thresh: float = 0.5, box_batch_size_per_image: int = 512, box_positive_fraction: float = 0.25,
        bbox_reg_weights=None, **kwargs,
    ) -> None:  # fmt: skip
        if not hasattr(backbone, "out_channels"):
            raise ValueError(
                "backbone should contain an attribute out_channels specifying the number of output channels (assumed to be the same for all the levels)"
            )
        _kind("rpn_anchor_generator", rpn_anchor_generator, AnchorGenerator)
        _kind("box_roi_pool", box_roi_pool, MultiScaleRoIAlign)
        if (num_classes is None) == (box_predictor is None):
            word = "not be None when box_predictor is not" if num_classes is None else "be None when box_predictor is"
            raise ValueError(f"num_classes should {word} specified")
        planes = backbone.out_channels
        anchors = rpn_anchor_generator or default_anchors()
        rpn = RegionProposalNetwork(
            anchors, rpn_head or RPNHead(planes, anchors.num_anchors_per_location()[0]), rpn_fg_iou_thresh, rpn_bg_iou_thresh,
            rpn_batch_size_per_image, rpn_positive_fraction, {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test}, rpn_nms_thresh, rpn_score_thresh,
        )  # fmt: skip
        pool = box_roi_pool or default_pool(7)
        head = box_head or TwoMLPHead(planes * pool.output_size[0] ** 2, 1024)
        heads = RoIHeads(
            pool, head, box_predictor or FastRCNNPredictor(1024, num_classes), box_fg_iou_thresh, box_bg_iou_thresh, box_batch_size_per_image,
            box_positive_fraction, bbox_reg_weights, box_score_thresh, box_nms_thresh, box_detections_per_img,
        )  # fmt: skip
        transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        super().__init__(backbone, rpn, heads, transform)


class TwoMLPHead(nn.Module):
    """Two linear layers."""

    def __init__(self, in_channels: int, representation_size: int) -> None:
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x) -> Tensor:
        return F.relu(self.fc7(F.relu(self.fc6(x.flatten(1)))))


def _fan_out(network: nn.Module) -> None:
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


class FastRCNNConvFCHead(nn.Sequential):
    """Convolutions of conv_layers planes, then linear layers of fc_layers numbers; input_size: (C, H, W)."""

    def __init__(self, input_size: tuple[int, int, int], conv_layers: list[int], fc_layers: list[int], norm_layer: Callable | None = None) -> None:
        planes, height, width = input_size
        blocks: list[nn.Module] = []
        for out in conv_layers:
            blocks.append(Conv2dNormActivation(planes, out, norm_layer=norm_layer))
            planes = out
        blocks.append(nn.Flatten())
        numbers = planes * height * width
        for out in fc_layers:
            blocks += [nn.Linear(numbers, out), nn.ReLU(inplace=True)]
            numbers = out
        super().__init__(*blocks)
        _fan_out(self)


class FastRCNNPredictor(nn.Module):
    """(scores of the classes, the codes of a box for each)."""

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.cls_score = nn.Linear(in_channels, num_classes)
        self.bbox_pred = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x) -> tuple[Tensor, Tensor]:
        if x.dim() == 4 and tuple(x.shape[2:]) != (1, 1):
            raise AssertionError(f"x has the wrong shape, expecting the last two dimensions to be [1,1] instead of {list(x.shape[2:])}")
        x = x.flatten(1)
        return self.cls_score(x), self.bbox_pred(x)


class MaskRCNN(FasterRCNN):
    """FasterRCNN with masks (N, 1, H, W) of probabilities; targets have "masks" (N, H, W). The arguments after num_classes: FasterRCNN's.

    >>> facula.vision.models.detection.MaskRCNN(facula.nn.Identity(), 2)
    Traceback (most recent call last):
    ...
    ValueError: backbone should contain an attribute out_channels specifying the number of output channels (assumed to be the same for all the levels)
    """

    def __init__(self, backbone: nn.Module, num_classes: int | None = None, *args, mask_roi_pool=None, mask_head=None, mask_predictor=None, **kwargs) -> None:
        _kind("mask_roi_pool", mask_roi_pool, MultiScaleRoIAlign)
        if num_classes is not None and mask_predictor is not None:
            raise ValueError("num_classes should be None when mask_predictor is specified")
        planes = getattr(backbone, "out_channels", 256)
        pool, head = mask_roi_pool or default_pool(14), mask_head or MaskRCNNHeads(planes, (256, 256, 256, 256), 1)
        predictor = mask_predictor or MaskRCNNPredictor(256, 256, num_classes)
        super().__init__(backbone, num_classes, *args, **kwargs)
        self.roi_heads.mask_roi_pool, self.roi_heads.mask_head, self.roi_heads.mask_predictor = pool, head, predictor


class MaskRCNNHeads(nn.Sequential):
    """3x3 convolutions."""

    _version = 2

    def __init__(self, in_channels: int, layers, dilation: int, norm_layer: Callable | None = None) -> None:
        blocks = []
        for out in layers:
            blocks.append(Conv2dNormActivation(in_channels, out, padding=dilation, dilation=dilation, norm_layer=norm_layer))
            in_channels = out
        super().__init__(*blocks)
        _fan_out(self)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        if (local_metadata.get("version") or 1) < 2:  # layers had names
            for k in range(len(self)):
                for kind in ("weight", "bias"):
                    if f"{prefix}mask_fcn{k + 1}.{kind}" in state_dict:
                        state_dict[f"{prefix}{k}.0.{kind}"] = state_dict.pop(f"{prefix}mask_fcn{k + 1}.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class MaskRCNNPredictor(nn.Sequential):
    """Masks of twice the resolution, one for each class."""

    def __init__(self, in_channels: int, dim_reduced: int, num_classes: int) -> None:
        super().__init__()
        self.conv5_mask = nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0)
        self.relu = nn.ReLU(inplace=True)
        self.mask_fcn_logits = nn.Conv2d(dim_reduced, num_classes, 1, 1, 0)
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")


class KeypointRCNN(FasterRCNN):
    """FasterRCNN with keypoints (N, K, 3) of (x, y, visible); targets have "keypoints" as well. The arguments after num_classes: FasterRCNN's.

    >>> facula.vision.models.detection.KeypointRCNN(facula.nn.Identity(), 2)
    Traceback (most recent call last):
    ...
    ValueError: backbone should contain an attribute out_channels specifying the number of output channels (assumed to be the same for all the levels)
    """

    def __init__(
        self, backbone: nn.Module, num_classes: int | None = None, min_size=None, *args, keypoint_roi_pool=None, keypoint_head=None,
        keypoint_predictor=None, num_keypoints: int | None = None, **kwargs,
    ) -> None:  # fmt: skip
        _kind("keypoint_roi_pool", keypoint_roi_pool, MultiScaleRoIAlign)
        if num_keypoints is not None and keypoint_predictor is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        planes = getattr(backbone, "out_channels", 256)
        pool, head = keypoint_roi_pool or default_pool(14), keypoint_head or KeypointRCNNHeads(planes, (512,) * 8)
        predictor = keypoint_predictor or KeypointRCNNPredictor(512, num_keypoints or 17)
        super().__init__(backbone, num_classes, min_size or (640, 672, 704, 736, 768, 800), *args, **kwargs)
        self.roi_heads.keypoint_roi_pool, self.roi_heads.keypoint_head, self.roi_heads.keypoint_predictor = pool, head, predictor


class KeypointRCNNHeads(nn.Sequential):
    """3x3 convolutions."""

    def __init__(self, in_channels: int, layers) -> None:
        blocks: list[nn.Module] = []
        for out in layers:
            blocks += [nn.Conv2d(in_channels, out, 3, stride=1, padding=1), nn.ReLU(inplace=True)]
            in_channels = out
        super().__init__(*blocks)
        _fan_out(self)


class KeypointRCNNPredictor(nn.Module):
    """A map of four times the resolution for each keypoint."""

    def __init__(self, in_channels: int, num_keypoints: int) -> None:
        super().__init__()
        self.kps_score_lowres = nn.ConvTranspose2d(in_channels, num_keypoints, 4, stride=2, padding=1)
        nn.init.kaiming_normal_(self.kps_score_lowres.weight, mode="fan_out", nonlinearity="relu")
        nn.init.zeros_(self.kps_score_lowres.bias)
        self.out_channels = num_keypoints

    def forward(self, x) -> Tensor:
        return F.interpolate(self.kps_score_lowres(x), scale_factor=2.0, mode="bilinear", align_corners=False, recompute_scale_factor=False)
