"""swap_tensors and set_module."""

import facula
import pytest
from facula import utils


def test_two_tensors_change_places():
    a, b = facula.ones(2), facula.zeros(3, dtype=facula.int64)
    a.tag = 1
    seen = a
    utils.swap_tensors(a, b)

    assert seen is a and ([0, 0, 0], [1.0, 1.0]) == (a.tolist(), b.tolist()) and 1 == b.tag and not hasattr(a, "tag")
    assert (facula.int64, 3) == (a.dtype, len(a))


def test_leaves_keep_their_wish_for_gradients():
    autograd = pytest.importorskip("facula.autograd")
    a, b = facula.ones(2, requires_grad=True), facula.zeros(2)
    a.grad = facula.full((2,), 5.0)
    utils.swap_tensors(a, b)
    (b * 2).sum().backward()

    assert (False, True, None, [7.0, 7.0]) == (a.requires_grad, b.requires_grad, a.grad, b.grad.tolist())
    assert autograd.grad((b * 3).sum(), b)[0].tolist() == [3.0, 3.0]


def test_what_cannot_be_swapped_is_refused():
    import weakref

    pytest.importorskip("facula.autograd")
    a, x = facula.ones(2), facula.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        utils.swap_tensors(a, x * 2)
    with pytest.raises(TypeError):
        utils.swap_tensors(a, 1)
    ref = weakref.ref(a)
    with pytest.raises(RuntimeError):
        utils.swap_tensors(a, facula.ones(1))
    assert ref() is a


def test_set_module():
    def f():
        pass

    utils.set_module(f, "somewhere")

    assert "somewhere" == f.__module__
    with pytest.raises(TypeError):
        utils.set_module(f, 3)
