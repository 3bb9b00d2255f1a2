"""The dtypes that functions give under autocast, and their gradients', as PyTorch's lists for the CPU have them."""

import warnings

import facula
import facula.nn
import pytest

# what a is float32, h the same as bfloat16, x3 and x4 as they are written
CASES = {
    "bfloat16": """
        F.softmax(h, -1)
        F.log_softmax(h, -1)
        h.sum()
        h.exp()
        h.log()
        h.pow(2)
        h@a
        T.mm(a, a)
        T.addmm(a, a, a)
        T.bmm(a[None], a[None])
        T.baddbmm(a[None], a[None], a[None])
        T.addbmm(a, a[None], a[None])
        T.matmul(a, a[0])
        T.einsum('ij, jk', a, a)
        T.chain_matmul(a, a)
        T.linalg.multi_dot([a, a, a])
        F.linear(a, a)
        F.conv1d(x3, w1)
        F.conv2d(x4, w2)
        F.conv_transpose1d(x3, w1)
        F.conv_transpose2d(x4, w2)
        F.scaled_dot_product_attention(a[None], a[None], a[None])
        F.gaussian_nll_loss(h, h, h)
        F.cosine_similarity(h, h)
        T.renorm(h, 2, 0, 1.)
        T.logsumexp(h, 0)
        T.cumsum(h, 0)
        T.cumprod(h, 0)
        T.norm(h)
        T.nansum(h)
        h.mean()
        h.std()
        h.var()
        h.median()
        T.kthvalue(h, 1)[0]
        h*2
        F.avg_pool1d(x3.bfloat16(), 2)
        F.avg_pool2d(x4.bfloat16(), 2)
        F.adaptive_avg_pool2d(x4.bfloat16(), 2)
        F.max_pool2d(x4.bfloat16(), 2)
        F.interpolate(x4.bfloat16(), scale_factor=2)
        F.interpolate(x4.bfloat16(), scale_factor=2, mode='bilinear')
        F.interpolate(x4.bfloat16(), scale_factor=2, mode='bicubic')
        F.interpolate(x3.bfloat16(), scale_factor=2, mode='linear')
        F.layer_norm(h, (4, ))
        F.batch_norm(x4.bfloat16(), None, None, training=True)
        F.group_norm(x4.bfloat16(), 2)
        F.instance_norm(x4.bfloat16())
        F.gelu(h)
        F.silu(h)
        F.relu(h)
        F.softplus(h)
        T.linalg.vector_norm(h)
        T.nn.MultiheadAttention(4, 2)(a[None], a[None], a[None])[0]
        T.nn.LSTM(4, 4)(a[None])[0]
        T.nn.RNN(4, 4)(a[None])[0]
        F.prelu(h, a[0])
        F.rms_norm(h, (4, ))
        T.tan(h)
        T.acos(h)
        T.erfinv(h)
        T.reciprocal(h)
        T.rsqrt(h)
        h.sinh()
        F.normalize(h)
        F.softmin(h, -1)
        F.tanhshrink(h)
        T.linalg.vecdot(a, a)
        T.tensordot(a, a, 1)
        T.inner(a, a)
        T.einsum("ij,ij->i", a, a)
        T.einsum("ij,ij->", a, a)
        T.linalg.matrix_power(a, 2)
        T.linalg.norm(h)
        F.max_pool1d(x3.bfloat16(), 2)
        F.adaptive_max_pool2d(x4.bfloat16(), 2)
        F.adaptive_avg_pool1d(x3.bfloat16(), 2)
        F.lp_pool2d(x4.bfloat16(), 2, 2)
        F.conv3d(x4[None], T.randn(2, 2, 3, 3, 3))
        F.conv_transpose3d(x4[None], T.randn(2, 2, 3, 3, 3))
        F.fold(T.randn(1, 4, 4).bfloat16(), (4, 4), 2, stride=2)
        F.unfold(x4.bfloat16(), 2)
        F.pixel_shuffle(x4.bfloat16(), 2)
        F.pad(x3.bfloat16(), (1, 1), mode='circular')
        F.pad(x3.bfloat16(), (1, 1))
        T.inner(a, a)
        T.index_put(h, (i, ), h)
        T.dist(h, h)
        T.nanmean(h)
        T.logcumsumexp(h, 0)
        T.addmm(h, a, a)
        T.fft.fftshift(h)
        F.multilabel_soft_margin_loss(h, h)
        F.triplet_margin_with_distance_loss(h, h, h)
        F.gumbel_softmax(h)
        F.dropout(h)
        F.glu(h)
        F.hardswish(h)
        F.logsigmoid(h)
        F.mish(h)
        F.affine_grid(T.randn(2, 2, 3).bfloat16(), (2, 3, 4, 4))
        T.nn.RNNCell(4, 4)(a)
        T.nn.LSTM(4, 4, 2, bidirectional=True)(a[None].bfloat16())[1][1]
        T.nn.GRU(4, 4)(h.bfloat16()[None])[1]
        T.nn.RNN(4, 4, nonlinearity='relu')(h.bfloat16()[None])[1]
        T.nn.Conv2d(4, 2, 3)(x4)
        T.nn.Linear(4, 2)(h)
        T.cumulative_trapezoid(h)
        T.trapezoid(h)
        T.cov(h)
        T.corrcoef(h)
        T.std_mean(h)[0]
        T.var_mean(h)[0]
        T.special.log_softmax(h, 0)
        T.special.softmax(h, 0)
        T.special.logsumexp(h, 0)
        T.clamp(h, 0, 1)
        T.lerp(h, h, .5)
        T.masked_fill(h, h>0, 1.)
    """,
    "complex64": """
        T.fft.fft(a)
        T.fft.rfft(a)
        T.stft(a[0].repeat(8), 8, window=T.ones(8), return_complex=True)
        T.polar(a, a)
        T.view_as_complex(a[:, :2].contiguous().bfloat16())
        T.fft.fftn(a)
    """,
    "float32": """
        F.mse_loss(h, h)
        T.mv(a, a[0])
        T.dot(a[0], a[0])
        F.bilinear(a, a, a[None].expand(4, 4, 4))
        F.l1_loss(h, h)
        F.smooth_l1_loss(h, h)
        F.huber_loss(h, h)
        F.kl_div(h, h)
        F.cross_entropy(h, i)
        F.nll_loss(h, i)
        F.binary_cross_entropy(h.clamp(0, 1), h.clamp(0, 1))
        F.binary_cross_entropy_with_logits(h, h)
        F.poisson_nll_loss(h, h)
        F.cosine_embedding_loss(h, h, i-2)
        F.hinge_embedding_loss(h, h)
        F.margin_ranking_loss(h[0], h[0], i-2)
        F.triplet_margin_loss(h, h, h)
        F.multi_margin_loss(h, i)
        F.multilabel_margin_loss(h, i[None].expand(4, 4))
        F.soft_margin_loss(h, h)
        T.cdist(h, h)
        T.prod(h)
        T.quantile(a, .5)
        T.nanquantile(a, .5)
        T.cat([h, a])
        T.stack([h, a])
        T.index_copy(a, 0, i, a)
        T.addcdiv(h, a, a)
        T.addcmul(h, a, a)
        T.atan2(h, a)
        h+a
        T.where(h>0, h, a)
        T.grid_sampler(x4, T.randn(2, 3, 3, 2), 0, 0, False)
        F.grid_sample(x4.bfloat16(), T.randn(2, 3, 3, 2).bfloat16())
        F.avg_pool3d(x4.bfloat16(), 2)
        F.adaptive_avg_pool3d(x4.bfloat16(), 2)
        F.fractional_max_pool2d(x4.bfloat16(), 2, 2)
        F.pad(x4.bfloat16(), (1, 1, 1, 1), mode='reflect')
        F.pad(x4.bfloat16(), (1, 1, 1, 1), mode='replicate')
        F.layer_norm(a, (4, ))
        F.embedding(i, a)
        T.linalg.norm(a)
        T.linalg.inv(a)
        T.inverse(a)
        T.cholesky_inverse(a)
        T.linalg.svd(a)[1]
        T.linalg.det(a)
        T.det(a)
        T.linalg.solve(a, a)
        T.linalg.matrix_norm(a)
        T.trace(h)
        T.polygamma(1, a)
        T.histc(a, 4)
        T.nn.GRU(4, 4)(a[None])[0]
        T.nn.LSTMCell(4, 4)(a)[0]
        T.nn.TransformerEncoderLayer(4, 2)(a[None])
        F.ctc_loss(T.randn(5, 2, 4).log_softmax(-1), T.tensor([[1, 2], [1, 2]]), T.tensor([5, 5]), T.tensor([2, 2]))
        T.mul(h, a)
        T.linalg.cholesky(h.float()@h.float().T+T.eye(4)*4)
        T.cholesky_solve(h, (h@h.T).float()+T.eye(4)*9)
        T.linalg.eigvalsh(h)
        T.linalg.eigh(h)[0]
        T.linalg.qr(h)[0]
        T.linalg.lstsq(h, h)[0]
        T.pinverse(h)
        T.linalg.cond(h)
        T.lu_solve(h, *T.linalg.lu_factor(a))
        T.geqrf(h)[0]
        T.orgqr(h, h[0])
        T.qr(h)[0]
        T.svd(h)[1]
        T.triangular_solve(h, h)[0]
        T.linalg.householder_product(h, h[0])
        T.linalg.tensorinv(h.view(2, 2, 4), ind=2)
        T.linalg.inv_ex(h)[0]
        T.inverse(h)
        F.max_pool3d(x4.bfloat16(), 2)
        F.adaptive_max_pool3d(x4.bfloat16(), 2)
        F.max_unpool2d(*F.max_pool2d(x4, 2, return_indices=True), 2)
        F.pad(x3.bfloat16(), (1, 1), mode='reflect')
        T.addmv(a[0], a, a[0])
        T.addr(a, a[0], a[0])
        T.ger(a[0], a[0])
        T.outer(a[0], a[0])
        T.vdot(a[0], a[0])
        T.kron(a, a)
        T.cross(a[:, :3], a[:, :3], dim=1)
        T.index_add(a, 0, i, a)
        a.clone().addmm_(a, a)
        T.mm(a, a, out=T.empty(4, 4))
        T.fft.irfft(a)
        T.quantile(h, .5)
        T.nanquantile(h, .5)
        F.cross_entropy(h, h)
        F.nll_loss(x4.bfloat16(), T.zeros(2, 8, 8, dtype=T.int64))
        F.embedding_bag(i, a, T.tensor([0]))
        F.local_response_norm(x4.bfloat16(), 2)
        T.nn.GRUCell(4, 4)(a)
        T.nn.Transformer(4, 2, 1, 1, 8)(a[None], a[None])
        T.nn.Bilinear(4, 4, 2)(a, a)
        T.nn.functional.interpolate(x4, scale_factor=.5, mode='area')
        T.softmax(h, 0, dtype=T.float32)
        T.maximum(h, a)
        T.nn.utils.clip_grad_norm_([T.nn.Parameter(a)], 1.)
        T.inner(a[0], a[0])
        T.tensordot(a, a, ([0, 1], [1, 0]))
        T.tensordot(a, a, 2)
    """,
    "float64": """
        h.sum(dtype=T.float64)
    """,
    "int64": """
        T.multinomial(h, 2)
        T.bucketize(a, a[0])
        T.linalg.matrix_rank(h)
    """,
}
LISTED = [(text.strip(), dtype) for dtype, texts in CASES.items() for text in texts.strip().splitlines()]


