"""Nodes go under PyTorch's names, overload numbers included: the same expressions in both, where PyTorch is installed.

What is a composition here has the name of its last row (torch.addmm: AddBackward0); those are not in the list.
"""

import pytest
from backend import BACKEND
from backend import torch as ours

theirs = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
if BACKEND == "torch":
    pytest.skip("PyTorch has PyTorch's names", allow_module_level=True)

EXPRESSIONS = """
x+y; x+1; 1+x; x-y; x-1; 1-x; x*y; x*2; 2*x; x/y; x/2; 2/x; x**2; x**y; 2**x; x**2.5; -x; abs(x); x%2; x%y; x.fmod(2); x.fmod(y); x.sum()
x.sum(0); x.sum((0,1)); x.sum(0,keepdim=True); x.mean(); x.mean(0); x.prod(); x.prod(0); x.max(0)[0]; x.max(0).values; x.min(0)[0]; x.amax(0)
x.amin(); x.median(0)[0]; x.mode(0)[0]; x.kthvalue(1)[0]; x.var(); x.var(0); x.std(); x.std(0); x.norm(); x.norm(2,0); x.norm(1); x.norm(3,0)
torch.linalg.norm(x); torch.linalg.vector_norm(x); x.logsumexp(0); x.cumsum(0); x.cumprod(0); x.logcumsumexp(0); x.cummax(0)[0]; x.nansum()
x.nanmean(); x.sort()[0]; x.topk(2)[0]; x@y; x@v; v@v; x.mm(y); b3.bmm(b3); torch.dot(v,v); torch.mv(x,v); torch.outer(v,v)
torch.einsum('ij,jk->ik',x,y); F.linear(x,y); F.linear(x,y,v); torch.tensordot(x,y,1); x.T; x.mT; x.transpose(0,1); x.permute(1,0); x.view(9)
x.reshape(9); x.flatten(); x.unsqueeze(0); x.unsqueeze(0).squeeze(); x.expand(2,3,3); x[0]; x[0:2]; x[:,1]; x[0,0]; x[None]; x[[0,1]]
x[torch.tensor([0,1])]; x[x>1]; x[...,0]; x.select(0,0); x.narrow(0,0,2); x.split(1)[0]; x.chunk(3)[0]; x.unbind()[0]; x.diagonal()
x.unfold(0,2,1); x.as_strided((2,),(1,)); x.movedim(0,1); x.swapaxes(0,1); x.t().contiguous(); x.clone(); x.clone().fill_(2.); x.float(); x.to(torch.float32)
x.type(torch.float32); x.half(); x.expand_as(b3); x.view_as(y); x.unflatten(0,(1,3)); x.index_select(0,torch.tensor([0]))
x.gather(0,torch.zeros(3,3,dtype=torch.long)); x.ravel(); torch.cat([x,y]); torch.hstack([x,y]); torch.vstack([x,y]); torch.where(x>1,x,y)
torch.where(x>1,x,0.); x.scatter(0,torch.zeros(1,3,dtype=torch.long),y); x.scatter_add(0,torch.zeros(1,3,dtype=torch.long),y)
x.index_add(0,torch.tensor([0]),y[:1]); x.index_copy(0,torch.tensor([0]),y[:1]); x.clamp(0,1); x.clamp(y,y); x.clamp_min(0); x.clamp_min(y)
x.clamp_max(1); x.lerp(y,0.5); x.lerp(y,y); torch.addcmul(x,y,y); torch.addcdiv(x,y,y); torch.maximum(x,y); torch.minimum(x,y); torch.max(x,y)
torch.fmax(x,y); torch.fmin(x,y); torch.atan2(x,y); torch.hypot(x,y); torch.copysign(x,y); torch.copysign(x,1.); torch.logaddexp(x,y)
torch.nan_to_num(x); torch.xlogy(x,y); torch.xlogy(x,2.); torch.xlogy(2.,x); torch.float_power(x,2); x.exp(); x.exp2(); x.expm1(); x.log()
x.log1p(); x.log2(); x.log10(); x.sqrt(); x.rsqrt(); x.sin(); x.cos(); x.tan(); x.asin(); x.acos(); x.atan(); x.sinh(); x.cosh(); x.tanh()
x.asinh(); x.acosh(); x.atanh(); x.sigmoid(); x.logit(); x.erf(); x.erfc(); x.erfinv(); x.reciprocal(); x.sign(); x.sgn(); x.floor(); x.ceil()
x.round(); x.trunc(); x.frac(); x.lgamma(); x.digamma(); x.polygamma(1); x.i0(); x.sinc(); x.deg2rad(); x.rad2deg(); x.angle(); x.abs()
x.neg(); x.relu(); x.cov(); torch.special.entr(x); torch.special.log_ndtr(x); torch.special.ndtri(x.sigmoid()); F.relu(x); F.relu6(x)
F.leaky_relu(x); F.elu(x); F.selu(x); F.celu(x); F.gelu(x); F.silu(x); F.mish(x); F.softplus(x); F.hardtanh(x); F.hardsigmoid(x)
F.hardswish(x); F.hardshrink(x); F.softshrink(x); F.threshold(x,0,1); F.logsigmoid(x); F.softmax(x,0); F.log_softmax(x,0); F.softmin(x,0)
F.glu(torch.cat([x,x[:,:1]],1)); F.prelu(x,v[:1]); F.dropout(x); F.layer_norm(x,(3,)); F.group_norm(x[None],3)
F.batch_norm(x,None,None,training=True); F.batch_norm(x,torch.zeros(3,dtype=torch.float64),torch.ones(3,dtype=torch.float64)); F.normalize(x)
F.local_response_norm(b3[None],2); F.l1_loss(x,y); F.cross_entropy(x,torch.tensor([0,1,2])); F.nll_loss(x,torch.tensor([0,1,2]))
F.kl_div(x,y); F.cosine_similarity(x,y); F.hinge_embedding_loss(x,torch.ones(3,3)); F.margin_ranking_loss(v,v,torch.ones(3))
F.poisson_nll_loss(x,y); F.gaussian_nll_loss(x,y,y.detach()); F.triplet_margin_loss(x,y,y+1)
F.conv1d(b3,torch.ones(2,3,1,dtype=torch.float64)); F.conv2d(b3[None],torch.ones(2,2,1,1,dtype=torch.float64))
F.conv_transpose1d(b3,torch.ones(3,2,1,dtype=torch.float64)); F.lp_pool1d(b3,2,2); F.embedding(torch.tensor([0]),x)
F.embedding_bag(torch.tensor([[0,1]]),x,mode='sum'); torch.linalg.inv(x); torch.linalg.det(x); torch.linalg.slogdet(x)[1]
torch.linalg.solve(x,y); torch.linalg.cholesky(x@x.t()+torch.eye(3)); torch.linalg.qr(x)[0]; torch.linalg.svd(x)[1]
torch.linalg.eigh(x+x.t())[0]; torch.linalg.matrix_exp(x); torch.linalg.pinv(x); torch.logdet(x); torch.inverse(x); torch.matrix_power(x,2)
torch.linalg.solve_triangular(x,y,upper=True); torch.diff(x); torch.fft.rfft(x); torch.view_as_real(torch.complex(x,y))
torch.complex(x,y).real; torch.complex(x,y).abs(); x.clone().add_(1); x.clone().mul_(y); x.clone().copy_(y); x.clone().relu_()
x.to_sparse(); x.to_sparse(1); x.to_sparse(dense_dim=1); x.to_sparse(layout=torch.sparse_csr); x.to_sparse_csr(); x.to_sparse_csc(); x.to_sparse_bsr((1,1))
x.to_sparse_bsc((1,3)); x.to_sparse_csr().to_sparse_csc(); x.to_sparse().to_dense()
x.sparse_mask(torch.eye(3,dtype=torch.float64).to_sparse()); x.sparse_mask(torch.eye(3,dtype=torch.float64).to_sparse_csr()); x.to_sparse_csr().to_dense()
x.to('meta'); (x+1).to('meta'); (x+1).as_subclass(type('M',(torch.Tensor,),{})); x.as_subclass(type('M',(torch.Tensor,),{})); x.clone().set_(x*1)
F.max_pool2d(x[None],2); F.avg_pool2d(x[None],2); F.adaptive_avg_pool2d(x[None],2); F.adaptive_max_pool2d(x[None],2); F.max_pool3d(b3[None],2)
F.adaptive_avg_pool3d(b3[None],2); F.max_pool1d(x,2); F.avg_pool1d(x,2); torch.linalg.householder_product(x,v); torch.cholesky_inverse(x)
x.clone().exp_(); x.clone().sub_(1); x.clone().div_(2); x.clone().pow_(2); x.clone().normal_(); x.clone().uniform_()
""".replace("\n", "; ").strip("; ").split("; ")


def name(torch, expression):
    torch.manual_seed(0)

    def leaf(*shape):
        return torch.rand(shape, dtype=torch.float64).add(0.5).requires_grad_()

    names = {"torch": torch, "F": torch.nn.functional, "x": leaf(3, 3), "y": leaf(3, 3), "v": leaf(3), "b3": leaf(2, 3, 3), "s0": leaf()}
    return type(eval(expression, names).grad_fn).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_node_has_pytorchs_name(expression):
    pytest.importorskip("facula.nn")

    assert name(theirs, expression) == name(ours, expression)


def test_next_functions_have_them_too():
    x = ours.ones(2, 2, requires_grad=True)
    y = (x.sum(0) ** 2).mean()

    assert "PowBackward0" == type(y.grad_fn.next_functions[0][0]).__name__
    assert "SumBackward1" == type(y.grad_fn.next_functions[0][0].next_functions[0][0]).__name__


def test_a_name_changes_nothing():
    x = ours.ones(2, 2, requires_grad=True)
    y = x.sum(0)
    seen = y.grad_fn
    z = (y * ours.tensor([1.0, 2.0])).sum()
    z.backward()

    assert seen is y.grad_fn and [[1.0, 2.0], [1.0, 2.0]] == x.grad.tolist()
