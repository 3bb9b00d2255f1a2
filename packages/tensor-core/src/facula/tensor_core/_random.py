"""Random tensors: factories (rand, randn, randint, ...), draws from tensors of parameters, and Tensor's in-place fills.

The streams are PyTorch's (csrc/cpu/random.c). Each fill is one row of the table; what stands here is the reading of
arguments, the checks of parameters, and the compositions.
"""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.tensor_core import _dispatch, _ops
from facula.tensor_core._dispatch import has_origin
from facula.tensor_core._out import a_tensor, into, refuse_history, resize
from facula.tensor_core._arguments import ints
from facula.tensor_core._create import empty, empty_like, plain
from facula.tensor_core._errors import STATUS, DTypeError, ShapeError
from facula.tensor_core._guard import check
from facula.tensor_core._generator import Generator
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import Size, bfloat16, float16, float32, float64, int32, int64

__all__ = [
    "bernoulli", "binomial", "multinomial", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
]  # fmt: skip

FC_ARG = STATUS.index("arg")
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LARGEST = {
    name: (2.0 - 2.0**-mantissa) * 2.0**exponent
    for name, mantissa, exponent in (("float16", 10, 15), ("bfloat16", 7, 127), ("float32", 23, 127), ("float64", 52, 1023))
}
BITS = {"uint8": 8, "int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint16": 16, "uint32": 32, "uint64": 63}
_WIDE = ("uint16", "uint32", "uint64")  # dtypes without rows of their own


def _checked(op: str, generator: Any) -> Generator | None:
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"{op}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise RuntimeError(text)


def _floats(name, values):
    """Refuse what is no number."""
    for position, (parameter, value) in enumerate(values.items()):
        check(name, parameter, position, "float", value)


# --- in-place fills ----------------------------------------------------------------------------------------------------


def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with numbers uniform in [from_, to).

    >>> import facula
    >>> _ = facula.manual_seed(0)
    >>> facula.empty(2).uniform_(10, 20)
    tensor([14.9626, 17.6822])
    """
    if type(from_) is not float or type(to) is not float:
        _floats("uniform_", {"from": from_, "to": to})
    dtype = self.dtype
    largest = LARGEST.get(dtype.name if dtype.kind == 2 else dtype.to_real().name, float("inf"))
    if not (-largest <= from_ <= to <= largest and to - from_ <= largest):
        for name, value in (("from", from_), ("to", to)):
            _require(abs(value) <= largest, f"uniform_: {name} is out of bounds for {self.dtype}: {value}. Choose a number within +-{largest}.")
        _require(from_ <= to, f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}. Swap them.")
        _require(to - from_ <= largest, f"uniform_ expects to-from <= {largest:g}, but found to={to:g} and from={from_:g}. Choose a smaller range.")
    return _ops.uniform_(self, float(from_), float(to), generator=_checked("uniform_", generator))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with normal numbers."""
    if type(mean) is not float or type(std) is not float:
        _floats("normal_", {"mean": mean, "std": std})
    _require(std >= 0, f"normal expects std >= 0.0, but found std {std:g}. Take its absolute value.")
    return _ops.normal_(self, float(mean), float(std), generator=_checked("normal_", generator))


def bernoulli_(self: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
    """self, filled with 1 with probability p (a number, or a tensor that broadcasts to self) and 0 otherwise."""
    _checked("bernoulli_", generator)
    if isinstance(p, Tensor):
        order = sorted(range(self.dim()), key=self.stride, reverse=True)  # draws go in the order of self's memory
        target = self.permute(order) if order else self
        target.copy_(bernoulli(p.expand(self.shape).permute(order) if order else p.reshape(()), generator=generator))
        return self
    _require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}. Clamp it.")
    return _ops.bernoulli_scalar_(self, float(p), generator=generator)


def _integer_bounds(dtype: Any) -> tuple[int, int]:
    """The integers that random_ may be asked for: the dtype's own, or those that a float counts through."""
    if dtype.kind == 2:
        largest = int(LARGEST[dtype.name])
        return max(-largest, -(2**63)), min(largest, 2**63 - 1)
    if dtype.kind == 0:
        return 0, 1
    _require(dtype.name in BITS, f"random_: not implemented for {dtype}. Convert to int64.")
    largest = 2 ** BITS[dtype.name] - 1
    return -largest - 1 if dtype.is_signed else 0, largest


