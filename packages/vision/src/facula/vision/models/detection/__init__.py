"""Networks that find things: boxes, masks, keypoints."""

from __future__ import annotations

import warnings
from functools import partial

from facula import nn

from ...ops.misc import FrozenBatchNorm2d
from ...ops.pyramid import LastLevelP6P7
from .. import mobilenetv3, resnet, vgg
from .._build import as_before
from .._weights import KINDS, get_model_weights, trained
from ..segmentation import strided
from . import dense, rcnn, ssd
from ._anchors import AnchorGenerator, DefaultBoxGenerator
from ._backbones import freeze_before, mobilenet_extractor, resnet_fpn_extractor, validate_trainable_layers
from .dense import FCOS, RetinaNet
from .rcnn import FasterRCNN, KeypointRCNN, MaskRCNN
from ._rpn import RPNHead

__all__ = [
    "FCOS", "FasterRCNN", "KeypointRCNN", "MaskRCNN", "RetinaNet", "fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fcos_resnet50_fpn", "keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2", "retinanet_resnet50_fpn", "retinanet_resnet50_fpn_v2", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
]  # fmt: skip
globals().update(KINDS["detection"])
__all__ += KINDS["detection"]
_FIRST = ("fasterrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "retinanet_resnet50_fpn")  # published for an eps of 0


def _of(name: str, make, body: str, most: int, usual: int, backbone_weights: str | None = "IMAGENET1K_V1", num_classes: int = 91):
    """make: of (weights_backbone, progress, trained, trainable layers, num_classes, options) the network."""
    pretrained, usual_classes = backbone_weights and get_model_weights(body)[backbone_weights], num_classes

    def builder(
        *, weights=None, progress: bool = True, num_classes: int | None = None, weights_backbone=pretrained, trainable_backbone_layers: int | None = None,
        **kwargs,
    ):  # fmt: skip
        weights_backbone = None if weights is not None else weights_backbone
        is_trained = weights is not None or weights_backbone is not None
        layers = validate_trainable_layers(is_trained, trainable_backbone_layers, most, usual)
        network = make(weights_backbone, progress, is_trained, layers, usual_classes if num_classes is None else num_classes, kwargs)
        if weights is not None and not isinstance(weights, dict) and name in _FIRST:
            for module in network.modules():
                if isinstance(module, FrozenBatchNorm2d):
                    module.eps = 0.0
        return trained(network, name, weights, progress)

    builder.__name__ = builder.__qualname__ = name
    about = "ImageNet's by default, None for untrained" if backbone_weights else "None for untrained"
    builder.__doc__ = f"""{name}; weights_backbone: of {body} alone, {about}; trainable_backbone_layers: of its last stages, the others stay as they are.

    >>> with facula.device("meta"):  # sizes alone
    ...     net = facula.vision.models.detection.{name}(num_classes=3, weights_backbone=None)
    >>> type(net).__name__
    {make.keywords["kind"].__name__!r}
    """
    return as_before(builder)


def _on_resnet(weights, progress, is_trained, layers, num_classes, options, *, kind):
    norm = FrozenBatchNorm2d if is_trained else nn.BatchNorm2d
    backbone = resnet_fpn_extractor(resnet.resnet50(weights=weights, progress=progress, norm_layer=norm), layers)
    return kind(backbone, num_classes, **options)


def _second(weights, progress, is_trained, layers, num_classes, options, *, kind):
    """With norms everywhere and deeper heads."""
    del is_trained  # norms are trained in any case
    backbone = resnet_fpn_extractor(resnet.resnet50(weights=weights, progress=progress), layers, norm_layer=nn.BatchNorm2d)
    anchors = rcnn.default_anchors()
    head = RPNHead(256, anchors.num_anchors_per_location()[0], conv_depth=2)
    boxes = rcnn.FastRCNNConvFCHead((256, 7, 7), [256] * 4, [1024], norm_layer=nn.BatchNorm2d)
    masks = {"mask_head": rcnn.MaskRCNNHeads(256, [256] * 4, 1, norm_layer=nn.BatchNorm2d)} if kind is MaskRCNN else {}
    return kind(backbone, num_classes, **{"rpn_anchor_generator": anchors, "rpn_head": head, "box_head": boxes, **masks, **options})


def _on_mobilenet(weights, progress, is_trained, layers, num_classes, options, *, kind, small=False):
    norm = FrozenBatchNorm2d if is_trained else nn.BatchNorm2d
    backbone = mobilenet_extractor(mobilenetv3.mobilenet_v3_large(weights=weights, progress=progress, norm_layer=norm), True, layers)
    anchors = AnchorGenerator(((32, 64, 128, 256, 512),) * 3, ((0.5, 1.0, 2.0),) * 3)
    usual = {"rpn_score_thresh": 0.05}
    usual |= {"min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150, "rpn_post_nms_top_n_test": 150} if small else {}
    return kind(backbone, num_classes, **{"rpn_anchor_generator": anchors, **usual, **options})


def _dense(weights, progress, is_trained, layers, num_classes, options, *, kind, planes=256, norm=None):
    body = resnet.resnet50(weights=weights, progress=progress, norm_layer=FrozenBatchNorm2d if is_trained and norm is None else nn.BatchNorm2d)
    backbone = resnet_fpn_extractor(body, layers, returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(planes, 256))
    if norm is None:
        return kind(backbone, num_classes, **options)
    anchors = dense.retinanet_anchors()
    head = dense.RetinaNetHead(256, anchors.num_anchors_per_location()[0], num_classes, norm_layer=norm)
    head.regression_head._loss_type = "giou"
    return kind(backbone, num_classes, **{"anchor_generator": anchors, "head": head, **options})


def _ssd(weights, progress, is_trained, layers, num_classes, options, *, kind):
    del is_trained  # there are no norms
    features = vgg.vgg16(weights=weights, progress=progress).features
    freeze_before(features, [0, *(k for k, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d))][:-1], layers)
    boxes = DefaultBoxGenerator(
        [[2], [2, 3], [2, 3], [2, 3], [2], [2]], scales=[0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05], steps=[8, 16, 32, 64, 100, 300]
    )
    usual = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}  # as those weights were made for
    return kind(ssd.SSDFeatureExtractorVGG(features, False), boxes, _fixed((300, 300), options), num_classes, **{**usual, **options})


