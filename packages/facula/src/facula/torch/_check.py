"""Which torch names a program uses, read with ast: nothing of it is run."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import facula

from ._resolve import ROOTS, MissingName, explain, resolve

__all__ = ["names_in", "part_of", "report"]


class _Uses(ast.NodeVisitor):
    """Collects dotted names, following `import torch as t`, `from torch import nn` and `F = torch.nn.functional`."""

    def __init__(self, bound: dict[str, str]) -> None:
        self.bound = bound
        self.found: list[tuple[str, int]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] in ROOTS:
                self.found.append((alias.name, node.lineno))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module and node.module.partition(".")[0] in ROOTS:
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                self.found.append((name, node.lineno))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = _dotted(node, self.bound)
        if dotted is None:
            self.generic_visit(node)
        else:
            self.found.append((dotted, node.lineno))

    def visit_Name(self, node: ast.Name) -> None:
        # A from-imported name counts where it is imported; used bare it adds nothing new.
        return


def _dotted(node: ast.expr, bound: dict[str, str]) -> str | None:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in bound:
        return None
    return ".".join([bound[node.id], *reversed(names)])


def _bindings(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted torch name, for the whole file (a name means one thing in it, in practice)."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in ROOTS:
                    local = alias.asname or alias.name.partition(".")[0]
                    bound[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module.partition(".")[0] in ROOTS:
                bound.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names if a.name != "*"})
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            dotted = _dotted(node.value, bound)
            # Only modules and classes are followed: what else is assigned is a value.
            if dotted is not None and _is_namespace(dotted):
                bound[node.targets[0].id] = dotted
    return bound


def _is_namespace(dotted: str) -> bool:
    try:
        found = resolve(dotted)
    except (MissingName, ImportError):
        return False
    return isinstance(found, (type, type(sys)))


def names_in(path: Path) -> list[tuple[str, int]]:
    """(dotted torch name, line) of every use in a file, in the order of the lines."""
    tree = ast.parse(path.read_bytes(), str(path))
    uses = _Uses(_bindings(tree))
    uses.visit(tree)
    return sorted(uses.found, key=lambda use: use[1])


def part_of(dotted: str) -> str:
    """The distribution that brings what the name means. Raises MissingName."""
    found, names = None, dotted.split(".")
    for i in range(len(names)):
        found = resolve(".".join(names[: i + 1]))
        # Below a class (torch.Tensor.view) the class's own attributes decide; what is below a value is its business.
        if not isinstance(found, (type, type(sys))):
            break
    module = (
        getattr(found, "__name__", "") if isinstance(found, type(sys)) else getattr(found, "__module__", None) or ""
    )
    return _distribution(module, dotted)


def _distribution(module: str, dotted: str) -> str:
    parts = module.split(".")
    if len(parts) < 2 or parts[0] != "facula":
        return "facula-tensor-core"
    known = {
        "autograd": "facula-autograd",
        "amp": "facula-autograd",
        "nn": "facula-nn",
        "optim": "facula-optim",
        "data": "facula-data",
        "jit": "facula-jit",
        "dist": "facula-dist",
        "distributed": "facula-dist",
        "vision": "facula-vision",
        "distributions": "facula-distributions",
        "torch": "facula",
        "cli": "facula",
    }
    if parts[1] == "utils" and len(parts) > 2:
        return {"data": "facula-data", "checkpoint": "facula-autograd", "trainer": "facula"}.get(
            parts[2], "facula-tensor-core"
        )
    return known.get(parts[1], "facula-tensor-core")


def report(path: str) -> int:
    """Prints the names used under `path`; 0 if all are there, 1 if some are missing, 2 if it cannot be read."""
    top = Path(path)
    files = sorted(top.rglob("*.py")) if top.is_dir() else [top]
    uses: dict[str, list[str]] = {}
    for file in files:
        try:
            for name, line in names_in(file):
                uses.setdefault(name, []).append(f"{file}:{line}")
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{file}: cannot be read ({error})", file=sys.stderr)
            return 2
    missing = []
    for name in sorted(uses):
        try:
            print(f"  {name:<48} {part_of(name):<22} {len(uses[name])} times, first {uses[name][0]}")
        except (MissingName, ImportError):
            missing.append(name)
    for name in missing:
        print(f"- {name:<48} {'missing':<22} {len(uses[name])} times, first {uses[name][0]}")
        parent, _, last = name.rpartition(".")
        try:
            near = explain(name, resolve(parent)).partition("Near it: ")[2]
        except (MissingName, ImportError):
            near = ""
        if near:
            print(f"    near it: {near.rstrip('.')}")
    print(
        f"{len(uses) - len(missing)} of {len(uses)} names are in Facula {facula.__version__} ({len(files)} files read)"
    )
    return 1 if missing else 0
