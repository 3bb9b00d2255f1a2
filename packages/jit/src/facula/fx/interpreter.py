"""Interpreter: runs a graph node by node; Transformer: makes another graph of it on the way."""

from __future__ import annotations

import inspect
from typing import Any, Iterator

from facula.nn import Module

from ._names import resolve
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs the graph of a GraphModule; subclasses change what a kind of node does.

    garbage_collect_values: let values go after their last use.

    >>> class Loud(facula.fx.Interpreter):
    ...     def call_method(self, target, args, kwargs):
    ...         print(target)
    ...         return super().call_method(target, args, kwargs)
    ...
    >>> Loud(facula.fx.symbolic_trace(lambda x: x.relu())).run(facula.tensor([-1.0, 3.0]))
    relu
    tensor([0., 3.])
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = graph if graph is not None else module.graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for node in reversed(self.graph.nodes):
                for used in node.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(node, []).append(used)
        self.args_iter: Iterator[Any] = iter(())

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """What the program returns for these arguments. initial_env: values of nodes that are known already."""
        self.env = {} if initial_env is None else initial_env
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    told = f"While executing {node.format_node()}"
                    error.args = (f"{error.args[0]}\n\n{told}" if error.args else told, *error.args[1:])
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for done in self.user_to_last_uses.get(node, ()) if self.garbage_collect_values else ():
                del self.env[done]
            if node.op == "output":
                out = self.env[node]
                return self.graph.process_outputs(out) if enable_io_processing else out
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """run(*args_list), which empties the list, so that arguments can be let go."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The next argument."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The module's attribute."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The function's result."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The method's result."""
        obj, *rest = args
        return getattr(obj, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The submodule's result."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """What is returned."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What a dotted path names in the module."""
        return resolve(target, self.module)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict]:
        """The node's arguments with values for nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """The nested argument with values for nodes."""

        def load(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run graph.lint() to diagnose such issues.")
            return self.env[node]

        return map_arg(args, load)


class _NewTracer(Tracer):
    def __init__(self, graph: Graph, module: Module) -> None:
        super().__init__()
        self.graph, self.root = graph, module

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Makes a GraphModule of what its call_... methods give; each gives a proxy and may give another one.

    >>> class Negative(facula.fx.Transformer):
    ...     def call_method(self, target, args, kwargs):
    ...         return -super().call_method(target, args, kwargs)
    ...
    >>> Negative(facula.fx.symbolic_trace(lambda x: x.relu())).transform()(facula.tensor([-1.0, 3.0]))
    tensor([-0., -3.])
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _NewTracer(self.new_graph, module)

    def placeholder(self, target: str, args: tuple, kwargs: dict) -> Proxy:
        """An argument of the new graph."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=... if default is inspect.Signature.empty else default), self.tracer)

    def get_attr(self, target: str, args: tuple, kwargs: dict) -> Proxy:
        """An attribute, in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """A call of a submodule, in the new graph."""
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """A call, in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """A method's call, in the new graph."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new module."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            old = self.graph.output_node()
            node = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            node.meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)
