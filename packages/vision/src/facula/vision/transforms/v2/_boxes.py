"""What transforms do to bounding boxes: each function takes BoundingBoxes and the arguments of its namesake in `functional`."""

from __future__ import annotations

import facula

from ... import tv_tensors
from ...tv_tensors import BoundingBoxFormat, format_of
from .. import geometry
from .._picture import edges, target_size

XYXY, XYWH, CXCYWH = BoundingBoxFormat


def plain(boxes):
    return boxes.as_subclass(facula.Tensor)


def converted(boxes, old: BoundingBoxFormat, new: BoundingBoxFormat):
    """A plain tensor of boxes in another format. Centres of integer boxes are rounded down, corners toward zero."""
    if old is new:
        return boxes
    if old is XYWH and new is CXCYWH:
        return facula.cat([boxes[..., :2] + _half(boxes[..., 2:]), boxes[..., 2:]], -1)
    a, b = boxes[..., :2], boxes[..., 2:]
    if old is XYWH:
        b = a + b
    elif old is CXCYWH:
        corner = a - b / 2
        a, b = corner.to(boxes.dtype), (corner + b).to(boxes.dtype)
    if new is XYWH:
        b = b - a
    elif new is CXCYWH:
        b = b - a
        a = _half(a * 2 + b)
    return facula.cat([a, b], -1)


def _half(x):
    return x / 2 if x.is_floating_point() else facula.div(x, 2, rounding_mode="floor")


def clamped(boxes, format: BoundingBoxFormat, canvas_size, mode):
    """A plain tensor of boxes with its corners on the canvas; as it is where mode is None."""
    if mode is None:
        return boxes.clone()
    corners = converted(boxes if boxes.is_floating_point() else boxes.to(facula.float32), format, XYXY)
    height, width = canvas_size
    corners = facula.stack([corners[..., k].clamp(0, (width, height)[k % 2]) for k in range(4)], -1)
    return converted(corners, XYXY, format).to(boxes.dtype)


def _wrapped(values, boxes, canvas_size=None):
    """Boxes of these values, clamped to the canvas."""
    size = boxes.canvas_size if canvas_size is None else tuple(canvas_size)
    return tv_tensors.wrap(clamped(values, boxes.format, size, boxes.clamping_mode), like=boxes, canvas_size=size)


def flip(boxes, axis: int):
    """axis: 0 for left and right, 1 for top and bottom. Not clamped: what was on the canvas stays there."""
    values, end = plain(boxes).clone(), boxes.canvas_size[1 - axis]
    if boxes.format is XYXY:
        values[:, axis], values[:, axis + 2] = end - values[:, axis + 2], end - values[:, axis].clone()
    else:
        size = values[:, axis + 2] if boxes.format is XYWH else 0
        values[:, axis] = end - (values[:, axis] + size)
    return tv_tensors.wrap(values, like=boxes)


def horizontal_flip(boxes):
    return flip(boxes, 0)


def vertical_flip(boxes):
    return flip(boxes, 1)


def resize(boxes, size, interpolation=None, max_size=None, antialias=None):
    old = tuple(boxes.canvas_size)
    height, width = new = target_size(old, size, max_size)
    ratios = facula.tensor([width / old[1], height / old[0]] * 2)
    values = plain(boxes) if new == old else plain(boxes).mul(ratios).to(boxes.dtype)
    return tv_tensors.wrap(values, like=boxes, canvas_size=new)


def _moved(boxes, x: int, y: int, canvas_size):
    corners = [x, y, x, y] if boxes.format is XYXY else [x, y, 0, 0]
    return _wrapped(plain(boxes) + facula.tensor(corners, dtype=boxes.dtype), boxes, canvas_size)


def crop(boxes, top: int, left: int, height: int, width: int):
    return _moved(boxes, -left, -top, (height, width))


def center_crop(boxes, output_size):
    height, width = (output_size,) * 2 if isinstance(output_size, int) else (*output_size, output_size[0])[:2]
    have_height, have_width = boxes.canvas_size
    return crop(boxes, round((have_height - height) / 2), round((have_width - width) / 2), height, width)


