"""MaxViT. Source: Tu et al., MaxViT: Multi-Axis Vision Transformer (2022)."""

from __future__ import annotations

import math
from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ..ops.losses import StochasticDepth
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._build import build
from .swin_transformer import relative_position_index

__all__ = ["MaxVit", "maxvit_t"]


class MBConv(nn.Module):
    """Norm, 1x1 up, depthwise 3x3, squeeze and excitation, 1x1 down, plus the input (pooled and through 1x1 where shapes differ)."""

    def __init__(
        self, in_channels: int, out_channels: int, expansion_ratio: float, squeeze_ratio: float, stride: int, activation_layer, norm_layer,
        p_stochastic_dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.proj = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            pool = [nn.AvgPool2d(kernel_size=3, stride=stride, padding=1)] if stride == 2 else []
            proj = nn.Conv2d(in_channels, out_channels, kernel_size=1)
            self.proj = nn.Sequential(*pool, proj)
        wide = int(out_channels * expansion_ratio)
        self.stochastic_depth = StochasticDepth(p_stochastic_dropout, mode="row") if p_stochastic_dropout else nn.Identity()
        normed = partial(Conv2dNormActivation, activation_layer=activation_layer, norm_layer=norm_layer, inplace=None)
        self.layers = nn.Sequential()
        self.layers.pre_norm = norm_layer(in_channels)
        self.layers.conv_a = normed(in_channels, wide, kernel_size=1, padding=0)
        self.layers.conv_b = normed(wide, wide, stride=stride, padding=1, groups=wide)
        self.layers.squeeze_excitation = SqueezeExcitation(wide, int(out_channels * squeeze_ratio), activation=nn.SiLU)
        self.layers.conv_c = nn.Conv2d(wide, out_channels, kernel_size=1)

    def forward(self, x) -> Tensor:
        return self.proj(x) + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention over P of input (N, G, P, D), with a table of what relative positions add."""

    def __init__(self, feat_dim: int, head_dim: int, max_seq_len: int) -> None:
        super().__init__()
        if feat_dim % head_dim != 0:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads, self.head_dim = feat_dim // head_dim, head_dim
        self.size, self.max_seq_len = int(math.sqrt(max_seq_len)), max_seq_len
        self.to_qkv = nn.Linear(feat_dim, 3 * feat_dim)
        self.scale_factor = feat_dim**-0.5
        self.merge = nn.Linear(feat_dim, feat_dim)
        self.relative_position_bias_table = nn.Parameter(facula.empty((2 * self.size - 1) ** 2, self.n_heads))
        self.register_buffer("relative_position_index", relative_position_index(self.size, self.size))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self) -> Tensor:
        table = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return table.view(self.max_seq_len, self.max_seq_len, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, x) -> Tensor:
        n, groups, places, planes = x.shape
        q, k, v = (t.reshape(n, groups, places, self.n_heads, self.head_dim).transpose(2, 3) for t in self.to_qkv(x).chunk(3, dim=-1))
        weights = F.softmax(q @ (k * self.scale_factor).transpose(-2, -1) + self.get_relative_positional_bias(), dim=-1)
        return self.merge((weights @ v).transpose(2, 3).reshape(n, groups, places, planes))


class PartitionAttentionLayer(nn.Module):
    """Attention and MLP within windows of neighbours ("window"), or among places as far apart as windows are wide ("grid")."""

    def __init__(
        self, in_channels: int, head_dim: int, partition_size: int, partition_type: str, grid_size: tuple[int, int], mlp_ratio: int,
        activation_layer, norm_layer, attention_dropout: float, mlp_dropout: float, p_stochastic_dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError(f"partition_type must be either 'grid' or 'window', got {partition_type!r}")
        self.partition_type, self.grid_size = partition_type, grid_size
        self.n_partitions = grid_size[0] // partition_size
        self.p = partition_size if partition_type == "window" else self.n_partitions
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels), RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2), nn.Dropout(attention_dropout)
        )
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels), nn.Linear(in_channels, in_channels * mlp_ratio), activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels), nn.Dropout(mlp_dropout),
        )  # fmt: skip
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, mode="row")

    def forward(self, x) -> Tensor:
        p, (rows, columns) = self.p, (size // self.p for size in self.grid_size)
        if any(size % p for size in self.grid_size):
            raise AssertionError(f"Grid size must be divisible by partition size. Got grid size of {self.grid_size} and partition size of {p}")
        n, planes = x.shape[:2]
        x = x.reshape(n, planes, rows, p, columns, p).permute(0, 2, 4, 3, 5, 1).reshape(n, rows * columns, p * p, planes)
        x = x.transpose(1, 2) if self.partition_type == "grid" else x
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        x = x.transpose(1, 2) if self.partition_type == "grid" else x
        return x.reshape(n, rows, columns, p, p, planes).permute(0, 5, 1, 3, 2, 4).reshape(n, planes, rows * p, columns * p)


class MaxVitLayer(nn.Module):
    """MBConv, then attention in windows, then on a grid."""

    def __init__(
        self, in_channels: int, out_channels: int, squeeze_ratio: float, expansion_ratio: float, stride: int, norm_layer, activation_layer,
        head_dim: int, mlp_ratio: int, mlp_dropout: float, attention_dropout: float, p_stochastic_dropout: float, partition_size: int,
        grid_size: tuple[int, int],
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = nn.Sequential()
        self.layers.MBconv = MBConv(in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer, norm_layer, p_stochastic_dropout)
        for kind in ("window", "grid"):
            attention = PartitionAttentionLayer(
                out_channels, head_dim, partition_size, kind, grid_size, mlp_ratio, activation_layer, nn.LayerNorm, attention_dropout, mlp_dropout,
                p_stochastic_dropout,
            )  # fmt: skip
            self.layers.add_module(f"{kind}_attention", attention)

    def forward(self, x) -> Tensor:
        return self.layers(x)


class MaxVitBlock(nn.Module):
    """n_layers MaxVitLayers, the first of stride 2."""

    def __init__(
        self, in_channels: int, out_channels: int, squeeze_ratio: float, expansion_ratio: float, norm_layer, activation_layer, head_dim: int,
        mlp_ratio: int, mlp_dropout: float, attention_dropout: float, partition_size: int, input_grid_size: tuple[int, int], n_layers: int,
        p_stochastic: list[float],
    ) -> None:  # fmt: skip
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(f"p_stochastic must have length n_layers={n_layers}, got p_stochastic={p_stochastic}.")
        self.grid_size = _halved(input_grid_size)
        self.layers = nn.ModuleList(
            MaxVitLayer(
                out_channels if k else in_channels, out_channels, squeeze_ratio, expansion_ratio, 1 if k else 2, norm_layer, activation_layer,
                head_dim, mlp_ratio, mlp_dropout, attention_dropout, p, partition_size, self.grid_size,
            )
            for k, p in enumerate(p_stochastic)
        )  # fmt: skip

    def forward(self, x) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def _halved(size: tuple[int, int]) -> tuple[int, int]:
    """What a 3x3 convolution of stride 2 and padding 1 makes of it."""
    return (size[0] - 1) // 2 + 1, (size[1] - 1) // 2 + 1


class MaxVit(nn.Module):
    """input: (N, 3, *input_size). block_channels, block_layers: planes and layers of each block; partition_size: of the windows.

    Raises ValueError where partition_size does not divide the size of a block's input.

    >>> net = facula.vision.models.MaxVit((32, 32), 8, 4, [8], [1], 4, 0.0, num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, input_size: tuple[int, int], stem_channels: int, partition_size: int, block_channels: list[int], block_layers: list[int], head_dim: int,
        stochastic_depth_prob: float, norm_layer=None, activation_layer=nn.GELU, squeeze_ratio: float = 0.25, expansion_ratio: float = 4,
        mlp_ratio: int = 4, mlp_dropout: float = 0.0, attention_dropout: float = 0.0, num_classes: int = 1000,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = norm_layer or partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)
        size = grid = _halved(input_size)
        for k in range(len(block_channels)):
            size = _halved(size)
            if size[0] % partition_size or size[1] % partition_size:
                raise ValueError(
                    f"Input size {size} of block {k} is not divisible by partition size {partition_size}. Consider changing the partition size or the "
                    f"input size, which is {tuple(input_size)}."
                )
        self.stem = nn.Sequential(
            Conv2dNormActivation(3, stem_channels, stride=2, norm_layer=norm, activation_layer=activation_layer, bias=False, inplace=None),
            Conv2dNormActivation(stem_channels, stem_channels, norm_layer=None, activation_layer=None, bias=True),
        )
        self.partition_size = partition_size
        self.blocks = nn.ModuleList()
        last = max(sum(block_layers) - 1, 1)
        probs = iter([stochastic_depth_prob * (k / last) for k in range(sum(block_layers))])
        planes = stem_channels
        for out, layers in zip(block_channels, block_layers):
            block = MaxVitBlock(
                planes, out, squeeze_ratio, expansion_ratio, norm, activation_layer, head_dim, mlp_ratio, mlp_dropout, attention_dropout,
                partition_size, grid, layers, [next(probs) for _ in range(layers)],
            )  # fmt: skip
            self.blocks.append(block)
            grid, planes = block.grid_size, out
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(planes), nn.Linear(planes, planes), nn.Tanh(),
            nn.Linear(planes, num_classes, bias=False),
        )  # fmt: skip
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


_TINY = {"stem_channels": 64, "block_channels": [64, 128, 256, 512], "block_layers": [2, 2, 5, 2], "head_dim": 32, "partition_size": 7}
maxvit_t = build(MaxVit, "maxvit_t", {**_TINY, "stochastic_depth_prob": 0.2, "input_size": (224, 224)}, "MaxViT-T, untrained; arguments go to MaxVit.", 224)
