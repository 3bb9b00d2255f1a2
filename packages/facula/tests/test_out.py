"""`out=` and numbers that a dtype cannot hold, beside PyTorch where it is installed: values, dtype, shape, strides, error class."""

import warnings

import pytest

import facula

torch = pytest.importorskip("torch")

# every line with each dtype and shape of OUTS for O; f is float32 (3,), i int64 (2,), h bfloat16, m a matrix of ones
OUT = """
X.add(f, f, out=O)
X.mul(f, 2, out=O)
X.mul(h, h, out=O)
X.sin(h, out=O)
X.neg(f, out=O)
X.abs(f, out=O)
X.floor(f, out=O)
X.sign(f, out=O)
X.trunc(f, out=O)
X.frac(f, out=O)
X.sqrt(f.abs(), out=O)
X.signbit(f, out=O)
X.isposinf(f, out=O)
X.bitwise_not(i, out=O)
X.logical_not(f, out=O)
X.eq(f, f, out=O)
X.where(f > 0, f, f, out=O)
X.clamp(f, 0, 1, out=O)
X.nan_to_num(f, out=O)
X.float_power(f, 2, out=O)
X.round(f, decimals=1, out=O)
X.sum(f, 0, out=O)
X.prod(i, 0, out=O)
X.mean(f, 0, out=O)
X.amax(f, 0, out=O)
X.argmax(f, 0, out=O)
X.any(f, 0, out=O)
X.cumsum(f, 0, out=O)
X.cumsum(i, 0, out=O)
X.logcumsumexp(f, 0, out=O)
X.cat([f, f], out=O)
X.gather(f, 0, i - 1, out=O)
X.index_select(f, 0, i - 1, out=O)
X.scatter(f, 0, i, f[:2], out=O)
X.index_add(f, 0, i, f[:2], out=O)
X.mm(m, m, out=O)
X.addmm(m, m, m, out=O)
X.addr(m, m[0], m[0], out=O)
X.dot(f, f, out=O)
X.outer(f, f, out=O)
X.tril(m, out=O)
X.diag(f, out=O)
X.masked_select(f, f > 0, out=O)
X.take(f, i, out=O)
X.nonzero(f, out=O)
X.searchsorted(f.sort()[0], f, out=O)
X.cross(f, f, 0, out=O)
X.tensordot(f, f, 1, out=O)
X.renorm(m, 2, 0, 1, out=O)
X.quantile(f, 0.5, out=O)
X.softmax(f, 0, out=O)
X.linspace(0, 1, 3, out=O)
X.arange(3, out=O)
X.full((2,), 1.5, out=O)
X.nn.functional.softplus(f, out=O)
X.nn.functional.softshrink(f, out=O)
X.nn.functional.avg_pool2d(m.reshape(1, 2, 2), 2, out=O)
X.sort(f, out=(O, X.empty(3, dtype=X.int64)))
X.sort(f, out=(X.empty(3), O))
X.cummax(f, 0, out=(O, X.empty(0, dtype=X.int64)))
X.min(f, 0, out=(X.empty(0), O))
X.topk(f, 2, out=(O, X.empty(0, dtype=X.int64)))
""".strip().splitlines()
OUTS = [f"X.empty({shape}, dtype=X.{dtype})" for dtype in ("float32", "float64", "int64", "int32", "bool", "complex64") for shape in ("0", "(3, 2)")]
OUTS += ["X.empty(3, 2)[:, 0]", "X.empty(1).expand(3)"]

