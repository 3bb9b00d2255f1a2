"""Calls that tools/torch_draws drew and that once differed: the same class of exception as PyTorch's, or a result as there.

f is a vector of 3 floats, i one of 3 integers, m a 3 by 3 matrix, t a batch of such, b a bool vector, o an empty output.
"""

import pytest

import facula

torch = pytest.importorskip("torch")

CALLS = """
X.isnan(f, out=o)|X.isinf(f, out=o)|X.isfinite(f, out=o)|X.relu(f, out=o)|X.celu(f, out=o)|X.selu(f, out=o)|X.rsub(f, 1, out=o)|X.count_nonzero(f, out=o)|X.diag_embed(f, out=o)
X.sum(f, out=o)|X.prod(f, out=o)|X.median(f, out=o)|X.nanmedian(f, out=o)|X.bernoulli(f, 0.5, out=o)|X.bucketize(2, f, out=o)|X.remainder(2, f, out=o)|X.bitwise_and(2, i, out=o)
X.sum(f, None, out=o)|X.sum(f, 0, out=o)|X.prod(f, 0, out=o)|X.mean(f, out=o)|X.diag(f, out=o)|X.bitwise_and(i, 2, out=o.long())|X.remainder(f, 2, out=o)
X.baddbmm(f, f, i)|X.baddbmm(f, m, m)|X.addbmm(f, f, f)|f.addbmm_(i, f)|X.baddbmm(t, t, m)|X.baddbmm(t, f, t, beta="a")|X.put(f, i, m.double())|X.put(f, i, m)
X.norm(i, None, dtype=X.float32)|X.norm(f.double(), 2, dtype=X.float32)|X.norm(f, 2, dtype=X.float64)|X.argsort(f, stable=True, out=o)|X.repeat_interleave(X.tensor(2))|X.where(b, 1.0, 2.0, out=o)|X.where(b, f, 2.0, out=o)
f.set_(2**63)|f.set_("a")|f.set_(f, 1j)|f.set_(f.untyped_storage())|f.index_fill(-9, i, f)|f.bool().trace()|X.hspmm(f, f)|X.native_norm(f, None, -9, False, None)|f.ccol_indices(3)|f.indices(extra=3)|f.coalesce()
X.sparse_csr_tensor(i, i, f, (3, 3), layout=X.strided)|X.sparse_csr_tensor(i, i, f, 7)|X.sparse_bsc_tensor(i, i, f, size=7)|X.var(i, 9)|X.mean(i, -9)|X.rnn_tanh(f, f, [f], True, 0, 2.0, False, False, False)
X.binary_cross_entropy_with_logits(f, m[0, :2])|X.embedding_bag(m, X.tensor(1), i)|X.embedding_bag(m, i, m.long())|X.group_norm(f, 1)|X.ctc_loss(f.long(), m.long(), (1, 2), (1, 2))|X.ctc_loss(X.tensor(0), i, (1,), (1,))
X.histogramdd(m.long(), (2,))|X.nn.functional.lp_pool2d(t, 1, (1,))|X.index_copy(m.long(), 0, X.tensor([[0]]), m)|X.index_copy(m.long(), 0, X.tensor([0]), f)|X.index_copy(m.long(), 9, X.tensor([0]), m[:1])
f.sparse_resize_(3, -1, dense_dim=-1)|f.pin_memory(object())|f.is_pinned((1, 2))|f.is_pinned()|X.scatter(f, 9, i, 0, reduce="mean")|X.linspace(1, 2, 2**63)|X.logspace(1, 2, 2**63)|X.norm(f, dim=2**63)|X.sparse_coo_tensor(m[:2].long(), f, pin_memory=None)
X.index_put(f, [X.tensor(0)], X.ones(1))|X.index_put(m, [X.tensor(0)], X.ones(1, 3))|X.index_put(m, [i, i], f)|X.index_put(m, [b], f)|X.index_put(m, (X.tensor([0]),), X.ones(1, 3))|X.index_put(m, (m > 1,), X.tensor(2.0))
X.float_power(1, {}, out=o)|X.sspaddmm(f, f, f, out=3)|X.any(f, {}, out=o.long())|X.all(f, keepdim=0.5, out=o.long())|X.any(f, out=o.long())|X.grid_sampler_3d(f, i, 0, 2, False)
X.linspace(2, -1, 3, dtype=X.uint8)|X.linspace(-7, 3, 3, dtype=X.uint8)|X.logspace(-1, 1, 3, dtype=X.uint8)|X.logspace(2.5, -1, 1, dtype=X.int32)|X.logspace(3, -1, 1, dtype=X.uint8)|X.logspace(-0.5, 0, 1, 0, dtype=X.int64)
X.logspace(0, X.tensor(0j), 2)|X.norm(X.ones(2), float("nan")).isnan()|m.half().t().round(decimals=2)|X.round(m.t(), decimals=2, out=o)|X.special.ndtr(0 * m.t(), out=o)|X.diff(m.t(), out=o)|X.diff(m.t(), 0, out=o)
X.fft.fftn(m.t(), dim=()).real|X.abs(m.t() + 0j, out=o)|X.angle(m.t() + 0j, out=o)|X.angle(m.t(), out=o)|X.nn.functional.conv_tbc(t, t, f)|X.batch_norm_update_stats(m.half(), None, f, 0.25)[0]
X.native_batch_norm(m.long(), None, None, None, None, True, 0.25, 0)|X.native_batch_norm(m, None, None, None, f, False, 0.25, 2.5)|X.native_group_norm(m.long(), None, None, 3, 3, 2, 1, 2)|X.native_group_norm(m, None, None, 3, 3, 2, 0, 2)
X.batch_norm(o, None, None, None, f, False, 0.25, 2.5, True)|X.batch_norm(o, o, o, None, None, True, 0.25, 2.5, True)|X.batch_norm(m[:0], f[:1], m[0], None, None, True, 0.25, 2.5, True)|X.nn.functional.batch_norm(m[:0], f, f, f.double())
X.nn.functional.batch_norm(m[:, :0], f, f, X.tensor(1.0))|X.rnn_tanh_cell(f[None], f, m, m)|X.rnn_tanh_cell(f[None], f.sum(), m, m)|X.rnn_tanh_cell(f[None], f, m[:2], m)|X.rnn_tanh_cell(f, f, m, X.tensor(2.0))
X.rnn_relu_cell(f[None], m[:2], m, m)|X.gru_cell(f[None], m[:2], m.repeat(3, 1), m.repeat(3, 1))|X.lstm_cell(f[None], (f[None], f), m.repeat(4, 1), m.repeat(4, 1))|X.gru(t, X.tensor(1.0), [t], False, 0, 3, True, False, False)
X.norm_except_dim(X.tensor(2))|X.norm_except_dim(i, 2, 3)|X.group_norm(X.tensor(3), -1)|X.group_norm(f, 0)|X.group_norm(m, 0)|X.native_dropout(i, 0.5, True)|X.native_dropout(i, 0.0, None)|X.native_dropout(i, 0.5, False)[0]|X.native_dropout(f + 0j, 0.5, True)[0].real
X.adaptive_avg_pool1d(m > 1, (0,))|X.adaptive_avg_pool1d(m > 1, (1,))|X.adaptive_avg_pool1d(m + 0j, 1).real|X.adaptive_avg_pool1d(m + 0j, 2)|X.nn.functional.adaptive_avg_pool2d(t.long(), (0, None))|X.nn.functional.adaptive_avg_pool2d(m, None)
X.nn.functional.adaptive_avg_pool3d(t[None].long(), (0, 1, 1))|X.nn.functional.adaptive_avg_pool3d(m, [f])
X.hash_tensor(f, 7, mode=2)|X.hash_tensor(f, 7, out=o)|X.hash_tensor(f + 0j, 7)|X.hash_tensor(f + 0j, mode=-1)|X.slice_copy(X.tensor(1), 0, step=-9)|X.slice_scatter(X.tensor(1), X.tensor(1), step=-1)|X.narrow_copy(f, 1, 0)|X.narrow_copy(f, 1, length=1)
X.empty_permuted((2,), (3,), dtype=3)|X.empty_permuted((2,), (0,), dtype=3, pin_memory=True)|X.zeros_like(f, dtype="a", pin_memory=True)|X.ones_like(f, dtype="a", pin_memory=True)|X.empty((2,), dtype=True, memory_format=X.preserve_format)
X.empty((2,), out=[1], memory_format=X.contiguous_format)|X.empty_strided(3.0, (2,), pin_memory=True)|X.empty_strided((1,), (2,), dtype="a", pin_memory=True)|X.cdist(3, 4, compute_mode=3)|X.sspaddmm(m, m, m, alpha="a")|X.addr(m, m, f, beta="a")
f.dsplit(2**63)|f.dsplit("a")|f.dsplit(2)|X.repeat_interleave(i, None)|X.repeat_interleave(f, 2**63, output_size=3)|X.repeat_interleave(i, output_size=-1)|X.repeat_interleave(o, -2)|X.repeat_interleave(m[:, :0], i[:0], 1, output_size=3)
X.repeat_interleave(X.tensor(2), 2, -1)|X.repeat_interleave(X.tensor(2), X.tensor([1]), 0)|X.index_select(f, 0, m)|X.index_copy(f, 0, i, X.tensor(1).half())|X.index_put(o, [X.tensor([0])], f.half())|X.index_put(m[:, :0], [i, i[:2]], f.half())
m[:, :0].index_put_([i[0], i[0]], m[:, :0])|X.index_reduce(f, 0, m, f, "prod")|X.index_reduce(m, 0, i, f[0], "prod")|X.nn.functional.l1_loss(f, f[:2], reduction=3)|X.nn.functional.huber_loss(f, f[:2], delta=[3])|X.nn.functional.smooth_l1_loss(f, f, reduction=3)
X.stft(f, 2, center=1j, return_complex=True, window=f[:2]).abs()|X.stft(f, 2, center=1j)|f.stft(2, center=0, return_complex=True, window=f[:2]).real|X.amin(f, 9, out=o.long())|X.amin(f, 9, out=o)|X.amax(m[:, :0], 1, out=o.long())|X.logcumsumexp(f, 9, out=o.long())
X.mean(f, 9, dtype=X.int32)|X.mean(i, 9, dtype=X.float32)|X.nanmean(f, dtype=X.float32, out=o.double())|X.angle(m.t() + 0j, out=o + 0j).real|X.group_norm(m[:1, :2], 2)|X.group_norm(m, 7)|X.nn.functional.group_norm(m[:1, :2], 2)
X.lstm_cell(m[0], [m, m], m, m)|X.gru_cell(m, f, m, m)|X.gru_cell(m, m, m, m)|X.rnn_tanh_cell(m, f, f[:2], m)|X.nn.functional.adaptive_avg_pool2d(m, (1, 1))|X.nn.functional.adaptive_max_pool3d(m, (1, 1, 2))|X.nn.functional.adaptive_max_pool2d_with_indices(m, (1, "a"))
X.lerp(f, f, i)|f.lerp_(f, i)|f.lerp_(f, i[0])|X.lerp(i, i + 1, f[0])|X.lerp(i, i + 1, 0.5)|i.lerp_(i, f[0])|X.special.hermite_polynomial_h(0.5, f[0].half(), out=o.half())|X.special.zeta(0.5, f[0].half(), out=o.half())|X.xlogy(2, f, out=o)
X.special.shifted_chebyshev_polynomial_w(2**63, b, out=o)|X.histogram(f, f[:1])|X.nn.functional.hardtanh(i.int(), 0, 2**40)|X.nn.functional.hardtanh_(i.int(), 0, 2**63)|X.nn.functional.hardtanh(i.byte(), 0, 400)|X.nn.functional.hardtanh(i, 0.5, 1.5)
X.nn.functional.multi_margin_loss(f, i[0], weight=i)|X.nn.functional.multi_margin_loss(m[:0], i[:0], weight=i, reduction="none")|X.gradient(f, spacing=[f[0]])|X.gradient(f, spacing=f[0])[0]|X.gradient(f, spacing=2**63)[0]
X.linalg.cholesky_ex(X.tensor([[4.0, 2.0], [2.0, 0.5]]))[0]|X.linalg.cholesky_ex(X.tensor([[4.0, 2.0], [2.0, 0.5]]), upper=True)[0]
X.nn.functional.max_unpool2d(t[:1], t[:1].long(), 2, 0)|X.nn.functional.max_unpool2d(t[:1], t[:1].long(), 2, -1)|X.nn.functional.max_unpool2d(m, i, (2,), (0,))|X.nn.functional.max_unpool1d(m, m.long(), 2, 0, 0, (2,))
X.nn.functional.max_unpool2d(m, 1j, (0,))|X.nn.functional.interpolate(t, scale_factor=f, mode="reduced")|X.nn.functional.interpolate(t, scale_factor=f, mode="bilinear")|X.nn.functional.interpolate(f, 1.5)|X.nn.functional.interpolate(t, 1.5)
X.nn.functional.fractional_max_pool3d(m, 2, output_ratio=m)|X.nn.functional.fractional_max_pool3d(t[None], 2, output_ratio=(0.5,))|X.nn.functional.layer_norm(m, {})|X.nn.functional.layer_norm(m, i)|X.sparse_csc_tensor(i, f, f)|X.sparse_coo_tensor(3).to_dense()
X.sparse_coo_tensor(-1)|X.sparse_coo_tensor((2, 3), pin_memory=True)
X.nn.functional.pairwise_distance(i, i + 1, eps=1)|X.pairwise_distance(i, 2 * i, p=0, eps=0)|X.nn.functional.triplet_margin_loss(m.long(), m.long() + 1, m.long() + 1, eps=2).round()|f.resize_(2**63)|m.repeat(2**63)|m.repeat(2, 2**63)|X.max(o, out=3)|X.min(f, out=[1])
X.arange(3, end=-0.5, device=True)|X.arange(1j, out="a")|X.arange(3, -0.5)|X.randint(2, (2, -1), generator="a")|X.randint(1, 2**63, size=(1,), dtype=[f])|X.randint(2**63, (1,))|X.randint_like(f, low=1, high=2, generator="a", pin_memory=True)|X.randint_like(f, 2**63, layout=(1, 2))
X.trapz(m, dx=f)|X.trapezoid(m, dx="a", dim=9)|X.trapezoid(m[:0], dx="a")|X.trapezoid(m, dx=X.tensor(2.0))|X.trapz(m, dx=2)
""".replace("\n", "|").strip("|").split("|")


def outcome(library, call):
    """Names of the classes of what it raises, or [] and the result."""
    m = library.tensor([[0.5, 2.0, 0.25], [1.5, 0.75, 3.0], [0.125, 4.0, 2.5]])
    given = {"X": library, "f": m[0], "m": m, "t": library.stack([m, m, m]), "i": library.tensor([1, 2, 0]), "b": m[0] > 1, "o": library.empty(0)}
    library.manual_seed(0)
    try:
        return [], eval(call, given)
    except Exception as error:
        return [c.__name__.lstrip("_") for c in type(error).__mro__], None


@pytest.mark.parametrize("call", CALLS)
def test_a_drawn_call_ends_as_there(call):
    (there, result), (here, ours) = outcome(torch, call), outcome(facula, call)

    assert (there[0] in here) if there else not here
    if isinstance(result, torch.Tensor):
        assert (result.tolist(), tuple(result.shape), result.stride(), str(result.dtype)) == (ours.tolist(), tuple(ours.shape), ours.stride(), str(ours.dtype).replace("facula", "torch"))
