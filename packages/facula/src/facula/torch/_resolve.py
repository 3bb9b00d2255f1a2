"""From a dotted PyTorch name to what Facula has there, or to an error that says what is near."""

from __future__ import annotations

import importlib
import os
import sys
import types

import facula

from ._names import FALLBACKS, OVERRIDES
from ._places import PLACES, Place, place

ROOTS = ("torch", "torchvision", "functorch")
_SERVED_BY = {"torchvision": "facula.vision", "functorch": "facula.torch._functorch_package"}
_HERE = os.path.dirname(__file__)


class MissingName(AttributeError):
    """A name that PyTorch programs use and Facula does not have.

    Who asked is noted at once; what is near is looked for when somebody reads the message: 8 ms that `hasattr` does not pay.
    """

    def __init__(self, dotted: str, owner=None, problem: Exception | None = None) -> None:
        super().__init__(dotted, name=dotted.rpartition(".")[2], obj=owner)
        self._problem, self._asker = problem, asker()

    def __str__(self) -> str:
        return explain(self.args[0], self.obj, self._problem, self._asker)


def root_target(root: str):
    return facula if root == "torch" else importlib.import_module(_SERVED_BY[root])


def _extra(table: dict, dotted: str):
    found = table[dotted]
    if not isinstance(found, str):
        return found()
    home, _, name = found.partition(":")
    module = importlib.import_module(home)
    return getattr(module, name) if name else module


def lookup(owner, dotted: str):
    """What `dotted` means, `owner` being what its parent means. Raises MissingName."""
    name = dotted.rpartition(".")[2]
    if dotted in OVERRIDES:
        return _extra(OVERRIDES, dotted)
    if isinstance(owner, Place) and dotted in PLACES:  # a file within a file that we made up
        return place(dotted)
    try:
        return getattr(owner, name)
    except AttributeError as error:
        problem = error
    except ModuleNotFoundError as error:
        if not _is_missing_part(error):
            raise
        problem = error
    if isinstance(owner, types.ModuleType) and owner.__name__.startswith("facula") and not name.startswith("__"):
        try:
            return importlib.import_module(f"{owner.__name__}.{name}")
        except ModuleNotFoundError as error:
            # The module is there and lacks something of its own: that is the error to see.
            if error.name != f"{owner.__name__}.{name}" and not _is_missing_part(error):
                raise
    if dotted in FALLBACKS:
        return _extra(FALLBACKS, dotted)
    if dotted in PLACES and (found := place(dotted)) is not None:
        return found
    raise MissingName(dotted, owner, problem)


def _is_missing_part(error: ImportError) -> bool:
    return "is not installed: pip install facula" in str(error) or (error.name or "").startswith("facula")


def explain(dotted: str, owner, problem: Exception | None = None, place: str | None = None) -> str:
    """What is missing, who asked for it, and what is near."""
    name = dotted.rpartition(".")[2]
    parts = [f"{dotted}: not in Facula {facula.__version__}"]
    if place:
        parts[0] += f" (asked for by {place})"
    if problem is not None and "pip install" in str(problem):
        parts.append(str(problem))
    import difflib  # 5 ms that a program with all its names does not pay

    near = difflib.get_close_matches(name, [n for n in dir(owner) if not n.startswith("_")], n=3)
    if near:
        parent = dotted.rpartition(".")[0]
        parts.append("Near it: " + ", ".join(f"{parent}.{n}" for n in near) + ".")
    return ". ".join(parts)


def asker() -> str | None:
    """file:line of the program's own frame that asked."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_HERE, "<frozen importlib")) and "/importlib/" not in file.replace(os.sep, "/"):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def resolve(dotted: str):
    """What a whole dotted name such as torch.nn.Linear means."""
    root, *names = dotted.split(".")
    found, seen = root_target(root), root
    for name in names:
        seen = f"{seen}.{name}"
        found = lookup(found, seen)
    return found
