"""`out=`: one that is as the result is goes to the verb at once, all others are seen to on the slow path."""

import numpy as np
import pytest

import facula
from facula.tensor_core import _ops

x = facula.arange(12.0).reshape(3, 4)
index = facula.tensor([[0, 2, 1, 0]])

PLAIN = {
    "tanh": (x,), "add": (x, x), "sub": (x, 2), "lt": (x, 3.5), "lerp": (x, x, 0.5), "where_rows": (x > 3, x, 1.0), "addcmul": (x, x, x), "sum": (x, 1), "amax": (x, (0, 1)),
    "cumsum": (x, 0), "matmul": (x, x.T), "linear": (x, x, facula.ones(3)), "gather": (x, 0, index), "scatter_add": (x, 0, index, facula.ones(1, 4)), "softmax": (x, 1), "cat": ([x, x], 1),
}  # fmt: skip


@pytest.fixture
def slow(monkeypatch):
    """The rows that take the slow path."""
    seen, call = [], _ops.call
    monkeypatch.setattr(_ops, "call", lambda op, *rest: (seen.append(op.name), call(op, *rest))[1])
    return seen


@pytest.mark.parametrize("name", PLAIN)
def test_an_output_that_is_as_the_result_is_goes_to_the_verb(name, slow):
    row, args = getattr(_ops, name), PLAIN[name]
    expected = row(*args)
    out = facula.empty_like(expected)
    version = out._version
    result = row(*args, out=out)

    assert result is out
    assert expected.equal(out)
    assert version < out._version
    assert [] == slow


def test_number_that_is_named_reaches_the_verb_with_an_output(slow):
    out = facula.empty(3, 4)
    _ops.add(x, x, alpha=3, out=out)
    _ops.add(x, x, out=facula.empty(3, 4))

    assert (4 * x).equal(out)
    assert [] == slow


@pytest.mark.parametrize("out", [facula.empty(3, 4, dtype=facula.float64), facula.empty(0), facula.empty(3, 4).mT.contiguous().mT, facula.empty(3, 8)[:, ::2]], ids=("float64", "empty", "turned", "strided"))
def test_any_other_output_is_written_too(out):
    assert facula.tanh(x).equal(facula.tanh(x, out=out).float())
    assert (x + x).equal(facula.add(x, x, out=out).float())


def test_refusals_stand():
    wide = facula.arange(8.0)

    for refused in (
        lambda: facula.tanh(x.clone().requires_grad_(), out=facula.empty(3, 4)),
        lambda: facula.tanh(x, out=facula.empty(3, 4, dtype=facula.int64)),
        lambda: facula.tanh(x, out=facula.empty(3, 1).expand(3, 4)),
        lambda: facula.tanh(wide[1:], out=wide[:-1]),
        lambda: facula.gather(wide, 0, facula.arange(8), out=wide),
        lambda: facula.abs(x, out=facula.empty(3, 4, dtype=facula.float64)),
    ):
        with pytest.raises(RuntimeError):
            refused()


def test_output_may_be_an_operand_of_elementwise_rows(slow):
    y = x.clone()
    facula.add(y, y, out=y)

    assert (x + x).equal(y)
    assert [] == slow


def test_in_place_writing_converts_after_an_output_that_did_not():
    facula.tanh(x, out=facula.empty(3, 4, dtype=facula.float64))
    y = facula.zeros(3, dtype=facula.float32)
    y.add_(facula.ones(3, dtype=facula.float64))

    assert [1.0, 1.0, 1.0] == y.tolist()


READ_FIRST = {
    "addmm_ of parts": (lambda x: x.addmm_(x[:, :4], x[:4]), lambda a: a + a[:, :4] @ a[:4]),
    "addmm_ of itself": (lambda x: x.addmm_(x, x), lambda a: a + a @ a),
    "addmm_ of itself turned": (lambda x: x.addmm_(x.t(), x), lambda a: a + a.T @ a),
    "addmv_ of a row": (lambda x: x[0].addmv_(x, x[1]), lambda a: a[0] + a @ a[1]),
    "addbmm_": (lambda x: x.addbmm_(x[None], x[None]), lambda a: a + a @ a),
    "ldexp_ of itself turned": (lambda x: x.ldexp_(x.t()), lambda a: a * 2.0**a.T),
}


@pytest.mark.parametrize("name", READ_FIRST)
def test_what_is_written_over_was_read_before(name):
    """PyTorch answers these, from what it has written meanwhile."""
    call, expected = READ_FIRST[name]
    a = np.random.default_rng(2).integers(-3, 4, (6, 6)).astype(np.float64)

    assert (expected(a) == call(facula.from_numpy(a.copy())).numpy()).all()
