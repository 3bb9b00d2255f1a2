"""What the data sets of pictures share."""

from __future__ import annotations

from facula.data import Dataset

__all__ = ["PictureTensors", "StandardTransform", "VisionDataset"]


class StandardTransform:
    """One function of (picture, target) made of a function of each; None leaves its half as it is.

    >>> facula.vision.datasets.vision.StandardTransform(lambda picture: picture + 1, None)(1, 5)
    (2, 5)
    """

    def __init__(self, transform=None, target_transform=None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input, target):
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    @staticmethod
    def _format_transform_repr(transform, head: str) -> list[str]:
        first, *others = repr(transform).splitlines()
        return [f"{head}{first}", *(" " * len(head) + line for line in others)]

    def __repr__(self) -> str:
        body = [type(self).__name__]
        if self.transform is not None:
            body += self._format_transform_repr(self.transform, "Transform: ")
        if self.target_transform is not None:
            body += self._format_transform_repr(self.target_transform, "Target transform: ")
        return "\n".join(body)


class VisionDataset(Dataset):
    """A data set in a folder `root`, with functions applied to each picture and each target.

    transforms: one function of (picture, target), instead of transform and target_transform.

    >>> issubclass(facula.vision.datasets.MNIST, facula.vision.datasets.VisionDataset)
    True
    """

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None) -> None:
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError(
                f"{type(self).__name__}: Only transforms or transform/target_transform can be passed as argument, "
                "got both. Give one of them."
            )
        self.root = root
        if transforms is None and (transform is not None or target_transform is not None):
            transforms = StandardTransform(transform, target_transform)
        self.transforms = transforms
        self.transform = transform
        self.target_transform = target_transform

    def _transformed(self, picture, target):
        # a program may replace .transform later: that counts, not what .transforms was made of
        if self.transforms is not None and not isinstance(self.transforms, StandardTransform):
            return self.transforms(picture, target)
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return picture, target

    def __repr__(self) -> str:
        lines = [f"Dataset {type(self).__name__}", f"    Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"    Root location: {self.root}")
        lines += [f"    {name}" for name in self.extra_repr().splitlines()]
        if self.transforms is not None:
            lines.append(f"    {self.transforms!r}")
        return "\n".join(lines)

    def extra_repr(self) -> str:
        return ""


class PictureTensors(VisionDataset):
    """All pictures in one uint8 tensor `data` (N, H, W) and their labels in an int64 tensor `targets` (N,).

    A sample is (picture, label): the picture a NumPy array (H, W) of uint8, which every transform takes
    (ToTensor makes it a float tensor in [0, 1]), the label an int.

    >>> issubclass(facula.vision.datasets.MNIST, facula.vision.datasets.vision.PictureTensors)
    True
    """

    classes: list[str]

    def __getitem__(self, index: int):
        return self._transformed(self.data[index].numpy(), self._target(index))

    def _target(self, index: int):
        return int(self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    @property
    def class_to_idx(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.classes)}

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"
