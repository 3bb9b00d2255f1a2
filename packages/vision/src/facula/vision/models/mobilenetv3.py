"""MobileNet V3. Source: Howard et al., Searching for MobileNetV3 (2019)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from facula import Tensor, nn

from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._build import build
from .mobilenetv2 import _initialise, _make_divisible

__all__ = ["MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"]

# Tables 1 and 2 of the paper: input planes, kernel, expanded planes, planes, squeeze and excitation, activation, stride
LARGE = [
    (16, 3, 16, 16, False, "RE", 1), (16, 3, 64, 24, False, "RE", 2), (24, 3, 72, 24, False, "RE", 1),
    (24, 5, 72, 40, True, "RE", 2), (40, 5, 120, 40, True, "RE", 1), (40, 5, 120, 40, True, "RE", 1),
    (40, 3, 240, 80, False, "HS", 2), (80, 3, 200, 80, False, "HS", 1), (80, 3, 184, 80, False, "HS", 1),
    (80, 3, 184, 80, False, "HS", 1), (80, 3, 480, 112, True, "HS", 1), (112, 3, 672, 112, True, "HS", 1),
    (112, 5, 672, 160, True, "HS", 2), (160, 5, 960, 160, True, "HS", 1), (160, 5, 960, 160, True, "HS", 1),
]  # fmt: skip
SMALL = [
    (16, 3, 16, 16, True, "RE", 2), (16, 3, 72, 24, False, "RE", 2), (24, 3, 88, 24, False, "RE", 1),
    (24, 5, 96, 40, True, "HS", 2), (40, 5, 240, 40, True, "HS", 1), (40, 5, 240, 40, True, "HS", 1),
    (40, 5, 120, 48, True, "HS", 1), (48, 5, 144, 48, True, "HS", 1),
    (48, 5, 288, 96, True, "HS", 2), (96, 5, 576, 96, True, "HS", 1), (96, 5, 576, 96, True, "HS", 1),
]  # fmt: skip
_squeeze = partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)
_TAIL = 3  # the last blocks: what reduced_tail halves and dilated widens


class InvertedResidualConfig:
    """One line of the table, its planes times width_mult."""

    def __init__(
        self,
        input_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        dilation: int,
        width_mult: float,
    ) -> None:
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se = use_se
        self.use_hs = activation == "HS"
        self.stride = stride
        self.dilation = dilation

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """That many planes times width_mult, to a multiple of 8."""
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """1x1 up, depthwise, squeeze and excitation, 1x1 down without activation, plus the input where shapes allow."""

    def __init__(self, cnf: InvertedResidualConfig, norm_layer, se_layer=_squeeze) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise ValueError(f"illegal stride value: {cnf.stride}, 1 or 2 expected")
        wide = cnf.expanded_channels
        normed = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.Hardswish if cnf.use_hs else nn.ReLU)
        layers: list[nn.Module] = [normed(cnf.input_channels, wide, kernel_size=1)] if wide != cnf.input_channels else []
        stride = 1 if cnf.dilation > 1 else cnf.stride
        layers.append(normed(wide, wide, kernel_size=cnf.kernel, stride=stride, dilation=cnf.dilation, groups=wide))
        if cnf.use_se:
            layers.append(se_layer(wide, _make_divisible(wide // 4, 8)))
        layers.append(normed(wide, cnf.out_channels, kernel_size=1, activation_layer=None))
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1

    def forward(self, input) -> Tensor:
        return self.block(input) + input if self.use_res_connect else self.block(input)


class MobileNetV3(nn.Module):
    """input: (N, 3, H, W). inverted_residual_setting: an InvertedResidualConfig for each block; last_channel: planes before the scores.

    Raises ValueError for no setting, TypeError for one that is not of InvertedResidualConfigs.

    >>> facula.vision.models.mobilenet_v3_small(num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self,
        inverted_residual_setting: list[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block=None,
        norm_layer=None,
        dropout: float = 0.2,
        **kwargs,  # width_mult and its like, which the builders have read
    ) -> None:
        super().__init__()
        setting = inverted_residual_setting
        if not setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not (isinstance(setting, Sequence) and all(isinstance(s, InvertedResidualConfig) for s in setting)):
            raise TypeError("The inverted_residual_setting should be List[InvertedResidualConfig]")
        block, norm = block or InvertedResidual, norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        normed = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.Hardswish)
        last = 6 * setting[-1].out_channels
        features = [normed(3, setting[0].input_channels, kernel_size=3, stride=2)]
        features += [block(cnf, norm) for cnf in setting]
        features.append(normed(setting[-1].out_channels, last, kernel_size=1))
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(last, last_channel), nn.Hardswish(inplace=True), nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes)
        )
        _initialise(self)

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def _build(table: list[tuple], last: int, width_mult: float = 1.0, reduced_tail: bool = False, dilated: bool = False, **kwargs) -> MobileNetV3:
    halved = 2 if reduced_tail else 1
    setting = []
    for i, (inp, kernel, wide, out, se, activation, stride) in enumerate(table):
        at = i - (len(table) - _TAIL)  # 0 for the block that goes to the last resolution
        planes = (inp if at <= 0 else inp // halved, kernel, wide if at <= 0 else wide // halved, out if at < 0 else out // halved)
        setting.append(InvertedResidualConfig(*planes, se, activation, stride, 2 if dilated and at >= 0 else 1, width_mult))
    return MobileNetV3(setting, InvertedResidualConfig.adjust_channels(last // halved, width_mult), **kwargs)


def _of(name: str, table: list[tuple], last: int, number: int):
    doc = f"MobileNet V3 of table {number}, untrained; width_mult, reduced_tail and dilated change the table, other arguments go to MobileNetV3."
    return build(partial(_build, table, last), name, {}, doc, 32)


mobilenet_v3_large = _of("mobilenet_v3_large", LARGE, 1280, 1)
mobilenet_v3_small = _of("mobilenet_v3_small", SMALL, 1024, 2)
