"""In-place operations through views: bases, siblings and stale views have one history."""

import pytest
from backend import leaf, near, node, plain, torch


def test_base_of_a_modified_view_has_the_views_history():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    v.mul_(10)
    (b * plain(1, 2, 3, 4)).sum().backward()

    assert near([1, 20, 30, 4], x.grad)


def test_view_itself_after_its_modification():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    v.mul_(10)
    v.sum().backward()

    assert near([0, 10, 10, 0], x.grad)


def test_view_sees_a_modification_of_its_base():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    b.mul_(plain(1, 2, 3, 4))
    v.sum().backward()

    assert near([0, 2, 3, 0], x.grad)


def test_sibling_of_a_modified_view():
    x, b = node(1, 2, 3, 4)
    v, w = b[0:3], b[1:4]
    v.mul_(10)
    w.sum().backward()

    assert near([0, 10, 10, 1], x.grad)


def test_view_of_a_view():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    v = b.t()[1:]
    w = v[0]
    w.mul_(10)

    (b * 2).sum().backward()

    assert near([[2, 20, 2], [2, 20, 2]], x.grad)


def test_parent_view_after_a_view_of_it_changed():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    v = b.t()
    v[1:][0].mul_(10)
    v[1].sum().backward()

    assert near([[0, 10, 0], [0, 10, 0]], x.grad)


def test_second_modification_through_another_view():
    x, b = node(1, 2, 3, 4)
    v, w = b[0:3], b[1:4]
    v.mul_(10)
    w.mul_(3)
    v.sum().backward()

    assert near([10, 30, 30, 0], x.grad)


def test_modifying_a_view_of_a_plain_tensor_brings_the_base_into_the_graph():
    b, w = plain(1, 2, 3, 4), leaf(5, 6)
    b[1:3].mul_(w)

    assert b.requires_grad and not b.is_leaf
    b.sum().backward()

    assert near([2, 3], w.grad)


def test_older_view_of_a_plain_base_gets_history_from_it():
    b, w = plain(1, 2, 3, 4), leaf(5, 6, 7, 8)
    v = b[1:3]

    assert not v.requires_grad
    b.mul_(w)

    assert v.requires_grad and not v.is_leaf
    v.sum().backward()

    assert near([0, 2, 3, 0], w.grad)


def test_setitem_with_a_tensor_that_requires_grad():
    b, w = plain(1, 2, 3, 4), leaf(5, 6)
    b[1:3] = w
    (b * plain(1, 2, 3, 4)).sum().backward()

    assert near([2, 3], w.grad)


def test_setitem_in_a_loop():
    w = leaf(1, 2, 3)
    out = torch.zeros(3, dtype=torch.float64)
    for i in range(3):
        out[i] = w[i] * w[i]
    out.sum().backward()

    assert near([2, 4, 6], w.grad)


def test_setitem_after_reading_the_same_place():
    w = leaf(1, 2, 3)
    out = w.clone()
    for i in range(1, 3):
        out[i] = out[i] + out[i - 1]
    (out * plain(1, 1, 1)).sum().backward()

    assert near([3, 2, 1], w.grad)


def test_modifying_a_transposed_view():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    b.t().mul_(torch.arange(6, dtype=torch.float64).reshape(3, 2))
    b.sum().backward()

    assert near([[0, 2, 4], [1, 3, 5]], x.grad)


def test_modifying_a_diagonal():
    x, b = node(1, 2, 3, 4, shape=(2, 2))
    b.diagonal().mul_(10)
    b.sum().backward()

    assert near([[10, 1], [1, 10]], x.grad)


def test_base_with_permuted_strides():
    x = leaf(1, 2, 3, 4, 5, 6, shape=(2, 3))
    b = x.t().clone()  # clone keeps the strides of its input
    b[1].mul_(10)
    (b * torch.arange(6, dtype=torch.float64).reshape(3, 2)).sum().backward()

    assert near([[0, 20, 4], [1, 30, 5]], x.grad)


def test_modified_reshape_that_is_a_view_changes_its_base():
    x, b = node(1, 2, 3, 4)
    b.view(2, 2)[0].zero_()
    b.sum().backward()

    assert near([0, 0, 1, 1], x.grad)


def test_second_order_through_a_modified_view():
    x = leaf(1, 2, 3)
    b = x * x
    b[0:2].mul_(x[1:3])
    (g,) = torch.autograd.grad(b.sum(), x, create_graph=True)  # x0^2 x1 + x1^2 x2 + x2^2

    assert near([4, 13, 10], g)
    (h,) = torch.autograd.grad((g * plain(1, 10, 100)).sum(), x)
    # Hessian rows: [2 x1, 2 x0, 0], [2 x0, 2 x2, 2 x1], [0, 2 x1, 2]

    assert near([2 * 2 + 20, 2 + 60 + 400, 40 + 200], h)


def test_grad_fn_of_a_stale_view_is_rebuilt():
    _, b = node(1, 2, 3, 4)
    v = b[1:3]
    b.mul_(2)

    assert v.grad_fn.name() == "AsStridedBackward0"


def test_detached_alias_of_a_modified_tensor_stays_detached():
    _, b = node(1, 2)
    d = b.detach()
    b.mul_(2)

    assert not d.requires_grad and near([2, 4], d * 1)


def silent_view(x):
    with torch.no_grad():
        return x[:1]


def test_a_view_made_under_no_grad_requires_grad_and_passes_nothing_on():
    x = leaf(1, 2, 3)
    v = silent_view(x)
    (v * 2).sum().backward()

    assert v.requires_grad and v.is_leaf and v.grad is None and x.grad is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        v.backward()
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad((v * 2).sum(), v)


def test_a_view_made_under_no_grad_is_not_written_to_with_history():
    with pytest.raises(RuntimeError, match="no_grad"):
        silent_view(leaf(1, 2, 3)).mul_(2)


def test_a_view_made_under_no_grad_is_not_used_after_a_write_to_its_base():
    x, y = node(1, 2, 3)
    v = silent_view(y)
    y.mul_(2)

    assert v.requires_grad
    with pytest.raises(RuntimeError, match="no_grad"):
        v * 2
    with torch.no_grad():
        assert near(2.0, v.sum())
    with pytest.raises(RuntimeError, match="no_grad"):
        (v * 2).sum().backward()


def test_pieces_are_not_used_after_a_silent_write_to_their_leaf():
    x = leaf(1, 2, 3)
    a, b, c = x.unbind(0)
    with torch.no_grad():
        x.mul_(2)

        assert near(4.0, b * 1)
    with pytest.raises(RuntimeError, match="[uU]nbind"):
        a * 2


def test_as_strided_beyond_its_view_sends_back_what_the_view_has():
    x, y = node(1, 2, 3, 4)
    y[1].as_strided((2,), (1,), 1).sum().backward()

    assert near([0, 1, 0, 0], x.grad)


@pytest.mark.parametrize("aliased", [lambda p: p.detach(), lambda p: p.detach().detach()])
def test_what_is_detached_hears_of_no_write_but_its_views_do(aliased):
    from facula.tensor_core.extend import epoch_stale

    p = leaf(1, 2, 3, 4)
    d = aliased(p)
    v, w = d.view(2, 2), d[:2]
    with torch.no_grad():
        p.add_(1)

    assert not epoch_stale(d) and near([2, 3, 4, 5], d)
    q = leaf(2)
    d.mul_(q)

    assert epoch_stale(v) and v.requires_grad and v.grad_fn.name() == "AsStridedBackward0"
    w.mul_(q)
    (d.sum() + v.sum()).backward()

    assert near([2 * (10 * 2 + 9)], q.grad)
