"""Every row of the ops table has a derivative or says that it has none, and every derivative agrees with differences.

In float64, by random projection, to second order, over layouts. A row without samples here is a red test.
"""

import pytest
from backend import BACKEND, torch

if BACKEND == "torch":
    pytest.skip("the table is Facula's", allow_module_level=True)

from facula.autograd import _record, gradcheck, gradgradcheck  # noqa: E402
from facula.autograd._table import NONE, RULES, Rule  # noqa: E402
from facula.tensor_core import extend  # noqa: E402
from rule_samples import CONTIGUOUS, LAYOUTS, SAMPLES, TWICE_ZERO  # noqa: E402

RANDOM = [name for name, op in extend.ops.items() if op.kind == "random"]
DIFFERENTIABLE = [name for name in extend.ops if isinstance(RULES.get(name), Rule) and name not in RANDOM]


@pytest.mark.parametrize("name", extend.ops)
def test_every_row_has_a_derivative_or_none(name):
    assert name in RULES or name.rstrip("_") in RULES


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_derivative_has_samples(name):
    assert name in SAMPLES


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_rules_name_what_the_op_has(name):
    assert "def backward" in _record.source(name)


def function(name):
    """The row as a function of new tensors: a row that writes in place gets a copy to write to."""
    row = extend.function(extend.ops[name])
    if extend.ops[name].params and "!" in extend.ops[name].params[0].type:
        return lambda x, *rest: row(x.clone(), *rest)
    return row


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


@pytest.mark.parametrize("name,sample,layout", cases())
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
