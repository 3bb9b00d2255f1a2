"""Imports point along the arrows. Read with ast: nothing is imported."""

import ast
import sys
from functools import cache

import pytest
from tree import PARTS, ROOT, modules, owner_of

CORE = "tensor-core"
ARROWS = {
    CORE: (),
    "autograd": (CORE,),
    "data": (CORE,),
    "jit": (CORE,),
    "dist": (CORE,),
    "nn": ("autograd", CORE),
    "optim": ("autograd", CORE),
    "distributions": ("autograd", CORE),
    "vision": ("nn", "data", CORE),
    "facula": tuple(p for p in PARTS if p != "facula"),
}
# one module or folder each, imported or asked only where the other part is installed; what its path says
BY_NAME = {
    ("jit", "autograd"): "autograd", ("dist", "autograd"): "autograd", ("optim", "nn"): "swa_utils", ("nn", "dist"): "nn/parallel/",
    ("jit", "nn"): "/facula/fx/",
}  # fmt: skip
RUN_TIME = {"numpy", "cffi", "_cffi_backend", "facula"}
OWNER = owner_of()


@cache
def owner(name):
    """The part that ships facula.a.b.c: the longest prefix that is a module; the tensor API is the core's."""
    parts = name.split(".")
    while len(parts) > 1:
        dotted = ".".join(parts)
        if dotted in OWNER:
            return OWNER[dotted]
        inside = {OWNER[m] for m in OWNER if m.startswith(dotted + ".")}
        if len(inside) == 1:
            return inside.pop()
        parts.pop()
    return CORE


def imported(path, module):
    """(line, dotted name, at top level) of every import, and of every attribute of a name bound to facula."""
    tree = ast.parse(path.read_text())
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    lazily = {id(n) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for n in ast.walk(f)}
    lazily |= {id(n) for f in ast.walk(tree) if isinstance(f, ast.Try) for n in ast.walk(f)}
    lazily |= {id(n) for f in ast.walk(tree) if isinstance(f, ast.If) and "TYPE_CHECKING" in ast.dump(f.test) for n in ast.walk(f)}
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, id(node) not in lazily
                if alias.name == "facula":
                    bound.add(alias.asname or "facula")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}", id(node) not in lazily
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            yield node.lineno, f"facula.{node.attr}", False


@cache
def uses(part):
    return [(path, line, name, at_top) for path, module in modules(part) for line, name, at_top in imported(path, module)]


def test_every_part_has_its_arrows():
    assert sorted(ARROWS) == PARTS


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_along_the_arrows(part):
    wrong = []
    for path, line, name, _ in uses(part):
        to = owner(name) if name.split(".")[0] == "facula" else part
        named = BY_NAME.get((part, to), "::") in path.as_posix()
        if to != part and to not in ARROWS[part] and not named:
            wrong.append(f"{path.relative_to(ROOT)}:{line} {name} belongs to {to}")

    assert [] == wrong


@pytest.mark.parametrize("part", [p for p in PARTS if p != CORE])
def test_other_parts_reach_the_core_through_extend_alone(part):
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, line, name, _ in uses(part)
        if name.startswith("facula.tensor_core.") and not name.startswith("facula.tensor_core.extend")
    ]

    assert [] == wrong


@pytest.mark.parametrize("part", PARTS)
def test_nothing_but_numpy_and_cffi_is_needed_at_import(part):
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, line, name, at_top in uses(part)
        if at_top and name.split(".")[0] not in RUN_TIME | set(sys.stdlib_module_names)
    ]

    assert [] == wrong


def test_only_lib_py_says_ffi():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for part in PARTS
        for path, line, name, _ in uses(part)
        if name.split(".")[0] in ("cffi", "_cffi_backend") and path.name != "_lib.py"
    ]

    assert [] == wrong


def test_only_the_core_ships_the_shared_packages():
    shared = ("facula", "facula.utils", "facula.legacy")
    wrong = [str(p.relative_to(ROOT)) for part in PARTS if part != CORE for p, name in modules(part) if name in shared]

    assert [] == wrong
