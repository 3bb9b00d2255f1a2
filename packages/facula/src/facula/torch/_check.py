"""Which torch names a program or a library uses, read with ast: nothing of it is run."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import facula

from ._resolve import ROOTS, MissingName, explain, resolve

__all__ = ["Use", "names_in", "part_of", "report", "sources"]

ASKS = {"hasattr", "find_spec", "TYPE_CHECKING"}  # words of a condition by which a program asks whether a name is there
CATCH = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


class Use(NamedTuple):
    """One place where a torch name stands; guarded: the program knows what to do without it."""

    name: str
    line: int
    guarded: bool = False


def _words(node: ast.AST | None) -> set[str]:
    return {getattr(n, "id", None) or getattr(n, "attr", "") for n in ast.walk(node)} if node is not None else CATCH


class _Uses(ast.NodeVisitor):
    """Collects dotted names, following `import torch as t`, `from torch import nn` and `F = torch.nn.functional`."""

    def __init__(self, bound: dict[str, str]) -> None:
        self.bound = bound
        self.found: list[Use] = []
        self.guarded = False

    def _add(self, name: str, line: int) -> None:
        self.found.append(Use(name, line, self.guarded))

    @contextmanager
    def _guard(self, on: bool) -> Iterator[None]:
        before, self.guarded = self.guarded, self.guarded or on
        yield
        self.guarded = before

    def visit_Try(self, node: ast.Try) -> None:
        with self._guard(any(_words(h.type) & CATCH for h in node.handlers)):
            for statement in node.body:
                self.visit(statement)
        for statement in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(statement)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        with self._guard(bool(_words(node.test) & ASKS)):
            self.generic_visit(node)

    visit_IfExp = visit_If

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] in ROOTS:
                self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module and node.module.partition(".")[0] in ROOTS:
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                self._add(name, node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = _dotted(node, self.bound)
        if dotted is None:
            self.generic_visit(node)
        else:
            self._add(dotted, node.lineno)

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


def names_in(path: Path) -> list[Use]:
    """Every use of a torch name in a file, in the order of the lines."""
    tree = ast.parse(path.read_bytes(), str(path))
    uses = _Uses(_bindings(tree))
    uses.visit(tree)
    return sorted(uses.found, key=lambda use: use.line)


def sources(what: str) -> list[Path]:
    """The Python files of a file's or folder's path, or of an installed library's name, which is not imported."""
    top = Path(what)
    if not top.exists() and what.isidentifier():
        spec = importlib.util.find_spec(what)
        if spec is not None:
            places = spec.submodule_search_locations or [spec.origin]
            return [file for place in places for file in sources(place)]
    return sorted(top.rglob("*.py")) if top.is_dir() else [top]


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


def report(what: str, missing_only: bool = False) -> int:
    """Prints the names used by a file, a folder or an installed library; 0 if all are there, 1 if some are missing, 2 if there is nothing to read.

    A name that is missing and stands only where the program does without it (below `try:` or `if hasattr(...)`) is told apart, and no fault.
    """
    files, unread = sources(what), 0
    uses: dict[str, list[Use]] = defaultdict(list)
    first: dict[str, str] = {}
    for file in files:
        try:
            for use in names_in(file):
                uses[use.name].append(use)
                first.setdefault(use.name, f"{file}:{use.line}")
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{file}: cannot be read ({error})", file=sys.stderr)
            unread += 1
    if unread == len(files):
        return 2
    missing = []
    for name in sorted(uses):
        try:
            part = part_of(name)
        except (MissingName, ImportError):
            missing.append(name)
        else:
            if not missing_only:
                print(f"  {name:<48} {part:<22} {len(uses[name])} times, first {first[name]}")
    needed = [name for name in missing if not all(use.guarded for use in uses[name])]
    for name in missing:
        print(f"- {name:<48} {'missing' if name in needed else 'missing, guarded':<22} {len(uses[name])} times, first {first[name]}")
        parent, _, last = name.rpartition(".")
        try:
            near = explain(name, resolve(parent)).partition("Near it: ")[2]
        except (MissingName, ImportError):
            near = ""
        if near:
            print(f"    near it: {near.rstrip('.')}")
    print(f"{len(uses) - len(missing)} of {len(uses)} names are in Facula {facula.__version__} ({len(files) - unread} files read)")
    return 1 if needed else 0
