"""A mixture density network: the many answers of an inverse problem, through torch.distributions."""

import torch
import torch.nn as nn
from common import options, report
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal, kl_divergence


class MDN(nn.Module):
    def __init__(self, parts=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 20), nn.Tanh())
        self.logits, self.mean, self.scale = nn.Linear(20, parts), nn.Linear(20, parts), nn.Linear(20, parts)

    def forward(self, x):
        h = self.body(x)
        parts = Independent(Normal(self.mean(h).unsqueeze(-1), self.scale(h).exp().unsqueeze(-1)), 1)
        return MixtureSameFamily(Categorical(logits=self.logits(h)), parts), parts


opt = options(__doc__)
model = MDN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for _ in range(opt.steps):
    y = torch.rand(40, 1) * 2 - 1
    x = y + 0.3 * torch.sin(6.28 * y) + 0.05 * torch.randn_like(y)
    mixture, parts = model(x)
    prior = Normal(torch.zeros(()), torch.tensor(2.0))
    loss = -mixture.log_prob(y).mean() + 1e-3 * kl_divergence(parts.base_dist, prior).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss + 5)  # the loss passes 0
with torch.no_grad():
    report(model(torch.zeros(5, 1))[0].sample().abs().mean())
    report(model(torch.zeros(5, 1))[0].variance.mean())
