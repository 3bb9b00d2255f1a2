"""An argument of a wrong kind, beside PyTorch: the same class of exception, whichever function it is given to.

In each line B stands for what is wrong; f is a vector of 3 floats, i one of integers, m a 3 by 3 matrix, t a batch of such, b a bool vector.
"""

import warnings

import numpy
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
# B where PyTorch takes a tensor without dims alone, and where it takes each tensor of one
DIMS = """
X.cumsum(f, B)|X.softmax(f, B)|f.log_softmax(B)|X.unsqueeze(f, B)|f.unsqueeze_(B)|X.transpose(m, B, 0)|X.swapaxes(m, 0, B)|X.select(m, B, 0)|X.argmax(f, B)|X.argsort(f, B)|X.cummax(f, B)|X.prod(f, B)
X.any(f, B)|X.all(m, B)|X.count_nonzero(f, B)|X.cat([f], B)|X.stack([f], B)|f.size(B)|m.unfold(0, B, 1)|X.rot90(m, B)|X.flatten(m, B)|X.movedim(m, B, 1)|X.squeeze(m, B)|X.gradient(m, dim=B)
f.scatter_add(B, i, f)|X.index_select(f, B, i)|X.nonzero_static(f, size=2, fill_value=B)|X.fft.fftfreq(B)|X.full(B, 1.0)|f.new_full(B, 1.0)|X.as_strided(f, B, (1,))|X.hsplit(m, B)
""".replace("\n", "|").strip("|").split("|")
NO_DIM = ["X.tensor([1])", "X.tensor([0, 1])", "True", "np.True_"]
SIZES = """
X.narrow(f, 0, 0, B)|X.narrow(f, 0, B, 1)|X.select(f, 0, B)|X.tril(m, B)|X.topk(f, B)|X.as_strided(f, (1,), (1,), B)|X.fft.fft(f, B)|X.multinomial(f, B)|X.bincount(i, None, B)|X.randperm(B)
X.fft.fftn(m, dim=B)|X.fft.rfftn(m, dim=(B,))|X.fft.fftshift(m, (B,))|X.linalg.vector_norm(m, dim=(B,))|X.roll(f, (B,), (0,))|X.hash_tensor(m, (B,))|m.reshape(B, 9)|m.reshape((9, B))|X.expand_copy(f, (B, 3))
X.conv1d(t, t, groups=B)|X.conv2d(t[None], t[None], groups=B)|X.embedding(m, i, padding_idx=B)|X.nn.functional.embedding(i, m, B)|X.sum(m, (0, B))|X.amax(m, (0, B))
""".replace("\n", "|").strip("|").split("|")
# a truth value behind the first of several ints
BEHIND = "m.reshape((9, B))|X.reshape(m, (9, B))|X.squeeze(m, (0, B))|X.sum(m, (0, B))|X.fft.fftn(m, dim=(0, B))|X.fft.fftn(m, (2, B))|X.rot90(m, 1, (0, B))|X.roll(m, (1, B), (0, 1))|X.linalg.norm(m, dim=(0, B))|X.flip(m, (0, B))".split("|")
NO_INT = ["1.5", "'a'", "1j", "X.tensor(1.5)", "X.tensor([1, 2])"]
BOOLS = """
X.kthvalue(f, 1, 0, B)|X.mode(f, 0, B)|X.quantile(f, 0.5, 0, B)|X.linalg.cholesky(m, upper=B)|X.linalg.svd(m, B)|X.searchsorted(f, f, right=B)|X.isclose(f, f, equal_nan=B)
X.vander(f, increasing=B)|X.combinations(f, 2, B)|X.multinomial(f, 1, B)|X.histogram(f, 2, density=B)|X.linalg.solve(m, m, left=B)|X.scatter_reduce(f, 0, i, f, "sum", include_self=B)
""".replace("\n", "|").strip("|").split("|")
NO_BOOL = ["2", "1.5", "'a'", "X.tensor([True, False])"]
NUMBERS = "X.addmm(m, m, m, beta=B)|X.addr(m, f, f, alpha=B)|X.renorm(m, 2, 0, B)|X.histc(f, 3, B, 2)|X.allclose(f, f, B)|X.cdist(m, m, B)".split("|")
NO_NUMBER = ["'a'", "[1]", "X.float32"]
# two things wrong, of which PyTorch's parser sees one kind and nobody asks for the other: a size, a dim, a dtype, a word
TWO = """
X.sum(None, (0, 0))|X.sum(m, 70, keepdim=2)|X.prod(m, 70, 2)|X.amax([f], (1, 1))|X.argmax(m, dim=70, keepdim=1.5)|X.mean(m, (0, 0), dtype="a")|X.count_nonzero((1, 2), -70)|X.any(m, 9, "a")
X.narrow(X.tensor(1.0), X.tensor([1.0]), 0, 1)|X.narrow(m, 9, 0, 1.5)|X.select(X.tensor(1.0), 0, (1,))|X.select(m, 9, "a")|X.unflatten(m, 9, f)|X.as_strided(m, f, (1, 1))|m.as_strided_((0, 1), (1.5,))
X.split(X.tensor(1.0), f)|X.split(m, f, dim=9)|X.split_with_sizes(f, f)|X.unsafe_split_with_sizes(X.tensor(1.0), i)|X.unsafe_split(X.tensor(1.0), 1.5)|X.unbind(X.tensor(1.0), 1.5)|X.chunk(X.tensor(1.0), 1, "a")
X.unsafe_chunk(X.tensor(1.0), -1, "a")|X.tensor_split(X.tensor(1.0), 0, "a")|X.hsplit(X.tensor(1.0), X.float32)|X.vsplit(f, f)|X.dsplit(f, 1.5)|f.dsplit(f)|X.triu(X.tensor(1.0), (1,))|f.triu_((1,))
X.roll(f, f)|X.roll(m, f, (0, 0, 0))|X.rot90(X.tensor(1.0), dims=f)|X.rot90(f, 0, (True,))|X.repeat_interleave(f, 1, output_size=f)|X.diag(t, 1.5)|X.renorm(f, 2, "a", 1)|X.cross(f, m, dim="a")
X.div(f, "a", rounding_mode="b")|X.divide(f, X.float32, rounding_mode="b")|f.div_("a", rounding_mode="b")|X.where(f, X.float32, f)|f.where(f, [f])|f.lerp_(m.to(X.float64), [1])|X.clamp(f, None, out=[])
f.cumprod_(9, dtype=1.5)|f.cumsum_("a", dtype=X.float64)|f.addr_(f, m, beta="a")|m.addmm_(f, t, beta="a")|X.addmm(i, f, t, beta="a")|t.baddbmm_(f, f, alpha="a")|f.addmv_(f, f, beta=None)
X.scatter(f, 0, i, "a", reduce="b")|m.index_fill_(9, i, [f])|X.index_fill(f, 0, f, (1, 2))|X.masked_fill(f, m > 0, [1])|f.fill_diagonal_(f)|X.kthvalue(m, 9, 1, 2)|X.topk(f, 9, 0, "a")|X.multinomial(t, f)
X.quantile(i, X.float32)|X.nanquantile(i, f, dim=1.5)|X.histogramdd(f, bins=None)|X.histogramdd(f, (2, 2), weight=3)|X.gradient(f, spacing=X.float32, edge_order=9)|X.gradient(f, spacing="a", dim=9)|X.cumulative_trapezoid(f, dx="a", dim=9)
X.searchsorted(m, X.float32, side="b")|X.bucketize("a", m)|X.bincount(m, 3)|X.nonzero_static(f, size=-1, fill_value=1.5)|X.nanmean(i, "a")|X.convolution(f, f, [f], (1,), (1,), (1,), False, (0,), 1)
X.conv_transpose1d(f, m, dilation=(None,))|X.max_pool3d(f, f, ceil_mode=True)|X.max_pool3d(f, (0,), dilation="a")|X.avg_pool1d(X.tensor(1.0), (1.5,))|X.nn.functional.avg_pool2d(f, (0, "a"))
X.layer_norm(f, f, None)|X.rms_norm(i, f)|X.ctc_loss(f, f, 1.5, (1,))|X.linalg.pinv(f, "a")|X.linalg.matrix_rank(f, tol=X.float32)|X.linalg.cond(f, p=X.float32)|X.linalg.lstsq(f, f, "a")|X.linalg.norm(i, f, dtype=X.float32)
X.fft.fftshift(X.tensor(1.0), f)|X.fft.ifftshift(X.tensor(1.0), "a")|X.fft.hfft(f, n=0, out=[])|X.fft.fftn(f, norm="b", out=[])|X.slice_scatter(f, f, 9, step="a")|X.as_strided_scatter(m, f, f, (1,))
X.linspace(f, m, 1, dtype=3)|X.logspace(f, m, True)|X.linspace(None, 2, 1, layout=X.sparse_coo)|X.arange(0.5, dtype=f, layout=X.sparse_coo)|X.normal(-1.0, -1.0, "a")|X.randperm(-1, dtype=2.5)|X.eye(-1, "a")
X.hann_window(-1, dtype=f)|X.hamming_window(1j, False, layout=X.sparse_coo)|X.bartlett_window(0, dtype=1.5, pin_memory=True)|X.kaiser_window(-1, "a")|X.ones(0, layout=X.sparse_coo, device=1.5)|X.rand((1,), layout=X.sparse_coo, device=f)
X.nn.functional.max_pool3d_with_indices(f, (1,), padding=(None,))|X.nn.functional.max_pool2d_with_indices(f, 2, dilation="a")|t.multinomial(f)|f.copy_("a")|f.copy_(X.float32)|X.rand_like(f, generator="a", layout=X.sparse_coo)
X.max_pool1d(f, (0,), ceil_mode=2)|X.max_pool2d(f, True)|X.max_pool2d(f, 2, dilation=(0, "a"))|m.to_sparse_bsr((0, "a"))|f.to_sparse_bsc(None, 0)|f.to_sparse_csr(1.5)|m.to_sparse(layout=X.float32)|m.to_sparse("a")
X.tensor(None, device=1.5)|X.tensor(None, requires_grad=2)|X.as_tensor(True, device=f)|X.as_tensor(None, device=X.float32)|X.get_autocast_dtype(3)|X.get_autocast_dtype(None)|X.gradient(f, spacing=None, dim=(9,))
f.hsplit(indices=0)|m.vsplit(sections=[1])|f.tensor_split(tensor_indices_or_sections=(1, 2))|f.sort(stable=1)|X.sort(f, stable="a", dim=9)|X.Size(sizes=(1,))|X.native_norm(f, 1, (None,))|X.native_norm(f, "a")|f.round_(decimals=True)
X.convolution(f, f, None, (0,), (1,), 0, False, (1,), 0)|X.convolution(f, m, None, 1, (1,), (1,), False, (0,), 1)|X.nan_to_num(f, 1j)|f.nan_to_num(posinf=X.tensor([1.0]))|X.nonzero_static(f, size=1, fill_value="a")|X.rrelu(f, generator=3)
f.to("cpu", True)|f.to(other=f)|f.to(tensor=3)|f.to(device=f)|f.to(device=X.float32, dtype=X.float32)|X.randint_like(f, f)|X.randint_like(f, f, layout="x")|X.randint_like(None, f)|X.randint_like(f, m, generator=3, pin_memory=True)
X.eye(-1, layout=X.sparse_coo, pin_memory="a")|X.randn((1,), device=1.5, pin_memory=True)|X.zeros((1,), dtype=3, pin_memory=True)|X.full((1,), "a", pin_memory=True)|X.rand_like(f, dtype="a", pin_memory=True)|X.empty_like(f, layout=X.sparse_coo, memory_format=3)
""".replace("\n", "|").strip("|").split("|")
# what is right although it is no plain int, and a truth value that is NumPy's
RIGHT = "f.to(tensor=f)|f.to('cpu', copy=True)|X.randint_like(f, X.tensor(3.5))|X.nan_to_num(f, 2**70)|X.rrelu(f, generator=None)|X.rrelu_(f, 0.1, 0.3, True, X.Generator())|X.nn.functional.elu_(f, 1, scale=2.0, input_scale=3)|X.special.airy_ai(x=f)|X.special.hermite_polynomial_h(x=f, n=2)|X.multinomial(f, B)|X.kthvalue(f, B)|X.topk(f, B)|X.randint(B, (2,))|X.bincount(i, None, B)|X.randperm(B)|X.tril(m, B)|X.roll(f, B)".split("|")
TAKEN = {*RIGHT, *SIZES, *BEHIND}
CALLS = [(line, bad) for lines, bads in ((TENSORS, NO_TENSOR), (INTS, NO_INT), (BOOLS, NO_BOOL), (NUMBERS, NO_NUMBER), (TWO, ["None"]), (RIGHT, ["X.tensor([1])"]), (DIMS, NO_DIM), (SIZES, ["X.tensor([1])"]), (BEHIND, ["True"]), (BOOLS, ["np.True_"])) for line in lines for bad in bads]


def outcome(line, bad, X):
    names = {"X": X, "np": numpy, "f": X.tensor([0.5, 1.5, 2.5]), "i": X.tensor([0, 1, 2]), "m": X.eye(3), "t": X.ones(2, 3, 3), "b": X.tensor([True, False, True])}
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
        assert not isinstance(actual, Exception) or line not in TAKEN, actual
        pytest.skip("PyTorch takes it")

    assert isinstance(actual, type(expected)), (expected, actual)
