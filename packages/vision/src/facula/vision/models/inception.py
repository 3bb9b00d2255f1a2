"""Inception v3. Source: Szegedy et al., Rethinking the Inception Architecture for Computer Vision (2015)."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ._build import build

__all__ = ["Inception3", "inception_v3"]


class InceptionOutputs(NamedTuple):
    """What a network in training gives: the scores, and those of the classifier halfway (None without it)."""

    logits: Tensor
    aux_logits: Tensor | None


_InceptionOutputs = InceptionOutputs


class BasicConv2d(nn.Module):
    """Convolution, normalisation, ReLU."""

    def __init__(self, in_channels: int, out_channels: int, **kwargs) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x) -> facula.Tensor:
        return F.relu(self.bn(self.conv(x)), inplace=True)


def scaled_as_imagenet(x):
    """Pictures normalised by ImageNet's mean and spread, as if by 0.5 and 0.5."""
    mean, spread = (x.new_tensor(v).view(1, 3, 1, 1) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return x * (spread / 0.5) + (mean - 0.5) / 0.5


def initialise(network, usual: float) -> None:
    """Truncated normal weights of a layer's `stddev`, or the usual one."""
    for module in network.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.trunc_normal_(module.weight, mean=0.0, std=float(getattr(module, "stddev", usual)), a=-2, b=2)
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.constant_(module.weight, 1)
            nn.init.constant_(module.bias, 0)


def wants_weights(name: str, init_weights: bool | None) -> bool:
    """Are weights to be initialised? None is yes, with torchvision's warning."""
    if init_weights is None:
        warnings.warn(
            f"The default weight initialization of {name} will be changed in future releases of torchvision. If you wish to keep the old "
            "behavior, please set init_weights=True.",
            FutureWarning,
            stacklevel=3,
        )
    return init_weights is None or init_weights


class _Block(nn.Module):
    """Branches side by side. `layers`: (name, planes in, planes out, kernel, options)."""

    def __init__(self, conv_block, layers) -> None:
        super().__init__()
        for name, into, out, size, options in layers:
            self.add_module(name, (conv_block or BasicConv2d)(into, out, kernel_size=size, **options))

    def along(self, x, name: str, steps):
        """x through the layers `name` + step, one after another."""
        for step in steps:
            x = getattr(self, f"{name}{step}")(x)
        return x


def _pooled(x):
    return F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)


WIDE, TALL = {"padding": (0, 3)}, {"padding": (3, 0)}


class InceptionA(_Block):
    def __init__(self, in_channels: int, pool_features: int, conv_block=None) -> None:
        n = in_channels
        super().__init__(conv_block, [
            ("branch1x1", n, 64, 1, {}), ("branch5x5_1", n, 48, 1, {}), ("branch5x5_2", 48, 64, 5, {"padding": 2}),
            ("branch3x3dbl_1", n, 64, 1, {}), ("branch3x3dbl_2", 64, 96, 3, {"padding": 1}), ("branch3x3dbl_3", 96, 96, 3, {"padding": 1}),
            ("branch_pool", n, pool_features, 1, {}),
        ])  # fmt: skip

    def forward(self, x) -> facula.Tensor:
        return facula.cat(
            [self.branch1x1(x), self.along(x, "branch5x5_", "12"), self.along(x, "branch3x3dbl_", "123"), self.branch_pool(_pooled(x))], 1
        )


class InceptionB(_Block):
    def __init__(self, in_channels: int, conv_block=None) -> None:
        super().__init__(conv_block, [
            ("branch3x3", in_channels, 384, 3, {"stride": 2}),
            ("branch3x3dbl_1", in_channels, 64, 1, {}), ("branch3x3dbl_2", 64, 96, 3, {"padding": 1}), ("branch3x3dbl_3", 96, 96, 3, {"stride": 2}),
        ])  # fmt: skip

    def forward(self, x) -> facula.Tensor:
        return facula.cat([self.branch3x3(x), self.along(x, "branch3x3dbl_", "123"), F.max_pool2d(x, kernel_size=3, stride=2)], 1)


class InceptionC(_Block):
    def __init__(self, in_channels: int, channels_7x7: int, conv_block=None) -> None:
        n, c = in_channels, channels_7x7
        super().__init__(conv_block, [
            ("branch1x1", n, 192, 1, {}),
            ("branch7x7_1", n, c, 1, {}), ("branch7x7_2", c, c, (1, 7), WIDE), ("branch7x7_3", c, 192, (7, 1), TALL),
            ("branch7x7dbl_1", n, c, 1, {}), ("branch7x7dbl_2", c, c, (7, 1), TALL), ("branch7x7dbl_3", c, c, (1, 7), WIDE),
            ("branch7x7dbl_4", c, c, (7, 1), TALL), ("branch7x7dbl_5", c, 192, (1, 7), WIDE),
            ("branch_pool", n, 192, 1, {}),
        ])  # fmt: skip

    def forward(self, x) -> facula.Tensor:
        return facula.cat(
            [self.branch1x1(x), self.along(x, "branch7x7_", "123"), self.along(x, "branch7x7dbl_", "12345"), self.branch_pool(_pooled(x))], 1
        )


