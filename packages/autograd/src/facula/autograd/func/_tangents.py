"""A Function's own jvp under func.jvp, jacfwd and linearize, which go backward twice.

What a Function's backward gives is linear in the gradients that arrive, and its derivative with respect to them, along a tangent, is J times
the tangent: what jvp computes. So backward runs on gradients that are cut from their history, and a zero that hangs on
that history is added to what it gives. The zero's own backward is jvp.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any

import facula as F

from .. import _function
from .._core import Tensor, extend
from .._function import Function


class _State(extend.ThreadState):
    pushing = False  # whether this thread computes what tangents will be pushed through


state = _State()


@contextlib.contextmanager
def pushing() -> Iterator[None]:
    """A block in which Functions keep what their jvp needs."""
    before, state.pushing = state.pushing, True
    try:
        yield
    finally:
        state.pushing = before


def apply(function, args) -> Any:
    if not state.pushing or function.jvp is Function.jvp or not any(isinstance(a, Tensor) and a._origin is not None for a in args):
        return NotImplemented
    return function._recorded(node_class(function)(), args, sys._getframe(2))


_function.INSTEAD.append(apply)


@functools.cache
def node_class(function) -> type:
    """The class of a Function's nodes whose gradients carry tangents."""
    kind = function._node_class

    def _backward(self, g, inputs) -> tuple:
        gs = g if type(g) is list else [g]
        gs = [*gs, *[None] * (len(self._metas) - len(gs))]
        if not any(t is not None and t._origin is not None for t in gs):
            return kind._backward(self, g, inputs)
        found = (None,) * len(inputs)
        if function.backward is not Function.backward or function.vjp is not Function.vjp:
            found = kind._backward(self, [None if t is None else t.detach() for t in gs], inputs)
        zeros = Hanging.apply(self, *gs)
        return tuple([None if i is None else z if f is None else f + z for i, f, z in zip(inputs, found, zeros)])

    return type(kind.__name__, (kind,), {"_backward": _backward, "__module__": kind.__module__})


class Hanging(Function):
    """A zero for each tensor that a Function was given, hanging on the gradients of its results; backward is its jvp."""

    @staticmethod
    def forward(ctx, node, *gs) -> tuple:
        ctx.node, ctx.there = node, [g is not None for g in gs]
        ctx.set_materialize_grads(False)
        return tuple([F.zeros(shape, dtype=dtype) for shape, dtype in node._input_metas])

    @staticmethod
    def backward(ctx, *tangents) -> tuple:
        node = ctx.node
        given = [None] * len(node.needs_input_grad)
        for place, (shape, dtype), t in zip(node._places, node._input_metas, tangents):
            if t is None and node.materialize_grads and (dtype.is_floating_point or dtype.is_complex):
                t = F.zeros(shape, dtype=dtype)
            given[place] = t if t is None else t.clone()  # it may be written to
        return None, *[t if there else None for t, there in zip(node._pushed(given, len(node._metas)), ctx.there)]
