"""The promise: bits depend on the elements, their order along reduced dims, the op and the dtype, on nothing else.

Held here: threads 1/2/3/8, ISA levels v3/v4, layouts, and how many other outputs there are (the batch). `pytest -rP -k covered`
prints what of the table that is.
"""

import contextlib
import itertools
import os

import numpy as np
import pytest
from oracles import ORACLES, large
from oracles.compare import values
from oracles.dtypes import WORDS
from oracles.large import NONE, ONE
from oracles.layouts import LAYOUTS, tensor
from oracles.samples import Draw, cases_of, mapped
from test_ops import OPS, call, laid_out

import facula
from facula.tensor_core import _lib, _ops, extend

lib = _lib.lib
BEST = lib.fc_isa_level()
LEVELS = [level for level in (3, 4) if level <= BEST]
THREADS = (1, 2, 3, 8)
FLOATS = ("float32", "float64", "bfloat16", "complex64")
RACES = "libtsan" in os.environ.get("LD_PRELOAD", "")  # tools/sanitize races: how work is shared out is the same for every dtype and level
if RACES:
    LEVELS, THREADS, FLOATS = [BEST], (1, 3), ("float32",)
# views move no data, and what NumPy computes is NumPy's promise
ROWS = [n for n in OPS if OPS[n].kind not in ("view", "host")]


def dtypes_of(name):
    """The float dtypes that the row has, else of all it has the first."""
    has = [d for d in WORDS[OPS[name].types] if not ORACLES[name].only or d in ORACLES[name].only]
    return [d for d in FLOATS if d in has] or has[:1]


PAIRS = [(n, d) for n in ROWS for d in dtypes_of(n)]


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


def all_cases(op, dtype):
    """What the oracle is asked, and what is large enough for several threads; a map without an oracle in NumPy has cases all the same."""
    oracle = ORACLES[op.name]
    if not oracle.by or op.kind.startswith("map"):
        yield from cases_of(op, oracle, dtype)
    yield from large.cases(op, lambda: Draw(oracle, dtype, specials=False, salt=1))


def run(op, arguments):
    """The results; random numbers are those of one seed."""
    facula.manual_seed(11)
    return call(op, arguments)


@pytest.mark.parametrize("name,dtype", PAIRS)
def test_bits_do_not_depend_on_threads_or_level(name, dtype):
    op = OPS[name]
    for case, arguments in all_cases(op, dtype):
        found = {}
        for threads in THREADS:
            for level in LEVELS:
                with machine(threads, level):
                    found[threads, level] = bits(run(op, mapped(arguments, tensor)))
        first = next(iter(found.values()))

        assert [] == [key for key, value in found.items() if value != first], f"{name}, {dtype}, {case}: (threads, level) that differ"


# a stream fills memory in its order
@pytest.mark.parametrize("name,dtype", [p for p in PAIRS if ORACLES[p[0]].layouts and OPS[p[0]].kind != "random"])
def test_bits_do_not_depend_on_strides(name, dtype):
    op = OPS[name]
    for case, arguments in all_cases(op, dtype):
        expected = bits(run(op, mapped(arguments, tensor)))
        for layout in LAYOUTS.values():
            if layout.__name__ != "expanded":
                _, made = laid_out(op, arguments, layout)
                assert expected == bits(run(op, made)), f"{name}, {dtype}, {case}, {layout.__name__}"


@pytest.mark.parametrize("name,dtype", [p for p in PAIRS if OPS[p[0]].kind.startswith("map")])
def test_bits_do_not_depend_on_where_an_output_begins(name, dtype):
    op = OPS[name]
    for case, arguments in large.cases(op, lambda: Draw(ORACLES[name], dtype, specials=False, salt=1)):
        expected = run(op, mapped(arguments, tensor))[0]
        for before in (1, 3, 4):
            out = facula.empty(expected.numel() + before, dtype=expected.dtype)[before:].view(expected.shape)
            extend.call(op, *mapped(arguments, tensor), out=out)
            assert bits([expected]) == bits([out]), f"{name}, {dtype}, {case}, {before} elements on"


@pytest.mark.parametrize("name", [n for n in ROWS if OPS[n].kind == "own" and hasattr(_ops, n + "_")])
def test_bits_do_not_depend_on_where_a_tensor_that_is_written_over_begins(name):
    op = OPS[name]
    for case, arguments in all_cases(op, "float32"):
        given = mapped(arguments, tensor)
        expected = run(op, given)[0]
        for before in (0, 1, 4):
            x = facula.empty(given[0].numel() + before)[before:].view(given[0].shape).copy_(given[0])
            if x.shape == expected.shape:
                getattr(_ops, name + "_")(x, *given[1:])
                assert bits([expected]) == bits([x]), f"{name}, {case}, {before} elements on"


