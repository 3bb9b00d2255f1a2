"""The promise: bits depend on the elements, their order along reduced dims, the op and the dtype, on nothing else.

Held here: threads 1/2/3/8, ISA levels v3/v4, layouts, and how many other outputs there are (the batch).
"""

import contextlib

import numpy as np
import pytest
from oracles import ORACLES
from oracles.compare import values
from oracles.dtypes import WORDS
from oracles.layouts import LAYOUTS, tensor
from oracles.samples import Draw, bound, cases_of, mapped, tensors
from test_ops import OPS, call, laid_out

import facula
from facula.tensor_core import _lib

lib = _lib.lib
BEST = lib.fc_isa_level()
LEVELS = [level for level in (3, 4) if level <= BEST]
FLOATS = ("float32", "float64", "bfloat16", "complex64")
RULED = [n for n in OPS if n in ORACLES and not ORACLES[n].by and OPS[n].kind != "view"]
PAIRS = [(n, d) for n in RULED for d in FLOATS if d in WORDS[OPS[n].types] and not ORACLES[n].only]


@contextlib.contextmanager
def machine(threads, level):
    before = facula.get_num_threads()
    facula.set_num_threads(threads)
    lib.fc_set_isa_level(level)
    try:
        yield
    finally:
        facula.set_num_threads(before)
        lib.fc_set_isa_level(BEST)


def bits(results):
    """The bytes of every result; every NaN counts as the same one."""
    out = []
    for r in results:
        _, array = values(r)
        if array.dtype.kind in "fc":
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
        out.append(np.ascontiguousarray(array).tobytes())
    return out


def large(op, dtype):
    """Arguments large enough that several threads take part; None where the kind has no obvious ones."""
    oracle = ORACLES[op.name]
    t = Draw(oracle, dtype, specials=False, salt=1)
    n = len(tensors(op))
    if op.kind.startswith("map") and not oracle.cases:
        return bound(op, tuple(t(301, 1009) for _ in range(n)))
    if op.kind == "fold":
        return bound(op, (t(37, 9001), {"dim": 1}))
    if op.kind == "scan":
        return bound(op, (t(37, 9001), {"dim": 1}))
    if op.name == "matmul":
        return bound(op, (t(130, 700), t(700, 150)))
    if op.name == "linear":
        return bound(op, (t(130, 700), t(150, 700), t(150)))
    return None


def all_cases(op, dtype):
    yield from cases_of(op, ORACLES[op.name], dtype)
    arguments = large(op, dtype)
    if arguments:
        yield "large", arguments


@pytest.mark.parametrize("name,dtype", PAIRS)
def test_bits_do_not_depend_on_threads_or_level(name, dtype):
    op = OPS[name]
    for case, arguments in all_cases(op, dtype):
        found = {}
        for threads in (1, 2, 3, 8):
            for level in LEVELS:
                with machine(threads, level):
                    found[threads, level] = bits(call(op, mapped(arguments, tensor)))
        first = next(iter(found.values()))

        assert [] == [key for key, value in found.items() if value != first], f"{name}, {dtype}, {case}: (threads, level) that differ"


@pytest.mark.parametrize("name,dtype", [p for p in PAIRS if ORACLES[p[0]].layouts])
def test_bits_do_not_depend_on_strides(name, dtype):
    op = OPS[name]
    for case, arguments in cases_of(op, ORACLES[name], dtype):
        expected = bits(call(op, mapped(arguments, tensor)))
        for layout in LAYOUTS.values():
            if layout.__name__ != "expanded":
                _, made = laid_out(op, arguments, layout)
                assert expected == bits(call(op, made)), f"{name}, {dtype}, {case}, {layout.__name__}"


def rows_of(op, arguments, rows):
    """The arguments with only these rows of the first one; None where the first dim is not a batch."""
    first, *rest = arguments
    return [type(first)(first.array[rows], first.dtype), *rest]


BATCHED = [(n, d) for n, d in PAIRS if OPS[n].kind in ("fold", "scan") or n in ("matmul", "linear", "softmax", "log_softmax", "layer_norm")]


@pytest.mark.parametrize("name,dtype", BATCHED)
def test_a_row_does_not_depend_on_the_batch(name, dtype):
    op = OPS[name]
    arguments = large(op, dtype)
    if arguments is None:
        t = Draw(ORACLES[name], dtype, specials=False, salt=1)
        arguments = bound(op, (t(37, 515), [515] if name == "layer_norm" else 1))
    whole = call(op, mapped(arguments, tensor))
    for rows in (slice(0, 1), slice(1, 3), slice(5, 22)):
        some = call(op, mapped(rows_of(op, arguments, rows), tensor))
        assert bits(w[rows] for w in whole) == bits(some), f"{name}, {dtype}, rows {rows}"
