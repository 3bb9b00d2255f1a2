"""Names of torchvision's trained weights, for programs that mention them. The weights themselves do not come with Facula."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["ENUMS", "WeightsEnum"]


class WeightsEnum(enum.Enum):
    """The published weights of one network. A member names them; loading is an error that says what to do.

    >>> facula.vision.models.ResNet18_Weights.DEFAULT
    ResNet18_Weights.IMAGENET1K_V1
    >>> isinstance(facula.vision.models.ResNet18_Weights.DEFAULT, facula.vision.models.WeightsEnum)
    True
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def get_state_dict(self, *args: Any, **kwargs: Any) -> dict:
        """Raises RuntimeError: Facula downloads no trained weights."""
        raise RuntimeError(
            f"{self!r}: no trained weights come with Facula and none are downloaded. Fetch the file yourself, read it "
            "with facula.load and give it to load_state_dict: the keys are torchvision's."
        )


_V1, _V2 = "IMAGENET1K_V1", "IMAGENET1K_V2"
_SWAG = ("IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1")  # first values of another data set

# network -> the names of what is published for it, the newest of ImageNet last
_PUBLISHED = {
    "ResNet18": (_V1,), "ResNet34": (_V1,), "ResNet50": (_V1, _V2), "ResNet101": (_V1, _V2), "ResNet152": (_V1, _V2),
    "ResNeXt50_32X4D": (_V1, _V2), "ResNeXt101_32X8D": (_V1, _V2), "ResNeXt101_64X4D": (_V1,),
    "Wide_ResNet50_2": (_V1, _V2), "Wide_ResNet101_2": (_V1, _V2),
    "VGG11": (_V1,), "VGG11_BN": (_V1,), "VGG13": (_V1,), "VGG13_BN": (_V1,), "VGG16": ("IMAGENET1K_FEATURES", _V1), "VGG16_BN": (_V1,),
    "VGG19": (_V1,), "VGG19_BN": (_V1,), "AlexNet": (_V1,), "SqueezeNet1_0": (_V1,), "SqueezeNet1_1": (_V1,), "MobileNet_V2": (_V1, _V2),
    "MobileNet_V3_Large": (_V1, _V2), "MobileNet_V3_Small": (_V1,),
    "GoogLeNet": (_V1,), "Inception_V3": (_V1,),
    **{f"DenseNet{depth}": (_V1,) for depth in (121, 161, 169, 201)}, **{f"ConvNeXt_{size}": (_V1,) for size in ("Tiny", "Small", "Base", "Large")},
    **{f"EfficientNet_B{k}": (_V1,) for k in (0, 2, 3, 4, 5, 6, 7)}, "EfficientNet_B1": (_V1, _V2), **{f"EfficientNet_V2_{size}": (_V1,) for size in "SML"},
    **{f"ViT_{size}_16": (*_SWAG, _V1) for size in "BL"}, **{f"ViT_{size}_32": (_V1,) for size in "BL"}, "ViT_H_14": _SWAG[::-1],
}  # fmt: skip


def _enum(network: str, published: tuple[str, ...]) -> type[WeightsEnum]:
    members = {name: f"{network}.{name}" for name in published}
    members["DEFAULT"] = members[published[-1]]  # the same value: an alias
    made = WeightsEnum(f"{network}_Weights", members, module="facula.vision.models")
    made.__doc__ = f"Names of the published weights of {network}.\n\n>>> facula.vision.models.{network}_Weights.DEFAULT\n{network}_Weights.{published[-1]}\n"
    return made  # type: ignore[return-value]


ENUMS: dict[str, type[WeightsEnum]] = {f"{n}_Weights": _enum(n, names) for n, names in _PUBLISHED.items()}
