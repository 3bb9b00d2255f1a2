"""Writes under no_grad and inference_mode (and in the normal mode) beside PyTorch's: to leaves, results, views made before or in the mode, pieces.

What the write gives or raises, versions, and what a use, a gradient, and a view from before the write give after it.
"""

import itertools

import pytest

pytest.importorskip("torch")
from test_edges import attempt, differ, ours, real

PLACES = {
    "all": lambda x: x, "view": lambda x: x.view(3, 2), "row": lambda x: x[1], "columns": lambda x: x[:, 1:], "t": lambda x: x.t(), "detach": lambda x: x.detach(), "data": lambda x: x.data,
    "alias": lambda x: x[...], "piece": lambda x: x.unbind()[0], "chunk": lambda x: x.chunk(2, 1)[0], "view of view": lambda x: x.view(-1)[2:5],
}  # fmt: skip
WRITES = {
    "add number": lambda t, v, q: v.add_(1), "add float": lambda t, v, q: v.add_(0.5), "add alpha": lambda t, v, q: v.add_(t.ones_like(v), alpha=2), "add history": lambda t, v, q: v.add_(q.sum()),
    "mul": lambda t, v, q: v.mul_(t.full_like(v, 3.0)), "iadd": lambda t, v, q: v.__iadd__(2.0), "idiv": lambda t, v, q: v.__itruediv__(2), "copy": lambda t, v, q: v.copy_(t.ones_like(v)),
    "copy history": lambda t, v, q: v.copy_(q.sum()), "fill": lambda t, v, q: v.fill_(2.0), "zero": lambda t, v, q: v.zero_(), "clamp": lambda t, v, q: v.clamp_(-1, 1), "clamp min": lambda t, v, q: v.clamp_(min=0),
    "clamp tensor": lambda t, v, q: v.clamp_(t.zeros_like(v), None), "lerp": lambda t, v, q: v.lerp_(t.ones_like(v), 0.5), "addcmul": lambda t, v, q: v.addcmul_(t.ones_like(v), t.ones_like(v), value=0.5),
    "set": lambda t, v, q: v.__setitem__(0, 7.0), "set tensor": lambda t, v, q: v.__setitem__(slice(0, 1), t.ones_like(v)[:1]), "set mask": lambda t, v, q: v.__setitem__(v > 0, 0.0),
    "set masked": lambda t, v, q: v.__setitem__(v > 1, v[v > 1] * 2), "set index": lambda t, v, q: v.__setitem__(t.tensor([0]), 5.0), "put": lambda t, v, q: v.put_(t.tensor([0]), t.ones(1, dtype=v.dtype)),
    "index_put": lambda t, v, q: v.index_put_((t.tensor([1]),), t.tensor(2.0, dtype=v.dtype), True), "masked_fill": lambda t, v, q: v.masked_fill_(v > 0, 1.0),
    "index_add": lambda t, v, q: v.index_add_(0, t.tensor([1]), t.ones_like(v)[:1]), "index_add history": lambda t, v, q: v.index_add_(0, t.tensor([1]), t.ones_like(v)[:1] * q.sum()), "index_fill": lambda t, v, q: v.index_fill_(0, t.tensor([1]), 4.0),
    "scatter": lambda t, v, q: v.scatter_(0, t.zeros_like(v, dtype=t.int64), t.ones_like(v)), "scatter number": lambda t, v, q: v.scatter_(0, t.zeros_like(v, dtype=t.int64), 3.0),
    "relu": lambda t, v, q: v.relu_(), "sigmoid": lambda t, v, q: t.sigmoid_(v), "nan_to_num": lambda t, v, q: v.nan_to_num_(), "cumsum": lambda t, v, q: v.cumsum_(0), "uniform": lambda t, v, q: v.uniform_(2.0, 2.0),
    "round": lambda t, v, q: v.round_(), "pow": lambda t, v, q: v.pow_(2), "masked_scatter": lambda t, v, q: v.masked_scatter_(v > 0, t.ones_like(v)), "itself": lambda t, v, q: v.add_(v),
    "out": lambda t, v, q: t.mul(t.ones_like(v), 2.0, out=v), "of another shape": lambda t, v, q: v.add_(t.ones(7, dtype=v.dtype)), "a text": lambda t, v, q: v.add_("a"), "fill_ with history": lambda t, v, q: v.fill_(q.sum()),
}  # fmt: skip


def program(t, made, place, write, mode, result):
    """Everything that can be told of a write: `made` is the mode in which the view was made, `mode` that of the write."""
    modes = {"normal": t.enable_grad, "no_grad": t.no_grad, "inference": t.inference_mode}
    leaf = t.tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -2.0]], dtype=t.float64, requires_grad=True)
    q = t.tensor([0.1, 0.2], dtype=t.float64, requires_grad=True)
    x = leaf * 1.5 if result else leaf
    before = PLACES[place](x)
    used = x * x
    with modes[made]():
        v = PLACES[place](x)
    with modes[mode]():
        raised = attempt(lambda: WRITES[write](t, v, q) is v)
    told = [raised, attempt(lambda: x.detach().clone()), attempt(lambda: x._version), attempt(lambda: v._version), attempt(lambda: v.requires_grad), attempt(lambda: v.is_leaf)]
    for y in (v, before, x):
        told += [attempt(lambda y=y: (y * 2).detach()), attempt(lambda y=y: t.autograd.grad((y * y).sum(), leaf, retain_graph=True))]
    return [*told, attempt(lambda: t.autograd.grad(used.sum(), leaf)), attempt(lambda: (v.add_(1), t.autograd.grad((v * v).sum(), leaf))[1])]


@pytest.mark.parametrize("write", WRITES)
def test_what_follows_a_write_is_pytorchs(write):
    wrong = []
    for made, place, mode, result in itertools.product(("normal", "no_grad", "inference"), PLACES, ("normal", "no_grad", "inference"), (False, True)):
        case = (made, place, write, mode, result)
        found = [k for k, (a, b) in enumerate(zip(program(real, *case), program(ours, *case))) if differ(a, b)]
        if found:
            wrong.append((case, found))
    assert not wrong, f"{len(wrong)} cases differ, in: {wrong[:8]}"
