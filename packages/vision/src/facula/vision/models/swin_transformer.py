"""Swin Transformer, both versions. Sources: Liu et al., Swin Transformer (2021), Swin Transformer V2 (2021)."""

from __future__ import annotations

import math
from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ..ops.losses import StochasticDepth
from ..ops.misc import MLP, Permute
from ._build import build

__all__ = ["SwinTransformer", "swin_b", "swin_s", "swin_t", "swin_v2_b", "swin_v2_s", "swin_v2_t"]


def relative_position_index(*sizes: int) -> Tensor:
    """(P, P) of a window of P places: which row of a table of relative positions a place has to another."""
    places = facula.stack(facula.meshgrid(*(facula.arange(n) for n in sizes), indexing="ij")).flatten(1)
    apart = places[:, :, None] - places[:, None, :]
    index = facula.zeros_like(apart[0])
    for n, distance in zip(sizes, apart):
        index = index * (2 * n - 1) + distance + n - 1
    return index


def quarters(x) -> Tensor:
    """(..., H, W, C) to (..., H/2, W/2, 4 C), odd sizes filled up with 0."""
    height, width = x.shape[-3:-1]
    x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
    return facula.cat([x[..., i::2, j::2, :] for j in (0, 1) for i in (0, 1)], -1)


class PatchMerging(nn.Module):
    """Four neighbours to one place of twice the features, normalised before."""

    def __init__(self, dim: int, norm_layer=nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x) -> Tensor:
        return self.reduction(self.norm(quarters(x)))


class PatchMergingV2(nn.Module):
    """Four neighbours to one place of twice the features, normalised after."""

    def __init__(self, dim: int, norm_layer=nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x) -> Tensor:
        return self.norm(self.reduction(quarters(x)))


