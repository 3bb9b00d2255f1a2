"""Transforms between types and dtypes, of boxes, and others that move nothing."""

from __future__ import annotations

import warnings

import facula
from facula.utils._pytree import tree_unflatten

from ... import tv_tensors
from .. import _picture as P
from .. import augment, fixed
from . import _boxes as B
from . import functional as F
from ._transform import Transform, flat, get_bounding_boxes, has_any, labels_getter_of

__all__ = [
    "ClampBoundingBoxes", "ConvertBoundingBoxFormat", "ConvertImageDtype", "GaussianBlur", "GaussianNoise", "Identity", "Lambda",
    "LinearTransformation", "Normalize", "PILToTensor", "SanitizeBoundingBoxes", "SetClampingMode", "ToDtype", "ToImage", "ToPILImage",
    "ToPureTensor", "ToTensor", "UniformTemporalSubsample",
]  # fmt: skip

_VALUES = (F.is_pure_tensor, tv_tensors.Image, tv_tensors.Video)


class _NoPIL(Transform):
    def check_inputs(self, flat_inputs):
        if has_any(flat_inputs, P.is_pil):
            raise TypeError(f"{type(self).__name__}() does not support PIL images. Put ToImage() before it.")


class Identity(Transform):
    """The sample itself.

    >>> facula.vision.transforms.v2.Identity()(3)
    3
    """

    def transform(self, inpt, params):
        return inpt


class Lambda(Transform):
    """Any function of one argument, of the parts of those types (all).

    >>> facula.vision.transforms.v2.Lambda(lambda x: 2 * x, int)({"a": 3, "b": 2.5})
    {'a': 6, 'b': 2.5}
    """

    _transformed_types = (object,)

    def __init__(self, lambd, *types: type) -> None:
        super().__init__()
        self.lambd, self.types = lambd, types or self._transformed_types

    def transform(self, inpt, params):
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self) -> str:
        return f"{getattr(self.lambd, '__name__', '')}, types={[t.__name__ for t in self.types]}"


class LinearTransformation(_NoPIL, augment.LinearTransformation):
    """(flat picture - mean_vector) @ transformation_matrix, in the picture's shape: whitening.

    >>> facula.vision.transforms.v2.LinearTransformation(2 * facula.eye(2), facula.ones(2))(facula.tensor([[[1.0, 3.0]]]))
    tensor([[[0., 4.]]])
    """

    _transformed_types = _VALUES

    def transform(self, inpt, params):
        n = inpt.shape[-3] * inpt.shape[-2] * inpt.shape[-1]
        if n != len(self.mean_vector):
            raise ValueError(f"Input tensor and transformation matrix have incompatible shape. {tuple(inpt.shape[-3:])} != {len(self.mean_vector)}")
        values = inpt.as_subclass(facula.Tensor)
        matrix = self.transformation_matrix.to((values.new_zeros(0) - self.mean_vector[:0]).dtype)
        out = ((values.reshape(-1, n) - self.mean_vector) @ matrix).reshape(values.shape)
        return out if F.is_pure_tensor(inpt) else tv_tensors.wrap(out, like=inpt)


