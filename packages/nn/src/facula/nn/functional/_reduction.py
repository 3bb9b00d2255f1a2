"""The reduction of a loss, and the two arguments that said it before `reduction` did."""

from __future__ import annotations

import warnings
from typing import Any

from facula import Tensor
from facula.tensor_core.extend import GOES_ON, one_step


def legacy(size_average: Any, reduce: Any, reduction: str) -> str:
    """`reduction`, unless one of the old arguments was given: then what they meant, with a warning."""
    if size_average is None and reduce is None:
        return reduction
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    meant = ("mean" if size_average else "sum") if reduce else "none"
    warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.", stacklevel=3)
    return meant


def checked(size_average: Any, reduce: Any, reduction: str) -> str:
    """legacy's answer, which must be one of the three: where a loss begins."""
    reduction = legacy(size_average, reduce, reduction)
    check(reduction)
    return reduction


@one_step(mean=GOES_ON, sum=GOES_ON)
def reduced(loss: Tensor, reduction: str) -> Tensor:
    """`loss` as it is, its mean or its sum."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    check(reduction)
    return loss


def check(reduction: str) -> None:
    """ValueError for a reduction that is none of the three."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction. Give 'none', 'mean' or 'sum'.")
