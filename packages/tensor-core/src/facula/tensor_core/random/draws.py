"""Random tensors: factories (rand, randn, randint, ...), which fill new ones, and draws from tensors of parameters."""

from __future__ import annotations

from typing import Any

import facula
from facula.tensor_core import _ops
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.slow import has_origin
from facula.tensor_core.dispatch.out import a_tensor, into, refuse_history, resize, taken
from facula.tensor_core.dispatch.arguments import LACKING, listed, sequence
from facula.tensor_core.functions.create import _finish, _fits, empty, empty_like, plain, wanted_sizes
from facula.tensor_core._errors import STATUS, DTypeError, ShapeError
from facula.tensor_core.dispatch.kinds import check, kinds_first, right as of_kind, want_ints
from facula.tensor_core.random.generator import Generator
from facula.tensor_core._lib import lib
from facula.tensor_core.random.fills import (
    _WIDE, BITS, DIGITS, cauchy_, checked, exponential_, geometric_, log_normal_, normal_, random_, require, uniform_,
)  # fmt: skip
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import Size, bfloat16, float16, float32, float64, int32, int64

__all__ = [
    "bernoulli", "binomial", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
]  # fmt: skip

FC_ARG = STATUS.index("arg")


# --- factories ---------------------------------------------------------------------------------------------------------


def _place(op, size, out, dtype, layout, device, pin_memory):
    """An uninitialised tensor, or `out` brought to this size."""
    if layout is not None or pin_memory is not False:
        kinds_first(op, size=wanted_sizes(op, size), out=out, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory)
    if out is None:
        return empty(size, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory)
    plain(layout, pin_memory)
    size = wanted_sizes(op, size)
    _fits(op, out, dtype, device)
    taken(op, out)
    return out.resize_(size) if tuple(out.shape) != tuple(size) else out


def _finished(tensor, requires_grad, out=None):
    if out is None:
        try:
            lib.fc_fresh(tensor._h)
        except AttributeError:  # a sparse one has no memory, its values have
            lib.fc_fresh(tensor._values()._h)
    return _finish(tensor, requires_grad)


