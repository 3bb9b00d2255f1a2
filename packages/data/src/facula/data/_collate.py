"""From a list of samples to a batch of tensors."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence

import facula

# NumPy's dtypes without a tensor: strings and objects. Programs look arrays up with it.
np_str_obj_array_pattern = re.compile(r"[SaUO]")

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]


def _is_numpy(value) -> bool:
    # Asked by name: NumPy must not be imported for a program that does not use it.
    return type(value).__module__ == "numpy" and type(value).__name__ not in ("str_", "bytes_")


def _numpy_kind(value) -> str:
    """ "array", "scalar", "text" (strings and objects, which have no tensor) or "" for what is not NumPy's."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None or not hasattr(value, "__array__") or isinstance(value, facula.Tensor):
        return ""
    if kind in "SUO":
        return "text"
    return "scalar" if type(value).__module__ == "numpy" and not hasattr(value, "__setitem__") else "array"


def default_convert(data):
    """`data` with every NumPy array in it made a tensor; containers keep their type, tuples become lists.

    >>> import numpy
    >>> facula.data.default_convert({"x": numpy.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, facula.Tensor):
        return data
    if _is_numpy(data):
        return data if _numpy_kind(data) in ("", "text") else facula.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuild_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [default_convert(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuild_sequence(data, [default_convert(item) for item in data])
    return data


def _rebuild_mapping(like: Mapping, items: dict):
    """A mapping of `like`'s type: a mutable one is copied, because it may carry more than its items."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(items)
            return clone
        return type(like)(items)
    except TypeError:
        return items


def _rebuild_sequence(like: Sequence, items: list):
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(like)(items)
    except TypeError:
        return items


def collate_tensor_fn(batch, *, collate_fn_map: dict | None = None):
    if batch[0].layout != facula.strided:
        raise RuntimeError(
            f"default_collate: samples are sparse ({batch[0].layout}), which are not supported in a batch. "
            "Call to_dense() in the dataset, or give the loader a collate_fn."
        )
    return facula.stack(batch, 0)


def collate_numpy_fn(batch, *, collate_fn_map: dict | None = None):
    if _numpy_kind(batch[0]) == "scalar":
        return facula.as_tensor(list(batch))
    return collate([facula.as_tensor(item) for item in batch], collate_fn_map=collate_fn_map)


def collate_float_fn(batch, *, collate_fn_map: dict | None = None):
    return facula.tensor(batch, dtype=facula.float64)


def collate_int_fn(batch, *, collate_fn_map: dict | None = None):
    return facula.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map: dict | None = None):
    return batch


default_collate_fn_map: dict[type | tuple[type, ...], Callable] = {
    facula.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def collate(batch, *, collate_fn_map: dict[type | tuple[type, ...], Callable] | None = None):
    """One batch from a list of samples; a type's function comes from the map, containers are walked.

    The sample's exact type is looked up first, then its bases in the map's order.

    >>> from facula.data.dataloader import collate, default_collate
    >>> collate([1, 2], collate_fn_map={int: lambda batch, collate_fn_map: sum(batch)})
    3
    """
    sample = batch[0]
    table = collate_fn_map or {}
    if type(sample) in table:
        return table[type(sample)](batch, collate_fn_map=collate_fn_map)
    for kind, function in table.items():
        # NumPy's float64 is a Python float too, but keeps its dtype as NumPy's.
        if isinstance(sample, kind) and not (kind is float and _numpy_kind(sample)):
            return function(batch, collate_fn_map=collate_fn_map)
    if table and _numpy_kind(sample) in ("array", "scalar"):
        return collate_numpy_fn(batch, collate_fn_map=collate_fn_map)

    def again(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(sample, Mapping):
        return _rebuild_mapping(sample, {key: again([item[key] for item in batch]) for key in sample})
    if isinstance(sample, tuple) and hasattr(sample, "_fields"):
        return type(sample)(*(again(samples) for samples in zip(*batch)))
    if isinstance(sample, Sequence):
        lengths = [len(item) for item in batch]
        if any(n != lengths[0] for n in lengths):
            raise RuntimeError(
                "default_collate: each element in list of batch should be of equal size, "
                f"lengths are {lengths}. Pad them, or give the loader a collate_fn."
            )
        columns = [again(samples) for samples in zip(*batch)]
        return columns if isinstance(sample, tuple) else _rebuild_sequence(sample, columns)
    found = getattr(sample, "dtype", type(sample))
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {found}. Give the loader a collate_fn."
    )


def default_collate(batch):
    """Samples stacked along a new first dimension, inside whatever containers they come in.

    Tensors and NumPy arrays are stacked, Python floats become float64, ints int64, strings stay a list;
    dicts, named tuples and sequences are collated item by item. Extend `default_collate_fn_map` for more types.

    >>> facula.data.default_collate([{"x": facula.tensor([1.0]), "y": 0}, {"x": facula.tensor([2.0]), "y": 1}])
    {'x': tensor([[1.],
            [2.]]), 'y': tensor([0, 1])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
