"""Forward mode: dual tensors, beside PyTorch where it is installed."""

import importlib

import pytest
from backend import BACKEND, near, plain, torch

fw = importlib.import_module(BACKEND + ".autograd.forward_ad")


def parts(f, T):
    """Values, tangents and requires_grad flags of the results of f at a dual tensor."""
    duals = importlib.import_module(T.__name__ + ".autograd.forward_ad")
    x = T.tensor([1.0, 2.0, 3.0], dtype=T.float64)
    with duals.dual_level():
        out = f(T, duals.make_dual(x, T.tensor([0.5, -1.0, 2.0], dtype=T.float64)))
        found = [duals.unpack_dual(o) for o in (out if isinstance(out, (tuple, list)) else [out])]
        return [(p.tolist(), v if v is None else v.tolist(), p.requires_grad, v is not None and v.requires_grad) for p, v in found]


def partly_written(T, d):
    y = d * 1
    y[0] = 5
    y[1:].mul_(2)
    return y, y[1:]


def written_into(T, d):
    z = T.zeros(3, dtype=T.float64)
    z[0] = d[1]
    z[2:].copy_(d[:1])
    return z, z * d


def overwritten(T, d):
    y = d * 2
    return y.zero_()


def gathered(T, d):
    z = T.ones(3, dtype=T.float64)
    z.add_(d)
    return z.mul_(d)


def copied_and_written(T, d):
    y = d.clone()
    y.zero_()
    z = d.contiguous().reshape(3, 1).clone()
    z.mul_(2)
    return y, z, d * 1


def written_twice(T, d):
    places = T.tensor([0, 0, 1])
    z = T.ones(2, dtype=T.float64)
    z.index_put_((T.tensor([1, 1]),), d[:2])
    return T.zeros(2, dtype=T.float64).scatter(0, places, d), T.zeros(2, dtype=T.float64).index_copy(0, places, d), z


def silent(T, d):
    with T.no_grad():
        return d * weight(T)


def weight(T):
    return T.tensor([1.0, 1.0, 2.0], dtype=T.float64, requires_grad=True)


CALLS = {
    "product": lambda T, d: d.sin() * d,
    "sum": lambda T, d: d.sum(),
    "matrix product": lambda T, d: d.view(3, 1) @ d.view(1, 3),
    "slice": lambda T, d: d[1:],
    "softmax": lambda T, d: T.softmax(d, 0),
    "max": lambda T, d: d.max(0)[0],
    "comparison": lambda T, d: (d > 1).to(T.float64),
    "cat": lambda T, d: T.cat([d, d * 2]),
    "stack": lambda T, d: T.stack([d, T.ones(3, dtype=T.float64)]),
    "detach": lambda T, d: d.detach(),
    "clone": lambda T, d: d.clone(),
    "prod": lambda T, d: d.prod(),
    "unbind": lambda T, d: d.unbind(),
    "norm": lambda T, d: d.norm(),
    "where": lambda T, d: T.where(d > 1.5, d, d * 0),
    "cumsum": lambda T, d: d.cumsum(0),
    "logsumexp": lambda T, d: T.logsumexp(d, 0),
    "conversion": lambda T, d: d.to(T.complex128),
    "power": lambda T, d: d**2,
    "exponential": lambda T, d: 2.0**d,
    "expand": lambda T, d: d.expand(2, 3).sum(0),
    "nothing to do with it": lambda T, d: T.ones(2),
    "beside a weight": lambda T, d: d * weight(T),
    "under no_grad": silent,
    "partly written": partly_written,
    "written into": written_into,
    "overwritten": overwritten,
    "gathered": gathered,
    "indexed": lambda T, d: d[T.tensor([2, 0, 2])],
    "transposed": lambda T, d: d.view(1, 3).t() * 3,
    "copied and written": copied_and_written,
    "written twice": written_twice,
    "strides of a part": lambda T, d: (d[1:].as_strided((2,), (1,), 0), d.as_strided((2, 2), (1, 0), 1)),
    "reflectors": lambda T, d: T.linalg.householder_product(d.view(3, 1), d[:1]),
    "an odd norm of zeros": lambda T, d: T.linalg.norm(d * 0, -2),
    "group norm": lambda T, d: T.native_group_norm(d.view(1, 3, 1), None, None, 1, 3, 1, 1, 0.5),
}


