"""Pictures in folders, one folder per class."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .vision import VisionDataset

__all__ = ["IMG_EXTENSIONS", "DatasetFolder", "ImageFolder", "default_loader"]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def default_loader(path: str):
    """The picture at `path` in RGB, as a PIL image.

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("L", (6, 4)).save(folder + "/a.png")
    ...     print(facula.vision.datasets.folder.default_loader(folder + "/a.png").mode)
    RGB
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "ImageFolder reads pictures with Pillow, which is not installed: pip install facula-vision[pillow]"
        ) from error
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")


class DatasetFolder(VisionDataset):
    """Samples `root/<class>/**/<file>`: (loader(path), number of the class), classes in the order of their names.

    >>> import os, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = os.mkdir(folder + "/cats"), pathlib.Path(folder, "cats", "a.txt").write_text("meow")
    ...     print(facula.vision.datasets.DatasetFolder(folder, lambda path: open(path).read(), (".txt",))[0])
    ('meow', 0)
    """

    def __init__(
        self,
        root,
        loader: Callable[[str], Any],
        extensions: tuple[str, ...] | None = None,
        transform=None,
        target_transform=None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(os.path.expanduser(root), transform=transform, target_transform=target_transform)
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(
                f"{type(self).__name__}: Both extensions and is_valid_file cannot be None or not None at the same time "
                f"(got {extensions} and {is_valid_file}). Give one of them."
            )
        self.loader = loader
        self.extensions = extensions
        valid = is_valid_file or (lambda path: path.lower().endswith(tuple(extensions)))
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = [
            (path, number) for name, number in self.class_to_idx.items() for path in self._files(name) if valid(path)
        ]
        self.targets = [number for _, number in self.samples]
        empty = sorted(set(self.class_to_idx.values()) - set(self.targets))
        if empty and not allow_empty:
            names = ", ".join(self.classes[number] for number in empty)
            raise FileNotFoundError(
                f"{type(self).__name__}: Found no valid file for the classes {names} in {self.root} (extensions: "
                f"{extensions}). Remove those folders, or pass allow_empty=True."
            )

    def find_classes(self, directory: str) -> tuple[list[str], dict[str, int]]:
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(
                f"{type(self).__name__}: Couldn't find any class folder in {directory}. Make one folder per class."
            )
        return classes, {name: number for number, name in enumerate(classes)}

    def _files(self, name: str):
        for folder, _, files in sorted(os.walk(os.path.join(self.root, name), followlinks=True)):
            for file in sorted(files):
                yield os.path.join(folder, file)

    def __getitem__(self, index: int):
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Pictures `root/<class>/**/<picture>`, read with Pillow.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(folder + "/cats")
    ...     facula.vision.utils.save_image(facula.zeros(3, 4, 4), folder + "/cats/a.png")
    ...     print(facula.vision.datasets.ImageFolder(folder).classes)
    ['cats']
    """

    def __init__(
        self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None, allow_empty=False
    ) -> None:
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file, allow_empty)
        self.imgs = self.samples
