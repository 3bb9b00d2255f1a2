"""Tracer: runs a module's forward, or a function, on proxies."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import typing
import warnings
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Callable, Iterator

import facula
import facula.overrides  # noqa: F401 - from now on functions that are no rows ask their arguments, so that calls of them are seen whole
from facula import Tensor
from facula.nn import Module, Parameter, Sequential

from . import _wrap
from ._compatibility import compatibility  # noqa: F401 - libraries import it from here
from ._wrap import wrap
from .graph import Graph
from .graph_module import GraphModule
from .node import BASE_TYPES, map_aggregate
from .proxy import ParameterProxy, Proxy, Scope, TracerBase

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

_tracing = 0
_VARARGS, _VARKEYWORDS = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


def is_fx_tracing() -> bool:
    """Does a tracer run a program now?"""
    return _tracing > 0


class _Placeholder:
    def __repr__(self) -> str:
        return "PH"


PH = _Placeholder()


class ProxyableClassMeta(type):
    """A metaclass whose classes, constructed from proxies while a program is traced, are nodes.

    >>> class Pair(metaclass=facula.fx.ProxyableClassMeta):
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...
    >>> Pair(1, 2).y
    2
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.__new__(cls)  # type: ignore[call-overload]
        if not is_fx_tracing():
            cls.__init__(made, *args, **kwargs)  # type: ignore[misc]
            return made
        tracer = _tracer_among(args, kwargs)
        if tracer is None:
            cls.__init__(made, *args, **kwargs)  # type: ignore[misc]
            return made
        return tracer.create_proxy("call_function", cls, args, kwargs)


def _tracer_among(args: Any, kwargs: Any) -> TracerBase | None:
    found: list[TracerBase] = []

    def note(a: Any) -> Any:
        if isinstance(a, Proxy):
            found.append(a.tracer)
        return a

    map_aggregate((args, kwargs), note)
    return found[0] if found else None


class _Patcher:
    """Changes to dicts and classes, undone at the end."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []
        self.visited: set[int] = set()

    def patch(self, home: dict, name: str, value: Any, deduplicate: bool = True) -> None:
        """Let a name of a module's dict mean something else. deduplicate: not where it already means something that was put here so."""
        if not self._new(home.get(name), value, deduplicate):
            return
        before = home.get(name, self)
        home[name] = value
        self.undo.append(lambda: home.pop(name) if before is self else home.__setitem__(name, before))

    def patch_method(self, cls: type, name: str, value: Any, deduplicate: bool = True) -> None:
        """Let a class's method be something else. deduplicate: as in patch."""
        if not self._new(getattr(cls, name), value, deduplicate):
            return
        before = cls.__dict__.get(name, self)
        setattr(cls, name, value)
        self.undo.append(lambda: delattr(cls, name) if before is self else setattr(cls, name, before))

    @staticmethod
    def _new(before: Any, value: Any, deduplicate: bool) -> bool:
        setattr(value, "__fx_already_patched", deduplicate)  # setattr: a class mangles the name
        return not getattr(before, "__fx_already_patched", False)

    def visit_once(self, thing: Any) -> bool:
        """True the first time."""
        if id(thing) in self.visited:
            return False
        self.visited.add(id(thing))
        return True

    def __enter__(self) -> _Patcher:
        return self

    def __exit__(self, *error: Any) -> None:
        while self.undo:
            self.undo.pop()()


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    """Record calls of what wrap() marked."""
    for (_, name), home in list(_wrap.wrapped.items()):
        original = home.get(name) or getattr(builtins, name, None)
        if original is not None:
            patcher.patch(home, name, _recording(original))


def _autowrap_check(patcher: _Patcher, frame_dict: dict, function_ids: set[int]) -> None:
    """Record calls of these functions from this module, and of what generated code marked."""
    if not patcher.visit_once(frame_dict):
        return
    for name in frame_dict.get("_facula_fx_wrapped", ()):
        patcher.patch(frame_dict, name, _recording(frame_dict[name]))
    for name, value in list(frame_dict.items()):
        if not name.startswith("_") and callable(value) and id(value) in function_ids:
            patcher.patch(frame_dict, name, _recording(value))


# Names by which subclasses of Tracer in libraries do what trace does.
_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__


class ScriptObject:
    """What a script compiler makes: nothing here is one."""


