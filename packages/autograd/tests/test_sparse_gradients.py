"""Sparse COO tensors as leaves: their gradients lie at their own indices."""

import facula
import pytest

INDICES = [[0, 1, 1], [2, 0, 2]]


def leaf():
    return facula.sparse_coo_tensor(INDICES, [3.0, 4.0, 5.0], (2, 3), requires_grad=True)


def leaf_with_an_index_twice():
    return facula.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], [3.0, 4.0, 5.0, 6.0], (2, 3), requires_grad=True)


def total(s):
    return facula.sparse.mm(s, facula.full((3, 2), 2.0)).sum()


@pytest.mark.parametrize("change, values", [(lambda g: g.zero_(), 0.0), (lambda g: g.mul_(0.5), 2.0), (lambda g: g.div_(4), 1.0)], ids=["zero_", "mul_", "div_"])
@pytest.mark.parametrize("leaf", [leaf, leaf_with_an_index_twice])
def test_what_is_done_to_a_gradient_stays_done(leaf, change, values):
    s = leaf()
    total(s).backward()
    assert s.grad is s.grad
    assert [4.0] * 3 == s.grad._values().tolist()
    change(s.grad)

    assert [values] * 3 == s.grad.coalesce().values().tolist()
    total(s).backward()
    assert [4.0 + values] * 3 == s.grad.coalesce().values().tolist()


def test_a_cleared_gradient_forgets_nan():
    s = leaf()
    (total(s) * float("nan")).backward()
    s.grad.zero_()

    assert [0.0] * 3 == s.grad._values().tolist()


def test_grad_takes_sparse_inputs():
    s, d = leaf(), facula.ones(3, 2, requires_grad=True)
    of_s, of_d = facula.autograd.grad(facula.sparse.mm(s, d).sum(), [s, d])

    assert of_s.is_sparse and of_s.shape == s.shape
    assert [2.0] * 3 == of_s._values().tolist()
    assert [[4.0, 4.0], [0.0, 0.0], [8.0, 8.0]] == of_d.tolist()
    assert (None,) == facula.autograd.grad(d.sum(), [s], allow_unused=True)
