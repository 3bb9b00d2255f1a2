"""Networks that give a class to every pixel: FCN, DeepLabV3, LR-ASPP.

Sources: Long et al., arXiv:1411.4038; Chen et al., arXiv:1706.05587; Howard et al., arXiv:1905.02244.
"""

from __future__ import annotations

from collections.abc import Sequence

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from . import mobilenetv3, resnet
from ._build import as_before
from ._utils import IntermediateLayerGetter
from ._weights import KINDS, get_model_weights, trained

__all__ = [
    "FCN", "LRASPP", "DeepLabV3", "deeplabv3_mobilenet_v3_large", "deeplabv3_resnet101", "deeplabv3_resnet50", "fcn_resnet101", "fcn_resnet50",
    "lraspp_mobilenet_v3_large",
]  # fmt: skip
globals().update(KINDS["segmentation"])
__all__ += KINDS["segmentation"]


def _upsampled(x, size) -> Tensor:
    return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class _SimpleSegmentationModel(nn.Module):
    """{"out": scores of every pixel, "aux": those of the classifier on the way}, in the size of the pictures."""

    def __init__(self, backbone: nn.Module, classifier: nn.Module, aux_classifier: nn.Module | None = None) -> None:
        super().__init__()
        self.backbone, self.classifier, self.aux_classifier = backbone, classifier, aux_classifier

    def forward(self, x) -> dict[str, Tensor]:
        features = self.backbone(x)
        out = {"out": _upsampled(self.classifier(features["out"]), x.shape[-2:])}
        if self.aux_classifier is not None:
            out["aux"] = _upsampled(self.aux_classifier(features["aux"]), x.shape[-2:])
        return out


class FCN(_SimpleSegmentationModel):
    """backbone: gives "out", and "aux" where there is an aux_classifier.

    >>> backbone = facula.vision.models._utils.IntermediateLayerGetter(facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 2)), {"0": "out"})
    >>> facula.vision.models.segmentation.FCN(backbone, facula.nn.Conv2d(4, 5, 1))(facula.zeros(1, 3, 9, 9))["out"].shape
    torch.Size([1, 5, 9, 9])
    """


class DeepLabV3(_SimpleSegmentationModel):
    """backbone: gives "out", and "aux" where there is an aux_classifier.

    >>> backbone = facula.vision.models._utils.IntermediateLayerGetter(facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 2)), {"0": "out"})
    >>> facula.vision.models.segmentation.DeepLabV3(backbone, facula.nn.Conv2d(4, 5, 1))(facula.zeros(1, 3, 9, 9))["out"].shape
    torch.Size([1, 5, 9, 9])
    """


