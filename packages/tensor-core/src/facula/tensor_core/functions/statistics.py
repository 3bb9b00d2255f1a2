"""Quantiles and other statistics composed of rows."""

from facula.tensor_core.dispatch.arguments import LACKING, renamed
from facula.tensor_core import _ops
from facula.tensor_core.functions import order as _order, shape as _shape
from facula.tensor_core.memory import data as _data
from facula.tensor_core.dispatch.kinds import check, real_order
from facula.tensor_core.dispatch.run import number
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import int64
from facula.tensor_core.dispatch.out import into, kept, same_dtype, written
from facula.tensor_core.dispatch.slow import one_node, one_step, unheard

MODES = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None, axis=None, keepdims=LACKING):
    """Values below which the share q (a number or a vector) of the elements lies, of all or along dim; NaN where there is one.

    interpolation: what stands between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    >>> import facula
    >>> facula.quantile(facula.tensor([0.0, 1.0, 2.0, 3.0]), 0.5)
    tensor(1.5000)
    >>> facula.tensor([0.0, 1.0, 2.0, 3.0]).quantile(0.5)
    tensor(1.5000)
    """
    dim = dim if axis is None else renamed("quantile", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out, False)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """quantile of what is not NaN.

    >>> x = facula.tensor([1.0, facula.nan, 3.0])
    >>> facula.nanquantile(x, 0.5)
    tensor(2.)
    >>> x.nanquantile(0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out, True)


@one_step(squeeze="SqueezeBackward4")
def _quantile(name, input, q, dim, keepdim, interpolation, out, skip):
    if input.dtype._name not in ("float32", "float64"):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, got {input.dtype._name}. Convert it.")
    if interpolation not in MODES:
        raise RuntimeError(f"{name}() interpolation must be one of {', '.join(MODES)}, but got {interpolation}")
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    single = not isinstance(q, Tensor) or not q.dim()
    if not isinstance(q, Tensor):
        check(name, "q", 1, "float", q)
    q = q if isinstance(q, Tensor) else _data.tensor(q, dtype=input.dtype, device=input.device)
    if q.dim() > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got {q.dim()}D")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor, got {q.dtype._name} and {input.dtype._name}")
    if q.numel() and not q.is_meta and not _ops.interpreting and (q.min().item() < 0 or q.max().item() > 1):
        raise RuntimeError(f"{name}() q {'must be in the range [0, 1] but' if single else 'values must be in the range [0, 1],'} got {q.tolist()}")
    wide = input.dim()
    if not wide and dim is not None:
        _shape.wrap_dim(name, dim, 0)
        dim = None
    if dim is None:
        x = _shape.reshaped(input, (*([1] * (wide - 1) if keepdim else ()), -1))
        ones = [] if keepdim and wide else [-1]  # dims of the result that go: each is 1
    else:
        d = _shape.wrap_dim(name, dim, wide)
        inner = d != wide - 1
        x = _ops.transpose(_ops.unsqueeze(input, -1), d, -1) if inner else input  # the dim goes last and leaves a 1
        ones = [-1] * inner if keepdim else [-1, d - wide - 1] if inner else [-1]
    x = _order.sort(x, -1)[0]
    last = x.shape[-1] - 1
    rank = _shape.reshaped(q, -1)
    if skip:
        rank = _ops.mul(rank, _ops.clamp_min(_ops.sub(_ops.sum(_ops.logical_not(_ops.isnan(x)), -1, True), 1), 0))
    else:
        rank = _ops.expand(_ops.mul(rank, last), (*x.shape[:-1], q.numel()))
    if interpolation == "lower":
        rank = _ops.floor(rank)
    elif interpolation == "higher":
        rank = _ops.ceil(rank)
    elif interpolation == "nearest":
        rank = _ops.round(rank)
    low = _ops.floor(rank)
    result = _ops.gather(x, -1, low.to(int64))
    if interpolation in ("linear", "midpoint"):
        above = _ops.gather(x, -1, _ops.ceil(rank).to(int64))
        weight = _ops.sub(rank, low) if interpolation == "linear" else _ops.mul(_ops.ne(rank, low), 0.5).to(x.dtype)
        result = _ops.lerp(result, above, weight)
    if not skip:  # NaN sorts last
        greatest = _ops.slice(x, -1, last, 1, 1).contiguous()  # so that the result is contiguous, as PyTorch has it
        result = _ops.where_rows(_ops.isnan(greatest), greatest, result)
    if not single:
        result = _ops.transpose(_ops.unsqueeze(result, 0), 0, -1)
    result = _ops.squeeze(result, ones) if ones else result
    return into(name, _shape._alone(result), out)


def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=LACKING):
    """The mean of what is not NaN, of all elements or over dims.

    >>> x = facula.tensor([1.0, facula.nan, 3.0])
    >>> facula.nanmean(x)
    tensor(2.)
    >>> x.nanmean()
    tensor(2.)
    """
    dim = dim if axis is None else renamed("nanmean", "axis", axis, dim, None)
    keepdim = keepdim if keepdims is LACKING else keepdims
    if input.dtype._kind < 2:
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype._name}")
    if dtype is not None and dtype._kind < 2:
        raise RuntimeError(f"nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: {dtype._name}")
    if input.dtype._kind == 3:
        return _ops.nansum(input, dim, keepdim)  # which refuses complex numbers
    if dtype is not None and isinstance(out, Tensor):
        same_dtype("nanmean", dtype, out)
    count = _ops.sum(_ops.logical_not(_ops.isnan(input)), dim, keepdim)
    return _ops.div(_ops.nansum(input, dim, keepdim, dtype=dtype), count, out=out)


def renorm(input, p, dim, maxnorm, *, out=None):
    """input with every slice along dim whose p-norm exceeds maxnorm scaled down to it.

    >>> x = facula.tensor([[3.0, 4.0], [0.3, 0.4]])
    >>> facula.renorm(x, 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    >>> x.renorm(2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    result = _shape.as_new(_ops.mul(input, _renorm_factor(input, p, dim, maxnorm)))
    return one_node(result, "RenormBackward0", input) if out is None else into("renorm", result, out, (input,))


def renorm_(self, p, dim, maxnorm):
    """renorm, written into the tensor itself.

    >>> facula.tensor([[3.0, 4.0]]).renorm_(2, 0, 1.0)
    tensor([[0.6000, 0.8000]])
    """
    if type(self) is Tensor and unheard(self):
        return _ops.mul_(self, _renorm_factor(self, p, dim, maxnorm))
    return written(self, renorm(kept(self), p, dim, maxnorm))


def _renorm_factor(input, p, dim, maxnorm):
    """What each slice along dim is multiplied by."""
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    real_order("renorm", p)
    if isinstance(p, Tensor):
        check("renorm", "p", 1, "number", p)
    number(p)  # which refuses one beyond 64 bits
    if not p > 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, got p={p}")
    n = len(input.shape)
    if n < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    if not -n <= dim < n:
        raise IndexError(f"renorm: Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})")
    others = 1 - dim % n if n == 2 else [d for d in range(n) if d != dim % n]
    norm = _ops.norm_p(input, others, p=float(p), keepdim=True)
    return _ops._renorm_factor(norm, maxnorm=maxnorm)


__all__ = ["nanmean", "nanquantile", "quantile", "renorm"]
METHODS = [*__all__, "renorm_"]
