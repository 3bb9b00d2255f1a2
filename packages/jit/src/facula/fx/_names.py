"""Names of functions and types in generated code, and names of nodes that nobody else has."""

from __future__ import annotations

import builtins
import functools
import importlib
import keyword
import re
import typing
from collections import defaultdict
from typing import Any

import facula
from facula import Tensor

# namespaces as programs write them -> where their functions are
_HOMES = {
    "torch": "facula", "torch.nn.functional": "facula.nn.functional", "torch.linalg": "facula.linalg", "torch.fft": "facula.fft",
    "torch.special": "facula.special", "torch.nn.init": "facula.nn.init", "torch.nn.utils.rnn": "facula.nn.utils.rnn",
}  # fmt: skip

# functions of nn.functional that PyTorch records as they were called: builtins, those of its namespace itself and those of nn alone
_OF_TORCH = {
    "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "hardshrink", "native_channel_shuffle", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu",
}  # fmt: skip
AS_CALLED = {*_OF_TORCH, "avg_pool2d", "avg_pool3d", "gelu", "linear", "logsigmoid", "one_hot", "scaled_dot_product_attention", "softplus", "softshrink"}


def _home(path: str) -> Any:
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return None


def in_torch(f: Any) -> str | None:
    """The name under which programs find the function, type or constant, as torch.nn.functional.relu; None where it is no such thing."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    if (getattr(f, "__module__", None) or "").startswith("facula.nn.functional") and name not in _OF_TORCH:
        if getattr(_home("facula.nn.functional"), name, None) is f:
            return f"torch.nn.functional.{name}"
    for public, path in _HOMES.items():
        module = _home(path)
        if module is not None and getattr(module, name, None) is f:
            return f"{public}.{name}"
    if getattr(Tensor, name, None) is f:
        return f"torch.Tensor.{name}"
    module = getattr(f, "__module__", None) or ""
    if module.partition(".")[0] in ("facula", "torch"):
        return _elsewhere(f, module)
    return None


def _elsewhere(f: Any, module: str) -> str | None:
    """A name below facula, by the module that says it defines it."""
    qualified = getattr(f, "__qualname__", "")
    if not all(map(str.isidentifier, qualified.split("."))):
        return None
    found = _home(module.replace("torch", "facula", 1) if module.startswith("torch") else module)
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return f"{module.replace('facula', 'torch', 1)}.{qualified}" if found is f else None


def function_name(f: Any) -> str:
    """The dotted name of a function for people and for code."""
    name = getattr(f, "__name__", None)
    if name is not None and getattr(builtins, name, None) is f:
        return name
    known = in_torch(f)
    if known:
        return known
    if name is None:
        return repr(f)
    if isinstance(f, functools.partial):
        return repr(f)
    module = getattr(f, "__module__", None) or ""
    return f"{module.replace('_operator', 'operator').replace('torch._ops', 'torch.ops')}.{name.replace('<lambda>', '_lambda')}" if module else name


def type_name(kind: Any) -> str:
    """How code names a type in an annotation."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is not None:
        if origin is typing.Union and len(args) == 2 and type(None) in args:
            return f"typing.Optional[{type_name(next(a for a in args if a is not type(None)))}]"
        outer = str(kind).partition("[")[0]
        return f"{outer}[{', '.join(type_name(a) if a is not ... else '...' for a in args)}]" if args else outer
    if isinstance(kind, type):
        if kind.__module__ == "builtins":
            return kind.__name__
        return in_torch(kind) or f"{kind.__module__}.{kind.__qualname__}"
    return str(kind)


def snake_case(s: str) -> str:
    """snake_case of CamelCase."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", s).lower()


RESERVED = {"inf": float("inf"), "nan": float("nan"), "NoneType": type(None), "torch": facula, "device": facula.device}


class Namespace:
    """Hands out identifiers, each once."""

    def __init__(self) -> None:
        self.of: dict[Any, str] = {}
        self.used: set[str] = set()
        self._count: dict[str, int] = defaultdict(int)

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name that is free, near the candidate; the same object gets the same name again."""
        if obj is not None and obj in self.of:
            return self.of[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        name = candidate
        count = number or 0
        if name in self.used:
            count = self._count[base]
        while name in self.used or self._taken(name, obj):
            count += 1
            name = f"{base}_{count}"
        self.used.add(name)
        self._count[base] = count
        if obj is not None:
            self.of[obj] = name
        return name

    def associate(self, name: str, obj: Any) -> None:
        """Give a name that is known to be free."""
        self.used.add(name)
        self.of[obj] = name

    def rename(self, obj: Any, name: str) -> None:
        self.of.pop(obj, None)
        self.associate(name, obj)

    @staticmethod
    def _taken(name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if hasattr(builtins, name):
            return obj is not getattr(builtins, name)
        return name in RESERVED and obj is not RESERVED[name]


def resolve(target: str, root: Any) -> Any:
    """What a dotted path names, from root on."""
    found, seen = root, []
    for part in target.split("."):
        if not hasattr(found, part):
            raise RuntimeError(f"Node referenced nonexistent target {'.'.join([*seen, part])}: {type(root).__name__} has no such attribute.")
        found = getattr(found, part)
        seen.append(part)
    return found

