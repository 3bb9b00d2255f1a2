"""How results lie beside PyTorch's, where it is installed: of dims of size 1 and 0, whose strides no element tells, and of index tensors in any layout."""

import itertools
import math
import random

import facula
import pytest

torch = pytest.importorskip("torch")

SHAPES = [(1, 3), (1, 1), (2, 3, 1), (1, 3, 2), (2, 1, 1, 3), (2, 3), (3, 2, 2), (2, 2, 1, 3, 1), (0, 1), (2, 0), (2, 0, 1), (0, 1, 3), (1, 0, 2)]
CALLS = """
    x + 1; 2 - x; x > 0; x % 2; x * x; x + x[:1]; x.copysign(-1); X.xlogy(2, x); x.long() & 1; x.clamp(0, 1); x.pow(2); X.where(x > 0, x, 0); x.neg(); x.sgn()
    X.add(x, 1, out=X.empty(0)); x.abs(); x.to(X.complex64).abs(); x.to(X.complex64).angle(); x.to(X.complex64).conj_physical(); X.fill(x, 1); X.fill(x, X.tensor(1))
    x.all(()); x.any(()); x.take(X.zeros_like(x).long()); x.diff(dim=-1); X.trapezoid(x, dim=0); x.mvlgamma(1); x.clone(); x.sum(0); x.softmax(-1); x.isfinite()
    X.nn.functional.binary_cross_entropy_with_logits(x, x, reduction="none"); x[X.tensor([0, 0])]; x[:, X.tensor([0, 0])]; x[..., X.tensor([0, 0])]
"""
REFUSED = "refused"


def strides(X, text, make=None):
    try:
        return eval(text, {"X": X, "x": make and make(X)}).stride()
    except Exception:
        return REFUSED


def layouts(shape):
    """Functions of a library that make a tensor of this many elements: permuted, stepped, expanded."""
    whole = lambda X, shape: (X.arange(math.prod(shape)) % 5 + 1.0).reshape(shape)
    for order in itertools.permutations(range(len(shape))):
        if len(shape) < 4 or order[0] > order[-1]:
            yield lambda X, order=order: whole(X, shape).permute(order)
    yield lambda X: whole(X, (*shape, 2))[..., 0]
    yield lambda X: whole(X, (*shape[:-1], 1)).expand(shape)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [c.strip() for line in CALLS.split("\n") for c in line.split(";") if c.strip()])
def test_dims_of_size_one_and_none_lie_as_pytorchs(text):
    for shape in SHAPES:
        for make in layouts(shape):
            expected = strides(torch, text, make)
            assert expected in (REFUSED, strides(facula, text, make)), (shape, make(torch).stride())


def drawn_read(draw):
    """x[...] of a drawn x, by a drawn key with an index tensor in it, as text."""
    ndim = draw.randint(1, 4)
    shape, order = [draw.choice((1, 1, 2, 3, 4, 0)) for _ in range(ndim)], draw.sample(range(ndim), ndim)
    stepped = draw.random() < 0.2
    key = []
    for _ in range(draw.randint(1, ndim)):
        sizes = [draw.randint(1, 3) for _ in range(draw.randint(1, 3))]
        turned = draw.sample(range(len(sizes)), len(sizes))
        index = draw.choice((f"X.zeros({sizes}, dtype=X.int64).permute({turned})", f"X.zeros({[2, *sizes]}, dtype=X.int32)[0]"))
        key.append(draw.choice((index, index, ":", "None", "0", "::2")))
    return f"X.zeros({shape + [2] * stepped}){'[..., 0]' * stepped}.permute({order})[{', '.join([index, *key])}]"


def test_what_is_read_by_index_tensors_lies_in_the_order_of_all():
    draw = random.Random(0)
    for _ in range(3000):
        text = drawn_read(draw)
        expected, actual = strides(torch, text), strides(facula, text)
        assert (expected is REFUSED) == (actual is REFUSED) and expected == actual, text
