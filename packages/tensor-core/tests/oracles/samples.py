"""Random arguments: values that hurt, shapes that leave a tail in every vector loop."""

import zlib
from dataclasses import dataclass, replace

import numpy as np

from .dtypes import COMPLEX_NAMES, INT_NAMES, PRECISION, REAL_NAMES, numpy_dtype, to_bfloat16

SHAPE = (3, 5, 7)


@dataclass(frozen=True)
class Sample:
    """A tensor argument before it has a layout."""

    array: np.ndarray
    dtype: str


class Draw:
    """t(3, 4): a random tensor of the dtype under test. Seeded by the op's and the dtype's names."""

    def __init__(self, oracle, dtype, specials=True, salt=0):
        self.oracle, self.dtype, self.specials = oracle, dtype, specials and oracle.specials
        self.rng = np.random.default_rng([zlib.crc32(f"{oracle.name}/{dtype}".encode()), salt])
        self.drawn = 0

    def __call__(self, *shape):
        self.drawn += 1
        domain = self.oracle.second if self.drawn > 1 and self.oracle.second else self.oracle.domain
        return self.of(self.dtype, *shape, domain=domain)

    def of(self, dtype, *shape, domain=None):
        array = self._values(dtype, shape)
        if domain:
            array = np.asarray(domain(array)).astype(array.dtype)
        return Sample(to_bfloat16(array) if dtype == "bfloat16" else array, dtype)

    def index(self, high, *shape):
        return Sample(self.rng.integers(0, high, shape), "int64")

    def bool(self, *shape):
        return Sample(np.asarray(self.rng.integers(0, 2, shape), bool), "bool")

    def named(self, dtype):
        import facula

        return getattr(facula, dtype)

    @property
    def dtype_object(self):
        import facula

        return getattr(facula, self.dtype)

    def value(self, array, dtype=None):
        """These very values."""
        dtype = dtype or self.dtype
        array = np.asarray(array).astype(numpy_dtype(dtype))
        return Sample(to_bfloat16(array) if dtype == "bfloat16" else array, dtype)

    def wide(self, array):
        """A statistic that a kernel keeps: float32 for halves."""
        return self.value(array, "float32" if self.dtype in ("float16", "bfloat16") else self.dtype)

    def ordered(self, n):
        sample = self(n)
        return replace(sample, array=np.sort(sample.array))

    def scalar(self):
        """A Python number of the kind of the dtype under test."""
        if self.dtype == "bool":
            return True
        return 3 if self.dtype in INT_NAMES else (1.5 if self.dtype in REAL_NAMES else 1.5 - 0.5j)

    def _values(self, dtype, shape):
        rng, kind = self.rng, numpy_dtype(dtype)
        if dtype == "bool":
            return np.asarray(rng.integers(0, 2, shape), bool)
        if dtype in INT_NAMES:
            info = np.iinfo(kind)
            array = np.asarray(rng.integers(max(info.min, -9), 10, shape), kind)
            return self._strewn(array, [info.min, info.max, 0, 1])
        if dtype in COMPLEX_NAMES:
            return np.asarray(rng.normal(0, 2, shape) + 1j * rng.normal(0, 2, shape)).astype(kind)
        array = np.asarray(rng.normal(0, 3, shape)).astype(kind)
        p = PRECISION[dtype]
        tiny = 2.0**p.emin
        return self._strewn(array, [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny / 4, p.max, -p.max / 2, 1.0, -1.0])

    def _strewn(self, array, specials):
        """A few places overwritten by special values; at least half of the array stays ordinary."""
        if self.specials and array.size >= 2 * len(specials):
            where = self.rng.choice(array.size, len(specials), replace=False)
            array.reshape(-1)[where] = np.asarray(specials).astype(array.dtype)
        return array


def cases_of(op, oracle, dtype):
    """Argument lists in the signature's order, each with a word that says what is special about it."""
    t = Draw(oracle, dtype)
    if oracle.cases:
        return [(f"case {k}", bound(op, case)) for k, case in enumerate(oracle.cases(t))]
    made = {"map": map_cases, "fold": fold_cases, "scan": scan_cases}
    maker = next((f for kind, f in made.items() if op.kind.startswith(kind)), None)
    if maker is None:
        raise LookupError(f"oracle: {op.name} is of kind {op.kind}, whose arguments cannot be guessed. Give it cases=.")
    return [(word, bound(op, case)) for word, case in maker(op, t, oracle)]


def bound(op, case):
    """All arguments of the signature, defaults filled in."""
    case, named = (case[:-1], case[-1]) if case and isinstance(case[-1], dict) else (case, {})
    params = [p for p in op.params if p.name != "out"]
    values = list(case) + [named.get(p.name, p.default) for p in params[len(case) :]]
    return values


def tensors(op):
    return [p for p in op.params if "Tensor" in p.type and p.name != "out"]


def map_cases(op, t, oracle):
    n = len(tensors(op))

    def draw(*shapes):
        t.drawn = 0
        return tuple(t(*s) for s in shapes)

    yield "plain", draw(*[SHAPE] * n)
    yield "0-d", draw(*[()] * n)
    yield "empty", draw(*[(0, 3)] * n)
    if n > 1:
        yield "broadcast", draw(*([SHAPE, (5, 1), (7,)][:n]))
        yield "broadcast outward", draw(*([(5, 1), SHAPE, ()][:n]))
    if n == 2 and "Scalar" in tensors(op)[1].type:
        yield "number", (*draw(SHAPE), t.scalar())


def fold_cases(op, t, oracle):
    takes_many = any(p.type.startswith("dims") for p in op.params)
    default = next(p.default for p in op.params if p.name == "dim")
    optional = default is not ...
    dims = ([default] if optional else []) + [0, 1, -1] + ([(0, 2), (-1, 0), (0, 1, 2)] if takes_many else [])
    for dim in dims:
        yield f"dim {dim}", (t(4, 5, 6), {"dim": dim})
    if any(p.name == "keepdim" for p in op.params):
        yield "keepdim", (t(4, 5, 6), {"dim": 1, "keepdim": True})
    yield "two blocks", (t(2, 4100), {"dim": 1})
    yield "column of blocks", (t(4100, 3), {"dim": 0})
    yield "0-d", (t(), {"dim": default if optional else 0})
    yield "empty kept", (t(0, 3), {"dim": 1})


def scan_cases(op, t, oracle):
    for dim in (0, 1, -1):
        yield f"dim {dim}", (t(4, 5, 6), {"dim": dim})
    yield "long", (t(2, 5000), {"dim": 1})
    yield "0-d", (t(), {"dim": 0})
    yield "empty", (t(0, 3), {"dim": 0})


def mapped(value, change):
    """`change` applied to every Sample in an argument."""
    if isinstance(value, Sample):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(v, change) for v in value)
    return value
