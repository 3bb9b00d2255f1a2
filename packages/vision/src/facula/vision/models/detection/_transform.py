"""Pictures of any size to one batch, and what is found there back to their sizes."""

from __future__ import annotations

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ._masks import paste_masks_in_image

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]  # ImageNet's


class ImageList:
    """A batch of pictures filled up to one size, with the size of each."""

    def __init__(self, tensors: Tensor, image_sizes: list[tuple[int, int]]) -> None:
        self.tensors, self.image_sizes = tensors, image_sizes


def _ratios(before, after) -> tuple[Tensor, Tensor]:
    """Of heights and of widths, in float32 as torchvision has them."""
    height, width = (facula.tensor(float(b)) / facula.tensor(float(a)) for a, b in zip(before, after))
    return height, width


def resize_boxes(boxes: Tensor, original_size, new_size) -> Tensor:
    height, width = _ratios(original_size, new_size)
    return boxes * facula.stack((width, height, width, height))


def resize_keypoints(keypoints: Tensor, original_size, new_size) -> Tensor:
    height, width = _ratios(original_size, new_size)
    return keypoints * facula.stack((width, height, facula.tensor(1.0)))


class GeneralizedRCNNTransform(nn.Module):
    """Normalised, resized so that the shorter side is min_size and the longer at most max_size, filled up to what size_divisible divides.

    min_size: some sizes, one of them drawn in training; fixed_size: (width, height) for all instead. _skip_resize: not in training.
    """

    def __init__(
        self, min_size, max_size: int, image_mean: list[float], image_std: list[float], size_divisible: int = 32,
        fixed_size: tuple[int, int] | None = None, _skip_resize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.min_size = min_size if isinstance(min_size, (list, tuple)) else (min_size,)
        self.max_size, self.image_mean, self.image_std = max_size, image_mean, image_std
        self.size_divisible, self.fixed_size, self._skip_resize = size_divisible, fixed_size, _skip_resize

    def forward(self, images: list[Tensor], targets: list[dict[str, Tensor]] | None = None) -> tuple[ImageList, list[dict[str, Tensor]] | None]:
        pairs = []
        for image, target in zip(images, [dict(t) for t in targets] if targets is not None else [None] * len(images)):
            if image.dim() != 3:
                raise ValueError(f"images is expected to be a list of 3d tensors of shape [C, H, W], got {tuple(image.shape)}")
            pairs.append(self.resize(self.normalize(image), target))
        images = [image for image, _ in pairs]
        sizes = [tuple(image.shape[-2:]) for image in images]
        return ImageList(self.batch_images(images), sizes), None if targets is None else [target for _, target in pairs]

    def normalize(self, image: Tensor) -> Tensor:
        if not image.is_floating_point():
            raise TypeError(f"Expected input images to be of floating type (in range [0, 1]), but found type {image.dtype} instead")
        mean, std = (facula.tensor(v, dtype=image.dtype)[:, None, None] for v in (self.image_mean, self.image_std))
        return (image - mean) / std

    def resize(self, image: Tensor, target: dict[str, Tensor] | None) -> tuple[Tensor, dict[str, Tensor] | None]:
        if self.training and self._skip_resize:
            return image, target
        side = self.min_size[-1]
        if self.training:
            side = self.min_size[int(facula.empty(1).uniform_(0.0, float(len(self.min_size))).item())]
        before = tuple(image.shape[-2:])
        if self.fixed_size is not None:
            how = {"size": self.fixed_size[::-1]}
        else:
            how = {"scale_factor": min(side / min(before), self.max_size / max(before)), "recompute_scale_factor": True}
        image = F.interpolate(image[None], mode="bilinear", align_corners=False, **how)[0]
        if target is None:
            return image, target
        after = tuple(image.shape[-2:])
        if "masks" in target:
            target["masks"] = F.interpolate(target["masks"][:, None].float(), **how)[:, 0].byte()
        target["boxes"] = resize_boxes(target["boxes"], before, after)
        if "keypoints" in target:
            target["keypoints"] = resize_keypoints(target["keypoints"], before, after)
        return image, target

    def batch_images(self, images: list[Tensor]) -> Tensor:
        height, width = (-(-max(image.shape[d] for image in images) // self.size_divisible) * self.size_divisible for d in (1, 2))
        return facula.stack([F.pad(image, (0, width - image.shape[2], 0, height - image.shape[1])) for image in images])

    def postprocess(self, result: list[dict[str, Tensor]], image_shapes, original_image_sizes) -> list[dict[str, Tensor]]:
        if not self.training:
            for found, now, before in zip(result, image_shapes, original_image_sizes):
                found["boxes"] = resize_boxes(found["boxes"], now, before)
                if "masks" in found:
                    found["masks"] = paste_masks_in_image(found["masks"], found["boxes"], before)
                if "keypoints" in found:
                    found["keypoints"] = resize_keypoints(found["keypoints"], now, before)
        return result

    def __repr__(self) -> str:
        lines = f"Normalize(mean={self.image_mean}, std={self.image_std})", f"Resize(min_size={self.min_size}, max_size={self.max_size}, mode='bilinear')"
        return "\n    ".join(["GeneralizedRCNNTransform(", *lines]) + "\n)"


def checked(images: list[Tensor], targets: list[dict[str, Tensor]] | None, training: bool) -> list[tuple[int, int]]:
    """The sizes of the pictures. Raises AssertionError in training for no targets and for boxes that are none."""
    if training:
        if targets is None:
            raise AssertionError("targets should not be none when in training mode")
        for target in targets:
            boxes = target["boxes"]
            if not isinstance(boxes, Tensor):
                raise AssertionError(f"Expected target boxes to be of type Tensor, got {type(boxes)}.")
            if boxes.dim() != 2 or boxes.shape[-1] != 4:
                raise AssertionError(f"Expected target boxes to be a tensor of shape [N, 4], got {tuple(boxes.shape)}.")
    for k, target in enumerate(targets or ()):
        flat = (target["boxes"][:, 2:] <= target["boxes"][:, :2]).any(dim=1)
        if flat.any():
            box = target["boxes"][flat][0].tolist()
            raise AssertionError(f"All bounding boxes should have positive height and width. Found invalid box {box} for target at index {k}.")
    return [tuple(image.shape[-2:]) for image in images]
