"""Every public name has a docstring with an example, and examples print what they say. They may use `facula` without importing it."""

import ast
import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import facula
from facula.tensor_core import _ops

ROOT = Path(__file__).resolve().parent.parent
# what cannot be shown in one process on a machine like any other: name -> why
IMPOSSIBLE = {
    **{f"{dist}.{name}": "a second process is at the other end" for dist in ("facula.dist", "facula.distributed") for name in ("P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send")},
    "facula.vision.datasets.utils.download_file_from_google_drive": "it fetches from Google Drive",
    "facula.dist.multiprocessing.spawn": "fresh interpreters import the program anew, and a docstring is none",
}
# modules that are inside, or that are programs
INNER = ("facula.tensor_core", "facula.torch", "facula.cli", "facula.autograd.rules", "facula.__main__")


def run(said, space):
    """Run an example and say what it printed otherwise."""
    if "from PIL import" in said:
        pytest.importorskip("PIL")
    test = doctest.DocTestParser().get_doctest(said, space, "example", None, 0)
    wrong = []
    with facula.random.fork_rng():
        doctest.DocTestRunner(verbose=False).run(test, out=wrong.append)

    assert [] == wrong, "".join(wrong)


def sources():
    """(file, name of its module) of every source."""
    for source in sorted(ROOT.glob("packages/*/src")):
        for file in sorted(source.rglob("*.py")):
            yield file, ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def written():
    """(module, name, docstring) of every docstring with an example, by the file's text: one that no name leads to counts as well."""
    for file, module in sources():
        text = file.read_text()
        if ">>>" not in text or file.name == "_ops.py":
            continue
        for node in ast.walk(ast.parse(text)):
            said = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) else None
            if said and ">>>" in said:
                yield module, getattr(node, "name", "module"), said


def described(thing):
    """Is it a function, class or property of ours? Python's own, such as those of multiprocessing, have Python's words."""
    ours = (getattr(thing, "__module__", None) or "facula").startswith("facula")
    return ours and not isinstance(thing, ModuleType) and (callable(thing) or inspect.isdatadescriptor(thing))


def public_names():
    """{dotted name: docstring} of all that a public module lists or, without a list, defines, and of Tensor."""
    found = {}
    for _, module in sources():
        if not module.startswith(INNER) and not any(part.startswith("_") for part in module.split(".")):
            space = importlib.import_module(module)
            listed = getattr(space, "__all__", None) or [name for name, thing in vars(space).items() if getattr(thing, "__module__", None) == module]
            found.update({f"{module}.{name}": getattr(space, name) for name in sorted(listed)})
    found.update({f"Tensor.{name}": getattr(facula.Tensor, name) for name in dir(facula.Tensor)})
    public = {name: thing for name, thing in found.items() if not name.rpartition(".")[2].startswith("_") and described(thing)}
    return {name: inspect.cleandoc(thing.__doc__ or "") for name, thing in public.items()}


WRITTEN = list(written())
PUBLIC = public_names()
ROWS = {f"row {name}": inspect.cleandoc(getattr(_ops, name).__doc__) for name in _ops.FUNCTIONS if not name.endswith("_")}  # some in-place forms are nowhere
MADE = {said: name for name, said in [*ROWS.items(), *PUBLIC.items()] if ">>> " in said and said not in {said for _, _, said in WRITTEN}}


def test_every_public_name_has_an_example():
    without = [name for name, said in PUBLIC.items() if ">>> " not in said and name not in IMPOSSIBLE]

    assert [] == without, "A row's example is a comment under it (docs/adding-an-op.md), that of other names is in their docstring."


def test_what_is_impossible_is_public_and_has_none():
    assert [] == [name for name in IMPOSSIBLE if ">>> " in PUBLIC.get(name, ">>> ")]


def test_examples_of_methods_call_methods():
    """By the name that they have, or the one of which theirs is an alias."""
    wrong = []
    for name, said in PUBLIC.items():
        part, _, method = name.rpartition(".")
        if part == "Tensor" and ">>> " in said:
            code = getattr(getattr(facula.Tensor, method), "__code__", None)
            shown = ast.parse("".join(example.source for example in doctest.DocTestParser().get_examples(said)))
            called = {node.attr for node in ast.walk(shown) if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) != "facula"}
            wrong += [name] if not called & {method, getattr(code, "co_name", method)} else []

    assert [] == wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module,said", [pytest.param(module, said, id=f"{module}: {name}") for module, name, said in WRITTEN])
def test_an_example_prints_what_it_says(module, said):
    run(said, {"facula": facula, **vars(importlib.import_module(module))})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("said", [pytest.param(said, id=name) for said, name in MADE.items()])
def test_an_example_of_a_docstring_that_a_row_or_a_factory_made_prints_what_it_says(said):
    run(said, {"facula": facula})
