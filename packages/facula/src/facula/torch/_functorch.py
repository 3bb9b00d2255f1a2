"""torch._C._functorch and torch._functorch.vmap: tensors inside vmap, told apart and taken apart by libraries that carry tensors of their own.

A level is vmap's own object here; where PyTorch's functions take its number, they take its place among those at work, from 1.
"""

from __future__ import annotations

from typing import Any, Callable

from facula import Tensor
from facula.autograd._core import Batched
from facula.autograd.func import vmap  # noqa: F401 - torch._functorch.vmap.vmap
from facula.autograd.func._vmap import levels
from facula.utils._pytree import TreeSpec, tree_flatten, tree_unflatten  # noqa: F401 - names of torch._functorch.vmap


def is_batchedtensor(tensor: Any) -> bool:
    """Does it stand for many examples?"""
    return type(tensor) is Batched


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    return type(tensor) is Batched


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Is it a wrapper of grad's? grad works on tensors as they are."""
    return False


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor with the examples along its first dim; any other as it is."""
    return tensor._whole if type(tensor) is Batched else tensor


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dim along which the examples lie in get_unwrapped, -1 where there are none."""
    return 0 if type(tensor) is Batched else -1


def maybe_get_level(tensor: Tensor) -> int:
    """The number of the vmap to which it belongs, -1 outside."""
    return levels().index(tensor._level) + 1 if type(tensor) is Batched and tensor._level in levels() else -1


def maybe_current_level() -> int | None:
    """The number of the innermost vmap at work."""
    return len(levels()) or None


def _add_batch_dim(tensor: Tensor, in_dim: int, vmap_level: int) -> Tensor:
    """What stands for one example of those along in_dim, in the vmap of that number."""
    return levels()[vmap_level - 1].wrap(tensor if in_dim == 0 else tensor.movedim(in_dim, 0))


def _remove_batch_dim(tensor: Tensor, vmap_level: int, batch_size: int, out_dim: int) -> Tensor:
    """All examples, along out_dim; of a tensor that is the same for all, batch_size times the same."""
    mine = type(tensor) is Batched and (vmap_level > len(levels()) or tensor._level is levels()[vmap_level - 1])
    whole = tensor._whole if mine else tensor.expand(batch_size, *tensor.shape)
    return whole if out_dim == 0 else whole.movedim(0, out_dim)


def _maybe_remove_batch_dim(name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None) -> Any:
    """_remove_batch_dim of a result; out_dim None is for results that no example changes."""
    if out_dim is None:
        if is_batchedtensor(batched_output):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to set out_dims= to None for output?")
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _get_name(func: Callable) -> str:
    """The function's name, or how it is shown."""
    return getattr(func, "__name__", None) or repr(func)


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: Callable | None = None) -> list | None:
    """For each leaf of the spec the value that `tree`, of which it may be the top, has for it; None where they do not fit."""
    if treespec.is_leaf():
        return [tree]
    below, spec = tree_flatten(tree, is_leaf=is_leaf)
    if spec.is_leaf():
        return [tree] * treespec.num_leaves
    parts = treespec.children_specs
    if not isinstance(tree, (tuple, list, dict)) or len(tree) != len(parts):
        return None
    found: list = []
    for part, child in zip(tree.values() if isinstance(tree, dict) else tree, parts):
        some = _broadcast_to_and_flatten(part, child, is_leaf)
        if some is None:
            return None
        found += some
    return found


def unwrap_if_dead(tensor: Tensor) -> Tensor:
    """The tensor: nothing outlives its vmap."""
    return tensor
