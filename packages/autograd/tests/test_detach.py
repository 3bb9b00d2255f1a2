"""detach, requires_grad and .data: what shares memory without history."""

import pytest
from backend import leaf, near, node, plain, torch


def test_detach_shares_memory_but_not_history():
    x, y = node(1, 2)
    d = y.detach()
    d.add_(1)

    assert not d.requires_grad and d.is_leaf and d.grad_fn is None and near([2, 3], y)


def test_detach_in_place_cuts_the_history():
    x, y = node(1, 2)
    y.detach_()

    assert not y.requires_grad and y.is_leaf and y.grad_fn is None


def test_requires_grad_can_be_switched_on_a_leaf():
    x = plain(1, 2)

    assert x.requires_grad_() is x and x.requires_grad and x.is_leaf
    x.requires_grad = False

    assert not x.requires_grad and x.grad_fn is None


def test_results_are_not_leaves_but_plain_tensors_are():
    x, y = node(1, 2)

    assert x.is_leaf and not y.is_leaf and plain(1).is_leaf and y.detach().is_leaf


def test_in_place_on_an_argument_of_zero_gradient_op():
    x, y = node(1.5, 2.5)
    y.floor_()
    y.sum().backward()

    assert near([0, 0], x.grad)


def test_data_setter_replaces_the_values():
    x = leaf(1, 2)
    x.data = plain(5, 6)
    (x * x).sum().backward()

    assert near([5, 6], x) and near([10, 12], x.grad)


READS = {
    "tolist": lambda d: d.tolist(),
    "equal": lambda d: torch.equal(d, d),
    "nonzero": lambda d: d.nonzero(),
    "a copy": lambda d: torch.tensor(d.tolist()),
    "clone": lambda d: d.clone(),
    "numpy": lambda d: d.numpy(),
    "repr": repr,
    "a mask": lambda d: d[d > 0],
    "resize_": lambda d: d.resize_(1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READS)
def test_a_detached_alias_can_be_read_after_a_write(name):
    x, y = node(1, 2)
    d = y.detach()
    y.mul_(2)

    READS[name](d)
