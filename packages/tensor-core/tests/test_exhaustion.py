"""Memory that ends in the midst of an op: every row, each of its allocations refused in turn, on one thread and on several.

The op fails in words or gives the result that it always gives; it keeps no memory, and works again. Only a library that was
built under ASan can be made to fail so: tools/sanitize ops.
"""

import gc
from itertools import count, islice

import pytest
from oracles import ORACLES, large
from oracles.layouts import tensor
from oracles.samples import Draw, cases_of, mapped
from test_same_bits import PAIRS, BEST, bits, machine, run
from test_ops import OPS

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


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("name,dtype", ONCE)
def test_each_allocation_may_fail(name, dtype, threads):
    op = OPS[name]
    with machine(threads, BEST):
        for case, arguments in cases(name, dtype):
            made = mapped(arguments, tensor)
            run(op, made)  # writes in place, some of them: each attempt gets its own
            expected = bits(run(op, mapped(arguments, tensor)))
            for n in count(1):
                what = f"{name}, {dtype}, {case}, allocation {n}"
                made = mapped(arguments, tensor)
                gc.collect() if n == 1 else None
                before = lib.fc_alloc_stat(IN_USE)
                lib.fc_alloc_fail_after(n)
                try:
                    result = run(op, made)
                except RuntimeError as error:
                    left = lib.fc_alloc_fail_after(0)
                    assert left == 0, (what, error)
                    assert "memory" in str(error), (what, error)
                else:
                    left = lib.fc_alloc_fail_after(0)
                    assert bits(result) == expected, what
                    del result
                assert lib.fc_alloc_stat(IN_USE) <= before, f"{what}: memory is kept"
                if left:
                    break
