"""ConvNeXt. Source: Liu et al., A ConvNet for the 2020s (2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ..ops import StochasticDepth
from ..ops.misc import Conv2dNormActivation, Permute
from ._build import build

__all__ = ["ConvNeXt", "convnext_base", "convnext_large", "convnext_small", "convnext_tiny"]


class LayerNorm2d(nn.LayerNorm):
    """Layer normalisation of the planes at each place, (N, C, H, W)."""

    def forward(self, input) -> Tensor:
        normed = F.layer_norm(input.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return normed.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A depthwise 7x7 convolution and a perceptron at each place, scaled by plane, now and then left out, added to what came."""

    def __init__(self, dim: int, layer_scale: float, stochastic_depth_prob: float, norm_layer=None) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, 7, padding=3, groups=dim),
            Permute([0, 2, 3, 1]),
            (norm_layer or partial(nn.LayerNorm, eps=1e-6))(dim),
            nn.Linear(dim, 4 * dim),
            nn.GELU(),
            nn.Linear(4 * dim, dim),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(facula.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input) -> Tensor:
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


@dataclass
class CNBlockConfig:
    """One stage: its planes, those after it (None for the last stage), and how many blocks."""

    input_channels: int
    out_channels: int | None
    num_layers: int


class ConvNeXt(nn.Module):
    """input: (N, 3, H, W), H and W at least 32. block_setting: a CNBlockConfig for each stage; stochastic_depth_prob: of the last block.

    Raises ValueError for no setting, TypeError for one that is not of CNBlockConfigs.

    >>> setting = [facula.vision.models.convnext.CNBlockConfig(8, 16, 1), facula.vision.models.convnext.CNBlockConfig(16, None, 1)]
    >>> facula.vision.models.ConvNeXt(setting, num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, block_setting: list[CNBlockConfig], stochastic_depth_prob: float = 0.0, layer_scale: float = 1e-6, num_classes: int = 1000, block=None,
        norm_layer=None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not block_setting:
            raise ValueError("ConvNeXt: The block_setting should not be empty. Give a CNBlockConfig for each stage.")
        if not (isinstance(block_setting, Sequence) and all(isinstance(s, CNBlockConfig) for s in block_setting)):
            raise TypeError("ConvNeXt: The block_setting should be List[CNBlockConfig].")
        block, norm = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        features: list[nn.Module] = [
            Conv2dNormActivation(3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0, norm_layer=norm, activation_layer=None, bias=True)
        ]
        deepest = sum(stage.num_layers for stage in block_setting) - 1.0
        depth = 0
        for stage in block_setting:
            places = range(depth, depth := depth + stage.num_layers)
            features.append(nn.Sequential(*(block(stage.input_channels, layer_scale, stochastic_depth_prob * k / deepest) for k in places)))
            if stage.out_channels is not None:
                features.append(nn.Sequential(norm(stage.input_channels), nn.Conv2d(stage.input_channels, stage.out_channels, 2, stride=2)))
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        planes = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm(planes), nn.Flatten(1), nn.Linear(planes, num_classes))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)))


def _of(name: str, planes: int, third: int, left_out: float):
    stages = [CNBlockConfig(planes, 2 * planes, 3), CNBlockConfig(2 * planes, 4 * planes, 3), CNBlockConfig(4 * planes, 8 * planes, third)]
    options = {"block_setting": [*stages, CNBlockConfig(8 * planes, None, 3)], "stochastic_depth_prob": left_out}
    return build(ConvNeXt, name, options, f"{name}, untrained; arguments go to ConvNeXt.")


convnext_tiny = _of("convnext_tiny", 96, 9, 0.1)
convnext_small = _of("convnext_small", 96, 27, 0.4)
convnext_base = _of("convnext_base", 128, 27, 0.5)
convnext_large = _of("convnext_large", 192, 27, 0.5)