@pytest.mark.parametrize("name", CALLS)
def test_tangents_are_pytorchs(name):
    reference = pytest.importorskip("torch")
    for (value, tangent, *flags), (value_, tangent_, *flags_) in zip(parts(CALLS[name], reference), parts(CALLS[name], torch)):
        assert flags == flags_ and near(value, value_)
        assert (tangent is None) == (tangent_ is None) and (tangent is None or near(tangent, tangent_))


def test_tangent_of_a_cube():
    with fw.dual_level():
        out = fw.unpack_dual(fw.make_dual(plain(2), plain(1)) ** 3)

        assert near([8], out.primal) and near([12], out.tangent)


def test_a_tangent_has_a_gradient():
    w = plain(1, 2).requires_grad_()
    with fw.dual_level():
        tangent = fw.unpack_dual((fw.make_dual(w, plain(1, 1)) ** 3).sum()).tangent
        (g,) = torch.autograd.grad(tangent, w)

    assert near(15.0, tangent) and near([6, 12], g)


def test_tangents_end_with_their_level():
    with fw.dual_level():
        d = fw.make_dual(plain(1), plain(1))

    assert fw.unpack_dual(d).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(d * 2).tangent is None


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x, k):
        return x**3 * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.save_for_forward(inputs[0])
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return 3 * g * ctx.saved_tensors[0] ** 2 * ctx.k, None

    @staticmethod
    def jvp(ctx, v, _):
        return 3 * v * ctx.saved_tensors[0] ** 2 * ctx.k


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


def test_a_function_has_its_own_jvp():
    with fw.dual_level():
        out = fw.unpack_dual(Cube.apply(fw.make_dual(plain(2), plain(1)), 2.0))

        assert near([16], out.primal) and near([24], out.tangent)


def test_a_function_without_jvp_is_refused():
    with fw.dual_level(), pytest.raises((NotImplementedError, RuntimeError)):
        Plain.apply(fw.make_dual(plain(2), plain(1)))


def in_level(f):
    with fw.dual_level():
        return f()


