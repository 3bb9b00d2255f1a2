"""SqueezeNet. Source: Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters (2016)."""

from __future__ import annotations

import facula
from facula import nn

from ._build import build

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]


class Fire(nn.Module):
    """A 1x1 squeeze, then 1x1 and 3x3 expansions side by side."""

    def __init__(self, inplanes: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(inplanes, squeeze, 1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze, expand, 1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze, expand, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x) -> facula.Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        wide = [self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))]
        return facula.cat(wide, 1)


def _pool() -> nn.MaxPool2d:
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)


def _features(version: str) -> nn.Sequential:
    if version == "1_0":
        layers = [nn.Conv2d(3, 96, 7, stride=2), nn.ReLU(inplace=True), _pool()]
        layers += [Fire(96, 16, 64), Fire(128, 16, 64), Fire(128, 32, 128), _pool(), Fire(256, 32, 128)]
        layers += [Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), _pool(), Fire(512, 64, 256)]
    elif version == "1_1":
        layers = [nn.Conv2d(3, 64, 3, stride=2), nn.ReLU(inplace=True), _pool()]
        layers += [Fire(64, 16, 64), Fire(128, 16, 64), _pool(), Fire(128, 32, 128), Fire(256, 32, 128), _pool()]
        layers += [Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256)]
    else:
        raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
    return nn.Sequential(*layers)


class SqueezeNet(nn.Module):
    """input: (N, 3, H, W), H and W at least 21 (1_0) or 17 (1_1).

    >>> facula.vision.models.SqueezeNet("1_1", num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = _features(version)
        last = nn.Conv2d(512, num_classes, 1)
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout), last, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                nn.init.constant_(module.bias, 0)

    def forward(self, x) -> facula.Tensor:
        return self.classifier(self.features(x)).flatten(1)


squeezenet1_0 = build(SqueezeNet, "squeezenet1_0", {"version": "1_0"}, "SqueezeNet 1.0, untrained.")
squeezenet1_1 = build(
    SqueezeNet, "squeezenet1_1", {"version": "1_1"}, "SqueezeNet 1.1, untrained: a third of the work."
)