class Normalize(_NoPIL):
    """(picture - mean) / std by channel.

    >>> facula.vision.transforms.v2.Normalize([0.5], [0.25])(facula.tensor([[[0.5, 1.0]]]))
    tensor([[[0., 2.]]])
    """

    def __init__(self, mean, std, inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std, self.inplace = list(mean), list(std), inplace

    def transform(self, inpt, params):
        return self._call_kernel(F.normalize, inpt, self.mean, self.std, self.inplace)


class GaussianBlur(Transform, augment.GaussianBlur):
    """Blurred with a sigma drawn from a range (or that number).

    >>> facula.vision.transforms.v2.GaussianBlur(3)(facula.ones(1, 4, 4)).mean().round(decimals=3)
    tensor(1.)
    """

    def make_params(self, flat_inputs):
        return {"sigma": [self.get_params(*self.sigma)] * 2}

    def transform(self, inpt, params):
        return self._call_kernel(F.gaussian_blur, inpt, self.kernel_size, params["sigma"])


class GaussianNoise(Transform):
    """With normal numbers added, in shares of white; clip: kept between black and white.

    >>> facula.vision.transforms.v2.GaussianNoise(sigma=0.0)(facula.ones(1, 2, 2)).sum()
    tensor(4.)
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def transform(self, inpt, params):
        return self._call_kernel(F.gaussian_noise, inpt, self.mean, self.sigma, self.clip)


class ToDtype(Transform):
    """Pictures and videos in another dtype; scale: from one's range to the other's, [0, 1] for floating ones.

    dtype: also {type: dtype or None for none, "others": either}, which reaches masks and boxes.

    >>> facula.vision.transforms.v2.ToDtype(facula.float32, scale=True)(facula.tensor([[[0, 255]]], dtype=facula.uint8))
    tensor([[[0., 1.]]])
    """

    _transformed_types = (facula.Tensor,)

    def __init__(self, dtype, scale: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, (dict, facula.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        if isinstance(dtype, dict) and facula.Tensor in dtype and (tv_tensors.Image in dtype or tv_tensors.Video in dtype):
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or `tv_tensors.Video`. Note that a plain `torch.Tensor` "
                "will *not* be transformed by this (or any other transformation) in case a `tv_tensors.Image` or `tv_tensors.Video` is "
                "present in the input."
            )
        self.dtype, self.scale = dtype, scale

    def transform(self, inpt, params):
        picture = any(t(inpt) if not isinstance(t, type) else isinstance(inpt, t) for t in _VALUES)
        if not isinstance(self.dtype, dict):
            return self._call_kernel(F.to_dtype, inpt, self.dtype, self.scale) if picture else inpt
        if type(inpt) not in self.dtype and "others" not in self.dtype:
            raise ValueError(
                f"No dtype was specified for type {type(inpt)}. If you only need to convert the dtype of images or videos, you can just pass "
                'e.g. dtype=torch.float32. If you\'re passing a dict as dtype, you can use "others" as a catch-all key.'
            )
        dtype = self.dtype[type(inpt)] if type(inpt) in self.dtype else self.dtype["others"]
        if dtype is None:
            if self.scale and picture:
                warnings.warn("scale was set to True but no dtype was specified for images or videos: no scaling will be done.")
            return inpt
        return self._call_kernel(F.to_dtype, inpt, dtype, self.scale)


class ConvertImageDtype(Transform):
    """ToDtype with scale.

    >>> facula.vision.transforms.v2.ConvertImageDtype()(facula.tensor([[[0, 255]]], dtype=facula.uint8))
    tensor([[[0., 1.]]])
    """

    def __init__(self, dtype=facula.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt, params):
        return self._call_kernel(F.to_dtype, inpt, self.dtype, True)


class PILToTensor(Transform):
    """PIL images to tensors (C, H, W) with the same numbers.

    >>> from PIL import Image
    >>> facula.vision.transforms.v2.PILToTensor()(Image.new("L", (2, 1), 7))
    tensor([[[7, 7]]], dtype=torch.uint8)
    """

    _transformed_types = (P.is_pil,)

    def transform(self, inpt, params):
        return F.pil_to_tensor(inpt)


class ToImage(Transform):
    """Tensors, arrays (H, W[, C]) and PIL images to tv_tensors.Image with the same numbers.

    >>> facula.vision.transforms.v2.ToImage()(facula.zeros(1, 1, 2))
    Image([[[0., 0.]]], )
    """

    _transformed_types = (F.is_pure_tensor, P.is_pil, P.is_array)

    def transform(self, inpt, params):
        return F.to_image(inpt)


class ToPILImage(Transform):
    """Tensors and arrays to PIL images.

    >>> from PIL import Image
    >>> isinstance(facula.vision.transforms.v2.ToPILImage()(facula.zeros(3, 2, 4)), Image.Image)
    True
    """

    _transformed_types = (F.is_pure_tensor, tv_tensors.Image, P.is_array)

    def transform(self, inpt, params):
        return F.to_pil_image(inpt.as_subclass(facula.Tensor) if isinstance(inpt, facula.Tensor) else inpt)


class ToTensor(Transform):
    """PIL images and arrays to tensors (C, H, W); uint8 is scaled to [0, 1]. torchvision's older way: ToImage and ToDtype are its newer.

    >>> import numpy
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     facula.vision.transforms.v2.ToTensor()(numpy.full((1, 2, 1), 255, numpy.uint8))
    tensor([[[1., 1.]]])
    """

    _transformed_types = (P.is_pil, P.is_array)

    def __init__(self) -> None:
        super().__init__()
        warnings.warn(
            "The transform `ToTensor()` is deprecated and will be removed in a future release. Instead, please use "
            "`v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])`."
        )

    def transform(self, inpt, params):
        return fixed.F.to_tensor(inpt)


class ToPureTensor(Transform):
    """tv_tensors to plain tensors over the same memory.

    >>> facula.vision.transforms.v2.ToPureTensor()(facula.vision.tv_tensors.Mask([[0, 1]]))
    tensor([[0, 1]])
    """

    _transformed_types = (tv_tensors.TVTensor,)

    def transform(self, inpt, params):
        return inpt.as_subclass(facula.Tensor)


class ConvertBoundingBoxFormat(Transform):
    """Boxes in another format.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[1, 1, 3, 4]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.ConvertBoundingBoxFormat("XYWH")(boxes).tolist()
    [[1, 1, 2, 3]]
    """

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, format) -> None:
        super().__init__()
        self.format = format

    def transform(self, inpt, params):
        return F.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Boxes with their corners on the canvas. clamping_mode: "auto" is the boxes' own.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[-1, 1, 3, 9]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.ClampBoundingBoxes()(boxes).tolist()
    [[0, 1, 3, 4]]
    """

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, clamping_mode="auto") -> None:
        super().__init__()
        self.clamping_mode = clamping_mode

    def transform(self, inpt, params):
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class SetClampingMode(Transform):
    """Boxes with another clamping_mode: "soft", "hard" or None.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[-1, 1, 3, 9]], format="XYXY", canvas_size=(4, 4))
    >>> print(facula.vision.transforms.v2.SetClampingMode(None)(boxes).clamping_mode)
    None
    """

    _transformed_types = (tv_tensors.BoundingBoxes,)

    def __init__(self, clamping_mode) -> None:
        super().__init__()
        if clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt, params):
        return tv_tensors.wrap(B.plain(inpt).clone(), like=inpt, clamping_mode=self.clamping_mode)


