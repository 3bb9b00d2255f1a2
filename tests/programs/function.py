"""A custom Function (a rounding that passes gradients straight through), hooks and double backward."""

import torch
from common import options, report

opt = options(__doc__)


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return torch.round(x * scale) / scale

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() < 2).to(grad.dtype), None


x = torch.randn(64, 6)
target = torch.tanh(x @ torch.randn(6, 1))
w1 = (0.5 * torch.randn(6, 10)).requires_grad_()
w2 = (0.5 * torch.randn(10, 1)).requires_grad_()
seen = []
w2.register_hook(lambda g: seen.append(g.norm().item()))
for _ in range(opt.steps):
    hidden = torch.tanh(x @ Round.apply(w1, 8.0))
    loss = ((hidden @ w2 - target) ** 2).mean()
    (g,) = torch.autograd.grad(loss, w2, create_graph=True)
    penalised = loss + 0.1 * g.pow(2).sum()
    penalised.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.1 * w.grad
            w.grad = None
    report(penalised.item() + seen[-1])
