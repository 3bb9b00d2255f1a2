"""cross_entropy of a linear layer's output, at once or by pieces of the batch so that all scores are never there together."""

from __future__ import annotations

import math
import warnings
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._linear import linear
from ._loss_class import cross_entropy
from ._reduction import check

__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]


class LinearCrossEntropyOptions:  # no dataclass: that would load inspect, 10 ms at every start
    """How linear_cross_entropy works by pieces.

    allow_retain_graph: keep the gradients computed in forward, so that backward may run again.
    batch_chunk_size: rows in a piece. chunking_method "aspect_ratio:N" chooses it: the scores of a piece take the room of the
    input, divided by N; "auto" is N = 2 where batch_chunk_size is None.
    acc_policy, acc_dtype: the dtype in which the weight's gradient is summed over pieces, the input's where acc_dtype is None;
    halves sum in float32 under every policy.

    >>> facula.nn.LinearCrossEntropyOptions(batch_chunk_size=128).batch_chunk_size
    128
    """

    __slots__ = __match_args__ = ("allow_retain_graph", "batch_chunk_size", "chunking_method", "acc_policy", "acc_dtype")

    allow_retain_graph: bool
    batch_chunk_size: int | None
    chunking_method: str | None
    acc_policy: str
    acc_dtype: Any

    def __init__(
        self,
        allow_retain_graph: bool = False,
        batch_chunk_size: int | None = None,
        chunking_method: str | None = "auto",
        acc_policy: str = "auto",
        acc_dtype: Any = None,
    ) -> None:
        for name, value in zip(self.__slots__, (allow_retain_graph, batch_chunk_size, chunking_method, acc_policy, acc_dtype)):
            object.__setattr__(self, name, value)
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto") and self._factor() < 1:
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        if self.batch_chunk_size is not None and not (isinstance(self.batch_chunk_size, int) and self.batch_chunk_size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {self.batch_chunk_size!r}")
        floats = (None, facula.float16, facula.bfloat16, facula.float32, facula.float64)
        if self.acc_dtype not in floats:
            raise ValueError(f"acc_dtype must be None or a floating dtype, got {self.acc_dtype!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"LinearCrossEntropyOptions: cannot assign to field {name!r}. Make another one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"LinearCrossEntropyOptions: cannot delete field {name!r}.")

    def _values(self) -> tuple:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: Any) -> bool:
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def __reduce__(self) -> tuple:
        return type(self), self._values()

    def __repr__(self) -> str:
        return f"LinearCrossEntropyOptions({', '.join(f'{name}={value!r}' for name, value in zip(self.__slots__, self._values()))})"

    def _factor(self) -> int:
        """N of "aspect_ratio:N"; 0 where the method is not one."""
        name, colon, factor = str(self.chunking_method).partition(":")
        factor = factor if colon else "1"
        return int(factor) if name == "aspect_ratio" and factor.isdigit() else 0

    def rows(self, batch: int, features: int, classes: int) -> int:
        """How many rows a piece has."""
        by_method = None
        if self.chunking_method not in (None, "auto") or (self.chunking_method == "auto" and self.batch_chunk_size is None):
            factor = 2 if self.chunking_method == "auto" else self._factor()
            target = -(-batch // -(-classes // max(features, 1)))
            by_method = max(1, (1 << max(target - 1, 0).bit_length()) // factor)
        if by_method is not None and self.batch_chunk_size not in (None, by_method):
            raise ValueError(f"batch_chunk_size {self.batch_chunk_size} and chunking_method {self.chunking_method!r} ({by_method}) disagree. Give one.")
        return by_method or self.batch_chunk_size or max(batch, 1)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target).

    input: (I) or (N, I), linear_weight: (C, I) or (C, d1, ..., I), linear_bias without the I.
    options: work by pieces of the batch; for class indices without smoothing and a weight (C, I), else a warning and at once.

    >>> x = facula.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> facula.nn.functional.linear_cross_entropy(x, facula.zeros(4, 2), facula.tensor([0, 3]))
    tensor(1.3863)
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"linear_cross_entropy: expected input with dimensionality 1 or 2, got {input.dim()}. Flatten it to (N, features).")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"linear_cross_entropy: linear_weight is {linear_weight.dim()}D. Give (classes, ..., features).")
    classes, *places, features = linear_weight.shape
    if input.size(-1) != features:
        raise RuntimeError(f"linear_cross_entropy: input has {input.size(-1)} features, linear_weight {tuple(linear_weight.shape)} wants {features}.")
    if linear_bias is not None and tuple(linear_bias.shape) != (classes, *places):
        raise RuntimeError(f"linear_cross_entropy: expected linear_bias shape {(classes, *places)}, got {tuple(linear_bias.shape)}")
    if places and input.dim() == 1:
        raise RuntimeError(f"linear_cross_entropy: linear_weight {tuple(linear_weight.shape)} requires batched input (N, {features}), got {tuple(input.shape)}")
    shape = (*input.shape[:-1], classes, *places)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("linear_cross_entropy: ignore_index cannot be specified when target contains probabilities")
    ignore_index = -100 if ignore_index is None else ignore_index
    if options is not None:
        check(reduction)
        if input.dtype._kind != 2:
            raise ValueError(f"linear_cross_entropy: acc_dtype must be a floating dtype or None, and the input's is {input.dtype._name}. Convert it with .float().")
        if input.dim() == 2 and not target.dim():
            raise RuntimeError(f"linear_cross_entropy: narrow() cannot be applied to a 0-dim tensor: input {tuple(input.shape)} wants a target of {input.size(0)} elements. Reshape one.")
    if options is not None and reduction != "none" and not (input.is_meta or extend.listening()):  # for "none" each row's loss is asked for: at once
        if not (places or label_smoothing or target.dtype != facula.int64):
            return _by_pieces(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, options)
        warnings.warn(
            "linear_cross_entropy: options ignored: pieces need int64 targets, no label_smoothing and a weight (C, I), "
            f"got {target.dtype}, {label_smoothing} and {tuple(linear_weight.shape)}.",
            stacklevel=2,
        )
    flat = linear_weight.reshape(math.prod(places, start=classes), features)
    logits = linear(input, flat, None if linear_bias is None else linear_bias.reshape(-1)).reshape(shape)
    return cross_entropy(
        logits, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


def _by_pieces(
    x: Tensor, w: Tensor, target: Tensor, b: Tensor | None, class_weight: Tensor | None, reduction: str, ignore: int, options: Any
) -> Tensor:
    if x.dim() == 1:
        x, target = x.unsqueeze(0), target.unsqueeze(0)
    rows = options.rows(x.size(0), x.size(1), w.size(0))
    return _pieces_function().apply(x, w, b, target, class_weight, reduction, ignore, rows, options)


_function = None


def _pieces_function() -> Any:
    """The autograd Function, made at first use so that nn starts without autograd."""
    global _function
    if _function is not None:
        return _function
    from facula.autograd import Function

    class LinearCrossEntropy(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any, b: Any, target: Any, class_weight: Any, reduction: str, ignore: int, rows: int, options: Any) -> Any:
            half = x.dtype in (facula.float16, facula.bfloat16)
            dtype = options.acc_dtype or (facula.float32 if half else x.dtype)
            wanted = [t is not None and t.requires_grad for t in (x, w, b)]
            ctx.keep = options.allow_retain_graph
            scale = _scale(target, class_weight, ignore, reduction, dtype)
            total = facula.zeros((), dtype=dtype)
            grads = [facula.zeros(t.shape, dtype=dtype) if need else None for need, t in zip(wanted, (x, w, b))]
            for start in range(0, x.size(0), rows):
                part = slice(start, start + rows)
                with facula.enable_grad():
                    scores = linear(x[part].detach(), w.detach(), None if b is None else b.detach()).to(dtype).requires_grad_(any(wanted))
                    loss = cross_entropy(scores, target[part], None if class_weight is None else class_weight.to(dtype), ignore_index=ignore, reduction="sum")
                    loss = loss * scale
                    (g,) = facula.autograd.grad(loss, scores) if any(wanted) else (None,)
                total += loss.detach()
                if wanted[0]:
                    grads[0][part] = g @ w.detach().to(dtype)
                if wanted[1]:
                    grads[1] += g.t() @ x[part].detach().to(dtype)
                if wanted[2]:
                    grads[2] += g.sum(0)
            ctx.grads = [None if g is None else g.to(t.dtype) for g, t in zip(grads, (x, w, b))]
            return total.to(x.dtype)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> tuple:
            if ctx.grads is None:
                raise RuntimeError("linear_cross_entropy: backward ran already and its gradients are gone. Set options.allow_retain_graph.")
            found = [None if g is None else g * grad for g in ctx.grads]
            ctx.grads = ctx.grads if ctx.keep else None
            return (*found, *(None,) * 6)

    _function = LinearCrossEntropy
    return _function


def _scale(target: Tensor, class_weight: Tensor | None, ignore: int, reduction: str, dtype: Any) -> Any:
    """What every row's loss is multiplied by: 1, or 1 / the sum of the weights counted."""
    if reduction == "sum":
        return 1.0
    kept = target != ignore
    if class_weight is None:
        return 1.0 / int(kept.sum()) if bool(kept.any()) else math.nan
    safe = facula.where(kept, target, facula.zeros_like(target))
    return 1.0 / float((class_weight.to(dtype)[safe] * kept.to(dtype)).sum())
