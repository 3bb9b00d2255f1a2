"""MultiheadAttention."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from . import functional as F
from . import init
from .linear import Linear
from .module import Module
from .parameter import Parameter

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch's repr shows for the output projection."""


class MultiheadAttention(Module):
    """Attention of num_heads heads over embed_dim / num_heads dims each. Source: Vaswani et al. (2017).

    query: (L, N, E) or (N, L, E) with batch_first, or (L, E); key: (..., kdim), value: (..., vdim).

    >>> import facula
    >>> from facula import nn
    >>> x = facula.zeros(5, 2, 4)
    >>> out, weights = nn.MultiheadAttention(4, 2)(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 5, 5]))
    """

    _younger = {"_qkv_same_embed_dim": True}

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}")

        def fresh(*shape: int) -> Parameter:
            return Parameter(facula.empty(shape, device=device, dtype=dtype))

        same = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", fresh(3 * embed_dim, embed_dim) if same else None)
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", None if same else fresh(embed_dim, width))
        self.register_parameter("in_proj_bias", fresh(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k, self.bias_v = (fresh(1, 1, embed_dim), fresh(1, 1, embed_dim)) if add_bias_kv else (None, None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        weights = (self.in_proj_weight,) if self._qkv_same_embed_dim else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in weights:
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(attention output, weights or None); masks are True, or -inf, where a key is left out."""
        # PyTorch's fast path: NaN, not 0, where every key is left out, and a result that lies batch first
        fast = self.batch_first and query is key and key is value and self._may_go_fast(query, key_padding_mask, attn_mask)
        swap = self.batch_first and query.dim() == 3
        if swap:  # keep shared tensors shared: the projection is then one product
            same_k, same_v = key is query, value is key
            query = query.transpose(0, 1)
            key = query if same_k else key.transpose(0, 1)
            value = key if same_v else value.transpose(0, 1)
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights or (fast and not (key_padding_mask is None and attn_mask is None)),
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if fast:
            return out.transpose(0, 1).contiguous(), weights if need_weights else None
        return out.transpose(0, 1) if swap else out, weights

    def _may_go_fast(self, query: Tensor, *masks: Tensor | None) -> bool:
        """Whether PyTorch would take its inference kernel for a batch-first self-attention."""
        weights = (query, self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        return not (
            self.training or not facula.backends.mha.get_fastpath_enabled() or query.dim() != 3 or self.num_heads % 2 or self.add_zero_attn or self.bias_k is not None
            or any(w is None or w.dtype is not query.dtype for w in weights)
            or (facula.is_grad_enabled() and any(w.requires_grad for w in weights))
            or any(m is not None and m.is_floating_point() for m in masks)
            or facula.is_autocast_enabled("cpu")
        )  # fmt: skip

    def merge_masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor) -> tuple[Tensor | None, int | None]:
        """Both masks as one, and which there were: 1 for the keys' padding alone, 2 with attn_mask, None without either.

        query: (N, L, E), whose heads' scores an attn_mask of (L, L) or (N * heads, L, L) is for; merged it is (N, heads, L, L).
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        heads = (n, -1, length, length) if attn_mask.dim() == 3 else (1, 1, length, length)
        merged = attn_mask.view(heads)
        if attn_mask.dim() != 3:
            merged = merged.expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
