"""Every row of the ops table has a derivative or says that it has none, and every derivative agrees with differences.

In float64, by random projection, to second order, over layouts. A row without samples here is a red test.
"""

import pytest
from backend import BACKEND, torch

if BACKEND == "torch":
    pytest.skip("the table is Facula's", allow_module_level=True)

from facula.autograd import _record, gradcheck, gradgradcheck  # noqa: E402
from facula.autograd._table import NONE, REFUSED, RULES, Rule  # noqa: E402
from facula.tensor_core import extend  # noqa: E402
from rule_samples import CONTIGUOUS, LAYOUTS, SAMPLES, TWICE_ZERO  # noqa: E402
from rule_samples_linalg import THROUGH  # noqa: E402

RANDOM = [name for name, op in extend.ops.items() if op.kind == "random"]
DIFFERENTIABLE = [name for name in extend.ops if isinstance(RULES.get(name), Rule) and name not in RANDOM and name not in REFUSED]


@pytest.mark.parametrize("name", extend.ops)
def test_every_row_has_a_derivative_or_none(name):
    assert name in RULES or name.rstrip("_") in RULES


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_derivative_has_samples(name):
    assert name in SAMPLES


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_rules_name_what_the_op_has(name):
    assert "def _backward" in _record.source(name)


@pytest.mark.parametrize("code, names", extend.steps.items(), ids=lambda v: getattr(v, "co_name", ""))
def test_a_function_that_is_one_step_names_rows(code, names):
    assert names.keys() <= extend.ops.keys()


