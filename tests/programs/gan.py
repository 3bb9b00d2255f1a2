"""A generator of points on a ring against a discriminator, two optimizers, half of each step detached."""

import math

import torch
import torch.nn as nn
from common import options, report

opt = options(__doc__)


def ring(n):
    angle = 2 * math.pi * torch.rand(n)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(n, 2)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.2)
        nn.init.zeros_(m.bias)


generator = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
generator.apply(weights_init)
discriminator.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for _ in range(opt.steps):
    fake = generator(torch.randn(16, 3))
    loss_d = criterion(discriminator(ring(16)), ones) + criterion(discriminator(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = criterion(discriminator(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    report(loss_d.item() + loss_g.item())
