"""Pruning: a parameter times a mask. <name>_orig is the parameter, <name>_mask a buffer, <name> their product."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from typing import Any, Iterable, Iterator

import facula
from facula import Tensor

from ..module import Module
from .convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod", "PruningContainer", "Identity", "RandomUnstructured", "L1Unstructured", "RandomStructured",
    "LnStructured", "CustomFromMask", "identity", "random_unstructured", "l1_unstructured", "random_structured",
    "ln_structured", "global_unstructured", "custom_from_mask", "remove", "is_pruned",
]  # fmt: skip


class BasePruningMethod(ABC):
    """A pre-hook that applies the mask; subclasses define compute_mask and PRUNING_TYPE ("unstructured", "structured", "global").

    >>> class Every(facula.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask[..., ::2] = 0
    ...         return mask
    ...
    >>> layer = facula.nn.Linear(3, 1)
    >>> _ = Every.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1., 0.]])
    """

    _tensor_name: str | None = None

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for importance scores `t`, within default_mask."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        orig = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(orig.dtype) * orig

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any) -> Any:
        """Prune a module's parameter by this method, beside what was pruned before."""
        found = [(k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
        if len(found) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer.")
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        orig = getattr(module, name)
        scores = orig if importance_scores is None else importance_scores
        if scores is not orig and scores.shape != orig.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}: {tuple(scores.shape)} and {tuple(orig.shape)}")
        if found:
            key, old = found[0]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            mask = container.compute_mask(scores.detach(), default_mask=getattr(module, name + "_mask").detach().clone())
            del module._forward_pre_hooks[key]
            method = container
        else:
            whole = facula.ones_like(orig, requires_grad=False)
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            try:
                mask = method.compute_mask(scores.detach(), default_mask=whole)
            except Exception:  # the parameter is back, behind the others, as in PyTorch
                del module._parameters[name + "_orig"]
                module.register_parameter(name, orig)
                raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """t with the mask of its (or the given) scores applied."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t: {tuple(scores.shape)} and {tuple(t.shape)}")
        mask = facula.ones_like(t, requires_grad=False) if default_mask is None else default_mask
        return t * self.compute_mask(scores.detach(), default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the pruned values the parameter, for good."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        orig.data = weight.detach()
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """Several methods one after the other, each on what the last left.

    >>> layer = facula.nn.Linear(4, 1)
    >>> for part in range(2):
    ...     _ = facula.nn.utils.prune.l1_unstructured(layer, "weight", amount=1)
    >>> layer.weight_mask.sum()
    tensor(2.)
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a method for the same parameter at the end."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """default_mask with the last method's mask put where something is left to prune."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
            new = mask.clone()
            new[left] = method.compute_mask(t[left], mask[left]).to(mask.dtype)
            return new
        if method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
            if method.dim < -t.dim():
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            dim = method.dim % t.dim()
            left = (mask.sum([d for d in range(t.dim()) if d != dim]) != 0).nonzero().reshape(-1)
            partial = method.compute_mask(t.index_select(dim, left), mask.index_select(dim, left)).to(mask.dtype)
            return mask.index_copy(dim, left, partial)
        if method.PRUNING_TYPE == "global":
            return method.compute_mask(t, mask).to(mask.dtype)
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (amount > 1 and not isinstance(amount, numbers.Integral)):  # NaN passes: there is no number of elements that it is
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many of tensor_size an amount is."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _to_prune(amount: Any, size: int) -> int:
    """How many of `size` an amount is; refuses more than there are."""
    _validate_pruning_amount(amount, size)
    return _compute_nparams_toprune(amount, size)


class Identity(BasePruningMethod):
    """Prunes nothing; puts the mask in place.

    >>> layer = facula.nn.Linear(3, 1)
    >>> _ = facula.nn.utils.prune.Identity.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[1., 1., 1.]])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _to_prune(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            scores = self._scores(t.reshape(-1))
            lowest = facula.topk(scores, count, largest=self._drop_largest)[1]
            mask.view(-1)[lowest] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random; amount: a part, or a number of elements.

    >>> method = facula.nn.utils.prune.RandomUnstructured(2)
    >>> method.compute_mask(facula.ones(5), facula.ones(5)).sum()
    tensor(3.)
    """

    _drop_largest = True

    def _scores(self, flat: Tensor) -> Tensor:
        return facula.rand_like(flat)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements of least absolute value.

    >>> method = facula.nn.utils.prune.L1Unstructured(1)
    >>> method.compute_mask(facula.tensor([3.0, -1.0, 2.0]), facula.ones(3))
    tensor([1., 0., 1.])
    """

    _drop_largest = False

    def _scores(self, flat: Tensor) -> Tensor:
        return flat.abs()

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {tuple(t.shape)} with {t.dim()} dims")
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {tuple(t.shape)}")
        dim = self.dim % t.dim()
        size = t.size(dim)
        count = _to_prune(self.amount, size)
        if count == 0:
            return default_mask
        shape = [1] * t.dim()
        shape[dim] = size
        return self._kept(t, dim, count).to(t.dtype).reshape(shape) * default_mask.to(t.dtype)


class RandomStructured(_Structured):
    """Prunes whole channels along `dim` at random.

    >>> method = facula.nn.utils.prune.RandomStructured(1, dim=0)
    >>> method.compute_mask(facula.ones(3, 2), facula.ones(3, 2)).sum()
    tensor(4.)
    """

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t: Tensor, dim: int, count: int) -> Tensor:
        chance = facula.rand(t.size(dim))
        return chance > facula.kthvalue(chance, count)[0]

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the channels along `dim` of least n-norm.

    >>> method = facula.nn.utils.prune.LnStructured(1, n=2, dim=0)
    >>> method.compute_mask(facula.tensor([[3.0, 4.0], [1.0, 1.0]]), facula.ones(2, 2))
    tensor([[1., 1.],
            [0., 0.]])
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t: Tensor, dim: int, count: int) -> Tensor:
        norms = facula.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != dim])
        best = facula.topk(norms, t.size(dim) - count, largest=True)[1]
        return facula.zeros(t.size(dim), dtype=facula.bool).index_fill_(0, best, True)

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask.

    >>> layer = facula.nn.Linear(3, 1)
    >>> _ = facula.nn.utils.prune.CustomFromMask.apply(layer, "weight", facula.tensor([[1, 0, 1]]))
    >>> layer.weight_mask
    tensor([[1., 0., 1.]])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask {tuple(self.mask.shape)} must have the shape {tuple(default_mask.shape)}")
        return default_mask * self.mask.to(default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Put a mask of ones in place.

    >>> facula.nn.utils.prune.identity(facula.nn.Linear(3, 1), "weight").weight_mask
    tensor([[1., 1., 1.]])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    """Prune elements at random.

    >>> facula.nn.utils.prune.random_unstructured(facula.nn.Linear(5, 1), "weight", amount=0.4).weight_mask.sum()
    tensor(3.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Any, importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of least absolute value, or score.

    >>> layer = facula.nn.Linear(3, 1, bias=False)
    >>> layer.weight.data = facula.tensor([[3.0, -1.0, 2.0]])
    >>> facula.nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight_mask
    tensor([[1., 0., 1.]])
    """
    L1Unstructured.apply(module, name, amount, importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    """Prune whole channels at random.

    >>> facula.nn.utils.prune.random_structured(facula.nn.Linear(2, 3), "weight", amount=1, dim=0).weight_mask.sum()
    tensor(4.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None) -> Module:
    """Prune the channels of least n-norm.

    >>> layer = facula.nn.Linear(2, 2, bias=False)
    >>> layer.weight.data = facula.tensor([[3.0, 4.0], [1.0, 1.0]])
    >>> facula.nn.utils.prune.ln_structured(layer, "weight", amount=1, n=2, dim=0).weight_mask
    tensor([[1., 1.],
            [0., 0.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune by a given mask.

    >>> layer = facula.nn.utils.prune.custom_from_mask(facula.nn.Linear(3, 1), "weight", facula.tensor([[1, 0, 1]]))
    >>> layer.weight == 0
    tensor([[False,  True, False]])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: type, importance_scores: dict | None = None, **kwargs: Any) -> None:
    """Prune (module, name) pairs together: one ranking over all their elements.

    >>> a, b = facula.nn.Linear(4, 1), facula.nn.Linear(4, 1)
    >>> facula.nn.utils.prune.global_unstructured([(a, "weight"), (b, "weight")], facula.nn.utils.prune.L1Unstructured, amount=6)
    >>> a.weight_mask.sum() + b.weight_mask.sum()
    tensor(2.)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    tensors = [getattr(module, name) for module, name in parameters]
    all_scores = parameters_to_vector([scores.get(key, t).detach() for key, t in zip(parameters, tensors)])
    before = parameters_to_vector(
        [getattr(m, n + "_mask", facula.ones_like(t, requires_grad=False)) for (m, n), t in zip(parameters, tensors)]
    )
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}')
    method._tensor_name = "all"
    container = PruningContainer(method)
    mask = container.compute_mask(all_scores, before)
    at = 0
    for (module, name), t in zip(parameters, tensors):
        custom_from_mask(module, name, mask[at : at + t.numel()].reshape(t.shape))
        at += t.numel()


def remove(module: Module, name: str) -> Module:
    """Make the pruned values the parameter, for good.

    >>> layer = facula.nn.utils.prune.l1_unstructured(facula.nn.Linear(3, 1), "weight", amount=1)
    >>> layer = facula.nn.utils.prune.remove(layer, "weight")
    >>> int((layer.weight == 0).sum()), facula.nn.utils.prune.is_pruned(layer)
    (1, False)
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether anything in the module is pruned.

    >>> layer = facula.nn.Linear(3, 1)
    >>> facula.nn.utils.prune.is_pruned(layer), facula.nn.utils.prune.is_pruned(facula.nn.utils.prune.identity(layer, "weight"))
    (False, True)
    """
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
