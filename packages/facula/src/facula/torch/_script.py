"""torch.jit beside tracing: programs mark what is to be scripted; it runs as the Python that it is, with the same numbers."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from typing import Any, Callable, Final  # noqa: F401 - Final is served as torch.jit.Final

from facula import jit
from facula.jit._traced import Readable, traced_module
from facula.nn import Module, Parameter

from ._names import _tell_once
from ._script_types import Fit, Unfit, fit, name


class _Traces(type):
    """The two classes that traces are of, too: traced modules of one, traced functions of the other."""

    def __instancecheck__(cls, obj: Any) -> bool:
        if type.__instancecheck__(cls, obj):
            return True
        return "modules" in vars(cls) and type.__instancecheck__(Readable, obj) and cls.modules == type.__instancecheck__(Module, obj)


class ScriptModule(Module, metaclass=_Traces):
    """The class of traced and loaded modules, for programs that ask whether they hold one."""

    modules = True


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


class ScriptFunction(metaclass=_Traces):
    """A scripted function: the Python that it is, given its arguments as the kinds that its annotations name. Traced functions are some, too."""

    modules = False

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self.name = function.__name__
        self._parameters = _parameters(function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.__wrapped__(*args, **options) if self._parameters is None else self.__wrapped__(*self._fitting(args, options))

    def _fitting(self, args: tuple, options: dict) -> list:
        parameters = self._parameters
        if len(args) > len(parameters):
            raise RuntimeError(f"{self.name}() expected at most {len(parameters)} argument(s) but received {len(args)} argument(s). Leave the others out.")
        given = {**dict(zip(parameters, args)), **options}
        if len(given) < len(args) + len(options) or not given.keys() <= parameters.keys():
            wrong = next(key for key in options if key not in parameters or list(parameters).index(key) < len(args))
            raise RuntimeError(f"{self.name}(): argument {wrong!r} is unknown or given twice. It takes {', '.join(parameters)}.")
        return [self._one(key, *parameters[key], given) for key in parameters]

    def _one(self, key: str, kind: Any, default: Any, make: Fit | None, given: dict) -> Any:
        value = given.get(key, default)
        if value is inspect.Parameter.empty:
            raise RuntimeError(f"{self.name}() is missing value for argument '{key}'. Give it.")
        try:
            return value if make is None else make(value)
        except Unfit:
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{name(kind)}' for argument '{key}' but instead found type '{type(value).__name__}'. Convert it."
            ) from None

    @property
    def code(self) -> str:
        """The function's source."""
        return inspect.getsource(self.__wrapped__)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__


def _parameters(function: Callable) -> dict[str, tuple[Any, Any, Fit | None]] | None:
    """(annotation, default, what makes a value of that kind) by name. None where nothing is annotated, or not all can be given in order."""
    parameters = inspect.signature(function).parameters.values()
    try:
        kinds = typing.get_type_hints(function)
    except (NameError, TypeError):  # names that only type checkers know
        kinds = {}
    if not kinds or any(one.kind is not one.POSITIONAL_OR_KEYWORD for one in parameters):
        return None
    return {one.name: (kinds.get(one.name), one.default, fit(kinds.get(one.name))) for one in parameters}


Error = Exception  # what a script raises: it runs as Python here, whose errors are its own

RecursiveScriptModule = TopLevelTracedModule = ScriptModule


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function, which takes arguments as its annotations say, or the class or module itself. Says once that nothing is compiled."""
    if not callable(obj) and not isinstance(obj, (dict, list)):
        raise TypeError(f"torch.jit.script: got {type(obj).__name__}. Give a function, a class or a module.")
    _tell_once("torch.jit.script: Facula runs the function as it is, nothing is compiled (said once)")
    return ScriptFunction(obj) if type(obj) is types.FunctionType else obj


def load(f: Any, map_location: Any = None, _extra_files: dict | None = None, _restore_shapes: bool = False) -> Module:
    """What torch.jit.save wrote, as a module, a function's trace too. _extra_files: the names of what else to read from the file; gets their bytes."""
    loaded = jit.load(f, map_location, _extra_files)
    held = type(loaded.name, (Module,), {})()
    for path, tensor in loaded.named_parameters():
        owner, last = _owner(held, path)
        owner.register_parameter(last, Parameter(tensor, tensor.requires_grad))
    for path, tensor in loaded.named_buffers():
        owner, last = _owner(held, path)
        owner.register_buffer(last, tensor)
    return traced_module(loaded._trace, held, Module)


def _owner(module: Module, path: str) -> tuple[Module, str]:
    """The submodule that holds what has that path, made on the way, and the last name."""
    *above, last = path.split(".")
    for part in above:
        if part not in module._modules:
            module.add_module(part, Module())
        module = module._modules[part]
    return module, last


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
