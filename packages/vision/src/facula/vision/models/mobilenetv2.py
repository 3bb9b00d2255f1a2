"""MobileNet V2. Source: Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks (2018)."""

from __future__ import annotations

from collections.abc import Callable

from facula import Tensor, nn

from ..ops.misc import Conv2dNormActivation
from ._build import build

__all__ = ["MobileNetV2", "mobilenet_v2"]

# expansion, planes, blocks, stride of the first block: table 2 of the paper
SETTING = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def _make_divisible(v: float, divisor: int, min_value: int | None = None) -> int:
    """The nearest multiple of divisor, not more than 10 % below v."""
    near = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * v else near


def _narrow(layer: nn.Linear) -> None:
    nn.init.normal_(layer.weight, 0, 0.01)


def _initialise(network: nn.Module, linear: Callable[[nn.Linear], object] = _narrow) -> None:
    """First values as torchvision draws them, module by module; linear: of a linear layer's weight."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            linear(module)
            nn.init.zeros_(module.bias)


class InvertedResidual(nn.Module):
    """1x1 up, depthwise 3x3, 1x1 down without activation, plus x where shapes allow."""

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer=None) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm = norm_layer or nn.BatchNorm2d
        hidden = int(round(inp * expand_ratio))
        activation = {"norm_layer": norm, "activation_layer": nn.ReLU6}
        layers = [Conv2dNormActivation(inp, hidden, kernel_size=1, **activation)] if expand_ratio != 1 else []
        layers += [
            Conv2dNormActivation(hidden, hidden, stride=stride, groups=hidden, **activation),
            nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
            norm(oup),
        ]
        self.stride, self.out_channels = stride, oup
        self.use_res_connect = stride == 1 and inp == oup
        self.conv = nn.Sequential(*layers)
        self._is_cn = stride > 1

    def forward(self, x) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    """input: (N, 3, H, W), H and W at least 32. width_mult: planes; round_nearest: to multiples of that.

    >>> facula.vision.models.MobileNetV2(num_classes=10, width_mult=0.25).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting=None,
        round_nearest: int = 8,
        block=None,
        norm_layer=None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        block, norm = block or InvertedResidual, norm_layer or nn.BatchNorm2d
        setting = inverted_residual_setting or SETTING
        if len(setting) == 0 or len(setting[0]) != 4:
            raise ValueError(f"inverted_residual_setting should be non-empty or a 4-element list, got {setting}")
        activation = {"norm_layer": norm, "activation_layer": nn.ReLU6}
        planes = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        features = [Conv2dNormActivation(3, planes, stride=2, **activation)]
        for expansion, width, blocks, stride in setting:
            out = _make_divisible(width * width_mult, round_nearest)
            for i in range(blocks):
                features.append(block(planes, out, stride if i == 0 else 1, expand_ratio=expansion, norm_layer=norm))
                planes = out
        features.append(Conv2dNormActivation(planes, self.last_channel, kernel_size=1, **activation))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        _initialise(self)

    def forward(self, x) -> Tensor:
        return self.classifier(nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1))


mobilenet_v2 = build(MobileNetV2, "mobilenet_v2", {}, "MobileNet V2, untrained; arguments go to MobileNetV2.")
