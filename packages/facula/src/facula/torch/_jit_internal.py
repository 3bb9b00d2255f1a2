"""torch._jit_internal: marks for a script compiler, which Facula runs without: the functions stay what they are."""

from __future__ import annotations

from typing import Any, Callable, Final, List  # noqa: F401 - names of torch._jit_internal

from ._script import annotate, export, ignore, is_scripting, unused  # noqa: F401
from ._script import _overload, _overload_method  # noqa: F401

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List


def _copy_to_script_wrapper(fn: Callable) -> Callable:
    """The function itself."""
    return fn


def boolean_dispatch(arg_name: str, arg_index: int, default: bool, if_true: Callable, if_false: Callable, module_name: str, func_name: str) -> Callable:
    """One of two functions, by the argument of that name or place."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if len(args) > arg_index else default
        return (if_true if flag else if_false)(*args, **kwargs)

    chosen.__module__, chosen.__name__, chosen.__doc__ = module_name, func_name, if_true.__doc__
    return chosen
