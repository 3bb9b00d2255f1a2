"""Nested tuples, lists and dicts of tensors, taken apart into a flat list and put together again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from facula.utils._pytree import NODES


def flatten(tree) -> tuple:
    """(the leaves of a tree in order, a function that builds the same tree from as many other leaves)."""
    leaves = []
    shape = _take(tree, leaves)
    return leaves, lambda others: _build(shape, iter(others))


def _take(tree, leaves) -> tuple | None:
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # a namedtuple
        return type(tree)._make, [_take(t, leaves) for t in tree]
    if type(tree) in (tuple, list):
        return type(tree), [_take(t, leaves) for t in tree]
    if type(tree) in (dict, OrderedDict):
        keys, kind = list(tree), type(tree)
        return (lambda values: kind(zip(keys, values))), [_take(tree[k], leaves) for k in keys]
    known = NODES.get(type(tree))
    if known is not None:  # a class that somebody registered, deque among them
        children, context = known.flatten(tree)
        return (lambda values: known.unflatten(values, context)), [_take(t, leaves) for t in children]
    leaves.append(tree)
    return None


def _build(shape, leaves) -> Any:
    if shape is None:
        return next(leaves)
    make, parts = shape
    return make([_build(p, leaves) for p in parts])


def like(a, b) -> bool:
    """Whether two trees have one structure."""
    if type(a) is not type(b) and (isinstance(a, (tuple, list, dict)) or isinstance(b, (tuple, list, dict))):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(like(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(like(x, y) for x, y in zip(a, b))
    return True


def broadcast(prefix, tree, name) -> list:
    """For each leaf of the tree the value that `prefix`, a tree of which it may be the top, has for it."""
    if not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * len(flatten(tree)[0])
    if type(prefix) is not type(tree) or len(prefix) != len(tree) or (isinstance(tree, dict) and set(prefix) != set(tree)):
        raise ValueError(f"{name}: its structure {prefix!r} does not fit the tensors it is for. Give one integer or None for each, or for all.")
    keys = tree if isinstance(tree, dict) else range(len(tree))
    return [v for k in keys for v in broadcast(prefix[k], tree[k], name)]
