"""Chains of transforms that were searched for, or are drawn: torchvision's random numbers in torchvision's order.

Sources: Cubuk et al., AutoAugment (2018), RandAugment (2019); Müller, Hutter, TrivialAugment (2021); Hendrycks et al., AugMix (2019).
"""

from __future__ import annotations

import enum
import math

import facula
from facula import nn

from . import functional as F

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]

# What AutoAugment found on each data set: pairs of (name, probability, place among ten magnitudes)
_FOUND = {
    "imagenet": """
        Posterize,0.4,8 Rotate,0.6,9; Solarize,0.6,5 AutoContrast,0.6,-; Equalize,0.8,- Equalize,0.6,-;
        Posterize,0.6,7 Posterize,0.6,6; Equalize,0.4,- Solarize,0.2,4; Equalize,0.4,- Rotate,0.8,8;
        Solarize,0.6,3 Equalize,0.6,-; Posterize,0.8,5 Equalize,1.0,-; Rotate,0.2,3 Solarize,0.6,8;
        Equalize,0.6,- Posterize,0.4,6; Rotate,0.8,8 Color,0.4,0; Rotate,0.4,9 Equalize,0.6,-;
        Equalize,0.0,- Equalize,0.8,-; Invert,0.6,- Equalize,1.0,-; Color,0.6,4 Contrast,1.0,8;
        Rotate,0.8,8 Color,1.0,2; Color,0.8,8 Solarize,0.8,7; Sharpness,0.4,7 Invert,0.6,-;
        ShearX,0.6,5 Equalize,1.0,-; Color,0.4,0 Equalize,0.6,-; Equalize,0.4,- Solarize,0.2,4;
        Solarize,0.6,5 AutoContrast,0.6,-; Invert,0.6,- Equalize,1.0,-; Color,0.6,4 Contrast,1.0,8;
        Equalize,0.8,- Equalize,0.6,-
    """,
    "cifar10": """
        Invert,0.1,- Contrast,0.2,6; Rotate,0.7,2 TranslateX,0.3,9; Sharpness,0.8,1 Sharpness,0.9,3;
        ShearY,0.5,8 TranslateY,0.7,9; AutoContrast,0.5,- Equalize,0.9,-; ShearY,0.2,7 Posterize,0.3,7;
        Color,0.4,3 Brightness,0.6,7; Sharpness,0.3,9 Brightness,0.7,9; Equalize,0.6,- Equalize,0.5,-;
        Contrast,0.6,7 Sharpness,0.6,5; Color,0.7,7 TranslateX,0.5,8; Equalize,0.3,- AutoContrast,0.4,-;
        TranslateY,0.4,3 Sharpness,0.2,6; Brightness,0.9,6 Color,0.2,8; Solarize,0.5,2 Invert,0.0,-;
        Equalize,0.2,- AutoContrast,0.6,-; Equalize,0.2,- Equalize,0.6,-; Color,0.9,9 Equalize,0.6,-;
        AutoContrast,0.8,- Solarize,0.2,8; Brightness,0.1,3 Color,0.7,0; Solarize,0.4,5 AutoContrast,0.9,-;
        TranslateY,0.9,9 TranslateY,0.7,9; AutoContrast,0.9,- Solarize,0.8,3; Equalize,0.8,- Invert,0.1,-;
        TranslateY,0.7,9 AutoContrast,0.9,-
    """,
    "svhn": """
        ShearX,0.9,4 Invert,0.2,-; ShearY,0.9,8 Invert,0.7,-; Equalize,0.6,- Solarize,0.6,6;
        Invert,0.9,- Equalize,0.6,-; Equalize,0.6,- Rotate,0.9,3; ShearX,0.9,4 AutoContrast,0.8,-;
        ShearY,0.9,8 Invert,0.4,-; ShearY,0.9,5 Solarize,0.2,6; Invert,0.9,- AutoContrast,0.8,-;
        Equalize,0.6,- Rotate,0.9,3; ShearX,0.9,4 Solarize,0.3,3; ShearY,0.8,8 Invert,0.7,-;
        Equalize,0.9,- TranslateY,0.6,6; Invert,0.9,- Equalize,0.6,-; Contrast,0.3,3 Rotate,0.8,4;
        Invert,0.8,- TranslateY,0.0,2; ShearY,0.7,6 Solarize,0.4,8; Invert,0.6,- Rotate,0.8,4;
        ShearY,0.3,7 TranslateX,0.9,3; ShearX,0.1,6 Invert,0.6,-; Solarize,0.7,2 TranslateY,0.6,7;
        ShearY,0.8,4 Invert,0.8,-; ShearX,0.7,9 TranslateY,0.8,3; ShearY,0.8,5 AutoContrast,0.7,-;
        ShearX,0.7,2 Invert,0.1,-
    """,
}  # fmt: skip


