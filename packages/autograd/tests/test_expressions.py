"""Gradients, and gradients of gradients, of public functions beside PyTorch's: values with ties, zeros and both signs."""

import pytest
from backend import BACKEND, torch

reference = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
if BACKEND == "torch":
    pytest.skip("compares two libraries", allow_module_level=True)

# x is a matrix of 3 x 3, T the library. What a library lacks is skipped: other tests say what there must be.
EXPRESSIONS = [
    "x.max()", "x.min()", "x.amax()", "x.amax(0)", "x.amin((0,1))", "x.max(0)[0]", "x.min(1)[0]", "x.median(0)[0]", "x.mode(0)[0]",
    "x.kthvalue(2,0)[0]", "x.sort(0)[0]", "x.topk(2,0)[0]", "x.norm()", "x.norm(3,dim=1)", "x.prod()",
    "(x*T.tensor([[0.,1,1]],dtype=x.dtype)).prod()", "(x*T.tensor([[0.,1,1]],dtype=x.dtype)).prod(1)", "x.cumprod(1)", "x.cummax(0)[0]",
    "x.cummin(1)[0]", "x.logcumsumexp(0)", "x.logsumexp((0,1))", "x.var()", "x.var(0,unbiased=False)", "x.std()", "(x*0+1).std()", "x.std(1)",
    "T.var_mean(x)[0]", "T.std_mean(x,0)[0]", "x.mean()", "x.clamp(0,1)", "x.clamp(min=x.mean())", "x.clamp_max(0.5)", "x.clip(-1,1)",
    "x.sign()", "x.relu()", "x.softmax(0)", "x.log_softmax(1)", "x.sigmoid().log()", "x.tril()", "x.triu(1)", "x.diag()", "x[0].diag()",
    "x.trace()", "x.flip(0)", "x.roll(1,0)", "x.rot90()", "x.repeat(2,2)", "x.repeat_interleave(2,0)", "x.tile(2)", "x.expand(2,3,3)",
    "x.unfold(0,2,1)", "x.flatten()", "x.ravel()", "x.movedim(0,1)", "x.swapaxes(0,1)", "x.squeeze()", "x.view(-1)[::2]",
    "x.masked_fill(x>0,3.)", "x.masked_select(x>0)", "T.where(x>0,x,x*2)", "x[x>0]", "x[[0,0],[1,1]]", "x[None,:,0]",
    "x.take(T.tensor([0,0,3]))", "x.gather(0,T.tensor([[0,1,0]]))", "x.index_select(0,T.tensor([0,0]))",
    "x.index_add(0,T.tensor([0,0]),x[:2])", "x.index_fill(0,T.tensor([0]),1.)", "x.index_copy(0,T.tensor([1]),x[:1])", "T.cat([x,x])",
    "T.stack([x,x],1)", "T.hstack([x,x])", "T.vstack([x,x])", "x@x", "x.mm(x)", "T.bmm(x[None],x[None])", "x.mv(x[0])", "x[0].dot(x[1])",
    "T.outer(x[0],x[1])", "T.addmm(x,x,x,beta=2,alpha=3)", "T.baddbmm(x[None],x[None],x[None])", "T.einsum('ij,kj->ik',x,x)",
    "T.tensordot(x,x,1)", "T.kron(x,x)", "T.cross(x,x.flip(0),dim=1)", "T.lerp(x,x*2,0.3)", "T.addcmul(x,x,x,value=2)", "T.addcdiv(x,x,x+5)",
    "x.atan2(x+1)", "x.pow(2)", "x.pow(x.abs()+1)", "2**x", "x.exp2()", "x.square()", "(x+5).rsqrt()", "(x+5).sqrt()", "(x+5).log()",
    "(x+5).log1p()", "x.expm1()", "x.sin()", "x.tanh()", "x.erf()", "x.sinh()", "x.atan()", "x.asinh()", "(x/9).asin()", "(x/9).atanh()",
    "x.sinc()", "(x+9).lgamma()", "(x+9).digamma()", "x.frac()", "x.fmod(1.5)", "x.remainder(1.5)", "x.remainder(x+7)", "T.logaddexp(x,x)",
    "T.maximum(x,x)", "T.fmax(x,x+1)", "x.nansum()", "x.nan_to_num()", "x.diff()", "T.trapezoid(x)", "T.dist(x,x+1)", "T.renorm(x,2,0,1.)",
    "x.cov()", "x.corrcoef()", "T.complex(x,x+1).abs()", "T.polar(x+9,x).real", "T.view_as_complex(T.stack([x,x+1],-1)).abs()",
    "x.to(T.float32).to(T.float64)", "x.float()", "x.double()", "x.to(T.complex128).real", "x.T", "x.contiguous()", "x.t().contiguous()",
    "x.chunk(2)[0]", "x.split([1,2])[1]", "x.unbind(1)[0]", "x.narrow(0,1,1)", "x.select(0,1)", "x.diagonal(1)", "x.diag_embed()",
    "T.block_diag(x,x)", "T.cartesian_prod(x[0],x[1])", "T.combinations(x[0])", "T.meshgrid(x[0],x[1],indexing='ij')[0]",
    "x.bucketize(x[0].detach())", "x.argmax().double()", "x.floor()", "x.round()", "x.trunc()", "x.ceil()", "x.logit(0.1)", "x.xlogy(x+5)",
    "T.celu(x)", "T.selu(x)", "T.prelu(x,T.tensor([.1],dtype=x.dtype))", "T.threshold(x,0.1,20)", "x.copysign(x+1)",
    "x.ldexp(T.tensor(2))", "x.float_power(2)", "x.cumsum(0)", "x.sum((0,1))", "x.sum()", "x.index_put((T.tensor([0]),),x[1])",
    "x.put(T.tensor([0]),x[0,:1])", "x.unsqueeze(0).expand(2,3,3).sum(0)", "T.broadcast_to(x,(2,3,3))", "T.cumulative_trapezoid(x)",
    "T.nanmean(x)", "T.aminmax(x)[0]", "x.msort()", "x.quantile(.3)", "x.nanquantile(.3,0)",
    "T.linalg.norm(x)", "T.linalg.vector_norm(x,2.5,0)", "T.hypot(x,x+1)", "T.linalg.inv(x+9*T.eye(3,dtype=x.dtype))", "T.linalg.det(x)",
    "T.linalg.slogdet(x+9*T.eye(3,dtype=x.dtype))[1]", "T.linalg.solve(x+9*T.eye(3,dtype=x.dtype),x)",
    "T.linalg.cholesky(x@x.T+9*T.eye(3,dtype=x.dtype))", "T.linalg.svdvals(x)", "T.linalg.eigvalsh(x@x.T)", "T.linalg.matrix_power(x,3)",
    "T.linalg.pinv(x)", "T.linalg.qr(x)[1]", "T.linalg.eigh(x@x.T)[0]", "T.linalg.matrix_norm(x,'nuc')", "T.fft.fft(x).abs()",
    "T.fft.rfft(x).abs()", "T.fft.irfft(x)", "T.fft.fft2(x).real", "T.special.expit(x)", "T.special.entr(x+5)", "T.special.xlog1py(x,x+5)",
    "x.median()", "x.nanmedian()",
]  # fmt: skip


