"""What the builders share."""

from __future__ import annotations

import functools
import warnings

from ._weights import trained

__all__ = ["as_before", "build"]


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


def build(make, name: str, defaults: dict, doc: str, side: int | tuple = 96, with_weights: dict | None = None, home: str = ""):
    """A builder as torchvision's: keyword arguments go to the network's class. side: of the pictures in its example, or the sizes of a clip; home: its module.

    with_weights: defaults that go with the published weights.
    """

    def builder(*, weights=None, progress: bool = True, **kwargs):
        published = weights is not None and not isinstance(weights, dict)
        return trained(make(**{**defaults, **(with_weights or {} if published else {}), **kwargs}), name, weights, progress)

    builder.__name__ = builder.__qualname__ = name
    sizes = f"{side}, {side}" if isinstance(side, int) else ", ".join(map(str, side))
    shown = f"""with facula.device("meta"):  # sizes alone
    ...     facula.vision.models.{home}{name}(num_classes=10).eval()(facula.zeros(1, 3, {sizes})).shape
    torch.Size([1, 10])"""
    builder.__doc__ = f"{doc}\n\n    >>> {shown}\n    "
    return as_before(builder)
