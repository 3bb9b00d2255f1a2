"""Matrix factorisation with biases on invented ratings: embeddings of users and things, a custom autograd Function, a parameter list."""

import torch
import torch.nn as nn
from common import options, report


class Clip(torch.autograd.Function):
    """1 to 5 forward; backward lets through what points back inside."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(1, 5)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.where((x < 1) & (grad > 0) | (x > 5) & (grad < 0), torch.zeros_like(grad), grad)


class Factors(nn.Module):
    def __init__(self, users, things, width=4):
        super().__init__()
        self.user, self.thing = nn.Embedding(users, width), nn.Embedding(things, width)
        self.bias = nn.ParameterList([nn.Parameter(torch.zeros(users)), nn.Parameter(torch.zeros(things)), nn.Parameter(torch.tensor(3.0))])
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.thing.weight, std=0.1)

    def forward(self, u, i):
        score = (self.user(u) * self.thing(i)).sum(-1) + self.bias[0][u] + self.bias[1].index_select(0, i) + self.bias[2]
        return Clip.apply(score)


opt = options(__doc__)
truth = (torch.randn(12, 2) @ torch.randn(2, 9) + 3).clamp(1, 5)
model = Factors(12, 9)
optimizer = torch.optim.ASGD(model.parameters(), lr=0.3)
for _ in range(opt.steps):
    u, i = torch.randint(0, 12, (32,)), torch.randint(0, 9, (32,))
    loss = nn.functional.huber_loss(model(u, i), truth[u, i], delta=0.7) + 0.01 * sum(p.norm() for p in model.bias)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
report(torch.topk(model(torch.zeros(9, dtype=torch.long), torch.arange(9)), 3).values.sum())