ODD = {  # refused rows that do not take (x, x): their arguments for a matrix
    "_linalg_geqrf": lambda x: (x,), "_linalg_ldl_factor_ex": lambda x: (x, False), "_bincount": lambda x: (torch.tensor([0, 1]), x[0], 2),
    "_linalg_ldl_solve": lambda x: (torch.eye(2), torch.tensor([1, 2], dtype=torch.int32), x, False),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refused_derivative_is_an_error_in_backward_alone(name):
    x = torch.eye(2, requires_grad=True)
    out = extend.function(extend.ops[name])(*ODD.get(name, lambda x: (x, x))(x))
    out = out[0] if isinstance(out, (tuple, list)) else out

    assert out.requires_grad
    with pytest.raises(RuntimeError, match="is not implemented"):
        out.sum().backward()


def function(name):
    """The row as a function of new tensors: a row that writes in place gets a copy to write to."""
    row = extend.function(extend.ops[name])
    if extend.ops[name].params and "!" in extend.ops[name].params[0].type:
        return lambda x, *rest: row(x.clone(), *rest)
    return THROUGH[name](row) if name in THROUGH else row


def cases():
    for name in DIFFERENTIABLE:
        for number, sample in enumerate(SAMPLES.get(name, ())):
            for layout in ("contiguous",) if name in CONTIGUOUS else LAYOUTS:
                yield pytest.param(name, sample, layout, id=f"{name}-{number}-{layout}")


def prepared(sample, layout):
    """The sample's arguments with its float tensors in a layout, requiring grad, and the function of those alone."""
    return [leaf(a, layout) for a in sample()]


def leaf(a, layout):
    if isinstance(a, (list, tuple)) and a and isinstance(a[0], torch.Tensor):
        return [leaf(t, layout) for t in a]
    if isinstance(a, torch.Tensor) and (a.is_floating_point() or a.is_complex()):
        return LAYOUTS[layout](a).requires_grad_()
    return a


def flat(name, args):
    """(function of the tensors, tensors): lists of tensors are spread, for gradcheck sees only tensors of the first level."""
    f = function(name)
    tensors = []
    for a in args:
        tensors += a if isinstance(a, list) and a and isinstance(a[0], torch.Tensor) else [a] if isinstance(a, torch.Tensor) else []

    def call(*given):
        given = iter(given)
        rebuilt = []
        for a in args:
            if isinstance(a, list) and a and isinstance(a[0], torch.Tensor):
                rebuilt.append([next(given) for _ in a])
            else:
                rebuilt.append(next(given) if isinstance(a, torch.Tensor) else a)
        names = [p.name for p in extend.ops[name].params]
        keyword = {p.name for p in extend.ops[name].params if p.keyword}
        return f(*[v for n, v in zip(names, rebuilt) if n not in keyword], **{n: v for n, v in zip(names, rebuilt) if n in keyword})

    return call, tensors


@pytest.mark.parametrize("name,sample,layout", list(cases()))
def test_gradient_agrees_with_differences(name, sample, layout):
    f, tensors = flat(name, prepared(sample, layout))

    assert gradcheck(f, tensors, fast_mode=True)


@pytest.mark.parametrize("name,sample,layout", [c for c in cases() if c.values[2] == "contiguous"])
def test_second_gradient_agrees_with_differences(name, sample, layout):
    f, tensors = flat(name, prepared(sample, layout))
    if name in TWICE_ZERO:
        return

    assert gradgradcheck(f, tensors, fast_mode=True)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_first_sample_by_the_whole_jacobian(name):
    f, tensors = flat(name, prepared(SAMPLES[name][0], "contiguous"))

    assert gradcheck(f, tensors)


@pytest.mark.parametrize("name", [n for n in extend.ops if RULES.get(n) is NONE and extend.ops[n].kind == "map1"])
def test_rows_without_derivative_make_no_history(name):
    assert not extend.function(extend.ops[name])(torch.ones(2, requires_grad=True) if extend.ops[name].types != "INTS" else torch.ones(2, dtype=torch.int64)).requires_grad


@pytest.mark.parametrize("name", RANDOM)
def test_random_fills_forget_the_gradient(name):
    x = torch.full((3,), 0.5, requires_grad=True)
    y = x.clone()
    row = extend.function(extend.ops[name])
    required = [p for p in extend.ops[name].params[1:] if p.default is p.required]
    row(y, *[0.5 if p.type == "float" else k for k, p in enumerate(required)])
    y.sum().backward()

    assert [0.0] * 3 == x.grad.tolist()


def test_a_rule_that_asks_for_what_is_not_there_is_an_error():
    with pytest.raises(TypeError, match="nonsense"):
        _record.compiled(extend.ops["mul"], Rule("mul", {"x": lambda g, nonsense: g}, "MulBackward0"))


def test_two_derivatives_for_one_op_are_an_error():
    from facula.autograd._table import D

    with pytest.raises(ValueError, match="mul"):
        D("mul", x=lambda g: g)


# ---- computed variants of the samples: complex numbers, operands that lie oddly in memory, operands without elements ------

REAL_ONLY = {"complex_view", "_embedding"}  # whose row takes ALL, but whose operand or gradient kernel is real
ABLE = [n for n in DIFFERENTIABLE if extend.ops[n].types in ("ALL", "STORED", "NUMS", "FLOATS") and n not in REAL_ONLY]
MAPS = [n for n in DIFFERENTIABLE if extend.ops[n].kind in ("map1", "map2", "map3")]


def mapped(f, a):
    """f applied to the float tensors of a sample."""
    if isinstance(a, (list, tuple)) and a and isinstance(a[0], torch.Tensor):
        return [mapped(f, t) for t in a]
    return f(a) if isinstance(a, torch.Tensor) and (a.is_floating_point() or a.is_complex()) else a


def variants(name, f):
    """The first sample with its float tensors changed by f, and requiring grad."""
    return [mapped(lambda t: f(t).detach().requires_grad_(), a) for a in SAMPLES[name][0]()]


def turned(t):
    return t if t.is_complex() else t + 0.5j * torch.randn(tuple(t.shape), dtype=torch.float64)


@pytest.mark.parametrize("name", ABLE)
def test_complex_gradient_agrees_with_differences(name):
    f, tensors = flat(name, variants(name, turned))

    assert gradcheck(f, tensors, fast_mode=True)
    if name not in TWICE_ZERO:
        assert gradgradcheck(f, tensors, fast_mode=True)


def expanded(t):
    return t[..., :1].expand(t.shape) if t.ndim else t


def overlapping(t):
    return torch.cat([t.reshape(-1), t.reshape(-1)]).as_strided(t.shape, (1,) * t.ndim)


@pytest.mark.parametrize("layout", [expanded, overlapping])
@pytest.mark.parametrize("name", MAPS)
def test_gradient_of_operands_whose_elements_share_memory(name, layout):
    f, tensors = flat(name, variants(name, lambda t: t))

    assert gradcheck(lambda *given: f(*(layout(t) for t in given)), tensors, fast_mode=True)


@pytest.mark.parametrize("name", [n for n in MAPS if all(t.ndim for t in SAMPLES[n][0]() if isinstance(t, torch.Tensor))])
def test_gradient_of_operands_without_elements(name):
    args = SAMPLES[name][0]()
    args = [a[:0].detach() if isinstance(a, torch.Tensor) and a.ndim == max(t.ndim for t in args if isinstance(t, torch.Tensor)) else a for a in args]
    args = [mapped(lambda t: t.requires_grad_(), a) for a in args]
    out = function(name)(*args[: extend._positional(extend.ops[name])], **extend._keywords(extend.ops[name], args))
    out.sum().backward()

    for a in args:
        if isinstance(a, torch.Tensor) and a.requires_grad:
            assert a.grad is None or (a.shape == a.grad.shape and not a.grad.any())


EMPTY = {
    "sum": lambda x: x.sum(0),
    "sum of all": lambda x: x.sum(),
    "mean of columns": lambda x: x.mean(1),
    "prod": lambda x: x.prod(0),
    "prod of all": lambda x: x.prod(),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "amax of columns": lambda x: x.amax(1),
    "max of columns": lambda x: x.max(1)[0],
    "var of columns": lambda x: x.var(1),
    "norm": lambda x: x.norm(),
    "matmul": lambda x: x @ x.transpose(0, 1),
    "matmul over nothing": lambda x: x.transpose(0, 1) @ x,
    "softmax": lambda x: torch.softmax(x, 1),
    "log_softmax": lambda x: torch.log_softmax(x, 0),
    "view": lambda x: x.view(4, 0),
    "expand": lambda x: x.expand(2, 0, 4),
    "select": lambda x: x.select(1, 2),
    "diagonal": lambda x: x.diagonal(),
    "as_strided": lambda x: x.as_strided((0, 2), (1, 1)),
    "cat": lambda x: torch.cat([x, torch.ones(1, 4, dtype=torch.float64), x]),
    "stack": lambda x: torch.stack([x, x]),
    "index": lambda x: x[torch.zeros(0, dtype=torch.int64)],
    "index_select": lambda x: x.index_select(1, torch.tensor([1, 1])),
    "gather": lambda x: x.gather(0, torch.zeros(0, 4, dtype=torch.int64)),
    "scatter_add": lambda x: x.scatter_add(0, torch.zeros(0, 4, dtype=torch.int64), x),
    "sort": lambda x: x.sort(0)[0],
    "unbind": lambda x: x.unbind(1)[0],
    "where": lambda x: torch.where(x > 0, x, x * 2),
    "flip": lambda x: x.flip(0),
    "write": lambda x: x.clone().mul_(x),
}


@pytest.mark.parametrize("name", EMPTY)
def test_gradient_of_a_matrix_without_rows(name):
    x = torch.zeros(0, 4, dtype=torch.float64, requires_grad=True)
    EMPTY[name](x).sum().backward()

    assert (0, 4) == tuple(x.grad.shape)


# ---- where formulas break: zeros, infinities, NaN and ties, beside PyTorch -------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, float("inf"), float("-inf"), float("nan"), 0.25, 3.0]


def special_gradients(T, name, count):
    grid = [(a, b) for a in SPECIAL for b in SPECIAL] if count == 2 else [(a,) for a in SPECIAL]
    xs = [T.tensor([p[k] for p in grid], dtype=T.float64, requires_grad=True) for k in range(count)]
    out = getattr(T, name)(*xs)
    if not out.requires_grad:
        return None
    return [None if g is None else g.tolist() for g in T.autograd.grad(out.sum(), xs, allow_unused=True)]


def same_numbers(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(same_numbers(x, y) for x, y in zip(a, b))
    return a is b or (a != a and b != b) or a == b or abs(a - b) <= 1e-9 * abs(a)


NOT_PYTORCHS = {"sgn"}  # PyTorch has none that can be read of a real sgn
NOT_PYTORCHS |= {"celu", "selu", "hardshrink"}  # what its loops answer at NaN depends on whether the element is in the last few of a tensor
NOT_PYTORCHS |= {"digamma"}  # its trigamma is 1e-10 off, and finite at poles
NOT_PYTORCHS |= {"igamma", "igammac", "threshold"}  # no gradient for the first operand; two numbers to be given


@pytest.mark.parametrize("name", [n for n in MAPS if n not in NOT_PYTORCHS and extend.ops[n].kind != "map3"])
def test_gradient_at_special_values_is_pytorchs(name):
    reference = pytest.importorskip("torch")
    count = len(extend.ops[name].tensors)
    if not (hasattr(reference, name) and hasattr(torch, name)):
        pytest.skip("a row without a public name")
    expected, actual = (special_gradients(T, name, count) for T in (reference, torch))

    assert same_numbers(expected, actual)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_row_works_forward_and_many_gradients_at_once(name):
    f, tensors = flat(name, prepared(SAMPLES[name][0], "contiguous"))

    assert gradcheck(f, tensors, fast_mode=True, check_forward_ad=True, check_batched_grad=True)


@pytest.mark.parametrize("name", ABLE)
def test_a_row_works_forward_over_complex_numbers(name):
    f, tensors = flat(name, variants(name, turned))

    assert gradcheck(f, tensors, check_forward_ad=True, check_backward_ad=False)


# ---- operands that are still to be conjugated or negated -----------------------------------------------------------------


def lazy(t):
    """A leaf with t's values that is a conjugate view where it is complex, else a negative view."""
    t = t.detach()
    return torch._conj(t.conj_physical()).detach() if t.is_complex() else torch._neg_view(-t).detach()


def gradients_of(name, args):
    f, tensors = flat(name, args)
    torch.manual_seed(1)
    out = f(*tensors)
    outs = [o for o in (out if isinstance(out, (tuple, list)) else (out,)) if o.requires_grad]
    wanted = [t for t in tensors if t.requires_grad]
    weights = [torch.arange(1, o.numel() + 1, dtype=torch.float64).reshape(o.shape) * (1 - 0.5j if o.is_complex() else 1) for o in outs]
    return [*outs, *torch.autograd.grad(outs, wanted, weights, allow_unused=True)]


@pytest.mark.parametrize("change", [lambda t: t, turned], ids=["real", "complex"])
@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n != "real_view"])
def test_gradient_of_lazy_operands_is_that_of_resolved_ones(name, change):
    if change is turned and name not in ABLE:
        return
    torch.manual_seed(0)
    args = variants(name, change)
    lazies = [mapped(lambda t: lazy(t).requires_grad_(), a) for a in args]

    for expected, actual in zip(gradients_of(name, args), gradients_of(name, lazies), strict=True):
        assert (expected is None) == (actual is None)
        if expected is not None:
            torch.testing.assert_close(expected.detach().resolve_conj().resolve_neg(), actual.detach().resolve_conj().resolve_neg(), rtol=1e-9, atol=1e-9, equal_nan=True)


