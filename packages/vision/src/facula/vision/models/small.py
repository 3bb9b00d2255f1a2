"""Small networks for small pictures."""

from __future__ import annotations

from collections.abc import Sequence

from facula import Tensor, nn

__all__ = ["LeNet", "MLP", "lenet", "mlp"]


class MLP(nn.Sequential):
    """Flatten, then linear layers with ReLU between them.

    in_features: numbers per picture; hidden: widths of the hidden layers; dropout: after each hidden layer.

    >>> facula.vision.models.MLP(64, (32,), num_classes=10)(facula.zeros(2, 8, 8)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self, in_features: int = 64, hidden: Sequence[int] = (128,), num_classes: int = 10, dropout: float = 0.0
    ) -> None:
        layers: list[nn.Module] = [nn.Flatten()]
        for width in hidden:
            layers += [nn.Linear(in_features, width), nn.ReLU()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            in_features = width
        super().__init__(*layers, nn.Linear(in_features, num_classes))


def _five_by_five(channels: int) -> list[nn.Module]:
    first, second = nn.Conv2d(channels, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
    return [first, nn.ReLU(), nn.MaxPool2d(2), second, nn.ReLU(), nn.MaxPool2d(2)]


def _three_by_three(channels: int) -> list[nn.Module]:
    first, second = nn.Conv2d(channels, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
    return [first, nn.ReLU(), second, nn.ReLU(), nn.MaxPool2d(2)]


class LeNet(nn.Module):
    """Two convolutions with pooling, then linear layers, for pictures from 8x8 up.

    input: (N, in_channels, image_size, image_size). From 28x28 up the layers have LeNet-5's sizes, with ReLU and
    maximum pooling where the original has tanh and a trained subsampling. Smaller pictures would be nothing but border
    to 5x5 kernels: they get two 3x3 convolutions of 32 and 64 channels, one pooling and dropout.
    Source: LeCun, Bottou, Bengio, Haffner, Gradient-Based Learning Applied to Document Recognition (1998).

    >>> facula.vision.models.LeNet()(facula.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> None:
        super().__init__()
        large = image_size >= 28
        self.features = nn.Sequential(*(_five_by_five(in_channels) if large else _three_by_three(in_channels)))
        side = (image_size // 2 - 4) // 2 if large else image_size // 2
        widths = [16 * side * side, 120, 84] if large else [64 * side * side, 128]
        layers: list[nn.Module] = [nn.Flatten()] if large else [nn.Flatten(), nn.Dropout(0.5)]
        for into, out in zip(widths, widths[1:]):
            layers += [nn.Linear(into, out), nn.ReLU()]
        self.classifier = nn.Sequential(*layers, nn.Linear(widths[-1], num_classes))

    def forward(self, input) -> Tensor:
        return self.classifier(self.features(input))


def mlp(**options) -> MLP:
    """An MLP with its default sizes for Digits, or others.

    >>> facula.vision.models.mlp()(facula.zeros(2, 8, 8)).shape
    torch.Size([2, 10])
    """
    return MLP(**options)


def lenet(**options) -> LeNet:
    """A LeNet with its default sizes for MNIST, or others.

    >>> facula.vision.models.lenet()(facula.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 10])
    """
    return LeNet(**options)
