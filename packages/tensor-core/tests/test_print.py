"""repr against strings that PyTorch 2.13 printed, and against PyTorch itself where it is installed."""

import facula
import pytest
from facula.tensor_core import _print

CASES = [
    ({}, "tensor(3.5)", "tensor(3.5000)"),
    ({}, "tensor(3)", "tensor(3)"),
    ({}, "tensor([True, False])", "tensor([ True, False])"),
    ({}, "tensor([])", "tensor([])"),
    ({}, "tensor([], dtype=float16)", "tensor([], dtype=torch.float16)"),
    ({}, "zeros(2, 0, 3)", "tensor([], size=(2, 0, 3))"),
    ({}, "zeros(0, 2, dtype=int64)", "tensor([], size=(0, 2), dtype=torch.int64)"),
    ({}, "tensor([1.0, 2.5, -3.0])", "tensor([ 1.0000,  2.5000, -3.0000])"),
    ({}, "tensor([1.0, 2.0])", "tensor([1., 2.])"),
    ({}, "tensor([1e-5, 1.0])", "tensor([1.0000e-05, 1.0000e+00])"),
    ({}, "tensor([1e9, 1.0])", "tensor([1.0000e+09, 1.0000e+00])"),
    ({}, "tensor([1.0, float('nan'), -float('inf')])", "tensor([1., nan, -inf])"),
    ({}, "tensor([float('nan')])", "tensor([nan])"),
    ({}, "tensor([-0.0, 0.0])", "tensor([-0., 0.])"),
    ({}, "tensor([0.1, 200.0, 3e4])", "tensor([1.0000e-01, 2.0000e+02, 3.0000e+04])"),
    (
        {},
        "arange(24).reshape(2, 3, 4)",
        "tensor([[[ 0,  1,  2,  3],\n         [ 4,  5,  6,  7],\n         [ 8,  9, 10, 11]],\n\n        [[12, 13, 14, 15],\n         [16, 17, 18, 19],\n         [20, 21, 22, 23]]])",
    ),
    ({}, "arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (
        {},
        "arange(4000).reshape(40, 100)",
        "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n        [ 100,  101,  102,  ...,  197,  198,  199],\n        [ 200,  201,  202,  ...,  297,  298,  299],\n        ...,\n        [3700, 3701, 3702,  ..., 3797, 3798, 3799],\n        [3800, 3801, 3802,  ..., 3897, 3898, 3899],\n        [3900, 3901, 3902,  ..., 3997, 3998, 3999]])",
    ),
    (
        {},
        "arange(30, dtype=float64)",
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n        28., 29.], dtype=torch.float64)",
    ),
    (
        {},
        "arange(30, dtype=bfloat16)",
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n        28., 29.], dtype=torch.bfloat16)",
    ),
    ({}, "tensor([1 + 2j, -0.5 - 1e3j])", "tensor([ 1.0000+2.j, -0.5000-1000.j])"),
    ({}, "tensor(1j, dtype=complex128)", "tensor(0.+1.j, dtype=torch.complex128)"),
    ({}, "tensor([2**63], dtype=uint64)", "tensor([9223372036854775808], dtype=torch.uint64)"),
    (
        {},
        "ones(8, 10, dtype=float64)",
        "tensor([[1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n        [1., 1., 1., 1., 1., 1., 1., 1., 1., 1.]], dtype=torch.float64)",
    ),
    ({"precision": 2}, "tensor([1.23456, 10.0])", "tensor([ 1.23, 10.00])"),
    ({"linewidth": 30}, "arange(12)", "tensor([ 0,  1,  2,  3,  4,\n         5,  6,  7,  8,  9,\n        10, 11])"),
    (
        {"threshold": 5, "edgeitems": 1},
        "arange(12).reshape(3, 4)",
        "tensor([[ 0,  ...,  3],\n        ...,\n        [ 8,  ..., 11]])",
    ),
    ({"sci_mode": True}, "tensor([1.0, 20.0])", "tensor([1.0000e+00, 2.0000e+01])"),
    ({"sci_mode": False}, "tensor([1e-9, 2e9])", "tensor([         0.0000, 2000000000.0000])"),
    ({"profile": "short"}, "tensor([[1.239]])", "tensor([[1.24]])"),
    (
        {"profile": "full"},
        "zeros(1001, dtype=int8)[:40]",
        "tensor([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,\n        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=torch.int8)",
    ),
    ({}, "tensor([1.0]).requires_grad_()", "tensor([1.], requires_grad=True)"),
    ({}, "tensor([2.0**-127], dtype=float8_e8m0fnu)", "tensor([0.], dtype=torch.float8_e8m0fnu)"),
    ({}, "tensor([2.0**-127, 1.0]).to(float8_e8m0fnu)", "tensor([0., 1.], dtype=torch.float8_e8m0fnu)"),
    ({}, "tensor([float('nan'), 4.0, 2.0**-20]).to(float8_e8m0fnu)", "tensor([   nan, 4.0000, 0.0000], dtype=torch.float8_e8m0fnu)"),
    ({}, "tensor([2.0**20, 1.0]).to(float8_e8m0fnu)", "tensor([1.0486e+06, 1.0000e+00], dtype=torch.float8_e8m0fnu)"),
    ({}, "ones(2, 3, device='meta')", "tensor(..., device='meta', size=(2, 3))"),
    ({}, "ones(3, dtype=int32, device='meta')", "tensor(..., device='meta', size=(3,), dtype=torch.int32)"),
]


