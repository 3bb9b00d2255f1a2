"""What a data-parallel step is made of: scatter the batch, copy the module, run the copies, gather the results."""

from __future__ import annotations

import copy
from typing import Any, Sequence

import facula
from facula import Tensor

from ..module import Module

__all__ = ["gather", "parallel_apply", "replicate", "scatter"]


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """`inputs` for each target: tensors in chunks along dim, containers likewise, other objects as they are.

    >>> facula.nn.parallel.scatter(facula.tensor([1, 2, 3, 4]), ["cpu", "cpu"])
    (tensor([1, 2]), tensor([3, 4]))
    """
    n = len(target_gpus)
    if isinstance(inputs, Tensor):
        return tuple(chunk.to(device) for chunk, device in zip(inputs.chunk(n, dim), target_gpus))
    if isinstance(inputs, (list, tuple)) and inputs:
        parts = zip(*(scatter(x, target_gpus, dim) for x in inputs))
        if hasattr(inputs, "_fields"):
            return [type(inputs)(*p) for p in parts]
        return [type(inputs)(p) for p in parts]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(p) for p in zip(*(scatter(item, target_gpus, dim) for item in inputs.items()))]
    return [inputs for _ in target_gpus]


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """One result from the results of all devices: tensors are joined along dim, containers element by element.

    >>> facula.nn.parallel.gather([facula.tensor([1, 2]), facula.tensor([3])], "cpu")
    tensor([1, 2, 3])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        return facula.cat([o.reshape(1) if o.dim() == 0 else o for o in outputs], dim).to(target_device)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(o) != len(first) for o in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([o[k] for o in outputs], target_device, dim)) for k in first)
    joined = [gather(parts, target_device, dim) for parts in zip(*outputs)]
    return type(first)(*joined) if hasattr(first, "_fields") else type(first)(joined)


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """One copy of network for each device; the copies' tensors are network's (detached, where asked).

    >>> len(facula.nn.parallel.replicate(facula.nn.Linear(3, 2), ["cpu", "cpu"]))
    2
    """

    def copied(module: Module) -> Module:
        twin = copy.copy(module)
        twin.__dict__.update({k: module.__dict__[k].copy() for k in ("_parameters", "_buffers", "_modules")})
        for home in (twin._parameters, twin._buffers):
            for name, tensor in home.items():
                home[name] = tensor.detach() if detach and tensor is not None else tensor
        for name, child in module._modules.items():
            twin._modules[name] = None if child is None else copied(child)
        return twin

    return [copied(network) for _ in devices]


def parallel_apply(
    modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[dict] | None = None, devices: Sequence[Any] | None = None
) -> list[Any]:
    """What each module gives for its own inputs, in order.

    >>> facula.nn.parallel.parallel_apply([facula.nn.ReLU(), facula.nn.Tanh()], [facula.tensor([-1.0]), facula.tensor([0.0])])
    [tensor([0.]), tensor([0.])]
    """
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    kwargs_tup = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    if len(modules) != len(kwargs_tup):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of kwargs {len(kwargs_tup)}")
    return [m(*(i if isinstance(i, (list, tuple)) else (i,)), **k) for m, i, k in zip(modules, inputs, kwargs_tup)]
