"""Transforms of transforms."""

from __future__ import annotations

from collections.abc import Sequence

import facula
from facula import nn

from ._transform import Transform, check_p

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder"]


class _Container(Transform):
    def __init__(self, transforms) -> None:
        super().__init__()
        if not isinstance(transforms, (Sequence, nn.ModuleList)):
            raise TypeError(f"Argument transforms should be a sequence of callables, got {type(transforms).__name__}. Give a list.")
        if not len(transforms):
            raise ValueError("Pass at least one transform")
        self.transforms = transforms

    def _through(self, transforms, inputs: tuple):
        several = len(inputs) > 1
        for transform in transforms:
            out = transform(*inputs)
            inputs = out if several else (out,)
        return inputs if several else inputs[0]

    def extra_repr(self) -> str:
        return "\n".join(f"    {t}" for t in self.transforms)


class Compose(_Container):
    """One transform after the other.

    >>> v2 = facula.vision.transforms.v2
    >>> v2.Compose([v2.ToDtype(facula.float32, scale=True), v2.CenterCrop(1)])(facula.full((1, 3, 3), 255, dtype=facula.uint8))
    tensor([[[1.]]])
    """

    def forward(self, *inputs):
        return self._through(self.transforms, inputs)


class RandomApply(_Container):
    """All the given transforms with probability p, or none.

    >>> facula.vision.transforms.v2.RandomApply([lambda x: 2 * x], p=1.0)(facula.tensor([1.0]))
    tensor([2.])
    """

    def __init__(self, transforms, p: float = 0.5) -> None:
        super().__init__(transforms)
        check_p(p)
        self.p = p

    def forward(self, *inputs):
        return self._through(() if facula.rand(1) >= self.p else self.transforms, inputs)


class RandomChoice(_Container):
    """One of the given transforms, drawn with weights p.

    >>> facula.vision.transforms.v2.RandomChoice([lambda x: x + 1, lambda x: x + 1])(facula.tensor([1.0]))
    tensor([2.])
    """

    def __init__(self, transforms, p=None) -> None:
        super().__init__(transforms)
        p = [1] * len(transforms) if p is None else p
        if len(p) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(p)} != {len(transforms)}")
        self.p = [share / sum(p) for share in p]

    def forward(self, *inputs):
        return self.transforms[int(facula.multinomial(facula.tensor(self.p), 1))](*inputs)

    def extra_repr(self) -> str:
        return Transform.extra_repr(self)


class RandomOrder(_Container):
    """All the given transforms in a drawn order.

    >>> facula.vision.transforms.v2.RandomOrder([lambda x: x + 1, lambda x: x + 2])(facula.tensor([1.0]))
    tensor([4.])
    """

    def forward(self, *inputs):
        return self._through([self.transforms[k] for k in facula.randperm(len(self.transforms)).tolist()], inputs)

    def extra_repr(self) -> str:
        return Transform.extra_repr(self)
