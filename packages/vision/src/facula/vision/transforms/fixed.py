"""Transforms that draw no random numbers."""

from __future__ import annotations

from facula import nn

from . import functional as F

__all__ = [
    "CenterCrop",
    "Compose",
    "ConvertImageDtype",
    "Grayscale",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "Resize",
    "ToPILImage",
    "ToTensor",
]


class Compose:
    """One transform after the other."""

    def __init__(self, transforms) -> None:
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join(["Compose(", *(f"    {t}" for t in self.transforms), ")"])


class ToTensor:
    """Picture or array to a tensor (C, H, W); uint8 is scaled to [0, 1]."""

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return "ToTensor()"


class PILToTensor(ToTensor):
    """Picture to a tensor (C, H, W) with the same numbers."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return "PILToTensor()"


class ToPILImage:
    """Tensor or array to a PIL image."""

    def __call__(self, pic):
        return F.to_pil_image(pic)

    def __repr__(self) -> str:
        return "ToPILImage()"


class Lambda:
    """Any function of one argument."""

    def __init__(self, lambd) -> None:
        if not callable(lambd):
            raise TypeError(f"Lambda: Argument lambd should be callable, got {type(lambd).__name__}. Give a function.")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self) -> str:
        return "Lambda()"


class _Fixed(nn.Module):
    """A transform whose arguments are its attributes."""

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in vars(self).items() if name in self._shown)


class ConvertImageDtype(_Fixed):
    _shown = ("dtype",)

    def __init__(self, dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(_Fixed):
    """(tensor - mean) / std by channel."""

    _shown = ("mean", "std")

    def __init__(self, mean, std, inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


class Resize(_Fixed):
    """`size`: (height, width), or the length of the shorter edge."""

    _shown = ("size", "interpolation", "max_size", "antialias")

    def __init__(self, size, interpolation=F.InterpolationMode.BILINEAR, max_size=None, antialias=True) -> None:
        super().__init__()
        self.size = size
        self.interpolation = interpolation
        self.max_size = max_size
        self.antialias = antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(_Fixed):
    _shown = ("size",)

    def __init__(self, size) -> None:
        super().__init__()
        self.size = size

    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(_Fixed):
    _shown = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant") -> None:
        super().__init__()
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(_Fixed):
    _shown = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)