# numbers that must fit, and two numbers for operands
NUMBERS = """
X.full((2,), 300, dtype=X.uint8)
X.full((2,), -3, dtype=X.uint8)
X.full((2,), 1e300)
X.full((2,), 1j, dtype=X.float32)
X.full((2,), float("inf"), dtype=X.int64)
X.full((2,), float("inf"))
i.masked_fill(i > 1, 1j)
i.masked_fill(i > 1, float("inf"))
i.int().masked_fill(i > 1, 2**40)
f.masked_fill(f > 0, 1e300)
f.masked_fill(f > 0, X.tensor(1j))
f.half().fill_(1e6)
f.half() + 1e6
i.to(X.uint8).clamp(-5, 300)
i.to(X.uint8).add(300)
i.scatter(0, X.tensor([0]), 1j)
i.new_full((2,), 1j)
i.clamp_(0.5)
i.polygamma_(1)
f.float_power_(2)
f.double().float_power_(2)
f.round_(decimals=1)
i.cumsum_(0)
X.pow(2, 3)
X.remainder(2, 3)
X.xlogy(2, 3)
X.bitwise_and(2, 3)
X.add(2, 3)
X.mul(2, 3)
X.sum(i.bool(), dtype=X.bool)
X.sum(i * 200, dtype=X.uint8)
X.prod(i.bool(), 0, dtype=X.bool)
X.cumsum(i, 0, dtype=X.bool)
X.cumsum(i * 100, 0, dtype=X.int8)
X.mean(i)
X.tensor(1.5).repeat(2, 3)
X.tensor([[1.5, 2], [3, 4]]).t().repeat(1, 1)
f.repeat()
X.unravel_index(X.tensor([[1, 7], [4, 5]]), (4, 5))
X.unravel_index(i, (-1, 5))
X.quantile(X.arange(12.0).reshape(2, 2, 3), X.tensor([0.2, 0.7]), 1)
X.quantile(X.arange(12.0).reshape(2, 2, 3), 0.3, 0, True)
X.renorm(f, 2, 0, 1)
X.tensordot(X.ones(1, 2, dtype=X.int16), X.ones(3, 2, dtype=X.int16), dims=((0,), (0,)))
i.short().sum_to_size(())
X.tensor(1, dtype=X.int16).sum_to_size(())
""".strip().splitlines()
# outputs in an input's memory: O lies one element behind a, in its place, or is it; L, C and I so behind l, c and i
OVER = """
X.addmm(a, X.ones(3, 3), X.ones(3, 3), out=O)
X.addmm(a, X.ones(3, 3), X.ones(3, 3), beta=0, out=O)
X.addmm(l[0], X.ones(3, 3), X.ones(3, 3), out=O)
X.addbmm(a, X.ones(2, 3, 3), X.ones(2, 3, 3), alpha=2, out=O)
X.addmv(l, X.ones(9, 3), X.ones(3), out=L)
X.addr(a, X.ones(3), X.ones(3), out=O)
X.addr(X.ones(3, 3), l[:3], X.ones(3), beta=0, out=O)
X.addr(X.ones(3, 3).bool(), l[:3].bool(), X.ones(3).bool(), out=O)
X.kron(a, X.ones(1, 1), out=O)
X.diff(a, n=0, out=O)
X.frexp(a, out=(O, X.empty(3, 3, dtype=X.int32)))
X.logit(a, 0.1, out=O)
X.round(a, decimals=1, out=O)
X.renorm(a, 2, 0, 1, out=O)
X.msort(a, out=O)
X.sort(a, out=(O, X.empty(3, 3, dtype=X.int64)))
X.topk(a, 3, out=(O, X.empty(3, 3, dtype=X.int64)))
X.kthvalue(l[:9].reshape(9, 1), 1, 1, True, out=(O.reshape(9, 1), X.empty(9, 1, dtype=X.int64)))
X.mode(c, 1, True, out=(C, X.empty(9, 1, dtype=X.int64)))
X.median(c, 1, True, out=(C, X.empty(9, 1, dtype=X.int64)))
X.max(c, 1, True, out=(C, X.empty(9, 1, dtype=X.int64)))
X.aminmax(c, dim=1, keepdim=True, out=(X.empty(9, 1), C))
X.cumsum(a, 0, out=O)
X.logcumsumexp(a, 0, out=O)
X.index_add(X.zeros(3, 3), 0, X.arange(3), a, alpha=2, out=O)
X.index_reduce(a, 0, X.arange(3), X.ones(3, 3), "mean", out=O)
X.index_reduce(X.ones(3, 3), 0, X.arange(3), a, "mean", out=O)
X.scatter_reduce(a, 0, X.zeros(3, 3, dtype=X.int64), X.ones(3, 3), "amax", include_self=False, out=O)
X.scatter_reduce(X.ones(3, 3), 0, X.zeros(3, 3, dtype=X.int64), a, "sum", out=O)
X.linalg.solve_triangular(X.eye(3), a, upper=True, out=O)
X.geqrf(a, out=(O, X.empty(3)))
X.geqrf(a, out=(O.t(), X.empty(3)))
X.cholesky_inverse(a, out=O.t())
X.linalg.lu_factor(a, out=(O.t(), X.empty(3, dtype=X.int32)))
X.ormqr(X.eye(3), X.ones(3), a, out=O.t())
X.gather(X.arange(9), 0, i, out=I)
X.sort(i, out=(X.empty(9, dtype=X.int64), I))
X.kthvalue(i.reshape(9, 1), 1, 1, True, out=(X.empty(9, 1, dtype=X.int64), I.reshape(9, 1)))
X.nan_to_num(i, out=I)
X.add(a, 1, out=O)
X.cat([a], out=O)
""".strip().splitlines()
SHIFTS = {"one further": 1, "in the same place": 0, "itself": None}


