"""What the builders share."""

from __future__ import annotations

__all__ = ["build", "no_weights"]


def no_weights(name: str, weights, progress: bool) -> None:
    """Trained weights do not come with Facula: asking for them is an error, not a random network."""
    if weights is not None:
        raise ValueError(
            f"{name}: weights={weights!r}, and no trained weights come with Facula. Leave weights=None and use "
            "load_state_dict with a file that you have: the keys are torchvision's."
        )
    bool(progress)  # of a download, and there is none


def build(make, name: str, defaults: dict, doc: str):
    """A builder as torchvision's: keyword arguments go to the network's class."""

    def builder(*, weights=None, progress: bool = True, **kwargs):
        no_weights(name, weights, progress)
        return make(**{**defaults, **kwargs})

    builder.__name__ = builder.__qualname__ = name
    shown = f"""with facula.device("meta"):  # sizes alone
    ...     facula.vision.models.{name}(num_classes=10).eval()(facula.zeros(1, 3, 96, 96)).shape
    torch.Size([1, 10])"""
    builder.__doc__ = f"{doc}\n\n    >>> {shown}\n    "
    return builder
