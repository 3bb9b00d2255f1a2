"""A network that solves a differential equation: u'' + u = 0 with u(0) = 0, u'(0) = 1, by derivatives of the network."""

import torch
import torch.nn as nn
from common import options, report


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


opt = options(__doc__)
net = nn.Sequential(nn.Linear(1, 16), Sine(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


zero = torch.zeros(1, 1, requires_grad=True)
for _ in range(opt.steps):
    t = (3 * torch.rand(24, 1)).requires_grad_()
    u = net(t)
    residual = derivative(derivative(u, t), t) + u
    start = net(zero)
    loss = residual.pow(2).mean() + start.pow(2).sum() + (derivative(start, zero) - 1).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
