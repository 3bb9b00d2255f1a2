"""Attention: scaled dot products, and the multi-head form."""

from __future__ import annotations

import math
import warnings
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from .. import attention
from ._dropout import dropout, kept
from ._linear import linear
from ._pad import pad
from ._rows import row

_attention = row("_attention")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale q k^T + mask) v.  query: (*, L, E), key: (*, S, E), value: (*, S, V). Source: Vaswani et al. (2017).

    attn_mask: boolean (True takes part) or added. is_causal: query i sees keys 0 .. i; beside a mask only where PyTorch's fused
    kernel takes both: four dims, heads of one size, no dropout, a mask of 2 or 4 dims that wants no gradient. scale: 1 / sqrt(E) by default.
    enable_gqa: heads of key and value (dim -3) are repeated to match the query's. A query that sees nothing gives 0.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.scaled_dot_product_attention(facula.ones(1, 2), facula.ones(3, 2), facula.ones(3, 2))
    tensor([[1., 1.]])
    """
    if type(query) is not Tensor:
        extend.want_tensor("scaled_dot_product_attention", "query", 0, query)
    if attention.allowed is not None:
        attention.check_allowed()
    if is_causal and attn_mask is not None and not _fused(query, key, value, attn_mask, dropout_p, enable_gqa):
        from ..attention.bias import CausalBias  # which needs this part

        kind = ValueError if isinstance(attn_mask, CausalBias) else RuntimeError
        raise kind("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True. Leave one of them out.")
    try:
        shape, keyed, _ = query.shape, key.shape, value.shape
    except AttributeError:
        extend.want_tensor("scaled_dot_product_attention", "key", 1, key)
        extend.want_tensor("scaled_dot_product_attention", "value", 2, value)
        raise
    if dropout_p == 0.0 and len(shape) == len(keyed) == 4 and (enable_gqa or shape[1] == keyed[1]) and (attn_mask is None or _plain(attn_mask)):
        try:  # the row checks too: what it refuses is said, or composed, below
            mask = attn_mask if attn_mask is None or attn_mask.ndim == 4 else attn_mask[None, None]
            out = _attention(query, key, value, mask, None, is_causal, 1 / math.sqrt(shape[3]) if scale is None else scale)[0]
            if out.numel():
                return out
        except (RuntimeError, TypeError, ValueError, ArithmeticError):
            pass
    for position, (name, t) in enumerate((("key", key), ("value", value)), 1):
        extend.want_tensor("scaled_dot_product_attention", name, position, t)
    if attn_mask is not None:
        extend.want_tensor("scaled_dot_product_attention", "attn_mask", 3, attn_mask)
    for position, name, given in ((5, "is_causal", is_causal), (7, "enable_gqa", enable_gqa)):
        if given is not True and given is not False:
            extend.check("scaled_dot_product_attention", name, position, "bool", given)
    if not (query.dtype is key.dtype is value.dtype) and not extend.listening():
        raise RuntimeError(f"scaled_dot_product_attention: Expected query, key, and value to have the same dtype, but got {query.dtype}, {key.dtype} and {value.dtype}. Convert them with .to().")
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise RuntimeError(f"scaled_dot_product_attention: inputs must be at least 2 dimensional, got {query.dim()}, {key.dim()}, {value.dim()}")
    dropout_p = max(dropout_p, 0.0)
    if dropout_p > 1.0:
        raise RuntimeError(f"scaled_dot_product_attention: dropout probability has to be between 0 and 1, but got {dropout_p}")
    scale = (1 / math.sqrt(query.size(-1)) if query.size(-1) else 1.0) if scale is None else scale
    attn_mask = None if attn_mask is None else _of_dtype(attn_mask, query.dtype)
    if query.dim() != 4 or dropout_p >= 1.0 or (attn_mask is not None and attn_mask.requires_grad) or not _regular(query, key, value, enable_gqa):
        if query.dtype in (facula.float16, facula.bfloat16):  # rounded once, as in the row
            wide = (t.float() if t is not None and t.dtype is query.dtype else t for t in (query, key, value, attn_mask))
            return _composed_attention(*wide, dropout_p, is_causal, scale, enable_gqa).to(query.dtype)
        return _composed_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    scores = (*query.shape[:3], key.size(-2))
    if attn_mask is not None:
        attn_mask = _four_dims(attn_mask, scores)
    keep = kept(scores, query, dropout_p) if dropout_p > 0.0 else None
    return _attention(query, key, value, attn_mask, keep, is_causal, scale, 1 / (1 - dropout_p))[0]


def _plain(mask: Any) -> bool:
    """Could the row take it, with its dims or as one for all heads?"""
    return type(mask) is Tensor and mask.ndim in (2, 4) and not mask.requires_grad


def _fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, dropout_p: float, gqa: bool) -> bool:
    """Would PyTorch's fused kernel compute these? It takes a mask and is_causal together, and its composition neither."""
    if type(mask) is not Tensor or mask.requires_grad or mask.dim() not in (2, 4) or dropout_p > 0.0:
        return False
    if attention.allowed is not None and attention.SDPBackend.FLASH_ATTENTION not in attention.allowed:
        return False
    if not all(type(t) is Tensor and t.dim() == 4 and t.device.type == "cpu" and t.size(-1) == q.size(-1) for t in (q, k, v)):
        return False
    return k.shape[:-1] == v.shape[:-1] and (k.shape[:2] == q.shape[:2] or (gqa and k.shape[0] == q.shape[0]))


