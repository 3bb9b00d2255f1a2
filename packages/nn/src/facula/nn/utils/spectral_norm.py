"""spectral_norm as a hook: weight / its largest singular value, computed before every forward."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from ..functional import normalize
from ..module import Module
from ..parameter import Parameter, is_lazy
from ._norms import as_matrix, iterate, sigma, usual_dim

__all__ = ["SpectralNorm", "spectral_norm", "remove_spectral_norm"]


class SpectralNorm:
    """The hook; the vectors are the buffers <name>_u and <name>_v.

    >>> layer = facula.nn.utils.spectral_norm(facula.nn.Linear(3, 2))
    >>> [type(hook).__name__ for hook in layer._forward_pre_hooks.values()]
    ['SpectralNorm']
    """

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The normalised weight, after another iteration if asked."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            iterate(matrix, u, v, self.n_power_iterations, self.eps, u_first=False)
        return weight / sigma(matrix, u, v)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Put the hook on a module's parameter."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Run one forward first.")
        with facula.no_grad():
            rows, cols = as_matrix(weight, dim).shape
            u, v = (normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps).detach() for n in (rows, cols))
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())  # until the first forward: a plain attribute, not a parameter
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_SaveVersion(hook))
        module.register_load_state_dict_pre_hook(_LoadOldest(hook))
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a plain parameter again."""
        with facula.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))


class _SaveVersion:
    """Writes the hook's version into the metadata, as PyTorch's readers expect it."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Module, state_dict: dict, prefix: str, local_metadata: dict) -> None:
        local_metadata.setdefault("spectral_norm", {})[self.hook.name + ".version"] = 1


class _LoadOldest:
    """Of a state_dict of before there was a v: the v with which u tells the sigma by which its weight was divided."""

    def __init__(self, hook: SpectralNorm) -> None:
        self.hook = hook

    def __call__(self, module: Module, state_dict: dict, prefix: str, local_metadata: dict, strict: bool, missing: list, *others: list) -> None:
        name = prefix + self.hook.name
        if (local_metadata.get("spectral_norm", {}).get(self.hook.name + ".version") or 0) >= 1:
            return
        parts = [name + end for end in ("_orig", "", "_u")]
        if name not in state_dict and all(name + end in state_dict for end in ("_orig", "_u", "_v")):
            return  # new, without metadata
        absent = [key for key in parts if key not in state_dict]
        if absent:
            missing.extend(absent if strict else ())
            return
        orig, normed, u = (state_dict[key] for key in parts)
        del state_dict[name]
        with facula.no_grad():
            matrix = as_matrix(orig, self.hook.dim)
            v = facula.linalg.pinv(matrix.t() @ matrix) @ (matrix.t() @ u)
            state_dict[name + "_v"] = v * ((orig / normed).mean() / facula.dot(u, matrix @ v))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value. Source: Miyato et al. (2018).

    >>> layer = facula.nn.utils.spectral_norm(facula.nn.Linear(3, 2))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, usual_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo spectral_norm.

    >>> layer = facula.nn.utils.spectral_norm(facula.nn.Linear(3, 2))
    >>> layer = facula.nn.utils.remove_spectral_norm(layer)
    >>> [name for name, parameter in layer.named_parameters()]
    ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            for k, saver in list(module._state_dict_hooks.items()):
                if isinstance(saver, _SaveVersion) and saver.hook is hook:
                    del module._state_dict_hooks[k]
            for k, loader in list(module._load_state_dict_pre_hooks.items()):
                if isinstance(loader.hook, _LoadOldest) and loader.hook.hook is hook:
                    del module._load_state_dict_pre_hooks[k]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
