"""Transforms that change colours. Arguments and draws of those that v1 has are v1's."""

from __future__ import annotations

import facula

from .. import augment, fixed
from . import functional as F
from ._transform import Transform, WithP, query_chw

__all__ = [
    "ColorJitter", "Grayscale", "RGB", "RandomAdjustSharpness", "RandomAutocontrast", "RandomChannelPermutation", "RandomEqualize",
    "RandomGrayscale", "RandomInvert", "RandomPhotometricDistort", "RandomPosterize", "RandomSolarize",
]  # fmt: skip


class Grayscale(Transform, fixed.Grayscale):
    """Grey by luma, in one or three equal channels.

    >>> facula.vision.transforms.v2.Grayscale()(facula.ones(3, 2, 2)).shape
    torch.Size([1, 2, 2])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.rgb_to_grayscale, inpt, self.num_output_channels)


class RandomGrayscale(WithP, augment.RandomGrayscale):
    """Grey with probability p, as many channels as before.

    >>> facula.vision.transforms.v2.RandomGrayscale(p=1.0)(facula.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def make_params(self, flat_inputs):
        return {"channels": query_chw(flat_inputs)[0]}

    def transform(self, inpt, params):
        return self._call_kernel(F.rgb_to_grayscale, inpt, params["channels"])


class RGB(Transform):
    """Three channels of one; what has them stays.

    >>> facula.vision.transforms.v2.RGB()(facula.ones(1, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.grayscale_to_rgb, inpt)


_CHANGES = ("brightness", "contrast", "saturation", "hue")


class _Changes(Transform):
    def _changed(self, inpt, kind: str, factor):
        return inpt if factor is None else self._call_kernel(getattr(F, f"adjust_{kind}"), inpt, factor)


class ColorJitter(_Changes, augment.ColorJitter):
    """Brightness, contrast, saturation and hue changed by drawn factors, in a drawn order.

    A number v means factors in [max(0, 1 - v), 1 + v], for hue in [-v, v]; a pair is the range itself.

    >>> facula.vision.transforms.v2.ColorJitter(brightness=0.5)(facula.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def __init__(self, brightness=None, contrast=None, saturation=None, hue=None) -> None:
        super().__init__(brightness or 0, contrast or 0, saturation or 0, hue or 0)

    def make_params(self, flat_inputs):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        return {"order": order.tolist(), "factors": factors}

    def transform(self, inpt, params):
        for k in params["order"]:
            inpt = self._changed(inpt, _CHANGES[k], params["factors"][k])
        return inpt


class RandomPhotometricDistort(_Changes):
    """Brightness, contrast, saturation and hue changed and channels exchanged, each with probability p.

    Source: Liu et al., SSD: Single Shot MultiBox Detector (2016).

    >>> facula.vision.transforms.v2.RandomPhotometricDistort()(facula.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def __init__(self, brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5), hue=(-0.05, 0.05), p: float = 0.5) -> None:
        super().__init__()
        self.brightness, self.contrast, self.hue, self.saturation, self.p = brightness, contrast, hue, saturation, p

    def make_params(self, flat_inputs):
        channels = query_chw(flat_inputs)[0]
        params = {}
        for kind in _CHANGES:
            params[kind] = facula.empty(1).uniform_(*getattr(self, kind)).item() if facula.rand(1) < self.p else None
        params["contrast first"] = bool(facula.rand(()) < 0.5)
        params["permutation"] = facula.randperm(channels) if facula.rand(1) < self.p else None
        return params

    def transform(self, inpt, params):
        first = params["contrast first"]
        for kind in ("brightness", "contrast", "saturation", "hue") if first else ("brightness", "saturation", "hue", "contrast"):
            inpt = self._changed(inpt, kind, params[kind])
        return inpt if params["permutation"] is None else self._call_kernel(F.permute_channels, inpt, params["permutation"])


class RandomChannelPermutation(Transform):
    """Channels in a drawn order.

    >>> facula.vision.transforms.v2.RandomChannelPermutation()(facula.ones(3, 2, 2)).shape
    torch.Size([3, 2, 2])
    """

    def make_params(self, flat_inputs):
        return {"permutation": facula.randperm(query_chw(flat_inputs)[0])}

    def transform(self, inpt, params):
        return self._call_kernel(F.permute_channels, inpt, params["permutation"])


class RandomEqualize(WithP, augment.RandomEqualize):
    """equalize with probability p.

    >>> facula.vision.transforms.v2.RandomEqualize(p=1.0)(facula.zeros(1, 2, 2, dtype=facula.uint8)).sum()
    tensor(0)
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.equalize, inpt)


class RandomInvert(WithP, augment.RandomInvert):
    """Inverted with probability p.

    >>> facula.vision.transforms.v2.RandomInvert(p=1.0)(facula.tensor([[[0.25, 1.0]]]))
    tensor([[[0.7500, 0.0000]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.invert, inpt)


class RandomPosterize(WithP, augment.RandomPosterize):
    """The upper bits alone, with probability p.

    >>> facula.vision.transforms.v2.RandomPosterize(1, p=1.0)(facula.tensor([[[0.25, 0.75]]]))
    tensor([[[0.0000, 0.5000]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.posterize, inpt, self.bits)


class RandomSolarize(WithP, augment.RandomSolarize):
    """Values from threshold on inverted, with probability p.

    >>> facula.vision.transforms.v2.RandomSolarize(0.5, p=1.0)(facula.tensor([[[0.25, 0.75]]]))
    tensor([[[0.2500, 0.2500]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.solarize, inpt, self.threshold)


class RandomAutocontrast(WithP, augment.RandomAutocontrast):
    """autocontrast with probability p.

    >>> facula.vision.transforms.v2.RandomAutocontrast(p=1.0)(facula.tensor([[[0.25, 0.5]]]))
    tensor([[[0., 1.]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.autocontrast, inpt)


class RandomAdjustSharpness(WithP, augment.RandomAdjustSharpness):
    """adjust_sharpness by that factor, with probability p.

    >>> facula.vision.transforms.v2.RandomAdjustSharpness(2.0, p=1.0)(facula.ones(1, 4, 4)).shape
    torch.Size([1, 4, 4])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.adjust_sharpness, inpt, self.sharpness_factor)