def _held(self: Tensor, inner: int, bound: int, inwards: int) -> int:
    """A bound of random_, moved inwards where the dtype would round the last integer within to one without. As PyTorch moves it."""
    digits = DIGITS[self.dtype.name]
    if abs(inner) <= 2**digits:
        return bound
    rounded = int(facula.tensor(inner, dtype=facula.float64).to(self.dtype).item())
    if rounded < bound if inwards < 0 else rounded >= bound:
        return bound
    return rounded + inwards * 2 ** max(abs(inner).bit_length() - digits, 0)


def random_(self: Tensor, *bounds: int | None, generator: Generator | None = None, **named: int | None) -> Tensor:
    """self, filled with integers: random_() up to the largest that the dtype holds, random_(to), random_(from, to).

    Float dtypes count: their largest is 2**digits. `to` is excluded; None means one past the largest.
    """
    _checked("random_", generator)
    if named:
        if not set(named) <= {"from", "from_", "to"} or len(bounds) + len(named) > 2:
            raise TypeError(f"random_(): takes from and to, got {len(bounds)} numbers and {sorted(named)}")
        to = named.pop("to", None) if "to" in named else bounds[-1] if bounds else None
        start = next(iter(named.values()), bounds[0] if bounds else 0)
        bounds = (start, to)
    if not bounds:
        return _ops.random_full_(self, generator=generator)
    if len(bounds) > 2 or not all(b is None or hasattr(b, "__index__") for b in bounds) or bounds[0] is None:
        raise TypeError(f"random_(): expected (to) or (from, to) as integers, got {bounds}")
    start, to = (0, bounds[0]) if len(bounds) == 1 else bounds
    start = int(start)
    smallest, largest = _integer_bounds(self.dtype)
    if to is None:
        to = 2 ** DIGITS[self.dtype.name] + 1 if self.dtype.kind == 2 else largest + 1
    else:
        to = int(to)
        if not (-(2**63) <= start < 2**63 and -(2**63) <= to < 2**63):
            raise ValueError(f"random_: Overflow when unpacking long long: {start} and {to} must fit 64 bits.")
        if not start < to <= largest + 1:
            _require(start < to, f"random_ expects 'from' to be less than 'to', but got from={start} >= to={to}. Swap them.")
            _require(smallest <= start <= largest, f"random_: from is out of bounds for {self.dtype}: from={start}. At most {largest}.")
            raise RuntimeError(f"random_: to - 1 is out of bounds for {self.dtype}: to={to}. At most {largest + 1}.")
    if self.dtype.kind == 2:
        for word, value in (("from", start), ("to - 1", to - 1)):
            if abs(value) > 2 ** DIGITS[self.dtype.name] and bounds[-1] is not None:
                warnings.warn(
                    f"{word} is out of bounds [-(2^{DIGITS[self.dtype.name]}), 2^{DIGITS[self.dtype.name]}]: due to precision limitations {self.dtype} can "
                    f"support discrete uniform distribution only within this range, got {value}.",
                    stacklevel=3,
                )
        start, to = _held(self, start + 1, start, 1), _held(self, to - 1, to, -1)
    if not smallest <= start <= largest:
        raise RuntimeError(f"random_: from is out of bounds for {self.dtype}: from={start}. At least {smallest}.")
    if self.dtype.name in _WIDE:  # the same stream
        return self.copy_(_ops.random_range_(empty_like(self, dtype=int64), start, to if to < 2**63 else -(2**63), generator=generator))
    return _ops.random_range_(self, start, to if to < 2**63 else -(2**63), generator=generator)


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with exponential numbers of rate lambd."""
    _require(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}. Choose a positive rate.")
    return _ops.exponential_(self, float(lambd), generator=_checked("exponential_", generator))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """self, filled with the number of trials up to the first success of probability p."""
    _require(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}. Clamp it.")
    return _ops.geometric_(self, float(p), generator=_checked("geometric_", generator))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with Cauchy numbers."""
    _floats("cauchy_", {"median": median, "sigma": sigma})
    _require(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}. Choose a positive scale.")
    return _ops.cauchy_(self, float(median), float(sigma), generator=_checked("cauchy_", generator))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with numbers whose logarithm is normal with this mean and std."""
    _floats("log_normal_", {"mean": mean, "std": std})
    _require(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}. Choose a positive one.")
    return _ops.log_normal_(self, float(mean), float(std), generator=_checked("log_normal_", generator))


# --- factories ---------------------------------------------------------------------------------------------------------


def _place(op, size, out, dtype, layout, device, pin_memory):
    """An uninitialised tensor, or `out` brought to this size."""
    if out is None:
        return empty(size, dtype=dtype, device=device, layout=layout, pin_memory=pin_memory)
    plain(layout, pin_memory)
    a_tensor(op, out)
    if dtype is not None and out.dtype is not dtype:
        raise DTypeError(f"{op}: dtype {dtype} does not match dtype of out parameter ({out.dtype}). Leave dtype out.")
    return out.resize_(size) if tuple(out.shape) != tuple(size) else out


def _finished(tensor, requires_grad, out=None):
    if out is None:
        lib.fc_fresh(tensor._h)
    if requires_grad and requires_grad is not True:
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}. Write True or False.")
    return tensor.requires_grad_(True) if requires_grad else tensor


def _size(args, size):
    return tuple(size) if size is not None else tuple(ints(args))


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
    tensor = _place("rand", _size(args, size), out, dtype, layout, device, pin_memory)
    return _finished(_ops.uniform_(tensor, 0.0, 1.0, generator=_checked("rand", generator)), requires_grad, out)


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
    tensor = _place("randn", _size(args, size), out, dtype, layout, device, pin_memory)
    return _finished(_ops.normal_(tensor, 0.0, 1.0, generator=_checked("randn", generator)), requires_grad, out)


def randint(
    *args: Any, low: int | None = None, high: int | None = None, size: Any = None, generator: Generator | None = None,
    out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Integers uniform in [low, high): randint(high, size) or randint(low, high, size)."""
    if len(args) in (2, 3) and low is high is size is generator is out is layout is device is None and not (requires_grad or pin_memory) and (dtype is None or dtype in (int64, int32)):
        start, to, shape = args if len(args) == 3 else (0, *args)
        limit = 2**31 if dtype is int32 else 2**63 - 1
        if type(start) is type(to) is int and -limit <= start < to <= limit and type(shape) in (tuple, Size):  # the common case, flat
            tensor = empty(shape, dtype=dtype or int64)
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
    check("randint", "high", 0, "int", high)
    check("randint", "low", 0, "int", low)
    tensor = _place("randint", tuple(ints((size,))), out, (int64 if out is None else None) if dtype is None else dtype, layout, device, pin_memory)
    return _finished(random_(tensor, low, high, generator=generator), requires_grad, out)


