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
    y = (x * x).sum()
    for pair in ((a, x), (x, a)):
        with pytest.raises(RuntimeError, match="still there"):
            utils.swap_tensors(*pair)
    y.backward()
    assert x.requires_grad and [2.0, 2.0] == x.grad.tolist()
    with pytest.raises(TypeError):
        utils.swap_tensors(a, 1)
    ref = weakref.ref(a)
    with pytest.raises(RuntimeError):
        utils.swap_tensors(a, facula.ones(1))
    assert ref() is a


def test_hooks_and_history_go_along():
    pytest.importorskip("facula.autograd")
    seen = []
    a, b = facula.ones(2, requires_grad=True), facula.zeros(3, requires_grad=True)
    a.register_hook(lambda g: seen.append("hook"))
    a.register_post_accumulate_grad_hook(lambda t: seen.append(len(t)))
    utils.swap_tensors(a, b)
    (a.sum() + b.sum() * 2).backward()

    assert ["hook", 2] == seen and [2.0, 2.0] == b.grad.tolist() and [1.0] * 3 == a.grad.tolist()

    c, d = b * 3, facula.zeros(1)
    utils.swap_tensors(c, d)
    d.sum().backward()

    assert c.is_leaf and [5.0, 5.0] == b.grad.tolist()


def test_a_class_goes_along():
    class Own(facula.Tensor):
        pass

    a, b = facula.ones(2).as_subclass(Own), facula.zeros(3)
    a.tag = 1
    utils.swap_tensors(a, b)

    assert (facula.Tensor, Own) == (type(a), type(b)) and 1 == b.tag and [1.0, 1.0] == (b + 0).tolist() and [0.0] * 3 == a.tolist()


def test_set_module():
    def f():
        pass

    utils.set_module(f, "somewhere")

    assert "somewhere" == f.__module__
    with pytest.raises(TypeError):
        utils.set_module(f, 3)