def _regular(q: Tensor, k: Tensor, v: Tensor, gqa: bool) -> bool:
    """Do the leading dims agree, so that nothing broadcasts but groups of heads?"""
    if not q.dim() == k.dim() == v.dim() or not q.dtype is k.dtype is v.dtype:
        return False
    if k.shape[:-2] != v.shape[:-2] or k.shape[:-2].numel() == 0:
        return False
    return k.shape[:-2] == q.shape[:-2] or (gqa and k.shape[:-3] == q.shape[:-3])


def _of_dtype(mask: Tensor, dtype: facula.dtype) -> Tensor:
    """A mask that is boolean or of the query's dtype, which float32 goes to."""
    if not isinstance(mask, Tensor):
        extend.check("scaled_dot_product_attention", "attn_mask", 3, "tensor", mask)
    mask = mask.to(dtype) if mask.dtype is facula.float32 else mask
    if mask.dtype is not facula.bool and mask.dtype is not dtype:
        raise RuntimeError(f"scaled_dot_product_attention: expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype {mask.dtype} and query.dtype {dtype}.")
    return mask


def _four_dims(mask: Tensor, scores: tuple) -> Tensor:
    """A mask that broadcasts to the scores, (batch, heads, L, S), with as many dims."""
    _fits(mask, scores)
    return mask.reshape((1,) * (4 - mask.dim()) + tuple(mask.shape))


def _fits(mask: Tensor, scores: tuple) -> None:
    if mask.dim() > len(scores) or any(have not in (1, wanted) for have, wanted in zip(reversed(mask.shape), reversed(scores))):
        raise RuntimeError(f"scaled_dot_product_attention: attn_mask {tuple(mask.shape)} does not broadcast to {tuple(scores)}. Make its sizes 1 or these.")


