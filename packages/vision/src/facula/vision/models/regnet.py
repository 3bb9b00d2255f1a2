"""RegNet. Source: Radosavovic et al., Designing Network Design Spaces (2020)."""

from __future__ import annotations

import math
from functools import partial
from itertools import groupby

from facula import Tensor, nn

from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._build import build
from .mobilenetv2 import _make_divisible

__all__ = [
    "RegNet", "regnet_x_16gf", "regnet_x_1_6gf", "regnet_x_32gf", "regnet_x_3_2gf", "regnet_x_400mf", "regnet_x_800mf", "regnet_x_8gf",
    "regnet_y_128gf", "regnet_y_16gf", "regnet_y_1_6gf", "regnet_y_32gf", "regnet_y_3_2gf", "regnet_y_400mf", "regnet_y_800mf", "regnet_y_8gf",
]  # fmt: skip


class SimpleStemIN(Conv2dNormActivation):
    """A 3x3 convolution of stride 2."""

    def __init__(self, width_in: int, width_out: int, norm_layer, activation_layer) -> None:
        super().__init__(width_in, width_out, stride=2, norm_layer=norm_layer, activation_layer=activation_layer)


class BottleneckTransform(nn.Sequential):
    """1x1, 3x3 in groups, squeeze and excitation where se_ratio says so, 1x1 without activation."""

    def __init__(self, width_in: int, width_out: int, stride: int, norm_layer, activation_layer, group_width: int, bottleneck_multiplier: float, se_ratio) -> None:
        super().__init__()
        wide = int(round(width_out * bottleneck_multiplier))
        normed = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=activation_layer)
        self.a = normed(width_in, wide, kernel_size=1)
        self.b = normed(wide, wide, stride=stride, groups=wide // group_width)
        if se_ratio:
            self.se = SqueezeExcitation(wide, int(round(se_ratio * width_in)), activation=activation_layer)
        self.c = normed(wide, width_out, kernel_size=1, activation_layer=None)


class ResBottleneckBlock(nn.Module):
    """activation(x + f(x)), x by a 1x1 convolution where shapes differ."""

    def __init__(
        self, width_in: int, width_out: int, stride: int, norm_layer, activation_layer, group_width: int = 1, bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(width_in, width_out, kernel_size=1, stride=stride, norm_layer=norm_layer, activation_layer=None)
        self.f = BottleneckTransform(width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio)
        self.activation = activation_layer(inplace=True)

    def forward(self, x) -> Tensor:
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class AnyStage(nn.Sequential):
    """Blocks of one width, the first of them with the stride."""

    def __init__(
        self, width_in: int, width_out: int, stride: int, depth: int, block_constructor, norm_layer, activation_layer, group_width: int,
        bottleneck_multiplier: float, se_ratio: float | None = None, stage_index: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        for k in range(depth):
            sizes = (width_out if k else width_in, width_out, 1 if k else stride)
            block = block_constructor(*sizes, norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio)
            self.add_module(f"block{stage_index}-{k}", block)


class BlockParams:
    """What the four stages look like: a list for each of depths, widths, widths of groups, bottlenecks and strides."""

    def __init__(self, depths, widths, group_widths, bottleneck_multipliers, strides, se_ratio: float | None = None) -> None:
        self.depths, self.widths, self.group_widths = depths, widths, group_widths
        self.bottleneck_multipliers, self.strides, self.se_ratio = bottleneck_multipliers, strides, se_ratio

    @classmethod
    def from_init_params(
        cls, depth: int, w_0: int, w_a: float, w_m: float, group_width: int, bottleneck_multiplier: float = 1.0, se_ratio: float | None = None, **kwargs
    ) -> BlockParams:
        """Equations 2 to 4 of the paper: widths grow in a line, then go to powers of w_m times w_0, then to multiples of 8.

        Raises ValueError for a falling line, a w_m of at most 1, or a w_0 that is no multiple of 8. kwargs: those of RegNet, left alone.
        """
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError(f"Invalid RegNet settings: w_a={w_a}, w_0={w_0}, w_m={w_m}. Give w_a >= 0, a w_0 that 8 divides and w_m > 1.")
        steps = [round(math.log((k * w_a + w_0) / w_0) / math.log(w_m)) for k in range(depth)]
        blocks = [round(w_0 * w_m**step / 8) * 8 for step in steps]
        depths, widths, groups = [], [], []
        for width, same in groupby(blocks):
            wide = int(width * bottleneck_multiplier)
            group = min(group_width, wide)
            depths.append(len(list(same)))
            widths.append(int(_make_divisible(wide, group) / bottleneck_multiplier))
            groups.append(group)
        return cls(depths, widths, groups, [bottleneck_multiplier] * len(depths), [2] * len(depths), se_ratio)


class RegNet(nn.Module):
    """input: (N, 3, H, W), H and W at least 32. block_params: the stages, of BlockParams.from_init_params.

    >>> stages = facula.vision.models.regnet.BlockParams.from_init_params(3, 8, 8.0, 2.0, 8)
    >>> facula.vision.models.RegNet(stages, num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, block_params: BlockParams, num_classes: int = 1000, stem_width: int = 32, stem_type=None, block_type=None, norm_layer=None, activation=None
    ) -> None:
        super().__init__()
        norm, active = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        p = block_params
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm, active)
        self.trunk_output = nn.Sequential()
        before = stem_width
        stages = zip(p.widths, p.strides, p.depths, p.group_widths, p.bottleneck_multipliers)
        for k, (width, stride, depth, group, multiplier) in enumerate(stages, 1):
            stage = AnyStage(before, width, stride, depth, block_type or ResBottleneckBlock, norm, active, group, multiplier, p.se_ratio, k)
            self.trunk_output.add_module(f"block{k}", stage)
            before = width
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(before, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                fan_out = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
                nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / fan_out))
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x) -> Tensor:
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(1))


def _of(name: str, depth: int, w_0: int, w_a: float, w_m: float, group_width: int):
    def make(norm_layer=None, **options):
        se = {"se_ratio": 0.25} if "_y_" in name else {}  # Y is X with squeeze and excitation
        norm = norm_layer or partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1)
        return RegNet(BlockParams.from_init_params(depth, w_0, w_a, w_m, group_width, **se, **options), norm_layer=norm, **options)

    return build(make, name, {}, f"{name}, untrained; arguments go to RegNet.")


# Tables 5 and 6 of the paper's appendix
regnet_y_400mf = _of("regnet_y_400mf", 16, 48, 27.89, 2.09, 8)
regnet_y_800mf = _of("regnet_y_800mf", 14, 56, 38.84, 2.4, 16)
regnet_y_1_6gf = _of("regnet_y_1_6gf", 27, 48, 20.71, 2.65, 24)
regnet_y_3_2gf = _of("regnet_y_3_2gf", 21, 80, 42.63, 2.66, 24)
regnet_y_8gf = _of("regnet_y_8gf", 17, 192, 76.82, 2.19, 56)
regnet_y_16gf = _of("regnet_y_16gf", 18, 200, 106.23, 2.48, 112)
regnet_y_32gf = _of("regnet_y_32gf", 20, 232, 115.89, 2.53, 232)
regnet_y_128gf = _of("regnet_y_128gf", 27, 456, 160.83, 2.52, 264)
regnet_x_400mf = _of("regnet_x_400mf", 22, 24, 24.48, 2.54, 16)
regnet_x_800mf = _of("regnet_x_800mf", 16, 56, 35.73, 2.28, 16)
regnet_x_1_6gf = _of("regnet_x_1_6gf", 18, 80, 34.01, 2.25, 24)
regnet_x_3_2gf = _of("regnet_x_3_2gf", 25, 88, 26.31, 2.25, 48)
regnet_x_8gf = _of("regnet_x_8gf", 23, 80, 49.56, 2.88, 120)
regnet_x_16gf = _of("regnet_x_16gf", 22, 216, 55.59, 2.1, 128)
regnet_x_32gf = _of("regnet_x_32gf", 23, 320, 69.86, 2.0, 168)
