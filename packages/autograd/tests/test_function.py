"""autograd.Function: user-defined forward and backward."""

import pytest
from backend import leaf, near, plain, torch

Function = torch.autograd.Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * g * x


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Scale(Function):
    """The new form: forward without ctx, setup_context apart."""

    @staticmethod
    def forward(x, factor):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


def test_function_with_a_saved_input():
    x = leaf(2, 3)
    y = Square.apply(x)

    assert near([4, 9], y) and y.requires_grad and "SquareBackward" == y.grad_fn.name()
    y.sum().backward()

    assert near([4, 6], x.grad)


def test_function_with_a_saved_output_and_second_order():
    x = leaf(0, 1)
    y = Exp.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)

    assert near(y.tolist(), g) and near(y.tolist(), h)


def test_function_with_setup_context():
    x = leaf(2, 3)
    Scale.apply(x, 5).sum().backward()

    assert near([5, 5], x.grad)


def test_forward_runs_without_recording():
    seen = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((torch.is_grad_enabled(), (x * 2).requires_grad, x.requires_grad))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    F.apply(leaf(1))

    assert [(False, False, True)] == seen


def test_grad_fn_is_the_context():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.note = "hello"
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    assert "hello" == F.apply(leaf(1)).grad_fn.note


def test_needs_input_grad_and_non_tensor_arguments():
    seen = []

    class F(Function):
        @staticmethod
        def forward(ctx, x, y, text, z=None):
            return x * y

        @staticmethod
        def backward(ctx, g):
            seen.append(tuple(ctx.needs_input_grad))
            return g, None, None, None

    F.apply(leaf(1), plain(2), "text", None).sum().backward()

    assert [(True, False, False, False)] == seen


def test_nothing_is_recorded_when_no_input_needs_it():
    y = Square.apply(plain(2))

    assert not y.requires_grad and y.grad_fn is None
    with torch.no_grad():
        assert not Square.apply(leaf(2)).requires_grad


@pytest.mark.parametrize("bad", [lambda g: (g, g), lambda g: torch.ones(5, dtype=torch.float64), lambda g: 3])
def test_backward_that_returns_the_wrong_thing_is_refused(bad):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return bad(g)

    with pytest.raises((RuntimeError, TypeError)):
        F.apply(leaf(1, 2)).sum().backward()


def test_gradient_that_broadcasts_is_summed():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3, 2, dtype=torch.float64)

    x = leaf(1, 2)
    F.apply(x).sum().backward()

    assert near([3, 3], x.grad)


def test_once_differentiable():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            return 2 * g * ctx.saved_tensors[0]

    x = leaf(3)
    y = F.apply(x)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)

    assert near([108], g)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_saved_tensors_are_freed_with_the_graph():
    x = leaf(3)
    y = Square.apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_saved_tensors_are_checked_for_versions():
    x = leaf(3)
    w = x * 1
    y = Square.apply(w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="version"):
        y.sum().backward()


def test_save_for_backward_accepts_none():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[1] is None
            return g * 2

    F.apply(leaf(1)).sum().backward()


def test_save_for_backward_refuses_other_things():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(TypeError):
        F.apply(leaf(1))


def test_function_cannot_be_called_as_an_instance():
    with pytest.raises((RuntimeError, TypeError)):
        Square()(leaf(1))


def test_missing_backward_is_refused_when_it_is_needed():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    y = F.apply(leaf(1))
    with pytest.raises((RuntimeError, NotImplementedError)):
        y.sum().backward()


def test_function_hooks():
    x = leaf(1, 2)
    y = Square.apply(x)
    seen = []
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("node"))
    y.sum().backward()

    assert ["tensor", "node"] == seen


def test_nested_functions():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Square.apply(x) * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * Square.apply(x)

    x = leaf(2)
    (g,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)

    assert near([12], g) and near([12], h)


def test_tuple_output_of_one():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2,)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    out = F.apply(leaf(1))

    assert isinstance(out, tuple) and out[0].requires_grad


def test_a_complex_gradient_of_a_real_input_is_refused():
    class Turn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1j

        @staticmethod
        def backward(ctx, g):
            return g * -1j

    with pytest.raises(RuntimeError, match="complex"):
        Turn.apply(leaf(1)).abs().sum().backward()


def test_the_bare_function_has_no_forward():
    with pytest.raises(NotImplementedError):
        torch.autograd.Function.apply(leaf(1))


@pytest.mark.parametrize("name", "inputs saved code at seq extra rule layout numbers keeps edge edges parts views sizes whole where shown flat marked checked pushed changed kept results mode ref".split())
def test_ctx_takes_attributes_of_any_name(name):
    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, name, 2)
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * getattr(ctx, name) + 0 * x

    x = leaf(3)
    y = Doubled.apply(x)

    assert "AccumulateGrad" == type(y.grad_fn.next_functions[0][0]).__name__
    y.backward()
    assert 2 == x.grad.item()