def _composed_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float, enable_gqa: bool
) -> Tensor:
    """What the row does not: a mask that wants a gradient, leading dims that broadcast or are not two."""
    if enable_gqa:
        heads = query.size(-3)
        if heads % key.size(-3) or heads % value.size(-3):
            raise RuntimeError(f"scaled_dot_product_attention: query heads {heads} must be a multiple of key heads {key.size(-3)} and value heads {value.size(-3)}")
        key = key.repeat_interleave(heads // key.size(-3), -3)
        value = value.repeat_interleave(heads // value.size(-3), -3)
    root = math.sqrt(abs(scale))  # on either side, where PyTorch has it: the gradients lie as these products do
    scores = facula.matmul(query * math.copysign(root, scale), (key * root).transpose(-2, -1))
    if is_causal:
        attn_mask = facula.ones(query.size(-2), key.size(-2), dtype=facula.bool, device=query.device).tril()
    if attn_mask is None:
        weights = scores.softmax(-1)
    else:
        _fits(attn_mask, scores.shape)
        if attn_mask.dtype == facula.bool:
            scores, left_out = scores.masked_fill(~attn_mask, -math.inf), ~attn_mask
        else:
            scores, left_out = scores + attn_mask, attn_mask == -math.inf
        blind = left_out.all(-1, keepdim=True)
        weights = facula.where(blind, facula.zeros_like(scores), scores).softmax(-1)
        weights = facula.where(blind, facula.zeros_like(weights), weights)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return facula.matmul(weights, value)


def _as_added(mask: Tensor | None, name: str, like: Tensor) -> Tensor | None:
    """A boolean mask (True is left out) as one to add."""
    if mask is None:
        return None
    if mask.dtype == facula.bool:
        return facula.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill_(mask, -math.inf)
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported, got {mask.dtype}")
    return mask


def _projected(q: Tensor, k: Tensor, v: Tensor, w: Tensor | None, b: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by one weight, (3 E, E)."""
    if k.shape != v.shape:
        raise AssertionError(f"key shape {tuple(k.shape)} does not match value shape {tuple(v.shape)}")
    if w is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None. Give it.")
    e = q.size(-1)
    if q is k and k is v:
        return linear(q, w, b).chunk(3, -1)
    parts = w.chunk(3), (None,) * 3 if b is None else b.chunk(3)
    if w.size(0) != 3 * e:
        raise AssertionError(f"in_proj_weight has {w.size(0)} rows, {3 * e} are wanted")
    return tuple(linear(x, wx, bx) for x, wx, bx in zip((q, k, v), *parts))


def _projected_apart(q: Tensor, k: Tensor, v: Tensor, weights: tuple[Tensor | None, ...], b: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by a weight each, (E, size of what it takes)."""
    named = tuple(zip(("query", "key", "value"), (q, k, v), weights))
    for what, _, w in named:
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but {what[0]}_proj_weight is None. Give it.")
    if k.shape[:2] != v.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {tuple(k.shape[:2])} do not match value's {tuple(v.shape[:2])}")
    for what, x, w in named:
        if tuple(w.shape) != (q.size(-1), x.size(-1)):
            raise AssertionError(f"expecting {what} weights shape of {(q.size(-1), x.size(-1))}, but got {tuple(w.shape)}")
    return tuple(linear(x, w, bias) for (_, x, w), bias in zip(named, (None,) * 3 if b is None else b.chunk(3)))


def _check_shapes(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, heads: int) -> bool:
    """Whether the query is batched."""
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor")
    batched = query.dim() == 3
    kind = "batched" if batched else "unbatched"
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(f"For {kind} ({query.dim()}-D) `query`, expected `key` and `value` to be {query.dim()}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != query.dim() - 1:
        raise AssertionError(f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.dim() - 1}-D but found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead")
        if not batched and attn_mask.dim() == 3 and tuple(attn_mask.shape) != (heads, query.size(0), key.size(0)):
            raise AssertionError(f"Expected `attn_mask` shape to be {(heads, query.size(0), key.size(0))} but got {tuple(attn_mask.shape)}")
    return batched


def _for_heads(mask: Tensor, heads: int, length: int, keys: int) -> Tensor:
    """A mask of (L, S) or (heads, L, S) as one of three dims."""
    if mask.dim() == 2:
        if tuple(mask.shape) != (length, keys):
            raise RuntimeError(f"The shape of the 2D attn_mask is {tuple(mask.shape)}, but should be {(length, keys)}.")
        return mask.unsqueeze(0)
    if tuple(mask.shape) != (heads, length, keys):
        raise RuntimeError(f"The shape of the 3D attn_mask is {tuple(mask.shape)}, but should be {(heads, length, keys)}.")
    return mask


def _padding_for_heads(padding: Tensor, n: int, heads: int, keys: int) -> Tensor:
    """A mask of (N, S) as (N * heads, 1, S)."""
    if tuple(padding.shape) != (n, keys):
        raise AssertionError(f"expecting key_padding_mask shape of {(n, keys)}, but got {tuple(padding.shape)}")
    return padding.reshape(n, 1, 1, keys).expand(n, heads, 1, keys).reshape(n * heads, 1, keys)


def _biased(bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None) -> bool:
    """Is there a learnt key and value? Both or neither, and of projected ones."""
    if (bias_k is None) is not (bias_v is None):
        given, lacking = ("bias_v", "bias_k") if bias_k is None else ("bias_k", "bias_v")
        raise AssertionError(f"{given} is set but {lacking} is None. Give both or neither.")
    if bias_k is None:
        return False
    for given, name in ((static_k, "key"), (static_v, "value")):
        if given is not None:
            raise AssertionError(f"multi_head_attention_forward: bias cannot be added to static {name}.")
    return True


def _weighed(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple[Tensor, Tensor]:
    """softmax(q k^T / sqrt(size) + mask) v of (heads, L, size), and its weights."""
    q, kt = q * math.sqrt(1.0 / q.size(-1)), k.transpose(-2, -1)
    weights = (facula.bmm(q, kt) if mask is None else facula.baddbmm(mask, q, kt)).softmax(-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return facula.bmm(weights, v), weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """(attention output, weights or None).  query: (L, N, E), key and value: (S, N, *), or all without N.

    Masks are True, or -inf, where a key is left out: attn_mask (L, S) or (N * heads, L, S), key_padding_mask (N, S).
    is_causal is a promise that attn_mask is causal. Source: Vaswani et al. (2017), section 3.2.2.

    >>> attention = facula.nn.MultiheadAttention(4, 2)
    >>> x = facula.ones(3, 1, 4)
    >>> out, weights = facula.nn.functional.multi_head_attention_forward(x, x, x, 4, 2, attention.in_proj_weight, attention.in_proj_bias, None, None, False, 0.0, attention.out_proj.weight, attention.out_proj.bias)
    >>> out.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 3]))
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    causal = is_causal and key_padding_mask is None and not need_weights
    if causal:  # the promise is believed: the mask is not read
        attn_mask = None
    if not batched:
        same_k, same_v = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_k else key.unsqueeze(1)
        value = key if same_v else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, n, e = query.shape
    if e != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {e}")
    size = e // num_heads
    if size * num_heads != e:
        raise AssertionError(f"embed_dim {e} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        q, k, v = _projected_apart(query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None and key_padding_mask is not None and attn_mask.dtype != key_padding_mask.dtype:
        warnings.warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.", stacklevel=2)
    mask, padding = _as_added(attn_mask, "attn_mask", q), _as_added(key_padding_mask, "key_padding_mask", q)
    if mask is not None:
        mask = _for_heads(mask, n * num_heads, length, key.size(0))
    if _biased(bias_k, bias_v, static_k, static_v):  # one more key and value, learnt
        k, v = facula.cat([k, bias_k.repeat(1, n, 1)]), facula.cat([v, bias_v.repeat(1, n, 1)])
        mask, padding = _one_more(mask), _one_more(padding)

    def heads(x: Tensor) -> Tensor:
        return x.reshape(x.size(0), n * num_heads, size).transpose(0, 1)

    q = heads(q)
    k = heads(k) if static_k is None else static_k
    v = heads(v) if static_v is None else static_v
    if add_zero_attn:
        zero = facula.zeros((n * num_heads, 1, size), dtype=k.dtype, device=k.device)
        k, v = facula.cat([k, zero], 1), facula.cat([v, zero], 1)
        mask, padding = _one_more(mask), _one_more(padding)
    keys = k.size(1)
    if padding is not None:
        padding = _padding_for_heads(padding, n, num_heads, keys)
        mask = padding if mask is None else mask + padding
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        out, weights = _weighed(q, k, v, mask, dropout_p)
    else:
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.reshape(n, num_heads, -1, keys)
        q4, k4, v4 = (t.reshape(n, num_heads, t.size(1), size) for t in (q, k, v))
        out, weights = scaled_dot_product_attention(q4, k4, v4, mask, dropout_p, causal).reshape(n * num_heads, length, size), None
    out = linear(out.transpose(0, 1).reshape(length, n, e), out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = weights.reshape(n, num_heads, length, keys)
        weights = weights.mean(1) if average_attn_weights else weights
    if not batched:
        return out.squeeze(1), None if weights is None else weights.squeeze(0)
    return out, weights


def _one_more(mask: Any) -> Any:
    return None if mask is None else pad(mask, (0, 1))
