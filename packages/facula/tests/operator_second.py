"""python operator_second.py REGEX: gradients of gradients of the operators beside PyTorch's, over PyTorch's own samples, one process an entry."""

import facula
import torch
from operator_compare import outcome, outcomes, plain, processed
from operator_derivatives import apart, survey_of, weights
from operator_samples import forget, mirrored, tensors


def second(lib, leaves, outs, first, then):
    """Gradients of sum(then * gradients of sum(first * outs))."""
    found = lib.autograd.grad(outs, leaves, first, allow_unused=True, create_graph=True)
    kept = [(g, w) for g, w in zip(found, then) if g is not None and g.requires_grad]
    if not kept:
        return None
    return lib.autograd.grad([g for g, _ in kept], leaves, [w for _, w in kept], allow_unused=True)


def differences(op, s):
    yield from of_calls(s, *plain(op, s))


def of_calls(s, theirs, mine, lay=lambda t: t):
    """lay: the weights of both gradients, as they are to lie in memory."""
    expected, actual = outcomes(theirs, mine)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        return
    leaves, ours = ([t for t in tensors((c.args, c.options)) if t.requires_grad] for c in (theirs, mine))
    e, a = processed(s, expected, actual)
    pairs = [(x, y) for x, y in zip(tensors(e), tensors(a)) if x.requires_grad and y.requires_grad]
    if not pairs or not leaves:
        return
    first, then = ([lay(w) for w in weights(*of)] for of in (([x for x, _ in pairs], -1), (leaves, 0.5)))
    wanted = outcome(lambda: second(torch, leaves, [x for x, _ in pairs], first, then))
    if isinstance(wanted, Exception):
        return
    forget()
    found = outcome(lambda: second(facula, ours, [y for _, y in pairs], mirrored(first), mirrored(then)))
    if isinstance(found, Exception):
        yield "raises", f"{type(found).__name__}: {found}"
        return
    none = [None] * len(leaves)
    yield from apart(wanted or none, found or none, lambda kind: kind not in ("is_conj", "is_neg"))


if __name__ == "__main__":
    survey_of(__doc__, differences, lambda op: op.supports_gradgrad and op.supports_autograd, most=6)
