"""t_, squeeze_ and what else changes the shape of a tensor in place, where it has a history."""

import pytest
from backend import leaf, near, torch

RESHAPED = {
    "t_": (lambda y: y.t_(), (3, 2)), "transpose_": (lambda y: y.transpose_(0, -1), (3, 2)), "swapaxes_": (lambda y: y.swapaxes_(0, 1), (3, 2)),
    "unsqueeze_": (lambda y: y.unsqueeze_(1), (2, 1, 3)), "squeeze_": (lambda y: y.unsqueeze_(0).squeeze_(0), (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", RESHAPED)
def test_what_changes_the_shape_in_place_is_recorded(name):
    change, shape = RESHAPED[name]
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    change(y)
    weights = torch.arange(6.0).reshape(shape)
    (y * weights).sum().backward()

    assert tuple(y.shape) == shape and not y.is_leaf
    assert near((2 * (weights.t() if shape == (3, 2) else weights.reshape(2, 3))).tolist(), x.grad)


def test_a_leaf_that_requires_grad_changes_its_shape_under_no_grad_alone():
    w = leaf(5, 7)
    with pytest.raises(RuntimeError, match="leaf"):
        w.unsqueeze_(0)
    with torch.no_grad():
        w.unsqueeze_(0)

    assert w.is_leaf and w.requires_grad and tuple(w.shape) == (1, 2)


def test_a_piece_that_changed_its_shape_is_still_a_piece():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    v = y[0]
    v.unsqueeze_(1).mul_(3)
    y.sum().backward()

    assert near([[6, 6, 6], [2, 2, 2]], x.grad)
