"""Compositions over rows against NumPy's functions of the same meaning."""

import facula
import numpy as np
import pytest

RNG = np.random.default_rng(5)
EINSUMS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,jk": [(2, 3), (3, 4)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "...ij->...ji": [(2, 3, 4)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "bhid,bhjd->bhij": [(2, 2, 3, 4), (2, 2, 5, 4)],
    "i,j->ij": [(3,), (4,)],
    "ij->": [(3, 4)],
    "b...i,b...j->b...": [(2, 3, 4), (2, 3, 5)],
    "a,b,c->abc": [(2,), (3,), (4,)],
    "ij,ij": [(2, 3), (2, 3)],
    "iij->j": [(3, 3, 2)],
    "...,...": [(2, 3), (3,)],
    "ij,k->ik": [(2, 0), (3,)],
    "ijk,ilm,njm,nlk,abc->": [(2, 3, 4), (2, 5, 6), (7, 3, 6), (7, 5, 4), (2, 2, 2)],
}


def draw(*shape):
    return RNG.standard_normal(shape)


def near(expected, actual):
    expected = np.asarray(expected)
    return tuple(actual.shape) == expected.shape and np.allclose(actual.numpy(), expected, rtol=1e-10, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum_is_numpys(equation):
    arrays = [draw(*shape) for shape in EINSUMS[equation]]

    assert near(np.einsum(equation, *arrays), facula.einsum(equation, *map(facula.tensor, arrays)))


def test_einsum_takes_lists_of_labels():
    x, y = draw(2, 3), draw(3, 4)

    assert near(x @ y, facula.einsum(facula.tensor(x), [0, 1], facula.tensor(y), [1, 2], [0, 2]))


@pytest.mark.parametrize("equation,shapes,fact", [
    ("ij,jk->ik", [(2, 3), (4, 4)], "size 4"),
    ("ij->ijk", [(2, 2)], "k"),
    ("i1->i", [(2, 2)], "index 1"),
    ("ij", [(2,)], "dimensions"),
    ("ij,jk", [(2, 2)], "has 2, got 1"),
    ("ii", [(2, 3)], "3 != 2"),
])  # fmt: skip
def test_einsum_refuses(equation, shapes, fact):
    with pytest.raises(RuntimeError, match=fact):
        facula.einsum(equation, *(facula.zeros(s) for s in shapes))


w, x, y, z, v = draw(2, 3, 4), draw(3, 5), draw(3, 5), draw(5, 2), draw(4)
holes = np.where(draw(3, 5) > 0.5, np.nan, draw(3, 5))
t = facula.tensor
CASES = {
    "tensordot": (lambda: np.tensordot(w, w, ([0, 1], [0, 1])), lambda: facula.tensordot(t(w), t(w), ([0, 1], [0, 1]))),
    "tensordot by number": (lambda: np.tensordot(x, z, 1), lambda: facula.tensordot(t(x), t(z), 1)),
    "inner": (lambda: np.inner(x, y), lambda: facula.inner(t(x), t(y))),
    "kron": (lambda: np.kron(x, z), lambda: facula.kron(t(x), t(z))),
    "kron of other ranks": (lambda: np.kron(w, v), lambda: facula.kron(t(w), t(v))),
    "cdist": (lambda: np.linalg.norm(x[:, None] - y[None], axis=-1), lambda: facula.cdist(t(x), t(y))),
    "cdist, 1": (lambda: abs(x[:, None] - y[None]).sum(-1), lambda: facula.cdist(t(x), t(y), p=1)),
    "pdist": (lambda: [np.linalg.norm(x[i] - x[j]) for i in range(3) for j in range(i + 1, 3)], lambda: facula.pdist(t(x))),
    "vander": (lambda: np.vander(v, 3), lambda: facula.vander(t(v), 3)),
    "matrix_power": (lambda: np.linalg.matrix_power(x[:, :3], 5), lambda: facula.matrix_power(t(x[:, :3]), 5)),
    "cov": (lambda: np.cov(x), lambda: facula.cov(t(x))),
    "cov, weighted": (
        lambda: np.cov(x, ddof=0, fweights=[1, 2, 1, 3, 1], aweights=[0.1, 0.2, 0.3, 0.1, 0.3]),
        lambda: facula.cov(t(x), correction=0, fweights=t([1, 2, 1, 3, 1]), aweights=t([0.1, 0.2, 0.3, 0.1, 0.3], dtype=facula.float64)),
    ),
    "corrcoef": (lambda: np.corrcoef(x), lambda: facula.corrcoef(t(x))),
    "nanmean": (lambda: np.nanmean(holes), lambda: facula.nanmean(t(holes))),
    "isin": (lambda: np.isin(np.arange(50), np.arange(0, 99, 2)), lambda: facula.isin(facula.arange(50), facula.arange(0, 99, 2))),
    "isin, few": (lambda: np.isin(np.arange(6), [1, 4]), lambda: facula.isin(facula.arange(6), t([1, 4]))),
    "unravel_index": (lambda: np.stack(np.unravel_index([3, 7], (3, 4))), lambda: facula.stack(facula.unravel_index(t([3, 7]), (3, 4)))),
    "block_diag": (lambda: [[1, 2, 0], [0, 0, 3]], lambda: facula.block_diag(t([[1, 2]]), t(3))),
    "cartesian_prod": (lambda: [[1, 3], [1, 4], [2, 3], [2, 4]], lambda: facula.cartesian_prod(t([1, 2]), t([3, 4]))),
    "combinations": (lambda: [[1, 2], [1, 3], [2, 3]], lambda: facula.combinations(t([1, 2, 3]))),
    "renorm": (lambda: x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True) + 1e-7, 1), lambda: facula.renorm(t(x), 2, 0, 1.0)),
    "select_scatter": (lambda: [[0, 5], [0, 6]], lambda: facula.zeros(2, 2).select_scatter(t([5.0, 6.0]), 1, 1)),
    "slice_scatter": (lambda: [0, 1, 0, 1], lambda: facula.zeros(4).slice_scatter(facula.ones(2), 0, 1, 4, 2)),
    "diagonal_scatter": (lambda: np.eye(3), lambda: facula.zeros(3, 3).diagonal_scatter(facula.ones(3))),
    "masked_scatter": (lambda: [0, 7, 0, 8], lambda: facula.zeros(4).masked_scatter(t([False, True, False, True]), t([7.0, 8.0, 9.0]))),
    "put": (lambda: [[0, 7], [0, 8]], lambda: facula.zeros(2, 2).put(t([1, 3]), t([7.0, 8.0]))),
    "sum_to_size": (lambda: w.sum((0, 2), keepdims=True)[0], lambda: t(w).sum_to_size(3, 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_composition_is_numpys(name):
    expected, actual = CASES[name]

    assert near(expected(), actual())


@pytest.mark.parametrize("mode", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_are_numpys(mode):
    q = np.array([0.0, 0.3, 0.5, 1.0])

    assert near(np.quantile(x, q, axis=1, keepdims=True, method=mode), facula.quantile(t(x), t(q), 1, True, interpolation=mode))
    assert near(np.quantile(w, 0.3, method=mode), facula.quantile(t(w), 0.3, interpolation=mode))
    assert near(np.nanquantile(holes, q, axis=0, method=mode), facula.nanquantile(t(holes), t(q), 0, interpolation=mode))


def test_quantile_of_nan_is_nan():
    assert facula.quantile(t([1.0, float("nan")]), 0.5).isnan()


def test_fill_diagonal_writes_in_place_and_wraps():
    for shape, wrap in (((7, 3), True), ((7, 3), False), ((3, 7), False)):
        expected, actual = np.zeros(shape), facula.zeros(shape)
        np.fill_diagonal(expected, 5, wrap=wrap)

        assert actual.fill_diagonal_(5, wrap) is actual
        assert near(expected, actual)


def test_functions_of_one_tensor_have_in_place_forms():
    x = t([-1.0, 2.0])

    assert facula.relu_(x) is x
    assert x.tolist() == [0.0, 2.0]


def test_msort_goes_into_out():
    out = facula.zeros(0)

    assert facula.msort(t([[3.0, 1.0], [2.0, 5.0]]), out=out) is out and [[2.0, 1.0], [3.0, 5.0]] == out.tolist()
