"""Every public name has a docstring with an example that runs."""

import ast
import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import facula

ROOT = Path(__file__).resolve().parent.parent
# what cannot be shown in one process on a machine like any other: name -> why
IMPOSSIBLE = {
    **{f"{dist}.{name}": "a second process is at the other end" for dist in ("facula.dist", "facula.distributed") for name in ("P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send")},
    "facula.vision.datasets.utils.download_file_from_google_drive": "it fetches from Google Drive",
    "facula.dist.multiprocessing.spawn": "fresh interpreters import the program anew, and a docstring is none",
}


def public_modules():
    """Modules that no private name leads to."""
    for source in sorted(ROOT.glob("packages/*/src")):
        for file in sorted(source.rglob("*.py")):
            parts = file.relative_to(source).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            inner = name.startswith(("facula.tensor_core", "facula.torch", "facula.cli", "facula.autograd.rules", "facula.__main__"))
            if not inner and not any(part.startswith("_") and part != "__init__" for part in parts):
                yield name


def described(thing):
    """Is it a function, class or property of ours? Python's own, such as those of multiprocessing, have Python's words."""
    ours = (getattr(thing, "__module__", None) or "facula").startswith("facula")
    return ours and not isinstance(thing, ModuleType) and (callable(thing) or inspect.isdatadescriptor(thing))


def public_names():
    """Pairs of a dotted name and what it names: all that a module lists or, without a list, defines."""
    for module in public_modules():
        space = importlib.import_module(module)
        listed = getattr(space, "__all__", None) or [name for name, thing in vars(space).items() if getattr(thing, "__module__", None) == module]
        yield from ((f"{module}.{name}", getattr(space, name)) for name in sorted(listed) if not name.startswith("_"))
    yield from ((f"Tensor.{name}", getattr(facula.Tensor, name)) for name in dir(facula.Tensor) if not name.startswith("_"))


@pytest.fixture(scope="module")
def documented():
    return {name: inspect.cleandoc(thing.__doc__ or "") for name, thing in public_names() if described(thing)}


@pytest.mark.filterwarnings("ignore")
def test_every_public_name_has_an_example(documented):
    assert [] == [name for name, said in documented.items() if ">>> " not in said and name not in IMPOSSIBLE]


@pytest.mark.filterwarnings("ignore")
def test_what_is_impossible_is_public_and_has_none(documented):
    assert [] == [name for name in IMPOSSIBLE if ">>> " in documented.get(name, ">>> ")]


@pytest.mark.filterwarnings("ignore")
def test_examples_of_methods_call_methods(documented):
    """By the name that they have, or the one of which theirs is an alias."""
    wrong = []
    for name, said in documented.items():
        part, _, method = name.rpartition(".")
        if part == "Tensor" and ">>> " in said:
            code = getattr(getattr(facula.Tensor, method), "__code__", None)
            shown = ast.parse("".join(example.source for example in doctest.DocTestParser().get_examples(said)))
            called = {node.attr for node in ast.walk(shown) if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) != "facula"}
            wrong += [name] if not called & {method, getattr(code, "co_name", method)} else []

    assert [] == wrong


def made():
    """Docstrings that stand in no source file, because rows or factories make them."""
    written = set()
    for file in sorted(ROOT.glob("packages/*/src/**/*.py")):
        text = file.read_text()
        if ">>>" in text and file.name != "_ops.py":
            written |= {ast.get_docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    seen = {}
    for name, thing in public_names():
        said = inspect.cleandoc(thing.__doc__ or "") if described(thing) else None
        if said and ">>> " in said and said not in written:
            seen.setdefault(said, name)
    return seen.items()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("said", [pytest.param(said, id=name) for said, name in made()])
def test_an_example_of_a_made_docstring_prints_what_it_says(said):
    test = doctest.DocTestParser().get_doctest(said, {"facula": facula}, "made", None, 0)
    wrong = []
    with facula.random.fork_rng():
        doctest.DocTestRunner(verbose=False).run(test, out=wrong.append)

    assert [] == wrong, "".join(wrong)
