"""bool, int, float and complex name dtypes wherever one is asked for, as in PyTorch."""

import facula
import pytest

x = facula.ones(2, 3)
NAMED = {bool: facula.bool, int: facula.int64, float: facula.float64, complex: facula.complex128}
CALLS = {
    "tensor": lambda d: facula.tensor([1, 0], dtype=d),
    "zeros": lambda d: facula.zeros(2, dtype=d),
    "full": lambda d: facula.full((2,), 1, dtype=d),
    "ones_like": lambda d: facula.ones_like(x, dtype=d),
    "new_zeros": lambda d: x.new_zeros(2, dtype=d),
    "as_tensor": lambda d: facula.as_tensor([1], dtype=d),
    "as_tensor of a tensor": lambda d: facula.as_tensor(x, dtype=d),
    "empty_strided": lambda d: facula.empty_strided((2,), (1,), dtype=d),
    "eye": lambda d: facula.eye(2, dtype=d),
    "to": lambda d: x.to(d),
    "to by keyword": lambda d: x.to(dtype=d),
}


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("call", CALLS)
def test_a_python_type_names_a_dtype(call, kind):
    assert NAMED[kind] is CALLS[call](kind).dtype


@pytest.mark.parametrize(
    "call",
    [lambda d: x.sum(0, dtype=d), lambda d: x.softmax(0, dtype=d), lambda d: facula.arange(3, dtype=d), lambda d: facula.linspace(0, 1, 3, dtype=d),
     lambda d: facula.linalg.norm(x, dtype=d), lambda d: facula.hann_window(4, dtype=d), lambda d: facula.rand(2, dtype=d)],
)  # fmt: skip
def test_float_is_float64(call):
    assert facula.float64 is call(float).dtype


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="str"):
        facula.zeros(2, dtype=str)


def test_limits_and_promotion_take_them():
    assert 64 == facula.finfo(float).bits
    assert facula.int64 is facula.promote_types(facula.int8, int)
