"""Derivatives of recurrences and alignments: a backward kernel each and, where a second derivative is asked for, the forward
composed of rows that have rules, differentiated with history."""

import facula as F

from .._core import composing, row
from .._table import D, none
from .dots import BY_COLUMNS, BY_ROWS, lying as lies

D("_rnn", flat=(3,),
  xyzwvu=lambda g0, g1, g2, x, y, z, w, v, u, sizes, out0, out3, mode, reverse, needs:
    rnn_gradients((g0, g1, g2), (x, y, z, w, v, u), sizes, out0, out3, mode, reverse, needs))
D("_ctc_loss", flat=(1,),
  x=lambda g, x, y, z, w, out0, out1, blank, normalised: ctc_gradient(g, x, y, z, w, out0, out1, blank, normalised))
none("_rnn_backward", "_ctc_loss_backward")


def through(compose, operands, gs) -> tuple:
    """Gradients of compose(*operands) for the operands, themselves differentiable. None stands for an operand or a gradient that is not there."""
    from .._api import grad  # the engine imports the rules

    fresh = [None if t is None else t if t._origin is None else t.view_as(t) for t in operands]  # each a place of its own in the graph
    results = compose(*fresh)
    pairs = [(r, g) for r, g in zip(results, gs) if g is not None and r._origin is not None]
    asked = [k for k, t in enumerate(fresh) if t is not None and t._origin is not None]
    found = grad([r for r, _ in pairs], [fresh[k] for k in asked], [g for _, g in pairs], create_graph=True, allow_unused=True)
    out = [None] * len(operands)
    for k, g in zip(asked, found):
        out[k] = g
    return tuple(out)


# --- recurrences ----------------------------------------------------------------------------------------------------

TANH, RELU, LSTM, GRU = range(4)


def rnn_gradients(gs, operands, sizes, output, reserve, mode, reverse, needs) -> tuple:
    gates, h0, c0, w_hh, b_hh, w_hr = operands
    g, g_h, g_c = gs
    if composing():
        dgates, dh, dc, dw, *rest = through(lambda *t: composed_rnn(*t, sizes.tolist(), mode, reverse), operands, gs)
    else:
        dgates, dh, dc, dw, *rest = row("_rnn_backward")(g, g_h, g_c if mode == LSTM else None, output, reserve, h0, c0, w_hh, w_hr, sizes, mode, reverse)
    dh = lying(dh, lies(h0, 0) & BY_COLUMNS if mode != GRU else columns_first(g_h))
    dc = lying(dc, columns_first(g_h if g_c is None else g_c)) if mode == LSTM else dc
    dw = lying(dw, not lies(w_hh, 0) & BY_ROWS)
    return tuple(t if needed else None for t, needed in zip((dgates, dh, dc, dw, *rest), needs))


def columns_first(t) -> bool:
    """Whether what is computed from t element by element lies by columns."""
    return t is not None and 0 < t.stride(0) < t.stride(1)


def lying(t, columns) -> F.Tensor | None:
    """t column by column, or row by row."""
    if t is None or not columns:
        return t if t is None else t.contiguous()
    return t.transpose(0, 1).clone(memory_format=F.contiguous_format).transpose(0, 1)


def composed_rnn(gates, h0, c0, w_hh, b_hh, w_hr, sizes, mode, reverse) -> tuple:
    """(outputs, last h, last c): the row, step by step."""
    h, c = h0, c0
    steps = list(enumerate(F.split(gates, sizes)))
    outputs = [None] * len(sizes)
    for t, u in reversed(steps) if reverse else steps:
        live = sizes[t]
        new, cell = composed_cell(u, h[:live], None if c is None else c[:live], w_hh, b_hh, mode)
        new = new if w_hr is None else F.linear(new, w_hr)
        outputs[t] = new
        h = F.cat([new, h[live:]])
        c = None if c is None else F.cat([cell, c[live:]])
    return F.cat(outputs), h, F.zeros((0,), dtype=h.dtype) if c is None else c


def composed_cell(u, h, c, w, b, mode) -> tuple:
    p = F.linear(h, w, b)
    if mode in (TANH, RELU):
        return (F.tanh if mode == TANH else F.relu)(u + p), None
    if mode == LSTM:
        i, f, g, o = F.chunk(u + p, 4, 1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        return F.sigmoid(o) * F.tanh(c), c
    (ur, uz, un), (pr, pz, pn) = F.chunk(u, 3, 1), F.chunk(p, 3, 1)
    r, z = F.sigmoid(ur + pr), F.sigmoid(uz + pz)
    n = F.tanh(un + r * pn)
    return n + z * (h - n), None


# --- alignments -----------------------------------------------------------------------------------------------------

NEVER = -1e30  # log 0 that can be subtracted from itself: -inf would put NaN into gradients


def ctc_gradient(g, x, targets, in_len, out_len, loss, alpha, blank, normalised) -> F.Tensor:
    if not composing():
        return row("_ctc_loss_backward")(g, x, targets, in_len, out_len, loss, alpha, blank, normalised)
    (dx,) = through(lambda t: (composed_ctc(t, targets, in_len, out_len, blank),), (x,), (g,))
    if not normalised:
        return dx
    counted = (F.arange(x.shape[0]).unsqueeze(1) < in_len).to(x.dtype).unsqueeze(2)
    return dx + F.exp(x) * counted * g.unsqueeze(1)


def composed_ctc(log_probs, targets, in_len, out_len, blank) -> F.Tensor:
    steps, batch, _ = log_probs.shape
    width = 2 * targets.shape[1] + 1
    labels = F.full((batch, width), blank, dtype=F.int64)
    labels[:, 1::2] = F.where(F.arange(targets.shape[1]) < out_len.unsqueeze(1), targets, F.full_like(targets, blank))
    emitted = F.gather(log_probs, 2, labels.unsqueeze(0).expand(steps, batch, width))
    may_skip = F.zeros((batch, width), dtype=F.bool)
    may_skip[:, 2:] = labels[:, 2:] != labels[:, :-2]
    never = F.full((batch, width), NEVER, dtype=log_probs.dtype)
    alpha = F.where(F.arange(width).unsqueeze(0) < 2, emitted[0] if steps else never, never)
    for t in range(1, steps):
        one = F.cat([never[:, :1], alpha[:, :-1]], 1)
        two = F.where(may_skip, F.cat([never[:, :2], alpha[:, :-2]], 1)[:, :width], never)
        step = F.clamp(joined(alpha, one, two) + emitted[t], min=NEVER)
        alpha = F.where((t < in_len).unsqueeze(1), step, alpha)
    last = (2 * out_len).unsqueeze(1)
    ends = F.gather(alpha, 1, last).squeeze(1)
    before = F.gather(alpha, 1, F.clamp(last - 1, min=0)).squeeze(1)
    before = F.where(out_len > 0, before, F.full((), NEVER, dtype=alpha.dtype))
    return -joined(ends, before)


def joined(*terms) -> F.Tensor:
    """log of the sum of exponentials."""
    peak = terms[0]
    for t in terms[1:]:
        peak = F.maximum(peak, t)
    peak = peak.detach()
    return F.log(sum(F.exp(t - peak) for t in terms)) + peak
