"""Losses between two tensors of numbers."""

from __future__ import annotations

import math
import warnings

import facula
from facula.tensor_core import extend
from facula.tensor_core.extend import GOES_ON, Begun, one_step
from facula import Tensor

from ._reduction import check, checked, reduced
from ._rows import REAL, constant, only, row, stored

_mse, _smooth_l1, _huber, _soft_margin = row("_mse"), row("_smooth_l1"), row("_huber"), row("_soft_margin")
_binary_cross_entropy, _logits_cross_entropy, _weighted_logits_cross_entropy = row("_binary_cross_entropy"), row("_logits_cross_entropy"), row("_weighted_logits_cross_entropy")


def _warn_sizes(input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _weighted(loss: Tensor, input: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """`loss` reduced; with a weight for each element, "mean" is the weighted mean."""
    if weight is None:
        return reduced(loss, reduction)
    _check_weight(input, weight)
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()
    return reduced(loss * weight, reduction)


def _check_weight(input: Tensor, weight: Tensor) -> None:
    if weight.shape != input.shape:
        raise ValueError(f"loss: weight {tuple(weight.shape)} and input {tuple(input.shape)} must have the same size.")


def _of_one_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape, where they promote: so a dtype counts whether or not its tensor has dims."""
    return (input, target) if input.dtype is target.dtype else facula.broadcast_tensors(input, target)


def _spread_first(input: Tensor, target: Tensor) -> None:
    """Refuse sizes that do not go together, which PyTorch's Python finds before anything else is looked at."""
    if isinstance(input, Tensor) and isinstance(target, Tensor):
        try:
            facula.broadcast_shapes(input.shape, target.shape)
        except RuntimeError:
            raise extend.ShapeError(f"loss: The size of tensor a {tuple(input.shape)}, the input, must match the size of tensor b {tuple(target.shape)}, the target. Reshape one, or give it sizes of 1 to broadcast.") from None


_l1_loss_first = _smooth_l1_loss_first = _huber_loss_first = _spread_first


def _of_numbers(name: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both, as a row takes them. DTypeError where they are not of real floating numbers together."""
    dtype = input.dtype
    if dtype is not target.dtype:
        input, target = facula.broadcast_tensors(input, target)
        dtype = facula.result_type(input, target)
    if dtype._kind != 2:
        only(name, dtype, REAL)
    return input, target


@one_step(_mse=Begun("MseLossBackward0"))
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)^2, reduced.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.mse_loss(facula.tensor([1.0, 2.0]), facula.tensor([1.0, 4.0]))
    tensor(2.)
    """
    reduction = checked(size_average, reduce, reduction)
    _warn_sizes(input, target)
    if weight is None:
        return reduced(_mse(*_of_numbers("mse_loss", input, target)), reduction)
    wide, wanted = _of_one_shape(input, target)
    return _weighted((wide - wanted).square(), input, weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, reduced.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.l1_loss(facula.tensor([1.0, 2.0]), facula.tensor([1.0, 4.0]), reduction="none")
    tensor([0., 2.])
    """
    reduction = checked(size_average, reduce, reduction)
    _warn_sizes(input, target)
    wide, wanted = _of_one_shape(input, target)
    return _weighted((wide - wanted).abs(), input, weight, reduction)


@one_step(_smooth_l1=Begun("SmoothL1LossBackward0"))
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """r^2 / (2 beta) where |r| < beta, else |r| - beta / 2; r = input - target. Source: Girshick, Fast R-CNN (2015).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.smooth_l1_loss(facula.tensor([0.0, 3.0]), facula.tensor([0.5, 0.0]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = checked(size_average, reduce, reduction)
    _warn_sizes(input, target)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}.")
    if beta == 0:
        input, target = _of_one_shape(input, target)
        return reduced((input - target).abs(), reduction)
    return reduced(_smooth_l1(*_of_numbers("smooth_l1_loss", input, target), beta=beta), reduction)


@one_step(_huber=Begun("HuberLossBackward0"))
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """r^2 / 2 where |r| <= delta, else delta (|r| - delta / 2); r = input - target. Source: Huber (1964).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.huber_loss(facula.tensor([0.0, 3.0]), facula.tensor([0.5, 0.0]), reduction="none", delta=2.0)
    tensor([0.1250, 4.0000])
    """
    check(reduction)
    _warn_sizes(input, target)
    if weight is not None:
        _check_weight(input, weight)
    if not delta > 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}.")
    loss = _huber(*_of_numbers("huber_loss", input, target), delta=float(delta))
    if weight is None:
        return reduced(stored("huber_loss", loss, input.dtype), reduction)
    return reduced(loss * weight, reduction)  # unlike mse_loss and l1_loss, "mean" does not divide by the weights


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(input) - target * input, or with a rate as input: input - target * log(input + eps).

    full adds Stirling's approximation of log(target!) where target > 1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.poisson_nll_loss(facula.tensor([0.0, 1.0]), facula.tensor([1.0, 2.0]), reduction="none")
    tensor([1.0000, 0.7183])
    """
    if type(target) is not Tensor:
        extend.want_tensor("poisson_nll_loss", "target", 1, target)
    extend.check("poisson_nll_loss", "full", 3, "bool", full)
    extend.check("poisson_nll_loss", "eps", 5, "float", eps)
    if type(reduction) is not str:
        extend.check("poisson_nll_loss", "reduction", None, "str", reduction)
    reduction = checked(size_average, reduce, reduction)
    product = target * (input if log_input else (input + eps).log())  # first, so that its gradient comes last and exp's strides stay
    loss = (input.exp() if log_input else input) - product
    if full:
        out = target <= 1
        safe = target.masked_fill(out, 1)  # no log of 0 in the branch not taken
        stirling = safe * safe.log() - safe + 0.5 * (2 * math.pi * safe).log()
        loss = stored("poisson_nll_loss", loss + stirling.masked_fill(out, 0), loss.dtype)
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(log var + (input - target)^2 / var) / 2, var at least eps; full adds log(2 pi) / 2. Source: Nix and Weigend (1994).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.gaussian_nll_loss(facula.tensor([1.0]), facula.tensor([2.0]), facula.tensor([0.5]))
    tensor(0.6534)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: var is {var}. A variance is not negative.")
        var = var * facula.ones_like(input)
    elif facula.any(var < 0):
        raise ValueError("gaussian_nll_loss: var has negative entry/entries. A variance is not negative.")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.ndim != var.ndim or sum(v for i, v in zip(input.shape, var.shape) if i != v) != 1:
            raise ValueError(f"gaussian_nll_loss: var is of incorrect size, {tuple(var.shape)} for input {tuple(input.shape)}.")
    if type(reduction) is not str:
        extend.check("gaussian_nll_loss", "reduction", None, "str", reduction)
    check(reduction)
    if var.dtype._kind < 2 and type(eps) is not int:
        raise RuntimeError(f"gaussian_nll_loss: result type Float can't be cast to the desired output type {var.dtype._scalar_type}, of var. Convert it with .float().")
    var = var.clone()
    with facula.no_grad():  # the gradient passes as though nothing was clamped
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target (log target - input), input being log-probabilities; "batchmean" divides the sum by the batch size.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.kl_div(facula.tensor([0.5, 0.5]).log(), facula.tensor([0.25, 0.75]), reduction="sum")
    tensor(0.1308)
    """
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    per_item = type(reduction) is str and reduction == "batchmean"
    reduction = checked(size_average, reduce, "sum" if per_item else reduction)
    for given in (input, target):
        if given.dtype._kind != 2:
            raise RuntimeError(f"kl_div: {'Complex' if given.dtype._kind == 3 else 'Integral'} inputs not supported, got {input.dtype} and {target.dtype}. Convert them with .float().")
    rest = target - input if log_target else target * input  # first, so that its gradient comes last, as PyTorch's does
    loss = target.exp() * rest if log_target else facula.xlogy(target, target) - rest
    loss = reduced(loss, reduction)
    return loss / input.size(0) if per_item and reduction == "sum" and input.dim() else loss


def _in_unit(t: Tensor) -> bool:
    """Is every element in [0, 1]? Of all examples inside vmap; NaN is not."""
    if t.is_meta or not t.numel():
        return True
    plain = t.detach()
    if not extend.listening():
        return plain.amin().item() >= 0 and plain.amax().item() <= 1  # NaN is least and greatest
    plain = plain._values_of_all()
    return bool(((plain >= 0) & (plain <= 1)).all())


def _binary_cross_entropy_first(input: Tensor, target: Tensor, size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    reduction = checked(size_average, reduce, reduction)
    if isinstance(input, Tensor) and isinstance(target, Tensor) and target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    return reduction


@one_step(_binary_cross_entropy=Begun("BinaryCrossEntropyBackward0"), mul=GOES_ON)
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t log p + (1 - t) log(1 - p)), each log at least -100; input p must lie in [0, 1].

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.binary_cross_entropy(facula.tensor([0.5, 0.9]), facula.tensor([1.0, 1.0]), reduction="none")
    tensor([0.6931, 0.1054])
    """
    reduction = _binary_cross_entropy_first(input, target, size_average, reduce, reduction)
    if target.dtype is not input.dtype and not extend.listening():
        raise RuntimeError(f"binary_cross_entropy: found dtype {target.dtype} for target but expected {input.dtype}. Convert it with target.to(input.dtype).")
    if not _in_unit(input):
        only("binary_cross_entropy", input.dtype, REAL)
        raise RuntimeError("binary_cross_entropy: all elements of input should be between 0 and 1. Apply sigmoid, or use the logits form.")
    if not _in_unit(target):
        only("binary_cross_entropy", input.dtype, REAL)
        raise RuntimeError("binary_cross_entropy: all elements of target should be between 0 and 1. Give probabilities.")
    constant("binary_cross_entropy", weight=weight)
    loss = _binary_cross_entropy(input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


def _binary_cross_entropy_with_logits_first(input: Tensor, target: Tensor) -> None:
    if isinstance(input, Tensor) and isinstance(target, Tensor) and target.shape != input.shape:
        raise extend.ArgumentsError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(input), computed so that nothing overflows; pos_weight weighs the positive class.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.binary_cross_entropy_with_logits(facula.tensor([0.0, 2.0]), facula.tensor([1.0, 1.0]), reduction="none")
    tensor([0.6931, 0.1269])
    """
    reduction = checked(size_average, reduce, reduction)
    if target.shape != input.shape:
        _binary_cross_entropy_with_logits_first(input, target)
    return logits_cross_entropy(input, target, weight, reduction, pos_weight)


@one_step(_logits_cross_entropy=Begun("BinaryCrossEntropyWithLogitsBackward0"), _weighted_logits_cross_entropy=Begun("BinaryCrossEntropyWithLogitsBackward0"), mul=GOES_ON)
def logits_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, pos_weight: Tensor | None) -> Tensor:
    """binary_cross_entropy_with_logits of an input that may broadcast to its target."""
    constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    loss = _logits_cross_entropy(target, input) if pos_weight is None else _weighted_logits_cross_entropy(target, input, pos_weight)
    return reduced(stored("binary_cross_entropy_with_logits", loss if weight is None else loss * weight, target.dtype), reduction)


@one_step(_soft_margin=Begun("SoftMarginLossBackward0"))
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input)), target being 1 or -1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.soft_margin_loss(facula.tensor([1.0, -1.0]), facula.tensor([1.0, 1.0]), reduction="none")
    tensor([0.3133, 1.3133])
    """
    if type(input) is not Tensor:
        extend.want_tensor("soft_margin_loss", "input", 0, input)
    if type(target) is not Tensor:
        extend.want_tensor("soft_margin_loss", "target", 1, target)
    reduction = checked(size_average, reduce, reduction)
    if facula.broadcast_shapes(input.shape, target.shape) != input.shape:
        raise RuntimeError(f"soft_margin_loss: output with shape {list(input.shape)} doesn't match the broadcast shape of input and target {list(target.shape)}. Give a target of input's shape.")
    if input.dtype._kind < 2:
        raise extend.DTypeError(f"soft_margin_loss: result type {facula.get_default_dtype()} can't be cast to the desired output type {input.dtype}. Convert with input.float().")
    constant("soft_margin_loss", target=target)
    return reduced(stored("soft_margin_loss", _soft_margin(input, target), input.dtype), reduction)
