"""Normalisations."""

from __future__ import annotations

import math
from typing import Sequence

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._pool import avg_pool2d, avg_pool3d
from ._rows import _HALVES, REAL, constant, in_one_dtype, only, row
from ._window import padded


_layer_norm, _rms_norm, _group_norm = row("_layer_norm"), row("_rms_norm"), row("_group_norm")
_batch_norm_train, _batch_norm_eval = row("_batch_norm_train"), row("_batch_norm_eval")


def _check_several(name: str, what: str, x: Tensor, *sizes: int) -> None:
    """Refuse to take statistics of one value, as the dims that they go over have it: a missing dim counts as 1."""
    if math.prod(sizes) == 1:
        raise ValueError(f"{name}: Expected more than 1 {what} when training, got input size {tuple(x.shape)}. Give more, or evaluate.")


def _check_parts(function: str, channels: int, *parts: Tensor | None) -> None:
    for name, t in zip(("running_mean", "running_var", "weight", "bias"), parts):
        if t is not None:
            extend.want_tensor(function, name, None, t)
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{function}: {name} should contain {channels} elements not {t.numel()}")


def _check_running(name: str, x: Tensor, mean: Tensor | None, var: Tensor | None) -> None:
    """Refuse running statistics of two dtypes, of no vector, or of another dtype than the input's: beside halves they may be float32."""
    if mean is None or x.dtype._kind != 2:
        return
    kinds = mean.dtype, var.dtype
    if kinds[0] is not kinds[1] or kinds[0] is not x.dtype and not (x.dtype in _HALVES and kinds[0] is facula.float32):
        raise RuntimeError(f"{name}: mixed dtype: expected scalar type {x.dtype._scalar_type} but found {kinds[0]._scalar_type} and {kinds[1]._scalar_type} for running_mean and running_var. Convert them with .to().")
    if len(mean.shape) != 1 or len(var.shape) != 1:
        raise RuntimeError(f"{name}: expected running_mean and running_var of 1 dim, but got shapes {tuple(mean.shape)} and {tuple(var.shape)}. Flatten them.")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel (dim 1). Source: Ioffe and Szegedy (2015).

    training: statistics are the batch's, and the running ones move towards them by `momentum` (variance unbiased).
    Else they are the running ones.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.batch_norm(facula.tensor([[1.0], [3.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("batch_norm", "input", 0, input)
    if training is not True and training is not False:
        extend.check("batch_norm", "training", 5, "bool", training)
    if training:
        _check_several("batch_norm", "value per channel", input, input.size(0), *input.shape[2:])
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if not training and running_mean is not None and running_var is not None and len(input.shape) > 1:
        try:
            if running_mean._origin is None and running_var._origin is None:
                return _batch_norm_eval(input, running_mean, running_var, weight, bias, eps)[0]
        except (AttributeError, RuntimeError, TypeError):
            pass  # said below
    return normalised_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)


def normalised_batch(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> Tensor:
    """batch_norm by any eps, of one value too."""
    if type(running_mean) is type(running_var) is Tensor and (running_mean._origin is not None or running_var._origin is not None):
        constant("batch_norm", running_mean=running_mean, running_var=running_var)
    if 0 in input.shape:  # nothing to look at the rest for, as PyTorch has it
        for name, t in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
            if t is not None:
                extend.want_tensor("batch_norm", name, None, t)
        return _of_nothing(input, weight, bias)
    if input.dim() < 2:
        raise extend.RankError(f"batch_norm: expected input to have at least 2 dimensions, got {input.dim()}")
    _check_parts("batch_norm", input.size(1), running_mean, running_var, weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm: running_mean and running_var must be given in evaluation mode. Track them, or set training.")
        return _by_given(input, running_mean, running_var, weight, bias, eps)
    if (running_mean is None) is not (running_var is None):
        raise ValueError("batch_norm: running_mean and running_var must either both be None or neither be None. Give both.")
    _check_running("batch_norm", input, running_mean, running_var)
    return _by_batch(input, running_mean, running_var, weight, bias, momentum, eps)


def _by_given(input: Tensor, mean: Tensor, var: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    """Normalised by given statistics."""
    return in_one_dtype(lambda x, *parts: _batch_norm_eval(x, *parts, eps)[0], input, mean, var, weight, bias)


def _by_batch(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None, momentum: float, eps: float
) -> Tensor:
    """Normalised by its own statistics, towards which the running ones move."""

    extend.check("batch_norm", "momentum", 6, "float", momentum)
    momentum = float(momentum)
    weight, bias = (t if t is None or t.dim() == 1 else t.reshape(-1) for t in (weight, bias))

    def trained(x: Tensor, w: Tensor | None, b: Tensor | None) -> Tensor:
        out, mean, _, var = _batch_norm_train(x, w, b, eps)
        if running_mean is not None or running_var is not None:
            count = x.numel() // max(x.size(1), 1)
            before = extend.set_grad_mode(False)
            try:
                _move(running_mean, mean, momentum)
                if running_var is not None:
                    _move(running_var, var * (count / (count - 1) if count > 1 else math.inf), momentum)
            finally:
                extend.set_grad_mode(before)
        return out

    return in_one_dtype(trained, input, weight, bias)


def _of_nothing(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """An empty result with the gradients of zeros that batch_norm of nothing has: the first of each part alone is asked for."""
    x = x.clone() if weight is None else x * weight[0]
    return x if bias is None else x + bias[0]


def _move(running: Tensor | None, new: Tensor, momentum: float) -> None:
    """A running statistic, moved towards the batch's."""
    if running is not None:
        new = new if new._origin is None else new.detach()
        new = new if new.dtype is running.dtype else new.to(running.dtype)
        if new.dtype in _HALVES:
            running.mul_(1 - momentum).add_(new, alpha=momentum)  # rounded once
        else:
            running.mul_(1 - momentum).add_(new * momentum)  # the same bits; 0.6 us against 5.6


def _instance_norm_first(input: Tensor, use_input_stats: bool) -> None:
    if use_input_stats and isinstance(input, Tensor):
        _check_several("instance_norm", "spatial element", input, *input.shape[2:])


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """batch_norm of each item by itself. Source: Ulyanov et al. (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.instance_norm(facula.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("instance_norm", "input", 0, input)
    _instance_norm_first(input, use_input_stats)
    return normalised_items(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def normalised_items(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None, bias: Tensor | None, use_input_stats: bool, momentum: float, eps: float
) -> Tensor:
    """instance_norm, of one element too."""
    if input.dim() < 2:
        raise extend.RankError(f"instance_norm: expected input to have at least 2 dimensions, got {input.dim()}. Give a batch of channels.")
    if (running_mean is None) != (running_var is None):
        raise extend.ArgumentsError("instance_norm: running_mean and running_var must either both be None or neither be None")
    constant("instance_norm", running_mean=running_mean, running_var=running_var)
    input = input.contiguous()  # the result is in no other format
    if not use_input_stats:
        if running_mean is None:
            raise RuntimeError("instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false, got None. Give both.")
        if 0 in input.shape[:2]:
            return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
        _check_parts("instance_norm", input.size(1), running_mean, running_var, weight, bias)
        return _by_given(input, running_mean, running_var, weight, bias, eps)
    n, c = input.size(0), input.size(1)
    if c and eps and running_mean is None and running_var is None:  # each channel is a group; with an eps of 0 a constant one is 0, not NaN
        return in_one_dtype(lambda x, w, b: _group_norm(x, w, b, c, eps)[0], input, weight, bias)
    if running_var is not None and running_var.dtype is not running_mean.dtype and running_var.dtype is not input.dtype:
        raise RuntimeError(f"instance_norm: expected scalar type {input.dtype._scalar_type} but found {running_var.dtype._scalar_type} for running_var, beside a running_mean of {running_mean.dtype._scalar_type}. Convert it with .to().")
    means = None if running_mean is None else running_mean.repeat(n)
    variances = None if running_var is None else running_var.repeat(n)
    flat = input.reshape(1, n * c, *input.shape[2:])
    weights, biases = (None if t is None else t.repeat(n) for t in (weight, bias))
    if not flat.numel():
        out = normalised_batch(flat, means, variances, weights, biases, True, momentum, eps)
    else:
        _check_parts("instance_norm", c, running_mean, running_var, weight, bias)
        out = _by_batch(flat, means, variances, weights, biases, momentum, eps)  # any eps, unlike batch_norm's
    with facula.no_grad():  # the items' running statistics, averaged
        if running_mean is not None:
            running_mean.copy_(means.reshape(n, c).mean(0))
        if running_var is not None:
            running_var.copy_(variances.reshape(n, c).mean(0))
    return out.reshape(input.shape)


def _check_normalized_shape(name: str, x: Tensor, shape: tuple, *others: tuple) -> None:
    extend.want_ints(name, "normalized_shape", 1, shape)
    if not shape:
        raise RuntimeError(f"{name}: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = {list(shape)}")
    if x.dim() < len(shape) or tuple(x.shape[x.dim() - len(shape) :]) != shape:
        raise RuntimeError(
            f"{name}: Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of size{list(x.shape)}"
        )
    for what, t in others:
        if t is not None:
            extend.want_tensor(name, what, None, t)
        if t is not None and tuple(t.shape) != shape:
            raise RuntimeError(f"{name}: expected {what} to be of same shape as normalized_shape, but got {list(t.shape)} and {list(shape)}")


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dims, of sizes normalized_shape. Source: Ba et al. (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.layer_norm(facula.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("layer_norm", "input", 0, input)
    shape = tuple(normalized_shape)
    if shape and input.shape[-len(shape):] == shape:
        try:
            return _layer_norm(input, weight, bias, len(shape), eps)[0]
        except (RuntimeError, TypeError):
            pass  # said below, or computed in another dtype
    extend.kinds_first("layer_norm", normalized_shape=normalized_shape, weight=weight, bias=bias, eps=eps)
    _check_normalized_shape("layer_norm", input, shape, ("weight", weight), ("bias", bias))
    return in_one_dtype(lambda x, w, b: _layer_norm(x, w, b, len(shape), eps)[0], input, weight, bias)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dims; eps None is the epsilon of the dtype that it is computed in. Source: Zhang and Sennrich (2019).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.rms_norm(facula.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    if type(input) is not Tensor:
        extend.want_tensor("rms_norm", "input", 0, input)
    shape = tuple(normalized_shape)
    if input.dim() < len(shape):
        raise extend.ShapeError(f"rms_norm: Input tensor must have at least {len(shape)} dimensions, but got {input.dim()}. normalized_shape is {list(shape)}.")
    _check_normalized_shape("rms_norm", input, shape, ("weight", weight))
    if input.dtype._kind < 2:
        only("rms_norm", input.dtype, REAL)
    eps = facula.finfo(facula.float32 if input.dtype.itemsize == 2 else input.dtype).eps if eps is None else eps
    if input.is_complex():
        result = input * facula.rsqrt((input * input).mean(tuple(range(-len(shape), 0)), keepdim=True) + eps)
        return result if weight is None else (result * weight).to(input.dtype)
    if weight is not None and weight.dtype is not input.dtype and not (weight.dtype is facula.float32 and input.dtype.itemsize == 2):
        wide = input.float() if input.dtype.itemsize == 2 else input
        return (_rms_norm(wide, None, len(shape), eps)[0] * weight).to(input.dtype)
    result = in_one_dtype(lambda x, w: _rms_norm(x, w, len(shape), eps)[0], input, weight)
    return _as_product(result, input, len(shape), weight) if 1 in input.shape and extend.lies_oddly(input) else result


def _as_product(result: Tensor, input: Tensor, dims: int, weight: Tensor | None) -> Tensor:
    """result with dims of size 1 as the products have them of which PyTorch makes it."""
    like = facula.empty_strided(input.shape, input.stride(), dtype=input.dtype, device="meta")
    like = like.float() if input.dtype in _HALVES else like
    like = like * like.mean(tuple(range(-dims, 0)), keepdim=True)
    return extend.lie_as(result, like if weight is None else like * facula.empty(weight.shape, device="meta"))


def _group_norm_first(input: Tensor, num_groups: int) -> None:
    if isinstance(input, Tensor):
        if input.dim() < 2:
            raise extend.RankError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
        if type(num_groups) is int and not num_groups:
            raise ZeroDivisionError(f"group_norm: num_groups is 0, by which {input.shape[1]} channels cannot be divided. Give 1 at least.")
        if isinstance(num_groups, Tensor) and num_groups.numel() > 1:
            raise RuntimeError(f"group_norm: num_groups is one number, got a Tensor of shape {tuple(num_groups.shape)}, whose truth value is ambiguous. Give an int.")


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalisation of each item's channels in num_groups groups. Source: Wu and He (2018).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.group_norm(facula.tensor([[1.0, 3.0, 2.0, 2.0]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """
    if input.dim() < 2 or not num_groups:
        _group_norm_first(input, num_groups)
    n, c = input.shape[:2]
    _check_several("group_norm", "value per channel", input, n * c // num_groups, *input.shape[2:])
    return normalised_groups(input, num_groups, weight, bias, eps)


def normalised_groups(input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    """group_norm of one value in a group, too."""
    if num_groups <= 0 or input.shape[1] % num_groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(input.shape)} and num_groups={num_groups}")
    if input.dtype in _HALVES:
        return in_one_dtype(lambda x, w, b: _group_norm(x, w, b, num_groups, eps)[0], input, weight, bias)
    return _group_norm(input, weight, bias, num_groups, eps)[0]


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta. Source: Krizhevsky et al. (2012).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.local_response_norm(facula.ones(1, 3, 1), 2)
    tensor([[[1.0000],
             [0.9999],
             [0.9999]]])
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    before, after = size // 2, (size - 1) // 2
    if input.dim() == 3:
        squares = padded((input * input).unsqueeze(1), (before, 0), (after, 0))
        mean = avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        n, c, h = input.shape[:3]
        squares = padded((input * input).reshape(n, 1, c, h, -1), (before, 0, 0), (after, 0, 0))
        mean = avg_pool3d(squares, (size, 1, 1), stride=1).reshape(input.shape)
    return input / (mean * alpha + k).pow(beta)
