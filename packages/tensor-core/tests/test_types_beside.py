"""The types that the build writes: they have every name, and PyTorch's stubs give the same results."""

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import pytest

import facula
from facula.tensor_core import _ops, api, return_types

FOLDER = Path(_ops.__file__).parent
# theirs is no type of a result of ours, or ours says less: the result depends on the arguments
OWN_WAY = {"nonzero", "where", "type", "new", "as_subclass", "storage_type", "tolist", "__eq__", "__ne__", "_make_subclass"}
OWN_WAY |= {"split_copy", "split_with_sizes_copy", "unbind_copy"}  # theirs say None, which is true with out=
ALIKE = {"Sequence[Tensor]": "tuple[Tensor, ...]", "_int | SymInt": "_int", "Number": "_bool | _int | _float", "numpy.ndarray": "ndarray"}


def results(body):
    """{name: the results that its definitions in a stub have}"""
    found = defaultdict(set)
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.returns:
            text = ast.unparse(node.returns).removeprefix("torch.")
            found[node.name].add(ALIKE.get(text, text))
    return found


def named(body):
    """All names that a stub's statements bind."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (a.asname or a.name for a in node.names)


def of_class(body, name):
    return next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == name)


def ours(file):
    return ast.parse((FOLDER / file).read_text()).body


def test_the_types_have_every_name():
    assert set(api.__all__) <= set(named(ours("api.pyi")))
    methods = {name for name in dir(facula.Tensor) if name not in dir(object)}
    assert methods - set(named(of_class(ours("_tensor.pyi"), "Tensor"))) <= {"__dict__", "__weakref__", "__slots__", "__module__"}


def test_named_tuples_have_their_fields():
    for node in ours("return_types.pyi"):
        if isinstance(node, ast.ClassDef):
            assert tuple(named(node.body)) == getattr(return_types, node.name)._fields


@pytest.mark.parametrize("theirs, of, mine", [("_VariableFunctions.pyi", None, "api.pyi"), ("__init__.pyi", "TensorBase", "_tensor.pyi")])
def test_results_are_of_the_types_that_pytorch_names(theirs, of, mine):
    torch = pytest.importorskip("torch")
    wanted = ast.parse((Path(inspect.getfile(torch)).parent / "_C" / theirs).read_text()).body
    wanted = results(of_class(wanted, of) if of else wanted)
    got = results(of_class(ours(mine), "Tensor") if of else ours(mine))
    common = {name for name in wanted.keys() & got.keys() if name not in OWN_WAY}

    assert len(common) > 300
    assert {name: wanted[name] for name in common} == {name: got[name] for name in common}
