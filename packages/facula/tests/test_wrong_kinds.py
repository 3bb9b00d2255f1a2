"""An argument of a wrong kind, beside PyTorch: the same class of exception, whichever function it is given to.

In each line B stands for what is wrong; f is a vector of 3 floats, i one of integers, m a 3 by 3 matrix, t a batch of such, b a bool vector.
"""

import warnings

import pytest

import facula

torch = pytest.importorskip("torch")

# B where a tensor belongs
TENSORS = """
X.mm(B, m)|X.mm(m, B)|X.bmm(B, t)|X.mv(m, B)|X.dot(f, B)|X.vdot(B, f)|X.outer(B, f)|X.addmm(B, m, m)|X.addmm(m, B, m)|X.addmv(f, m, B)|X.addr(m, f, B)
X.baddbmm(t, B, t)|X.addbmm(m, t, B)|X.tril(B)|X.triu(B)|X.sort(B)|X.argsort(B)|X.topk(B, 2)|X.kthvalue(B, 2)|X.mode(B)|X.median(B)|X.msort(B)|X.nonzero(B)|X.argwhere(B)
X.take(B, i)|X.masked_select(f, B)|X.masked_fill(B, b, 0)|X.gather(f, 0, B)|X.index_fill(f, 0, B, 1.0)|X.index_add(f, 0, i, B)|X.index_reduce(f, 0, i, B, "prod")
X.scatter_reduce(f, 0, i, B, "sum")|X.flatten(B)|X.squeeze(B)|X.permute(B, (0,))|X.reshape(B, (3,))|X.narrow(B, 0, 0, 1)|X.movedim(B, 0, 0)|X.swapaxes(B, 0, 0)|X.unbind(B)
X.chunk(B, 2)|X.tensor_split(B, 2)|X.ravel(B)|X.t(B)|X.adjoint(B)|X.flip(B, (0,))|X.fliplr(B)|X.flipud(B)|X.roll(B, 1)|X.rot90(B)|X.diag(B)|X.diag_embed(B)|X.diagflat(B)
X.cross(f, B)|X.trace(B)|X.diff(B)|X.cdist(m, B)|X.pdist(B)|X.dist(f, B)|X.cov(B)|X.corrcoef(B)|X.vander(B)|X.kron(f, B)|X.inner(f, B)|X.combinations(B)
X.cartesian_prod(B)|X.block_diag(B)|X.quantile(B, 0.5)|X.nanquantile(B, 0.5)|X.nanmean(B)|X.renorm(B, 2, 0, 1)|X.histc(B)|X.histogram(B, 2)|X.bincount(B)|X.searchsorted(B, f)
X.isclose(B, f)|X.allclose(f, B)|X.equal(f, B)|X.angle(B)|X.logit(B)|X.nan_to_num(B)|X.polygamma(1, B)|X.mvlgamma(B, 1)|X.frexp(B)|X.ldexp(f, B)|X.heaviside(f, B)|X.nextafter(f, B)
X.polar(f, B)|X.complex(B, f)|X.prelu(f, B)|X.conj(B)|X.conj_physical(B)|X.positive(B)|X.square(B)|X.round(B)|X.clamp(B, 0, 1)|X.all(B)|X.any(B)|X.logsumexp(B, 0)|X.aminmax(B)
X.var_mean(B)|X.std_mean(B)|X.select_scatter(m, B, 0, 0)|X.slice_scatter(f, B)|X.diagonal_scatter(m, B)|X.multinomial(B, 1)|X.bernoulli(B)|X.poisson(B)|X.expand_copy(B, (3,))|X.view_copy(B, (3,))
X.linalg.inv(B)|X.linalg.det(B)|X.linalg.solve(m, B)|X.linalg.cholesky(B)|X.linalg.qr(B)|X.linalg.svd(B)|X.linalg.eigh(B)|X.linalg.pinv(B)|X.linalg.lstsq(m, B)|X.linalg.matrix_power(B, 2)
X.linalg.vector_norm(B)|X.linalg.vecdot(f, B)|X.linalg.matrix_exp(B)|X.linalg.slogdet(B)|X.fft.fft(B)|X.fft.rfft(B)|X.fft.fftn(B)|X.fft.fftshift(B)
X.nn.functional.cross_entropy(B, i)|X.nn.functional.layer_norm(B, (3,))|X.nn.functional.pad(B, (1, 1))|X.nn.functional.avg_pool2d(B, 2)|X.nn.functional.unfold(B, 2)|X.nn.functional.bilinear(B, f, t)
X.nn.functional.scaled_dot_product_attention(B, t, t)|X.nn.functional.multi_margin_loss(B, i)|X.nn.functional.triplet_margin_loss(B, f, f)|X.nn.functional.adaptive_avg_pool1d(B, 2)
f.is_same_size(B)|f.is_set_to(B)|f.map_(B, min)|f.map2_(f, B, min)|f.sparse_mask(B)|X.sspaddmm(B, m, m)|X.sspaddmm(m.to_sparse(), B, m)|X.saddmm(m, B, m)
""".replace("\n", "|").strip("|").split("|")
NO_TENSOR = ["3", "1.5", "'a'", "None", "[f]", "X.float32"]

