"""Every row on the meta device: the shapes, dtypes and strides that it has on the CPU, without memory.

Negative strides are left out (a meta tensor has none), and rows without a tensor argument.
"""

import facula
import pytest
from oracles import ORACLES
from oracles.layouts import LAYOUTS
from oracles.samples import cases_of
from test_ops import KERNELS, OPS, call, contiguous, laid_out

def on_meta(value):
    if isinstance(value, facula.Tensor):
        return facula.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return [on_meta(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", sorted({name for name, _ in KERNELS if OPS[name].tensors}))
def test_a_row_on_meta_is_described_as_on_the_cpu(name):
    op, oracle = OPS[name], ORACLES[name]
    for dtype in dict.fromkeys(d for n, d in KERNELS if n == name):
        for case, arguments in cases_of(op, oracle, dtype):
            for layout in LAYOUTS.values():
                if layout.__name__ == "negative" or layout is not contiguous and not oracle.layouts:
                    continue
                _, made = laid_out(op, arguments, layout)
                meta = [on_meta(a) for a in made]
                expected, actual = call(op, made), call(op, meta)
                what = f"{name}, {dtype}, {case}, {layout.__name__}"
                for e, r in zip(expected, actual):
                    assert r.is_meta, what
                    assert (e.shape, e.dtype, e.stride()) == (r.shape, r.dtype, r.stride()), what


COMPOSED = (
    "X.arange(5, device='meta')", "X.linspace(0, 1, 5, device='meta')", "X.eye(3, device='meta')", "X.full((2,), 1.5, device='meta')", "X.randn(2, 3, device='meta')", "X.tensor([1.0, 2.0], device='meta')",
    "x.tril()", "x.mean(0)", "x.std()", "x.softmax(1)", "x[1:, ::2]", "x[0]", "x.sort()[0]", "x.topk(2)[1]", "x @ x.t()", "x.repeat(2, 1)", "x.flip(0)", "x.roll(1, 0)", "x.clone()", "x.half()", "x.to(X.int64)",
    "X.cat([x, x])", "X.stack([x, x], 1)", "X.where(x > 0, x, 0.0)", "x.clamp(0, 1)", "x.conj()", "(x + 1j).conj()", "x.gather(0, X.zeros(1, 2, dtype=X.int64, device='meta'))", "X.einsum('ij,kj->ik', x, x)", "x.cumsum(0)",
    "x.norm()", "x.var(1, keepdim=True)", "x.max(0)[0]", "x.expand(2, 3, 4)", "x.t().contiguous()", "x.view(4, 3)", "x.reshape(2, 6)", "x.zero_()", "x.add_(1)", "x.copy_(x)", "x.unfold(0, 2, 1)", "X.empty_like(x)", "X.rand_like(x)",
    "x.new_zeros(2)", "x.untyped_storage()", "x.data_ptr()", "x.index_select(0, X.zeros(2, dtype=X.int64, device='meta'))", "x[X.zeros(2, dtype=X.int64, device='meta')]", "x.scatter_add(0, X.zeros(3, 4, dtype=X.int64, device='meta'), x)",
    "x.abs().log()", "x.split(2)[1]", "x.diagonal()", "x.unsqueeze(0)", "x.argmax(1)", "x.bernoulli()", "X.bmm(x.expand(2, 3, 4), x.t().expand(2, 4, 3))", "x.masked_fill(x > 0, 1.0)", "x.any()", "x == x", "-x",
)  # fmt: skip


@pytest.mark.parametrize("text", COMPOSED)
def test_compositions_on_meta_agree_with_pytorch(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = (eval(text, {"X": X, "x": X.zeros(3, 4, device="meta")}) for X in (torch, facula))
    if not isinstance(actual, facula.Tensor):
        assert len(expected) == len(actual) if hasattr(actual, "__len__") else expected == actual
        return

    assert actual.is_meta
    assert (tuple(expected.shape), str(expected.dtype), expected.stride()) == (tuple(actual.shape), str(actual.dtype), actual.stride())


REFUSED = ("x.tolist()", "x.item()", "x.numpy()", "bool(x[0, 0])", "x.nonzero()", "x[x > 0]", "x.to('cpu')", "x + X.zeros(3, 4)")


@pytest.mark.parametrize("text", REFUSED)
def test_what_needs_elements_is_refused_as_by_pytorch(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    errors = []
    for X in (torch, facula):
        with pytest.raises(Exception) as caught:
            eval(text, {"X": X, "x": X.zeros(3, 4, device="meta")})
        errors.append(caught.value)

    assert isinstance(errors[1], type(errors[0])), errors


def test_a_meta_tensor_takes_copies_and_gives_none():
    meta = facula.empty(2, device="meta")

    assert meta.copy_(facula.ones(2)) is meta and meta.is_meta
    with pytest.raises(NotImplementedError, match="no data"):
        facula.ones(2).copy_(meta)