def _into_windows(x, window) -> Tensor:
    """(N, *grid, C) to (N * windows, places, C)."""
    split = [n for size, w in zip(x.shape[1:-1], window) for n in (size // w, w)]
    k = len(window)
    order = [0, *range(1, 2 * k, 2), *range(2, 2 * k + 1, 2), 2 * k + 1]
    return x.reshape(x.shape[0], *split, x.shape[-1]).permute(order).reshape(-1, math.prod(window), x.shape[-1])


def _from_windows(x, window, grid) -> Tensor:
    """The inverse, of a grid that the window divides."""
    k, counts = len(window), [size // w for size, w in zip(grid, window)]
    order = [0, *(n for i in range(1, k + 1) for n in (i, i + k)), 2 * k + 1]
    return x.reshape(-1, *counts, *window, x.shape[-1]).permute(order).reshape(-1, *grid, x.shape[-1])


def _mask(x, grid, window, shift) -> Tensor:
    """(windows, P, P): -100 between places that were not neighbours before the shift."""
    part = x.new_zeros((1, *grid, 1))
    for d, (w, s) in enumerate(zip(window, shift), 1):
        band = facula.arange(grid[d - 1])
        edges = (band >= grid[d - 1] - w).int() + (band >= grid[d - 1] - s).int() if s else facula.zeros_like(band)
        part = part * 3 + edges.to(part.dtype).reshape([-1 if i == d else 1 for i in range(part.dim())])
    part = _into_windows(part, window).squeeze(-1)
    apart = part[:, None, :] != part[:, :, None]
    return x.new_zeros(apart.shape).masked_fill(apart, -100.0)


def windowed_attention(
    input, qkv_weight, proj_weight, relative_position_bias, window_size, num_heads: int, shift_size, attention_dropout: float = 0.0,
    dropout: float = 0.0, qkv_bias=None, proj_bias=None, logit_scale=None, training: bool = True,
) -> Tensor:  # fmt: skip
    """Attention within windows of input (N, *grid, C), the windows moved by shift_size; logit_scale: cosine attention, times that."""
    sizes, planes = input.shape[1:-1], input.shape[-1]
    over = [-size % w for size, w in zip(sizes, window_size)]
    x = F.pad(input, (0, 0, *(n for extra in reversed(over) for n in (0, extra))))
    grid, dims = x.shape[1:-1], list(range(1, input.dim() - 1))
    shift = [0 if w >= size else s for w, size, s in zip(window_size, grid, shift_size)]
    if any(shift):
        x = x.roll([-s for s in shift], dims)
    x = _into_windows(x, window_size)
    if logit_scale is not None and qkv_bias is not None:  # keys have no bias
        third = qkv_bias.numel() // 3
        qkv_bias = qkv_bias.clone()
        qkv_bias[third : 2 * third].zero_()
    count, places = x.shape[:2]
    q, k, v = F.linear(x, qkv_weight, qkv_bias).reshape(count, places, 3, num_heads, planes // num_heads).permute(2, 0, 3, 1, 4)
    if logit_scale is not None:
        attention = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attention = attention * logit_scale.clamp(max=math.log(100.0)).exp()
    else:
        attention = (q * (planes // num_heads) ** -0.5) @ k.transpose(-2, -1)
    attention = attention + relative_position_bias
    if any(shift):
        mask = _mask(x, grid, window_size, shift)
        attention = attention.reshape(-1, len(mask), num_heads, places, places) + mask[:, None]
        attention = attention.reshape(-1, num_heads, places, places)
    attention = F.dropout(F.softmax(attention, dim=-1), p=attention_dropout, training=training)
    x = (attention @ v).transpose(1, 2).reshape(count, places, planes)
    x = F.dropout(F.linear(x, proj_weight, proj_bias), p=dropout, training=training)
    x = _from_windows(x, window_size, grid)
    if any(shift):
        x = x.roll(shift, dims)
    return x[(slice(None), *(slice(n) for n in sizes))].contiguous()


shifted_window_attention = windowed_attention


class ShiftedWindowAttention(nn.Module):
    """windowed_attention as a layer, of pictures (N, H, W, C), with a table of what relative positions add."""

    dims = 2

    def __init__(
        self, dim: int, window_size: list[int], shift_size: list[int], num_heads: int, qkv_bias: bool = True, proj_bias: bool = True,
        attention_dropout: float = 0.0, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        if len(window_size) != self.dims or len(shift_size) != self.dims:
            raise ValueError(f"window_size and shift_size must be of length {self.dims}, got {window_size} and {shift_size}.")
        self.window_size, self.shift_size, self.num_heads = window_size, shift_size, num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self) -> None:
        self.relative_position_bias_table = nn.Parameter(facula.zeros(math.prod(2 * w - 1 for w in self.window_size), self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self) -> None:
        self.register_buffer("relative_position_index", relative_position_index(*self.window_size).flatten())

    def _of_table(self, table, window) -> Tensor:
        whole, places = math.prod(self.window_size), math.prod(window)  # fewer for a clip that is shorter than the window
        index = self.relative_position_index.view(whole, whole)[:places, :places]
        return table[index.flatten()].view(places, places, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def get_relative_position_bias(self) -> Tensor:
        return self._of_table(self.relative_position_bias_table, self.window_size)

    _scale = None

    def forward(self, x) -> Tensor:
        return windowed_attention(
            x, self.qkv.weight, self.proj.weight, self.get_relative_position_bias(), self.window_size, self.num_heads, self.shift_size,
            self.attention_dropout, self.dropout, self.qkv.bias, self.proj.bias, self._scale, self.training,
        )  # fmt: skip


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """With cosines for products, a learned scale, and what relative positions add computed by a small network."""

    def __init__(
        self, dim: int, window_size: list[int], shift_size: list[int], num_heads: int, qkv_bias: bool = True, proj_bias: bool = True,
        attention_dropout: float = 0.0, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout)
        self.logit_scale = nn.Parameter(facula.log(10 * facula.ones((num_heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False))
        if qkv_bias:
            with facula.no_grad():
                self.qkv.bias[dim : 2 * dim].zero_()

    def define_relative_position_bias_table(self) -> None:
        steps = [facula.arange(1 - w, w, dtype=facula.float32) / (w - 1) for w in self.window_size]
        table = facula.stack(facula.meshgrid(*steps, indexing="ij"), -1).unsqueeze(0) * 8
        self.register_buffer("relative_coords_table", table.sign() * (table.abs() + 1.0).log2() / 3.0)

    def get_relative_position_bias(self) -> Tensor:
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        return 16 * self._of_table(table, self.window_size).sigmoid()

    @property
    def _scale(self) -> Tensor:
        return self.logit_scale


class SwinTransformerBlock(nn.Module):
    """x plus attention of its norm, plus an MLP of its norm."""

    def __init__(
        self, dim: int, num_heads: int, window_size: list[int], shift_size: list[int], mlp_ratio: float = 4.0, dropout: float = 0.0,
        attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttention,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x) -> Tensor:
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Norms after attention and MLP instead of before."""

    def __init__(
        self, dim: int, num_heads: int, window_size: list[int], shift_size: list[int], mlp_ratio: float = 4.0, dropout: float = 0.0,
        attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttentionV2,
    ) -> None:  # fmt: skip
        super().__init__(dim, num_heads, window_size, shift_size, mlp_ratio, dropout, attention_dropout, stochastic_depth_prob, norm_layer, attn_layer)

    def forward(self, x) -> Tensor:
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


def stages(block, merge, dim: int, depths, num_heads, window_size, stochastic_depth_prob: float, norm_layer, **options) -> list[nn.Module]:
    """The blocks of every stage, every second of them with moved windows, and between stages what merges places."""
    layers: list[nn.Module] = []
    done, whole = 0, sum(depths)
    for k, depth in enumerate(depths):
        parts = []
        for i in range(depth):
            shift = [0 if i % 2 == 0 else w // 2 for w in window_size]
            prob = stochastic_depth_prob * float(done) / (whole - 1)
            parts.append(block(dim, num_heads[k], window_size=window_size, shift_size=shift, stochastic_depth_prob=prob, norm_layer=norm_layer, **options))
            done += 1
        layers.append(nn.Sequential(*parts))
        if k < len(depths) - 1:
            layers.append(merge(dim, norm_layer))
            dim *= 2
    return layers


def narrow_linear(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class SwinTransformer(nn.Module):
    """input: (N, 3, H, W). patch_size: of the first convolution; depths, num_heads: blocks of each stage, and heads of their attention.

    >>> net = facula.vision.models.SwinTransformer([4, 4], 8, [1, 1], [1, 2], [3, 3], num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, patch_size: list[int], embed_dim: int, depths: list[int], num_heads: list[int], window_size: list[int], mlp_ratio: float = 4.0,
        dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.1, num_classes: int = 1000, norm_layer=None,
        block=None, downsample_layer=PatchMerging,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_classes = num_classes
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        patches = nn.Sequential(nn.Conv2d(3, embed_dim, tuple(patch_size), tuple(patch_size)), Permute([0, 2, 3, 1]), norm(embed_dim))
        options = {"mlp_ratio": mlp_ratio, "dropout": dropout, "attention_dropout": attention_dropout}
        body = stages(
            block or SwinTransformerBlock, downsample_layer, embed_dim, depths, num_heads, window_size, stochastic_depth_prob, norm, **options
        )
        self.features = nn.Sequential(patches, *body)
        planes = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm(planes)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(planes, num_classes)
        narrow_linear(self)

    def forward(self, x) -> Tensor:
        return self.head(self.flatten(self.avgpool(self.permute(self.norm(self.features(x))))))


def _of(name: str, planes: int, third: int, heads: int, left_out: float):
    second = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2} if "_v2_" in name else {}
    options = {"patch_size": [4, 4], "embed_dim": planes, "depths": [2, 2, third, 2], "num_heads": [heads << k for k in range(4)]}
    options |= {"window_size": [8, 8] if second else [7, 7], "stochastic_depth_prob": left_out, **second}
    return build(SwinTransformer, name, options, f"{name}, untrained; arguments go to SwinTransformer.")


swin_t = _of("swin_t", 96, 6, 3, 0.2)
swin_s = _of("swin_s", 96, 18, 3, 0.3)
swin_b = _of("swin_b", 128, 18, 4, 0.5)
swin_v2_t = _of("swin_v2_t", 96, 6, 3, 0.2)
swin_v2_s = _of("swin_v2_s", 96, 18, 3, 0.3)
swin_v2_b = _of("swin_v2_b", 128, 18, 4, 0.5)