def _recording(original: Callable) -> Callable:
    """The function, but a node where an argument is a proxy."""

    @functools.wraps(original)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        tracer = _tracer_among(args, kwargs)
        if tracer is None:
            return original(*args, **kwargs)
        return tracer.create_proxy("call_function", original, args, kwargs)

    return recorded


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Runs a program once on proxies and gives the graph of what it did; subclass it to say what is a leaf.

    autowrap_modules: modules whose functions are recorded when they are called with proxies.
    autowrap_functions: further such functions. param_shapes_constant: a parameter's shape is a constant of the program.

    >>> class Leaves(facula.fx.Tracer):
    ...     def is_leaf_module(self, module, name):
    ...         return True
    ...
    >>> [node.op for node in Leaves().trace(facula.nn.Sequential(facula.nn.ReLU())).nodes]
    ['placeholder', 'call_module', 'output']
    """

    def __init__(self, autowrap_modules: tuple = (math,), autowrap_functions: tuple = (), param_shapes_constant: bool = False) -> None:
        super().__init__()
        self._autowrap_search = list(autowrap_modules)
        self._autowrap_function_ids = {id(f) for m in autowrap_modules for name, f in vars(m).items() if not name.startswith("_") and callable(f)}
        self._autowrap_function_ids |= {id(f) for f in autowrap_functions}
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root: Module = Module()
        self.tensor_attrs: dict[Tensor, str] = {}

    # -- what subclasses say

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Is a call of this module one node? Modules of nn are, but containers."""
        return m.__module__.startswith(("facula.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The module's path below the root. Raises NameError if it is not there."""
        if self.submodule_paths is not None:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, m in self.root.named_modules() if m is mod), None)
        if path is None:
            raise NameError(f"module is not installed as a submodule: {type(mod).__name__}. Assign it to an attribute of the root.")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """What a call of a submodule gives: a node if it is a leaf, else what its forward gives."""
        name = self.path_of_module(m)
        with self._within(m, name):
            if not self.is_leaf_module(m, name):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", name, args, kwargs)

    @contextmanager
    def _within(self, m: Module, name: str) -> Iterator[None]:
        before, self.scope = self.scope, Scope(name, type(m))
        key = name if name not in self.module_stack else f"{name}@{len(self.module_stack)}"
        self.module_stack[key] = (name, type(m))
        try:
            yield
        finally:
            self.scope = before
            self.module_stack.pop(key)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What a module's attribute gives while tracing: parameters (and buffers, with proxy_buffer_attributes) are nodes."""
        if isinstance(attr_val, Parameter):
            return self._fetched(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            return self._fetched(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _fetched(self, value: Any, named: Any, cache: dict[str, Any]) -> Any:
        for name, found in named:
            if found is value:
                if name not in cache:
                    make = (lambda node: ParameterProxy(self, node, name, value)) if self.param_shapes_constant else None  # noqa: B023 - called at once
                    cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=make)
                return cache[name]
        return value

    def create_arg(self, a: Any) -> Any:
        """The argument as nodes have it: parameters and buffers by their paths, other tensors as attributes of the root."""
        if isinstance(a, Parameter):
            for name, p in self.root.named_parameters():
                if p is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module. Assign it to an attribute of the root.")
        if isinstance(a, Tensor):
            for name, b in self.root.named_buffers():
                if b is a:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", self._constant(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(x) for x in a), {})
        return super().create_arg(a)

    def _constant(self, a: Tensor) -> str:
        for known, path in self.tensor_attrs.items():
            if known is a:
                return path
        k = 0
        while hasattr(self.root, path := f"_tensor_constant{k}"):
            k += 1
        self.tensor_attrs[a] = path
        setattr(self.root, path, a)
        return path

    # -- tracing

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of what root does. concrete_args: arguments that are to be these values, by name."""
        global _tracing
        if isinstance(root, Module):
            self.root = root
            fn = getattr(type(root), self.traced_func_name)
            self.submodule_paths = {m: name for name, m in root.named_modules()}
        else:
            self.root, fn, self.submodule_paths = Module(), root, None
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        self._collect(self.root, [])
        function = inspect.unwrap(fn)
        returns = _annotations(function).get("return")
        cache: dict[str, Any] = {}
        with _Patcher() as patches:
            _tracing += 1
            try:
                fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
                self._patch(patches, cache, fn)
                self.create_node("output", "output", (self.create_arg(fn(*args)),), {}, type_expr=returns)
            finally:
                _tracing -= 1
                self.submodule_paths = None
        return self.graph

    def _collect(self, m: Module, path: list[str]) -> None:
        for name, value in m.__dict__.items():
            if isinstance(value, Tensor):
                self.tensor_attrs.setdefault(value, ".".join([*path, name]))
        for name, child in m.named_children():
            self._collect(child, [*path, name])

    def _patch(self, patches: _Patcher, cache: dict, fn: Callable) -> None:
        def fetch(mod: Module, name: str) -> Any:
            return self.getattr(name, _orig_module_getattr(mod, name), cache)

        def call(mod: Module, *args: Any, **kwargs: Any) -> Any:
            _autowrap_check(patches, getattr(getattr(mod, "forward", mod), "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(mod, lambda *a, **k: _orig_module_call(mod, *a, **k), args, kwargs)

        patches.patch_method(Module, "__getattr__", fetch, deduplicate=False)
        patches.patch_method(Module, "__call__", call, deduplicate=False)
        _patch_wrapped_functions(patches)
        for home in (*map(vars, self._autowrap_search), getattr(inspect.unwrap(fn), "__globals__", {})):
            _autowrap_check(patches, home, self._autowrap_function_ids)

    def create_args_for_root(self, root_fn: Callable, is_module: bool, concrete_args: dict[str, Any] | None = None) -> tuple[Callable, list[Any]]:
        """The function, and a proxy for each of its arguments."""
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        signature = inspect.signature(analysed)
        args: list[Any] = []
        skip = 0
        if is_module:
            if total == 0:
                raise RuntimeError("trace: forward has no ``self`` argument and cannot be traced.")
            skip = 1
            next(names)
            args.append(self.root)
        elif inspect.ismethod(root_fn):
            skip = 1
            next(names)
        if isinstance(concrete_args, tuple):
            concrete_args = dict(zip(list(code.co_varnames)[skip:total], concrete_args))
        given = concrete_args or {}
        for k in range(skip, total):
            args.append(self._argument(next(names), given, signature, analysed, k))
        if code.co_flags & (_VARARGS | _VARKEYWORDS):
            if code.co_flags & _VARARGS:
                args.append(self._placeholder("*" + next(names), signature, analysed))
            if code.co_flags & _VARKEYWORDS:
                args.append(self._placeholder("**" + next(names), signature, analysed))
            return _without_stars(analysed, len(args)), args
        if code.co_kwonlyargcount:
            return _without_stars(analysed, len(args)), args
        return root_fn, args

    def _argument(self, name: str, given: dict, signature: Any, fn: Callable, k: int) -> Any:
        if name not in given or given[name] is PH:
            return self._placeholder(name, signature, fn)
        value = given[name]
        if isinstance(value, (dict, list, tuple, Tensor)):
            raise TypeError(f"trace: concrete argument {name} is a {type(value).__name__}. Give None, a number, a bool or a str; close over other values.")
        parameter = signature.parameters[name]
        default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        out = self.create_proxy("placeholder", f"{name}_1", default, {})
        if value is None:
            text = f"{name} has been specialized to have value None but got another value"
            self.create_proxy("call_function", _assert_is_none, (out, text), {})
        elif type(value) in BASE_TYPES:
            text = f"{name} has been specialized to have value {value} but got another value"
            facula._assert(out == value, text)
        else:
            warnings.warn(f"trace: was not able to add assertion to guarantee correct input {name} to specialized function", stacklevel=3)
        return value

    def _placeholder(self, name: str, signature: Any, fn: Callable) -> Proxy:
        bare = name.lstrip("*")
        parameter = signature.parameters.get(bare)
        default = () if name[0] == "*" or parameter is None or parameter.default is inspect.Parameter.empty else (parameter.default,)
        return self.create_proxy("placeholder", name, default, {}, type_expr=_annotations(fn).get(bare))


def _annotations(fn: Any) -> dict[str, Any]:
    """The types it says, but those that say nothing; none where they cannot be read."""
    try:
        return {k: v for k, v in typing.get_type_hints(fn).items() if v is not Any}
    except Exception:
        return {}


def _without_stars(fn: Any, count: int) -> Callable:
    """The function with its starred and keyword arguments as plain ones, so that each can be a proxy."""
    code = fn.__code__
    flat = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~(_VARARGS | _VARKEYWORDS))
    made = FunctionType(flat, fn.__globals__, fn.__name__, None, fn.__closure__)
    return made


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """The module or function as a GraphModule. Raises TraceError where its control flow depends on values.

    >>> traced = facula.fx.symbolic_trace(lambda x: (x * 2).relu())
    >>> [node.name for node in traced.graph.nodes]
    ['x', 'mul', 'relu', 'output']
    >>> traced(facula.tensor([-1.0, 3.0]))
    tensor([0., 6.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(root, "__name__", "GraphModule")
    return GraphModule(tracer.root, graph, name)

