"""Transforms that move pixels, and the boxes and masks with them. Arguments and draws of those that v1 has are v1's."""

from __future__ import annotations

import facula

from ... import tv_tensors
from ...ops.boxes import box_iou
from .. import _picture as P
from .. import augment, random
from . import _boxes as B
from . import functional as F
from ._transform import PICTURES, Transform, WithP, check_p, fill_of, get_bounding_boxes, has_all, has_any, query_size

__all__ = [
    "CenterCrop", "ElasticTransform", "FiveCrop", "Pad", "RandomAffine", "RandomCrop", "RandomHorizontalFlip", "RandomIoUCrop",
    "RandomPerspective", "RandomResize", "RandomResizedCrop", "RandomRotation", "RandomShortestSize", "RandomVerticalFlip", "RandomZoomOut",
    "Resize", "ScaleJitter", "TenCrop",
]  # fmt: skip


def size_of(size) -> tuple[int, int]:
    """(height, width) of both, of one number, or of one in a sequence."""
    if not isinstance(size, (int, list, tuple)):
        raise TypeError(f"size should be a number or a sequence of one or two, got {type(size).__name__}. Give (h, w).")
    numbers = (size,) if isinstance(size, int) else tuple(size)
    if len(numbers) not in (1, 2):
        raise ValueError(f"Please provide only two dimensions (h, w) for size, got {size}.")
    return numbers * (2 // len(numbers))


class RandomHorizontalFlip(WithP, random.RandomHorizontalFlip):
    """Left and right exchanged with probability p.

    >>> facula.vision.transforms.v2.RandomHorizontalFlip(p=1.0)(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[2., 1.]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.horizontal_flip, inpt)


class RandomVerticalFlip(WithP, random.RandomVerticalFlip):
    """Top and bottom exchanged with probability p.

    >>> facula.vision.transforms.v2.RandomVerticalFlip(p=0.0)(facula.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 2.]]])
    """

    def transform(self, inpt, params):
        return self._call_kernel(F.vertical_flip, inpt)


class Resize(Transform):
    """`size`: (height, width), the length of the shorter edge, or None where max_size is that of the longer.

    >>> facula.vision.transforms.v2.Resize((2, 4))(facula.zeros(3, 8, 8)).shape
    torch.Size([3, 2, 4])
    """

    def __init__(self, size, interpolation="bilinear", max_size=None, antialias=True) -> None:
        super().__init__()
        if size is None and not isinstance(max_size, int):
            raise ValueError(f"max_size must be an integer when size is None, but got {max_size} instead.")
        if size is not None and not isinstance(size, int) and not (isinstance(size, (list, tuple)) and len(size) in (1, 2)):
            raise ValueError(f"size can be an integer, a sequence of one or two integers, or None, but got {size} instead.")
        self.size = [size] if isinstance(size, int) else size if size is None else list(size)
        self.interpolation, self.max_size, self.antialias = interpolation, max_size, antialias

    def transform(self, inpt, params):
        return self._call_kernel(F.resize, inpt, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(Transform):
    """The middle (height, width); what is smaller is surrounded by 0.

    >>> facula.vision.transforms.v2.CenterCrop(1)(facula.arange(9.0).view(1, 3, 3))
    tensor([[[4.]]])
    """

    def __init__(self, size) -> None:
        super().__init__()
        self.size = size_of(size)

    def transform(self, inpt, params):
        return self._call_kernel(F.center_crop, inpt, self.size)


class RandomResizedCrop(Transform, random.RandomResizedCrop):
    """A part of random area and ratio, resized to `size`.

    >>> facula.vision.transforms.v2.RandomResizedCrop(4)(facula.zeros(3, 8, 8)).shape
    torch.Size([3, 4, 4])
    """

    def make_params(self, flat_inputs):
        # of the size alone, which masks and boxes have as well
        canvas = facula.empty(1, *query_size(flat_inputs), device="meta")
        return dict(zip(("top", "left", "height", "width"), self.get_params(canvas, self.scale, self.ratio)))

    def transform(self, inpt, params):
        return self._call_kernel(F.resized_crop, inpt, **params, size=self.size, interpolation=self.interpolation, antialias=self.antialias)


class _Crops(Transform):
    def check_inputs(self, flat_inputs):
        if has_any(flat_inputs, tv_tensors.BoundingBoxes, tv_tensors.Mask):
            raise TypeError(f"BoundingBoxes'es and Mask's are not supported by {type(self).__name__}(). Crop them with the others by CenterCrop.")


class FiveCrop(_Crops):
    """The four corners and the middle, as a tuple.

    >>> [crop.item() for crop in facula.vision.transforms.v2.FiveCrop(1)(facula.arange(9.0).view(1, 3, 3))]
    [0.0, 2.0, 6.0, 8.0, 4.0]
    """

    def __init__(self, size) -> None:
        super().__init__()
        self.size = size_of(size)

    def transform(self, inpt, params):
        return self._call_kernel(F.five_crop, inpt, self.size)


class TenCrop(_Crops):
    """FiveCrop of the picture and of its mirror image (upside down, with vertical_flip).

    >>> len(facula.vision.transforms.v2.TenCrop(1)(facula.arange(9.0).view(1, 3, 3)))
    10
    """

    def __init__(self, size, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size, self.vertical_flip = size_of(size), vertical_flip

    def transform(self, inpt, params):
        return self._call_kernel(F.ten_crop, inpt, self.size, self.vertical_flip)


class Pad(Transform):
    """A border around: of fill (a number, one for each channel, or {type: either}), or made of the picture ("edge", "reflect", "symmetric").

    >>> facula.vision.transforms.v2.Pad([1, 0], fill=9)(facula.zeros(1, 1, 1))
    tensor([[[9., 0., 9.]]])
    """

    def __init__(self, padding, fill=0, padding_mode: str = "constant") -> None:
        super().__init__()
        P.edges(padding)
        if padding_mode not in P.PADDING_MODES:
            raise ValueError(f"Padding mode should be either constant, edge, reflect or symmetric, got {padding_mode!r}.")
        self.padding = padding if isinstance(padding, int) else list(padding)
        self.fill, self.padding_mode = fill, padding_mode

    def transform(self, inpt, params):
        return self._call_kernel(F.pad, inpt, self.padding, fill_of(self.fill, inpt), self.padding_mode)


class RandomZoomOut(WithP):
    """On a canvas 1 to side_range[1] times as large, at a random place, with probability p.

    Source: Liu et al., SSD: Single Shot MultiBox Detector (2016).

    >>> facula.vision.transforms.v2.RandomZoomOut(side_range=(2.0, 2.0), p=1.0)(facula.zeros(1, 3, 4)).shape
    torch.Size([1, 6, 8])
    """

    def __init__(self, fill=0, side_range=(1.0, 4.0), p: float = 0.5) -> None:
        Transform.__init__(self)
        check_p(p)
        self.p, self.fill, self.side_range = p, fill, side_range
        if side_range[0] < 1.0 or side_range[0] > side_range[1]:
            raise ValueError(f"Invalid side range provided {side_range}.")

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        times = self.side_range[0] + facula.rand(1) * (self.side_range[1] - self.side_range[0])
        canvas_width, canvas_height = int(width * times), int(height * times)
        place = facula.rand(2)
        left, top = int((canvas_width - width) * place[0]), int((canvas_height - height) * place[1])
        return {"padding": [left, top, canvas_width - left - width, canvas_height - top - height]}

    def transform(self, inpt, params):
        return self._call_kernel(F.pad, inpt, params["padding"], fill_of(self.fill, inpt))


class RandomRotation(Transform, augment.RandomRotation):
    """Turned by an angle in [-degrees, degrees], or in the range given as a pair.

    >>> facula.vision.transforms.v2.RandomRotation((90, 90))(facula.arange(4.0).view(1, 2, 2))
    tensor([[[1., 3.],
             [0., 2.]]])
    """

    def make_params(self, flat_inputs):
        return {"angle": self.get_params(self.degrees)}

    def transform(self, inpt, params):
        return self._call_kernel(F.rotate, inpt, params["angle"], self.interpolation, self.expand, self.center, fill_of(self.fill, inpt))


class RandomAffine(Transform, augment.RandomAffine):
    """Turned, moved by at most the share translate of the size, scaled and sheared, each by drawn amounts.

    >>> facula.vision.transforms.v2.RandomAffine(0, translate=(0.0, 0.0))(facula.arange(4.0).view(1, 2, 2))
    tensor([[[0., 1.],
             [2., 3.]]])
    """

    def make_params(self, flat_inputs):
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, query_size(flat_inputs)[::-1])
        return dict(zip(("angle", "translate", "scale", "shear"), drawn))

    def transform(self, inpt, params):
        return self._call_kernel(
            F.affine, inpt, **params, interpolation=self.interpolation, fill=fill_of(self.fill, inpt), center=self.center
        )


class RandomCrop(Transform):
    """A part of that size at a random place, of the padded picture. pad_if_needed: on both sides by what is missing.

    >>> facula.vision.transforms.v2.RandomCrop(2)(facula.zeros(1, 3, 3)).shape
    torch.Size([1, 2, 2])
    """

    def __init__(self, size, padding=None, pad_if_needed: bool = False, fill=0, padding_mode: str = "constant") -> None:
        super().__init__()
        self.size = size_of(size)
        self.padding = list(P.edges(padding)) if padding else None
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode

    def make_params(self, flat_inputs):
        padding, place = [*(self.padding or (0, 0, 0, 0))], [0, 0]
        have = query_size(flat_inputs)
        room = [have[k] + padding[1 - k] + padding[3 - k] for k in range(2)]
        for k in range(2):
            missing = self.size[k] - room[k]
            if self.pad_if_needed and missing > 0:
                padding[1 - k] += missing
                padding[3 - k] += missing
                room[k] += 2 * missing
        if room[0] < self.size[0] or room[1] < self.size[1]:
            named = "padded " if self.padding else ""
            raise ValueError(
                f"Required crop size {self.size} is larger than {named}input image size {tuple(room)}. Use padding, or pad_if_needed=True."
            )
        for k in range(2):
            if room[k] > self.size[k]:
                place[k] = int(facula.randint(0, room[k] - self.size[k] + 1, ()))
        return {"padding": padding, "crop": None if tuple(room) == self.size else (*place, *self.size)}

    def transform(self, inpt, params):
        if any(params["padding"]):
            inpt = self._call_kernel(F.pad, inpt, params["padding"], fill_of(self.fill, inpt), self.padding_mode)
        return inpt if params["crop"] is None else self._call_kernel(F.crop, inpt, *params["crop"])


class RandomPerspective(WithP, augment.RandomPerspective):
    """Seen from elsewhere with probability p: each corner moved by up to distortion_scale of half the picture.

    >>> facula.vision.transforms.v2.RandomPerspective(p=1.0)(facula.ones(1, 4, 6)).shape
    torch.Size([1, 4, 6])
    """

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        return dict(zip(("startpoints", "endpoints"), self.get_params(width, height, self.distortion_scale)))

    def transform(self, inpt, params):
        return self._call_kernel(F.perspective, inpt, **params, interpolation=self.interpolation, fill=fill_of(self.fill, inpt))


class ElasticTransform(Transform, augment.ElasticTransform):
    """Every pixel read alpha times a random direction away, directions smoothed by a Gaussian of sigma pixels.

    >>> facula.vision.transforms.v2.ElasticTransform(sigma=0.5)(facula.ones(1, 8, 8)).shape
    torch.Size([1, 8, 8])
    """

    def make_params(self, flat_inputs):
        return {"displacement": self.get_params(self.alpha, self.sigma, query_size(flat_inputs))}

    def transform(self, inpt, params):
        return self._call_kernel(F.elastic, inpt, params["displacement"], self.interpolation, fill_of(self.fill, inpt))


class RandomIoUCrop(Transform):
    """A part in which a box has at least a drawn overlap with it. Boxes whose middle is outside become 0: SanitizeBoundingBoxes drops them.

    Source: Liu et al., SSD: Single Shot MultiBox Detector (2016).

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 4, 4]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.RandomIoUCrop(sampler_options=[1.0])(facula.ones(1, 4, 4), boxes)[0].shape
    torch.Size([1, 4, 4])
    """

    def __init__(
        self, min_scale=0.3, max_scale=1.0, min_aspect_ratio=0.5, max_aspect_ratio=2.0, sampler_options=None, trials: int = 40
    ) -> None:
        super().__init__()
        self.min_scale, self.max_scale, self.trials = min_scale, max_scale, trials
        self.min_aspect_ratio, self.max_aspect_ratio = min_aspect_ratio, max_aspect_ratio
        self.options = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0] if sampler_options is None else sampler_options

    def check_inputs(self, flat_inputs):
        if not (has_all(flat_inputs, tv_tensors.BoundingBoxes) and has_any(flat_inputs, *PICTURES[:3])):
            raise TypeError(
                f"{type(self).__name__}() requires input sample to contain tensor or PIL images and bounding boxes. Sample can also contain masks."
            )

    def make_params(self, flat_inputs):
        size = query_size(flat_inputs)
        boxes = get_bounding_boxes(flat_inputs)
        corners = B.converted(B.plain(boxes), boxes.format, B.XYXY)
        while True:
            overlap = self.options[int(facula.randint(0, len(self.options), (1,)))]
            if overlap >= 1.0:  # the whole
                return {}
            for _ in range(self.trials):
                if found := self._part(size, corners, overlap):
                    return found

    def _part(self, size, corners, overlap: float) -> dict | None:
        share = self.min_scale + (self.max_scale - self.min_scale) * facula.rand(2)
        width, height = int(size[1] * share[0]), int(size[0] * share[1])
        if not self.min_aspect_ratio <= width / height <= self.max_aspect_ratio:
            return None
        place = facula.rand(2)
        left, top = int((size[1] - width) * place[0]), int((size[0] - height) * place[1])
        if not width or not height:
            return None
        x, y = (0.5 * (corners[:, k] + corners[:, k + 2]) for k in range(2))
        within = (left < x) & (x < left + width) & (top < y) & (y < top + height)
        if not within.any():
            return None
        part = facula.tensor([[left, top, left + width, top + height]], dtype=corners.dtype)
        if box_iou(corners[within], part).max() < overlap:
            return None
        return {"crop": (top, left, height, width), "within": within}

    def transform(self, inpt, params):
        if not params:
            return inpt
        out = self._call_kernel(F.crop, inpt, *params["crop"])
        if isinstance(out, tv_tensors.BoundingBoxes):
            out[~params["within"]] = 0
        return out


class _Resized(Transform):
    """Resized to params["size"]."""

    def _how(self, interpolation, antialias) -> None:
        self.interpolation, self.antialias = interpolation, antialias

    def transform(self, inpt, params):
        return self._call_kernel(F.resize, inpt, params["size"], self.interpolation, antialias=self.antialias)


class ScaleJitter(_Resized):
    """Resized to fit into target_size times a factor drawn from scale_range.

    Source: Ghiasi et al., Simple Copy-Paste is a Strong Data Augmentation Method for Instance Segmentation (2020).

    >>> facula.vision.transforms.v2.ScaleJitter((8, 8), scale_range=(1.0, 1.0))(facula.ones(1, 4, 4)).shape
    torch.Size([1, 8, 8])
    """

    def __init__(self, target_size, scale_range=(0.1, 2.0), interpolation="bilinear", antialias=True) -> None:
        super().__init__()
        self.target_size, self.scale_range = target_size, scale_range
        self._how(interpolation, antialias)

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        scale = self.scale_range[0] + facula.rand(1) * (self.scale_range[1] - self.scale_range[0])
        # the height against the second of target_size: torchvision's way
        r = min(self.target_size[1] / height, self.target_size[0] / width) * scale
        return {"size": (int(height * r), int(width * r))}


class RandomShortestSize(_Resized):
    """Resized so that the shorter edge is one of min_size, and the longer at most max_size.

    >>> facula.vision.transforms.v2.RandomShortestSize([8])(facula.ones(1, 4, 5)).shape
    torch.Size([1, 8, 10])
    """

    def __init__(self, min_size, max_size=None, interpolation="bilinear", antialias=True) -> None:
        super().__init__()
        self.min_size, self.max_size = [min_size] if isinstance(min_size, int) else list(min_size), max_size
        self._how(interpolation, antialias)

    def make_params(self, flat_inputs):
        height, width = query_size(flat_inputs)
        r = self.min_size[int(facula.randint(len(self.min_size), ()))] / min(height, width)
        if self.max_size is not None:
            r = min(r, self.max_size / max(height, width))
        return {"size": (int(height * r), int(width * r))}


class RandomResize(_Resized):
    """Resized so that the shorter edge is one of min_size ... max_size - 1.

    >>> facula.vision.transforms.v2.RandomResize(8, 9)(facula.ones(1, 4, 5)).shape
    torch.Size([1, 8, 10])
    """

    def __init__(self, min_size: int, max_size: int, interpolation="bilinear", antialias=True) -> None:
        super().__init__()
        self.min_size, self.max_size = min_size, max_size
        self._how(interpolation, antialias)

    def make_params(self, flat_inputs):
        return {"size": [int(facula.randint(self.min_size, self.max_size, ()))]}
