"""VGG. Source: Simonyan, Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition (2014)."""

from __future__ import annotations

from facula import Tensor, nn

from ._build import build

# width and number of 3x3 convolutions before each of the five poolings
WIDTHS = (64, 128, 256, 512, 512)
DEPTHS = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}

__all__ = ["VGG", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]


class VGG(nn.Module):
    """input: (N, 3, H, W), H and W at least 32; features: the convolutions, to 512 planes.

    >>> with facula.device("meta"):
    ...     features = facula.nn.Sequential(facula.nn.Conv2d(3, 512, 3, padding=1), facula.nn.MaxPool2d(4))
    ...     facula.vision.models.VGG(features, num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(self, features, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        for module in self.modules() if init_weights else ():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.constant_(module.bias, 0)

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def make_layers(cfg: list, batch_norm: bool = False) -> nn.Sequential:
    """The convolutions that a list says: a number is a convolution of that many planes, "M" a pooling."""
    layers, planes = [], 3
    for width in cfg:
        if width == "M":
            layers.append(nn.MaxPool2d(2, stride=2))
            continue
        layers.append(nn.Conv2d(planes, width, 3, padding=1))
        layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)] if batch_norm else [nn.ReLU(inplace=True)]
        planes = width
    return nn.Sequential(*layers)


def convolutions(depths, batch_norm: bool) -> nn.Sequential:
    return make_layers([part for width, depth in zip(WIDTHS, depths) for part in (*[width] * depth, "M")], batch_norm)


def _of(depth: str, name: str):
    normed = name != depth
    make = lambda **options: VGG(convolutions(DEPTHS[depth], normed), **options)
    return build(make, name, {}, f"{depth} with batch normalisation." if normed else f"{name}, untrained; arguments go to VGG.")


vgg11, vgg11_bn = _of("vgg11", "vgg11"), _of("vgg11", "vgg11_bn")
vgg13, vgg13_bn = _of("vgg13", "vgg13"), _of("vgg13", "vgg13_bn")
vgg16, vgg16_bn = _of("vgg16", "vgg16"), _of("vgg16", "vgg16_bn")
vgg19, vgg19_bn = _of("vgg19", "vgg19"), _of("vgg19", "vgg19_bn")
