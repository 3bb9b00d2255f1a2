"""torch.distributed.checkpoint.state_dict: the states of models and optimizers under the names of parameters, whatever wraps them.

The states are whole ones: nothing here is sharded. Names leave out `module.` of DistributedDataParallel and `_orig_mod.` of compile.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import facula
from facula import nn


@dataclasses.dataclass
class StateDictOptions:
    """How states are read and loaded.

    full_state_dict and cpu_offload together: only rank 0 gets a state, the others {}. ignore_frozen_params leaves parameters out that want
    no gradient. broadcast_from_rank0 (with full_state_dict): what rank 0 gives is loaded by all. flatten_optimizer_state_dict: one level,
    `state.<parameter>.<entry>` and `param_groups.<parameter>.<setting>`. keep_submodule_prefixes: see `submodules`.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _checked(options: StateDictOptions | None) -> StateDictOptions:
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("state_dict: full_state_dict must be True when broadcast_from_rank0 is True. Set both.")
    return options


def _public(model: nn.Module) -> dict[str, str]:
    """The model's own prefixes -> those without wrappers: `module.0` -> `0`."""
    found = {"": ""}
    for name, module in model.named_modules(remove_duplicate=False):
        wrapper = {"DistributedDataParallel": "module", "OptimizedModule": "_orig_mod"}.get(type(module).__name__)
        for child in module._modules:
            own = f"{name}.{child}" if name else child
            found[own] = found[name] if child == wrapper else f"{found[name]}.{child}".lstrip(".")
    return found


def _names(model: nn.Module, keys: Iterable[str]) -> dict[str, str]:
    """The model's own keys -> those without wrappers."""
    prefixes = _public(model)
    found = {}
    for key in keys:
        head, _, tail = key.rpartition(".")
        while head not in prefixes:  # a state that a module keeps under a name with dots
            head, _, more = head.rpartition(".")
            tail = f"{more}.{tail}"
        found[key] = f"{prefixes[head]}.{tail}".lstrip(".")
    return found


def _distributed() -> Any:
    dist = facula.distributed
    return dist if dist.is_available() and dist.is_initialized() else None


def _given(state: dict, options: StateDictOptions) -> dict:
    """The state as this process gets it."""
    if options.full_state_dict and options.cpu_offload and (dist := _distributed()) is not None and dist.get_rank():
        return {}
    return state


def _of_rank_0(state: Any, options: StateDictOptions) -> Any:
    if not options.broadcast_from_rank0:
        return state
    dist = _distributed()
    if dist is None:
        raise ValueError("state_dict: broadcast_from_rank0 needs processes. Call init_process_group, or leave it out.")
    box = [state]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def get_model_state_dict(model: nn.Module, *, submodules: set[nn.Module] | None = None, options: StateDictOptions | None = None) -> dict[str, Any]:
    """The model's state under names without wrappers.

    >>> list(get_model_state_dict(nn.Sequential(nn.Linear(2, 3))))
    ['0.weight', '0.bias']
    """
    options = _checked(options)
    state = model.state_dict()
    names = _names(model, state)
    kept: Any = type(state)((names[k], v) for k, v in state.items())
    if options.ignore_frozen_params:
        own = _names(model, (k for k, _ in model.named_parameters()))
        for key, p in model.named_parameters():
            if not p.requires_grad:
                kept.pop(own[key], None)
    if submodules:
        warnings.warn("Getting submodules only model/optim state_dict is deprecated: filter what get_model_state_dict gives.", FutureWarning, stacklevel=2)
        prefixes = _public(model)
        chosen = [prefixes[n] + "." for n, m in model.named_modules() if m in submodules]
        kept = {k if options.keep_submodule_prefixes else k[len(p) :]: v for p in chosen for k, v in kept.items() if k.startswith(p)}
    return _given(kept, options)


def set_model_state_dict(model: nn.Module, model_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None) -> Any:
    """Loads a state of names without wrappers; returns (missing_keys, unexpected_keys). Raises RuntimeError as load_state_dict does."""
    options = _checked(options)
    given = _of_rank_0(dict(model_state_dict), options)
    if not given and options.strict and not options.ignore_frozen_params and not (options.cpu_offload and options.full_state_dict):
        raise RuntimeError("set_model_state_dict: a state is required to load, but it is empty. Give one, or StateDictOptions(strict=False).")
    wrapped = {public: own for own, public in _names(model, model.state_dict()).items()}
    return model.load_state_dict({wrapped.get(k, k): v for k, v in given.items()}, strict=options.strict)