def resized_crop(boxes, top, left, height, width, size, interpolation=None, antialias=None):
    return resize(crop(boxes, top, left, height, width), size)


def pad(boxes, padding, fill=None, padding_mode: str = "constant"):
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes. Use 'constant'.")
    left, top, right, bottom = edges(padding)
    height, width = boxes.canvas_size
    return _moved(boxes, left, top, (height + top + bottom, width + left + right))


def _through(boxes, move, canvas_size=None):
    """The boxes around what `move` makes of their corners, a floating tensor (N, 2) of (x, y)."""
    if not boxes.numel():
        return tv_tensors.wrap(plain(boxes), like=boxes, canvas_size=canvas_size or boxes.canvas_size)
    values = plain(boxes)
    values = values if values.is_floating_point() else values.to(facula.float32)
    corners = converted(values, boxes.format, XYXY)[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    moved = move(corners).reshape(-1, 4, 2)
    around = facula.cat([moved.amin(1), moved.amax(1)], 1)
    size = boxes.canvas_size if canvas_size is None else canvas_size
    around = converted(clamped(around, XYXY, size, boxes.clamping_mode), XYXY, boxes.format)
    return tv_tensors.wrap(around.to(boxes.dtype), like=boxes, canvas_size=size)


def affine(boxes, angle, translate, scale, shear, interpolation=None, fill=None, center=None):
    return _affine(boxes, geometry.shears(shear), angle, translate, scale, center)


def rotate(boxes, angle, interpolation=None, expand=False, center=None, fill=None):
    return _affine(boxes, (0.0, 0.0), -angle, (0.0, 0.0), 1.0, center, expand)


def _affine(boxes, shear, angle, translate, scale, center, expand=False):
    height, width = size = tuple(boxes.canvas_size)
    center = (width * 0.5, height * 0.5) if center is None else center
    back = facula.tensor([*geometry.matrix(center, angle, translate, scale, shear), 0.0, 0.0, 1.0], dtype=facula.float64).reshape(3, 3)
    forth = facula.linalg.inv(back)[:2]
    low = 0.0
    if expand:
        points = facula.tensor([[0.0, 0.0], [0.0, height], [width, height], [width, 0.0]], dtype=facula.float64)
        low = (points @ forth[:, :2].T + forth[:, 2]).amin(0)
        size = geometry.whole(back[:2].flatten().tolist(), width, height)[::-1]
    return _through(boxes, lambda p: (p.to(forth.dtype) @ forth[:, :2].T + forth[:, 2] - low).to(p.dtype), size)


def perspective(boxes, startpoints, endpoints, interpolation=None, fill=None, coefficients=None):
    c = geometry.coefficients_of(startpoints, endpoints, coefficients)
    if c[0] * c[4] == c[1] * c[3]:
        raise RuntimeError(f"Provided perspective_coeffs {c} can not be inverted to transform bounding boxes. Denominator is zero.")
    forth = facula.linalg.inv(facula.tensor([*c, 1.0], dtype=facula.float64).reshape(3, 3))

    def move(p):
        places = p.to(forth.dtype) @ forth[:, :2].T + forth[:, 2]
        return (places[:, :2] / places[:, 2:]).to(p.dtype)

    return _through(boxes, move)


def elastic(boxes, displacement, interpolation=None, fill=None):
    """The way back is not known; a corner goes by the displacement that is read at it, the other way."""
    size = tuple(boxes.canvas_size)
    geometry.check_displacement(displacement, size)

    def move(p):
        grid = geometry.places(size, p.dtype) - displacement.to(p.dtype)
        p = p.ceil() if boxes.is_floating_point() else p
        x, y = (p[:, k].to(facula.int64).clamp(0, size[1 - k] - 1) for k in range(2))
        return (grid[0, y, x] + 1) * (0.5 * facula.tensor(size[::-1], dtype=p.dtype)) - 0.5

    return _through(boxes, move)


def clamp_bounding_boxes(inpt, format=None, canvas_size=None, clamping_mode="auto"):
    """Boxes with their corners on the canvas; of plain tensors (N, 4) too, with all the arguments.

    >>> clamp = facula.vision.transforms.v2.functional.clamp_bounding_boxes
    >>> clamp(facula.tensor([[-1, 2, 5, 9]]), "XYXY", (8, 4), "soft")
    tensor([[0, 2, 4, 8]])
    """
    if clamping_mode not in (None, "soft", "hard", "auto"):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if isinstance(inpt, tv_tensors.BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
        mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
        return tv_tensors.wrap(clamped(plain(inpt), inpt.format, inpt.canvas_size, mode), like=inpt)
    _check_plain("clamp_bounding_boxes", inpt)
    if format is None or canvas_size is None or clamping_mode == "auto":
        raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
    return clamped(inpt, format_of(format), canvas_size, clamping_mode)


def _check_plain(name: str, inpt) -> None:
    if not isinstance(inpt, facula.Tensor) or isinstance(inpt, tv_tensors.TVTensor):
        raise TypeError(f"{name}: Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead.")


def convert_bounding_box_format(inpt, old_format=None, new_format=None, inplace: bool = False):
    """Boxes in another format; of plain tensors (N, 4) too, with old_format.

    >>> convert = facula.vision.transforms.v2.functional.convert_bounding_box_format
    >>> convert(facula.tensor([[1.0, 2.0, 5.0, 8.0]]), "XYXY", "CXCYWH")
    tensor([[3., 5., 4., 6.]])
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = format_of(new_format)
    ours = isinstance(inpt, tv_tensors.BoundingBoxes)
    if ours and old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    if not ours:
        _check_plain("convert_bounding_box_format", inpt)
        if old_format is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
    old = inpt.format if ours else format_of(old_format)
    values = plain(inpt)
    made = converted(values, old, new)
    if inplace:
        made = values.copy_(made)
    return tv_tensors.wrap(made, like=inpt, format=new) if ours else made


def valid_boxes(boxes, format, canvas_size, min_size: float = 1.0, min_area: float = 1.0):
    corners = converted(plain(boxes), format_of(format), XYXY)
    width, height = (corners[:, 2:] - corners[:, :2]).unbind(1)
    on = (corners >= 0).all(1) & (corners[:, 0::2] <= canvas_size[1]).all(1) & (corners[:, 1::2] <= canvas_size[0]).all(1)
    return (width >= min_size) & (height >= min_size) & (width * height >= min_area) & on


def sanitize_bounding_boxes(bounding_boxes, format=None, canvas_size=None, min_size: float = 1.0, min_area: float = 1.0):
    """(the boxes that are large enough and on the canvas, which they are); of plain tensors (N, 4) too, with format and canvas_size.

    >>> sanitize = facula.vision.transforms.v2.functional.sanitize_bounding_boxes
    >>> sanitize(facula.tensor([[0, 0, 3, 3], [2, 2, 2, 4]]), "XYXY", (4, 4))
    (tensor([[0, 0, 3, 3]]), tensor([ True, False]))
    """
    if isinstance(bounding_boxes, tv_tensors.BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError(
                "format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes instance. "
                f"Got format={format} and canvas_size={canvas_size}. Leave those to None or pass a pure tensor."
            )
        valid = valid_boxes(bounding_boxes, bounding_boxes.format, bounding_boxes.canvas_size, min_size, min_area)
        return tv_tensors.wrap(plain(bounding_boxes)[valid], like=bounding_boxes), valid
    if isinstance(bounding_boxes, tv_tensors.TVTensor):
        raise ValueError("bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor.")
    if format is None or canvas_size is None:
        raise ValueError(
            f"format and canvas_size cannot be None if bounding_boxes is a pure tensor. Got format={format} and canvas_size={canvas_size}."
        )
    valid = valid_boxes(bounding_boxes, format, canvas_size, min_size, min_area)
    return bounding_boxes[valid], valid
