"""The recurrences themselves: one step of each kind of cell, and a layer's run over a sequence."""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula import Tensor

from .functional import linear


def rnn_tanh_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """h' = tanh(gates + W h + b)."""
    return ((gates + linear(state[0], w, b)).tanh(),)


def rnn_relu_step(gates: Tensor, state: tuple, w: Tensor, b: Tensor | None) -> tuple:
    """h' = relu(gates + W h + b)."""
    return (facula.relu(gates + linear(state[0], w, b)),)


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


def run_layer(
    mode: str, x: Tensor, state: tuple, weights: list, batch_sizes: list[int] | None, reverse: bool
) -> tuple[Tensor, tuple]:
    """(outputs, last state) of one layer in one direction.

    x: (T, N, I), or with batch_sizes (all steps one after the other, I), whose step t has batch_sizes[t] rows, falling.
    weights: w_ih, w_hh, b_ih, b_hh (or None), w_hr (or None).
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    step, _ = STEPS[mode]
    gates = linear(x, w_ih, b_ih)  # of all steps at once

    def advance(g: Tensor, s: tuple) -> tuple:
        s = step(g, s, w_hh, b_hh)
        return s if w_hr is None else (linear(s[0], w_hr), *s[1:])

    if batch_sizes is None:
        outputs: list[Any] = [None] * x.size(0)
        for t in reversed(range(x.size(0))) if reverse else range(x.size(0)):
            state = advance(gates[t], state)
            outputs[t] = state[0]
        return facula.stack(outputs, 0), state
    return _run_packed(gates.split(batch_sizes), state, batch_sizes, reverse, advance)


def _run_packed(gates: Any, state: tuple, sizes: list[int], reverse: bool, advance: Callable) -> tuple[Tensor, tuple]:
    outputs: list[Any] = [None] * len(sizes)
    if reverse:  # sequences join as the steps go back to where they all are
        initial, rows = state, sizes[-1]
        state = tuple(s[:rows] for s in initial)
        for t in reversed(range(len(sizes))):
            if sizes[t] > rows:
                state = tuple(facula.cat([s, i[rows : sizes[t]]]) for s, i in zip(state, initial))
                rows = sizes[t]
            state = advance(gates[t], state)
            outputs[t] = state[0]
        return facula.cat(outputs), state
    finished: list[tuple] = []
    for t, rows in enumerate(sizes):  # sequences leave as they end
        if rows < state[0].size(0):
            finished.append(tuple(s[rows:] for s in state))
            state = tuple(s[:rows] for s in state)
        state = advance(gates[t], state)
        outputs[t] = state[0]
    finished.append(state)
    return facula.cat(outputs), tuple(facula.cat(parts[::-1]) for parts in zip(*finished))
