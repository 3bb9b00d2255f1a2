"""Transforms that mix pictures of a batch, overwrite parts of them, or spoil them."""

from __future__ import annotations

import math

import facula
from facula.nn.functional import one_hot
from facula.utils._pytree import tree_unflatten

from ... import tv_tensors
from .. import _picture as P
from .. import random
from . import functional as F
from ._transform import PICTURES, Transform, WithP, check_type, flat, has_any, labels_getter_of, query_chw, query_size

__all__ = ["CutMix", "JPEG", "MixUp", "RandomErasing"]


class RandomErasing(WithP, random.RandomErasing):
    """A random rectangle overwritten with `value` ("random": normal numbers), with probability p.

    Source: Zhong et al., Random Erasing Data Augmentation (2017).

    >>> bool((facula.vision.transforms.v2.RandomErasing(p=1.0)(facula.ones(1, 8, 8)) == 0).any())
    True
    """

    def make_params(self, flat_inputs):
        channels, height, width = query_chw(flat_inputs)
        value = None if self.value == "random" else [self.value] if isinstance(self.value, (int, float)) else list(self.value)
        if value is not None and len(value) not in (1, channels):
            raise ValueError(f"If value is a sequence, it should have either a single value or {channels} (number of inpt channels), got {value}.")
        canvas = facula.empty(channels, height, width, device="meta")
        *part, there = self.get_params(canvas, self.scale, self.ratio, value)
        return {"part": part, "there": None if there is canvas else there}

    def transform(self, inpt, params):
        if params["there"] is None:
            return inpt
        return self._call_kernel(F.erase, inpt, *params["part"], params["there"], self.inplace)


class _Mix(Transform):
    """Each picture of a batch with the one before it, the labels by their shares. Call it with (pictures, labels) after collation."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter="default") -> None:
        super().__init__()
        self.alpha, self.num_classes = float(alpha), num_classes
        self._labels_getter = labels_getter_of(labels_getter)

    def forward(self, *inputs):
        leaves, spec = flat(inputs)
        if has_any(leaves, P.is_pil, tv_tensors.BoundingBoxes, tv_tensors.Mask):
            raise ValueError(f"{type(self).__name__}() does not support PIL images, bounding boxes and masks.")
        labels = self._labels_getter(inputs if len(inputs) > 1 else inputs[0])
        self._check_labels(labels)
        needs = self._needs_transform_list(leaves)
        drawn = self.make_params([x for x, wanted in zip(leaves, needs) if wanted])
        params = {"labels": labels, "batch_size": len(labels), **drawn}
        return tree_unflatten([self.transform(x, params) if wanted or x is labels else x for x, wanted in zip(leaves, needs)], spec)

    def _drawn_share(self) -> float:
        """From Beta(alpha, alpha): the first of two from the Dirichlet distribution."""
        return facula._sample_dirichlet(facula.tensor([[self.alpha, self.alpha]]))[0, 0].item()

    def _check_labels(self, labels) -> None:
        if not isinstance(labels, facula.Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.dim() not in (1, 2):
            raise ValueError(
                "labels should be index based with shape (batch_size,) or probability based with shape (batch_size, num_classes), "
                f"but got a tensor of shape {tuple(labels.shape)} instead."
            )
        if labels.dim() == 2 and self.num_classes not in (None, labels.shape[-1]):
            raise ValueError(
                "When passing 2D labels, the number of elements in last dimension must match num_classes: "
                f"{labels.shape[-1]} != {self.num_classes}. You can Leave num_classes to None."
            )
        if labels.dim() == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")

    def transform(self, inpt, params):
        if inpt is params["labels"]:
            shares = one_hot(inpt, self.num_classes) if inpt.dim() == 1 else inpt
            return self._blended(shares if shares.is_floating_point() else shares.float(), params["share"])
        if not check_type(inpt, PICTURES):
            return inpt
        dims = 5 if isinstance(inpt, tv_tensors.Video) else 4
        if inpt.dim() != dims:
            raise ValueError(f"Expected a batched input with {dims} dims, but got {inpt.dim()} dimensions instead.")
        if len(inpt) != params["batch_size"]:
            raise ValueError(
                f"The batch size of the image or video does not match the batch size of the labels: {len(inpt)} != {params['batch_size']}."
            )
        mixed = self._mixed(inpt.as_subclass(facula.Tensor), params)
        return mixed if F.is_pure_tensor(inpt) else tv_tensors.wrap(mixed, like=inpt)

    @staticmethod
    def _blended(x, share: float):
        return x.roll(1, 0).mul_(1.0 - share).add_(x.mul(share))


class MixUp(_Mix):
    """Each picture of a batch blended with the one before it by a share drawn from Beta(alpha, alpha), the labels as well.

    Source: Zhang et al., mixup: Beyond Empirical Risk Minimization (2017).

    >>> pictures, labels = facula.vision.transforms.v2.MixUp(num_classes=3)(facula.ones(2, 1, 4, 4), facula.tensor([0, 2]))
    >>> labels.shape, labels.sum(1)
    (torch.Size([2, 3]), tensor([1., 1.]))
    """

    def make_params(self, flat_inputs):
        return {"share": self._drawn_share()}

    def _mixed(self, x, params):
        return self._blended(x, params["share"])


class CutMix(_Mix):
    """A rectangle of each picture of a batch from the one before it, the labels by its area.

    Source: Yun et al., CutMix: Regularization Strategy to Train Strong Classifiers with Localizable Features (2019).

    >>> pictures, labels = facula.vision.transforms.v2.CutMix(num_classes=3)(facula.ones(2, 1, 4, 4), facula.tensor([0, 2]))
    >>> labels.shape, labels.sum(1)
    (torch.Size([2, 3]), tensor([1., 1.]))
    """

    def make_params(self, flat_inputs):
        share = self._drawn_share()
        height, width = query_size(flat_inputs)
        x, y = int(facula.randint(width, (1,))), int(facula.randint(height, (1,)))
        half = 0.5 * math.sqrt(1.0 - share)
        half_width, half_height = int(half * width), int(half * height)
        left, right = max(x - half_width, 0), min(x + half_width, width)
        top, bottom = max(y - half_height, 0), min(y + half_height, height)
        return {"box": (left, top, right, bottom), "share": float(1.0 - (right - left) * (bottom - top) / (width * height))}

    def _mixed(self, x, params):
        left, top, right, bottom = params["box"]
        out = x.clone()
        out[..., top:bottom, left:right] = x.roll(1, 0)[..., top:bottom, left:right]
        return out


class JPEG(Transform):
    """As a JPEG file would keep it, of a quality, 1 to 100, or one drawn from a range.

    >>> from PIL import Image
    >>> facula.vision.transforms.v2.JPEG((50, 90))(Image.new("L", (2, 1))).size
    (2, 1)
    """

    def __init__(self, quality) -> None:
        super().__init__()
        if isinstance(quality, bool):
            raise TypeError("quality can't be bool")
        self.quality = [quality, quality] if isinstance(quality, int) else quality
        if len(self.quality) != 2 or not 1 <= self.quality[0] <= self.quality[1] <= 100 or not all(isinstance(q, int) for q in self.quality):
            raise ValueError(f"quality must be an integer from 1 to 100, got quality = {self.quality}")

    def make_params(self, flat_inputs):
        return {"quality": int(facula.randint(self.quality[0], self.quality[1] + 1, ()))}

    def transform(self, inpt, params):
        return self._call_kernel(F.jpeg, inpt, params["quality"])