class Missing(Exception):
    """The library has no such function."""


def gradients(expression, T):
    """(first, second) gradient of a weighted sum of the expression, None where there is none; or None for a constant."""
    x = T.tensor([[0.5, -1.0, 2.0], [1.5, 0.5, -0.25], [-2.0, 2.0, 0.75]], dtype=T.float64, requires_grad=True)
    try:
        y = eval(expression, {"x": x, "T": T})
    except (AttributeError, ModuleNotFoundError) as error:
        raise Missing(str(error)) from None
    if not y.requires_grad:
        return None
    weights = T.arange(1, y.numel() + 1).to(T.float64).reshape(y.shape).to(y.dtype)
    (g,) = T.autograd.grad((y * weights).sum(), x, create_graph=True)
    if not g.requires_grad:
        return g.tolist(), None
    (h,) = T.autograd.grad((g * T.arange(1, 10).to(T.float64).reshape(3, 3)).sum(), x, allow_unused=True)
    return g.tolist(), None if h is None else h.tolist()


def agree(a, b):
    if a is None or b is None:
        return a is b or not any(any(row) for row in (a or b))  # no gradient, or zeros
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b))
    return (a != a and b != b) or abs(a - b) <= 1e-6 * max(abs(a), 1e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_of_an_expression_are_pytorchs(expression):
    try:
        expected, actual = gradients(expression, reference), gradients(expression, torch)
    except Missing as error:
        pytest.skip(str(error))

    assert agree(expected, actual), f"{expected} in PyTorch, {actual} here"


def start():
    return torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.5, -0.25], [-2.0, 2.0, 0.75]], dtype=torch.float64)


NAN = {"x.pow(x.abs()+1)", "(x/9).logit()", "x.logit(0.1)"}  # some derivative is not a number, and spreads where tangents are summed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in NAN])
def test_jacobians_and_tangents_of_an_expression_agree_with_its_gradients(expression):
    def f(x):
        y = eval(expression, {"x": x, "T": torch})
        return y.real if y.is_complex() else y

    x = start().requires_grad_()
    try:
        y = f(x)
    except (AttributeError, ModuleNotFoundError) as error:
        pytest.skip(str(error))
    if not y.requires_grad or not y.numel():
        return
    rows = torch.stack([torch.autograd.grad(e, x, retain_graph=True)[0] for e in y.reshape(-1).unbind()])
    expected = rows.reshape((*y.shape, 3, 3)).tolist()

    assert agree(expected, torch.func.jacrev(f)(start()).tolist())
    assert agree(expected, torch.func.jacfwd(f)(start()).tolist())
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(start(), torch.ones(3, 3, dtype=torch.float64))
        assert agree(rows.sum((-1, -2)).reshape(y.shape).tolist(), torch.autograd.forward_ad.unpack_dual(f(dual)).tangent.tolist())