def over(line, X, shift):
    """Does a call answer, and what, where its output lies so?"""
    memory, counts = X.linspace(0.1, 0.9, 10), X.arange(10) * 4 % 9
    names = {"X": X, "a": memory[:9].view(3, 3), "l": memory[:9], "c": memory[:9].view(9, 1), "i": counts[:9]}
    outs = {"O": "a", "L": "l", "C": "c", "I": "i"}
    first = shift or 0
    names |= {o: names[x] if shift is None else (counts if o == "I" else memory)[first:first + 9].view(names[x].shape) for o, x in outs.items()}
    try:
        found = eval(line, names)
    except RuntimeError as error:
        return str(error).count("unsupported operation") or type(error)
    return [t.double().flatten().tolist() for t in (found if isinstance(found, tuple) else (found,))]


STRIDES = {"X.nonzero(f, out=O)"}  # PyTorch's answer lies column by column
OVERLAPPING = "X.empty(1).expand(3)"
FILLED = {"X.cummax(f, 0, out=(O, X.empty(0, dtype=X.int64)))", "X.linspace(0, 1, 3, out=O)", "X.arange(3, out=O)", "X.addr(m, m[0], m[0], out=O)"}  # one of us writes elements that share memory


def facts(line, X, out=None):
    names = {"X": X, "f": X.tensor([1.5, -2.5, 3.0]), "i": X.tensor([1, 2]), "h": X.tensor([1.0078125, 3.140625]).bfloat16(), "m": X.ones(2, 2)}
    if out is not None:
        names["O"] = eval(out, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(line, names)
        except Exception as e:
            return e
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    return [(str(t.dtype), tuple(t.shape), t.stride() if t.numel() else None, t.tolist()) for t in found]


def assert_alike(line, out=None):
    expected, actual = facts(line, torch, out), facts(line, facula, out)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert isinstance(actual, type(expected)), (expected, actual)
        return
    for (dtype, shape, stride, value), (dtype_, shape_, stride_, value_) in zip(expected, actual, strict=True):
        assert (dtype, shape) == (dtype_, shape_)
        assert stride == stride_ or line in STRIDES
        assert value_ == pytest.approx(value, rel=1e-6, nan_ok=True) if not shape else torch.allclose(torch.tensor(value_), torch.tensor(value), rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("line, out", [(line, out) for line in OUT for out in OUTS if out != OVERLAPPING or line not in FILLED])
def test_out_is_filled_or_refused_as_in_pytorch(line, out):
    assert_alike(line, out)


@pytest.mark.parametrize("line", NUMBERS)
def test_a_number_fits_or_is_refused_as_in_pytorch(line):
    assert_alike(line)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("line", OVER)
def test_an_output_lies_over_an_input_where_pytorchs_may(line, shift):
    expected, actual = (over(line, X, SHIFTS[shift]) for X in (torch, facula))

    assert actual == ([pytest.approx(e, rel=1e-5, abs=1e-6) for e in expected] if isinstance(expected, list) else expected)
