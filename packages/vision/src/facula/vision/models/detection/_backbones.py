"""Networks for classes as the first part of detectors, with a pyramid on their maps."""

from __future__ import annotations

import warnings

from facula import nn

from ...ops.misc import FrozenBatchNorm2d
from ...ops.pyramid import ExtraFPNBlock, FeaturePyramidNetwork, LastLevelMaxPool
from .. import mobilenetv2, mobilenetv3, resnet
from .._utils import IntermediateLayerGetter
from ..segmentation import strided


class BackboneWithFPN(nn.Module):
    """The maps of return_layers, of in_channels_list planes, through a FeaturePyramidNetwork of out_channels."""

    def __init__(
        self, backbone: nn.Module, return_layers: dict[str, str], in_channels_list: list[int], out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None, norm_layer=None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.body = IntermediateLayerGetter(backbone, return_layers)
        self.fpn = FeaturePyramidNetwork(in_channels_list, out_channels, extra_blocks or LastLevelMaxPool(), norm_layer)
        self.out_channels = out_channels

    def forward(self, x) -> dict:
        return self.fpn(self.body(x))


def validate_trainable_layers(is_trained: bool, wanted: int | None, most: int, usual: int) -> int:
    """How many layers are trained: all of an untrained network, else as many as wanted or as usual."""
    if not is_trained:
        if wanted is not None:
            warnings.warn(
                "Changing trainable_backbone_layers has no effect if neither pretrained nor pretrained_backbone have been set to True, "
                f"falling back to trainable_backbone_layers={most} so that all layers are trainable"
            )
        return most
    wanted = usual if wanted is None else wanted
    if not 0 <= wanted <= most:
        raise ValueError(f"Trainable backbone layers should be in the range [0,{most}], got {wanted}")
    return wanted


def resnet_fpn_extractor(
    backbone: resnet.ResNet, trainable_layers: int, returned_layers: list[int] | None = None, extra_blocks: ExtraFPNBlock | None = None, norm_layer=None
) -> BackboneWithFPN:
    if not 0 <= trainable_layers <= 5:
        raise ValueError(f"Trainable layers should be in the range [0,5], got {trainable_layers}")
    returned = returned_layers or [1, 2, 3, 4]
    if min(returned) <= 0 or max(returned) >= 5:
        raise ValueError(f"Each returned layer should be in the range [1,4]. Got {returned}")
    trained = ("layer4", "layer3", "layer2", "layer1", "conv1")[:trainable_layers] + (("bn1",) if trainable_layers == 5 else ())
    for name, parameter in backbone.named_parameters():
        if not name.startswith(trained):
            parameter.requires_grad_(False)
    planes = [backbone.inplanes // 8 * 2 ** (k - 1) for k in returned]
    return BackboneWithFPN(backbone, {f"layer{k}": str(v) for v, k in enumerate(returned)}, planes, 256, extra_blocks, norm_layer)


def freeze_before(features, at: list[int], trainable_layers: int) -> None:
    """All but the last trainable_layers of the stages that begin at these places."""
    if not 0 <= trainable_layers <= len(at):
        raise ValueError(f"Trainable layers should be in the range [0,{len(at)}], got {trainable_layers}")
    for part in features[: at[len(at) - trainable_layers] if trainable_layers else len(features)]:
        for parameter in part.parameters():
            parameter.requires_grad_(False)


def mobilenet_extractor(
    backbone, fpn: bool, trainable_layers: int, returned_layers: list[int] | None = None, extra_blocks: ExtraFPNBlock | None = None, norm_layer=None
) -> nn.Module:
    features = backbone.features
    at = strided(features)
    freeze_before(features, at, trainable_layers)
    if not fpn:
        plain = nn.Sequential(features, nn.Conv2d(features[-1].out_channels, 256, 1))
        plain.out_channels = 256
        return plain
    returned = returned_layers or [len(at) - 2, len(at) - 1]
    if min(returned) < 0 or max(returned) >= len(at):
        raise ValueError(f"Each returned layer should be in the range [0,{len(at) - 1}], got {returned}")
    planes = [features[at[k]].out_channels for k in returned]
    return BackboneWithFPN(features, {str(at[k]): str(v) for v, k in enumerate(returned)}, planes, 256, extra_blocks, norm_layer)


def resnet_fpn_backbone(
    *, backbone_name: str, weights, norm_layer=FrozenBatchNorm2d, trainable_layers: int = 3, returned_layers: list[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> BackboneWithFPN:  # fmt: skip
    """A residual network by its name, under a pyramid of 256 planes; trainable_layers: of its last stages, the others stay as they are."""
    backbone = getattr(resnet, backbone_name)(weights=weights, norm_layer=norm_layer)
    return resnet_fpn_extractor(backbone, trainable_layers, returned_layers, extra_blocks)


def mobilenet_backbone(
    *, backbone_name: str, weights, fpn: bool, norm_layer=FrozenBatchNorm2d, trainable_layers: int = 2, returned_layers: list[int] | None = None,
    extra_blocks: ExtraFPNBlock | None = None,
) -> nn.Module:  # fmt: skip
    """A MobileNet by its name, under a pyramid of 256 planes or a convolution to as many."""
    home = mobilenetv2 if backbone_name == "mobilenet_v2" else mobilenetv3
    backbone = getattr(home, backbone_name)(weights=weights, norm_layer=norm_layer)
    return mobilenet_extractor(backbone, fpn, trainable_layers, returned_layers, extra_blocks)


_resnet_fpn_extractor, _mobilenet_extractor, _validate_trainable_layers = resnet_fpn_extractor, mobilenet_extractor, validate_trainable_layers
