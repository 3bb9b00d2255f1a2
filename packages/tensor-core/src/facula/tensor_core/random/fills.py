"""Tensor's in-place random fills: one row of the table each, behind the checks of its parameters.

The streams are PyTorch's (csrc/cpu/random.c).
"""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.tensor_core import _ops
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.functions.create import empty_like
from facula.tensor_core.random.generator import Generator
from facula.tensor_core.dispatch.kinds import check, right, want_tensor
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import int64

DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LARGEST = {
    name: (2.0 - 2.0**-mantissa) * 2.0**exponent
    for name, mantissa, exponent in (("float16", 10, 15), ("bfloat16", 7, 127), ("float32", 23, 127), ("float64", 52, 1023))
}
BITS = {"uint8": 8, "int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint16": 16, "uint32": 32, "uint64": 63}
_WIDE = ("uint16", "uint32", "uint64")  # dtypes without rows of their own


def checked(op: str, generator: Any) -> Generator | None:
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(f"{op}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator


def require(condition: bool, text: str) -> None:
    if not condition:
        raise RuntimeError(text)


def _floats(name, values):
    """Refuse what is no number."""
    for position, (parameter, value) in enumerate(values.items()):
        if type(value) is not float and type(value) is not int:
            check(name, parameter, position, "float", value)


def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with numbers uniform in [from_, to).

    >>> import facula
    >>> _ = facula.manual_seed(0)
    >>> facula.empty(2).uniform_(10, 20)
    tensor([14.9626, 17.6822])
    """
    if type(from_) is not float or type(to) is not float:
        _floats("uniform_", {"from": from_, "to": to})
    try:
        dtype = self.dtype
    except AttributeError:
        want_tensor("uniform_", "input", 0, self)
        raise
    largest = LARGEST.get(dtype._name if dtype._kind == 2 else dtype.to_real()._name, float("inf"))
    if not (-largest <= from_ <= to <= largest and to - from_ <= largest):
        checked("uniform_", generator)
        if dtype._kind < 2:
            raise DTypeError(f'uniform_: "check_uniform_bounds" not implemented for {dtype._scalar_type!r}. Convert it with .float().')
        for name, value in (("from", from_), ("to", to)):
            require(abs(value) <= largest, f"uniform_: {name} is out of bounds for {self.dtype}: {value}. Choose a number within +-{largest}.")
        require(from_ <= to, f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}. Swap them.")
        require(to - from_ <= largest, f"uniform_ expects to-from <= {largest:g}, but found to={to:g} and from={from_:g}. Choose a smaller range.")
    return _ops.uniform_(self, float(from_), float(to), generator=checked("uniform_", generator))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with normal numbers.

    >>> _ = facula.manual_seed(0)
    >>> facula.zeros(2).normal_()
    tensor([ 1.5410, -0.2934])
    """
    if type(mean) is not float or type(std) is not float:
        _floats("normal_", {"mean": mean, "std": std})
    if not std >= 0:
        checked("normal_", generator)
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}. Take its absolute value.")
    return _ops.normal_(self, float(mean), float(std), generator=checked("normal_", generator))


def _countable(dtype: Any) -> None:
    if dtype._name not in BITS and dtype._name not in LARGEST:
        raise DTypeError(f"random_: not implemented for {dtype}. Convert to int64.")


def _integer_bounds(dtype: Any) -> tuple[int, int]:
    """The integers that random_ may be asked for: the dtype's own, or those that a float counts through."""
    if dtype._kind == 2:
        _countable(dtype)
        largest = int(LARGEST[dtype._name])
        return max(-largest, -(2**63)), min(largest, 2**63 - 1)
    if dtype._kind == 0:
        return 0, 1
    _countable(dtype)
    largest = 2 ** BITS[dtype._name] - 1
    return -largest - 1 if dtype.is_signed else 0, largest


def _held(self: Tensor, inner: int, bound: int, inwards: int) -> int:
    """A bound of random_, moved inwards where the dtype would round the last integer within to one without. As PyTorch moves it."""
    digits = DIGITS[self.dtype._name]
    if abs(inner) <= 2**digits:
        return bound
    rounded = int(facula.tensor(inner, dtype=facula.float64).to(self.dtype).item())
    if rounded < bound if inwards < 0 else rounded >= bound:
        return bound
    return rounded + inwards * 2 ** max(abs(inner).bit_length() - digits, 0)


