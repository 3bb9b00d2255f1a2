"""Linear regression by L-BFGS with a line search, through a closure."""

import torch
from common import options, report

opt = options(__doc__)
x = torch.randn(50, 5)
truth = torch.tensor([1.0, -2.0, 3.0, 0.5, 0.0])
y = x @ truth + 0.7 + 0.1 * torch.randn(50)
weight = torch.zeros(5, requires_grad=True)
bias = torch.zeros((), requires_grad=True)
optimizer = torch.optim.LBFGS([weight, bias], lr=1, max_iter=2, history_size=5, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    # Rougher than squares alone, so that the search has something to do.
    residual = x @ weight + bias - y
    loss = residual.pow(2).mean() + 0.1 * residual.pow(4).mean() + 0.01 * weight.abs().sqrt().clamp(max=1).sum()
    loss.backward()
    return loss


weight.data.fill_(0.3)
for _ in range(min(opt.steps, 6)):
    report(optimizer.step(closure))
report(weight.norm())