def _fill(optimizer: Any) -> None:
    """Lets the optimizer make its state, by a step of zero gradients at rate 0."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in parameters):
        return
    for p in parameters:
        if p.requires_grad:
            p.grad = facula.zeros_like(p)
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = facula.tensor(0.0) if isinstance(group["lr"], facula.Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates):
        if "lr" in group:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def _numbered(model: nn.Module, optimizer: Any) -> dict[int, str]:
    """The optimizer's numbers of parameters -> their names."""
    names = _names(model, (k for k, _ in model.named_parameters(remove_duplicate=False)))
    by_id = {id(p): names[k] for k, p in reversed(list(model.named_parameters(remove_duplicate=False)))}
    return {n: by_id[id(p)] for n, p in enumerate(p for group in optimizer.param_groups for p in group["params"])}


def _each(optimizers: Any) -> tuple:
    return tuple(optimizers) if isinstance(optimizers, (list, tuple, set, frozenset)) else (optimizers,)


def get_optimizer_state_dict(
    model: nn.Module, optimizers: Any, *, submodules: set[nn.Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """The optimizers' state under the names of parameters; an optimizer that has none yet makes its first."""
    options = _checked(options)
    if submodules:
        raise RuntimeError("get_optimizer_state_dict: submodules is deprecated in PyTorch and not taken here. Choose among the names of the result.")
    state: dict[str, Any] = {}
    groups: list = []
    for optimizer in _each(optimizers):
        _fill(optimizer)
        names, own = _numbered(model, optimizer), optimizer.state_dict()
        state.update((names[k], v) for k, v in own["state"].items())
        groups += [{**group, "params": [names[n] for n in group["params"]]} for group in own["param_groups"]]
    if not options.flatten_optimizer_state_dict:
        return _given({"state": state, "param_groups": groups}, options)
    flat = {f"state.{name}.{entry}": v for name, entries in state.items() for entry, v in entries.items()}
    for group in groups:
        flat.update((f"param_groups.{name}.{setting}", v) for name in group["params"] for setting, v in group.items() if setting != "params")
    return _given(flat, options)


def set_optimizer_state_dict(model: nn.Module, optimizers: Any, optim_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None) -> None:
    """Loads what get_optimizer_state_dict gave, flattened or not. Raises RuntimeError where it is empty or a parameter is not in it."""
    options = _checked(options)
    given = _of_rank_0(dict(optim_state_dict), options)
    if not given and not (options.cpu_offload and options.full_state_dict):
        raise RuntimeError("set_optimizer_state_dict: a state is required to load, but it is empty. Give what get_optimizer_state_dict gave.")
    for optimizer in _each(optimizers):
        _fill(optimizer)
        names, own = _numbered(model, optimizer), optimizer.state_dict()
        missing = object()
        for n, entries in own["state"].items():
            if options.flatten_optimizer_state_dict:
                new = {entry: given.get(f"state.{names[n]}.{entry}", missing) for entry in entries}
            else:
                new = given["state"].get(names[n], missing)
            if new is missing or any(v is missing for v in new.values()):
                raise RuntimeError(f"set_optimizer_state_dict: Missing optimizer state for parameter {names[n]!r}. Give the state of every parameter.")
            own["state"][n] = new
        for group in own["param_groups"]:
            for setting in [k for k in group if k != "params"]:
                group[setting] = _setting(given, options, [names[n] for n in group["params"]], setting, group[setting])
        optimizer.load_state_dict(own)


def _setting(given: Mapping, options: StateDictOptions, members: list[str], setting: str, own: Any) -> Any:
    """What the given state says of a setting of the group of these parameters; its own where it says nothing."""
    if options.flatten_optimizer_state_dict:
        return given.get(f"param_groups.{members[0]}.{setting}", own) if members else own
    group = next((g for g in given["param_groups"] if set(members) & set(g["params"])), {})
    return group.get(setting, own)


def get_state_dict(
    model: nn.Module, optimizers: Any, *, submodules: set[nn.Module] | None = None, options: StateDictOptions | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(get_model_state_dict, get_optimizer_state_dict)."""
    chosen: Any = {"submodules": submodules, "options": options}
    return get_model_state_dict(model, **chosen), get_optimizer_state_dict(model, optimizers, **chosen)


def set_state_dict(
    model: nn.Module, optimizers: Any, *, model_state_dict: Mapping[str, Any], optim_state_dict: Mapping[str, Any], options: StateDictOptions | None = None
) -> Any:
    """set_model_state_dict, whose result it returns, and set_optimizer_state_dict."""
    found = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return found
