"""Writes that cannot be right are refused, and change nothing."""

import pytest
from backend import leaf, near, node, plain, torch


def refuse_leaf():
    leaf(1, 2).mul_(2)


def refuse_view_of_leaf():
    leaf(1, 2)[0:1].mul_(2)


def refuse_setitem_on_leaf():
    leaf(1, 2)[0] = 3.0


def refuse_unbind():
    node(1, 2)[1].unbind()[0].mul_(2)


def refuse_split():
    node(1, 2)[1].split(1)[0].mul_(2)


def refuse_chunk():
    node(1, 2)[1].chunk(2)[1].mul_(2)


def refuse_split_after_base_changed():
    b = node(1, 2)[1]
    v = b.split(1)[0]
    b.mul_(2)
    v * 2


def refuse_view_made_without_grad():
    b = node(1, 2)[1]
    with torch.no_grad():
        v = b[0:1]
    v.mul_(2)


def refuse_expanded():
    b = node(1)[1]
    b.expand(3).mul_(2)


def refuse_out():
    torch.mul(leaf(1, 2), 2, out=plain(0, 0))


def refuse_out_that_requires_grad():
    torch.mul(plain(1, 2), 2, out=leaf(1, 2))


def refuse_detach_of_a_view():
    node(1, 2)[1][0:1].detach_()


def refuse_integer_leaf():
    torch.tensor([1, 2]).requires_grad_()


def refuse_integer_factory():
    torch.ones(2, dtype=torch.int64, requires_grad=True)


def refuse_flag_of_a_result():
    node(1, 2)[1].requires_grad_(False)


def refuse_numpy():
    leaf(1, 2).numpy()


REFUSALS = [f for name, f in list(globals().items()) if name.startswith("refuse_")]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda f: f.__name__[7:])
def test_refusals(case):
    with pytest.raises(RuntimeError):
        case()


def test_a_refused_write_changes_nothing():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError):
        x.mul_(2)

    assert near([1, 2], x) and x._version == 0


def test_leaf_may_be_written_without_grad():
    x = leaf(1, 2)
    with torch.no_grad():
        x.mul_(2)
        x[0] = 7.0

    assert near([7, 4], x) and x.is_leaf and x.requires_grad


def test_data_may_be_written_any_time():
    x = leaf(1, 2)
    x.data.mul_(2)

    assert near([2, 4], x) and x.is_leaf and x._version == 0


def test_writing_a_view_without_grad_leaves_history_alone():
    x, b = node(1, 2, 3)
    v = b[0:2]
    with torch.no_grad():
        v.mul_(10)
    b.sum().backward()

    assert near([1, 1, 1], x.grad)
