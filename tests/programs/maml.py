"""Learning to learn sines: inner steps that are differentiated through, by torch.func.functional_call and autograd.grad."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report
from torch.func import functional_call

opt = options(__doc__)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def task():
    amplitude, phase = 0.5 + torch.rand(1), 3.14 * torch.rand(1)
    x = 6 * torch.rand(10, 1) - 3
    return x, amplitude * torch.sin(x + phase)


for _ in range(opt.steps):
    optimizer.zero_grad()
    total = 0.0
    for _ in range(2):
        x, y = task()
        weights = dict(model.named_parameters())
        for _ in range(2):
            loss = F.mse_loss(functional_call(model, weights, (x[:5],)), y[:5])
            gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {k: w - 0.05 * g for (k, w), g in zip(weights.items(), gradients)}
        outer = F.mse_loss(functional_call(model, weights, (x[5:],)), y[5:]) / 2
        outer.backward()
        total += outer.item()
    optimizer.step()
    report(total)
