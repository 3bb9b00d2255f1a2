"""What a TorchFunctionMode changes of functions and of Tensor, and that it is changed back."""

import inspect
import threading

import facula
import pytest
from facula import overrides
from facula.tensor_core import extend
from facula.tensor_core.dispatch import modes, slow

T = facula.Tensor


class Names(overrides.TorchFunctionMode):
    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def state():
    """All that a mode could leave behind."""
    functions = {id(f): (f.__code__, f.__defaults__, f.__kwdefaults__) for home in (facula, T) for f in vars(home).values() if inspect.isfunction(f)}
    return functions, {name: (p.fget, p.fset) for name, p in vars(T).items() if isinstance(p, property)}, {n: v for n, v in vars(T).items() if not n.startswith("__")}


def test_all_is_as_before_once_no_mode_is_on():
    with Names():
        pass
    before = state()
    with Names(), Names():
        facula.ones(2).add(1)

    assert before == state() and not modes._open


def test_an_error_inside_closes_a_mode():
    with pytest.raises(ZeroDivisionError), Names():
        1 / 0

    assert not modes._open and facula.ones(2).shape == (2,)


def test_other_threads_hear_nothing():
    found, x = [], facula.ones(2)
    with Names() as here:
        thread = threading.Thread(target=lambda: found.append((x + 1).sum().item()))
        thread.start()
        thread.join()

    assert [4.0] == found and not here.names


def test_a_class_may_be_defined_within_a_mode():
    with Names() as told:

        class Mine(T):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return super().__torch_function__(func, types, args, kwargs)

        facula.ones(2).add(1)
    y = facula.ones(2).as_subclass(Mine)

    assert ["ones", "add"] == told.names and Mine is type(y + 1) is type(facula.tensordot(y, y, 1)) and not modes._open


def test_a_guard_that_is_first_called_within_a_mode_checks_as_ever():
    with Names():
        facula.bincount(facula.tensor([1, 1]))
    with pytest.raises(TypeError):
        facula.bincount([1, 1])

    assert [0, 2] == facula.bincount(facula.tensor([1, 1])).tolist() == facula.tensor([1, 1]).bincount().tolist()


def test_methods_and_functions_are_told_apart():
    x = facula.ones(2)
    for f, g in ((facula.det, T.det), (facula.fill_, T.fill_), (facula.median, T.median), (T.div_, T.divide_)):
        assert f is not g

    assert facula.fill_ is facula.fill_ and facula.fill_(x, 3) is x and [3.0, 3.0] == x.tolist()
    assert ["input", "dim", "keepdim"] == list(inspect.signature(T.median).parameters)[:3]


def test_an_interruption_leaves_no_interpreter_behind():
    """It may come while one of them is off the stack, and what held it there may live as long as the traceback."""
    seen, held = [], []

    def heard(op, args, kwargs):
        seen.append(op.name)
        return extend.call(op, *args, **kwargs)

    with pytest.raises(KeyboardInterrupt):
        with extend.interpreter(heard):
            held.append(extend.below(heard))
            held[0].__enter__()
            raise KeyboardInterrupt
    held.clear()

    facula.ones(2).neg()
    assert [] == seen and not slow.listened()
    with extend.interpreter(heard):
        facula.ones(2).neg()
    assert "neg" in seen and not slow.listened()
