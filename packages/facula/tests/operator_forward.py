"""python operator_forward.py REGEX: tangents of the operators beside PyTorch's forward mode, over PyTorch's own samples, one process an entry."""

import facula
import torch
from operator_compare import Call, _call, outcome, processed, unlike
from operator_derivatives import apart, survey_of, weights
from operator_samples import counterpart, forget, mirrored, tensors

SIGNS = "vectors are free in their signs, and so are their tangents"
HERMITIAN = "of a direction that is not Hermitian: the operator reads half of a Hermitian matrix"
WRONG = "PyTorch's tangent is not what differences say"
KNOWN = {
    "svd_lowrank": SIGNS, "pca_lowrank": SIGNS, "linalg.eig": SIGNS,
    "linalg.cholesky": HERMITIAN, "linalg.cholesky_ex": HERMITIAN, "linalg.eigh": HERMITIAN,
    "cholesky_inverse": WRONG, "triangular_solve": WRONG, "logcumsumexp": WRONG,
}  # fmt: skip


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
    theirs = _call(op.op, s)
    yield from of_calls(s, theirs, theirs.mirrored(counterpart(op)))


def of_calls(s, theirs, mine):
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
    yield from apart(wanted[1], found[1], lambda kind: kind in ("dtype", "shape") or kind == "value" and same)


if __name__ == "__main__":
    survey_of(__doc__, differences, lambda op: op.supports_forward_ad and op.name not in KNOWN, most=4)
