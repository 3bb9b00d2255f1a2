"""Chains of transforms that were searched for, or are drawn: v1's, with v2's functions and draws."""

from __future__ import annotations

import facula
from facula.utils._pytree import tree_unflatten

from ... import tv_tensors
from .. import autoaugment as v1
from . import functional as F
from ._transform import PICTURES, Transform, check_type, fill_of, flat

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


class _Auto(Transform):
    """The one picture or video of a sample; v1's chain, below in the class's bases, does the rest."""

    def _do(self, name, img, magnitude):
        if name == "Solarize":
            magnitude *= 255.0 if not isinstance(img, facula.Tensor) else 1.0 if img.is_floating_point() else facula.iinfo(img.dtype).max
        return v1.STEPS[name](F, img, magnitude, {"interpolation": self.interpolation, "fill": self._fill})

    def _turned_round(self):
        return bool(facula.rand(()) <= 0.5)

    def _space(self, *ranges, **bits):
        return v1.space_of(*ranges, **bits, white=1.0)

    def forward(self, *inputs):
        leaves, spec = flat(inputs)
        needs = self._needs_transform_list(leaves)
        found = [k for k, x in enumerate(leaves) if needs[k] and check_type(x, PICTURES)]
        for x in leaves:
            if isinstance(x, (tv_tensors.BoundingBoxes, tv_tensors.Mask)):
                raise TypeError(f"Inputs of type {type(x).__name__} are not supported by {type(self).__name__}()")
        if len(found) != 1:
            raise TypeError(
                f"Auto augment transformations are only properly defined for a single image or video, but found {len(found)}."
                if found
                else "Found no image in the sample."
            )
        img = leaves[found[0]]
        self._fill = fill_of(self.fill, img)
        known = isinstance(img, tv_tensors.TVTensor)
        out = self._augmented(img.as_subclass(facula.Tensor) if known else img, isinstance(img, tv_tensors.Video))
        leaves[found[0]] = tv_tensors.wrap(out, like=img) if known else out
        return tree_unflatten(leaves, spec)

    def _augmented(self, img, video: bool):
        return super(Transform, self).forward(img)  # v1's: its class stands behind Transform


class AutoAugment(_Auto, v1.AutoAugment):
    """One of 25 pairs of steps, each done with its own probability.

    >>> facula.vision.transforms.v2.AutoAugment()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    def _augmented(self, img, video):
        steps, space = self.policies[v1.draw(len(self.policies))], self._policy_space(img)
        for name, p, place in steps:
            if facula.rand(()) <= p:
                magnitude = 0.0 if place is None else float(space[name][place])
                img = self._do(name, img, -magnitude if name in v1.SIGNED and self._turned_round() else magnitude)
        return img


class RandAugment(_Auto, v1.RandAugment):
    """num_ops steps, drawn from all, of one magnitude among num_magnitude_bins.

    >>> facula.vision.transforms.v2.RandAugment()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """


class TrivialAugmentWide(_Auto, v1.TrivialAugmentWide):
    """One step, drawn from all, of a drawn magnitude.

    >>> facula.vision.transforms.v2.TrivialAugmentWide()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """


class AugMix(_Auto, v1.AugMix):
    """A mixture of the picture and mixture_width chains of steps.

    >>> facula.vision.transforms.v2.AugMix()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    def _augmented(self, img, video):
        if video and img.dim() == 4:  # one mixture for all frames
            return super()._augmented(img.unsqueeze(0), video).squeeze(0)
        return super()._augmented(img, video)
