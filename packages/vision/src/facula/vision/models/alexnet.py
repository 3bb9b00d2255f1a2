"""AlexNet with one column. Source: Krizhevsky, One weird trick for parallelizing convolutional neural networks (2014)."""

from __future__ import annotations

from facula import Tensor, nn

from ._build import build

__all__ = ["AlexNet", "alexnet"]


class AlexNet(nn.Module):
    """input: (N, 3, H, W), H and W at least 63.

    >>> with facula.device("meta"):
    ...     facula.vision.models.AlexNet(num_classes=10).eval()(facula.zeros(1, 3, 64, 64)).shape
    torch.Size([1, 10])
    """

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


alexnet = build(AlexNet, "alexnet", {}, "AlexNet, untrained; arguments go to AlexNet.")
