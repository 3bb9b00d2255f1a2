"""What the builders share."""

from __future__ import annotations

import functools
import warnings

__all__ = ["as_before", "build", "no_weights"]


def as_before(builder):
    """The builder, taking also what torchvision's took before 0.13, with its warnings: pretrained=, and arguments by position."""

    @functools.wraps(builder)
    def called(*args, **kwargs):
        if args:
            names = ("weights", "progress")[: len(args)]
            if len(args) > 2 or not kwargs.keys().isdisjoint(names):
                raise TypeError(f"{builder.__name__}: {len(args)} arguments by position beside {sorted(kwargs)}. Give weights and progress by name, once.")
            warnings.warn(
                f"Using {' and '.join(repr(n) for n in names)} as positional parameter(s) is deprecated since 0.13 and may be removed in the future. "
                "Please use keyword parameter(s) instead.",
                UserWarning,
                stacklevel=2,
            )
            kwargs.update(zip(names, args))
        if "pretrained" in kwargs or isinstance(kwargs.get("weights"), bool):
            wanted = kwargs.pop("pretrained") if "pretrained" in kwargs else kwargs["weights"]
            warnings.warn(
                "The parameter 'pretrained' is deprecated since 0.13 and may be removed in the future, please use 'weights' instead.", UserWarning, stacklevel=2
            )
            kwargs["weights"] = "IMAGENET1K_V1" if wanted else None
        return builder(**kwargs)

    return called


def no_weights(name: str, weights, progress: bool) -> None:
    """Trained weights do not come with Facula: asking for them is an error, not a random network."""
    if weights is not None:
        raise ValueError(
            f"{name}: weights={weights!r}, and no trained weights come with Facula. Leave weights=None and use "
            "load_state_dict with a file that you have: the keys are torchvision's."
        )
    bool(progress)  # of a download, and there is none


def build(make, name: str, defaults: dict, doc: str, side: int = 96):
    """A builder as torchvision's: keyword arguments go to the network's class. side: of the pictures in its example."""

    def builder(*, weights=None, progress: bool = True, **kwargs):
        no_weights(name, weights, progress)
        return make(**{**defaults, **kwargs})

    builder.__name__ = builder.__qualname__ = name
    shown = f"""with facula.device("meta"):  # sizes alone
    ...     facula.vision.models.{name}(num_classes=10).eval()(facula.zeros(1, 3, {side}, {side})).shape
    torch.Size([1, 10])"""
    builder.__doc__ = f"{doc}\n\n    >>> {shown}\n    "
    return as_before(builder)
