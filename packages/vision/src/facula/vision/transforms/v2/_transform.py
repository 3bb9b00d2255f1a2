"""class Transform: one draw for a whole sample, then each of its parts in its own way. And what is asked of samples."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

import facula
from facula import nn
from facula.utils._pytree import tree_flatten, tree_unflatten

from ... import tv_tensors
from .._picture import is_pil
from . import functional as F
from ._dispatch import is_pure_tensor, kernel_of

__all__ = ["Transform", "check_type", "get_bounding_boxes", "has_all", "has_any", "query_chw", "query_size"]

PICTURES = (is_pure_tensor, tv_tensors.Image, is_pil, tv_tensors.Video)


def check_type(obj, types_or_checks) -> bool:
    """Is it of one of the types, or does one of the functions say yes?

    >>> facula.vision.transforms.v2.check_type(3, (str, lambda x: x == 3))
    True
    """
    return any(isinstance(obj, t) if isinstance(t, type) else t(obj) for t in types_or_checks)


def has_any(flat_inputs, *types_or_checks) -> bool:
    """Is one of them of one of the types?

    >>> facula.vision.transforms.v2.has_any([3, "a"], str)
    True
    """
    return any(check_type(x, types_or_checks) for x in flat_inputs)


def has_all(flat_inputs, *types_or_checks) -> bool:
    """Is there one of each of the types?

    >>> facula.vision.transforms.v2.has_all([3, "a"], str, float)
    False
    """
    return all(has_any(flat_inputs, t) for t in types_or_checks)


def get_bounding_boxes(flat_inputs):
    """The first BoundingBoxes among them.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.get_bounding_boxes([3, boxes]) is boxes
    True
    """
    for x in flat_inputs:
        if isinstance(x, tv_tensors.BoundingBoxes):
            return x
    raise ValueError("No bounding boxes were found in the sample")


def _only(what: str, named: str, found: set) -> tuple:
    if not found:
        raise TypeError(f"No {named} was found in the sample")
    if len(found) > 1:
        raise ValueError(f"Found multiple {what} dimensions in the sample: {', '.join(map(str, sorted(found)))}")
    return found.pop()


def query_chw(flat_inputs) -> tuple[int, int, int]:
    """(channels, height, width) that all pictures and videos among them have.

    >>> facula.vision.transforms.v2.query_chw([facula.zeros(3, 2, 4), 3])
    (3, 2, 4)
    """
    return _only("CxHxW", "image or video", {tuple(F.get_dimensions(x)) for x in flat_inputs if check_type(x, PICTURES)})


def query_size(flat_inputs) -> tuple[int, int]:
    """(height, width) that all pictures, videos, masks and canvases among them have.

    >>> facula.vision.transforms.v2.query_size([facula.zeros(3, 2, 4), 3])
    (2, 4)
    """
    sized = (*PICTURES, tv_tensors.Mask, tv_tensors.BoundingBoxes)
    return _only("HxW", "image, video, mask or bounding box", {tuple(F.get_size(x)) for x in flat_inputs if check_type(x, sized)})


def fill_of(fill, inpt):
    """What to fill with: a number, one for each channel, or {type: either, "others": either}."""
    return fill.get(type(inpt), fill.get("others")) if isinstance(fill, Mapping) else fill


def flat(inputs: tuple):
    return tree_flatten(inputs if len(inputs) > 1 else inputs[0])


class Transform(nn.Module):
    """Base of the transforms. Inputs: any nesting of lists, tuples and dicts; parts of other types pass through.

    Plain tensors pass through as well where the sample has an Image, a Video or a PIL image; else the first of them is the picture.
    A subclass says `transform(inpt, params)`, and `make_params(flat_inputs)` for what is drawn once for all parts.

    >>> class Brighter(facula.vision.transforms.v2.Transform):
    ...     def make_params(self, flat_inputs):
    ...         return {"by": 1.0}
    ...     def transform(self, inpt, params):
    ...         return inpt + params["by"]
    >>> Brighter()({"picture": facula.zeros(1, 1, 2), "label": 3})
    {'picture': tensor([[[1., 1.]]]), 'label': 3}
    """

    _transformed_types: tuple = (facula.Tensor, is_pil)

    def check_inputs(self, flat_inputs: list) -> None:
        """Refuse samples that are not for this transform."""

    def make_params(self, flat_inputs: list) -> dict[str, Any]:
        """What is drawn, once for the parts that are to be transformed."""
        return {}

    def transform(self, inpt, params: dict[str, Any]):
        """The part, transformed."""
        raise NotImplementedError(f"{type(self).__name__}: say transform(self, inpt, params) in it.")

    def _call_kernel(self, functional: Callable, inpt, *args, **kwargs):
        return kernel_of(functional, inpt, passthrough=True)(inpt, *args, **kwargs)

    def _needs_transform_list(self, flat_inputs: list) -> list[bool]:
        pure = not has_any(flat_inputs, tv_tensors.Image, tv_tensors.Video, is_pil)
        needs = []
        for x in flat_inputs:
            wanted = check_type(x, self._transformed_types)
            if wanted and is_pure_tensor(x):
                wanted, pure = pure, False
            needs.append(wanted)
        return needs

    def _happens(self) -> bool:
        """Drawn after the inputs are checked."""
        return True

    def forward(self, *inputs):
        leaves, spec = flat(inputs)
        self.check_inputs(leaves)
        if not self._happens():
            return inputs if len(inputs) > 1 else inputs[0]
        needs = self._needs_transform_list(leaves)
        params = self.make_params([x for x, wanted in zip(leaves, needs) if wanted])
        return tree_unflatten([self.transform(x, params) if wanted else x for x, wanted in zip(leaves, needs)], spec)

    def extra_repr(self) -> str:
        shown = (bool, int, float, str, tuple, list, enum.Enum)
        known = {k: v for k, v in vars(self).items() if not k.startswith("_") and k != "training" and isinstance(v, shown)}
        return ", ".join(f"{name}={value.value if isinstance(value, F.InterpolationMode) else value}" for name, value in known.items())


def check_p(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}.")


class WithP(Transform):
    """Done with probability p, an argument of the class that stands beside it or below."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        check_p(self.p)

    def _happens(self) -> bool:
        return not facula.rand(1) >= self.p


def labels_getter_of(labels_getter) -> Callable:
    """The function that finds labels in a sample: labels_getter, or for "default" the one below."""
    if labels_getter is None:
        return lambda inputs: None
    if labels_getter == "default":
        return _labels
    if not callable(labels_getter):
        raise ValueError(f"labels_getter should either be 'default', a callable, or None, but got {labels_getter}.")
    return labels_getter


def _labels(inputs):
    """The second of a pair, if it is a tensor; else what a dict, the sample or second, has under "labels", or a key with "label" in it."""
    if isinstance(inputs, (tuple, list)):
        inputs = inputs[1]
    if is_pure_tensor(inputs):
        return inputs
    if not isinstance(inputs, Mapping):
        raise ValueError(
            "When using the default labels_getter, the input passed to forward must be a dictionary or a two-tuple whose second item is a "
            f"dictionary or a tensor, but got {inputs} instead."
        )
    keys = [k for k in inputs if k.lower() == "labels"] + [k for k in inputs if "label" in k.lower()]
    if not keys:
        raise ValueError(
            "Could not infer where the labels are in the sample. Pass a callable as labels_getter, or None if there are none by design."
        )
    return inputs[keys[0]]
