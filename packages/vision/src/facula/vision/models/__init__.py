"""Networks for pictures, untrained."""

from .resnet import ResNet, resnet18, resnet34, resnet50, resnet101, resnet152
from .small import MLP, LeNet, lenet, mlp

__all__ = ["MLP", "LeNet", "ResNet", "lenet", "mlp", "resnet101", "resnet152", "resnet18", "resnet34", "resnet50"]
