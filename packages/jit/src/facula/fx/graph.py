"""Graph: nodes in the order in which they run."""

from __future__ import annotations

import copy
from typing import Any, Callable, Iterator

from ._codegen import CodeGen, PythonCode
from ._names import Namespace, function_name, resolve, snake_case
from .node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _Nodes:
    """The nodes of a graph, first to last; those added behind the current one while walking are met too."""

    def __init__(self, graph: Graph, backward: bool = False) -> None:
        self.graph, self.backward = graph, backward

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self.backward else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self.backward else node._next

    def __reversed__(self) -> _Nodes:
        return _Nodes(self.graph, not self.backward)


class _InsertPoint:
    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        self.graph._insert = self.before


class Graph:
    """A program: placeholders first, one output last, each value defined before it is used.

    >>> from facula import fx
    >>> import operator
    >>> graph = fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.output(graph.call_function(operator.add, (x, 1)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
        return add
    """

    def __init__(self, owning_module: Any = None, tracer_cls: type | None = None, tracer_extras: dict | None = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._len = 0
        self._names = Namespace()
        self._insert = self._root.prepend
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> Any:
        """The GraphModule whose graph this is."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _Nodes:
        """The nodes in order."""
        return _Nodes(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of this op and, unless it is None, this target."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self) -> Node:
        """The node that returns."""
        return next(n for n in reversed(self.nodes) if n.op == "output")

    # -- making nodes

    def create_node(self, op: str, target: Any, args: tuple | None = None, kwargs: dict | None = None, name: str | None = None, type_expr: Any = None) -> Node:
        """A new node at the insert point."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"create_node: args must be a tuple, got {type(args).__name__}.")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"create_node: kwargs must be a dict, got {type(kwargs).__name__}.")
        node = Node(self, self._names.create_name(name if name is not None else self._target_to_str(target), None), op, target, args, kwargs, type_expr)
        self._names.associate(node.name, node)
        self._insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An argument of the program."""
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the owning module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None) -> Node:
        """A call of a submodule of the owning module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None) -> Node:
        """A call of a method of args[0]."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function: Callable, args: tuple | None = None, kwargs: dict | None = None, type_expr: Any = None, name: str | None = None) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the program returns: nodes, nested in tuples, lists and dicts."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of a node of another graph; arg_transform gives this graph's value for one of that graph's."""
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Copy all nodes of g here, noting them in val_map; returns what g returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict | None = None) -> Graph:
        memo = {} if memo is None else memo
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        values: dict[Node, Any] = {}
        returned = made.graph_copy(self, values, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen, memo)
        if returned is not None:
            result, old = returned
            node = made.output(result, type_expr=old.type)
            node.meta = copy.copy(old.meta)
            values[old] = node
        memo.update({id(old): new for old, new in values.items() if isinstance(new, Node)})
        return made

    # -- changing it

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that has no users. Raises RuntimeError if it has."""
        if to_erase.users:
            raise RuntimeError(f"erase_node: tried to erase node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}.")
        if to_erase.graph is not self:
            raise RuntimeError(f"erase_node: {to_erase} belongs to another graph.")
        if to_erase._erased:
            return
        to_erase._set((), {})
        # its own links stay, so that a walk over the nodes goes on from it
        to_erase._prev._next, to_erase._next._prev = to_erase._next, to_erase._prev
        to_erase._erased = True
        self._len -= 1

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Where new nodes go: before n, or first. As a context, for the block alone."""
        if n is None:
            return self.inserting_after(self._root)
        self._own(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Where new nodes go: after n, or last. As a context, for the block alone."""
        if n is None:
            return self.inserting_before(self._root)
        self._own(n)
        return _InsertPoint(self, n.append)

    def _own(self, n: Node) -> None:
        if n.graph is not self:
            raise AssertionError(f"inserting: {n} belongs to another graph.")

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove nodes that nobody uses and that do nothing else; was there any?"""
        self.lint()
        impure = is_impure_node or (lambda n: n.is_impure())
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return self._len < before

    def lint(self) -> None:
        """Raises RuntimeError where the graph is no program: values used before they are defined, targets that are not there."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"lint: node {node} does not belong to this graph.")
            for used in node._input_nodes:
                if used.graph is not self:
                    raise RuntimeError(f"lint: argument {used} of node {node} does not belong to this graph. Copy it with graph.node_copy.")
                if used not in seen:
                    raise RuntimeError(f"lint: argument {used} of node {node} was used before it has been defined. Check the order of the nodes:\n{self}")
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"lint: node redefined name {node.name}.")
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                found = resolve(node.target, self.owning_module)
                if node.op == "call_module" and not callable(found):
                    raise RuntimeError(f"lint: node {node} calls {node.target}, which is a {type(found).__name__}.")

    # -- reading it

    def _target_to_str(self, target: Any) -> str:
        if callable(target):
            name = getattr(target, "__name__", type(target).__name__)
        else:
            name = target[2:-2] if target.startswith("__") and target.endswith("__") else target
        return snake_case(name)

    def python_code(self, root_module: str, **options: Any) -> PythonCode:
        """The program as Python source; root_module: what the owning module is called in it."""
        if options:
            raise TypeError(f"python_code: got {', '.join(options)}. It takes root_module alone.")
        return self._codegen.python_code(self.nodes, root_module)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let another object write the code."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]) -> Any:
        """Register a function on the lines of the code: make_transformer gets the one before, or None. As a context, for the block alone."""
        before = self._codegen._body_transformer
        codegen = self._codegen
        codegen._body_transformer = make_transformer(before)

        class Registered:
            def __enter__(self) -> None:
                return None

            def __exit__(self, *error: Any) -> None:
                codegen._body_transformer = before

        return Registered()

    def process_inputs(self, *args: Any) -> Any:
        """A caller's arguments as the placeholders take them."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """The result as callers get it."""
        return self._codegen.process_outputs(out)

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        rows.insert(1, ["-" * w for w in widths])
        print("\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows))

    def __str__(self) -> str:
        lines = [n.format_node() for n in self.nodes]
        return "\n    ".join(["graph():", *(line for line in lines if line)])


def _get_qualified_name(func: Callable) -> str:
    """The dotted name of a function."""
    return function_name(func)
