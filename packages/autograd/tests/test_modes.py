"""Grad modes: context managers, decorators, threads."""

import threading

import pytest
from backend import leaf, node, plain, torch


def test_no_grad_records_nothing():
    x = leaf(1, 2)
    with torch.no_grad():
        y = x * 2

    assert not y.requires_grad and y.grad_fn is None and torch.is_grad_enabled()


def test_enable_grad_inside_no_grad():
    x = leaf(1, 2)
    with torch.no_grad():
        with torch.enable_grad():
            y = x * 2
        z = x * 2

    assert y.requires_grad and not z.requires_grad


@pytest.mark.parametrize("flag", [True, False])
def test_set_grad_enabled_as_a_context(flag):
    x = leaf(1, 2)
    with torch.set_grad_enabled(flag):
        y = x * 2

    assert flag == y.requires_grad and torch.is_grad_enabled()


def test_set_grad_enabled_as_a_function():
    torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
        assert not (leaf(1) * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)


def test_modes_decorate_functions():
    @torch.no_grad()
    def f(x):
        """doc"""
        return x * 2

    @torch.no_grad
    def g(x):
        return x * 2

    @torch.enable_grad()
    def h(x):
        return x * 2

    x = leaf(1)

    assert not f(x).requires_grad and not g(x).requires_grad and f.__name__ == "f" and f.__doc__ == "doc"
    with torch.no_grad():
        assert h(x).requires_grad


def test_modes_decorate_generators():
    @torch.no_grad()
    def steps(x):
        for _ in range(2):
            yield torch.is_grad_enabled(), (x * 2).requires_grad

    seen = []
    for inside, recorded in steps(leaf(1)):
        seen.append((inside, recorded, torch.is_grad_enabled()))

    assert [(False, False, True)] * 2 == seen


def test_decorated_generator_passes_values_and_exceptions():
    @torch.no_grad()
    def echo():
        got = yield 1
        try:
            yield got
        except ValueError:
            yield torch.is_grad_enabled()
        return 9

    g = echo()

    assert 1 == next(g) and 5 == g.send(5) and g.throw(ValueError) is False
    with pytest.raises(StopIteration) as stop:
        next(g)

    assert 9 == stop.value.value


def test_mode_is_restored_after_an_exception():
    with pytest.raises(ZeroDivisionError):
        with torch.no_grad():
            1 / 0

    assert torch.is_grad_enabled()


def test_nested_no_grad_restores_the_outer_mode():
    with torch.no_grad():
        with torch.no_grad():
            pass

        assert not torch.is_grad_enabled()


def test_one_context_object_can_be_entered_twice():
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()

        assert torch.is_grad_enabled()


def test_modes_belong_to_a_thread():
    seen = []
    with torch.no_grad():
        t = threading.Thread(target=lambda: seen.append((torch.is_grad_enabled(), (leaf(1) * 2).requires_grad)))
        t.start()
        t.join()

    assert [(True, True)] == seen


def test_inference_mode():
    x = leaf(1, 2)
    with torch.inference_mode():
        y = x * 2

        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()

    assert not y.requires_grad and not torch.is_inference_mode_enabled()


def test_inference_mode_with_false_does_nothing_and_it_decorates():
    @torch.inference_mode()
    def f(x):
        return x * 2

    with torch.inference_mode(False):
        assert (leaf(1) * 2).requires_grad

    assert not f(leaf(1)).requires_grad


def test_enable_grad_inside_inference_mode_records_nothing():
    x = leaf(1, 2)
    with torch.inference_mode(), torch.enable_grad():
        assert not (x * 2).requires_grad


def test_requires_grad_can_be_set_without_grad_mode():
    with torch.no_grad():
        x = plain(1).requires_grad_()
        y = torch.ones(2, requires_grad=True)

    assert x.requires_grad and y.requires_grad


def test_backward_works_inside_no_grad():
    x, y = node(1, 2)
    s = y.sum()
    with torch.no_grad():
        s.backward()

    assert [1.0, 1.0] == x.grad.tolist()


def test_backward_in_another_thread():
    x, y = node(1, 2)
    s = (y * y).sum()
    t = threading.Thread(target=s.backward)
    t.start()
    t.join()

    assert [2.0, 4.0] == x.grad.tolist()


def test_many_threads_accumulate_into_one_leaf():
    x = leaf(1)

    def work():
        for _ in range(50):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert [400.0] == x.grad.tolist()


def test_multithreading_is_a_switch_of_the_thread():
    mode = torch.autograd.set_multithreading_enabled
    x = leaf(1)
    with mode(False):
        (x * 2).backward()

    assert [2.0] == x.grad.tolist()
    assert [4.0] == (mode(False)(lambda: x * 4))().tolist()


def test_a_loose_layout_takes_a_gradient_as_it_is():
    def strides(loose):
        p = torch.ones(2, 3).t().requires_grad_()
        with torch.autograd.enforce_grad_layout_policy(not loose):
            (p * 2).backward(torch.ones(3, 2).contiguous())
        return p.grad.stride(), p.grad.tolist()

    assert ((1, 3), [[2.0, 2.0]] * 3) == strides(False)
    assert [[2.0, 2.0]] * 3 == strides(True)[1]


def test_where_nothing_is_recorded_a_parameter_is_an_array():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    with torch.no_grad():
        array = x.numpy()
        array[0] = 7

        assert [7.0, 1.0, 1.0] == x.tolist()


def test_set_grad_enabled_says_its_mode():
    assert "torch.autograd.grad_mode.set_grad_enabled(mode=True)" == repr(torch.set_grad_enabled(True))
