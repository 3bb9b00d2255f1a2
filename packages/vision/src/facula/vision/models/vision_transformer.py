"""Vision Transformer. Source: Dosovitskiy et al., An Image is Worth 16x16 Words (2021)."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import NamedTuple

import facula
from facula import Tensor, nn

from ..ops.misc import MLP, Conv2dNormActivation
from ._build import build

__all__ = ["VisionTransformer", "vit_b_16", "vit_b_32", "vit_h_14", "vit_l_16", "vit_l_32"]

_norm = partial(nn.LayerNorm, eps=1e-6)


class ConvStemConfig(NamedTuple):
    """One convolution of a stem that stands in for the cut into patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: type = nn.BatchNorm2d
    activation_layer: type = nn.ReLU


class MLPBlock(MLP):
    """Two layers with GELU between, for each patch by itself."""

    _version = 2

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self:
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *others) -> None:
        if (local_metadata.get("version") or 1) < 2:  # files of before: the layers had names, not places
            for old, new in (("linear_1", "0"), ("linear_2", "3")):
                for kind in ("weight", "bias"):
                    if f"{prefix}{old}.{kind}" in state_dict:
                        state_dict[f"{prefix}{new}.{kind}"] = state_dict.pop(f"{prefix}{old}.{kind}")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)


class EncoderBlock(nn.Module):
    """Attention among the patches and a perceptron for each, both after normalisation and added to what came."""

    def __init__(self, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float, attention_dropout: float, norm_layer=_norm) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input) -> Tensor:
        normed = self.ln_1(input)
        x = input + self.dropout(self.self_attention(normed, normed, normed, need_weights=False)[0])
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Where each patch was, and the blocks."""

    def __init__(
        self, seq_length: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float, attention_dropout: float, norm_layer=_norm
    ) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(facula.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        block = partial(EncoderBlock, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer)
        self.layers = nn.Sequential(OrderedDict((f"encoder_layer_{k}", block()) for k in range(num_layers)))
        self.ln = norm_layer(hidden_dim)

    def forward(self, input) -> Tensor:
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """input: (N, 3, image_size, image_size), cut into patches of patch_size; the scores come from a token beside them.

    representation_size: a layer with tanh before the scores. conv_stem_configs: convolutions instead of the cut.

    Raises AssertionError where the patches do not fill the picture, and for pictures of another size.

    >>> net = facula.vision.models.VisionTransformer(32, 8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, image_size: int, patch_size: int, num_layers: int, num_heads: int, hidden_dim: int, mlp_dim: int, dropout: float = 0.0,
        attention_dropout: float = 0.0, num_classes: int = 1000, representation_size: int | None = None, norm_layer=_norm,
        conv_stem_configs: list[ConvStemConfig] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if image_size % patch_size:
            raise AssertionError(f"VisionTransformer: image_size is {image_size} and patch_size {patch_size}, which does not divide it. Give a divisor.")
        self.image_size, self.patch_size, self.hidden_dim, self.mlp_dim = image_size, patch_size, hidden_dim, mlp_dim
        self.attention_dropout, self.dropout, self.num_classes = attention_dropout, dropout, num_classes
        self.representation_size, self.norm_layer = representation_size, norm_layer
        self.conv_proj = nn.Conv2d(3, hidden_dim, patch_size, stride=patch_size) if conv_stem_configs is None else _stem(conv_stem_configs, hidden_dim)
        self.class_token = nn.Parameter(facula.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer)
        heads: OrderedDict[str, nn.Module] = OrderedDict()
        if representation_size is not None:
            heads["pre_logits"], heads["act"] = nn.Linear(hidden_dim, representation_size), nn.Tanh()
        heads["head"] = nn.Linear(representation_size or hidden_dim, num_classes)
        self.heads = nn.Sequential(heads)
        self._initialise()

    def _initialise(self) -> None:
        last = self.conv_proj if isinstance(self.conv_proj, nn.Conv2d) else self.conv_proj.conv_last
        if last is self.conv_proj:
            nn.init.trunc_normal_(last.weight, std=math.sqrt(1 / (3 * self.patch_size**2)))
        else:
            nn.init.normal_(last.weight, std=math.sqrt(2 / last.out_channels))
        nn.init.zeros_(last.bias)
        if self.representation_size is not None:
            nn.init.trunc_normal_(self.heads.pre_logits.weight, std=math.sqrt(1 / self.hidden_dim))
            nn.init.zeros_(self.heads.pre_logits.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x) -> Tensor:
        """The patches of the pictures, (N, patches, hidden_dim)."""
        if x.shape[2:] != (self.image_size, self.image_size):
            raise AssertionError(  # torchvision's class
                f"VisionTransformer: Wrong image height or width! Expected {self.image_size} for each but got {tuple(x.shape[2:])}. Resize the pictures."
            )
        return self.conv_proj(x).flatten(2).permute(0, 2, 1)

    def forward(self, x) -> Tensor:
        x = self._process_input(x)
        x = facula.cat([self.class_token.expand(len(x), -1, -1), x], 1)
        return self.heads(self.encoder(x)[:, 0])


def _stem(configs: list[ConvStemConfig], hidden_dim: int) -> nn.Sequential:
    """Convolutions in place of the cut. Source: Xiao et al., Early Convolutions Help Transformers See Better (2021)."""
    stem, planes = nn.Sequential(), 3
    for k, c in enumerate(configs):
        stem.add_module(f"conv_bn_relu_{k}", Conv2dNormActivation(planes, c.out_channels, c.kernel_size, c.stride, norm_layer=c.norm_layer, activation_layer=c.activation_layer))  # fmt: skip
        planes = c.out_channels
    stem.add_module("conv_last", nn.Conv2d(planes, hidden_dim, 1))
    return stem


def _of(size: str, patch: int, layers: int, heads: int, hidden: int, mlp: int):
    options = {"image_size": 224, "patch_size": patch, "num_layers": layers, "num_heads": heads, "hidden_dim": hidden, "mlp_dim": mlp}
    return build(VisionTransformer, f"vit_{size}_{patch}", options, f"vit_{size}_{patch}, untrained; arguments go to VisionTransformer.", side=224)


# Table 1 of the paper
vit_b_16 = _of("b", 16, 12, 12, 768, 3072)
vit_b_32 = _of("b", 32, 12, 12, 768, 3072)
vit_l_16 = _of("l", 16, 24, 16, 1024, 4096)
vit_l_32 = _of("l", 32, 24, 16, 1024, 4096)
vit_h_14 = _of("h", 14, 32, 16, 1280, 5120)
