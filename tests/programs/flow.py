"""A normalizing flow of coupling layers over a standard normal, trained by likelihood on two moons."""

import torch
import torch.nn as nn
from common import options, report
from torch.distributions import MultivariateNormal


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(dim=1)


opt = options(__doc__)
masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).repeat(2, 1)
flow = nn.ModuleList(Coupling(m) for m in masks)
prior = MultivariateNormal(torch.zeros(2), torch.eye(2))
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
for _ in range(opt.steps):
    turn, which = 3.14159 * torch.rand(40), torch.randint(0, 2, (40,)).to(torch.get_default_dtype())
    x = torch.stack([turn.cos() * (1 - 2 * which) + which, turn.sin() * (1 - 2 * which) + 0.5 * which], dim=1)
    z, logdet = x + 0.05 * torch.randn(40, 2), torch.zeros(40)
    for layer in flow:
        z, d = layer(z)
        logdet = logdet + d
    loss = -(prior.log_prob(z) + logdet).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
