#!/usr/bin/env python3
"""What each stage of one product costs, for docs/journey-of-one-op.md: x * w on 8 elements, recorded, and back.

    tools/bench journey [--quick]
"""

from _harness import Case, main


def pair(t, grad=False):
    x, w = t.linspace(-1.0, 1.0, 8), t.linspace(0.5, 1.0, 8)
    return (x, w.requires_grad_()) if grad else (x, w)


def c_call(t):
    """Into C and back, nothing done there."""
    from facula.tensor_core._lib import lib

    return lib.fc_get_num_threads


def verb(t):
    """The verb alone: types, memory, loop; and giving the memory back."""
    from facula.tensor_core import _ops
    from facula.tensor_core._lib import NULL, lib

    x, w = pair(t)
    op, a, b, map2, free = _ops.OPS[[o.name for o in _ops.OPS].index("mul")].id, x._h, w._h, lib.fc_map2, lib.fc_free
    return lambda: free(map2(op, NULL, a, b))


def eager(t):
    x, w = pair(t)
    return lambda: x * w


def recorded(t):
    x, w = pair(t, grad=True)
    return lambda: x * w


def large(t):
    x, w = t.linspace(-1.0, 1.0, 1_000_000), t.linspace(0.5, 1.0, 1_000_000)
    return lambda: x * w


def there_and_back(t):
    x, w = pair(t, grad=True)
    g = t.ones(8)

    def step():
        w.grad = None
        (x * w).backward(g)
        return w.grad

    return step


CASES = [
    Case("a call into C and back", c_call, peer=False, tol=None),
    Case("the verb fc_map2 and fc_free", verb, peer=False, tol=None),
    Case("x * w", eager),
    Case("x * w, recorded", recorded),
    Case("x * w, recorded, and backward", there_and_back),
    Case("x * w of 1e6 elements", large),
]


if __name__ == "__main__":
    main("journey", __doc__, CASES)
