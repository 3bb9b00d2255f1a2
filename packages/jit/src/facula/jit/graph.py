"""The graph: values, nodes in the order in which they ran, and how they read."""

from dataclasses import dataclass, field
from typing import Any

INDENT = "    "


@dataclass(eq=False)
class Value:
    """One tensor of a graph.

    kind: "input"; "state", a parameter or buffer under its dotted name; "grad", the gradient that a state or input has when
    the run begins; "captured", a tensor that the function found outside; "constant", one that it made; "empty", one that it made
    and filled itself; "result" of a node.

    >>> value = facula.jit.trace(lambda x: x * 2, facula.ones(2)).graph.inputs[0]
    >>> value.dtype, value.shape
    (torch.float32, (2,))
    """

    name: str
    kind: str
    dtype: Any
    shape: tuple
    stride: tuple
    requires_grad: bool = False
    of: "Value | None" = None  # "grad": whose

    @property
    def type(self) -> str:
        return f"{self.dtype._name}{list(self.shape)}"


@dataclass(eq=False)
class Node:
    """One row that ran: arguments in the signature's order, with a Value where a tensor was.

    >>> node = facula.jit.trace(lambda x: x * 2, facula.ones(2)).graph.nodes[0]
    >>> node.op, len(node.results)
    ('mul', 1)
    """

    op: str
    args: tuple
    results: tuple  # of Value
    into: Value | None = None  # the tensor written in place, or given as out=
    grad: bool = True  # was grad mode on
    several: bool = False  # does the row give a tuple

    def call(self, shown):
        """The call as text; a row that writes into its first argument ends in an underscore."""
        inplace = self.into is not None and self.args and self.into is self.args[0]
        arguments = [shown(a) for a in self.args] + (
            [f"out={shown(self.into)}"] if self.into is not None and not inplace else []
        )
        return f"{self.op}{'_' if inplace and not self.op.endswith('_') else ''}({', '.join(arguments)})"


@dataclass(eq=False)
class Graph:
    """inputs -> nodes -> outputs, and the tensors that it finds besides its inputs.

    outputs: a Value, or tuples, lists and dicts of them.
    effects: (value, gradient or None): what `.grad` of an input or state is afterwards.

    >>> traced = facula.jit.trace(lambda x: (x * 2).relu(), facula.ones(2))
    >>> [node.op for node in traced.graph.nodes]
    ['mul', 'relu']
    """

    inputs: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    outputs: Any = None
    effects: list = field(default_factory=list)
    tensors: dict = field(default_factory=dict)  # Value -> tensor: captured ones, constants
    fresh: set = field(default_factory=set)  # constants that the graph writes: each run starts with a copy

    def values(self, kind):
        """Every Value of a kind, in the order of appearance."""
        found = {}
        for value in self.mentioned():
            if value.kind == kind:
                found[value] = None
        return list(found)

    def mentioned(self):
        """Every Value, each time it is mentioned."""
        yield from self.inputs
        for node in self.nodes:
            yield from leaves((node.args, node.into, node.results))
        yield from leaves((self.outputs, self.effects))

    @property
    def code(self) -> str:
        """The graph as a Python function."""
        lines = [f"def forward({', '.join(v.name for v in self.inputs)}):"]
        for node in self.nodes:
            left = ", ".join(show(v) for v in node.results)
            left += "," if node.several and len(node.results) == 1 else ""
            lines.append(f"{INDENT}{left + ' = ' if left else ''}{node.call(show)}")
        for value, gradient in self.effects:
            lines.append(f"{INDENT}{show(value)}.grad = {show(gradient)}")
        return "\n".join([*lines, f"{INDENT}return {show(self.outputs)}"])

    def __str__(self) -> str:
        given = ",\n      ".join(f"%{v.name} : {v.type}" for v in self.inputs)
        lines = [f"graph({given}):"]
        for kind in ("state", "grad", "captured", "constant", "empty"):
            lines += [f"  %{v.name} : {v.type} = {kind}" for v in self.values(kind)]
        for node in self.nodes:
            left = ", ".join(f"%{v.name} : {v.type}" for v in node.results)
            lines.append(f"  {left + ' = ' if left else ''}{node.call(mark)}")
        lines += [f"  {mark(value)}.grad = {mark(gradient)}" for value, gradient in self.effects]
        return "\n".join([*lines, f"  return ({mark(self.outputs)})"]) + "\n"

    __repr__ = __str__


def leaves(tree):
    """Every Value in nested tuples, lists and dicts.

    >>> graph = facula.jit.trace(lambda x, y: x + y, (facula.ones(2), facula.ones(2))).graph
    >>> len(list(facula.jit.graph.leaves(graph.inputs)))
    2
    """
    if isinstance(tree, Value):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from leaves(item)


def rebuild(tree, f):
    """The same nesting with f applied to what is no container; namedtuples stay what they are.

    >>> facula.jit.graph.rebuild((1, [2, {"a": 3}]), lambda leaf: leaf * 10)
    (10, [20, {'a': 30}])
    """
    if isinstance(tree, tuple):
        items = [rebuild(item, f) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if isinstance(tree, list):
        return [rebuild(item, f) for item in tree]
    if isinstance(tree, dict):
        return {key: rebuild(item, f) for key, item in tree.items()}
    return f(tree)


def show(tree, name=lambda v: f'self["{v.name[5:]}"]' if v.kind == "state" else v.name):
    """An argument as text; name gives a Value's.

    >>> facula.jit.graph.show((1, [2.5, None]))
    '(1, [2.5, None])'
    """
    return nested_text(tree, lambda leaf: name(leaf) if isinstance(leaf, Value) else repr(leaf))


def nested_text(tree, leaf, key=repr):
    """Nested tuples, lists and dicts as Python writes them, of the texts that leaf and key give.

    >>> facula.jit.graph.nested_text((1, [2, {"a": 3}]), str)
    "(1, [2, {'a': 3}])"
    """
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{key(k)}: {nested_text(i, leaf, key)}" for k, i in tree.items()) + "}"
    if not isinstance(tree, (tuple, list)):
        return leaf(tree)
    items = ", ".join(nested_text(i, leaf, key) for i in tree)
    return f"[{items}]" if isinstance(tree, list) else f"({items}{',' if len(tree) == 1 else ''})"


def mark(tree):
    """An argument as text, with PyTorch's percent sign before each Value.

    >>> facula.jit.graph.mark((1, [2.5, None]))
    '(1, [2.5, None])'
    """
    return show(tree, lambda v: f"%{v.name}")
