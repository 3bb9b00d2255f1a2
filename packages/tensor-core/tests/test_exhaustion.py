"""Memory that ends in the midst of an op: every row, each of its allocations refused in turn, on one thread and on several.

The op fails in words or gives the result that it always gives; it keeps no memory, and works again. So do calls that Python makes of
several steps. Only a library of its own can be made to fail so: tools/sanitize memory, or ops.
"""

import gc
from itertools import count, islice

import pytest
from oracles import ORACLES, large
from oracles.layouts import tensor
from oracles.samples import Draw, cases_of, mapped
from test_same_bits import PAIRS, BEST, bits, machine, run
from test_ops import OPS

import facula
from facula.tensor_core import _lib

lib = _lib.lib
IN_USE = 0
CASES, LARGE = 4, 1
FAILS = lib.fc_alloc_fail_after(0) >= 0
pytestmark = pytest.mark.skipif(not FAILS, reason="allocations fail on request in a library that tools/sanitize built")
ONCE = list({name: (name, dtype) for name, dtype in reversed(PAIRS)}.values())[:: -1 if FAILS else -len(PAIRS)]


def cases(name, dtype):
    op, oracle = OPS[name], ORACLES[name]
    if not oracle.by or op.kind.startswith("map"):
        yield from islice(cases_of(op, oracle, dtype), CASES)
    yield from islice(large.cases(op, lambda: Draw(oracle, dtype, specials=False, salt=1)), LARGE)


@pytest.fixture(autouse=True, scope="module")
def few_objects():
    """What is there already lives on: collecting garbage looks at what a test leaves, many times over."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def refused_in_turn(what, attempt, expected):
    """attempt() over and over, its first allocation refused, its second, and so on until it needs no more."""
    for n in count(1):
        where = f"{what}, allocation {n}"
        ready = attempt()
        gc.collect() if n == 1 else None
        before = lib.fc_alloc_stat(IN_USE)
        lib.fc_alloc_fail_after(n)
        try:
            result = ready()
        except (RuntimeError, MemoryError) as error:
            left = lib.fc_alloc_fail_after(0)
            assert left == 0, (where, error)
            assert "memory" in str(error), (where, error)
        else:
            left = lib.fc_alloc_fail_after(0)
            assert bits(result) == expected, where
            del result
        del ready
        assert lib.fc_alloc_stat(IN_USE) <= before, f"{where}: memory is kept"
        if left:
            break


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("name,dtype", ONCE)
def test_each_allocation_may_fail(name, dtype, threads):
    op = OPS[name]
    with machine(threads, BEST):
        for case, arguments in cases(name, dtype):

            def attempt():
                made = mapped(arguments, tensor)  # noqa: B023 - writes in place, some of them: each attempt gets its own
                return lambda: run(op, made)

            attempt()()
            refused_in_turn(f"{name}, {dtype}, {case}", attempt, bits(attempt()()))


SEVERAL = {  # calls of several steps, of a float matrix, a vector, integers and a mask over the matrix's rows
    "reshape": lambda x, v, i, m: x.t().reshape(-1),
    "flatten": lambda x, v, i, m: x.t().flatten(),
    "contiguous": lambda x, v, i, m: x.t().contiguous(),
    "rows by a mask": lambda x, v, i, m: x[m],
    "rows by numbers": lambda x, v, i, m: x[i],
    "both": lambda x, v, i, m: x[i, i],
    "a list": lambda x, v, i, m: x[[0, 2]],
    "numbers behind a slice": lambda x, v, i, m: x[:, i],
    "elements by a mask": lambda x, v, i, m: x[x > 0],
    "written by a mask": lambda x, v, i, m: (x.__setitem__(m, 1.0), x)[1],
    "written by numbers": lambda x, v, i, m: (x.__setitem__(i, v), x)[1],
    "eye": lambda x, v, i, m: facula.eye(3),
    "full": lambda x, v, i, m: facula.full((3, 2), 1.5),
    "arange": lambda x, v, i, m: facula.arange(7),
    "linspace": lambda x, v, i, m: facula.linspace(0, 1, 7),
    "tensor": lambda x, v, i, m: facula.tensor([[1.0, 2.0], [3.0, 4.0]]),
    "cat": lambda x, v, i, m: facula.cat([x, x.t().contiguous().t()]),
    "stack": lambda x, v, i, m: facula.stack([v, v]),
    "split": lambda x, v, i, m: x.split(2),
    "chunk": lambda x, v, i, m: x.chunk(2, 1),
    "unbind": lambda x, v, i, m: x.unbind(),
    "expand and add": lambda x, v, i, m: x + v,
    "to": lambda x, v, i, m: x.to(facula.float64),
    "clone": lambda x, v, i, m: x.t().clone(),
    "repeat": lambda x, v, i, m: x.repeat(2, 3),
    "flip": lambda x, v, i, m: x.flip(0),
    "roll": lambda x, v, i, m: x.roll(1),
    "sort": lambda x, v, i, m: tuple(x.sort()),
    "topk": lambda x, v, i, m: tuple(x.topk(2)),
    "unique": lambda x, v, i, m: i.unique(),
    "nonzero": lambda x, v, i, m: m.nonzero(),
    "where": lambda x, v, i, m: facula.where(x > 0, x, v),
    "einsum": lambda x, v, i, m: facula.einsum("ij,kj->ik", x, x),
    "matmul": lambda x, v, i, m: x @ x.t(),
    "norm": lambda x, v, i, m: x.norm(),
    "std": lambda x, v, i, m: x.std(),
    "quantile": lambda x, v, i, m: x.quantile(0.5),
    "median": lambda x, v, i, m: x.median(),
    "bincount": lambda x, v, i, m: i.bincount(),
    "histc": lambda x, v, i, m: x.histc(4),
    "searchsorted": lambda x, v, i, m: facula.searchsorted(v.sort()[0], x),
    "complex": lambda x, v, i, m: facula.complex(x, x).abs(),
    "conj": lambda x, v, i, m: facula.complex(x, x).conj() * 2,
    "out": lambda x, v, i, m: facula.add(x, v, out=facula.empty(0)),
    "arange out": lambda x, v, i, m: facula.arange(4, out=facula.empty(0)),
    "half": lambda x, v, i, m: x.half() + 1,
    "sparse": lambda x, v, i, m: x.to_sparse().to_dense(),
    "pad": lambda x, v, i, m: facula.constant_pad_nd(x, (1, 1)),
    "cumsum": lambda x, v, i, m: x.cumsum(0),
    "scatter": lambda x, v, i, m: v.scatter(0, i, 1.0),
    "print": lambda x, v, i, m: facula.tensor(len(repr(x))),
    "tolist": lambda x, v, i, m: facula.tensor(x.t().tolist()),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_each_allocation_of_several_steps_may_fail(name):
    def attempt():
        x = facula.arange(12.0).reshape(4, 3) - 5
        made = x, facula.arange(3.0), facula.tensor([0, 2, 1]), facula.tensor([True, False, True, True])

        def ready():
            result = SEVERAL[name](*made)
            return [result] if isinstance(result, facula.Tensor) else result

        return ready

    attempt()()
    refused_in_turn(name, attempt, bits(attempt()()))
