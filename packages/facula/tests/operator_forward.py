"""python operator_forward.py REGEX: tangents of the operators beside PyTorch's forward mode, over PyTorch's own samples, one process an entry."""

import facula
import torch
from operator_compare import Call, _call, outcome, processed, unlike
from operator_samples import Unserved, counterpart, forget, mirrored, samples, spelt, tensors
from operator_second import weights
from operator_survey import survey


def tangents(lib, call, s, directions):
    """Tangents of the results, None where there is none."""
    with lib.autograd.forward_ad.dual_level():
        given = iter(directions)

        def dual(v):
            if isinstance(v, (list, tuple)):
                made = [dual(x) for x in v]
                return type(v)(*made) if hasattr(v, "_fields") else type(v)(made)
            if isinstance(v, dict):
                return {k: dual(x) for k, x in v.items()}
            return lib.autograd.forward_ad.make_dual(v.detach(), next(given)) if isinstance(v, (torch.Tensor, facula.Tensor)) and v.requires_grad else v

        out = Call(call.function, dual(call.args), dual(call.options))()
        return out, [lib.autograd.forward_ad.unpack_dual(t).tangent for t in tensors(out)]


def differences(op, s):
    try:
        theirs = _call(op.op, s)
        mine = theirs.mirrored(counterpart(op))
        leaves = [t for t in tensors((theirs.args, theirs.options)) if t.requires_grad]
        directions = [w.detach() for w in weights(leaves, -1)]
        if not leaves:
            return
        torch.manual_seed(1)
        wanted = outcome(lambda: tangents(torch, theirs, s, directions))
        if isinstance(wanted, Exception):
            return
        forget()
        facula.manual_seed(1)
        found = outcome(lambda: tangents(facula, mine, s, mirrored(directions)))
        if isinstance(found, Exception):
            yield "raises", f"{type(found).__name__}: {found}"
            return
        same = not list(unlike(*processed(s, wanted[0], found[0]), 10))
        for w, f in zip(wanted[1], found[1]):
            if w is not None and f is not None:
                yield from ((kind, text) for kind, text in unlike(w.detach(), f.detach(), 100) if kind in ("dtype", "shape") or kind == "value" and same)
            elif any(t is not None and bool((t != 0).any()) for t in (w, f)):
                yield "absent", f"{'not None' if w is None else 'None'} of {tuple((f if w is None else w).shape)}"
    except Unserved:
        return


def of_entry(op, dtypes, most):
    for dtype in dtypes:
        if op.supports_forward_ad and dtype in op.supported_backward_dtypes("cpu"):
            for s in samples(op, dtype, True, most):
                what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
                yield from ((kind, f"{what}: {text}") for kind, text in differences(op, s))


if __name__ == "__main__":
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most), most=4, dtypes=[torch.float64, torch.complex128], wanted=lambda op: op.supports_forward_ad)
