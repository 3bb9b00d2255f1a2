"""Losses of class scores."""

from __future__ import annotations

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._reduction import check, checked, legacy, reduced
from ._rows import REAL, WIDE, constant, only, row

_nll_loss, _cross_entropy, _multi_margin, _multilabel_margin = row("_nll_loss"), row("_cross_entropy"), row("_multi_margin"), row("_multilabel_margin")
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}  # as the rows number them


def _check_classes(name: str, input: Tensor, target: Tensor, weight: Tensor | None) -> int:
    """The dim of classes, after the sizes were compared."""
    dim = 0 if input.dim() == 1 else 1
    if input.dim() == 0:
        raise ValueError(f"{name}: input has no dimensions. Give (C), (N, C) or (N, C, d1, ...).")
    if dim == 1 and (target.dim() == 0 or input.size(0) != target.size(0)):
        batch = target.size(0) if target.dim() else 1
        raise ValueError(f"Expected input batch_size ({input.size(0)}) to match target batch_size ({batch}).")
    wanted = tuple(input.shape[:dim]) + tuple(input.shape[dim + 1 :])
    if name == "cross_entropy" and target.shape == input.shape != wanted:
        raise RuntimeError(f"{name}: Expected floating point type for target with class probabilities, got {target.dtype}. Convert it, or give class indices.")
    if input.dim() == 2 and target.dim() > 1:
        raise RuntimeError(f"{name}: 0D or 1D target tensor expected, multi-target not supported, got {tuple(target.shape)}. Give class indices.")
    if tuple(target.shape) != wanted and (dim or tuple(target.shape) != (1,)):  # the one element's class may stand in a list
        raise (RuntimeError if dim else extend.ShapeError)(f"{name}: target is {tuple(target.shape)} and input {tuple(input.shape)} wants {wanted}. Give class indices.")
    if target.dtype is not facula.int64 and (target.dtype is not facula.uint8 or target.dim() > 1):
        raise RuntimeError(f"{name}: expected target dtype int64 or uint8, but got {target.dtype}. Convert with target.long().")
    if weight is not None and (weight.dim() != 1 or weight.size(0) != input.size(dim)):
        raise RuntimeError(
            f"{name}: weight tensor should be defined either for all {input.size(dim)} classes or no classes, but got weight tensor of shape: {list(weight.shape)}. Give one weight for each."
        )
    return dim


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight[t] input[t], input being log-probabilities: (C), (N, C) or (N, C, d1, ...), target the class indices.

    Elements whose target is ignore_index count nothing; "mean" divides by the sum of the weights counted.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.nll_loss(facula.tensor([[-0.5, -1.0]]), facula.tensor([1]))
    tensor(1.)
    """
    if type(target) is not Tensor:
        extend.want_tensor("nll_loss", "target", 1, target)
    if weight is not None and type(weight) is not Tensor:
        extend.want_tensor("nll_loss", "weight", 2, weight)
    if type(input) is not Tensor:
        extend.want_tensor("nll_loss", "input", 0, input)
    reduction = checked(size_average, reduce, reduction)
    try:
        dim = _check_classes("nll_loss", input, target, weight)
    except (ValueError, RuntimeError):
        extend.check("nll_loss", "ignore_index", 4, "size", ignore_index)
        raise
    target = target if dim or not target.shape else target.reshape(())
    return _nll_loss(input, target.long(), weight, _REDUCTIONS[reduction], ignore_index)[0]


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(input); target holds class indices, or probabilities in the shape of input.

    label_smoothing mixes the target with the uniform distribution. Source: Szegedy et al. (2015).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.cross_entropy(facula.tensor([[2.0, 0.0], [0.0, 0.0]]), facula.tensor([0, 1]), reduction="none")
    tensor([0.1269, 0.6931])
    """
    if type(target) is not Tensor:
        extend.want_tensor("cross_entropy", "target", 1, target)
    if weight is not None and type(weight) is not Tensor:
        extend.want_tensor("cross_entropy", "weight", 2, weight)
    if type(input) is not Tensor:
        extend.want_tensor("cross_entropy", "input", 0, input)
    reduction = checked(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if input.dim() == 0:
        raise extend.RankError("cross_entropy: input has no dimensions. Give (C), (N, C) or (N, C, d1, ...).")
    dim = 0 if input.dim() == 1 else 1
    if target.shape == input.shape and target.is_floating_point():
        if ignore_index >= 0:
            raise RuntimeError(f"cross_entropy: ignore_index {ignore_index} is not supported for floating point target. Give class indices.")
        return _with_probabilities(input, target, weight, reduction, label_smoothing, dim)
    try:
        _check_classes("cross_entropy", input, target, weight)
    except (ValueError, RuntimeError):
        extend.check("cross_entropy", "ignore_index", 4, "size", ignore_index)
        if input.dtype._kind != 2:  # which its softmax looks at first
            only("cross_entropy", input.dtype, WIDE)
        raise
    target = target if dim or not target.shape else target.reshape(())
    return _cross_entropy(input, target.long(), weight, _REDUCTIONS[reduction], ignore_index, label_smoothing)[0]


def _along(weight: Tensor, like: Tensor, dim: int) -> Tensor:
    shape = [1] * like.dim()
    shape[dim] = -1
    return weight.reshape(shape)


def _with_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float, dim: int
) -> Tensor:
    classes = input.size(dim)
    if weight is not None and (weight.dim() != 1 or weight.size(0) != classes):
        raise RuntimeError(f"cross_entropy: weight has shape {list(weight.shape)}, input has {classes} classes. Give one for each.")
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    loss = facula.log_softmax(input, dim) * target
    if weight is not None:
        loss = loss * _along(weight, loss, dim)
    loss = -loss.sum(dim)
    if reduction == "mean":  # over the batch and places: the elements without their class dim
        return loss.sum() / (input.numel() // max(classes, 1))
    return reduced(loss, reduction)


def _above_zero(margins: Tensor, counted: Tensor | None = None) -> Tensor:
    """Margins where they count and are more than 0, 0 elsewhere: for NaN, too, and without a gradient at 0."""
    kept = margins > 0
    return facula.where(kept if counted is None else kept & counted, margins, 0.0)


def _multi_margin_loss_first(p: int, weight: Tensor | None, size_average: bool | None, reduce: bool | None, reduction: str) -> None:
    if size_average is None and reduce is None:
        check(reduction)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    if isinstance(weight, Tensor) and weight.dim() != 1:
        raise ValueError(f"multi_margin_loss: weight must be one-dimensional, got {weight.dim()} dimensions")


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """mean over classes k != t of max(0, margin - x[t] + x[k])^p, times weight[t].

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.multi_margin_loss(facula.tensor([[0.1, 0.2, 0.4]]), facula.tensor([2]))
    tensor(0.5000)
    """
    _multi_margin_loss_first(p, weight, size_average, reduce, reduction)
    reduction = legacy(size_average, reduce, reduction)
    if type(target) is not Tensor:
        extend.want_tensor("multi_margin_loss", "target", 1, target)
    if type(input) is not Tensor:
        extend.want_tensor("multi_margin_loss", "input", 0, input)
    only("multi_margin_loss", input.dtype, WIDE)
    shape = input.shape
    if weight is not None and weight.numel() != (shape[-1] if shape else 1):
        raise RuntimeError(f"multi_margin_loss: inconsistent weight size, expected {shape[-1] if shape else 1} but got {list(weight.shape)}. Give one for each class.")
    if not (len(shape) == 2 and shape[1] or len(shape) == 1 and shape[0] or not shape):
        raise RuntimeError(f"multi_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}")
    constant("multi_margin_loss", weight=weight)
    x = input.contiguous() if len(shape) == 2 else input.reshape(1, -1)
    t = target if target.dim() == 1 else target.reshape(-1)
    if t.size(0) != x.size(0) or target.dim() > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{x.size(0)}], but got {list(target.shape)}"
        )
    if t.dtype is not facula.int64:
        if t.numel():
            raise extend.DTypeError(f"multi_margin_loss: expected scalar type Long but found {t.dtype._scalar_type}. Convert with target.long().")
        t = t.long()
    if weight is not None and weight.dtype is not x.dtype and t.numel():
        raise extend.DTypeError(f"multi_margin_loss: expected scalar type {x.dtype._scalar_type} but found {weight.dtype._scalar_type} for the weight. Convert it with .to().")
    own, rows = t.unsqueeze(1), not extend.listening() and (weight is None or weight.dtype is x.dtype and weight._origin is None)
    try:
        if rows:
            loss = _multi_margin(x, t, weight, p, float(margin))
            return extend.one_node(reduced(loss if len(shape) == 2 or reduction != "none" else loss.reshape(target.shape), reduction), "MultiMarginLossBackward0", input)
        short = _above_zero(float(margin) - x.gather(1, own) + x)
    except IndexError:
        raise RuntimeError(f"multi_margin_loss: target out of range for {x.size(1)} classes") from None
    if p == 2:
        short = short * short
    if weight is not None:
        short = short * weight[t].unsqueeze(1)
    short = short.scatter(1, own, 0.0)  # its own class counts nothing
    if reduction == "mean":
        return short.mean()
    loss = short.sum(1) / x.size(1)
    return reduced(loss if len(shape) == 2 else loss.reshape(target.shape), reduction)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """sum over labels j and non-labels k of max(0, 1 - (x[j] - x[k])) / C; a row's labels end at its first -1.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.multilabel_margin_loss(facula.tensor([[0.1, 0.2, 0.4]]), facula.tensor([[2, -1, 0]]))
    tensor(0.5000)
    """
    if type(target) is not Tensor:
        extend.want_tensor("multilabel_margin_loss", "target", 1, target)
    if type(input) is not Tensor:
        extend.want_tensor("multilabel_margin_loss", "input", 0, input)
    reduction = checked(size_average, reduce, reduction)
    if input.numel() == target.numel() == 1 and input.dim() < 2 > target.dim():
        target = target.reshape(input.shape)
    if input.dim() > 2 or not input.numel() and (input.dim() < 2 or not input.size(1)):
        raise RuntimeError(f"multilabel_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    if input.shape != target.shape:
        raise RuntimeError(f"multilabel_margin_loss: Expected target of input's shape {tuple(input.shape)}, got inconsistent target size: {tuple(target.shape)}. Give each place one class or -1.")
    only("multilabel_margin_loss", input.dtype, WIDE)
    x, t = (v if v.dim() == 2 else v.reshape(1, -1) for v in (input, target))
    classes = x.size(1)
    if t.dtype is facula.int64 and not extend.listening():
        try:
            loss = _multilabel_margin(x, t)
        except IndexError:
            raise RuntimeError(f"multilabel_margin_loss: target is out of range: a label must be -1 or less than {classes}") from None
        return extend.one_node(reduced(loss if input.dim() == 2 else loss.reshape(()), reduction), "MultilabelMarginLossBackward0", input)
    if t.numel() and not t.is_meta and not extend.listening() and (int(t.min()) < -1 or int(t.max()) >= classes):
        raise RuntimeError(f"multilabel_margin_loss: target is out of range: a label must be -1 or less than {classes}")
    listed = (t < 0).to(facula.int64).cumsum(1) == 0  # before the first -1
    labels = facula.where(listed, t, facula.zeros_like(t))
    is_label = facula.zeros_like(x, requires_grad=False).scatter_add_(1, labels, listed.to(x.dtype)) > 0
    margins = 1 - x.gather(1, labels).unsqueeze(2) + x.unsqueeze(1)
    loss = _above_zero(margins, listed.unsqueeze(2) & ~is_label.unsqueeze(1)).sum((1, 2)) / classes
    return extend.one_node(reduced(loss if input.dim() == 2 else loss.reshape(()), reduction), "MultilabelMarginLossBackward0", input)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """mean over classes of binary cross entropy of sigmoid(x).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.multilabel_soft_margin_loss(facula.tensor([[1.0, -1.0]]), facula.tensor([[1.0, 0.0]]))
    tensor(0.3133)
    """
    if type(input) is not Tensor:
        extend.want_tensor("multilabel_soft_margin_loss", "input", 0, input)
    reduction = checked(size_average, reduce, reduction)
    if input.dtype._kind < 2:
        only("multilabel_soft_margin_loss", input.dtype, REAL)
    log_sigmoid = input.clamp(max=0) - facula.log1p((-input.abs()).exp())
    loss = -(target * log_sigmoid + (1 - target) * (log_sigmoid - input))
    if weight is not None:
        loss = loss * weight
    dim = input.dim() - 1
    return reduced(loss.sum(dim) / input.size(dim), reduction)