def names(T):
    T.manual_seed(0)
    a = T.randn(4, 4).abs() + 0.1 + 4 * T.eye(4)
    found = {"T": T, "F": T.nn.functional, "a": a, "h": a.bfloat16(), "x3": T.randn(2, 4, 8), "x4": T.randn(2, 4, 8, 8), "i": T.arange(4)}
    return {**found, "w1": T.randn(4, 4, 3), "w2": T.randn(4, 4, 3, 3)}


def dtype_of(T, text):
    known = names(T)
    with warnings.catch_warnings(), T.autocast("cpu", dtype=T.bfloat16):
        warnings.simplefilter("ignore")
        return str(eval(text, known).dtype).removeprefix("torch.")


@pytest.mark.parametrize("text,dtype", LISTED, ids=[text for text, _ in LISTED])
def test_dtype_under_autocast(text, dtype):
    assert dtype == dtype_of(facula, text)
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    try:
        there = dtype_of(torch, text)
    except RuntimeError as error:
        if "primitive descriptor" in str(error):  # its oneDNN has bfloat16 for some processors alone
            pytest.skip(f"PyTorch cannot do this on this processor: {error}")
        raise

    assert dtype == there


def test_functions_are_themselves_outside_of_autocast():
    h = facula.ones(3, dtype=facula.bfloat16)
    with facula.autocast("cpu"):
        assert facula.float32 is facula.nn.functional.mse_loss(h, h).dtype

    assert facula.bfloat16 is facula.nn.functional.mse_loss(h, h).dtype


@pytest.mark.parametrize("kind,state", [("LSTM", "bfloat16"), ("GRU", "float32"), ("RNN", "bfloat16")])
def test_recurrences_train_under_autocast(kind, state):
    facula.manual_seed(0)
    net, x = getattr(facula.nn, kind)(3, 4, num_layers=2, bidirectional=True), facula.randn(5, 2, 3)
    wide = net(x)[0]
    with facula.autocast("cpu"):
        out, end = net(x)
    out.float().sum().backward()

    assert f"torch.{state}" == str(out.dtype) == str((end[0] if kind == "LSTM" else end).dtype)
    assert {facula.float32} == {p.grad.dtype for p in net.parameters()}
    assert (out.float() - wide).abs().max().item() < 0.02