def test_a_write_through_a_conjugate_has_its_gradient():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)

    def written(x):
        y = x * 1
        y.conj().mul_(2j)
        y[:1].conj().imag.mul_(3.0)
        return y * torch.tensor([1.0, 2j], dtype=torch.complex128)

    assert gradcheck(written, (x,))
    assert gradgradcheck(written, (x,))


def test_views_of_a_written_base_are_rebuilt_conjugated():
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)

    def stale(x):
        y = x * 1
        view, part = y.conj(), y.conj().imag
        y.mul_(torch.tensor([2 + 1j, 1 - 3j], dtype=torch.complex128))
        return view * 2 + part * torch.tensor([1j, 2.0], dtype=torch.complex128)

    assert gradcheck(stale, (x,))


def test_gradients_that_arrive_conjugated():
    x = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    g = torch.randn(3, dtype=torch.complex128)
    (expected,) = torch.autograd.grad(torch.view_as_complex(x), x, g.conj().resolve_conj())
    (actual,) = torch.autograd.grad(torch.view_as_complex(x), x, g.conj())

    assert expected.tolist() == actual.tolist()


def test_vmap_and_forward_mode_keep_the_bits():
    from facula.func import jvp, vmap

    x, t = torch.randn(4, 3, dtype=torch.complex128), torch.randn(4, 3, dtype=torch.complex128)
    f = lambda z: z.conj().imag * z.mean().conj()  # noqa: E731

    torch.testing.assert_close(vmap(f)(x), torch.stack([f(z) for z in x]))
    torch.testing.assert_close(vmap(lambda z: z * 2)(x.conj()), x.conj_physical() * 2)
    assert vmap(lambda z: z.conj())(x).is_conj()
    value, tangent = jvp(lambda z: z.conj() * 2j, (x,), (t,))
    torch.testing.assert_close(tangent, t.conj_physical() * 2j)

    def in_place(z):
        y = z * 1
        y.conj()[0].mul_(2j)
        return y

    torch.testing.assert_close(jvp(in_place, (x,), (t,))[1], torch.cat([t[:1] * -2j, t[1:]]))


@pytest.mark.parametrize("part", [lambda z: z.real, lambda z: z.imag, lambda z: z.conj().imag[1:], lambda z: z.imag.expand(2, 3)])
def test_parts_of_a_written_base_are_rebuilt(part):
    x = torch.tensor([1 + 2j, 3 - 1j, 2 + 0.5j], dtype=torch.complex128, requires_grad=True)
    scale = torch.tensor([2 + 1j, 1 - 3j, 1j], dtype=torch.complex128)

    def stale(x):
        y = x * 1
        view = part(y)
        y.mul_(scale)
        return view * view

    assert gradcheck(stale, (x,))
