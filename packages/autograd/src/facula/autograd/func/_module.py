"""Modules as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import facula as F

from .._core import Tensor


_ABSENT = object()


def _names(module, prefix="", above=()) -> Iterator:
    """(full name, tensor) of a module's parameters and buffers, through all its parts, under every name that they have."""
    for table in (module._parameters, module._buffers):
        for key, value in table.items():
            if value is not None:
                yield prefix + key, value
    for name, part in module._modules.items():
        if part is not None and not any(part is m for m in (*above, module)):
            yield from _names(part, f"{prefix}{name}.", (*above, module))


def _home(module, path) -> tuple:
    """The module that has the tensor at a dotted path, its dict of parameters or buffers that holds it, and its key there; for an attribute no dict."""
    *parts, name = path.split(".")
    for part in parts:
        if module._modules.get(part) is None:
            raise AttributeError(f"functional_call: {type(module).__name__} has no attribute `{part}`, which {path} names.")
        module = module._modules[part]
    for table in (module._parameters, module._buffers):
        if name in table:
            return module, table, name
    return module, None, name


def _attribute(module, name, path) -> Any:
    """What the module has under a name that is no parameter's or buffer's, _ABSENT where that is nothing."""
    found = getattr(module, name, _ABSENT)
    if found is _ABSENT or found is None or isinstance(found, Tensor):
        return found
    raise TypeError(f"functional_call: attribute `{name}`: {found} is not an instance of torch.Tensor, and {path!r} gives a tensor for it. Give parameters and buffers.")


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False) -> Any:
    """module(*args, **kwargs) with its parameters and buffers replaced by those of a dict, or of several with different names.

    tie_weights: what is one tensor under two names in the module is replaced under both. strict: every name must be given.
    Attributes may be given too. What forward puts in the place of a given buffer is in the dict afterwards.

    >>> layer = facula.nn.Linear(2, 1, bias=False)
    >>> facula.func.functional_call(layer, {"weight": facula.tensor([[1.0, 10.0]])}, facula.tensor([2.0, 3.0]))
    tensor([32.])
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, (list, tuple)):
            raise ValueError(f"functional_call: Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}")
        if not all(isinstance(d, dict) for d in given):
            raise ValueError("functional_call: Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        names = [n for d in given for n in d]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise ValueError(f"{twice} appeared in multiple dictionaries; functional_call takes each name once")
        given = {n: t for d in given for n, t in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with swapped(module, given, tie_weights, strict):
        return module(*args, **({} if kwargs is None else kwargs))


def _with_ties(module, given) -> dict:
    """`given`, and each tensor also under the other names of what it replaces."""
    names = {}
    for name, t in _names(module):
        names.setdefault(id(t), []).append(name)
    untied = dict(given)
    for tied in names.values():
        values = [given[n] for n in tied if n in given]
        if len(tied) > 1 and values:
            if any(v is not values[0] for v in values):
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted(n for n in tied if n in given)}, which are tied. "
                    "Consider using tie_weights=False"
                )
            untied.update(dict.fromkeys(tied, values[0]))
    return untied


def _check_all(module, values) -> None:
    known = {name for name, _ in _names(module)}
    problems = [
        f"{what} key(s): {', '.join(map(repr, sorted(keys)))}."
        for what, keys in (("Unexpected", set(values) - known), ("Missing", known - set(values)))
        if keys
    ]
    if problems:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(problems))


@contextlib.contextmanager
def swapped(module, given, tie_weights=False, strict=False) -> Iterator[None]:
    """Within the block the named parameters and buffers are the given ones. Buffers rebound meanwhile come back in `given`."""
    values = _with_ties(module, given) if tie_weights else dict(given)
    if strict:
        _check_all(module, values)
    before = []
    try:
        for path, value in values.items():
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"functional_call: {value!r} is not an instance of torch.Tensor, and was given for {path!r}. Give a tensor.")
            part, table, key = _home(module, path)
            if table is None:
                before.append((part, None, key, _attribute(part, key, path), path))
                setattr(part, key, value)  # a Parameter becomes one of the module's, a parametrised name goes to its right inverse
            else:
                before.append((part, table, key, table[key], path))
                table[key] = value
        yield
    finally:
        for part, table, key, value, path in reversed(before):
            if table is not None:
                if path in given:
                    given[path] = table.get(key, given[path])
                table[key] = value
                continue
            if path in given:
                given[path] = getattr(part, key, given[path])
            if value is _ABSENT or key in part._parameters:
                delattr(part, key)
            if value is not _ABSENT:
                setattr(part, key, value)


def stack_module_state(models) -> tuple:
    """(parameters, buffers) of several modules of one kind, each stacked along a new first dim: for vmap over an ensemble.

    >>> parameters, buffers = facula.func.stack_module_state([facula.nn.Linear(2, 1) for model in range(3)])
    >>> parameters["weight"].shape
    torch.Size([3, 1, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode. Call train() or eval() on all of them.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: the models must be of one class.")
    params = {}
    for name, p in models[0].named_parameters():
        if any(dict(m.named_parameters())[name].requires_grad != p.requires_grad for m in models):
            raise RuntimeError(f"stack_module_state: Expected {name!r} to have the same .requires_grad state in all models. Set it alike.")
        stacked = F.stack([dict(m.named_parameters())[name] for m in models]).detach()
        params[name] = stacked.requires_grad_(p.requires_grad)
    buffers = {name: F.stack([dict(m.named_buffers())[name] for m in models]).detach() for name, _ in models[0].named_buffers()}
    return params, buffers


def replace_all_batch_norm_modules_(root) -> Any:
    """root with every BatchNorm below it told to keep no running statistics, which vmap could not write to; changed in place.

    >>> import facula
    >>> layer = facula.func.replace_all_batch_norm_modules_(facula.nn.BatchNorm2d(3))
    >>> layer.track_running_stats, layer.running_mean
    (False, None)
    """
    for module in root.modules():
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):  # nn may import this part, not the other way round
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
