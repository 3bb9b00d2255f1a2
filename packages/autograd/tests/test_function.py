"""autograd.Function: user-defined forward and backward."""

import pytest
from backend import leaf, near, node, plain, torch

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


class TwoOutputs(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        return 2 * a + 3 * b


def test_several_outputs_and_materialized_zeros():
    x = leaf(1, 2)
    a, b = TwoOutputs.apply(x)
    b.sum().backward(retain_graph=True)

    assert near([3, 3], x.grad) and a.grad_fn is b.grad_fn and (0, 1) == (a.output_nr, b.output_nr)
    (a + b).sum().backward()

    assert near([8, 8], x.grad)


def test_set_materialize_grads_false_gives_none():
    seen = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append(a)
            return b

    F.apply(leaf(1))[1].sum().backward()

    assert [None] == seen


def test_mark_non_differentiable():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            order = x * 5
            ctx.mark_non_differentiable(order)
            return x * 2, order

        @staticmethod
        def backward(ctx, g, g_order):
            assert near([0, 0], g_order)
            return g * 2

    x = leaf(1, 2)
    y, order = F.apply(x)

    assert y.requires_grad and not order.requires_grad
    y.sum().backward()

    assert near([2, 2], x.grad)


def test_integer_outputs_have_no_history():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, torch.tensor([1, 2])

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    y, i = F.apply(leaf(1, 2))

    assert y.requires_grad and not i.requires_grad


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_mark_dirty():
    x, y = node(1, 2)
    z = Double.apply(y)

    assert z is y and near([2, 4], y)
    (z * 3).sum().backward()

    assert near([6, 6], x.grad)


def test_mark_dirty_on_a_view_rebases_its_base():
    x, b = node(1, 2, 3)
    Double.apply(b[0:2])
    b.sum().backward()

    assert near([2, 2, 1], x.grad)


def test_mark_dirty_on_a_leaf_is_refused():
    with pytest.raises(RuntimeError):
        Double.apply(leaf(1))


def test_returning_an_input_makes_a_new_tensor():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = leaf(1, 2)
    y = Same.apply(x)

    assert y is not x and x.is_leaf
    y.sum().backward()

    assert near([10, 10], x.grad)


def test_returning_a_view_of_an_input():
    class First(Function):
        @staticmethod
        def forward(ctx, x):
            return x[0:1]

        @staticmethod
        def backward(ctx, g):
            return torch.cat([g, g * 0])

    x, y = node(1, 2)
    z = First.apply(y)
    z.sum().backward()

    assert near([1, 0], x.grad)
    with pytest.raises(RuntimeError):
        First.apply(node(1, 2)[1]).mul_(2)


def test_backward_may_return_none_and_fewer_trailing_nones():
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return None, g

    x, y = leaf(1), leaf(2)
    F.apply(x, y).sum().backward()

    assert x.grad is None and near([1], y.grad)


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


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k=2, shift=0):
        ctx.k = k
        return x * k + shift

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None, None


class Arranged(torch.autograd.Function):
    @staticmethod
    def forward(x, k=2):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert 2 == len(inputs)
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


@pytest.mark.parametrize(
    "function, args, kwargs, slope",
    [
        (Scaled, True, {"k": 3}, 3), (Scaled, False, {"k": 3}, 3), (Scaled, False, {}, 2), (Scaled, True, {}, 2),
        (Arranged, True, {"k": 3}, 3), (Arranged, False, {}, 2), (Arranged, True, {}, 2),
    ],
)  # fmt: skip
def test_keyword_arguments_take_their_places(function, args, kwargs, slope):
    x = leaf(1, 2)
    y = function.apply(x, **kwargs) if args else function.apply(x=x, **kwargs)
    y.sum().backward()

    assert [slope, slope] == x.grad.tolist()


@pytest.mark.parametrize("kwargs", [{"q": 1}, {"x": 1}])
def test_keyword_arguments_that_do_not_fit_are_refused(kwargs):
    with pytest.raises(TypeError):
        Scaled.apply(leaf(1), **kwargs)


class Listed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return [x * 2, x * 3]

    @staticmethod
    def backward(ctx, a, b):
        return 2 * a + 3 * b


@pytest.mark.facula_only  # PyTorch records nothing of a list
def test_a_list_of_results_stays_one():
    x = leaf(1, 2)
    out = Listed.apply(x)
    sum(out).sum().backward()

    assert type(out) is list and [5.0, 5.0] == x.grad.tolist()
