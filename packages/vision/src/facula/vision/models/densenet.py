"""DenseNet. Source: Huang et al., Densely Connected Convolutional Networks (2017)."""

from __future__ import annotations

import facula
from facula import nn
from facula.nn import functional as F

from ._build import build

# first planes, growth, layers of the four blocks
__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]


class _DenseLayer(nn.Module):
    """A 1x1 and a 3x3 convolution of all planes so far, each after normalisation: growth_rate new planes."""

    def __init__(self, num_input_features: int, growth_rate: int, bn_size: int, drop_rate: float, memory_efficient: bool = False) -> None:
        super().__init__()
        self.norm1, self.relu1 = nn.BatchNorm2d(num_input_features), nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, 1, bias=False)
        self.norm2, self.relu2 = nn.BatchNorm2d(bn_size * growth_rate), nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, 3, padding=1, bias=False)
        self.drop_rate, self.memory_efficient = float(drop_rate), memory_efficient

    def _narrow(self, *planes):
        return self.conv1(self.relu1(self.norm1(facula.cat(planes, 1))))

    def forward(self, input) -> facula.Tensor:
        planes = [input] if isinstance(input, facula.Tensor) else input
        if self.memory_efficient and any(p.requires_grad for p in planes):
            narrow = facula.utils.checkpoint.checkpoint(self._narrow, *planes, use_reentrant=False)
        else:
            narrow = self._narrow(*planes)
        new = self.conv2(self.relu2(self.norm2(narrow)))
        return F.dropout(new, p=self.drop_rate, training=self.training) if self.drop_rate > 0 else new


class _DenseBlock(nn.ModuleDict):
    """Layers that each see the planes of all before."""

    def __init__(self, num_layers: int, num_input_features: int, bn_size: int, growth_rate: int, drop_rate: float, memory_efficient: bool = False) -> None:
        super().__init__()
        for k in range(num_layers):
            layer = _DenseLayer(num_input_features + k * growth_rate, growth_rate, bn_size, drop_rate, memory_efficient)
            self.add_module(f"denselayer{k + 1}", layer)

    def forward(self, init_features) -> facula.Tensor:
        planes = [init_features]
        for _, layer in self.items():
            planes.append(layer(planes))
        return facula.cat(planes, 1)


class _Transition(nn.Sequential):
    """Fewer planes of half the height and width."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.norm, self.relu = nn.BatchNorm2d(num_input_features), nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, 1, bias=False)
        self.pool = nn.AvgPool2d(2, stride=2)


class DenseNet(nn.Module):
    """input: (N, 3, H, W), H and W at least 29; growth_rate: new planes of a layer.

    >>> net = facula.vision.models.DenseNet(growth_rate=4, block_config=(2, 2), num_init_features=8, num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, growth_rate: int = 32, block_config: tuple = (6, 12, 24, 16), num_init_features: int = 64, bn_size: int = 4, drop_rate: float = 0,
        num_classes: int = 1000, memory_efficient: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        features = nn.Sequential()
        features.add_module("conv0", nn.Conv2d(3, num_init_features, 7, stride=2, padding=3, bias=False))
        features.add_module("norm0", nn.BatchNorm2d(num_init_features))
        features.add_module("relu0", nn.ReLU(inplace=True))
        features.add_module("pool0", nn.MaxPool2d(3, stride=2, padding=1))
        planes = num_init_features
        for k, layers in enumerate(block_config, 1):
            features.add_module(f"denseblock{k}", _DenseBlock(layers, planes, bn_size, growth_rate, drop_rate, memory_efficient))
            planes += layers * growth_rate
            if k < len(block_config):
                features.add_module(f"transition{k}", _Transition(planes, planes // 2))
                planes //= 2
        features.add_module("norm5", nn.BatchNorm2d(planes))
        self.features = features
        self.classifier = nn.Linear(planes, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.Linear):
                nn.init.constant_(module.bias, 0)

    def forward(self, x) -> facula.Tensor:
        x = F.relu(self.features(x), inplace=True)
        return self.classifier(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


def _of(name: str, planes: int, growth: int, layers: tuple[int, ...]):
    return build(DenseNet, name, {"growth_rate": growth, "block_config": layers, "num_init_features": planes}, f"{name}, untrained.")


densenet121 = _of("densenet121", 64, 32, (6, 12, 24, 16))
densenet161 = _of("densenet161", 96, 48, (6, 12, 36, 24))
densenet169 = _of("densenet169", 64, 32, (6, 12, 32, 32))
densenet201 = _of("densenet201", 64, 32, (6, 12, 48, 32))