FOLDS = sorted(n for n in OPS if OPS[n].kind == "fold")
LAID = {
    "turned": lambda t: t.t().contiguous().t(),
    "sliced": lambda t: facula.cat([t, t], 1)[:, : t.shape[1]],
    "a row again": lambda t: t[:1].expand(*t.shape),
    "a column again": lambda t: t[:, :1].expand(*t.shape),
    "one element": lambda t: t[:1, :1].expand(*t.shape),
}


@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", FOLDS)
def test_large_folds_do_not_depend_on_strides(name, dtype):
    """Of matrices that are read from where they lie, by blocks: more of them than the lane's and the block's size, and no multiple of it."""
    op = OPS[name]
    if dtype not in WORDS[op.types]:
        pytest.skip(f"{name} has no {dtype}")
    x = facula.tensor(np.random.default_rng(5).integers(-3, 4, (331, 421)) * (0.37 if dtype in FLOATS else 1)).to(getattr(facula, dtype))

    def found(given, dim):
        made = getattr(_ops, name)(given, dim)
        return bits(made if isinstance(made, tuple) else [made])

    for layout, laid in LAID.items():
        given = laid(x)
        dense = given.contiguous()
        for dim in {"int": (0, 1), "int?": (0, 1, None)}.get(op.params[1].type, ((0,), (1,), (0, 1))):
            expected = found(dense, dim)
            for threads, level in ((1, BEST), (3, BEST), (2, 3)):
                with machine(threads, min(level, BEST)):
                    assert expected == found(given, dim), f"{name}, {dtype}, {layout}, dim {dim}, {threads} threads, level {level}"


# from memory: short rows, which go in strips, and long ones, which are runs, of one block and of several
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1801, 1023), (20011, 105), (40, 9001), (9, 131073), (5003, 257)], ids=str)
def test_folds_of_all_of_a_turned_matrix_do_not_depend_on_where_it_comes_from(shape, dtype):
    t = np.random.default_rng(5).integers(-3, 4, (*shape, 2)) * 0.37
    x = facula.tensor(t[..., 0] + 1j * t[..., 1] if dtype.startswith("complex") else t[..., 0]).to(getattr(facula, dtype))
    for name in ("sum", "mean", "var", "norm_p"):
        f = getattr(_ops, name)
        expected = bits([f(x, (0, 1))])
        for threads, level in ((1, BEST), (3, BEST), (2, 3)):
            with machine(threads, min(level, BEST)):
                for layout in ("turned", "sliced"):
                    assert expected == bits([f(LAID[layout](x), (0, 1))]), f"{name}, {layout}, {threads} threads, level {level}"


# the reduced dims that are a run lie last, in the middle, alone and together, and what is kept lies before, between and after them
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("shape", [(6, 300, 3), (5, 7, 290), (3, 20, 31), (2, 3, 17, 33), (2, 4111, 5)], ids=str)
def test_folds_over_several_dims_do_not_depend_on_strides(shape, dtype):
    t = np.random.default_rng(5).integers(-3, 4, (*shape, 2)) * 0.37
    exact = t[..., 0] + 1j * t[..., 1] if dtype.startswith("complex") else t[..., 0]
    x = facula.tensor(exact).to(getattr(facula, dtype))
    dims = range(len(shape))
    for count in range(2, len(shape) + 1):
        for reduced in itertools.combinations(dims, count):
            np.testing.assert_allclose(x.sum(reduced).to(facula.complex128).numpy(), exact.sum(reduced), rtol=0, atol=2 if dtype == "float16" else 1e-2)
            for name in ("sum", "var", "norm_p"):
                f = getattr(_ops, name)
                expected = bits([f(x, reduced)])
                for order in itertools.permutations(dims):
                    laid = x.permute(order).contiguous().permute([order.index(d) for d in dims])
                    for threads in (1, 3):
                        with machine(threads, BEST):
                            assert expected == bits([f(laid, reduced)]), f"{name}, {reduced}, laid as {order}, {threads} threads"


BATCHED = [(n, d) for n, d in PAIRS if OPS[n].kind in ("fold", "scan") or n in large.ROWED]


@pytest.mark.parametrize("name,dtype", BATCHED)
def test_a_row_does_not_depend_on_the_batch(name, dtype):
    op = OPS[name]
    for case, arguments in large.cases(op, lambda: Draw(ORACLES[name], dtype, specials=False, salt=1)):
        whole = call(op, mapped(arguments, tensor))
        for rows in (slice(0, 1), slice(1, 3), slice(5, 22)):
            some = call(op, mapped(large.with_rows(op, arguments, rows), tensor))
            assert len(whole[0][rows]) == len(some[0])
            pairs = [(w[rows], s) for w, s in zip(whole, some) if w.ndim and len(w) == len(whole[0])]
            assert bits(w for w, _ in pairs) == bits(s for _, s in pairs), f"{name}, {dtype}, {case}, rows {rows}"