def rand(
    *args: Any, size: Any = None, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers uniform in [0, 1).

    >>> import facula
    >>> _ = facula.manual_seed(0)
    >>> facula.rand(2, 2)
    tensor([[0.4963, 0.7682],
            [0.0885, 0.1320]])
    """
    if generator is not None:
        checked("rand", generator)
    tensor = _place("rand", tuple(listed("rand", "size", args, size)), out, dtype, layout, device, pin_memory)
    return _finished(_ops.uniform_(tensor, 0.0, 1.0, generator=generator), requires_grad, out)


def randn(
    *args: Any, size: Any = None, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers of mean 0 and variance 1 (complex ones have it over both parts).

    >>> import facula
    >>> _ = facula.manual_seed(0)
    >>> facula.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    if generator is not None:
        checked("randn", generator)
    tensor = _place("randn", tuple(listed("randn", "size", args, size)), out, dtype, layout, device, pin_memory)
    return _finished(_ops.normal_(tensor, 0.0, 1.0, generator=generator), requires_grad, out)


def randint(
    *args: Any, low: int | None = None, high: int | None = None, size: Any = None, generator: Generator | None = None,
    out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Integers uniform in [low, high): randint(high, size) or randint(low, high, size).

    >>> _ = facula.manual_seed(0)
    >>> facula.randint(0, 10, (4,))
    tensor([4, 9, 3, 0])
    """
    if len(args) in (2, 3) and low is high is size is generator is out is layout is None and not (requires_grad or pin_memory) and (dtype is None or dtype in (int64, int32)):
        start, to, shape = args if len(args) == 3 else (0, *args)
        limit = 2**31 if dtype is int32 else 2**63 - 1
        if type(start) is type(to) is int and -limit <= start < to <= limit and type(shape) in (tuple, Size):  # the common case, flat
            tensor = empty(shape, dtype=dtype or int64, device=device)
            _ops.random_range_(tensor, start, to)
            lib.fc_fresh(tensor._h)
            return tensor
    given = list(args)
    if size is None and given and not hasattr(given[-1], "__index__"):
        size = given.pop()
    if high is not None and low is None:
        low = given.pop(0) if given else 0
    elif high is None and given:
        low, high = (given.pop(0) if low is None and len(given) > 1 else low or 0), given.pop(0)
    if given or high is None or size is None:
        raise TypeError(f"randint() takes (high, size) or (low, high, size), got {args}")
    try:
        check("randint", "high", 0, "size", high)
        check("randint", "low", 0, "size", low)
        tensor = _place("randint", tuple(sequence("randint", "size", size)), out, (int64 if out is None else None) if dtype is None else dtype, layout, device, pin_memory)
        return _finished(random_(tensor, low, high, generator=generator), requires_grad, out)
    except Exception:
        kinds_first("randint", low=low, high=high, size=size, generator=generator, out=out, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
        raise


def randperm(
    n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A permutation of 0 .. n - 1, int64 unless `dtype` says otherwise.

    >>> _ = facula.manual_seed(0)
    >>> facula.randperm(5)
    tensor([4, 0, 1, 3, 2])
    >>> facula.randperm(5).sort().values
    tensor([0, 1, 2, 3, 4])
    """
    if type(n) is not int:
        check("randperm", "n", 0, "size", n)
        n = int(n)
    require(n >= 0, f"randperm: Trying to create tensor with negative dimension {n}: [{n}]. Pass n >= 0.")
    tensor = _place("randperm", (n,), out, (int64 if out is None else None) if dtype is None else dtype, layout, device, pin_memory)
    name = tensor.dtype._name
    limit = 2 ** BITS[name] if name in BITS else 2 ** DIGITS[name] + 1 if name in DIGITS else n
    require(n <= limit, f"randperm: n={n} cannot be converted to {tensor.dtype} without overflow. Use a wider dtype.")
    return _finished(_ops.randperm_(tensor, generator=checked("randperm", generator)), requires_grad, out)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Numbers uniform in [0, 1), of input's shape, dtype and strides unless said otherwise.

    >>> facula.rand_like(facula.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format, pin_memory=pin_memory)
    return _finished(_ops.uniform_(tensor, 0.0, 1.0, generator=checked("rand_like", generator)), requires_grad)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers of input's shape, dtype and strides unless said otherwise.

    >>> facula.randn_like(facula.zeros(2, 3)).shape
    torch.Size([2, 3])
    """
    tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format, pin_memory=pin_memory)
    return _finished(_ops.normal_(tensor, 0.0, 1.0, generator=checked("randn_like", generator)), requires_grad)


def randint_like(
    input: Tensor, *args: int, low: int | None = None, high: int | None = None, generator: Generator | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Integers uniform in [low, high), of input's shape and dtype: randint_like(input, high) or (input, low, high).

    >>> facula.randint_like(facula.zeros(2, 3), 10).shape
    torch.Size([2, 3])
    """
    if type(input) is Tensor and low is high is generator is dtype is layout is device is memory_format is None and not (requires_grad or pin_memory) and input.dtype._kind in (1, 2) and input.dtype._name not in _WIDE and all([type(b) is int for b in args]):
        start, to = args if len(args) == 2 else (0, args[0]) if len(args) == 1 else (0, 0)
        if -128 * input.dtype.is_signed <= start < to <= 128:  # the common case, flat: what every dtype of integers holds
            tensor = _ops.random_range_(lib.empty_like(input._h, lib.fc_dtype(input._h), 1), start, to)
            lib.fc_fresh(tensor._h)
            return tensor
    given = [*args, *(b for b in (low, high) if b is not None)]
    if not 1 <= len(given) <= 2:
        raise TypeError(f"randint_like() takes (input, high) or (input, low, high), got {len(given)} bounds")
    if len(given) == 1 and isinstance(given[0], Tensor) and not of_kind("size", given[0]):
        kinds_first("randint_like", input=input, generator=generator, dtype=dtype, layout=layout, device=device, memory_format=memory_format, pin_memory=pin_memory)
        if given[0].dim():
            raise RuntimeError(f"randint_like: high must be a scalar tensor, got one of shape {tuple(given[0].shape)}. Give one number.")
        given = [int(given[0])]
    try:
        for k, bound in enumerate(given):
            check("randint_like", "high" if k + 1 == len(given) else "low", k + 1, "size", bound)
        tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format, pin_memory=pin_memory)
        return _finished(random_(tensor, *given, generator=generator), requires_grad)
    except Exception:
        kinds_first("randint_like", input=input, generator=generator, dtype=dtype, layout=layout, device=device, memory_format=memory_format, pin_memory=pin_memory)
        raise


# --- draws from tensors of parameters ----------------------------------------------------------------------------------


def _drawn(row, input, generator, complaint, flat=False):
    """A contiguous copy of input, each element replaced by a draw with that parameter; flat: with a history that says its derivative is 0."""
    generator = checked(row, generator)
    if _ops.interpreting:
        _dispatch.drawn_from(row.removeprefix("draw_").removesuffix("_"), input)
    result = (input if flat else input.detach()).clone(memory_format=facula.contiguous_format)
    try:
        drawn = getattr(_ops, row)(result, generator=generator)
    except RuntimeError:
        if lib.fc_status() == FC_ARG:
            raise RuntimeError(complaint) from None
        raise
    return _dispatch.one_node(drawn, row.removeprefix("draw").title().replace("_", "") + "Backward0", input)


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probability that stands in input, else 0, in input's dtype; with `p`, input gives only shape and dtype.

    >>> p = facula.tensor([0.0, 1.0, 1.0])
    >>> facula.bernoulli(p)
    tensor([0., 1., 1.])
    >>> p.bernoulli()
    tensor([0., 1., 1.])
    """
    if p is not None and out is not None:
        raise TypeError(f"bernoulli() received an invalid combination of arguments: out with p={p!r}. Use out.bernoulli_(p).")
    if p is not None:
        if isinstance(p, Tensor) and not p.dim() and p._origin is None:  # a number, to the parser
            p = float(p)
        result = _finished(bernoulli_(facula.empty_like(input, memory_format=facula.contiguous_format), p, generator=generator), False)
    else:
        complaint = "bernoulli: Expected p_in >= 0 && p_in <= 1 to be true: input holds numbers outside of [0, 1]. Clamp them."
        result = _drawn("draw_bernoulli_", input, generator, complaint, flat=True)
    if isinstance(out, Tensor) and out.dtype._kind == 3:
        raise DTypeError(f'bernoulli: "bernoulli_tensor" not implemented for {out.dtype._name!r}. Give a real output.')
    return result if out is None else into("bernoulli", result.to(out.dtype) if isinstance(out, Tensor) else result, out, (input,))


def bernoulli_(self: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
    """self, filled with 1 with probability p (a number, or a tensor that broadcasts to self) and 0 otherwise.

    >>> facula.zeros(3).bernoulli_(1.0)
    tensor([1., 1., 1.])
    """
    checked("bernoulli_", generator)
    if isinstance(p, Tensor):
        order = sorted(range(self.dim()), key=self.stride, reverse=True)  # draws go in the order of self's memory
        target = self.permute(order) if order else self
        target.copy_(bernoulli(p.expand(self.shape).permute(order) if order else p.reshape(()), generator=generator))
        return self
    require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}. Clamp it.")
    return _ops.bernoulli_scalar_(self, float(p), generator=generator)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers, each of the rate that stands in input.

    >>> facula.poisson(facula.tensor([0.0, 0.0]))
    tensor([0., 0.])
    """
    complaint = "poisson: invalid Poisson rate, expected rate to be non-negative: input holds negative numbers or NaN. Clamp them."
    return _drawn("draw_poisson_", input, generator, complaint, flat=True)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`: both floating, of one dtype, broadcast.

    Raises ValueError for counts of another kind, RuntimeError for two dtypes.

    >>> import facula
    >>> facula.binomial(facula.tensor([5.0, 5.0]), facula.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    if count.dtype._kind != 2:
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {count.dtype._name}. Convert it with .to(facula.float32).")
    if prob.dtype._kind != 2:
        raise ValueError(f"binomial only supports floating-point dtypes for prob, got: {prob.dtype._name}. Convert it with .to({count.dtype}).")
    if count.dtype in (facula.float16, facula.bfloat16):
        raise DTypeError(f"binomial: not implemented for {count.dtype._name}. Convert with .to(facula.float32).")
    if prob.dtype._kind != 2 or prob.dtype is not count.dtype:
        raise DTypeError(f"binomial: Found dtype {prob.dtype._name} but expected {count.dtype._name} for prob. Convert one with .to().")
    generator = checked("binomial", generator)
    for parameter in (count, prob) if _ops.interpreting else ():
        _dispatch.drawn_from("binomial", parameter)
    both = facula.broadcast_tensors(count.detach(), prob.detach())
    order, back = list(range(both[0].dim())), None
    if both[0].shape != count.shape:  # only then do draws go in the order of memory, and the result lies as its arguments
        order.sort(key=_ops.mul(*both).stride, reverse=True)
        back = [order.index(d) for d in range(len(order))]
    pairs = facula.stack([t.permute(order).to(facula.float64) for t in both], -1)
    drawn = _ops.copy(_ops.draw_binomial_(pairs, generator=generator)[..., 0], count.dtype, 0)
    return drawn.permute(back) if back else drawn


def _sample_dirichlet(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Shares that sum to 1 along the last dim, of the Dirichlet distribution with the concentrations in self; never 0 nor 1."""
    drawn = _drawn("draw_gamma_", self.detach().to(facula.float64), generator, "_sample_dirichlet: a concentration is negative or NaN. Clamp it.")
    shares = (drawn / drawn.sum(-1, True)).to(self.dtype)
    info = facula.finfo(self.dtype)
    return shares.clamp(info.tiny, 1.0 - info.eps / 2)


def _standard_gamma(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of scale 1, each of the shape that stands in self; never 0."""
    return _drawn("draw_gamma_", self, generator, "_standard_gamma: a shape is negative or NaN. Clamp it.")


_UNSAID = float("1")  # an object of its own: the std of normal where none is given


def normal(
    mean: Any = 0.0, std: Any = _UNSAID, size: Any = LACKING, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers: mean and std are tensors that broadcast, one tensor and a number, or numbers with a `size`.

    >>> _ = facula.manual_seed(0)
    >>> facula.normal(0.0, 1.0, (2,))
    tensor([ 1.5410, -0.2934])
    """
    if size is not LACKING:
        if std is _UNSAID:
            raise TypeError("normal() received an invalid combination of arguments: a size without std. Give mean, std and size.")
        want_ints("normal", "size", 2, size)
    size = None if size is LACKING else size
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if tensors and size is not None and not any(t.dim() for t in tensors):
        for position, (name, value) in enumerate((("mean", mean), ("std", std))):
            check("normal", name, position, "float", value)
        mean, std = float(mean), float(std)
        tensors = []
    if not tensors:
        if size is None:
            raise TypeError("normal() of two numbers needs a size: normal(mean, std, size)")
        result = _place("normal", tuple(size), out, dtype, layout, device or ("cpu" if out is None else None), pin_memory)  # as range, none that a default device is asked of
        return _finished(normal_(result, mean, std, generator=generator), requires_grad, out)
    if size is not None or dtype is not None or layout is not None or device is not None or requires_grad or pin_memory:
        raise TypeError("normal() of tensors takes shape, dtype and device from them: leave size, dtype, layout, device and requires_grad out")
    checked("normal", generator)
    if out is not None:
        a_tensor("normal", out)
    if out is not None and out.dtype._kind < 2 and any(t.numel() for t in tensors):
        raise DTypeError(f'normal: "normal_kernel" not implemented for {out.dtype._name!r}. Give a floating output.')
    seen = [_dispatch.drawn_from("normal", t) for t in tensors] if _ops.interpreting else tensors
    if isinstance(std, Tensor):
        require(not std.is_complex(), "normal expects standard deviation to be non-complex. Take its real part.")
        require(not std.numel() or std.is_meta or bool((seen[-1] >= 0).all()), "normal expects all elements of std >= 0.0. Take its absolute value.")
    elif not std >= 0:
        require(False, f"normal expects std >= 0.0, but found std {std:g}. Take its absolute value.")
    shape = tensors[0].shape if len(tensors) == 1 else facula.broadcast_shapes(mean.shape, std.shape)
    if out is not None:  # drawn where it lies: in the order of its memory, and of its dtype
        refuse_history("normal", (*tensors, out))
        if len(tensors) == 1 and isinstance(mean, Tensor):
            shape = facula.broadcast_shapes(shape, out.shape)  # a single number makes room for all, of other shapes PyTorch takes those that broadcast
        resize("normal", out, shape)
        result = out
    elif has_origin(tensors) or _ops.interpreting:  # a history, or tangents, that say that the derivatives are 0
        laid = [_dispatch.gradient_lies(t, "rows") for t in tensors]
        both = laid[0] + laid[1] if len(laid) == 2 else laid[0]
        result = both.to(tensors[0].dtype).clone(memory_format=facula.contiguous_format)
    else:
        result = facula.empty(shape, dtype=tensors[0].dtype, device=tensors[0].device)
    result = _ops.normal_(result, 0.0, 1.0 if isinstance(std, Tensor) else float(std), generator=generator)
    mean, std = (v.detach() if isinstance(v, Tensor) else v for v in (mean, std))
    if out is not None:  # an output of another shape gets that of both
        result = out if out.shape == shape else out.clone()  # an operand would keep its shape
        result = facula.mul(result, std, out=out) if isinstance(std, Tensor) else result
        return facula.add(result, mean, out=out)
    if isinstance(std, Tensor):
        result.mul_(std)
    which = 3 if len(tensors) == 2 else 2 if isinstance(std, Tensor) else 1
    return _dispatch.one_node(result.add_(mean), f"NormalBackward{which}", *tensors)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Indices drawn with the probabilities (weights, up to a factor) of input's rows.

    input: (C,) or (N, C), floating, not negative. Result: int64, (num_samples,) or (N, num_samples).

    >>> weights = facula.tensor([0.0, 1.0])
    >>> facula.multinomial(weights, 1)
    tensor([1])
    >>> weights.multinomial(1)
    tensor([1])
    """
    if input.dim() not in (1, 2):
        raise ShapeError(f"multinomial: prob_dist must be 1 or 2 dim, it has {input.dim()} (input: {tuple(input.shape)}). Reshape it.")
    if input.dtype._kind != 2:
        raise DTypeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}. Convert with .float().")
    if type(num_samples) is not int:
        check("multinomial", "num_samples", 1, "size", num_samples)
    require(num_samples > 0, f"cannot sample n_sample <= 0 samples: num_samples is {num_samples}. Ask for one at least.")
    classes = input.shape[-1]
    require(
        replacement or num_samples <= classes,
        f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {num_samples} of {classes}. Pass replacement=True.",
    )
    weights = input if input._origin is None else input.detach()
    if replacement and num_samples > 1 and weights.numel() and not (_ops.interpreting or weights.is_meta) and (drawn := _drawn_in_one(weights, num_samples, generator)) is not None:
        return drawn if out is None else into("multinomial", drawn, out)
    if weights.numel() and not weights.is_meta and not _plainly_fit(weights):
        seen = _dispatch.drawn_from("multinomial", weights) if _ops.interpreting else weights
        largest = _ops.amax(seen, -1)  # NaN wins, and fails every comparison
        valid = float(_ops.amin(seen)) >= 0 and float(_ops.amax(largest) if largest.shape else largest) < float("inf")
        require(valid, "multinomial: probability tensor contains either `inf`, `nan` or element < 0. Clamp it.")
        positive = float(_ops.amin(largest) if largest.shape else largest) > 0
        require(positive, "multinomial: invalid multinomial distribution (sum of probabilities <= 0). Drop such rows.")
    if replacement and num_samples > 1:
        return into("multinomial", _with_replacement(weights, num_samples, checked("multinomial", generator)), out)
    # the largest of p / q, q exponential, falls on i with probability p[i]; the order of the k largest draws without replacement
    race = weights / exponential_(facula.empty_like(weights), 1.0, generator=generator)
    if num_samples == 1:
        return into("multinomial", race.argmax(-1, keepdim=True), out)
    return into("multinomial", race.topk(num_samples, -1)[1], out)


def _plainly_fit(weights):
    """Few weights, looked at one by one: every row of them is finite, none is negative, one is not 0."""
    if weights.numel() > 64 or weights.is_meta or _dispatch.listened():
        return False
    rows = weights.tolist() if len(weights.shape) == 2 else [weights.tolist()]
    return all([min(row) >= 0 and 0 < sum(row) < float("inf") for row in rows])


def _drawn_in_one(weights, num_samples, generator):
    """_with_replacement in one row; None for weights that have to be refused, which is not this one's affair."""
    shape = (weights.shape[0], num_samples) if len(weights.shape) == 2 else (num_samples,)
    uniforms = _ops.uniform_(empty(shape, dtype=float64), 0.0, 1.0, generator=checked("multinomial", generator))
    try:
        return _ops._multinomial(weights.to(float32) if weights.dtype in (float16, bfloat16) else weights, uniforms)
    except (RuntimeError, TypeError, ValueError):
        return None


def _with_replacement(weights, num_samples, generator):
    """By inversion: the first class whose cumulated probability reaches a float64 uniform."""
    wide = weights.to(float32) if weights.dtype in (float16, bfloat16) else weights
    last = wide.shape[-1] - 1
    sums = _ops.cumsum(wide, -1)
    sums = _ops.copy(_ops.div(sums, _ops.slice(sums, -1, last, 1, 1)), float64)
    uniforms = _ops.uniform_(empty((*weights.shape[:-1], num_samples), dtype=float64, device=weights.device), 0.0, 1.0, generator=generator)
    return _ops.clamp_max_(_ops._searchsorted(sums, uniforms, None, False), last)


METHODS = {
    "bernoulli": bernoulli, "bernoulli_": bernoulli_, "cauchy_": cauchy_, "exponential_": exponential_, "geometric_": geometric_,
    "log_normal_": log_normal_, "multinomial": multinomial, "normal_": normal_, "random_": random_, "uniform_": uniform_,
}  # fmt: skip