class AutoAugmentPolicy(enum.Enum):
    """The data set on which a policy was found.

    >>> facula.vision.transforms.AutoAugmentPolicy.CIFAR10.value
    'cifar10'
    """

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def _moved(x: float = 0.0, y: float = 0.0, shear=(0.0, 0.0), center=None):
    return {"angle": 0.0, "translate": [int(x), int(y)], "scale": 1.0, "shear": list(shear), "center": center}


def _leaning(magnitude: float) -> float:
    return math.degrees(math.atan(magnitude))


# of (functions to ask, picture, magnitude, options of what samples)
STEPS = {
    "Identity": lambda f, img, m, how: img,
    "ShearX": lambda f, img, m, how: f.affine(img, **_moved(shear=(_leaning(m), 0.0), center=[0, 0]), **how),
    "ShearY": lambda f, img, m, how: f.affine(img, **_moved(shear=(0.0, _leaning(m)), center=[0, 0]), **how),
    "TranslateX": lambda f, img, m, how: f.affine(img, **_moved(x=m), **how),
    "TranslateY": lambda f, img, m, how: f.affine(img, **_moved(y=m), **how),
    "Rotate": lambda f, img, m, how: f.rotate(img, m, **how),
    "Brightness": lambda f, img, m, how: f.adjust_brightness(img, 1.0 + m),
    "Color": lambda f, img, m, how: f.adjust_saturation(img, 1.0 + m),
    "Contrast": lambda f, img, m, how: f.adjust_contrast(img, 1.0 + m),
    "Sharpness": lambda f, img, m, how: f.adjust_sharpness(img, 1.0 + m),
    "Posterize": lambda f, img, m, how: f.posterize(img, int(m)),
    "Solarize": lambda f, img, m, how: f.solarize(img, m),
    "AutoContrast": lambda f, img, m, how: f.autocontrast(img),
    "Equalize": lambda f, img, m, how: f.equalize(img),
    "Invert": lambda f, img, m, how: f.invert(img),
}
_COLORS = ("Brightness", "Color", "Contrast", "Sharpness")
SIGNED = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", *_COLORS)


def space_of(bins: int, along: float, down: float, lean: float, turn: float, change: float, first_bits: int = 8, fewer_bits: int = 4, white: float = 255.0) -> dict:
    """What each step's magnitudes are, as a tensor of bins numbers; None for a step that has none."""
    even = lambda most, start=0.0: facula.linspace(start, most, bins)
    bits = first_bits - (facula.arange(bins) / ((bins - 1) / fewer_bits)).round()
    return {
        "Identity": None, "ShearX": even(lean), "ShearY": even(lean), "TranslateX": even(along), "TranslateY": even(down), "Rotate": even(turn),
        **{name: even(change) for name in _COLORS}, "Posterize": bits, "Solarize": even(0.0, white), "AutoContrast": None, "Equalize": None,
    }  # fmt: skip


def draw(n: int) -> int:
    return int(facula.randint(n, (1,)))


class Chain(nn.Module):
    _shown: tuple[str, ...] = ()

    def _do(self, name: str, img, magnitude: float):
        return STEPS[name](F, img, magnitude, {"interpolation": self.interpolation, "fill": self.fill})

    def _turned_round(self) -> bool:
        """Is a signed magnitude drawn to be negative?"""
        return bool(draw(2))

    def _space(self, *ranges, **bits) -> dict:
        return space_of(*ranges, **bits)

    def _step(self, img, space: dict, place) -> object:
        """One step drawn from the space; place: gives that of its magnitude."""
        name = list(space)[draw(len(space))]
        magnitude = 0.0 if space[name] is None else float(space[name][place(len(space[name]))])
        if name in SIGNED and self._turned_round():
            magnitude = -magnitude
        return self._do(name, img, magnitude)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._shown)})"


