"""In-place operations: the history is rebased."""

import pytest
from backend import leaf, near, node, plain, torch


def test_in_place_op_extends_the_history():
    x, y = node(2, 3)
    y.mul_(y.detach().clone())
    y.sum().backward()

    assert near([2, 3], x.grad)


def test_in_place_op_brings_a_plain_tensor_into_the_graph():
    w, y = leaf(2, 3), plain(5, 7)
    y.mul_(w)

    assert y.requires_grad and not y.is_leaf
    y.sum().backward()

    assert near([5, 7], w.grad)


def test_in_place_op_that_needs_its_old_value_keeps_it():
    w = leaf(5, 7)
    x, y = node(2, 3)
    y.mul_(w)
    y.sum().backward()

    assert near([2, 3], w.grad) and near([5, 7], x.grad)


def test_chain_of_in_place_ops():
    x, y = node(2, 3)
    y.mul_(3).add_(1).exp_()
    y.sum().backward()
    expected = (3 * torch.exp(3 * x.detach() + 1)).tolist()

    assert near(expected, x.grad)


IN_PLACE = {
    "add_": (lambda y: y.add_(2), [1, 1]),
    "add_ with alpha": (lambda y: y.add_(plain(1, 1), alpha=2), [1, 1]),
    "sub_": (lambda y: y.sub_(2), [1, 1]),
    "mul_": (lambda y: y.mul_(4), [4, 4]),
    "div_": (lambda y: y.div_(4), [0.25, 0.25]),
    "neg_": (lambda y: y.neg_(), [-1, -1]),
    "pow_": (lambda y: y.pow_(2), [4, 6]),
    "zero_": (lambda y: y.zero_(), [0, 0]),
    "fill_": (lambda y: y.fill_(3), [0, 0]),
    "copy_": (lambda y: y.copy_(plain(8, 9)), [0, 0]),
    "setitem": (lambda y: y.__setitem__(0, 5.0), [0, 1]),
    "iadd": (lambda y: y.__iadd__(1), [1, 1]),
    "relu_": (lambda y: y.relu_(), [1, 1]),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_ops_and_their_gradients(name):
    change, expected = IN_PLACE[name]
    x, y = node(2, 3)
    change(y)
    y.sum().backward()

    assert near(expected, x.grad)


def test_copy_brings_the_sources_gradient():
    x, y = node(2, 3)
    w = leaf(5, 6)
    y.copy_(w)
    (y * plain(1, 10)).sum().backward()

    assert near([0, 0], x.grad) and near([1, 10], w.grad)


def test_copy_sums_over_a_broadcast_source():
    y, w = plain(0, 0), leaf(5)
    y.copy_(w)
    (y * plain(1, 10)).sum().backward()

    assert near([11], w.grad)


def test_copy_casts_the_gradient_to_the_sources_dtype():
    y, w = plain(0, 0), leaf(5, 6, dtype=torch.float32)
    y.copy_(w)
    y.sum().backward()

    assert w.grad.dtype == torch.float32


def test_clamp_in_place_keeps_what_its_derivative_needs():
    x, y = node(-3, 0.5, 3)
    y.clamp_(-1, 1)
    y.sum().backward()

    assert near([0, 1, 0], x.grad)
