"""Segment reductions, hashes and control flow, beside what Python computes and, where it is installed, PyTorch."""

import functools
import operator
import struct

import facula
import pytest

t = facula.tensor
DATA = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]
INF, NAN = float("inf"), float("nan")
REDUCED = {  # (reduce, initial): what segments of lengths 2, 0, 2 of 2, 1, 4, 4 become
    ("sum", None): [3.0, 0.0, 8.0], ("sum", 2.0): [5.0, 2.0, 10.0], ("mean", None): [1.5, NAN, 4.0], ("mean", 2.0): [2.5, 2.0, 5.0],
    ("max", None): [2.0, -INF, 4.0], ("max", 3.0): [3.0, 3.0, 4.0], ("min", None): [1.0, INF, 4.0], ("min", 2.0): [1.0, 2.0, 2.0],
    ("prod", None): [2.0, 1.0, 16.0], ("prod", 2.0): [4.0, 2.0, 32.0],
}  # fmt: skip
SLOPES = {"sum": [1, 1, 1, 1], "mean": [0.5] * 4, "max": [1, 0, 0.5, 0.5], "min": [0, 1, 0.5, 0.5], "prod": [1, 2, 4, 4]}


@pytest.mark.parametrize("how", REDUCED, ids=str)
def test_segments_are_reduced_one_by_one(how):
    reduce, initial = how
    x = t([2.0, 1.0, 4.0, 4.0])

    by_lengths = facula.segment_reduce(x, reduce, lengths=t([2, 0, 2]), initial=initial)
    by_offsets = facula.segment_reduce(x, reduce, offsets=t([0, 2, 2, 4]), initial=initial)

    assert pytest.approx(REDUCED[how], nan_ok=True) == by_lengths.tolist()
    assert pytest.approx(REDUCED[how], nan_ok=True) == by_offsets.tolist()


def test_segments_lie_along_any_axis():
    x = t(DATA)

    assert [[3.0, 5.0, 7.0], [15.0, 17.0, 19.0]] == facula.segment_reduce(x, "sum", lengths=t([2, 2])).tolist()
    lengths = t([[1, 2], [0, 3], [3, 0], [1, 2]])
    assert [[0.0, 3.0], [0.0, 12.0], [21.0, 0.0], [9.0, 21.0]] == facula.segment_reduce(x, "sum", lengths=lengths, axis=1).tolist()
    assert [0.0] == facula.segment_reduce(t([0.0, 5.0]), "sum", lengths=t([1]), unsafe=True).tolist()


@pytest.mark.parametrize(
    "options, error, words",
    [
        (dict(reduce="median", lengths=t([4])), RuntimeError, "median"),
        (dict(reduce="sum"), RuntimeError, "lengths or offsets"),
        (dict(reduce="sum", indices=t([4])), RuntimeError, "indices"),
        (dict(reduce="sum", lengths=[4]), TypeError, "lengths"),
        (dict(reduce="sum", lengths=t([4.0])), NotImplementedError, "float32"),
        (dict(reduce="sum", lengths=t([3])), RuntimeError, "4"),
        (dict(reduce="sum", lengths=t([5, -1])), RuntimeError, "negative"),
        (dict(reduce="sum", lengths=t([1, 2]), axis=1), RuntimeError, "axis"),
        (dict(reduce="sum", lengths=t([[1, 2]]), axis=1), RuntimeError, "(1, 2)"),
    ],
)
def test_segments_that_do_not_fit_are_refused(options, error, words):
    with pytest.raises(error) as caught:
        facula.segment_reduce(t(DATA), **options)

    assert words in str(caught.value)


def test_segments_of_integers_are_refused():
    with pytest.raises(NotImplementedError):
        facula.segment_reduce(t([1, 2]), "sum", lengths=t([2]))


@pytest.mark.parametrize("reduce", SLOPES)
def test_gradients_go_to_what_was_reduced(reduce):
    pytest.importorskip("facula.autograd")
    x = t([2.0, 1.0, 4.0, 4.0], requires_grad=True)

    facula.segment_reduce(x, reduce, lengths=t([2, 0, 2]), initial=None if reduce != "mean" else 0.0).sum().backward()

    assert SLOPES[reduce] == x.grad.tolist()


BITS = {
    "integers": ([3, -1, 7], facula.int64, lambda v: v % 2**64),
    "small integers": ([3, -1, 7], facula.int8, lambda v: v % 2**64),
    "bool": ([True, False, True], facula.bool, int),
    "floats": ([1.5, -2.0, 0.25], facula.float32, lambda v: struct.unpack("<Q", struct.pack("<d", v))[0]),
    "halves": ([1.5, -2.0], facula.float16, lambda v: struct.unpack("<Q", struct.pack("<d", v))[0]),
}


@pytest.mark.parametrize("kind", BITS)
def test_hash_is_the_exclusive_or_of_the_bits(kind):
    values, dtype, bits = BITS[kind]

    assert functools.reduce(operator.xor, map(bits, values)) == facula.hash_tensor(t(values, dtype=dtype)).item()


def test_hash_goes_along_dims():
    x = t([[1, 2, 4], [8, 16, 32]])

    assert [7, 56] == facula.hash_tensor(x, 1).tolist()
    assert [[9, 18, 36]] == x.hash_tensor(0, keepdim=True).tolist()
    assert 63 == facula.hash_tensor(x, (0, 1)).item()
    assert facula.uint64 == x.hash_tensor().dtype


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: facula.hash_tensor(facula.zeros(0)), RuntimeError),
        (lambda: facula.hash_tensor(facula.zeros(2, 0), 1), IndexError),
        (lambda: facula.hash_tensor(facula.zeros(2), 4), IndexError),
        (lambda: facula.hash_tensor(facula.zeros(2), mode=1), RuntimeError),
        (lambda: facula.hash_tensor(t([1j])), NotImplementedError),
    ],
)
def test_hash_refuses(call, error):
    with pytest.raises(error):
        call()


def test_cond_runs_one_branch():
    ran = []
    branches = (lambda x: ran.append("yes") or x + 1), (lambda x: ran.append("no") or x - 1)

    assert [2.0] == facula.cond(t(True), *branches, (facula.ones(1),)).tolist()
    assert [0.0] == facula.cond(0, *branches, [facula.ones(1)]).tolist()
    assert ["yes", "no"] == ran


def test_while_loop_carries_values():
    n, x = facula.while_loop(lambda n, x: n < 4, lambda n, x: (n + 1, x * 2), (t(0), facula.ones(2)))

    assert (4, [16.0, 16.0]) == (n.item(), x.tolist())
    assert (7,) == facula.while_loop(lambda n: n < 7, lambda n: (n + 1,), (0,))


@pytest.mark.parametrize(
    "call",
    [
        lambda: facula.cond("yes", abs, abs, ()),
        lambda: facula.cond(t([True, False]), abs, abs, ()),
        lambda: facula.cond(True, 1, abs, ()),
        lambda: facula.cond(True, abs, abs, facula.ones(1)),
        lambda: facula.while_loop(1, abs, (t(1),)),
        lambda: facula.while_loop(lambda n: n < 3, lambda n: (n, n), (t(1),)),
        lambda: facula.while_loop(lambda n: n < 3, lambda n: (n.double(),), (t(1),)),
        lambda: facula.while_loop(lambda n: "x", lambda n: (n,), (t(1),)),
    ],
)
def test_control_flow_refuses(call):
    with pytest.raises(RuntimeError):
        call()
