"""Node: one step of a graph, and the walks over its arguments."""

from __future__ import annotations

import builtins
import operator
import types
from typing import Any, Callable, Optional, Union

import facula
from facula.jit.graph import nested_text

from ._names import function_name, type_name
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

OPS = {"call_function", "call_method", "call_module", "get_attr", "output", "placeholder", "root"}
Target = Union[Callable[..., Any], str]  # what a node calls, by itself or by name
BaseArgumentTypes = Union[str, int, float, bool, complex, facula.dtype, facula.Tensor, facula.device]
Argument = Optional[Union[tuple, list, dict, slice, range, "Node", BaseArgumentTypes]]
BASE_TYPES = (str, int, float, bool, complex, type(None), type(...), slice, range)
_side_effects: set[Callable] = {operator.setitem, operator.delitem, *(getattr(operator, n) for n in operator.__all__ if n.startswith("i") and n[1:] in (
    "add", "and", "concat", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift", "sub", "truediv", "xor"))}  # fmt: skip


def has_side_effect(fn: Callable) -> Callable:
    """Mark a function as one whose calls stay in a graph though nobody uses their results.

    >>> @facula.fx.has_side_effect
    ... def log(x):
    ...     print(x)
    ...
    >>> log(1)
    1
    """
    _side_effects.add(fn)
    return fn


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The nested argument with fn(node) in place of every node.

    >>> node = next(iter(facula.fx.symbolic_trace(lambda x: x + 1).graph.nodes))
    >>> facula.fx.map_arg([node, 2], lambda node: node.name)
    ['x', 2]
    """
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The nested argument with fn(leaf) in place of every leaf; tuples, lists, dicts and slices are no leaves.

    >>> facula.fx.node.map_aggregate((1, [2, 3]), lambda leaf: leaf * 10)
    (10, [20, 30])
    """
    if isinstance(a, tuple):
        items = [map_aggregate(x, fn) for x in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


class Node:
    """One step: `op` says what kind, `target` what is called or fetched, `args` and `kwargs` with what.

    op              target                      args
    placeholder     the argument's name         its default, if it has one
    get_attr        a parameter's path          -
    call_function   the function                its arguments
    call_method     the method's name           self and its arguments
    call_module     the submodule's path        its arguments
    output          "output"                    what is returned

    >>> graph = facula.fx.symbolic_trace(lambda x: x + 1).graph
    >>> [(node.op, node.name) for node in graph.nodes]
    [('placeholder', 'x'), ('call_function', 'add'), ('output', 'output')]
    """

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: tuple, kwargs: dict, return_type: Any = None) -> None:
        if op not in OPS:
            raise AssertionError(f"Node: op is {op!r}. Use one of {', '.join(sorted(OPS - {'root'}))}.")
        if op == "call_function":
            if not callable(target):
                raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} but a Callable is expected")
        elif not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target).__name__} but a str is expected")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self._set(args, kwargs)
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable | None = None
        self.meta: dict[str, Any] = {}

    # -- place in the graph

    @property
    def next(self) -> Node:
        """The node after this one; the graph's root after the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one; the graph's root before the first."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move x to the place before this node."""
        if self.graph is not x.graph:
            raise AssertionError("prepend: the nodes belong to different graphs. Copy it with graph.node_copy.")
        if self is x:
            return
        x._leave()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Move x to the place after this node."""
        self._next.prepend(x)

    def _leave(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    def __lt__(self, other: Node) -> bool:
        """Does it stand before the other in the same graph?"""
        if self is other:
            return False
        node = self._next
        while node.op != "root":
            if node is other:
                return True
            node = node._next
        return False

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __ge__(self, other: Node) -> bool:
        return other <= self

    # -- arguments

    @property
    def args(self) -> tuple:
        return self._args

    @args.setter
    def args(self, a: tuple) -> None:
        self._set(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._set(self._args, k)

    def _set(self, args: tuple, kwargs: dict) -> None:
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}

        def use(node: Node) -> Node:
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args, self._kwargs = map_arg(tuple(args), use), map_arg(dict(kwargs), use)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among its arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Set one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument before place idx."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_arg: place {idx} of {len(self.args)} arguments. Use 0 to {len(self.args)}.")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set one argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Let the users of this node (those for which delete_user_cb is true) use another; returns those that were its users."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("replace_all_uses_with: propagate_meta, but the new node has meta already. Clear it first.")
            replace_with.meta.update(self.meta)
        users = list(self.users)
        changed = [user for user in users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return users if len(changed) == len(users) else changed

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use another node in place of one argument, wherever that stands."""

        def swap(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    # -- what it is

    @property
    def stack_trace(self) -> str | None:
        """The program's lines that made it, where the tracer recorded them."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Does it do more than give a result, so that it must stay where nobody uses it?"""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            return self.target in _side_effects or name in ("_assert", "_assert_async", "manual_seed") or _writes(name) or bool(self.kwargs.get("inplace"))
        if self.op == "call_method":
            return _writes(self.target)
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                raise AssertionError("is_impure: the graph belongs to no module. Set graph.owning_module first.")
            return bool(getattr(module.get_submodule(self.target), "_is_impure", False))
        return False

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None) -> str | None:
        """The line that stands for it in str(graph)."""
        kind = "" if self.type is None else f"{type_name(self.type)} "
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f" : {type_name(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} : {kind}[num_users={len(self.users)}] = placeholder[target={self.target}]{default}"
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        target = _qualified(self.target) if callable(self.target) else self.target
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={target}]"
        return head if self.op == "get_attr" else f"{head}(args = {_format(self.args)}, kwargs = {_format(self.kwargs)})"


def _qualified(f: Callable) -> str:
    name = function_name(f)
    return f"builtins.{name}" if getattr(builtins, name, None) is f and not isinstance(f, type) else name


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _format(a: Any) -> str:
    """Arguments, nodes with a percent sign."""
    return nested_text(a, _leaf, str)


def _leaf(a: Any) -> str:
    if isinstance(a, Node):
        return f"%{a}"
    if isinstance(a, (types.FunctionType, types.BuiltinFunctionType, builtins.type)):
        return _qualified(a)
    return str(a)