class SanitizeBoundingBoxes(Transform):
    """Without boxes smaller than min_size or min_area, or outside the canvas; without their labels and masks as well.

    labels_getter: the function that finds labels, a tensor or several, in the sample; None: there are none.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 3, 3], [2, 2, 2, 4]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.transforms.v2.SanitizeBoundingBoxes()({"boxes": boxes, "labels": facula.tensor([7, 8])})["labels"]
    tensor([7])
    """

    def __init__(self, min_size: float = 1.0, min_area: float = 1.0, labels_getter="default") -> None:
        super().__init__()
        if min_size < 1 or min_area < 1:
            raise ValueError(f"min_size and min_area must be >= 1, got {min_size} and {min_area}.")
        self.min_size, self.min_area, self.labels_getter = min_size, min_area, labels_getter
        self._labels_getter = labels_getter_of(labels_getter)

    def forward(self, *inputs):
        labels = self._labels_getter(inputs if len(inputs) > 1 else inputs[0])
        labels = () if labels is None else (labels,) if isinstance(labels, facula.Tensor) else labels
        wrong = [x for x in labels if not isinstance(x, facula.Tensor)] if isinstance(labels, (tuple, list)) else [labels]
        if wrong:
            raise ValueError(f"The labels in the input to forward() must be a tensor or None, got {type(wrong[0])} instead.")
        leaves, spec = flat(inputs)
        boxes = get_bounding_boxes(leaves)
        for label in labels:
            if len(label) != len(boxes):
                raise ValueError(f"Number of boxes (shape={tuple(boxes.shape)}) must match the number of labels. Found labels with shape={tuple(label.shape)}.")
        valid = B.valid_boxes(boxes, boxes.format, boxes.canvas_size, self.min_size, self.min_area)
        return tree_unflatten([self.transform(x, {"valid": valid, "labels": labels}) for x in leaves], spec)

    def transform(self, inpt, params):
        label = any(inpt is x for x in params["labels"])
        of_boxes = isinstance(inpt, tv_tensors.BoundingBoxes) or (isinstance(inpt, tv_tensors.Mask) and len(inpt) == len(params["valid"]))
        if not (label or of_boxes):
            return inpt
        kept = inpt[params["valid"]]
        return kept if label else tv_tensors.wrap(kept, like=inpt)


class UniformTemporalSubsample(Transform):
    """That many frames of videos (..., T, C, H, W), evenly spaced.

    >>> facula.vision.transforms.v2.UniformTemporalSubsample(2)(facula.zeros(5, 3, 2, 2)).shape
    torch.Size([2, 3, 2, 2])
    """

    _transformed_types = (facula.Tensor,)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples

    def transform(self, inpt, params):
        return self._call_kernel(F.uniform_temporal_subsample, inpt, self.num_samples)
