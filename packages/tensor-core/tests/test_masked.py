"""facula.masked against NumPy's masked arrays, and its refusals. PyTorch's own samples of it: packages/facula/tests/test_operator_samples.py."""

import facula
import numpy as np
import pytest

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((4, 5)), RNG.standard_normal((4, 5))
M = RNG.random((4, 5)) > 0.4
M[:, 0] = M[0] = True  # every row and column has an element
A = np.ma.masked_array(X, ~M)
masked, x, m = facula.masked, facula.tensor(X), facula.tensor(M)


def _softmax(a, axis):
    e = np.ma.exp(a)
    return e / e.sum(axis, keepdims=True)


CASES = {
    "sum": (lambda d: A.sum(d), lambda d: masked.sum(x, d, mask=m)),
    "prod": (lambda d: A.prod(d), lambda d: masked.prod(x, d, mask=m)),
    "mean": (lambda d: A.mean(d), lambda d: masked.mean(x, d, mask=m)),
    "amax": (lambda d: A.max(d), lambda d: masked.amax(x, d, mask=m)),
    "amin": (lambda d: A.min(d), lambda d: masked.amin(x, d, mask=m)),
    "argmax": (lambda d: A.argmax(d), lambda d: masked.argmax(x, d, mask=m)),
    "argmin": (lambda d: A.argmin(d), lambda d: masked.argmin(x, d, mask=m)),
    "var": (lambda d: A.var(d, ddof=1), lambda d: masked.var(x, d, mask=m)),
    "std": (lambda d: A.std(d), lambda d: masked.std(x, d, False, mask=m)),
    "logsumexp": (lambda d: np.log(np.ma.exp(A).sum(d)), lambda d: masked.logsumexp(x, d, mask=m)),
    "norm": (lambda d: np.sqrt((A**2).sum(d)), lambda d: masked.norm(x, 2.0, d, mask=m)),
    "norm, -inf": (lambda d: abs(A).min(d), lambda d: masked.norm(x, -np.inf, d, mask=m)),
    "cumsum": (lambda d: np.cumsum(A.filled(0), d), lambda d: masked.cumsum(x, d, mask=m)),
    "cumprod": (lambda d: np.cumprod(A.filled(1), d), lambda d: masked.cumprod(x, d, mask=m)),
    "softmax": (lambda d: _softmax(A, d).filled(0), lambda d: masked.softmax(x, d, mask=m)),
    "softmin": (lambda d: _softmax(-A, d).filled(0), lambda d: masked.softmin(x, d, mask=m)),
    "log_softmax": (lambda d: np.ma.log(_softmax(A, d)).filled(-np.inf), lambda d: masked.log_softmax(x, d, mask=m)),
    "normalize": (lambda d: (A / np.sqrt((A**2).sum(d, keepdims=True))).filled(0), lambda d: masked.normalize(x, 2.0, d, mask=m)),
}


@pytest.mark.parametrize("dim", (0, -1))
@pytest.mark.parametrize("name", CASES)
def test_is_numpys(name, dim):
    expected, actual = (side(dim) for side in CASES[name])

    np.testing.assert_allclose(actual.numpy(), np.asarray(expected), rtol=1e-12)


def test_median_is_the_lower_one_of_an_even_number():
    assert masked.median(facula.tensor([4.0, 1.0, 3.0, 9.0]), mask=facula.tensor([True, True, True, False])).item() == 3
    assert masked.median(facula.tensor([4, 1, 3, 9]), mask=facula.tensor([True, True, False, False])).item() == 1


def test_logaddexp_masks_both():
    off = facula.zeros(4, 5, dtype=facula.bool)

    np.testing.assert_allclose(masked.logaddexp(x, facula.tensor(Y), other_mask=off).numpy(), X)
    assert (masked.logaddexp(x, x, input_mask=off, other_mask=off) == -np.inf).all()


NONE = {"sum": 0, "prod": 1, "amax": -np.inf, "amin": np.inf, "mean": np.nan, "var": np.nan, "logsumexp": -np.inf, "norm": 0, "median": np.nan}


@pytest.mark.parametrize("name", NONE)
def test_of_no_elements_it_is_the_identity(name):
    result = getattr(masked, name)(facula.tensor([1.0, 2.0]), dim=0, mask=facula.tensor([False, False]))

    np.testing.assert_array_equal(result.item(), NONE[name])


def test_masks_are_broadcast_and_may_be_of_numbers():
    assert facula.equal(masked.sum(facula.ones(2, 3), 0, mask=facula.tensor([1, 0, 2])), facula.tensor([2.0, 0.0, 2.0]))
    assert facula.equal(masked.sum(facula.ones(2, 2), mask=facula.eye(2).to_sparse()), facula.tensor(2.0))


REFUSED = {
    "mask of more dims": (lambda: masked.sum(facula.ones(2), mask=facula.ones(2, 2)), IndexError),
    "the same dim": (lambda: masked.amax(facula.ones(2, 2), (0, 0)), RuntimeError),
    "a dim beyond": (lambda: masked.amax(facula.ones(2, 2), 2), IndexError),
    "mean of integers": (lambda: masked.mean(facula.ones(2, dtype=facula.int64)), ValueError),
    "median of no integers": (lambda: masked.median(facula.tensor([1]), mask=facula.tensor([False])), ValueError),
    "largest truth": (lambda: masked.amax(facula.tensor([True]), mask=facula.tensor([True])), NotImplementedError),
    "sparse input without a mask": (lambda: masked.amax(facula.eye(2).to_sparse()), ValueError),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what):
    call, error = REFUSED[what]

    with pytest.raises(error):
        call()