def _normed(planes: int, out: int, kernel: int = 1, dilation: int = 1) -> list[nn.Module]:
    conv = nn.Conv2d(planes, out, kernel, padding=dilation * (kernel // 2), dilation=dilation, bias=False)
    return [conv, nn.BatchNorm2d(out), nn.ReLU()]


class FCNHead(nn.Sequential):
    """A 3x3 convolution to a quarter of the planes, then scores."""

    def __init__(self, in_channels: int, channels: int) -> None:
        super().__init__(*_normed(in_channels, in_channels // 4, 3), nn.Dropout(0.1), nn.Conv2d(in_channels // 4, channels, 1))


class ASPPConv(nn.Sequential):
    """A dilated 3x3 convolution."""

    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        super().__init__(*_normed(in_channels, out_channels, 3, dilation))


class ASPPPooling(nn.Sequential):
    """The mean of each plane, through a 1x1 convolution, everywhere."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(nn.AdaptiveAvgPool2d(1), *_normed(in_channels, out_channels))

    def forward(self, x) -> Tensor:
        return _upsampled(super().forward(x), x.shape[-2:])


class ASPP(nn.Module):
    """Convolutions of several dilations side by side, and one over them all."""

    def __init__(self, in_channels: int, atrous_rates: Sequence[int], out_channels: int = 256) -> None:
        super().__init__()
        dilated = (ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates)
        self.convs = nn.ModuleList([nn.Sequential(*_normed(in_channels, out_channels)), *dilated, ASPPPooling(in_channels, out_channels)])
        self.project = nn.Sequential(*_normed(len(self.convs) * out_channels, out_channels), nn.Dropout(0.5))

    def forward(self, x) -> Tensor:
        return self.project(facula.cat([conv(x) for conv in self.convs], dim=1))


class DeepLabHead(nn.Sequential):
    """ASPP, a 3x3 convolution, then scores."""

    def __init__(self, in_channels: int, num_classes: int, atrous_rates: Sequence[int] = (12, 24, 36)) -> None:
        super().__init__(ASPP(in_channels, atrous_rates), *_normed(256, 256, 3), nn.Conv2d(256, num_classes, 1))


class LRASPPHead(nn.Module):
    """Scores of coarse features, scaled by what their means say, plus scores of fine ones."""

    def __init__(self, low_channels: int, high_channels: int, num_classes: int, inter_channels: int) -> None:
        super().__init__()
        conv = nn.Conv2d(high_channels, inter_channels, 1, bias=False)
        self.cbr = nn.Sequential(conv, nn.BatchNorm2d(inter_channels), nn.ReLU(inplace=True))
        self.scale = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.Sigmoid())
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input: dict[str, Tensor]) -> Tensor:
        low, high = input["low"], input["high"]
        x = _upsampled(self.cbr(high) * self.scale(high), low.shape[-2:])
        return self.low_classifier(low) + self.high_classifier(x)


class LRASPP(nn.Module):
    """backbone: gives "low" and "high", of low_channels and high_channels planes.

    >>> parts = facula.nn.Sequential(facula.nn.Conv2d(3, 4, 3, 2), facula.nn.Conv2d(4, 8, 3, 2))
    >>> backbone = facula.vision.models._utils.IntermediateLayerGetter(parts, {"0": "low", "1": "high"})
    >>> facula.vision.models.segmentation.LRASPP(backbone, 4, 8, 5).eval()(facula.zeros(1, 3, 9, 9))["out"].shape
    torch.Size([1, 5, 9, 9])
    """

    def __init__(self, backbone: nn.Module, low_channels: int, high_channels: int, num_classes: int, inter_channels: int = 128) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input) -> dict[str, Tensor]:
        return {"out": _upsampled(self.classifier(self.backbone(input)), input.shape[-2:])}


def _on_resnet(kind, head, backbone, num_classes: int, aux: bool):
    layers = {"layer4": "out", **({"layer3": "aux"} if aux else {})}
    body = IntermediateLayerGetter(backbone, layers)
    second = FCNHead(1024, num_classes) if aux else None
    return kind(body, head(2048, num_classes), second)


def strided(features) -> list[int]:
    """Where a MobileNet's resolution changes, with its first and last layer."""
    return [0, *(i for i, part in enumerate(features) if getattr(part, "_is_cn", False)), len(features) - 1]


def _on_mobilenet(kind, head, backbone, num_classes: int, aux: bool):
    features = backbone.features
    at = strided(features)
    last, fourth = at[-1], at[-4]
    planes = lambda k: features[k].out_channels
    if kind is LRASPP:
        body = IntermediateLayerGetter(features, {str(fourth): "low", str(last): "high"})
        return LRASPP(body, planes(fourth), planes(last), num_classes)
    body = IntermediateLayerGetter(features, {str(last): "out", **({str(fourth): "aux"} if aux else {})})
    second = FCNHead(planes(fourth), num_classes) if aux else None
    return kind(body, head(planes(last), num_classes), second)


def _of(name: str, kind, head, body: str):
    mobile = body.startswith("mobilenet")
    wide = {"dilated": True} if mobile else {"replace_stride_with_dilation": [False, True, True]}

    pretrained = get_model_weights(body).IMAGENET1K_V1

    def builder(*, weights=None, progress: bool = True, num_classes: int = 21, aux_loss: bool | None = None, weights_backbone=pretrained, **kwargs):
        if kind is LRASPP and aux_loss:
            raise NotImplementedError(f"{name}: aux_loss={aux_loss!r}, and LR-ASPP has no second classifier. Leave it out.")
        weights_backbone = None if weights is not None else weights_backbone
        backbone = getattr(mobilenetv3 if mobile else resnet, body)(weights=weights_backbone, progress=progress, **wide)
        aux = weights is not None and kind is not LRASPP if aux_loss is None else aux_loss
        made = (_on_mobilenet if mobile else _on_resnet)(kind, head, backbone, num_classes, aux, **kwargs)  # no others: TypeError
        return trained(made, name, weights, progress)

    builder.__name__ = builder.__qualname__ = name
    builder.__doc__ = f"""{name}; weights_backbone: of {body} alone, ImageNet's by default, None for untrained; aux_loss: a second classifier's scores too.

    >>> with facula.device("meta"):  # sizes alone
    ...     facula.vision.models.segmentation.{name}(num_classes=5, weights_backbone=None).eval()(facula.zeros(1, 3, 64, 64))["out"].shape
    torch.Size([1, 5, 64, 64])
    """
    return as_before(builder)


fcn_resnet50 = _of("fcn_resnet50", FCN, FCNHead, "resnet50")
fcn_resnet101 = _of("fcn_resnet101", FCN, FCNHead, "resnet101")
deeplabv3_resnet50 = _of("deeplabv3_resnet50", DeepLabV3, DeepLabHead, "resnet50")
deeplabv3_resnet101 = _of("deeplabv3_resnet101", DeepLabV3, DeepLabHead, "resnet101")
deeplabv3_mobilenet_v3_large = _of("deeplabv3_mobilenet_v3_large", DeepLabV3, DeepLabHead, "mobilenet_v3_large")
lraspp_mobilenet_v3_large = _of("lraspp_mobilenet_v3_large", LRASPP, None, "mobilenet_v3_large")
