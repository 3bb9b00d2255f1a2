"""Pictures of graphs: the text that Graphviz's `dot` reads, and what `dot` makes of it where it is installed."""

from __future__ import annotations

import os

from ._api import as_tuple, origin_of
from ._core import GradError, Tensor
from ._events import written
from ._node import Leaf, Output

__all__ = ["draw", "to_dot", "to_svg"]


class Graph:
    """What is behind some tensors: `boxes`, [(label, kind)], and `edges`, [(from, to, number of the result or None)] between their numbers."""

    def __init__(self, tensors, names) -> None:
        known = {id(t): name for name, t in (names.items() if isinstance(names, dict) else names or ())}
        self.boxes, self.edges = [], []
        numbers, waiting, edges = {}, [], []

        def declare(key, label, kind) -> None:
            numbers[key] = len(self.boxes)
            self.boxes.append((label, kind))

        for k, t in enumerate(tensors):
            origin = origin_of(t)
            if origin is None:
                raise GradError(f"to_dot: tensor {k} does not require grad, so there is no graph behind it. Call requires_grad_() on what it is computed from.")
            declare(("result", k), f"{known.get(id(t), 'result')}\n{about(t)}", "result")
            node, number = origin._edge() if not isinstance(origin, Leaf) else (origin, 0)
            edges.append((node, ("result", k), number if isinstance(origin, Output) else None))
            waiting.append(node)
        while waiting:
            node = waiting.pop()
            if node in numbers:
                continue
            if isinstance(node, Leaf):
                leaf = node.variable
                declare(node, "a leaf that is gone" if leaf is None else f"{known.get(id(leaf), 'leaf')}\n{about(leaf)}", "leaf")
                continue
            declare(node, node.name(), "node")
            for origin in node._inputs:
                if origin is not None:
                    before, number = (origin, 0) if isinstance(origin, Leaf) else origin._edge()
                    edges.append((before, node, number if isinstance(origin, Output) else None))
                    waiting.append(before)
        self.edges = [(numbers[a], numbers[b], number) for a, b, number in edges]


def checked(name, tensors) -> list:
    tensors = as_tuple(tensors)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}: expected tensors, not {type(t).__name__}.")
    return tensors


STYLES = {"result": 'fillcolor="#d5e8d4"', "leaf": 'fillcolor="#dae8fc"', "node": 'shape=ellipse fillcolor="#f5f5f5"'}


def to_dot(tensors, names=None) -> str:
    """The graph behind some tensors in the DOT language: results below what they were computed from.

    names: a dict, or the pairs of named_parameters(), that names leaves.

    >>> x = facula.ones(2, requires_grad=True)
    >>> "Mul" in facula.autograd.graph.to_dot((x * 2).sum())
    True
    """
    graph = Graph(checked("to_dot", tensors), names)
    lines = [f'  n{k} [label="{quoted(label)}" {STYLES[kind]}];' for k, (label, kind) in enumerate(graph.boxes)]
    lines += [f"  n{a} -> n{b}{'' if number is None else f' [label={number}]'};" for a, b, number in graph.edges]
    return "\n".join(["digraph {", '  node [shape=box style=filled fontname="monospace"];', *lines, "}", ""])


def to_svg(tensors, names=None) -> str:
    """The graph as a picture, drawn here: each operation in a row below the last of what it is computed from.

    >>> x = facula.ones(2, requires_grad=True)
    >>> facula.autograd.graph.to_svg((x * 2).sum())[:4]
    '<svg'
    """
    from ._svg import svg

    return svg(Graph(checked("to_svg", tensors), names))


def about(t) -> str:
    return f"{tuple(t.shape)} {str(t.dtype).rpartition('.')[2]}"


def quoted(text) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def draw(tensors, path, names=None) -> str:
    """Write the graph behind some tensors to a file and answer its path: .dot is text, .svg a picture; .pdf and .png need Graphviz.

    Graphviz's `dot` draws the .svg where it is installed. Without it .pdf and .png become a .dot file of that name.

    >>> import tempfile
    >>> x = facula.ones(2, requires_grad=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(open(facula.autograd.graph.draw((x * 2).sum(), folder + "/graph.dot")).read()[:7])
    digraph
    """
    import shutil
    import subprocess

    path = os.fspath(path)
    stem, ending = os.path.splitext(path)
    if ending not in (".dot", ".gv", ".svg", ".pdf", ".png"):
        raise ValueError(f"draw: cannot write {ending or 'a file without ending'}. Use .dot, .svg, .pdf or .png.")
    text = to_dot(tensors, names)
    if ending == ".svg" and shutil.which("dot") is None:
        written(path, to_svg(tensors, names))
        return path
    program = shutil.which("dot") if ending not in (".dot", ".gv") else None
    if program is None:
        path = path if ending in (".dot", ".gv") else stem + ".dot"
        written(path, text)
        return path
    subprocess.run([program, f"-T{ending[1:]}", "-o", path], input=text, text=True, check=True)
    return path
