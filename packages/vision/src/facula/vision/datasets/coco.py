"""COCO: pictures with what its JSON files say of them. Source: Lin et al., Microsoft COCO: Common Objects in Context (2014)."""

from __future__ import annotations

import json
import os

from .folder import default_loader
from .vision import VisionDataset

__all__ = ["CocoCaptions", "CocoDetection"]


class CocoDetection(VisionDataset):
    """Pictures of root in the order of their numbers, each with the list of its annotations in annFile, as they are there.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     told = '{"images": [{"id": 3, "file_name": "a.png"}], "annotations": []}'
    ...     _ = pathlib.Path(folder, "a.json").write_text(told)
    ...     facula.vision.datasets.CocoDetection(folder, folder + "/a.json").ids
    [3]
    """

    def __init__(self, root, annFile: str, transform=None, target_transform=None, transforms=None) -> None:
        super().__init__(root, transforms, transform, target_transform)
        with open(annFile) as file:
            told = json.load(file)
        self._files = {image["id"]: image["file_name"] for image in told["images"]}
        self._told: dict[int, list[dict]] = {}
        for annotation in told.get("annotations", ()):
            self._told.setdefault(annotation["image_id"], []).append(annotation)
        self.ids = sorted(self._files)

    def _load_image(self, id: int):
        return default_loader(os.path.join(self.root, self._files[id]))

    def _load_target(self, id: int) -> list:
        return self._told.get(id, [])

    def __getitem__(self, index: int):
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        return self._transformed(self._load_image(self.ids[index]), self._load_target(self.ids[index]))

    def __len__(self) -> int:
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """Pictures of root in the order of their numbers, each with the list of its captions in annFile.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.json").write_text('{"images": [{"id": 3, "file_name": "a.png"}], "annotations": []}')
    ...     len(facula.vision.datasets.CocoCaptions(folder, folder + "/a.json"))
    1
    """

    def _load_target(self, id: int) -> list[str]:
        return [annotation["caption"] for annotation in super()._load_target(id)]