@pytest.fixture(autouse=True)
def default_options():
    with _print.printoptions(profile="default"):
        yield


def named(module):
    return {**vars(module), "float": float}


@pytest.mark.parametrize("options,expression,expected", CASES)
def test_a_tensor_prints_as_in_pytorch(options, expression, expected):
    facula.set_printoptions(**options)

    assert expected == repr(eval(expression, named(facula)))


@pytest.mark.parametrize("dtype", "bool uint8 int64 float16 bfloat16 float32 float64 complex64".split())
@pytest.mark.parametrize("shape", [(), (7,), (40,), (2, 3, 4), (1200,), (40, 40), (3, 400)], ids=str)
@pytest.mark.parametrize("spread", [1, 1e5, 1e12])
def test_random_values_print_as_in_pytorch(dtype, shape, spread):
    torch = pytest.importorskip("torch")
    x = (
        torch.randn(shape, dtype=torch.float64) * torch.rand(shape, dtype=torch.float64).mul(30).exp().clamp(max=spread)
    ).clamp(-1e4, 1e4)
    x = (x.abs() if dtype == "uint8" else x).to(getattr(torch, dtype))
    ours = facula.tensor(x.tolist(), dtype=getattr(facula, dtype))

    assert repr(x) == repr(ours)


def test_a_tensor_without_dims_formats_as_its_number():
    assert "1.50" == f"{facula.tensor(1.5):.2f}"
    with pytest.raises(TypeError, match="2f"):
        f"{facula.tensor([1.5]):.2f}"


RICH = {  # what rich asks for: positional, then (name, value)
    "tensor(3.5)": "3.5000",
    "tensor([[0.5, -2.0], [1.0, 4.0]])": "[[ 0.5000, -2.0000], [ 1.0000,  4.0000]]",
    "ones(2, dtype=facula.float64, requires_grad=True)": "[1., 1.] dtype=torch.float64 requires_grad=True",
    "ones(2, requires_grad=True) * 2": "[2., 2.] grad_fn=<MulBackward0>",
    "arange(5000)": "[   0,    1,    2, ..., 4997, 4998, 4999]",
    "zeros(600, 2, dtype=facula.bool)": "[[False, False], [False, False], [False, False], ..., [False, False], [False, False], [False, False]]",
    "zeros(0, 3)": "[] size=(0, 3)",
    "zeros(2, device='meta')": "... device='meta' size=(2,)",
    "eye(2).to_sparse()": "indices=tensor([[0, 1],\n        [0, 1]]) values=tensor([1., 1.]) size=(2, 2) nnz=2 layout=torch.sparse_coo",
    "eye(2).to_sparse_csc()": "ccol_indices=tensor([0, 1, 2]) row_indices=tensor([0, 1]) values=tensor([1., 1.]) size=(2, 2) nnz=2 layout=torch.sparse_csc",
}


@pytest.mark.parametrize("expression", RICH)
def test_rich_is_told_what_repr_says(expression):
    facts = eval(f"facula.{expression}", {"facula": facula}).__rich_repr__()

    assert RICH[expression] == " ".join(f"{f[0]}={f[1]!r}" if type(f) is tuple else repr(f) for f in facts)


def test_rich_prints_a_tensor():
    pretty = pytest.importorskip("rich.pretty", reason="rich is not installed")

    assert "Tensor([[1., 1.]], dtype=torch.float64)" == pretty.pretty_repr(facula.ones(1, 2, dtype=facula.float64))


def test_sparse_contents_can_be_given():
    assert repr(facula.eye(2).to_sparse_csr()).startswith("tensor(crow_indices=")
    assert facula.eye(2).to_sparse().__repr__(tensor_contents="here").startswith("tensor(here,\n       size=(2, 2)")


def test_print_options_are_read_back():
    facula.set_printoptions(precision=7, threshold=10, edgeitems=2, linewidth=100, sci_mode=False)

    assert {
        "precision": 7,
        "threshold": 10,
        "edgeitems": 2,
        "linewidth": 100,
        "sci_mode": False,
    } == facula.get_printoptions()
