"""What PyTorch says that its functions take: the call forms of a name, from Python signatures, its stubs, and the lines that open its documentation.

A form is a list of Param, of which those before the first keyword-only one may be given by position.
"""

import ast
import functools
import inspect
import re
from pathlib import Path
from typing import NamedTuple

import torch

REQUIRED, UNSAID = object(), object()  # no default; one that a stub writes as `...`
STUBS = Path(torch.__file__).parent / "_C"
WHERE = {"": ("_VariableFunctions.pyi", None), "Tensor.": ("__init__.pyi", "TensorBase"), "nn.functional.": ("_nn.pyi", None)}
NAMES = {"inf": float("inf"), "nan": float("nan"), "torch": torch, **{n: getattr(torch, n) for n in ("strided", "preserve_format", "contiguous_format", "float")}}


class Param(NamedTuple):
    name: str
    keyword: bool  # by keyword alone
    default: object
    many: bool = False  # *args


def default_of(node):
    if node is None:
        return REQUIRED
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {"float": float}}, NAMES)
    except (NameError, AttributeError, TypeError):
        return UNSAID
    return UNSAID if value is Ellipsis else value


def of_arguments(a):
    """The form of a parsed argument list."""
    plain = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    form = [Param(p.arg, False, default_of(d)) for p, d in zip(plain, defaults)]
    form += [Param(a.vararg.arg, False, (), True)] if a.vararg else []
    return form + [Param(p.arg, True, default_of(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults)]


@functools.cache
def stubbed(prefix):
    """name -> the forms that a stub file has for it."""
    found = {}
    if prefix in WHERE:
        file, cls = WHERE[prefix]
        tree = ast.parse((STUBS / file).read_text())
        body = tree.body if cls is None else next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls).body
        for f in body:
            if isinstance(f, ast.FunctionDef):
                form = of_arguments(f.args)
                known = found.setdefault(f.name, [])
                known += [form] if form not in known else []
    return found


def documented(function, name):
    """The forms at the beginning of a docstring: `name(a, b=1) -> Tensor`."""
    for text in re.findall(rf"^\s*(?:\.\. \w+:: )?(?:[\w.]+\.)?{re.escape(name)}\((.*)\)(?: ->.*)?$", function.__doc__ or "", re.M):
        untyped = re.sub(r"(^|, )(?:bool|int|float|Tensor) (?=[a-z])", r"\1", text)
        try:
            parsed = ast.parse(f"def f({untyped}): 0").body[0].args
        except SyntaxError:
            continue
        form = of_arguments(parsed)
        yield [Param("self", False, REQUIRED), *form] if function is getattr(torch.Tensor, name, None) else form


def forms(prefix, name, function):
    """Every form in which PyTorch says that prefix + name may be called."""
    try:
        found = [p for p in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return stubbed(prefix).get(name) or list(documented(function, name))
    if any(p.kind is p.VAR_KEYWORD for p in found):
        return stubbed(prefix).get(name) or list(documented(function, name))
    return [[Param(p.name, p.kind is p.KEYWORD_ONLY, REQUIRED if p.default is p.empty else p.default, p.kind is p.VAR_POSITIONAL) for p in found]]
