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
    """One transform after the other.

    >>> double = facula.vision.transforms.Lambda(lambda x: 2 * x)
    >>> facula.vision.transforms.Compose([double, facula.vision.transforms.CenterCrop(1)])(facula.arange(9.0).view(1, 3, 3))
    tensor([[[8.]]])
    """

    def __init__(self, transforms) -> None:
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return "\n".join(["Compose(", *(f"    {t}" for t in self.transforms), ")"])


class ToTensor:
    """Picture or array to a tensor (C, H, W); uint8 is scaled to [0, 1].

    >>> import numpy
    >>> facula.vision.transforms.ToTensor()(numpy.full((1, 2, 1), 255, numpy.uint8))
    tensor([[[1., 1.]]])
    """

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return "ToTensor()"


class PILToTensor(ToTensor):
    """Picture to a tensor (C, H, W) with the same numbers.

    >>> from PIL import Image
    >>> facula.vision.transforms.PILToTensor()(Image.new("L", (2, 1), 7))
    tensor([[[7, 7]]], dtype=torch.uint8)
    """

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return "PILToTensor()"


class ToPILImage:
    """Tensor or array to a PIL image.

    >>> from PIL import Image
    >>> isinstance(facula.vision.transforms.ToPILImage()(facula.zeros(3, 2, 4)), Image.Image)
    True
    """

    def __call__(self, pic):
        return F.to_pil_image(pic)

    def __repr__(self) -> str:
        return "ToPILImage()"


class Lambda:
    """Any function of one argument.

    >>> facula.vision.transforms.Lambda(lambda x: 2 * x)(facula.tensor([1.0]))
    tensor([2.])
    """

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
    """Another dtype with its own range: floating pictures are in [0, 1], integer ones in [0, maximum].

    >>> facula.vision.transforms.ConvertImageDtype(facula.float32)(facula.tensor([0, 255], dtype=facula.uint8))
    tensor([0., 1.])
    """
    _shown = ("dtype",)

    def __init__(self, dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(_Fixed):
    """(tensor - mean) / std by channel.

    >>> facula.vision.transforms.Normalize([0.5], [0.25])(facula.tensor([[[0.5, 1.0]]]))
    tensor([[[0., 2.]]])
    """

    _shown = ("mean", "std")

    def __init__(self, mean, std, inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


class Resize(_Fixed):
    """`size`: (height, width), or the length of the shorter edge.

    >>> facula.vision.transforms.Resize((2, 4))(facula.zeros(3, 8, 8)).shape
    torch.Size([3, 2, 4])
    """

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
    """The middle (height, width) of a picture; a smaller one is surrounded by 0.

    >>> facula.vision.transforms.CenterCrop(1)(facula.arange(9.0).view(1, 3, 3))
    tensor([[[4.]]])
    """
    _shown = ("size",)

    def __init__(self, size) -> None:
        super().__init__()
        self.size = size

    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(_Fixed):
    """A border around a picture: of fill, or made of it ("edge", "reflect", "symmetric").

    >>> facula.vision.transforms.Pad(1, fill=9)(facula.zeros(1, 1, 1))
    tensor([[[9., 9., 9.],
             [9., 0., 9.],
             [9., 9., 9.]]])
    """
    _shown = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant") -> None:
        super().__init__()
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(_Fixed):
    """Grey by luma, in one or three equal channels.

    >>> facula.vision.transforms.Grayscale()(facula.ones(3, 2, 2)).shape
    torch.Size([1, 2, 2])
    """
    _shown = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)