def _fixed(size: tuple[int, int], options: dict) -> tuple[int, int]:
    if options.pop("size", None) is not None:
        warnings.warn("The size of the model is already fixed; ignoring the parameter.")
    return size


def _ssdlite(weights, progress, is_trained, layers, num_classes, options, *, kind):
    del is_trained
    size, options = _fixed((320, 320), options), dict(options)
    norm = options.pop("norm_layer", None) or partial(nn.BatchNorm2d, eps=0.001, momentum=0.03)
    backbone = mobilenetv3.mobilenet_v3_large(weights=weights, progress=progress, norm_layer=norm, reduced_tail=weights is None)
    if weights is None:
        ssd._initialise(backbone, ssd._narrow)
    features = backbone.features
    at = strided(features)
    freeze_before(features, at, layers)
    body = ssd.SSDLiteFeatureExtractorMobileNet(features, at[-2], norm)
    boxes = DefaultBoxGenerator([[2, 3] for _ in range(6)], min_ratio=0.2, max_ratio=0.95)
    head = ssd.SSDLiteHead(ssd.retrieve_out_channels(body, size), boxes.num_anchors_per_location(), num_classes, norm)
    usual = {"score_thresh": 0.001, "nms_thresh": 0.55, "detections_per_img": 300, "topk_candidates": 300}
    return kind(body, boxes, size, num_classes, **{"head": head, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, **usual, **options})


fasterrcnn_resnet50_fpn = _of("fasterrcnn_resnet50_fpn", partial(_on_resnet, kind=FasterRCNN), "resnet50", 5, 3)
fasterrcnn_resnet50_fpn_v2 = _of("fasterrcnn_resnet50_fpn_v2", partial(_second, kind=FasterRCNN), "resnet50", 5, 3, None)
fasterrcnn_mobilenet_v3_large_fpn = _of("fasterrcnn_mobilenet_v3_large_fpn", partial(_on_mobilenet, kind=FasterRCNN), "mobilenet_v3_large", 6, 3)
fasterrcnn_mobilenet_v3_large_320_fpn = _of(
    "fasterrcnn_mobilenet_v3_large_320_fpn", partial(_on_mobilenet, kind=FasterRCNN, small=True), "mobilenet_v3_large", 6, 3
)
maskrcnn_resnet50_fpn = _of("maskrcnn_resnet50_fpn", partial(_on_resnet, kind=MaskRCNN), "resnet50", 5, 3)
maskrcnn_resnet50_fpn_v2 = _of("maskrcnn_resnet50_fpn_v2", partial(_second, kind=MaskRCNN), "resnet50", 5, 3, None)
keypointrcnn_resnet50_fpn = _of("keypointrcnn_resnet50_fpn", partial(_on_resnet, kind=KeypointRCNN), "resnet50", 5, 3, num_classes=2)
retinanet_resnet50_fpn = _of("retinanet_resnet50_fpn", partial(_dense, kind=RetinaNet), "resnet50", 5, 3)
retinanet_resnet50_fpn_v2 = _of(
    "retinanet_resnet50_fpn_v2", partial(_dense, kind=RetinaNet, planes=2048, norm=partial(nn.GroupNorm, 32)), "resnet50", 5, 3, None
)
fcos_resnet50_fpn = _of("fcos_resnet50_fpn", partial(_dense, kind=FCOS), "resnet50", 5, 3)
ssd300_vgg16 = _of("ssd300_vgg16", partial(_ssd, kind=ssd.SSD), "vgg16", 5, 4, "IMAGENET1K_FEATURES")
ssdlite320_mobilenet_v3_large = _of("ssdlite320_mobilenet_v3_large", partial(_ssdlite, kind=ssd.SSD), "mobilenet_v3_large", 6, 6)
