"""Python numbers into tensors and back: nested lists, kinds, ranges, and what is refused."""

import math

import facula
import pytest

DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()

ACCEPTED = [
    (1, "int64", ()), (1.5, "float32", ()), (True, "bool", ()), ([], "float32", (0,)), ([[]], "float32", (1, 0)), ([1, 2.5], "float32", (2,)),
    ([True, 2], "int64", (2,)), ((1, (2,))[:1], "int64", (1,)), ([(1, 2), [3, 4]], "int64", (2, 2)), ([[[1.0]]], "float32", (1, 1, 1)), ([2**62, -(2**63)], "int64", (2,)),
    ([1 + 2j, 3], "complex64", (2,)),
]  # fmt: skip
REFUSED = [
    ([[1, 2], [3]], ValueError), ([1, [2]], TypeError), ([[1], 2], (ValueError, TypeError)), (2**70, (RuntimeError, ValueError)), (["a"], (TypeError, ValueError)),
    ([None], RuntimeError), ({1: 2}, RuntimeError),
]  # fmt: skip


@pytest.mark.parametrize("data, dtype, shape", ACCEPTED, ids=repr)
def test_numbers_make_tensors(data, dtype, shape):
    t = facula.tensor(data)
    assert (t.dtype, tuple(t.shape)) == (getattr(facula, dtype), shape)
    plain = list(data) if isinstance(data, tuple) else data
    assert t.tolist() == plain or [list(row) for row in plain] == t.tolist()


@pytest.mark.parametrize("data, error", REFUSED, ids=repr)
def test_what_is_no_tensor(data, error):
    with pytest.raises(error):
        facula.tensor(data)


def test_a_number_beyond_float32_is_infinite():
    assert facula.tensor([1e39, -math.inf], dtype=facula.float32).tolist() == [math.inf, -math.inf]


@pytest.mark.parametrize("name", DTYPES)
def test_there_and_back(name):
    t = facula.tensor([[0, 1, 1], [1, 0, 1]], dtype=getattr(facula, name)).t()
    kind = {0: bool, 1: int, 2: float, 3: complex}[t.dtype._kind]
    assert t.tolist() == [[kind(0), kind(1)], [kind(1), kind(0)], [kind(1), kind(1)]]
    assert {type(v) for row in t.tolist() for v in row} == {kind}
    assert t[1, 0].item() == kind(1) and type(t[1, 0].item()) is kind and t.flip(0)[0].tolist() == [kind(1), kind(1)]


def test_empty_dims_stay():
    assert [facula.zeros(*s).tolist() for s in [(0,), (2, 0), (0, 3), (2, 0, 3), (1, 2, 0)]] == [[], [[], []], [], [[], []], [[[], []]]]


def test_a_storage_made_smaller_is_not_read_beyond_its_end():
    t = facula.ones(4)
    t.untyped_storage().resize_(8)
    for read in (t.tolist, t[3].item):
        with pytest.raises(RuntimeError):
            read()


def test_extreme_integers():
    values = [0, 1, -1, 2**63 - 1, -(2**63)]
    assert facula.tensor(values).tolist() == values
    assert facula.tensor([2**64 - 1], dtype=facula.uint64).tolist() == [2**64 - 1]


WRITERS = [name for name in sorted(vars(facula.Tensor)) if name.endswith("_") and not name.startswith("_") and hasattr(facula.tensor_core._ops, name) and name not in ("as_strided_", "uniform_")]  # methods alone
COMPOSED = "addmv_ clamp_ clip_ ldexp_ logit_ nan_to_num_ xlogy_ addmm_ tril_ cumsum_".split()


@pytest.mark.parametrize("name", [*WRITERS, *COMPOSED])
def test_only_tensors_are_written_into(name):
    with pytest.raises(TypeError):
        getattr(facula.Tensor, name)(3, facula.ones(2), facula.ones(2))


def test_differences_of_any_order_come_to_an_end():
    assert (3, 0) == facula.diff(facula.ones(3, 3), 2**63 - 1).shape


@pytest.mark.parametrize("dtype", [facula.float16, facula.bfloat16, facula.float32], ids=str)
def test_linspace_is_even_between_the_ends_that_its_dtype_holds(dtype):
    """The first step is what grids are measured by: from an end that was not yet rounded it would be off by half a spacing."""
    for first, last in ((-1.21904761904, 1.21904761904), (0.1, 0.9), (-2.0 / 3, 1e-3), (7.3, -1.1)):
        held = facula.tensor([first, last], dtype=dtype).tolist()

        assert facula.linspace(*held, 128, dtype=dtype).tolist() == facula.linspace(first, last, 128, dtype=dtype).tolist()
