"""Small networks for small pictures."""

from __future__ import annotations

from collections.abc import Sequence

from facula import nn

__all__ = ["LeNet", "MLP", "lenet", "mlp"]


class MLP(nn.Sequential):
    """Flatten, then linear layers with ReLU between them.

    in_features: numbers per picture; hidden: widths of the hidden layers; dropout: after each hidden layer.
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


class LeNet(nn.Module):
    """Two convolutions with pooling and three linear layers, for pictures from 8x8 up.

    input: (N, in_channels, image_size, image_size). At 28x28 the layers have LeNet-5's sizes, with ReLU and
    maximum pooling where the original has tanh and a trained subsampling.
    Source: LeCun, Bottou, Bengio, Haffner, Gradient-Based Learning Applied to Document Recognition (1998).
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> None:
        super().__init__()
        # Padding 2 keeps the first size; pictures below 28 keep the second as well, or nothing would be left.
        padding = 0 if image_size >= 28 else 2
        side = (image_size // 2 - 4 + 2 * padding) // 2
        self.features = nn.Sequential(
            nn.Conv2d(in_channels, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5, padding=padding),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(16 * side * side, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, num_classes),
        )

    def forward(self, input):
        return self.classifier(self.features(input))


def mlp(**options) -> MLP:
    """An MLP with its default sizes for Digits, or others."""
    return MLP(**options)


def lenet(**options) -> LeNet:
    """A LeNet with its default sizes for MNIST, or others."""
    return LeNet(**options)
