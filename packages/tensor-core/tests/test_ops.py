"""Every row of the ops table, in every dtype it has, over every layout, against its oracle (tests/oracles)."""

import inspect

import numpy as np
import pytest
from oracles import ORACLES
from oracles.compare import check, values
from oracles.dtypes import ALL_NAMES, WORDS, dtypes_of, is_complex, is_integral, numpy_dtype, to_bfloat16, widened
from oracles.layouts import LAYOUTS, contiguous, expanded, tensor
from oracles.samples import Sample, cases_of, mapped, tensors

from facula.tensor_core import extend

OPS = dict(sorted(extend.ops.items()))


KERNELS = [(name, d) for name, op in OPS.items() if name in ORACLES and not ORACLES[name].by for d in dtypes_of(op, ORACLES[name])]


def test_every_row_has_an_oracle():
    assert [] == sorted(set(OPS) - set(ORACLES)), "rows without an oracle: add a line to tests/oracles"
    assert [] == sorted(set(ORACLES) - set(OPS)), "oracles without a row"


def reads(op, oracle, dtype, arguments):
    """The oracle's parameters: x, y, z, w by position among the tensors, anything else by name."""
    params = [p for p in op.params if p.name != "out"]
    by_name = dict(zip([p.name for p in params], arguments))
    names = [p.name for p in tensors(op)]
    by_place = dict(zip("xyzw", (by_name[n] for n in names)))

    def array(sample):
        if oracle.native or sample.dtype != dtype:
            return sample.array
        return widened(sample.array, to_float=op.result == "FLOAT")

    def read(wants):
        return {w: mapped(by_name[w] if w in by_name else by_place[w], array) for w in wants}

    return read


def answer(op, oracle, dtype, arguments):
    """(what the oracle says, the scale of its terms)."""
    import inspect

    read = reads(op, oracle, dtype, arguments)
    with np.errstate(all="ignore"):
        exact = oracle.numpy(**read(oracle.wants))
        scale = oracle.scale(**read(inspect.signature(oracle.scale).parameters)) if callable(oracle.scale) else oracle.scale
    if isinstance(scale, str):
        exact = exact if isinstance(exact, tuple) else (exact,)
        scale = tuple(0 if e is None or callable(e) else np.max(np.abs(e), initial=0) for e in exact)
    return exact, scale


def laid_out(op, arguments, layout):
    """(the arguments as samples whose values the layout may have changed, the same as tensors)."""
    params = [p for p in op.params if p.name != "out"]
    seen, made = [], []
    for param, value in zip(params, arguments):
        keep = layout.__name__ == "expanded" and ("!" in param.type or "ind" in param.name or param.name == "target")
        pairs = []

        def place(sample, keep=keep, pairs=pairs):
            pairs.append((contiguous if keep else layout)(sample))
            return pairs[-1][0]

        seen.append(mapped(value, place))
        queue = iter(pairs)
        made.append(mapped(value, lambda _, queue=queue: next(queue)[1]))
    return seen, made


def tolerance(oracle, dtype):
    if is_complex(dtype):
        return oracle.culp
    return oracle.halves if dtype in ("float16", "bfloat16") else oracle.ulp


def words(op, oracle, dtype, count):
    word = oracle.result or op.result
    word = word[dtype] if isinstance(word, dict) else word
    return word if isinstance(word, tuple) else (word,) * count


def call(op, arguments):
    """The results; for a row that writes in place, the tensors that it wrote."""
    out = extend.call(op, *arguments)
    written = []
    for p, a in zip(op.params, arguments):
        written += [a] if p.type == "Tensor!" else a if p.type == "Tensor[]!" else []
    return tuple(written) if written else out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize("name,dtype", KERNELS)
def test_op_matches_its_oracle(name, dtype):
    op, oracle = OPS[name], ORACLES[name]
    layouts = [f for f in LAYOUTS.values() if f is contiguous or oracle.layouts and (oracle.expanded or f is not expanded)]
    for case, arguments in cases_of(op, oracle, dtype):
        for layout in layouts:
            what = f"{name}, {dtype}, {case}, {layout.__name__}"
            seen, made = laid_out(op, arguments, layout)
            exact, scale = answer(op, oracle, dtype, seen)
            exact = exact if isinstance(exact, tuple) else (exact,)
            results = call(op, made)

            assert len(exact) == len(results), what
            for k, (e, r, word) in enumerate(zip(exact, results, words(op, oracle, dtype, len(exact)))):
                size = scale[k] if isinstance(scale, tuple) else scale
                if callable(e):
                    e(values(r)[1])  # indices: which of equals they name is not defined
                    continue
                if e is None:  # a result that this case does not have
                    continue
                word = values(r)[0] if word == "LISTED" else word
                check(rounded(e, dtype, word), r, word, dtype, tolerance(oracle, dtype), size, what)


def rounded(exact, dtype, word):
    """Integers that a narrower dtype holds wrap as it does; bool stores what is not 0."""
    exact = np.asarray(exact)
    if word == "SAME" and is_integral(dtype):
        return exact.astype(numpy_dtype(dtype))
    return exact


@pytest.mark.parametrize("name", [n for n, op in OPS.items() if op.kind.startswith("map") and n in ORACLES])
def test_writing_into_out_and_in_place_give_the_same(name):
    op, oracle = OPS[name], ORACLES[name]
    dtype = next(d for d in ("float32", "int32", "bool") if d in WORDS[op.types])
    _, arguments = cases_of(op, oracle, dtype)[0]
    made = mapped(arguments, tensor)
    expected = extend.call(op, *made)
    from facula.tensor_core import _ops

    keywords = {p.name: v for p, v in zip(op.params, made)}
    function = getattr(_ops, name)
    if "out" in inspect.signature(function).parameters:
        out = extend.call(op, *made).reshape(-1)[:0]
        assert function(**keywords, out=out) is out
        np.testing.assert_array_equal(values(expected)[1], values(out)[1])

    in_place = getattr(_ops, name + "_", None)
    first = tensors(op)[0].name
    if in_place and expected.dtype == keywords[first].dtype and tuple(expected.shape) == tuple(keywords[first].shape):
        target = keywords.pop(first)
        assert in_place(target, **keywords) is target
        np.testing.assert_array_equal(values(expected)[1], values(target)[1])


@pytest.mark.parametrize("name", [n for n in OPS if n in ORACLES and not ORACLES[n].by and not ORACLES[n].only])
def test_dtypes_outside_the_rows_word_are_refused(name):
    op, oracle = OPS[name], ORACLES[name]
    inside = WORDS[op.types]
    for dtype in sorted(set(ALL_NAMES) - set(inside)):
        shaped = next(d for d in ("float32", "int64") if d in inside)
        _, arguments = cases_of(op, oracle, shaped)[0]

        def cast(sample, dtype=dtype, shaped=shaped):
            if sample.dtype != shaped or sample.array.dtype != numpy_dtype(shaped):
                return sample
            with np.errstate(invalid="ignore"):
                array = np.nan_to_num(np.abs(sample.array)).astype(numpy_dtype(dtype))
            return Sample(to_bfloat16(array) if dtype == "bfloat16" else array, dtype)

        with pytest.raises((TypeError, RuntimeError)):
            extend.call(op, *mapped(mapped(arguments, cast), tensor))
