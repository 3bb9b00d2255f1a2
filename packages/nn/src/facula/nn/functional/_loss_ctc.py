"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from ._reduction import check, reduced

_NEVER = -1e30  # log 0 that can be subtracted from itself: -inf would put NaN into gradients


def _lengths(lengths: Any) -> Tensor:
    return lengths.long() if isinstance(lengths, Tensor) else facula.tensor(list(lengths), dtype=facula.int64)


def _padded(targets: Tensor, lengths: Tensor, batch: int) -> Tensor:
    """(N, S) from (N, S), or from all targets one after the other."""
    if targets.dim() == 2:
        return targets.long()
    widest = int(lengths.max()) if batch else 0
    out = facula.zeros((batch, widest), dtype=facula.int64)
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
    Source: Graves et al., Connectionist Temporal Classification (2006), equations 6 to 8, in logarithms.
    """
    check(reduction)
    single = log_probs.dim() == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.reshape(1, -1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank must be in label range 0..{classes - 1}, got {blank}")
    in_len, out_len = _lengths(input_lengths).reshape(-1), _lengths(target_lengths).reshape(-1)
    if in_len.numel() != batch or out_len.numel() != batch:
        raise RuntimeError(f"ctc_loss: input_lengths and target_lengths must have {batch} elements, got {in_len.numel()} and {out_len.numel()}")
    if batch and int(in_len.max()) > steps:
        raise RuntimeError(f"ctc_loss: Expected input_lengths to have value at most {steps}, but got value {int(in_len.max())}")
    loss = _negative_log_likelihood(log_probs, _padded(targets, out_len, batch), in_len, out_len, blank)
    impossible = loss.detach() > -_NEVER / 2
    loss = facula.where(impossible, facula.full((), 0.0 if zero_infinity else float("inf"), dtype=loss.dtype), loss)
    if reduction == "mean":
        return (loss / out_len.clamp(min=1).to(loss.dtype)).mean()
    loss = reduced(loss, reduction)
    return loss.reshape(()) if single and reduction == "none" else loss


def _negative_log_likelihood(log_probs: Tensor, targets: Tensor, in_len: Tensor, out_len: Tensor, blank: int) -> Tensor:
    steps, batch, _ = log_probs.shape
    width = 2 * targets.size(1) + 1
    # labels with blanks between them: b t0 b t1 b ...
    labels = facula.full((batch, width), blank, dtype=facula.int64)
    labels[:, 1::2] = targets
    emitted = log_probs.gather(2, labels.unsqueeze(0).expand(steps, batch, width))
    may_skip = facula.zeros((batch, width), dtype=facula.bool)
    may_skip[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    never = facula.full((batch, width), _NEVER, dtype=log_probs.dtype)
    starts = facula.arange(width).unsqueeze(0) < 2
    alpha = facula.where(starts, emitted[0] if steps else never, never)
    for t in range(1, steps):
        one = facula.cat([never[:, :1], alpha[:, :-1]], 1)
        two = facula.cat([never[:, :2], alpha[:, :-2]], 1)[:, :width]
        two = facula.where(may_skip, two, never)
        peak = facula.maximum(facula.maximum(alpha, one), two).detach()
        total = (alpha - peak).exp() + (one - peak).exp() + (two - peak).exp()
        step = (total.log() + peak + emitted[t]).clamp(min=_NEVER)
        alpha = facula.where((t < in_len).unsqueeze(1), step, alpha)
    last = (2 * out_len).unsqueeze(1)
    ends = alpha.gather(1, last).squeeze(1)
    before = alpha.gather(1, (last - 1).clamp(min=0)).squeeze(1)
    before = facula.where(out_len > 0, before, facula.full((), _NEVER, dtype=alpha.dtype))
    peak = facula.maximum(ends, before).detach()
    return -(((ends - peak).exp() + (before - peak).exp()).log() + peak)
