"""GoogLeNet (Inception v1). Source: Szegedy et al., Going Deeper with Convolutions (2014)."""

from __future__ import annotations

from typing import NamedTuple

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ._build import build
from .inception import BasicConv2d, initialise, scaled_as_imagenet, wants_weights

__all__ = ["GoogLeNet", "googlenet"]

# name: planes in, of 1x1, 3x3 (reduced, out), 5x5 (reduced, out), after pooling
SHAPES = {
    "3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64), "4b": (512, 160, 112, 224, 24, 64, 64), "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64), "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128), "5b": (832, 384, 192, 384, 48, 128, 128),
}  # fmt: skip


class GoogLeNetOutputs(NamedTuple):
    """What a network in training gives: the scores, and those of the classifiers on the way (None without them)."""

    logits: Tensor
    aux_logits2: Tensor | None
    aux_logits1: Tensor | None


_GoogLeNetOutputs = GoogLeNetOutputs


class Inception(nn.Module):
    """1x1, 3x3, "5x5" (3x3, as in torchvision, for its weights' sake) and pooling, side by side."""

    def __init__(self, in_channels: int, ch1x1: int, ch3x3red: int, ch3x3: int, ch5x5red: int, ch5x5: int, pool_proj: int, conv_block=None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1 = conv(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(conv(in_channels, ch3x3red, kernel_size=1), conv(ch3x3red, ch3x3, kernel_size=3, padding=1))
        self.branch3 = nn.Sequential(conv(in_channels, ch5x5red, kernel_size=1), conv(ch5x5red, ch5x5, kernel_size=3, padding=1))
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(kernel_size=3, stride=1, padding=1, ceil_mode=True), conv(in_channels, pool_proj, kernel_size=1)
        )

    def forward(self, x) -> facula.Tensor:
        return facula.cat([self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)], 1)


class InceptionAux(nn.Module):
    """A classifier on the way."""

    def __init__(self, in_channels: int, num_classes: int, conv_block=None, dropout: float = 0.7) -> None:
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x) -> facula.Tensor:
        x = self.conv(F.adaptive_avg_pool2d(x, (4, 4))).flatten(1)
        return self.fc2(self.dropout(F.relu(self.fc1(x), inplace=True)))


class GoogLeNet(nn.Module):
    """input: (N, 3, H, W), H and W at least 15. transform_input: pictures come normalised as ImageNet's. In training the result is GoogLeNetOutputs.

    >>> net = facula.vision.models.GoogLeNet(num_classes=10, aux_logits=False, init_weights=False)
    >>> net.eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, num_classes: int = 1000, aux_logits: bool = True, transform_input: bool = False, init_weights: bool | None = None,
        blocks: list | None = None, dropout: float = 0.2, dropout_aux: float = 0.7,
    ) -> None:  # fmt: skip
        super().__init__()
        conv, inception, aux = blocks or [BasicConv2d, Inception, InceptionAux]
        init = wants_weights("GoogleNet", init_weights)
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, shape in SHAPES.items():
            self.add_module(f"inception{name}", inception(*shape))
            if name in ("3b", "4e"):
                self.add_module(f"maxpool{name[0]}", nn.MaxPool2d(3 if name == "3b" else 2, stride=2, ceil_mode=True))
        self._body = tuple(name for name, _ in self.named_children())
        self.aux1 = self.aux2 = None
        if aux_logits:
            self.aux1 = aux(512, num_classes, dropout=dropout_aux)
            self.aux2 = aux(528, num_classes, dropout=dropout_aux)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(p=dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init:
            initialise(self, usual=0.01)

    def forward(self, x) -> facula.Tensor | GoogLeNetOutputs:
        if self.transform_input:
            x = scaled_as_imagenet(x)
        first = second = None
        halfway = self.training and self.aux1 is not None
        for name in self._body:
            x = getattr(self, name)(x)
            if halfway and name == "inception4a":
                first = self.aux1(x)
            elif halfway and name == "inception4d":
                second = self.aux2(x)
        x = self.fc(self.dropout(self.avgpool(x).flatten(1)))
        return GoogLeNetOutputs(x, second, first) if self.training and self.aux_logits else x


googlenet = build(GoogLeNet, "googlenet", {}, "GoogLeNet, untrained.", with_weights={"transform_input": True, "init_weights": False})
