"""The examples in docstrings print what they say. They may use `facula` without a line that imports it."""

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import facula

ROOT = Path(__file__).resolve().parent.parent


def examples():
    """Every docstring with an example, by the file's text: one that no name leads to counts as well."""
    for source in sorted(ROOT.glob("packages/*/src")):
        for file in sorted(source.rglob("*.py")):
            text = file.read_text()
            if ">>>" not in text or file.name == "_ops.py":
                continue
            module = ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.walk(ast.parse(text)):
                said = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) else None
                if said and ">>>" in said:
                    yield pytest.param(module, said, id=f"{module}: {getattr(node, 'name', 'module')}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module,said", list(examples()))
def test_an_example_prints_what_it_says(module, said):
    if "from PIL import" in said:
        pytest.importorskip("PIL")
    space = {"facula": facula, **vars(importlib.import_module(module))}
    test = doctest.DocTestParser().get_doctest(said, space, module, None, 0)
    wrong = []
    with facula.random.fork_rng():
        doctest.DocTestRunner(verbose=False).run(test, out=wrong.append)

    assert [] == wrong, "".join(wrong)