BAD = {
    "no level": (RuntimeError, lambda: fw.make_dual(plain(1), plain(1))),
    "leaving no level": (RuntimeError, lambda: fw.exit_dual_level()),
    "two levels": (RuntimeError, lambda: in_level(fw.enter_dual_level)),
    "another shape": (RuntimeError, lambda: in_level(lambda: fw.make_dual(plain(1, 2), plain(1)))),
    "an integer tensor": (ValueError, lambda: in_level(lambda: fw.make_dual(torch.tensor(1), torch.tensor(1)))),
    "no tensor": ((TypeError, AttributeError), lambda: in_level(lambda: fw.make_dual(2, plain(1)))),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses(name):
    error, call = BAD[name]
    with pytest.raises(error):
        call()


JVP = {  # what forward answers -> its jvp: right, then wrong
    "a copy": (lambda x: x * 2, lambda v: v * 2, None),
    "a view": (lambda x: x[:1], lambda v: v[:1], lambda v: v[:1].clone()),
    "a view of another tensor": (lambda x: x[:1], lambda v: v[:1], lambda v: (v * 1)[:1]),
    "the argument": (lambda x: x, lambda v: v.view_as(v), lambda v: v * 2),
    "a number": (lambda x: 3, lambda v: None, lambda v: v),
    "integers": (lambda x: x.long(), lambda v: None, lambda v: v),
}


@pytest.mark.parametrize("name", JVP)
def test_a_jvp_must_do_as_forward_does(name):
    def function(jvp):
        class Made(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x: JVP[name][0](x))

        Made.jvp = staticmethod(lambda ctx, v: jvp(v))
        return Made

    def run(jvp):
        with fw.dual_level():
            out = function(jvp).apply(fw.make_dual(plain(1, 2), plain(3, 4)))
            return fw.unpack_dual(out).tangent if isinstance(out, torch.Tensor) else None

    _, right, wrong = JVP[name]
    expected = right(plain(3, 4))
    found = run(right)

    assert expected is found is None or near(expected.tolist(), found)
    if wrong is not None:
        with pytest.raises(RuntimeError):
            run(wrong)


def test_a_jvp_of_what_is_written_writes_too():
    def function(jvp):
        class Doubled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

        Doubled.jvp = staticmethod(lambda ctx, v: jvp(v))
        return Doubled

    with fw.dual_level():
        v = plain(3, 4)
        d = fw.make_dual(plain(1, 2), v)

        assert function(lambda v: v.mul_(2)).apply(d) is d and near([6, 8], fw.unpack_dual(d).tangent)
        with pytest.raises(RuntimeError, match="inplace"):
            function(lambda v: v * 2).apply(d)


GRADIENTS = {
    "cube": lambda T, w: (w**3).sum(),
    "saved result": lambda T, w: w.exp().sum(),
    "product": lambda T, w: (w * w.sin()).sum(),
    "matrices": lambda T, w: (w.view(3, 1) @ w.view(1, 3)).exp().sum(),
    "softmax": lambda T, w: (T.softmax(w, 0) * w).sum(),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_has_a_tangent(name):
    """Forward over reverse: the tangent of the gradient is the Hessian times the tangent."""

    def found(T):
        duals = importlib.import_module(T.__name__ + ".autograd.forward_ad")
        w = T.tensor([0.5, -1.0, 0.25], dtype=T.float64, requires_grad=True)
        with duals.dual_level():
            d = duals.make_dual(w, T.tensor([1.0, 2.0, -1.0], dtype=T.float64))
            (g,) = T.autograd.grad(GRADIENTS[name](T, d), d)
            return duals.unpack_dual(g).tangent.tolist()

    v = torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64)
    x = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64)
    expected = torch.autograd.functional.hvp(lambda w: GRADIENTS[name](torch, w), x, v)[1]

    assert near(expected.tolist(), torch.tensor(found(torch), dtype=torch.float64))


WINDOWS = {
    "slice": lambda x: x[:, 1:],
    "select": lambda x: x[0],
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (1, 2)),
    "real": lambda x: torch.complex(x, x).real,
    "written": lambda x: written(x.clone(), x[:, 1]),
}


def written(y, column):
    y[:, 0] = column
    y[1].mul_(3)
    return y


@pytest.mark.parametrize("name", WINDOWS)
def test_the_weight_of_a_gradient_has_a_tangent(name):
    f = WINDOWS[name]
    x = torch.arange(12, dtype=torch.float64).reshape(3, 4).sin().requires_grad_()
    v = torch.arange(f(x).numel(), dtype=torch.float64).reshape(f(x).shape).cos()
    (expected,) = torch.autograd.grad(f(x), x, v.clone())
    with fw.dual_level():
        w = fw.make_dual(torch.ones_like(v), v).requires_grad_()
        y = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(f(y), y, w, create_graph=True)
        tangent = fw.unpack_dual(g).tangent

    assert near(expected.tolist(), tangent)


ALIKE = {
    "clone": lambda d: d.clone(),
    "add": lambda d: d + 1,
    "sub": lambda d: d - torch.ones(2, dtype=torch.float64),
    "cat": lambda d: torch.cat([d]),
    "to": lambda d: d.to(torch.float64, copy=True),
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_write_to_a_result_is_none_to_the_operands_tangent(name):
    v = plain(1, 2)
    with fw.dual_level():
        d = fw.make_dual(plain(5, 6), v)
        c = ALIKE[name](d)
        c.mul_(3)

        assert near([1, 2], fw.unpack_dual(d).tangent) and near([3, 6], fw.unpack_dual(c).tangent)
    assert near([1, 2], v)
