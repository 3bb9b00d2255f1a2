"""Transformer, its encoder and decoder and their layers."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any, Callable

import facula
from facula import Tensor

from . import functional as F
from . import init
from .activation import GELU, ReLU
from .multihead import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerEncoder", "TransformerDecoder", "TransformerEncoderLayer", "TransformerDecoderLayer"]


def _activation(activation: str | Callable) -> Callable:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


def _seq_len(src: Tensor, batch_first: bool) -> int:
    return src.size(1 if batch_first and src.dim() == 3 else 0)


def _is_causal(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """is_causal, or where it is None whether mask is the causal one."""
    if is_causal is not None:
        return is_causal
    if mask is None:
        return False
    size = mask.size(-2) if size is None else size
    if tuple(mask.shape) != (size, size):
        return False
    causal = Transformer.generate_square_subsequent_mask(size, dtype=mask.dtype)
    return bool((mask == causal).all())


class _Layer(Module):
    """What encoder and decoder layers share: the feed-forward block, and norms before or after."""

    _younger = {"activation": F.relu}

    def _build(
        self, attentions: tuple[str, ...], d_model: int, nhead: int, width: int, dropout: float, activation: str | Callable, eps: float,
        batch_first: bool, norm_first: bool, bias: bool, made: dict,
    ) -> None:  # fmt: skip
        """Make the parts, in PyTorch's order: a norm and a dropout for each attention and for the feed-forward block."""
        for name in attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, width, bias=bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(width, d_model, bias=bias, **made)
        self.norm_first = norm_first
        blocks = range(1, len(attentions) + 2)
        for k in blocks:
            setattr(self, f"norm{k}", LayerNorm(d_model, eps, bias=bias, **made))
        for k in blocks:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = _activation(activation)

    def _ff_block(self, x: Tensor, drop: Dropout) -> Tensor:
        return drop(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def _sa_block(self, x: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool = False) -> Tensor:
        x = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False)[0]
        return self.dropout1(x)

    def _residual(self, x: Tensor, norm: LayerNorm, block: Callable[[Tensor], Tensor]) -> Tensor:
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward block, each with dropout, residual and norm. Source: Vaswani et al. (2017).

    >>> import facula
    >>> from facula import nn
    >>> nn.TransformerEncoderLayer(4, 2, 8)(facula.zeros(5, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    _younger = {**_Layer._younger, "activation_relu_or_gelu": 1}

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"device": device, "dtype": dtype}
        self._build(("self_attn",), d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, made)
        kind = self.activation
        self.activation_relu_or_gelu = 1 if kind is F.relu or isinstance(kind, ReLU) else 2 if kind is F.gelu or isinstance(kind, GELU) else 0

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        x = self._residual(src, self.norm1, lambda x: self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self._residual(x, self.norm2, lambda x: self._ff_block(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's memory and a feed-forward block.

    >>> import facula
    >>> from facula import nn
    >>> nn.TransformerDecoderLayer(4, 2, 8)(facula.zeros(5, 3, 4), facula.zeros(6, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made, attentions = {"device": device, "dtype": dtype}, ("self_attn", "multihead_attn")
        self._build(attentions, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, made)

    def _mha_block(self, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
        x = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False
        )[0]
        return self.dropout2(x)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        x = self._residual(tgt, self.norm1, lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._residual(
            x, self.norm2, lambda x: self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        )
        return self._residual(x, self.norm3, lambda x: self._ff_block(x, self.dropout3))


def _copies(layer: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(n)])


class _Stack(Module):
    """What encoder and decoder share: copies of a layer, then a norm."""

    def _fill(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        self.layers = _copies(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def _causal(self, x: Tensor, mask: Tensor | None, given: bool | None) -> bool:
        batch_first = getattr(getattr(self.layers[0], "self_attn", None), "batch_first", False) if self.num_layers else False
        return _is_causal(mask, given, _seq_len(x, batch_first))

    def _normed(self, x: Tensor) -> Tensor:
        return x if self.norm is None else self.norm(x)


def _not_nested(layer: Any) -> str:
    """Why an encoder of such layers does not leave padding out, or nothing."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": not attention.batch_first,
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, so in reasons.items() if so), "")


class TransformerEncoder(_Stack):
    """num_layers copies of a layer, then a norm.

    Without gradients and in eval mode, padding at the ends of items comes out of the layers as zeros where enable_nested_tensor allows it,
    as it does of PyTorch's nested tensors. mask_check: whether padding elsewhere is told from that; if not, it is taken to lie at the ends.

    >>> layer = facula.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> facula.nn.TransformerEncoder(layer, 2)(facula.ones(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self._fill(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        lacking = _not_nested(encoder_layer) if enable_nested_tensor else ""
        if lacking:
            warnings.warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{lacking}", stacklevel=2)
        self.use_nested_tensor = enable_nested_tensor and not lacking

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        if mask is not None and not isinstance(mask, Tensor):
            raise RuntimeError(f"TransformerEncoder: mask is {type(mask).__name__}, but must be None or a Tensor. Give one of (S, S).")
        causal = self._causal(src, mask, is_causal)
        gone = self._padding_left_out(src, src_key_padding_mask) if mask is None and src_key_padding_mask is not None else None
        src_key_padding_mask = src_key_padding_mask if gone is None else gone
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        src = src if gone is None else src.masked_fill(gone.unsqueeze(-1), 0)
        return self._normed(src)

    def _padding_left_out(self, src: Tensor, padding: Tensor) -> Tensor | None:
        """(N, S), True where the layers leave an item's elements out, or None where they compute them like any other."""
        if not getattr(self, "use_nested_tensor", False) or src.dim() != 3 or not facula.backends.mha.get_fastpath_enabled():
            return None
        layer = self.layers[0]
        if layer.training or facula.is_autocast_enabled("cpu"):
            return None
        if facula.is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in layer.parameters())):
            return None
        kept = padding.logical_not()
        ends = facula.arange(src.size(1), device=src.device) < kept.sum(1, keepdim=True)
        return None if self.mask_check and not facula.equal(kept, ends) else ends.logical_not()


class TransformerDecoder(_Stack):
    """num_layers copies of a layer, then a norm.

    >>> layer = facula.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> facula.nn.TransformerDecoder(layer, 2)(facula.ones(3, 1, 8), facula.ones(5, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self._fill(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        causal = self._causal(tgt, tgt_mask, tgt_is_causal)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return self._normed(tgt)


class Transformer(Module):
    """An encoder and a decoder. Source: Vaswani et al., Attention Is All You Need (2017).

    >>> model = facula.nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
    >>> model(facula.ones(5, 1, 8), facula.ones(3, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*options, **made)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias, **made))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*options, **made)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias, **made))
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        if src.dim() == 3 and src.size(0 if self.batch_first else 1) != tgt.size(0 if self.batch_first else 1):
            raise RuntimeError(f"the batch number of src and tgt must be equal: {tuple(src.shape)} and {tuple(tgt.shape)}")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(f"the feature number of src and tgt must be equal to d_model {self.d_model}, got {src.size(-1)} and {tgt.size(-1)}")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz): -inf above the diagonal, 0 elsewhere."""
        return facula.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)
