"""torch.nn.utils._named_member_accessor: a module's parameters and buffers replaced by other tensors, which need not be parameters."""

from __future__ import annotations

from typing import Any

from facula import Tensor

_NOTHING = object()


def swap_tensor(module: Any, name: str, tensor: Tensor | None, allow_missing: bool = False) -> Tensor | None:
    """Put a tensor (None: nothing) under a parameter's, buffer's or attribute's name; returns what was there."""
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    home = next((d for d in (module._parameters, module._buffers) if name in d), None)
    if home is None:
        home = module.__dict__
        if name not in home and not allow_missing:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        found = home.get(name, _NOTHING)
        if found is not _NOTHING and not isinstance(found, Tensor):
            raise TypeError(f"attribute `{name}`: {found} is not an instance of torch.Tensor")
    before = home.get(name)
    if tensor is None and home is module.__dict__:
        home.pop(name, None)
    else:
        home[name] = tensor
    return before


def set_tensor(module: Any, name: str, tensor: Tensor) -> None:
    """swap_tensor, of a tensor that is to be one."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    swap_tensor(module, name, tensor)
