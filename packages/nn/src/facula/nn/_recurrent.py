"""The recurrences themselves: one step of each kind of cell, composed, and a layer's run over a sequence, a kernel."""

from __future__ import annotations

from typing import Callable

from facula import Tensor

from .functional import linear
from .functional._rows import row


def rnn_tanh_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """h' = tanh(gates + W h + b)."""
    return ((gates + linear(state[0], w, b)).tanh(),)


def rnn_relu_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """h' = relu(gates + W h + b)."""
    return ((gates + linear(state[0], w, b)).relu(),)


def lstm_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """c' = f c + i g, h' = o tanh(c'); gates in the order i, f, g, o. Source: Hochreiter and Schmidhuber (1997)."""
    h, c = state
    i, f, g, o = (gates + linear(h, w, b)).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """n = tanh(x_n + r (W_n h + b_n)), h' = n + z (h - n); gates in the order r, z, n. Source: Cho et al. (2014)."""
    h = state[0]
    r, z, n = gates.chunk(3, 1)
    hr, hz, hn = linear(h, w, b).chunk(3, 1)
    r, z = (r + hr).sigmoid(), (z + hz).sigmoid()
    n = (n + r * hn).tanh()
    return (n + z * (h - n),)


STEPS: dict[str, tuple[Callable, int]] = {
    "RNN_TANH": (rnn_tanh_step, 1),
    "RNN_RELU": (rnn_relu_step, 1),
    "LSTM": (lstm_step, 4),
    "GRU": (gru_step, 3),
}
_rnn = row("_rnn")
_MODES = {"RNN_TANH": 0, "RNN_RELU": 1, "LSTM": 2, "GRU": 3}  # as the row numbers them


def run_layer(mode: str, x: Tensor, state: tuple, weights: list, sizes: Tensor, reverse: bool) -> tuple[Tensor, tuple]:
    """(outputs, last state) of one layer in one direction.

    x: (all steps one after the other, I), sizes[t] rows of step t, never rising.
    weights: w_ih, w_hh, b_ih, b_hh (or None), w_hr (or None).
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    gates = linear(x, w_ih, b_ih)  # of all steps at once
    h, c = state if mode == "LSTM" else (state[0], None)
    out, h, c, _ = _rnn(gates, h, c, w_hh, b_hh, w_hr, sizes, _MODES[mode], reverse)
    return out, (h, c) if mode == "LSTM" else (h,)
