"""Connectionist temporal classification."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.tensor_core import extend
from facula import Tensor

from ._reduction import check, reduced
from ._rows import row

_ctc_loss = row("_ctc_loss")


def _lengths(name: str, lengths: Any) -> Tensor:
    found = lengths if isinstance(lengths, Tensor) else facula.tensor(list(lengths), device="cpu")
    if found.numel() and (found.is_floating_point() or found.is_complex()):
        raise (RuntimeError if found is lengths else TypeError)(f"ctc_loss: {name} must be integral, got {found.dtype}. Convert it with .long().")
    return found.long()


def _padded(targets: Tensor, lengths: Tensor, batch: int) -> Tensor:
    """(N, S) from (N, S), or from all targets one after the other."""
    if targets.dim() == 2:
        return targets.long()
    widest = int(lengths.max()) if batch else 0
    if targets.numel() != int(lengths.sum()) or targets.dim() == 0:
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size {int(lengths.sum())} at dimension 0, the sum of target_lengths, but got size "
            f"{targets.numel()} for argument #2 'targets'"
        )
    out = facula.zeros((batch, widest), dtype=facula.int64, device=targets.device)
    at = 0
    for n, length in enumerate(lengths.tolist()):
        out[n, :length] = targets[at : at + length]
        at += length
    return out


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of `targets`, over all their alignments.

    log_probs: (T, N, C) or (T, C), log-probabilities. targets: (N, S), or 1-d with all targets one after the other.
    "mean" divides each loss by its target's length first. zero_infinity: impossible alignments count 0.
    The gradient takes log_probs for the result of a log_softmax, as PyTorch's does.
    Source: Graves et al., Connectionist Temporal Classification (2006), equations 6 to 8, in logarithms.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.ctc_loss(facula.tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log(), facula.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    if type(log_probs) is not Tensor:
        extend.want_tensor("ctc_loss", "log_probs", 0, log_probs)
    if type(targets) is not Tensor:
        extend.want_tensor("ctc_loss", "targets", 1, targets)
    check(reduction)
    if not log_probs.dim():
        raise extend.RankError("ctc_loss: log_probs must have 2 or 3 dims, got 0. Give (T, C) or (T, N, C).")
    if log_probs.dtype._name not in ("float32", "float64"):
        raise extend.DTypeError(f"ctc_loss: not implemented for {log_probs.dtype._name} (log_probs: {tuple(log_probs.shape)}). Convert with .float().")
    if log_probs.dim() not in (2, 3):
        raise extend.RankError(f"ctc_loss: log_probs must have 2 or 3 dims, got {log_probs.dim()}. Give (T, C) or (T, N, C).")
    single = log_probs.dim() == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank must be in label range [0, {classes - 1}], got {blank}")
    in_len, out_len = _lengths("input_lengths", input_lengths).reshape(-1), _lengths("target_lengths", target_lengths).reshape(-1)
    if in_len.numel() != batch or out_len.numel() != batch:
        raise RuntimeError(f"ctc_loss: input_lengths and target_lengths must have {batch} elements, got {in_len.numel()} and {out_len.numel()}")
    if batch and int(in_len.max()) > steps:
        raise RuntimeError(f"ctc_loss: Expected input_lengths to have value at most {steps}, but got value {int(in_len.max())}")
    if log_probs.is_meta:  # the lengths may be numbers
        in_len, out_len = in_len.to("meta"), out_len.to("meta")
    loss, _ = _ctc_loss(log_probs, _padded(targets, out_len, batch), in_len, out_len, blank, True)
    if zero_infinity:
        loss = facula.where(loss.detach() == math.inf, facula.zeros_like(loss), loss)
    if reduction == "mean":
        return (loss / out_len.clamp(min=1).to(loss.dtype)).mean()
    loss = reduced(loss, reduction)
    return loss.reshape(()) if single and reduction == "none" else loss
