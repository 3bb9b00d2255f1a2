"""One line for each row of the ops table: what the op computes, said independently in NumPy.

    O("tanh",    np.tanh, ulp=2)
    O("sum",     lambda x, dim, keepdim: np.sum(x, axis=dim, keepdims=keepdim), scale=sum_scale)
    O("softmax", lambda x, dim: ..., cases=lambda t: [(t(3, 5), 1)])

The function's parameters are x, y, z, w for the tensors by position, any other name for the argument of that name.
Floating arrays arrive as long double, so the result is (nearly) exact; `ulp` is the error allowed in units of the last
place of the result's dtype, measured at max(|exact|, scale). Rows of maps, folds and scans need no cases: they are made
from the signature. Elsewhere `cases` gives argument tuples in the signature's order (a dict at the end: by name);
t(3, 4) is a random tensor of the dtype under test, t.index(high, 3), t.bool(3), t.of("int64", 3) others.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

EXACT = 0.5001  # correctly rounded, and a hair for the long double


@dataclass(frozen=True)
class Oracle:
    name: str
    numpy: Callable | None
    ulp: float = EXACT
    halves: float = 0.52  # the same for float16 and bfloat16: computed in float32, rounded once
    culp: float = 4.0  # the same for complex dtypes, in ulps of the modulus
    scale: Callable | float | str = 0.0  # how large the terms are: a number, a function of the same arguments, or "max" of the result
    cases: Callable | None = None
    domain: Callable | None = None  # maps a drawn array into where the op is defined
    second: Callable | None = None  # the same for the second tensor, where it differs
    result: tuple | str | None = None  # result words, where they are not the row's
    only: tuple = ()  # the dtypes that it is about, where the row's word cannot say so
    native: bool = False  # the formula rounds at each step: arrays arrive in the dtype that the op computes in
    layouts: bool = True  # False: the op is about strides, so only contiguous arguments have this answer
    expanded: bool = True  # False: equal rows make the problem ill-conditioned
    specials: bool = True  # nan, inf, -0.0, subnormals among the samples
    by: str = ""  # the test file that holds this row to account, where an oracle in NumPy cannot

    @property
    def wants(self):
        return tuple(inspect.signature(self.numpy).parameters)


ORACLES: dict[str, Oracle] = {}


def O(name, numpy, **how):  # noqa: E743 - a table's verb
    if name in ORACLES:
        raise ValueError(f"oracle: {name} has two rows. Remove one.")
    if isinstance(numpy, np.ufunc):  # its tensors are its positions
        ufunc = numpy
        numpy = (lambda x: ufunc(x)) if ufunc.nin == 1 else (lambda x, y: ufunc(x, y))
    ORACLES[name] = Oracle(name, numpy, **how)


def elsewhere(by, *names):
    """These rows are held to account in the test file `by`, which must name them."""
    text = (Path(__file__).parent.parent / by).read_text()
    for name in names:
        if name not in text:
            raise ValueError(f"oracle: {by} does not mention {name}.")
        ORACLES[name] = Oracle(name, None, by=by)


from . import activation, attention, dot, fold, gather, host, map, nn, optim, order, own, place, random, sequence, view, window  # noqa: E402, F401
