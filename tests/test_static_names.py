"""What a module lists in `__all__` is bound by its statements, where a reader and a type checker look for it."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# made in loops, or imported when first asked for: what rows are called, types of old constructors, enumerations of weights, parts that need another part
MADE = {
    "facula.optim": {"swa_utils"},
    "facula.vision": {"datasets", "models", "ops", "transforms", "tv_tensors", "utils"},
    "facula.tensor_core.api": "all", "facula.tensor_core.linalg.names": "all", "facula.tensor_core.memory.legacy": "all", "facula.tensor_core.memory.storage": "all",
}  # fmt: skip


def bound(body, package):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if node.names[0].name == "*":
                module = importlib.import_module("." * node.level + (node.module or ""), package)
                yield from getattr(module, "__all__", vars(module))
            yield from ((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            yield from (n.id for t in getattr(node, "targets", [getattr(node, "target", None)]) for n in ast.walk(t) if isinstance(n, ast.Name))
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from bound([*node.body, *getattr(node, "orelse", [])], package)


def modules():
    for source in sorted(ROOT.glob("packages/*/src")):
        for file in sorted(source.rglob("*.py")):
            if "__all__" in file.read_text() and file.parent != source / "facula" and not file.with_suffix(".pyi").exists():
                yield ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__"), file


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name,file", [pytest.param(name, file, id=name) for name, file in modules()])
def test_listed_names_are_bound_by_statements(name, file):
    module = importlib.import_module(name)
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    made = MADE.get(name, set())
    listed = set() if made == "all" else {n for n in getattr(module, "__all__", ()) if not n.endswith("_Weights")} - set(made)

    assert set() == listed - set(bound(ast.parse(file.read_text()).body, package))
