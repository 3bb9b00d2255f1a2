"""autograd.Function: several outputs, outputs that are inputs or views, and what is no output of a derivative."""

import pytest
from backend import leaf, near, node, torch

Function = torch.autograd.Function


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
