"""functional_call: a module's forward with other parameters and buffers."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from facula import Tensor

from ..module import Module

__all__ = ["functional_call"]

_ABSENT = object()


def _home(module: Module, path: str) -> tuple[dict, str]:
    """The dict that holds the tensor at a dotted path, and its key there."""
    prefix, _, name = path.rpartition(".")
    owner = module.get_submodule(prefix)
    for home in (owner._parameters, owner._buffers):
        if name in home:
            return home, name
    return owner.__dict__, name  # a plain attribute, there or not


def _with_ties(module: Module, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """`given`, and each tensor also under the other names of what it replaces."""
    names: dict[int, list[str]] = {}
    for found in (module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False)):
        for name, t in found:
            names.setdefault(id(t), []).append(name)
    untied = dict(given)
    for tied in names.values():
        values = [given[n] for n in tied if n in given]
        if len(tied) > 1 and values:
            if any(v is not values[0] for v in values):
                raise ValueError(f"functional_call got multiple values for keys {sorted(n for n in tied if n in given)}, which are tied. Consider using tie_weights=False")
            untied.update(dict.fromkeys(tied, values[0]))
    return untied


@contextlib.contextmanager
def swapped(module: Module, given: dict[str, Tensor], tie_weights: bool = False, strict: bool = False) -> Iterator[None]:
    """Within the block the named parameters and buffers are the given ones. Buffers rebound meanwhile come back in `given`."""
    values = _with_ties(module, given) if tie_weights else dict(given)
    if strict:
        known = {n for n, _ in module.named_parameters(remove_duplicate=False)} | {n for n, _ in module.named_buffers(remove_duplicate=False)}
        problems = []
        for what, keys in (("Unexpected", set(values) - known), ("Missing", known - set(values))):
            if keys:
                problems.append(f"{what} key(s): {', '.join(map(repr, sorted(keys)))}.")
        if problems:
            raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(problems))
    kept: list[tuple[dict, str, Any]] = []
    try:
        for path, value in values.items():
            if not isinstance(value, Tensor):
                raise TypeError(f"functional_call: {value!r}, given for {path!r}, is not an instance of Tensor. Give a tensor.")
            home, name = _home(module, path)
            kept.append((home, name, home.get(name, _ABSENT)))
            home[name] = value
        yield
    finally:
        for path in given:
            home, name = _home(module, path)
            given[path] = home.get(name, given[path])
        for home, name, value in reversed(kept):
            if value is _ABSENT:
                home.pop(name, None)
            else:
                home[name] = value


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with the named parameters and buffers replaced for this call.

    tie_weights: a tensor that has several names is replaced under all of them. strict: every name must be given.
    """
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with swapped(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


_functional_call = functional_call  # PyTorch's name of it before torch.func had one