# small planes of many samples are one product of packed columns, a single one reads in place; the copies come in several chunks
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("channels,size,stride,batch", [(40, 7, 1, 5), (33, 8, 2, 9), (260, 6, 1, 17)])
def test_small_planes_are_convolved_as_each_alone(channels, size, stride, batch, dtype):
    t = Draw(ORACLES["convolution"], dtype, specials=False)
    images, weight, bias = (tensor(s) for s in (t(batch, channels, size, size), t(48, channels, 3, 3), t(48)))
    how = ((1, stride, stride), (0, 1, 1), ONE, False)
    found = {}
    for threads in (1, 3):
        for level in LEVELS:
            with machine(threads, level):
                outputs = call(OPS["convolution"], (images, weight, bias, *how, NONE, 1))
                back = call(OPS["convolution_grad_input"], (outputs[0], weight, (1, size, size), *how, 1))
                alone = [call(OPS["convolution"], (images[n : n + 1], weight, bias, *how, NONE, 1))[0] for n in range(batch)]
                alone_back = [call(OPS["convolution_grad_input"], (o, weight, (1, size, size), *how, 1))[0] for o in alone]
            found[threads, level] = bits([*outputs, *back])
            together = [b"".join(bits(parts)) for parts in (alone, alone_back)]

            assert found[threads, level] == together, f"{threads} threads, level {level}: a sample's bits depend on the batch"
    assert len(set(map(tuple, found.values()))) == 1, "bits depend on threads or level"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inputs,outputs", [(300, 45), (96, 200), (1024, 33)])
def test_a_batch_of_any_size_goes_through_a_layer_as_each_alone(inputs, outputs, dtype):
    t = Draw(ORACLES["linear"], dtype, specials=False)
    x, weight, bias = (tensor(s) for s in (t(70, inputs), t(outputs, inputs), t(outputs)))
    for level in LEVELS:
        with machine(2, level):
            whole = call(OPS["linear"], (x, weight, bias))[0]
            for rows in range(1, 67):
                assert bits([whole[:rows]]) == bits(call(OPS["linear"], (x[:rows], weight, bias))), f"{rows} rows, level {level}"