class InceptionD(_Block):
    def __init__(self, in_channels: int, conv_block=None) -> None:
        n = in_channels
        super().__init__(conv_block, [
            ("branch3x3_1", n, 192, 1, {}), ("branch3x3_2", 192, 320, 3, {"stride": 2}),
            ("branch7x7x3_1", n, 192, 1, {}), ("branch7x7x3_2", 192, 192, (1, 7), WIDE), ("branch7x7x3_3", 192, 192, (7, 1), TALL),
            ("branch7x7x3_4", 192, 192, 3, {"stride": 2}),
        ])  # fmt: skip

    def forward(self, x) -> facula.Tensor:
        pooled = F.max_pool2d(x, kernel_size=3, stride=2)
        return facula.cat([self.along(x, "branch3x3_", "12"), self.along(x, "branch7x7x3_", "1234"), pooled], 1)


class InceptionE(_Block):
    def __init__(self, in_channels: int, conv_block=None) -> None:
        n, wide, tall = in_channels, {"padding": (0, 1)}, {"padding": (1, 0)}
        super().__init__(conv_block, [
            ("branch1x1", n, 320, 1, {}),
            ("branch3x3_1", n, 384, 1, {}), ("branch3x3_2a", 384, 384, (1, 3), wide), ("branch3x3_2b", 384, 384, (3, 1), tall),
            ("branch3x3dbl_1", n, 448, 1, {}), ("branch3x3dbl_2", 448, 384, 3, {"padding": 1}),
            ("branch3x3dbl_3a", 384, 384, (1, 3), wide), ("branch3x3dbl_3b", 384, 384, (3, 1), tall),
            ("branch_pool", n, 192, 1, {}),
        ])  # fmt: skip

    def forward(self, x) -> facula.Tensor:
        one, two = self.branch3x3_1(x), self.along(x, "branch3x3dbl_", "12")
        split = [self.branch3x3_2a(one), self.branch3x3_2b(one), self.branch3x3dbl_3a(two), self.branch3x3dbl_3b(two)]
        return facula.cat([self.branch1x1(x), *split, self.branch_pool(_pooled(x))], 1)


class InceptionAux(nn.Module):
    """The classifier halfway."""

    def __init__(self, in_channels: int, num_classes: int, conv_block=None) -> None:
        super().__init__()
        conv_block = conv_block or BasicConv2d
        self.conv0 = conv_block(in_channels, 128, kernel_size=1)
        self.conv1 = conv_block(128, 768, kernel_size=5)
        self.conv1.stddev = 0.01
        self.fc = nn.Linear(768, num_classes)
        self.fc.stddev = 0.001

    def forward(self, x) -> facula.Tensor:
        x = self.conv1(self.conv0(F.avg_pool2d(x, kernel_size=5, stride=3)))
        return self.fc(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


class Inception3(nn.Module):
    """input: (N, 3, H, W), H and W at least 75 (299 in training with the classifier halfway).

    transform_input: pictures come normalised as ImageNet's. In training the result is InceptionOutputs.

    >>> net = facula.vision.models.Inception3(num_classes=10, aux_logits=False, init_weights=False)
    >>> net.eval()(facula.zeros(1, 3, 75, 75)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, inception_blocks: list | None = None,
        init_weights: bool | None = None, dropout: float = 0.5,
    ) -> None:  # fmt: skip
        super().__init__()
        init = wants_weights("inception_v3", init_weights)
        conv, a, b, c, d, e, aux = inception_blocks or [BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux]
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(kernel_size=3, stride=2)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = a(192, pool_features=32), a(256, pool_features=64), a(288, pool_features=64)
        self.Mixed_6a = b(288)
        for name, planes in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
            self.add_module(f"Mixed_6{name}", c(768, channels_7x7=planes))
        self.AuxLogits: nn.Module | None = None
        if aux_logits:
            self.AuxLogits = aux(768, num_classes)
        self.Mixed_7a, self.Mixed_7b, self.Mixed_7c = d(768), e(1280), e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init:
            initialise(self, usual=0.1)

    def forward(self, x) -> facula.Tensor | InceptionOutputs:
        if self.transform_input:
            x = scaled_as_imagenet(x)
        aux = None
        for name, layer in self.named_children():
            if name == "AuxLogits":
                aux = layer(x) if self.training else None
            elif name == "fc":
                x = layer(x.flatten(1))
            else:
                x = layer(x)
        return InceptionOutputs(x, aux) if self.training and self.aux_logits else x


inception_v3 = build(Inception3, "inception_v3", {}, "Inception v3, untrained.", with_weights={"transform_input": True, "init_weights": False})
