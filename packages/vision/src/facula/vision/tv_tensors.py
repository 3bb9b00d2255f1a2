"""Tensors that know what they are: pictures, videos, masks, bounding boxes. `transforms.v2` treats each in its own way.

Operations on them give plain tensors, but for clone, to, detach, requires_grad_ and pin_memory, until `set_return_type("TVTensor")`.
"""

from __future__ import annotations

import enum

import facula
from facula.overrides import DisableTorchFunctionSubclass
from facula.utils._pytree import tree_leaves

__all__ = ["BoundingBoxFormat", "BoundingBoxes", "Image", "Mask", "TVTensor", "Video", "set_return_type", "wrap"]

_KEPT = {"clone", "to", "detach", "requires_grad_", "pin_memory"}  # methods whose results stay what they were
_returned = {"subclass": False}


class TVTensor(facula.Tensor):
    """What the kinds have in common; base of a program's own kinds.

    >>> facula.vision.tv_tensors.Mask([[0, 1]]).clone()
    Mask([[0, 1]])
    """

    @staticmethod
    def _tensor(data, dtype=None, device=None, requires_grad=None) -> facula.Tensor:
        if requires_grad is None:
            requires_grad = isinstance(data, facula.Tensor) and data.requires_grad
        made = facula.as_tensor(data, dtype=dtype, device=device)
        return made.as_subclass(facula.Tensor).requires_grad_(requires_grad)

    @classmethod
    def wrap(cls, tensor, like, **kwargs):
        """The tensor as one of this class, with what `like` knows beside its numbers."""
        return tensor.as_subclass(cls)

    @classmethod
    def _rewrapped(cls, output, like):
        if isinstance(output, facula.Tensor):
            return output if isinstance(output, cls) else cls._seen(output, like)
        if isinstance(output, (tuple, list)):
            return type(output)(cls._rewrapped(part, like) for part in output)
        return output

    @classmethod
    def _seen(cls, output, like):
        """The result of an operation on `like`, of whatever shape."""
        return output.as_subclass(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            output = func(*args, **(kwargs or {}))
        keep = _returned["subclass"] or (getattr(func, "__name__", None) in _KEPT and isinstance(args[0], cls))
        if keep:
            return cls._rewrapped(output, next(a for a in tree_leaves((args, kwargs or {})) if isinstance(a, cls)))
        return output.as_subclass(facula.Tensor) if isinstance(output, cls) else output

    def _shown(self, more: str = "") -> str:
        return f"{super().__repr__()[:-1]}, {more})"

    def __deepcopy__(self, memo):
        return self.detach().clone().requires_grad_(self.requires_grad)


def _picture(cls, data, options):
    from .transforms._picture import is_pil

    if is_pil(data):
        from .transforms.functional import pil_to_tensor

        data = pil_to_tensor(data)
    return cls._tensor(data, **options)


class Image(TVTensor):
    """A picture (..., C, H, W); of two dims, of one channel. data: also a PIL image.

    >>> facula.vision.tv_tensors.Image(facula.zeros(2, 4)).shape
    torch.Size([1, 2, 4])
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        tensor = _picture(cls, data, {"dtype": dtype, "device": device, "requires_grad": requires_grad})
        if tensor.dim() < 2:
            raise ValueError(f"Image: Tensor must be 2D or higher, got {tensor.dim()}D tensor. Give (..., C, H, W).")
        return (tensor.unsqueeze(0) if tensor.dim() == 2 else tensor).as_subclass(cls)

    def __repr__(self, *, tensor_contents=None) -> str:
        return self._shown()


class Video(TVTensor):
    """Frames (..., T, C, H, W).

    >>> facula.vision.tv_tensors.Video(facula.zeros(5, 3, 2, 4)).shape
    torch.Size([5, 3, 2, 4])
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        tensor = cls._tensor(data, dtype, device, requires_grad)
        if tensor.dim() < 4:
            raise ValueError(f"Video: Tensor must be 4D or higher, got {tensor.dim()}D tensor. Give (..., T, C, H, W).")
        return tensor.as_subclass(cls)

    def __repr__(self, *, tensor_contents=None) -> str:
        return self._shown()


class Mask(TVTensor):
    """Which pixels belong to what, (..., H, W). data: also a PIL image.

    >>> facula.vision.tv_tensors.Mask(facula.tensor([[0, 1]]))
    Mask([[0, 1]])
    """

    def __new__(cls, data, *, dtype=None, device=None, requires_grad=None):
        return _picture(cls, data, {"dtype": dtype, "device": device, "requires_grad": requires_grad}).as_subclass(cls)


class BoundingBoxFormat(enum.Enum):
    """What the four numbers of a box are: corners, corner and size, centre and size.

    >>> facula.vision.tv_tensors.BoundingBoxFormat("XYWH").name
    'XYWH'
    """

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"


def format_of(name) -> BoundingBoxFormat:
    return BoundingBoxFormat[name.upper()] if isinstance(name, str) else name


class BoundingBoxes(TVTensor):
    """Boxes (N, 4) on a canvas of canvas_size (height, width). clamping_mode: "soft" or "hard", clamped by transforms; None: not.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=(4, 4))
    >>> boxes.format.name, boxes.canvas_size, boxes.clone().clamping_mode
    ('XYXY', (4, 4), 'soft')
    """

    def __new__(cls, data, *, format, canvas_size, clamping_mode="soft", dtype=None, device=None, requires_grad=None):
        return cls._made(cls._tensor(data, dtype, device, requires_grad), format, canvas_size, clamping_mode)

    @classmethod
    def _made(cls, tensor, format, canvas_size, clamping_mode):
        if tensor.dim() == 1:
            tensor = tensor.unsqueeze(0)
        elif tensor.dim() != 2:
            raise ValueError(f"BoundingBoxes: Expected a 1D or 2D tensor, got {tensor.dim()}D. Give (N, 4).")
        if clamping_mode not in (None, "hard", "soft"):
            raise ValueError(f"clamping_mode must be None, hard or soft, got {clamping_mode}.")
        return cls._with(tensor, format_of(format), canvas_size, clamping_mode)

    @classmethod
    def _with(cls, tensor, format, canvas_size, clamping_mode):
        boxes = tensor.as_subclass(cls)
        boxes.format, boxes.canvas_size, boxes.clamping_mode = format, canvas_size, clamping_mode
        return boxes

    @classmethod
    def wrap(cls, tensor, like, **kwargs):
        known = {name: kwargs.get(name, getattr(like, name)) for name in ("format", "canvas_size", "clamping_mode")}
        return cls._made(tensor, **known)

    @classmethod
    def _seen(cls, output, like):
        return cls._with(output, like.format, like.canvas_size, like.clamping_mode)

    def __repr__(self, *, tensor_contents=None) -> str:
        return self._shown(f"format={self.format}, canvas_size={self.canvas_size}, clamping_mode={self.clamping_mode}")


def wrap(wrappee, *, like, **kwargs):
    """The tensor as one of the class of `like`, with its format and canvas, but for those given.

    >>> boxes = facula.vision.tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=(4, 4))
    >>> facula.vision.tv_tensors.wrap(boxes + 1, like=boxes, canvas_size=(9, 9)).canvas_size
    (9, 9)
    """
    made = getattr(type(like), "wrap", None)
    return wrappee.as_subclass(type(like)) if made is None else made(wrappee, like, **kwargs)


class _Restored:
    def __init__(self, before: bool) -> None:
        self.before = before

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        _returned["subclass"] = self.before


def set_return_type(return_type: str):
    """What operations give: "Tensor" or "TVTensor". From now on, or in a `with`.

    >>> mask = facula.vision.tv_tensors.Mask([[0, 1]])
    >>> with facula.vision.tv_tensors.set_return_type("TVTensor"):
    ...     print(mask + 1)
    Mask([[1, 2]])
    >>> mask + 1
    tensor([[1, 2]])
    """
    kinds = {"tensor": False, "tvtensor": True}
    if return_type.lower() not in kinds:
        raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type}")
    before, _returned["subclass"] = _returned["subclass"], kinds[return_type.lower()]
    return _Restored(before)
