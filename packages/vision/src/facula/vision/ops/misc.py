"""Layers that models of torchvision are made of."""

from __future__ import annotations

import facula
from facula import nn

__all__ = ["Conv2dNormActivation", "Conv3dNormActivation", "FrozenBatchNorm2d", "MLP", "Permute", "SqueezeExcitation"]


class ConvNormActivation(nn.Sequential):
    """Convolution, normalisation, activation. padding keeps the size at stride 1; bias only without normalisation."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size=3, stride=1, padding=None, groups: int = 1, norm_layer=nn.BatchNorm2d,
        activation_layer=nn.ReLU, dilation=1, inplace: bool | None = True, bias: bool | None = None, conv_layer=nn.Conv2d,
    ) -> None:  # fmt: skip
        if padding is None:
            dims = len(kernel_size) if not isinstance(kernel_size, int) else 2 if isinstance(dilation, int) else len(dilation)
            sizes = ((v,) * dims if isinstance(v, int) else v for v in (kernel_size, dilation))
            padding = tuple((k - 1) // 2 * d for k, d in zip(*sizes))
            padding = padding[0] if len(set(padding)) == 1 else padding
        bias = norm_layer is None if bias is None else bias
        layers = [conv_layer(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**({} if inplace is None else {"inplace": inplace})))
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(ConvNormActivation):
    """nn.Conv2d, normalisation, activation. padding keeps the size at stride 1; bias only without normalisation.

    >>> layer = facula.vision.ops.Conv2dNormActivation(3, 8, stride=2)
    >>> [type(part).__name__ for part in layer], layer(facula.zeros(1, 3, 8, 8)).shape
    (['Conv2d', 'BatchNorm2d', 'ReLU'], torch.Size([1, 8, 4, 4]))
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size=3,
        stride=1,
        padding=None,
        groups: int = 1,
        norm_layer=nn.BatchNorm2d,
        activation_layer=nn.ReLU,
        dilation=1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer, dilation, inplace, bias)


class Conv3dNormActivation(ConvNormActivation):
    """Conv2dNormActivation of clips.

    >>> facula.vision.ops.Conv3dNormActivation(3, 8, stride=2)(facula.zeros(1, 3, 4, 8, 8)).shape
    torch.Size([1, 8, 2, 4, 4])
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size=3, stride=1, padding=None, groups: int = 1, norm_layer=nn.BatchNorm3d,
        activation_layer=nn.ReLU, dilation=1, inplace: bool | None = True, bias: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer, dilation, inplace, bias, nn.Conv3d)


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation with fixed statistics, weight and bias, all of them buffers.

    >>> norm = facula.vision.ops.FrozenBatchNorm2d(3)
    >>> list(norm.parameters()), norm(facula.ones(1, 3, 1, 1)).shape
    ([], torch.Size([1, 3, 1, 1]))
    """

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", facula.ones(num_features))
        self.register_buffer("bias", facula.zeros(num_features))
        self.register_buffer("running_mean", facula.zeros(num_features))
        self.register_buffer("running_var", facula.ones(num_features))

    def forward(self, x) -> facula.Tensor:
        scale = self.weight * (self.running_var + self.eps).rsqrt()
        bias = self.bias - self.running_mean * scale
        return x * scale.reshape(1, -1, 1, 1) + bias.reshape(1, -1, 1, 1)

    def extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"


class SqueezeExcitation(nn.Module):
    """Channels scaled by what two 1x1 convolutions make of their means. Source: Hu et al., arXiv:1709.01507, figure 1.

    >>> facula.vision.ops.SqueezeExcitation(4, 2)(facula.ones(1, 4, 3, 3)).shape
    torch.Size([1, 4, 3, 3])
    """

    def __init__(
        self, input_channels: int, squeeze_channels: int, activation=nn.ReLU, scale_activation=nn.Sigmoid
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, input) -> facula.Tensor:
        return input * self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input)))))


class MLP(nn.Sequential):
    """Linear layers of these widths, each but the last with normalisation, activation and dropout.

    >>> facula.vision.ops.MLP(4, [8, 2])(facula.ones(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: list[int],
        norm_layer=None,
        activation_layer=nn.ReLU,
        inplace: bool | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        options = {} if inplace is None else {"inplace": inplace}
        layers: list[nn.Module] = []
        for width in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            layers += [activation_layer(**options), nn.Dropout(dropout, **options)]
            in_channels = width
        layers += [nn.Linear(in_channels, hidden_channels[-1], bias=bias), nn.Dropout(dropout, **options)]
        super().__init__(*layers)


class Permute(nn.Module):
    """Dims in another order.

    >>> facula.vision.ops.Permute([0, 2, 1])(facula.zeros(2, 3, 4)).shape
    torch.Size([2, 4, 3])
    """

    def __init__(self, dims: list[int]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x) -> facula.Tensor:
        return x.permute(self.dims)
