"""torch.jit beside tracing: programs mark what is to be scripted; it runs as the Python that it is, with the same numbers."""

from __future__ import annotations

from typing import Any, Callable, Final  # noqa: F401 - Final is served as torch.jit.Final

from facula.nn import Module

from ._names import _tell_once


class ScriptModule(Module):
    """The class of scripted modules, for programs that ask whether they hold one."""


class optimized_execution:
    """A block in which scripts are optimised or not; they run as the Python that they are."""

    def __init__(self, should_optimize: bool) -> None:
        self.should_optimize = should_optimize

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


def fork(func: Callable, *args: Any, **options: Any) -> Any:
    """A future of func(*args, **options), which is run at once, as PyTorch runs it outside scripts."""
    from ._futures import Future

    future: Future = Future()
    future.set_result(func(*args, **options))
    return future


def wait(future: Any) -> Any:
    """The future's value, when it is there."""
    if future is None:
        raise RuntimeError("wait: Future can't be None. Give what fork gave.")
    return future.wait()


class ScriptFunction:
    """The class of scripted functions, for programs that ask whether they hold one."""


Error = Exception  # what a script raises: it runs as Python here, whose errors are its own

RecursiveScriptModule = TopLevelTracedModule = ScriptModule


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function or module itself. Says so once."""
    if not callable(obj) and not isinstance(obj, (dict, list)):
        raise TypeError(f"torch.jit.script: got {type(obj).__name__}. Give a function, a class or a module.")
    _tell_once("torch.jit.script: Facula runs the function as it is, nothing is compiled (said once)")
    return obj


def _marker(fn: Any = None, **options: Any) -> Any:
    """The function itself; with options, a decorator."""
    return fn if callable(fn) else lambda function: function


ignore = unused = _overload = _overload_method = export = interface = script_method = script_if_tracing = _marker


def is_scripting() -> bool:
    """Is a script compiler reading this code?"""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """isinstance, which sees through typing's containers."""
    import builtins
    import typing

    return builtins.isinstance(obj, typing.get_origin(target_type) or target_type)


def freeze(mod: Callable, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Callable:
    """The module itself: nothing is folded."""
    return mod


optimize_for_inference = freeze
