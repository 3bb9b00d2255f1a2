"""Pascal VOC: pictures with boxes, or with a class for every pixel. Source: Everingham et al., The Pascal Visual Object Classes Challenge (2010)."""

from __future__ import annotations

import os
from xml.etree import ElementTree

from .folder import default_loader
from .utils import download_and_extract_archive, verify_str_arg
from .vision import VisionDataset

__all__ = ["VOCDetection", "VOCSegmentation"]

_PLACE = "https://thor.robots.ox.ac.uk/pascal/VOC"
# year: file, where it is unpacked to under VOCdevkit's parent, its MD5
_YEARS = {
    "2012": ("voc2012/VOCtrainval_11-May-2012.tar", "", "6cd6e144f989b92b3379bac3b3de84fd"),
    "2011": ("voc2011/VOCtrainval_25-May-2011.tar", "TrainVal", "6c3384ef61512963050cb5d687e5bf1e"),
    "2010": ("voc2010/VOCtrainval_03-May-2010.tar", "", "da459979d0c395079b5c75ee67908abb"),
    "2009": ("voc2009/VOCtrainval_11-May-2009.tar", "", "a3e00b113cfcfebf17e343f59da3caa1"),
    "2008": ("voc2008/VOCtrainval_14-Jul-2008.tar", "", "2629fa636546599198acfcfbfcf1904a"),
    "2007": ("voc2007/VOCtrainval_06-Nov-2007.tar", "", "c52e279531787c972589f7e41ab4ae64"),
    "2007-test": ("voc2007/VOCtest_06-Nov-2007.tar", "", "b6e924de25625d8de591ea690078ad9f"),
}


class _VOC(VisionDataset):
    _splits: str
    _folder: str
    _suffix: str

    def __init__(
        self, root, year: str = "2012", image_set: str = "train", download: bool = False, transform=None, target_transform=None, transforms=None
    ) -> None:
        super().__init__(os.path.expanduser(root), transforms, transform, target_transform)
        self.year = verify_str_arg(year, "year", [str(y) for y in range(2007, 2013)])
        test = ["test"] if year == "2007" else []
        self.image_set = verify_str_arg(image_set, "image_set", ["train", "trainval", "val", *test])
        path, under, md5 = _YEARS["2007-test" if image_set == "test" else year]
        if download:
            download_and_extract_archive(f"{_PLACE}/{path}", self.root, md5=md5)
        home = os.path.join(self.root, under, "VOCdevkit", f"VOC{year}")
        if not os.path.isdir(home):
            raise RuntimeError(f"{type(self).__name__}: Dataset not found or corrupted: {home} is no folder. You can use download=True to download it.")
        with open(os.path.join(home, "ImageSets", self._splits, f"{image_set}.txt")) as file:
            names = [line.strip() for line in file if line.strip()]
        self.images = [os.path.join(home, "JPEGImages", f"{name}.jpg") for name in names]
        self.targets = [os.path.join(home, self._folder, f"{name}{self._suffix}") for name in names]

    def __len__(self) -> int:
        return len(self.images)


class VOCSegmentation(_VOC):
    """Pairs of pictures: root/VOCdevkit/VOC<year>/JPEGImages/<name>.jpg and SegmentationClass/<name>.png, whose values are classes, 255 for none.

    year: "2007" to "2012"; image_set: "train", "val", "trainval", of 2007 also "test". download: fetches and unpacks the archive first.

    >>> try:
    ...     facula.vision.datasets.VOCSegmentation("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    _splits, _folder, _suffix = "Segmentation", "SegmentationClass", ".png"

    @property
    def masks(self) -> list[str]:
        return self.targets

    def __getitem__(self, index: int):
        from PIL import Image

        with open(self.masks[index], "rb") as file:
            mask = Image.open(file)
            mask.load()
        return self._transformed(default_loader(self.images[index]), mask)


class VOCDetection(_VOC):
    """Pictures with what their XML says, as dicts of texts: {"annotation": {"object": [{"name": ..., "bndbox": {"xmin": ...}}], ...}}.

    year: "2007" to "2012"; image_set: "train", "val", "trainval", of 2007 also "test". download: fetches and unpacks the archive first.

    >>> try:
    ...     facula.vision.datasets.VOCDetection("nowhere")
    ... except RuntimeError as error:
    ...     print("not found" in str(error))
    True
    """

    _splits, _folder, _suffix = "Main", "Annotations", ".xml"

    @property
    def annotations(self) -> list[str]:
        return self.targets

    def __getitem__(self, index: int):
        return self._transformed(default_loader(self.images[index]), self.parse_voc_xml(ElementTree.parse(self.annotations[index]).getroot()))

    @classmethod
    def parse_voc_xml(cls, node: ElementTree.Element) -> dict:
        """{tag: text, or a dict of the children by their tags}: a list where a tag comes more than once, and for objects in any case."""
        if not len(node):
            return {node.tag: node.text.strip()} if node.text else {}
        found: dict[str, list] = {}
        for child in node:
            for tag, value in cls.parse_voc_xml(child).items():
                found.setdefault(tag, []).append(value)
        inner = {tag: values[0] if len(values) == 1 else values for tag, values in found.items()}
        if node.tag == "annotation":
            inner["object"] = found.get("object", [])
        return {node.tag: inner}
