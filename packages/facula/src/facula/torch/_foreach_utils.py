"""torch.utils._foreach_utils: how optimizers written for PyTorch group their tensors."""

from __future__ import annotations

from typing import Any


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Kinds of device for which lists in one call pay."""
    return []


_get_fused_kernels_supported_devices = _get_foreach_kernels_supported_devices


def _device_has_foreach_support(device: Any) -> bool:
    """Do lists in one call pay on the device?"""
    return False


def _has_foreach_support(tensors: list, device: Any) -> bool:
    """Do lists in one call pay for these tensors?"""
    return False


def _group_tensors_by_device_and_dtype(tensorlistlist: list[list], with_indices: bool = False) -> dict:
    """{(device, dtype): (the lists with only its tensors, their places)}, by the first list; None has the dtype of its column."""
    groups: dict[tuple, tuple[list[list], list[int]]] = {}
    for at, first in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for to, column in zip(lists, tensorlistlist):
            if column:
                to.append(column[at])
        places.append(at)
    return {key: (lists, places if with_indices else []) for key, (lists, places) in groups.items()}