# B where an integer, a truth value or a number belongs
INTS = """
X.tril(m, B)|X.kthvalue(f, B)|X.combinations(f, B)|X.diag(f, B)|X.diag_embed(f, B)|X.rot90(m, B)|X.msort(f, B)|X.diff(f, B)|X.multinomial(f, B)|X.trace(m, B)|X.histc(f, B)|X.bincount(i, None, B)
X.cov(m, correction=B)|X.linalg.matrix_power(m, B)|X.linalg.vecdot(f, f, dim=B)|X.cumulative_trapezoid(f, dim=B)|X.fft.fft(f, None, B)|X.index_reduce(f, B, i, f, "prod")
""".replace("\n", "|").strip("|").split("|")
NO_INT = ["1.5", "'a'", "1j", "X.tensor(1.5)", "X.tensor([1, 2])"]
BOOLS = """
X.kthvalue(f, 1, 0, B)|X.mode(f, 0, B)|X.quantile(f, 0.5, 0, B)|X.linalg.cholesky(m, upper=B)|X.linalg.svd(m, B)|X.searchsorted(f, f, right=B)|X.isclose(f, f, equal_nan=B)
X.vander(f, increasing=B)|X.combinations(f, 2, B)|X.multinomial(f, 1, B)|X.histogram(f, 2, density=B)|X.linalg.solve(m, m, left=B)|X.scatter_reduce(f, 0, i, f, "sum", include_self=B)
""".replace("\n", "|").strip("|").split("|")
NO_BOOL = ["2", "1.5", "'a'", "X.tensor([True, False])"]
NUMBERS = "X.addmm(m, m, m, beta=B)|X.addr(m, f, f, alpha=B)|X.renorm(m, 2, 0, B)|X.histc(f, 3, B, 2)|X.allclose(f, f, B)|X.cdist(m, m, B)".split("|")
NO_NUMBER = ["'a'", "[1]", "X.float32"]
CALLS = [(line, bad) for lines, bads in ((TENSORS, NO_TENSOR), (INTS, NO_INT), (BOOLS, NO_BOOL), (NUMBERS, NO_NUMBER)) for line in lines for bad in bads]


def outcome(line, bad, X):
    names = {"X": X, "f": X.tensor([0.5, 1.5, 2.5]), "i": X.tensor([0, 1, 2]), "m": X.eye(3), "t": X.ones(2, 3, 3), "b": X.tensor([True, False, True])}
    names["B"] = eval(bad, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(line, names)
        except Exception as e:
            return e


@pytest.mark.parametrize("line, bad", CALLS)
def test_an_argument_of_a_wrong_kind_is_refused_as_in_pytorch(line, bad):
    expected, actual = outcome(line, bad, torch), outcome(line, bad, facula)
    if not isinstance(expected, Exception):
        pytest.skip("PyTorch takes it")

    assert isinstance(actual, type(expected)), (expected, actual)
