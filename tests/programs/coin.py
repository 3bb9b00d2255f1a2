"""Variational inference through shares: a Beta guide of a coin and a Dirichlet guide of a die, by reparametrised samples."""

import torch
import torch.nn as nn
from common import options, report
from torch.distributions import Beta, Categorical, Dirichlet, biject_to, kl_divergence

opt = options(__doc__)
heads, tails = 7.0, 3.0
rolls = torch.tensor([0, 1, 1, 2, 2, 2, 2, 1])
coin, die = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))
positive = biject_to(Beta.arg_constraints["concentration1"])
optimizer = torch.optim.SGD([coin, die], lr=0.01)
for _ in range(opt.steps):
    guide, shares = Beta(*(2 + positive(coin))), Dirichlet(2 + positive(die))
    fairness, sides = guide.rsample((8,)), shares.rsample((8,))
    likelihood = (heads * fairness.log() + tails * (-fairness).log1p()).mean()
    likelihood = likelihood + Categorical(sides.unsqueeze(1)).log_prob(rolls).sum(1).mean()
    loss = kl_divergence(guide, Beta(10.0 * torch.ones(()), torch.tensor(10.0))) + kl_divergence(shares, Dirichlet(torch.ones(3))) - likelihood
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss.detach().round(decimals=2))  # PyTorch's derivative of a share is good to three digits