class AutoAugment(Chain):
    """One of 25 pairs of steps, each done with its own probability; of uint8 tensors and PIL images.

    >>> facula.vision.transforms.AutoAugment()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    _shown = ("policy", "fill")

    def __init__(self, policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET, interpolation=F.InterpolationMode.NEAREST, fill=None) -> None:
        super().__init__()
        if policy not in AutoAugmentPolicy:
            raise ValueError(f"The provided policy {policy} is not recognized. Known: {', '.join(map(str, AutoAugmentPolicy))}.")
        self.policy, self.interpolation, self.fill = policy, interpolation, fill
        split = lambda step: (step[0], float(step[1]), None if step[2] == "-" else int(step[2]))
        self.policies = [tuple(split(step.split(",")) for step in pair.split()) for pair in _FOUND[AutoAugmentPolicy(policy).value].split(";")]

    def _policy_space(self, img) -> dict:
        _, height, width = F.get_dimensions(img)
        return self._space(10, 150.0 / 331.0 * width, 150.0 / 331.0 * height, 0.3, 30.0, 0.9)

    def forward(self, img):
        steps = self.policies[draw(len(self.policies))]
        probs, signs = facula.rand((2,)).tolist(), facula.randint(2, (2,)).tolist()
        space = self._policy_space(img)
        for (name, p, place), prob, sign in zip(steps, probs, signs):
            if prob <= facula.tensor(p).item():
                magnitude = 0.0 if place is None else float(space[name][place])
                img = self._do(name, img, -magnitude if name in SIGNED and not sign else magnitude)
        return img


class RandAugment(Chain):
    """num_ops steps, drawn from all, of one magnitude among num_magnitude_bins; of uint8 tensors and PIL images.

    >>> facula.vision.transforms.RandAugment()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    _shown = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_ops: int = 2, magnitude: int = 9, num_magnitude_bins: int = 31, interpolation=F.InterpolationMode.NEAREST, fill=None) -> None:
        super().__init__()
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill = interpolation, fill

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        space = self._space(self.num_magnitude_bins, 150.0 / 331.0 * width, 150.0 / 331.0 * height, 0.3, 30.0, 0.9)
        for _ in range(self.num_ops):
            img = self._step(img, space, lambda bins: self.magnitude)
        return img


class TrivialAugmentWide(Chain):
    """One step, drawn from all, of a drawn magnitude; of uint8 tensors and PIL images.

    >>> facula.vision.transforms.TrivialAugmentWide()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    _shown = ("num_magnitude_bins", "interpolation", "fill")

    def __init__(self, num_magnitude_bins: int = 31, interpolation=F.InterpolationMode.NEAREST, fill=None) -> None:
        super().__init__()
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, interpolation, fill

    def forward(self, img):
        return self._step(img, self._space(self.num_magnitude_bins, 32.0, 32.0, 0.99, 135.0, 0.99, fewer_bits=6), draw)


class AugMix(Chain):
    """A mixture of the picture and mixture_width chains of steps; of uint8 tensors and PIL images.

    severity: the magnitudes that are drawn from, 1 to 10; chain_depth: steps of a chain, -1 for one to three; alpha: of the weights'
    distributions; all_ops: brightness, contrast, colour and sharpness too.

    >>> facula.vision.transforms.AugMix()(facula.zeros(3, 8, 8, dtype=facula.uint8)).shape
    torch.Size([3, 8, 8])
    """

    _shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")

    def __init__(
        self, severity: int = 3, mixture_width: int = 3, chain_depth: int = -1, alpha: float = 1.0, all_ops: bool = True,
        interpolation=F.InterpolationMode.BILINEAR, fill=None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth, self.alpha, self.all_ops = severity, mixture_width, chain_depth, alpha, all_ops
        self.interpolation, self.fill = interpolation, fill

    def forward(self, orig_img):
        _, height, width = F.get_dimensions(orig_img)
        given = isinstance(orig_img, facula.Tensor)
        img = orig_img if given else F.pil_to_tensor(orig_img)
        space = self._space(10, width / 3.0, height / 3.0, 0.3, 30.0, 0.9, first_bits=4)
        space.pop("Identity")
        changes = {name: space.pop(name) for name in _COLORS}  # they come last here
        space |= changes if self.all_ops else {}
        batch = img.reshape([1] * max(4 - img.dim(), 0) + list(img.shape))
        each = [batch.shape[0]] + [1] * (batch.dim() - 1)
        drawn = lambda n: facula._sample_dirichlet(facula.tensor([self.alpha] * n).expand(each[0], -1))
        share = drawn(2)
        weights = drawn(self.mixture_width) * share[:, 1].view(each[0], -1)
        mix = share[:, 0].view(each) * batch
        for i in range(self.mixture_width):
            changed = batch
            for _ in range(self.chain_depth if self.chain_depth > 0 else int(facula.randint(1, 4, (1,)))):
                changed = self._step(changed, space, lambda bins: draw(self.severity))
            mix = mix + weights[:, i].view(each) * changed
        mix = mix.reshape(img.shape).to(img.dtype)
        return mix if given else F.to_pil_image(mix)