def randperm(
    n: int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A permutation of 0 .. n - 1, int64 unless `dtype` says otherwise."""
    if type(n) is not int:
        check("randperm", "n", 0, "int", n)
    _require(n >= 0, f"randperm: Trying to create tensor with negative dimension {n}: [{n}]. Pass n >= 0.")
    tensor = _place("randperm", (n,), out, (int64 if out is None else None) if dtype is None else dtype, layout, device, pin_memory)
    name = tensor.dtype.name
    limit = 2 ** BITS[name] if name in BITS else 2 ** DIGITS[name] + 1 if name in DIGITS else n
    _require(n <= limit, f"randperm: n={n} cannot be converted to {tensor.dtype} without overflow. Use a wider dtype.")
    return _finished(_ops.randperm_(tensor, generator=_checked("randperm", generator)), requires_grad, out)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Numbers uniform in [0, 1), of input's shape, dtype and strides unless said otherwise."""
    tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    return _finished(_ops.uniform_(tensor, 0.0, 1.0, generator=_checked("rand_like", generator)), requires_grad)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Normal numbers of input's shape, dtype and strides unless said otherwise."""
    tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    return _finished(_ops.normal_(tensor, 0.0, 1.0, generator=_checked("randn_like", generator)), requires_grad)


def randint_like(
    input: Tensor, *args: int, low: int | None = None, high: int | None = None, generator: Generator | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """Integers uniform in [low, high), of input's shape and dtype: randint_like(input, high) or (input, low, high)."""
    if type(input) is Tensor and low is high is generator is dtype is layout is device is memory_format is None and not requires_grad and input.dtype.kind in (1, 2) and all([type(b) is int for b in args]):
        start, to = args if len(args) == 2 else (0, args[0]) if len(args) == 1 else (0, 0)
        if -128 * input.dtype.is_signed <= start < to <= 128:  # the common case, flat: what every dtype of integers holds
            tensor = _ops.random_range_(lib.empty_like(input._h, lib.fc_dtype(input._h), 1), start, to)
            lib.fc_fresh(tensor._h)
            return tensor
    given = [*args, *(b for b in (low, high) if b is not None)]
    if not 1 <= len(given) <= 2:
        raise TypeError(f"randint_like() takes (input, high) or (input, low, high), got {len(given)} bounds")
    tensor = empty_like(input, dtype=dtype, layout=layout, device=device, memory_format=memory_format)
    return _finished(random_(tensor, *given, generator=generator), requires_grad)


# --- draws from tensors of parameters ----------------------------------------------------------------------------------


def _drawn(row, input, generator, complaint, flat=False):
    """A contiguous copy of input, each element replaced by a draw with that parameter; flat: with a history that says its derivative is 0."""
    generator = _checked(row, generator)
    result = (input if flat else input.detach()).clone(memory_format=facula.contiguous_format)
    try:
        return getattr(_ops, row)(result, generator=generator)
    except RuntimeError:
        if lib.fc_status() == FC_ARG:
            raise RuntimeError(complaint) from None
        raise


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probability that stands in input, else 0, in input's dtype; with `p`, input gives only shape and dtype."""
    if p is not None:
        result = _finished(bernoulli_(facula.empty_like(input), p, generator=generator), False)
    else:
        complaint = "bernoulli: Expected p_in >= 0 && p_in <= 1 to be true: input holds numbers outside of [0, 1]. Clamp them."
        result = _drawn("draw_bernoulli_", input, generator, complaint, flat=True)
    if isinstance(out, Tensor) and out.dtype.kind == 3:
        raise DTypeError(f'bernoulli: "bernoulli_tensor" not implemented for {out.dtype.name!r}. Give a real output.')
    return result if out is None else into("bernoulli", result.to(out.dtype) if isinstance(out, Tensor) else result, out)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers, each of the rate that stands in input."""
    complaint = "poisson: invalid Poisson rate, expected rate to be non-negative: input holds negative numbers or NaN. Clamp them."
    return _drawn("draw_poisson_", input, generator, complaint, flat=True)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`: both floating, of one dtype, broadcast.

    Raises ValueError for counts of another kind, RuntimeError for two dtypes.

    >>> import facula
    >>> facula.binomial(facula.tensor([5.0, 5.0]), facula.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    if count.dtype.kind != 2:
        raise ValueError(f"binomial only supports floating-point dtypes for count, got: {count.dtype.name}. Convert it with .to(facula.float32).")
    if count.dtype in (facula.float16, facula.bfloat16):
        raise DTypeError(f"binomial: not implemented for {count.dtype.name}. Convert with .to(facula.float32).")
    if prob.dtype.kind != 2 or prob.dtype is not count.dtype:
        raise DTypeError(f"binomial: Found dtype {prob.dtype.name} but expected {count.dtype.name} for prob. Convert one with .to().")
    generator = _checked("binomial", generator)
    pairs = facula.stack(facula.broadcast_tensors(count.detach().to(facula.float64), prob.detach().to(facula.float64)), -1)
    return _ops.copy(_ops.draw_binomial_(pairs, generator=generator)[..., 0], count.dtype, 0)


def _sample_dirichlet(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Shares that sum to 1 along the last dim, of the Dirichlet distribution with the concentrations in self; never 0 nor 1."""
    drawn = _drawn("draw_gamma_", self.detach().to(facula.float64), generator, "_sample_dirichlet: a concentration is negative or NaN. Clamp it.")
    shares = (drawn / drawn.sum(-1, True)).to(self.dtype)
    info = facula.finfo(self.dtype)
    return shares.clamp(info.tiny, 1.0 - info.eps / 2)


def _standard_gamma(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of scale 1, each of the shape that stands in self; never 0."""
    return _drawn("draw_gamma_", self, generator, "_standard_gamma: a shape is negative or NaN. Clamp it.")


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Normal numbers: mean and std are tensors that broadcast, one tensor and a number, or numbers with a `size`."""
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if tensors and size is not None and not any(t.dim() for t in tensors):
        mean, std = (v.item() if isinstance(v, Tensor) else v for v in (mean, std))
        tensors = []
    if not tensors:
        if size is None:
            raise TypeError("normal() of two numbers needs a size: normal(mean, std, size)")
        result = _place("normal", tuple(size), out, dtype, layout, device, pin_memory)
        return _finished(normal_(result, mean, std, generator=generator), requires_grad, out)
    if size is not None or dtype is not None or layout is not None or device is not None or requires_grad or pin_memory:
        raise TypeError("normal() of tensors takes shape, dtype and device from them: leave size, dtype, layout, device and requires_grad out")
    _checked("normal", generator)
    if isinstance(out, Tensor) and out.dtype.kind < 2:
        raise DTypeError(f'normal: "normal_kernel" not implemented for {out.dtype.name!r}. Give a floating output.')
    if isinstance(std, Tensor):
        _require(not std.numel() or bool((std >= 0).all()), "normal expects all elements of std >= 0.0. Take its absolute value.")
    elif not std >= 0:
        _require(False, f"normal expects std >= 0.0, but found std {std:g}. Take its absolute value.")
    shape = tensors[0].shape if len(tensors) == 1 else facula.broadcast_shapes(mean.shape, std.shape)
    if out is not None:  # drawn where it lies: in the order of its memory, and of its dtype
        refuse_history("normal", (*tensors, out))
        if len(tensors) == 2:
            resize("normal", out, shape)
        result = out
    elif has_origin(tensors):  # a history that says that the derivatives are 0
        both = tensors[0] + tensors[1] if len(tensors) == 2 else tensors[0]
        result = both.to(tensors[0].dtype).clone(memory_format=facula.contiguous_format)
    else:
        result = facula.empty(shape, dtype=tensors[0].dtype, device=tensors[0].device)
    result = _ops.normal_(result, 0.0, 1.0 if isinstance(std, Tensor) else float(std), generator=generator)
    if isinstance(std, Tensor):
        result.mul_(std.detach())
    return result.add_(mean.detach() if isinstance(mean, Tensor) else mean)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """Indices drawn with the probabilities (weights, up to a factor) of input's rows.

    input: (C,) or (N, C), floating, not negative. Result: int64, (num_samples,) or (N, num_samples).
    """
    if input.dim() not in (1, 2):
        raise ShapeError(f"multinomial: prob_dist must be 1 or 2 dim, it has {input.dim()} (input: {tuple(input.shape)}). Reshape it.")
    if input.dtype.kind != 2:
        raise DTypeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}. Convert with .float().")
    if type(num_samples) is not int:
        check("multinomial", "num_samples", 1, "int", num_samples)
    _require(num_samples > 0, f"cannot sample n_sample <= 0 samples: num_samples is {num_samples}. Ask for one at least.")
    classes = input.shape[-1]
    _require(
        replacement or num_samples <= classes,
        f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {num_samples} of {classes}. Pass replacement=True.",
    )
    weights = input if input.origin is None else input.detach()
    if replacement and num_samples > 1 and 0 < weights.numel() <= 4096 >= num_samples and not (_ops.interpreting or weights.is_meta) and (drawn := _few_drawn(weights, num_samples, generator)) is not None:
        return drawn if out is None else into("multinomial", drawn, out)
    if weights.numel() and not _plainly_fit(weights):
        largest = _ops.amax(weights, -1)  # NaN wins, and fails every comparison
        valid = float(_ops.amin(weights)) >= 0 and float(_ops.amax(largest) if largest.shape else largest) < float("inf")
        _require(valid, "multinomial: probability tensor contains either `inf`, `nan` or element < 0. Clamp it.")
        positive = float(_ops.amin(largest) if largest.shape else largest) > 0
        _require(positive, "multinomial: invalid multinomial distribution (sum of probabilities <= 0). Drop such rows.")
    if replacement and num_samples > 1:
        return into("multinomial", _with_replacement(weights, num_samples, _checked("multinomial", generator)), out)
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


def _few_drawn(weights, num_samples, generator):
    """_with_replacement in one row; None for weights that have to be refused, which is not this one's affair."""
    shape = (weights.shape[0], num_samples) if len(weights.shape) == 2 else (num_samples,)
    uniforms = _ops.uniform_(empty(shape, dtype=float64), 0.0, 1.0, generator=_checked("multinomial", generator))
    try:
        return _ops._multinomial(weights, uniforms)
    except (RuntimeError, TypeError, ValueError):
        return None


def _with_replacement(weights, num_samples, generator):
    """By inversion: the first class whose cumulated probability reaches a float64 uniform."""
    wide = weights.to(float32) if weights.dtype in (float16, bfloat16) else weights
    last = wide.shape[-1] - 1
    sums = _ops.cumsum(wide, -1)
    sums = _ops.copy(_ops.div(sums, _ops.slice(sums, -1, last, 1, 1)), float64)
    uniforms = _ops.uniform_(empty((*weights.shape[:-1], num_samples), dtype=float64), 0.0, 1.0, generator=generator)
    return _ops.clamp_max_(_ops._searchsorted(sums, uniforms, None, False), last)


METHODS = {
    "bernoulli": bernoulli, "bernoulli_": bernoulli_, "cauchy_": cauchy_, "exponential_": exponential_, "geometric_": geometric_,
    "log_normal_": log_normal_, "multinomial": multinomial, "normal_": normal_, "random_": random_, "uniform_": uniform_,
}  # fmt: skip
