"""torchvision's trained weights: their names, where their files are, and how one is fetched and read."""

from __future__ import annotations

import enum
import hashlib
import os
from pathlib import Path
from typing import Any

import facula

__all__ = ["ENUMS", "WeightsEnum", "get_model_weights", "get_weight", "trained"]

_PLACE = "https://download.pytorch.org/models/"
_KEPT = "~/.cache/torch/hub/checkpoints"  # where PyTorch keeps them as well


class WeightsEnum(enum.Enum):
    """The published weights of one network: a member names a file, and fetches it when it is asked for its tensors.

    >>> weights = facula.vision.models.ResNet18_Weights.DEFAULT
    >>> weights, weights.url
    (ResNet18_Weights.IMAGENET1K_V1, 'https://download.pytorch.org/models/resnet18-f37072fd.pth')
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @property
    def url(self) -> str:
        return f"{_PLACE}{self.value}.pth"

    @classmethod
    def verify(cls, obj: Any) -> Any:
        """The member that obj is or names; None for None. Raises TypeError for a member of another network, KeyError for no name."""
        if isinstance(obj, str):
            return cls[obj.replace(cls.__name__ + ".", "")]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received {type(obj).__name__}.")
        return obj

    def get_state_dict(self, progress: bool = True, check_hash: bool = False) -> dict:
        """The tensors, of a file that is fetched once. check_hash: the file is compared with the digest in its name.

        Raises RuntimeError where the file cannot be had or is another one.
        """
        from ..datasets.utils import download_url

        name = f"{self.value}.pth"
        folder = os.path.expanduser(_KEPT)
        path = Path(folder, name)
        if not path.exists():
            if progress:
                print(f"Downloading: {self.url!r} to {path}")
            try:
                download_url(self.url, folder, name)
            except OSError as error:
                raise RuntimeError(
                    f"{self!r}: {self.url} cannot be fetched ({error}). Put the file at {path}, or read one with facula.load and give it as weights=."
                ) from error
        digest = self.value.rpartition("-")[2]
        if check_hash and not hashlib.sha256(path.read_bytes()).hexdigest().startswith(digest):
            raise RuntimeError(f"{self!r}: {path} is damaged: its sha256 does not start with {digest}. Remove it and fetch it again.")
        return facula.load(path)


def _tables() -> dict[str, dict[str, type[WeightsEnum]]]:
    """kind of network -> name of an enum -> the enum, of the lines of weights.txt."""
    found: dict[str, dict[str, type[WeightsEnum]]] = {}
    for line in Path(__file__).with_name("weights.txt").read_text().splitlines():
        if line.startswith("["):
            home = found.setdefault(line[1:-1], {})
            continue
        network, *published = line.split()
        members = dict(version.split("=") for version in published)
        default = next((v for v in members if v.endswith("*")), next(iter(members)))
        members = {version.rstrip("*"): file for version, file in members.items()}
        members["DEFAULT"] = members[default.rstrip("*")]  # the same value: an alias
        name = f"{network}_Weights"
        made = WeightsEnum(name, members, module="facula.vision.models")
        made.__doc__ = f"The published weights of {network}.\n\n>>> facula.vision.models._weights.ENUMS[{name!r}].DEFAULT\n{made.DEFAULT!r}\n"
        home[name] = made  # type: ignore[assignment]
    return found


KINDS = _tables()
ENUMS: dict[str, type[WeightsEnum]] = {name: made for home in KINDS.values() for name, made in home.items()}
_OF_MODEL = {name.removesuffix("_Weights").lower(): made for name, made in ENUMS.items()}


def trained(network, name: str, weights: Any, progress: bool):
    """The network with these weights: a state dict, a member of its enum or the name of one; None leaves it as it is."""
    if weights is None:
        return network
    if not isinstance(weights, dict):
        weights = _OF_MODEL[name].verify(weights).get_state_dict(progress, check_hash=True)
    network.load_state_dict(weights)
    return network


def get_model_weights(name: Any) -> type[WeightsEnum]:
    """The enum of a network's published weights, by the name of the network or its builder.

    >>> list(facula.vision.models.get_model_weights("alexnet"))
    [AlexNet_Weights.IMAGENET1K_V1]
    """
    name = name if isinstance(name, str) else name.__name__
    if name not in _OF_MODEL:
        raise ValueError(f"get_model_weights: no published weights are known for {name!r}. Known: {', '.join(sorted(_OF_MODEL))}.")
    return _OF_MODEL[name]


def get_weight(name: str) -> WeightsEnum:
    """The member that a full name such as "ResNet50_Weights.IMAGENET1K_V1" tells.

    >>> facula.vision.models.get_weight("ResNet50_Weights.DEFAULT")
    ResNet50_Weights.IMAGENET1K_V2
    """
    enum_name, dot, member = name.partition(".")
    if not dot:
        raise ValueError(f"Invalid weight name provided: {name!r}. Give the enum's name, a dot and the member's.")
    if enum_name not in ENUMS:
        raise ValueError(f"The weight enum {enum_name!r} was not found. Known: {', '.join(sorted(ENUMS))}.")
    return ENUMS[enum_name][member]
