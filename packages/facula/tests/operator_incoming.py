"""Gradients beside PyTorch's where what comes in from above lies oddly: transposed, stepped, expanded, its channels last, dims of size 1 with odd strides.

`python operator_incoming.py REGEX` prints what differs, one process an entry: gradients of PyTorch's own samples as they are, with a history
and without. --twice looks at gradients of gradients, whose both weights lie oddly. Kinds are operator_compare's.
"""

import operator_second
import torch
from operator_compare import gradients, outcomes, plain, processed
from operator_layouts import LAYOUTS, stepped, turned
from operator_samples import Unserved, samples, spelt
from operator_survey import survey


def laid(layout, changed):
    """layout for what it can lay out; changed hears of it."""

    def lay(t):
        found = layout(t)
        changed.append(found is not None)
        return t if found is None else found.detach()

    return lay


def differences(op, s, layout, twice):
    changed = []
    for graph in (True,) if twice else (False, True):
        theirs, mine = plain(op, s)
        if twice:
            found = list(operator_second.of_calls(s, theirs, mine, laid(layout, changed)))
        else:
            expected, actual = outcomes(theirs, mine)
            if isinstance(expected, Exception) or isinstance(actual, Exception):
                return
            found = list(gradients(theirs, mine, *processed(s, expected, actual), laid(layout, changed), graph))
        if not any(changed):
            return
        for kind, text in found:
            yield kind, f"{'with' if graph else 'without'} a history: {text}"


def of_entry(op, dtypes, most, layouts=LAYOUTS, twice=False):
    for dtype in dtypes:
        if dtype not in op.supported_backward_dtypes("cpu"):
            continue
        for s in samples(op, dtype, True, most):
            what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
            for name, layout in layouts.items():
                try:
                    yield from ((kind, f"{name}: {what}: {text}") for kind, text in differences(op, s, layout, twice))
                except Unserved:
                    break


def quick(op):
    """What test_operator_incoming.py looks at: gradients, and behind "twice" those of gradients."""
    layouts = {f.__name__: f for f in (turned, stepped)}
    if op.supports_autograd:
        yield from of_entry(op, DTYPES, 2, layouts)
    if op.supports_autograd and op.supports_gradgrad:
        yield from ((f"twice {kind}", text) for kind, text in of_entry(op, DTYPES, 2, layouts, twice=True))


DTYPES = [torch.float64, torch.complex128]

if __name__ == "__main__":
    TWICE = {"--twice": dict(action="store_true", help="gradients of gradients")}
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most, twice=given.twice), TWICE, most=6, dtypes=DTYPES, wanted=lambda op: op.supports_autograd)
