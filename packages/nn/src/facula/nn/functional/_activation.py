"""Activations: one row forward and one backward each (csrc/ops/activation.def)."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._rows import only, row

# rows that have no public name of their own
_ROWS = ("_silu", "_mish", "_gelu", "_gelu_tanh", "_softplus", "_elu", "_leaky_relu", "_hardtanh", "_hardsigmoid", "_hardswish", "_log_sigmoid")
_row = {name: row(name) for name in (*_ROWS, "_softsign", "_softshrink", "_tanhshrink", "_glu")}


def _maybe_into(inplace: bool, fn: Callable, input: Tensor, **numbers: Any) -> Tensor:
    """fn(input), or the same written into input: then what backward needs of the old input is kept as a copy."""
    if not inplace:
        return fn(input, **numbers)
    return extend.written(input, fn(extend.kept(input), **numbers))


def _sloped_into(inplace: bool, fn: Callable, input: Tensor, slope: float, **numbers: Any) -> Tensor:
    """_maybe_into of a function with a slope below zero: where that is negative, PyTorch, which keeps the result alone, refuses to go back."""
    out = _maybe_into(inplace, fn, input, **numbers)
    if inplace and slope < 0 and out.requires_grad:
        out.register_hook(_no_way_back)
    return out


def _no_way_back(g: Tensor) -> None:
    raise RuntimeError("In-place elu, celu or leaky_relu: backward with a negative slope is not supported. Please call out-of-place version.")


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x).

    >>> facula.nn.functional.relu(facula.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    try:
        return input.relu_() if inplace else facula.relu(input)
    except AttributeError:
        extend.want_tensor("relu_", "input", 0, input)
        raise


def relu_(input: Tensor) -> Tensor:
    """relu, in place.

    >>> facula.nn.functional.relu_(facula.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return input.relu_()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> facula.nn.functional.sigmoid(facula.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """tanh(x).

    >>> facula.nn.functional.tanh(facula.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return input.tanh()


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.threshold(facula.tensor([-1.0, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
    """
    return threshold_(input, threshold, value) if inplace else facula.threshold(input, threshold, value)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold, in place.

    >>> facula.nn.functional.threshold_(facula.tensor([0.5, 2.0]), 1.0, -1.0)
    tensor([-1.,  2.])
    """
    try:
        return _maybe_into(True, facula.threshold, input, threshold=threshold, value=value)
    except RuntimeError:
        places = _each_place_once(input)
        if places is input:
            raise
    threshold_(places, threshold, value)  # PyTorch, too, writes to an expanded tensor here
    return input


def _each_place_once(x: Tensor) -> Tensor:
    """An expanded tensor without its repetitions; another as it is."""
    for dim, (size, step) in enumerate(zip(x.shape, x.stride())):
        if size > 1 and step == 0:
            x = x.narrow(dim, 0, 1)
    return x


def _hardtanh_first(min_val: float, max_val: float) -> None:
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} is greater than max_val {max_val}. Swap them.")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept within [min_val, max_val].

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.hardtanh(facula.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    _hardtanh_first(min_val, max_val)
    return _hardtanh(input, min_val, max_val, inplace)


def _hardtanh(input: Tensor, min_val: float, max_val: float, inplace: bool) -> Tensor:
    if type(input) is not Tensor:
        extend.want_tensor("hardtanh", "input", 0, input)
    for name, bound in (("min_val", min_val), ("max_val", max_val)):
        if isinstance(bound, complex):
            extend.check("hardtanh", name, None, "real", bound)
    if (dtype := input.dtype)._kind == 1:
        if min_val < 0 and not dtype.is_signed:
            raise extend.DTypeError(f"hardtanh: cannot do hardtanh on an unsigned type with negative limits ({dtype._name}, {min_val}). Convert with input.float().")
        min_val, max_val = extend.fitting("hardtanh", min_val, dtype), extend.fitting("hardtanh", max_val, dtype)
    return _maybe_into(inplace, _row["_hardtanh"], input, min_val=min_val, max_val=max_val)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh, in place.

    >>> facula.nn.functional.hardtanh_(facula.tensor([-3.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return _hardtanh(input, min_val, max_val, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(0, x), 6).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.relu6(facula.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, else alpha (exp(x) - 1). Source: Clevert et al. (2015).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.elu(facula.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _sloped_into(inplace, _row["_elu"], input, alpha, alpha=alpha)


def elu_(input: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    """elu, in place: scale * x where x > 0, else scale * alpha (exp(input_scale * x) - 1).

    >>> facula.nn.functional.elu_(facula.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _sloped_into(True, _row["_elu"], input, alpha, alpha=alpha, scale=scale, input_scale=input_scale)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """scale * elu(x, alpha) with the constants that make activations self-normalising. Source: Klambauer et al. (2017).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.selu(facula.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return _maybe_into(inplace, facula.selu, input)


def selu_(input: Tensor) -> Tensor:
    """selu, in place.

    >>> facula.nn.functional.selu_(facula.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return selu(input, True)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)). Source: Barron (2017).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.celu(facula.tensor([-1.0, 2.0]), alpha=2.0)
    tensor([-0.7869,  2.0000])
    """
    return _sloped_into(inplace, facula.celu, input, alpha, alpha=alpha)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu, in place.

    >>> facula.nn.functional.celu_(facula.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return celu(input, alpha, True)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where x > 0, else negative_slope * x.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.leaky_relu(facula.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    return _sloped_into(inplace, _row["_leaky_relu"], input, negative_slope, negative_slope=negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu, in place.

    >>> facula.nn.functional.leaky_relu_(facula.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    return leaky_relu(input, negative_slope, True)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where x > 0, else weight * x; weight is one number or one for each channel (dim 1).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.prelu(facula.tensor([-1.0, 2.0]), facula.tensor([0.5]))
    tensor([-0.5000,  2.0000])
    """
    return facula.prelu(input, weight)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """leaky_relu with a slope drawn from [lower, upper] for each element that is not positive; their middle in evaluation.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.rrelu(facula.tensor([-2.4, 2.0]), training=False)
    tensor([-0.5500,  2.0000])
    """
    return rrelu_drawn(input, lower, upper, training, inplace)


def rrelu_drawn(input: Tensor, lower: float, upper: float, training: bool, inplace: bool, generator: Any = None) -> Tensor:
    """rrelu with slopes from a generator.

    >>> rrelu_drawn(facula.tensor([-1.0, 2.0]), 0.25, 0.25, True, False, facula.Generator())
    tensor([-0.2500,  2.0000])
    """
    if type(input) is not Tensor:
        extend.want_tensor("rrelu", "input", 0, input)
    for name, bound in (("lower", lower), ("upper", upper)):
        if type(bound) is not float:
            extend.check("rrelu", name, None, "real", bound)
    if generator is not None:
        extend.check("rrelu", "generator", None, "generator", generator)
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise RuntimeError(f"rrelu: lower and upper bound must be finite, got {lower} and {upper}. Give two numbers.")
    if lower > upper:
        raise RuntimeError(f"rrelu: Lower bound should be less than or equal to the upper bound, got {lower} and {upper}. Swap them.")
    if not training:
        return _named(leaky_relu(input if inplace else input.contiguous(), (lower + upper) / 2, inplace), input, inplace)
    only("rrelu", input.dtype, (facula.bfloat16, facula.float32, facula.float64))
    if not inplace:
        input = input.contiguous()  # the result lies so whatever input's strides are
    slope = facula.ones_like(input, requires_grad=False)
    if input.is_meta:
        return _maybe_into(inplace, facula.mul, input, other=slope)
    held_back = input.detach() <= 0
    # PyTorch's numbers: bounds in the input's dtype, a product and a sum in float64 (uniform_(lower, upper) would round once)
    low, high = (lower, upper) if input.dtype is facula.float64 else facula.tensor((lower, upper), dtype=input.dtype, device="cpu").tolist()
    drawn = facula.empty(held_back.count_nonzero().item(), dtype=facula.float64, device="cpu").uniform_(generator=generator)
    slope = slope.masked_scatter(held_back, drawn.mul_(high - low).add_(low).to(input.dtype))
    return _named(_maybe_into(inplace, facula.mul, input, other=slope), input, inplace)


def _named(out: Tensor, input: Tensor, inplace: bool) -> Tensor:
    return out if inplace else extend.one_node(out, "RreluWithNoiseBackward0", input)


def rrelu_(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None) -> Tensor:
    """rrelu, in place.

    >>> facula.rrelu_(facula.tensor([-1.0, 2.0]), 0.25, 0.25)
    tensor([-0.2500,  2.0000])
    """
    return rrelu_drawn(input, lower, upper, training, True, generator)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), where a and b are the halves of input along `dim`. Source: Dauphin et al. (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.glu(facula.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors because halving size must be even")
    if input.size(dim) % 2:
        raise RuntimeError(f"glu: halving dimension must be even, but dimension {dim} is size {input.size(dim)}")
    a, b = input.chunk(2, dim)
    return extend.one_node(_row["_glu"](a, b), "GluBackward0", input)


def gelu(input: Tensor, approximate: str = "none", *, out: Tensor | None = None) -> Tensor:
    """x Phi(x), Phi the normal distribution function; "tanh" approximates it. Source: Hendrycks and Gimpel (2016).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.gelu(facula.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    if approximate == "none":
        return _row["_gelu"](input, out=out)
    if approximate == "tanh":
        return _row["_gelu_tanh"](input, out=out)
    extend.check("gelu", "approximate", 1, "str", approximate)
    raise RuntimeError(f"gelu: approximate argument must be either none or tanh, not {approximate!r}.")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x sigmoid(x).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.silu(facula.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    return _maybe_into(inplace, _row["_silu"], input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(softplus(x)). Source: Misra (2019).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.mish(facula.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    return _maybe_into(inplace, _row["_mish"], input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """0 below -3, 1 above 3, x / 6 + 1 / 2 between.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.hardsigmoid(facula.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    return _maybe_into(inplace, _row["_hardsigmoid"], input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """0 below -3, x above 3, x (x + 3) / 6 between. Source: Howard et al. (2019).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.hardswish(facula.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000, 0.6667, 4.0000])
    """
    return _maybe_into(inplace, _row["_hardswish"], input)


def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x where |x| > lambd, else 0.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.hardshrink(facula.tensor([-1.0, 0.3]))
    tensor([-1.,  0.])
    """
    return facula.hardshrink(input, lambd, out=out)


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x moved by lambd towards 0, and 0 within lambd of it.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.softshrink(facula.tensor([-1.0, 0.3]))
    tensor([-0.5000,  0.0000])
    """
    if not isinstance(lambd, complex) and not 0 <= lambd <= 65504 and input.dtype._kind == 2 and not 0 <= lambd <= facula.finfo(input.dtype).max:
        raise RuntimeError(f"softshrink: lambda must be in range [0, {facula.finfo(input.dtype).max:g}] for input dtype {input.dtype._scalar_type}, but found {lambd:g}.")
    return _row["_softshrink"](input, lambd=lambd, out=out)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.tanhshrink(facula.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """
    return _row["_tanhshrink"](input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|). Of integers, |x| + 1 is one of their dtype.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.softsign(facula.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    return _row["_softsign"](input) if input.is_floating_point() else input / (input.abs() + 1)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.softplus(facula.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    return _row["_softplus"](input, beta=beta, threshold=threshold, out=out)


def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 / (1 + exp(-x))) = min(0, x) - log(1 + exp(-|x|)).

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.logsigmoid(facula.tensor([-1.0, 2.0]))
    tensor([-1.3133, -0.1269])
    """
    return _row["_log_sigmoid"](input, out=out)


def _implicit_dim(name: str, ndim: int) -> int:
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=4)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`; dtype: cast to it first.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.softmax(facula.tensor([0.0, 1.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    try:
        return facula.softmax(input, _implicit_dim("softmax", input.dim()) if dim is None else dim, dtype=dtype)
    except TypeError:
        extend.want_tensor("softmax", "input", 0, input)
        raise


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x) along `dim`.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.softmin(facula.tensor([0.0, 1.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    return facula.softmax(-input, _implicit_dim("softmin", input.dim()) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)) along `dim`, computed without the quotient.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.log_softmax(facula.tensor([0.0, 1.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    try:
        return facula.log_softmax(input, _implicit_dim("log_softmax", input.dim()) if dim is None else dim, dtype=dtype)
    except TypeError:
        extend.want_tensor("log_softmax", "input", 0, input)
        raise


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample from the Gumbel-Softmax distribution; hard: one-hot forward, soft gradient. Source: Jang et al. (2017).

    eps has no effect; it is here because PyTorch's signature has it, and warns there as here.

    >>> import facula
    >>> from facula.nn import functional as F
    >>> F.gumbel_softmax(facula.zeros(1, 3), hard=True).sum()
    tensor(1.)
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbel = -facula.empty_like(logits, memory_format=facula.contiguous_format, requires_grad=False).exponential_().log()
    soft = ((logits + gumbel) / tau).softmax(dim)
    if not hard:
        return soft
    place = soft.argmax(dim, keepdim=True)
    one_hot = facula.zeros_like(logits, memory_format=facula.contiguous_format, requires_grad=False).scatter_(dim, place, 1.0)
    return one_hot - soft.detach() + soft
