"""python operator_second.py REGEX: gradients of gradients of the operators beside PyTorch's, over PyTorch's own samples, one process an entry."""

import facula
import torch
from operator_compare import outcome, outcomes, plain, processed, unlike
from operator_samples import Unserved, forget, mirrored, samples, spelt, tensors
from operator_survey import survey


def weights(like, start):
    return [torch.linspace(start, start + 2, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype) * (1 + 0.5j if t.is_complex() else 1) for t in like]


def second(lib, leaves, outs, first, then):
    """Gradients of sum(then * gradients of sum(first * outs))."""
    found = lib.autograd.grad(outs, leaves, first, allow_unused=True, create_graph=True)
    kept = [(g, w) for g, w in zip(found, then) if g is not None and g.requires_grad]
    if not kept:
        return None
    return lib.autograd.grad([g for g, _ in kept], leaves, [w for _, w in kept], allow_unused=True)


def differences(op, s):
    try:
        theirs, mine = plain(op, s)
        expected, actual = outcomes(theirs, mine)
        if isinstance(expected, Exception) or isinstance(actual, Exception):
            return
        leaves, ours = ([t for t in tensors((c.args, c.options)) if t.requires_grad] for c in (theirs, mine))
        e, a = processed(s, expected, actual)
        pairs = [(x, y) for x, y in zip(tensors(e), tensors(a)) if x.requires_grad and y.requires_grad]
        if not pairs or not leaves:
            return
        first, then = weights([x for x, _ in pairs], -1), weights(leaves, 0.5)
        wanted = outcome(lambda: second(torch, leaves, [x for x, _ in pairs], first, then))
        if isinstance(wanted, Exception):
            return
        forget()
        found = outcome(lambda: second(facula, ours, [y for _, y in pairs], mirrored(first), mirrored(then)))
        if isinstance(found, Exception):
            yield "raises", f"{type(found).__name__}: {found}"
            return
        for k, leaf in enumerate(leaves):
            w, f = (None if r is None else r[k] for r in (wanted, found))
            if w is not None and f is not None:
                yield from ((kind, text) for kind, text in unlike(w, f, 100) if kind not in ("stride", "is_conj", "is_neg"))
            elif (w is not None and bool((w != 0).any())) or (f is not None and bool((f != 0).any())):
                yield "absent", f"{'not None' if w is None else 'None'} for argument {k} of {tuple(leaf.shape)}"
    except Unserved:
        return


def of_entry(op, dtypes, most):
    for dtype in dtypes:
        if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"):
            for s in samples(op, dtype, True, most):
                what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
                yield from ((kind, f"{what}: {text}") for kind, text in differences(op, s))


if __name__ == "__main__":
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most), most=6, dtypes=[torch.float64, torch.complex128], wanted=lambda op: op.supports_gradgrad)