def random_(self: Tensor, *bounds: int | None, generator: Generator | None = None, **named: int | None) -> Tensor:
    """self, filled with integers: random_() up to the largest that the dtype holds, random_(to), random_(from, to).

    Float dtypes count: their largest is 2**digits. `to` is excluded; None means one past the largest.

    >>> bool((facula.zeros(100).random_(3, 6) < 6).all())
    True
    """
    checked("random_", generator)
    if named:
        if not set(named) <= {"from", "from_", "to"} or len(bounds) + len(named) > 2:
            raise TypeError(f"random_(): takes from and to, got {len(bounds)} numbers and {sorted(named)}")
        to = named.pop("to", None) if "to" in named else bounds[-1] if bounds else None
        start = next(iter(named.values()), bounds[0] if bounds else 0)
        bounds = (start, to)
    if not bounds:
        return _ops.random_full_(self, generator=generator)
    if len(bounds) > 2 or not all(b is None or right("size", b) for b in bounds) or bounds[0] is None:
        raise TypeError(f"random_(): expected (to) or (from, to) as integers, got {bounds}")
    start, to = (0, bounds[0]) if len(bounds) == 1 else bounds
    start = int(start)
    smallest, largest = _integer_bounds(self.dtype)
    if to is None:
        if start == -(2**63):
            if smallest != start:
                raise DTypeError(f"random_: not implemented for {self.dtype} from {start} on. Convert to int64.")
            return _ops.random_range_(self, start, start, generator=generator)  # all of 64 bits, which floats round
        to = 2 ** DIGITS[self.dtype._name] + 1 if self.dtype._kind == 2 else largest + 1
    else:
        to = int(to)
        if not (-(2**63) <= start < 2**63 and -(2**63) <= to < 2**63):
            raise ValueError(f"random_: Overflow when unpacking long long: {start} and {to} must fit 64 bits.")
        if not start < to <= largest + 1:
            require(start < to, f"random_ expects 'from' to be less than 'to', but got from={start} >= to={to}. Swap them.")
            require(smallest <= start <= largest, f"random_: from is out of bounds for {self.dtype}: from={start}. At most {largest}.")
            raise RuntimeError(f"random_: to - 1 is out of bounds for {self.dtype}: to={to}. At most {largest + 1}.")
    if self.dtype._kind == 2:
        for word, value in (("from", start), ("to - 1", to - 1)):
            if abs(value) > 2 ** DIGITS[self.dtype._name] and bounds[-1] is not None:
                warnings.warn(
                    f"{word} is out of bounds [-(2^{DIGITS[self.dtype._name]}), 2^{DIGITS[self.dtype._name]}]: due to precision limitations {self.dtype} can "
                    f"support discrete uniform distribution only within this range, got {value}.",
                    stacklevel=3,
                )
        start, to = _held(self, start + 1, start, 1), _held(self, to - 1, to, -1)
    if not smallest <= start <= largest:
        raise RuntimeError(f"random_: from is out of bounds for {self.dtype}: from={start}. At least {smallest}.")
    if self.dtype._name in _WIDE:  # the same stream
        return self.copy_(_ops.random_range_(empty_like(self, dtype=int64), start, to if to < 2**63 else -(2**63), generator=generator))
    return _ops.random_range_(self, start, to if to < 2**63 else -(2**63), generator=generator)


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with exponential numbers of rate lambd.

    >>> bool((facula.zeros(100).exponential_(2.0) >= 0).all())
    True
    """
    if type(lambd) is not float:
        _floats("exponential_", {"lambd": lambd})
    if not lambd > 0:
        checked("exponential_", generator)
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}. Choose a positive rate.")
    return _ops.exponential_(self, float(lambd), generator=checked("exponential_", generator))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """self, filled with the number of trials up to the first success of probability p.

    >>> bool((facula.zeros(100).geometric_(0.5) >= 1).all())
    True
    """
    if type(p) is not float:
        _floats("geometric_", {"p": p})
    if not 0 < p < 1:
        checked("geometric_", generator)
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}. Clamp it.")
    return _ops.geometric_(self, float(p), generator=checked("geometric_", generator))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with Cauchy numbers.

    >>> facula.zeros(3).cauchy_().isfinite()
    tensor([True, True, True])
    """
    if type(median) is not float or type(sigma) is not float:
        _floats("cauchy_", {"median": median, "sigma": sigma})
    if not sigma > 0:
        checked("cauchy_", generator)
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}. Choose a positive scale.")
    return _ops.cauchy_(self, float(median), float(sigma), generator=checked("cauchy_", generator))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """self, filled with numbers whose logarithm is normal with this mean and std.

    >>> bool((facula.zeros(100).log_normal_() > 0).all())
    True
    """
    if type(mean) is not float or type(std) is not float:
        _floats("log_normal_", {"mean": mean, "std": std})
    if not std > 0:
        checked("log_normal_", generator)
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}. Choose a positive one.")
    return _ops.log_normal_(self, float(mean), float(std), generator=checked("log_normal_", generator))
