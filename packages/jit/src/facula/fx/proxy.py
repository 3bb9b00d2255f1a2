"""Proxy: what a tracer passes in place of values; everything done to it becomes a node."""

from __future__ import annotations

import collections
import dis
import enum
import inspect
import operator
import sys
from dataclasses import fields, is_dataclass
from typing import Any, Callable, Iterator

import facula
from facula import Tensor

from ._codegen import MAGIC, REFLECTABLE
from ._names import AS_CALLED, in_torch
from .graph import Graph
from .node import BASE_TYPES, Node, map_aggregate

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    """The program does with a proxy what cannot be recorded.

    >>> try:
    ...     facula.fx.symbolic_trace(lambda x: 1 if x else 2)
    ... except facula.fx.proxy.TraceError:
    ...     print("control flow depends on a value")
    control flow depends on a value
    """


class Scope:
    """The module whose forward runs."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class TracerBase:
    """Makes nodes and proxies; what kinds of arguments there are.

    >>> issubclass(facula.fx.Tracer, facula.fx.proxy.TracerBase)
    True
    """

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def __init__(self) -> None:
        self.module_stack: collections.OrderedDict[str, tuple[str, Any]] = collections.OrderedDict()
        self.scope = Scope("", None)

    def create_node(self, kind: str, target: Any, args: tuple, kwargs: dict, name: str | None = None, type_expr: Any = None) -> Node:
        """A node at the end of the graph. Subclasses add what they want to know of it."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        return node

    def proxy(self, node: Node) -> Proxy:
        """A proxy for a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple, kwargs: dict, name: str | None = None, type_expr: Any = None, proxy_factory_fn: Callable | None = None
    ) -> Proxy:
        """A node, and a proxy for its value."""
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = _user_lines()
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """The argument as nodes have it. Raises NotImplementedError for kinds of objects that cannot stand in a graph."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            if hasattr(a, "_fields"):
                return type(a)(*(self.create_arg(x) for x in a))
            return a if type(a) is facula.Size else tuple(self.create_arg(x) for x in a)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, (Node, Proxy)):
                    raise RuntimeError(f"create_arg: keys of a dict cannot be traced, got {key!r}.")
            return {self.create_arg(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            return self.create_node("call_function", type(a), (), {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)})
        if isinstance(a, (*BASE_TYPES, enum.Enum)) or a is ... or _is_constant(a):
            return a
        raise NotImplementedError(f"create_arg: argument of type {type(a)} cannot stand in a graph.")

    def to_bool(self, obj: Proxy) -> bool:
        """What `if proxy` does: raises TraceError."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator:
        """What `for x in proxy` does: raises TraceError, but where the program unpacks into a known number of names."""
        frame = sys._getframe(2)
        count = _unpacked(frame.f_code, frame.f_lasti)
        if count is not None:
            return (obj[i] for i in range(count))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function argument. "
            "Unpack it into a fixed number of names, or wrap the function that loops."
        )

    def keys(self, obj: Proxy) -> Any:
        """What **proxy asks: a proxy of its keys."""
        return Attribute(obj, "keys")()


def _is_constant(a: Any) -> bool:
    if isinstance(a, (facula.dtype, facula.device, facula.layout, facula.memory_format, facula.Generator)):
        return True
    return isinstance(a, type) or callable(a) and getattr(a, "__module__", None) is not None and hasattr(a, "__name__")


def _unpacked(code: Any, at: int) -> int | None:
    """Into how many names the instruction at this place unpacks; None for another one."""
    for instruction in dis.get_instructions(code):
        if instruction.offset == at:
            return instruction.argval if instruction.opname == "UNPACK_SEQUENCE" else None
    return None


def _user_lines() -> str:
    import traceback

    lines = [f for f in traceback.extract_stack() if "/facula/fx/" not in f.filename.replace("\\", "/")]
    return "".join(traceback.format_list(lines)).strip()


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies made by hand, for nodes of a graph that is there.

    >>> graph = facula.fx.Graph()
    >>> x = facula.fx.Proxy(graph.placeholder("x"), facula.fx.proxy.GraphAppendingTracer(graph))
    >>> (x + 1).node.name
    'add'
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


class Proxy:
    """Stands for a node's value while a program is traced, or while a graph is extended: Proxy(node) + 1 adds a node.

    >>> graph = facula.fx.Graph()
    >>> x = facula.fx.Proxy(graph.placeholder("x"))
    >>> _ = graph.output((x * 2).node)
    >>> facula.fx.GraphModule(facula.nn.Module(), graph)(facula.tensor([1.0, 3.0]))
    tensor([2., 6.])
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Attribute:
        # Python's own questions, and the core's for a handle: no attribute of a tensor that a program asks for
        if name == "_h" or name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"'Proxy' object has no attribute '{name}'")
        return Attribute(self, name)

    def __getstate__(self) -> dict:
        return self.__dict__

    def __deepcopy__(self, memo: dict) -> Proxy:
        import copy

        made = Proxy.__new__(Proxy)
        made.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator:
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: Any) -> bool:
        raise TraceError("symbolically traced variables cannot be asked what they contain: 'in' must answer while the program is traced")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'Proxy' object does not support item assignment. Wrap the function that assigns with torch.fx.wrap.")

    @classmethod
    def __torch_function__(cls, orig_method: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Proxy:
        kwargs = kwargs or {}
        tracers: dict[TracerBase, None] = {}

        def note(a: Any) -> Any:
            if isinstance(a, Proxy):
                tracers[a.tracer] = None
            return a

        map_aggregate((args, kwargs), note)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}")
        tracer = next(iter(tracers))
        name = orig_method.__name__
        if getattr(facula, name, None) is not orig_method and getattr(Tensor, name, None) is orig_method:
            return tracer.create_proxy("call_method", name, args, kwargs)
        if in_torch(orig_method) == f"torch.nn.functional.{name}" and name not in AS_CALLED:
            args, kwargs = _in_full(orig_method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=tracer.graph._target_to_str(name))


def _in_full(function: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments with defaults filled in, what has one by name: as PyTorch records them."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    given = len(bound.args)
    bound.apply_defaults()
    first, rest = [], {}
    for k, (name, value) in enumerate(bound.arguments.items()):
        parameter = bound.signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name.startswith("_"):
            return args, kwargs
        if parameter.default is parameter.empty and k < given:
            first.append(value)
        else:
            rest[name] = value
    return tuple(first), rest


class Attribute(Proxy):
    """proxy.name: a node of its own only where it is used; proxy.name(...) is a method call.

    >>> [node.op for node in facula.fx.symbolic_trace(lambda x: x.relu()).graph.nodes]
    ['placeholder', 'call_method', 'output']
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter, whose shape is known: `if w.ndim == 4` is answered while tracing."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self, *dim: int) -> Any:
        return self.param.size(*dim)

    def dim(self) -> int:
        return self.param.dim()

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.nelement()


def _operation(name: str) -> Callable:
    target = getattr(operator, name)

    def recorded(self: Proxy, *args: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (self, *args), {})

    return recorded


def _reflected(name: str) -> Callable:
    target = getattr(operator, name)

    def recorded(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    return recorded


for _name in MAGIC:
    setattr(Proxy, f"__{_name.strip('_')}__", _operation(_name))
for _name in REFLECTABLE:
    if _name != "getitem":
        setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
