"""EfficientNet, and its second version. Sources: Tan and Le, EfficientNet (2019); EfficientNetV2 (2021)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from facula import Tensor, nn

from ..ops import StochasticDepth
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._build import build
from .mobilenetv2 import _initialise, _make_divisible

__all__ = ["EfficientNet", *(f"efficientnet_b{k}" for k in range(8)), "efficientnet_v2_l", "efficientnet_v2_m", "efficientnet_v2_s"]


class _Residual(nn.Module):
    """Convolutions, now and then left out, added to what came where shapes allow."""

    def __init__(self, cnf: _Stage, stochastic_depth_prob: float, layers: list[nn.Module]) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError(f"illegal stride value: {cnf.stride}, 1 or 2 expected")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input) -> Tensor:
        return self.stochastic_depth(self.block(input)) + input if self.use_res_connect else self.block(input)


class MBConv(_Residual):
    """1x1 up, depthwise, squeeze and excitation, 1x1 down without activation."""

    def __init__(self, cnf: MBConvConfig, stochastic_depth_prob: float, norm_layer, se_layer=SqueezeExcitation) -> None:
        normed = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        planes, wide = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        layers: list[nn.Module] = [normed(planes, wide, kernel_size=1)] if wide != planes else []
        layers.append(normed(wide, wide, kernel_size=cnf.kernel, stride=cnf.stride, groups=wide))
        layers.append(se_layer(wide, max(1, planes // 4), activation=partial(nn.SiLU, inplace=True)))
        layers.append(normed(wide, cnf.out_channels, kernel_size=1, activation_layer=None))
        super().__init__(cnf, stochastic_depth_prob, layers)


class FusedMBConv(_Residual):
    """The first two of MBConv as one convolution, and no squeeze and excitation."""

    def __init__(self, cnf: FusedMBConvConfig, stochastic_depth_prob: float, norm_layer) -> None:
        normed = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        planes, wide = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        first = partial(normed, planes, kernel_size=cnf.kernel, stride=cnf.stride)
        layers = [first(wide), normed(wide, cnf.out_channels, kernel_size=1, activation_layer=None)] if wide != planes else [first(cnf.out_channels)]
        super().__init__(cnf, stochastic_depth_prob, layers)


@dataclass
class _Stage:
    """num_layers blocks; the first has the stride and takes input_channels."""

    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Callable[..., nn.Module]

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: int | None = None) -> int:
        """That many planes times width_mult, to a multiple of 8."""
        return _make_divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_Stage):
    """A stage of MBConv, its planes times width_mult and its layers times depth_mult."""

    def __init__(
        self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, num_layers: int, width_mult: float = 1.0,
        depth_mult: float = 1.0, block: Callable[..., nn.Module] | None = None,
    ) -> None:  # fmt: skip
        planes = [self.adjust_channels(n, width_mult) for n in (input_channels, out_channels)]
        super().__init__(expand_ratio, kernel, stride, *planes, self.adjust_depth(num_layers, depth_mult), block or MBConv)

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """That many layers times depth_mult, rounded up."""
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_Stage):
    """A stage of FusedMBConv."""

    def __init__(
        self, expand_ratio: float, kernel: int, stride: int, input_channels: int, out_channels: int, num_layers: int, block: Callable[..., nn.Module] | None = None
    ) -> None:
        super().__init__(expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block or FusedMBConv)


class EfficientNet(nn.Module):
    """input: (N, 3, H, W). inverted_residual_setting: the stages; last_channel: planes before the scores, 4 times the last stage's if None.

    Raises ValueError for no setting, TypeError for one that is not of MBConvConfigs and FusedMBConvConfigs.

    >>> stages = [facula.vision.models.efficientnet.MBConvConfig(4, 3, 2, 8, 16, 2)]
    >>> facula.vision.models.EfficientNet(stages, dropout=0.2, num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, inverted_residual_setting: Sequence[MBConvConfig | FusedMBConvConfig], dropout: float, stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000, norm_layer=None, last_channel: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        setting, norm = inverted_residual_setting, norm_layer or nn.BatchNorm2d
        if not setting:
            raise ValueError("EfficientNet: The inverted_residual_setting should not be empty. Give a MBConvConfig for each stage.")
        if not (isinstance(setting, Sequence) and all(isinstance(s, _Stage) for s in setting)):
            raise TypeError("EfficientNet: The inverted_residual_setting should be List[MBConvConfig].")
        normed = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        features: list[nn.Module] = [normed(3, setting[0].input_channels, kernel_size=3, stride=2)]
        blocks, depth = sum(stage.num_layers for stage in setting), 0
        for stage in setting:
            others = _Stage(stage.expand_ratio, stage.kernel, 1, stage.out_channels, stage.out_channels, stage.num_layers, stage.block)
            places = range(depth, depth := depth + stage.num_layers)
            features.append(nn.Sequential(*(stage.block(others if n else stage, stochastic_depth_prob * k / blocks, norm) for n, k in enumerate(places))))
        planes = setting[-1].out_channels
        last = 4 * planes if last_channel is None else last_channel
        features.append(normed(planes, last, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(last, num_classes))
        _initialise(self, lambda layer: nn.init.uniform_(layer.weight, -1 / math.sqrt(layer.out_features), 1 / math.sqrt(layer.out_features)))

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# Table 1 of the first paper: expansion, kernel, stride, planes before and after, layers
_FIRST = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3), (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1)]
# Table 4 of the second: those of FusedMBConv, those of MBConv
_SECOND = {
    "s": (
        [(1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4)],
        [(4, 3, 2, 64, 128, 6), (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)],
    ),
    "m": (
        [(1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5)],
        [(4, 3, 2, 80, 160, 7), (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18), (6, 3, 1, 304, 512, 5)],
    ),
    "l": (
        [(1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7)],
        [(4, 3, 2, 96, 192, 10), (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25), (6, 3, 1, 384, 640, 7)],
    ),
}


def _of(name: str, stages: list, dropout: float, **options):
    return build(EfficientNet, name, {"inverted_residual_setting": stages, "dropout": dropout, **options}, f"{name}, untrained; arguments go to EfficientNet.")


def _b(k: int, width: float, depth: float, dropout: float):
    norm = {"norm_layer": partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)} if k >= 5 else {}
    return _of(f"efficientnet_b{k}", [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in _FIRST], dropout, **norm)


def _v2(size: str, dropout: float):
    fused, others = _SECOND[size]
    stages = [*(FusedMBConvConfig(*row) for row in fused), *(MBConvConfig(*row) for row in others)]
    return _of(f"efficientnet_v2_{size}", stages, dropout, last_channel=1280, norm_layer=partial(nn.BatchNorm2d, eps=1e-3))


efficientnet_b0 = _b(0, 1.0, 1.0, 0.2)
efficientnet_b1 = _b(1, 1.0, 1.1, 0.2)
efficientnet_b2 = _b(2, 1.1, 1.2, 0.3)
efficientnet_b3 = _b(3, 1.2, 1.4, 0.3)
efficientnet_b4 = _b(4, 1.4, 1.8, 0.4)
efficientnet_b5 = _b(5, 1.6, 2.2, 0.4)
efficientnet_b6 = _b(6, 1.8, 2.6, 0.5)
efficientnet_b7 = _b(7, 2.0, 3.1, 0.5)
efficientnet_v2_s = _v2("s", 0.2)
efficientnet_v2_m = _v2("m", 0.3)
efficientnet_v2_l = _v2("l", 0.4)
