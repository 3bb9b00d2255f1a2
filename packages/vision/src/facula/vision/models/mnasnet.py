"""MNASNet, B1. Source: Tan et al., MnasNet: Platform-Aware Neural Architecture Search for Mobile (2019)."""

from __future__ import annotations

from facula import Tensor, nn

from ._build import build
from .mobilenetv2 import _make_divisible

__all__ = ["MNASNet", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"]

_MOMENTUM = 1 - 0.9997  # the paper's 0.9997 is what is kept; here it is what is new
# Figure 7 of the paper: planes, kernel, stride of the first, expansion, blocks
_STACKS = [(24, 3, 2, 3, 3), (40, 5, 2, 3, 3), (80, 5, 2, 6, 3), (96, 3, 1, 6, 2), (192, 5, 2, 6, 4), (320, 3, 1, 6, 1)]


def _normed(planes: int, out: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True) -> list[nn.Module]:
    conv = nn.Conv2d(planes, out, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(out, momentum=_MOMENTUM), *([nn.ReLU(inplace=True)] if active else [])]


class _InvertedResidual(nn.Module):
    """1x1 up, depthwise, 1x1 down without activation, plus the input where shapes allow."""

    def __init__(self, planes: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = planes * expansion
        self.apply_residual = planes == out and stride == 1
        self.layers = nn.Sequential(*_normed(planes, wide, 1), *_normed(wide, wide, kernel, stride, wide), *_normed(wide, out, 1, active=False))

    def forward(self, input) -> Tensor:
        return self.layers(input) + input if self.apply_residual else self.layers(input)


class MNASNet(nn.Module):
    """input: (N, 3, H, W). alpha: the planes of every layer but the last, as a multiple.

    Raises ValueError where alpha is not positive.

    >>> facula.vision.models.MNASNet(0.5, num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"MNASNet: alpha should be greater than 0.0 instead of {alpha}.")
        self.alpha, self.num_classes = alpha, num_classes
        first, planes = (_make_divisible(n * alpha, 8) for n in (32, 16))
        layers = [*_normed(3, first, 3, stride=2), *_normed(first, first, 3, groups=first), *_normed(first, planes, 1, active=False)]
        for n, kernel, stride, expansion, blocks in _STACKS:
            out = _make_divisible(n * alpha, 8)
            others = (_InvertedResidual(out, out, kernel, 1, expansion) for _ in range(blocks - 1))
            layers.append(nn.Sequential(_InvertedResidual(planes, out, kernel, stride, expansion), *others))
            planes = out
        self.layers = nn.Sequential(*layers, *_normed(planes, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.Linear):
                nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(module.bias)

    def forward(self, x) -> Tensor:
        return self.classifier(self.layers(x).mean([2, 3]))


def _of(alpha: float):
    name = f"mnasnet{alpha}".replace(".", "_")
    return build(MNASNet, name, {"alpha": alpha}, f"{name}, untrained; arguments go to MNASNet.")


mnasnet0_5 = _of(0.5)
mnasnet0_75 = _of(0.75)
mnasnet1_0 = _of(1.0)
mnasnet1_3 = _of(1.3)