PAST_CACHES = 1 << 22  # floats: results of as many bytes as are written past the caches, csrc/core/move.h
LARGE = {
    "neg": lambda x, y: -x, "exp": lambda x, y: x.exp(), "mul number": lambda x, y: x * 2.5, "add": lambda x, y: x + y, "add row": lambda x, y: x + y[:1],
    "add column": lambda x, y: x + y[:, :1], "lerp": lambda x, y: facula.lerp(x, y, x), "where": lambda x, y: facula.where(x > 0, x, y), "in place": lambda x, y: x.clone().mul_(y),
    "short row": lambda x, y: (x.reshape(-1, 4) + y[0, :4]).reshape(x.shape), "clone": lambda x, y: x.clone(), "double": lambda x, y: x.double(), "half": lambda x, y: x.double().float(),
    "every other": lambda x, y: x.reshape(-1)[::2].clone(),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("start", [0, 1, 16])
def test_what_is_written_past_the_caches_is_what_a_part_of_it_is(name, start):
    rows, n = 64, PAST_CACHES * 2 + 64
    base = facula.randn(2, n + 16, generator=facula.Generator().manual_seed(0))
    x, y = (b[start : start + n].reshape(rows, -1) for b in base)  # lines of the caches begin elsewhere in each

    whole = LARGE[name](x, y)
    parts = [LARGE[name](x[k : k + 4], facula.cat([y[:1], y[k : k + 4]])[:1] if name in ("add row", "short row") else y[k : k + 4]) for k in range(0, rows, 4)]

    assert whole.equal(facula.cat([p.reshape(-1) for p in parts]).reshape(whole.shape))
    if name in ("neg", "exp"):
        out = facula.empty(n + 16)[start : start + n].reshape(rows, -1)
        assert getattr(facula, name)(x, out=out) is out and out.equal(whole)


def test_truth_values_of_any_bytes_are_copied_as_0_and_1_however_many():
    for n in (1000, PAST_CACHES * 4 + 3):
        copy = facula.full((n,), 2, dtype=facula.uint8).view(facula.bool).clone()
        assert copy.view(facula.uint8).equal(facula.ones(n, dtype=facula.uint8))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name, dtype", [p for p in PAIRS if OPS[p[0]].kind == "scan"])
def test_a_transposed_matrix_is_scanned_as_its_copy(name, dtype, threads):
    for rows, columns in ((999, 2), (400, 250), (130, 257), (1, 300), (5000, 3)):
        x = (facula.arange(rows * columns).reshape(columns, rows) * 37 % 11 - 4).to(getattr(facula, dtype)).t()
        with machine(threads, BEST):
            for dim in (0, 1):
                assert bits(run(OPS[name], [x, dim])) == bits(run(OPS[name], [x.contiguous(), dim]))


@pytest.mark.parametrize("lines", (2, 129, 144, 316, 400, 2049))
def test_lines_side_by_side_are_scanned_as_each_alone(lines):
    x = facula.randn(300, lines)
    expected = facula.stack([x[:, k].contiguous().cumsum(0) for k in range(lines)], 1)
    before = facula.get_num_threads()
    try:
        for threads in (1, 2, 3):
            facula.set_num_threads(threads)

            assert expected.equal(x.cumsum(0))
            assert expected.equal(facula.stack([x, x]).cumsum(1)[1])
            assert x.cummax(0).values.equal(x.t().contiguous().cummax(1).values.t())
    finally:
        facula.set_num_threads(before)


def test_nothing_is_joined_to_nothing():
    nothing = facula.zeros(3, 0)
    assert facula.cat([nothing, nothing], 1).shape == (3, 0) and facula.stack([nothing, nothing], 1).shape == (3, 2, 0)
    assert facula.cat([nothing, facula.ones(3, 20), nothing], 1).equal(facula.ones(3, 20))


@pytest.mark.parametrize("rank", [1, 2])
def test_nothing_is_scattered_through_an_index_of_nothing(rank):
    x, index = facula.ones(3, 4), facula.zeros(0, 1, dtype=facula.int64).expand(0, 4)
    assert x.scatter_add(0, index, facula.ones((5, 4)[:rank])).equal(x)


@pytest.mark.parametrize("shape, dim", [((40, 6), 0), ((3, 50), 1), ((2, 30, 5), 1), ((700, 64), 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
def test_a_column_of_positions_moves_slices_as_elements(shape, dim, dtype):
    """An index that was expanded from one column goes with whole slices; the same one written out, element by element."""
    generator = facula.Generator().manual_seed(1)
    source = facula.randint(-9, 9, shape, generator=generator).to(getattr(facula, dtype)) / (1 if dtype == "int64" else 7)
    source = source.to(getattr(facula, dtype))
    lone = [shape[d] if d == dim else 1 for d in range(len(shape))]
    column = facula.randint(0, shape[dim], lone, generator=generator).expand(shape)
    x = facula.ones(shape, dtype=source.dtype)

    for threads, index in itertools.product((1, 3), (column, column.int())):
        with machine(threads, BEST):
            written = index.clone()
            assert x.gather(dim, index).equal(x.gather(dim, written)) and source.gather(dim, index).equal(source.gather(dim, written))
            assert x.scatter_add(dim, index, source).equal(x.scatter_add(dim, written, source))
            assert x.scatter(dim, index, source).equal(x.scatter(dim, written, source))
            assert x.clone().scatter_add_(dim, index, source).equal(x.scatter_add(dim, written, source))


def test_an_error_that_several_threads_find_is_raised():
    index = facula.full((64, 20_000), 5)
    index[::3] = 70_000
    wide = facula.rand(64, 20_000)
    with machine(3, BEST):
        for call_it in (lambda: wide.gather(1, index), lambda: wide.clone().scatter_(1, index, wide), lambda: facula.arange(60) // facula.zeros(200_000, 60, dtype=facula.int64)):
            with pytest.raises((IndexError, RuntimeError, ZeroDivisionError)):
                call_it()


# one thread computes them at any size: streams of random numbers, and what is counted or written in order
ALONE = {n for n in ROWS if OPS[n].kind == "random"}
ALONE |= set("_bincount _histogram _lu_order _nll_loss _nll_loss_backward diag_embed masked_scatter".split())


def test_every_row_is_shared_by_threads_or_known_not_to_be():
    alone = set()
    for name in ROWS:
        before = lib.fc_pool_jobs()
        with machine(3, BEST):
            for _, arguments in large.cases(OPS[name], lambda name=name: Draw(ORACLES[name], dtypes_of(name)[0], specials=False, salt=1)):
                run(OPS[name], mapped(arguments, tensor))
        if lib.fc_pool_jobs() == before:
            alone.add(name)

    assert ALONE == alone


def test_what_is_covered():
    rows = {n for n, _ in PAIRS}
    print(f"{len(rows)} of {len(OPS)} rows in {len(PAIRS)} (row, dtype) pairs: threads {THREADS}, levels {LEVELS}, {len(LAYOUTS)} layouts")
    print(f"{len(rows - ALONE)} rows are shared by threads in them, {len({n for n, _ in BATCHED})} have a batch that is cut")
    print("not here (views, and what NumPy computes):", *sorted(set(OPS) - rows))

    assert set(OPS) - rows == {n for n in OPS if OPS[n].kind in ("view", "host")}
