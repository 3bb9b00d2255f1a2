"""Tensor.view(dtype): the same bytes as other elements, by PyTorch's rules."""

import itertools

import facula
import pytest

NAMES = ["uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
LAYOUTS = {
    "plain": lambda x: x,
    "rows": lambda x: x[2:],
    "columns": lambda x: x[:, 4:12],
    "odd columns": lambda x: x[:, 1:5],
    "odd size": lambda x: x[:, :5],
    "strided": lambda x: x[:, ::2],
    "transposed": lambda x: x.t(),
    "middle": lambda x: x.reshape(2, 3, 16).transpose(0, 1),
    "0-d": lambda x: x[0, 0],
    "empty": lambda x: x[:, :0],
    "no rows": lambda x: x[:0],
}


def described(torch, have, want, layout):
    x = LAYOUTS[layout](torch.arange(6 * 16).reshape(6, 16).to(getattr(torch, have)))
    try:
        y = x.view(getattr(torch, want))
    except RuntimeError as error:
        return str(error).partition(" to view")[0].partition("self.")[2].partition(" ")[0]
    return tuple(y.shape), y.stride(), y.storage_offset(), y.view(torch.uint8).flatten().tolist() if y.dim() and y.stride(-1) == 1 else None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_pairs_of_dtypes_agree_with_pytorch(layout):
    torch = pytest.importorskip("torch")
    for have, want in itertools.product(NAMES, NAMES):
        assert described(torch, have, want, layout) == described(facula, have, want, layout), (have, want)


def test_a_write_to_the_view_is_a_write_to_the_tensor():
    x = facula.zeros(3)
    x.view(facula.int32)[1] = 0x3F800000

    assert [0.0, 1.0, 0.0] == x.tolist()
    assert x._version


def test_named_arguments_and_bad_ones():
    x = facula.zeros(2, 3)

    assert facula.int32 is x.view(dtype=facula.int32).dtype
    assert (3, 2) == x.view(size=(3, 2)).shape
    with pytest.raises(TypeError):
        x.view(facula.int32, 1)
    with pytest.raises(TypeError):
        x.view(3, 2, dtype=facula.int32)
