"""Pictures of graphs: the text that Graphviz's `dot` reads, and what `dot` makes of it where it is installed."""

import os

from ._api import as_tuple, origin_of
from ._core import GradError, Tensor
from ._events import written
from ._node import Leaf, Output

__all__ = ["draw", "to_dot"]


def to_dot(tensors, names=None):
    """The graph behind some tensors in the DOT language: results below what they were computed from.

    names: a dict, or the pairs of named_parameters(), that names leaves.
    """
    tensors = as_tuple(tensors)
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"to_dot: expected tensors, not {type(t).__name__}.")
    known = {id(t): name for name, t in (names.items() if isinstance(names, dict) else names or ())}
    ids, lines = {}, []

    def declare(key, label, **style):
        ids[key] = f"n{len(ids)}"
        rest = "".join(f" {k}={v}" for k, v in style.items())
        lines.append(f'  {ids[key]} [label="{label}"{rest}];')

    stack, edges = [], []
    for k, t in enumerate(tensors):
        origin = origin_of(t)
        if origin is None:
            raise GradError(f"to_dot: tensor {k} does not require grad, so there is no graph behind it. Call requires_grad_() on what it is computed from.")
        declare(("result", k), quoted(f"{known.get(id(t), 'result')}\n{about(t)}"), fillcolor='"#d5e8d4"')
        node, number = origin.edge() if not isinstance(origin, Leaf) else (origin, 0)
        edges.append((node, ("result", k), number if isinstance(origin, Output) else None))
        stack.append(node)
    while stack:
        node = stack.pop()
        if node in ids:
            continue
        if isinstance(node, Leaf):
            leaf = node.variable
            declare(node, quoted("a leaf that is gone" if leaf is None else f"{known.get(id(leaf), 'leaf')}\n{about(leaf)}"), fillcolor='"#dae8fc"')
            continue
        declare(node, quoted(node.name()), shape="ellipse", fillcolor='"#f5f5f5"')
        for origin in node.inputs:
            if origin is not None:
                before, number = (origin, 0) if isinstance(origin, Leaf) else origin.edge()
                edges.append((before, node, number if isinstance(origin, Output) else None))
                stack.append(before)
    lines += [f"  {ids[a]} -> {ids[b]}{'' if number is None else f' [label={number}]'};" for a, b, number in edges]
    return "\n".join(["digraph {", '  node [shape=box style=filled fontname="monospace"];', *lines, "}", ""])


def about(t):
    return f"{tuple(t.shape)} {str(t.dtype).rpartition('.')[2]}"


def quoted(text):
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def draw(tensors, path, names=None):
    """Write the graph behind some tensors to a file and answer its path: .dot is text; .svg, .pdf and .png need Graphviz.

    Without Graphviz's `dot` the text goes to a file of that name that ends in .dot.
    """
    import shutil
    import subprocess

    path = os.fspath(path)
    stem, ending = os.path.splitext(path)
    if ending not in (".dot", ".gv", ".svg", ".pdf", ".png"):
        raise ValueError(f"draw: cannot write {ending or 'a file without ending'}. Use .dot, .svg, .pdf or .png.")
    text = to_dot(tensors, names)
    program = shutil.which("dot") if ending not in (".dot", ".gv") else None
    if program is None:
        path = path if ending in (".dot", ".gv") else stem + ".dot"
        written(path, text)
        return path
    subprocess.run([program, f"-T{ending[1:]}", "-o", path], input=text, text=True, check=True)
    return path
