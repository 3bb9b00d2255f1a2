"""Modules as functions of their parameters."""

import contextlib

import facula as F

from .._core import Tensor


def owners(module, prefix=""):
    """{full name: (dict that holds it, its key)} of a module's parameters and buffers, through all its parts."""
    found = {}
    for table in (module._parameters, module._buffers):
        for key, value in table.items():
            if value is not None:
                found[prefix + key] = (table, key)
    for name, part in module._modules.items():
        if part is not None:
            found.update(owners(part, f"{prefix}{name}."))
    return found


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with its parameters and buffers replaced by those of a dict, or of several with different names.

    tie_weights: what is one tensor under two names in the module is replaced under both. strict: every name must be given.
    """
    dicts = [parameter_and_buffer_dicts] if isinstance(parameter_and_buffer_dicts, dict) else list(parameter_and_buffer_dicts)
    given = {}
    for d in dicts:
        if not isinstance(d, dict):
            raise ValueError(f"functional_call: parameter_and_buffer_dicts must be a dict or a sequence of dicts, not {type(d).__name__}.")
        twice = sorted(set(given) & set(d))
        if twice:
            raise ValueError(f"functional_call: {', '.join(twice)} appear in several dicts. Name each once.")
        given.update(d)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with swapped(module, given, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def swapped(module, given, tie_weights, strict):
    places = owners(module)
    unknown = [name for name in given if name not in places]
    missing = [name for name in places if name not in given]
    if strict and (unknown or missing):
        raise RuntimeError(f"functional_call: strict=True, but unexpected {', '.join(unknown) or 'none'}, missing {', '.join(missing) or 'none'}.")
    if unknown:
        raise KeyError(f"functional_call: {', '.join(unknown)} is no parameter or buffer of {type(module).__name__}.")
    if tie_weights:
        given = dict(given)
        first = {}
        for name, (table, key) in places.items():
            first.setdefault(id(table[key]), []).append(name)
        for names in first.values():
            said = [given[n] for n in names if n in given]
            if any(t is not said[0] for t in said[1:]):
                raise ValueError(f"functional_call: {', '.join(names)} are one tensor, but were given different values. Give one, or tie_weights=False.")
            if said:
                given.update(dict.fromkeys(names, said[0]))
    before = []
    try:
        for name, value in given.items():
            if not isinstance(value, Tensor):
                raise TypeError(f"functional_call: {name} must be a tensor, not {type(value).__name__}.")
            table, key = places[name]
            before.append((table, key, table[key]))
            table[key] = value
        yield
    finally:
        for table, key, value in reversed(before):
            table[key] = value


def stack_module_state(models):
    """(parameters, buffers) of several modules of one kind, each stacked along a new first dim: for vmap over an ensemble."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: the models must all be in training mode, or all in eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: the models must be of one class.")
    params = {}
    for name, p in models[0].named_parameters():
        stacked = F.stack([dict(m.named_parameters())[name] for m in models]).detach()
        params[name] = stacked.requires_grad_(p.requires_grad)
    buffers = {name: F.stack([dict(m.named_buffers())[name] for m in models]).detach() for name, _ in models[0].named_buffers()}
    return params, buffers


def replace_all_batch_norm_modules_(root):
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
