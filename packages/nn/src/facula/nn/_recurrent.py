"""A layer's run over a sequence, and a cell's over one step: one kernel.

    RNN    h' = tanh(u + W h + b), or relu; u is the input's part, W_ih x + b_ih
    LSTM   c' = f c + i g, h' = o tanh(c'). Source: Hochreiter and Schmidhuber (1997).
    GRU    n = tanh(u_n + r (W_n h + b_n)), h' = n + z (h - n). Source: Cho et al. (2014).
"""

from __future__ import annotations

import facula
from facula import Tensor

from .functional import linear
from .functional._rows import row

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}  # of each hidden unit; LSTM's are i, f, g, o, GRU's r, z, n
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


def run_cell(mode: str, x: Tensor, state: tuple, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> tuple:
    """The next state of one step, x: (N, I)."""
    sizes = facula.full((1,), x.size(0), dtype=facula.int64, device=x.device)
    return run_layer(mode, x, state, [w_ih, w_hh, b_ih, b_hh, None], sizes, False)[1]
