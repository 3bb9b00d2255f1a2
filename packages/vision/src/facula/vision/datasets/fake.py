"""Pictures of noise, to try programs with."""

from __future__ import annotations

import facula

from ..transforms import functional as F
from .vision import VisionDataset

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """size samples of normal noise (C, H, W) with random classes; the same sample at every visit.

    A sample is a PIL image where Pillow is installed (as in torchvision), else an array (H, W, C) of uint8.

    >>> data = facula.vision.datasets.FakeData(size=5, image_size=(3, 8, 8))
    >>> len(data), data[0][1] in range(10)
    (5, True)
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform=None,
        target_transform=None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(None, transform=transform, target_transform=target_transform)
        self.size, self.image_size, self.num_classes, self.random_offset = size, image_size, num_classes, random_offset

    def __getitem__(self, index: int):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = facula.get_rng_state()
        facula.manual_seed(index + self.random_offset)
        noise = facula.randn(*self.image_size)
        target = facula.randint(0, self.num_classes, size=(1,), dtype=facula.int64)[0]
        facula.set_rng_state(state)
        try:
            picture = F.to_pil_image(noise)
        except ImportError:
            picture = noise.mul(255).to(facula.uint8).permute(1, 2, 0).contiguous().numpy()
        return self._transformed(picture, target.item())

    def __len__(self) -> int:
        return self.size
