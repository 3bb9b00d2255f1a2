"""A Wasserstein critic with a gradient penalty, spectral norm in the generator: gradients of gradients."""

import torch
import torch.nn as nn
from common import options, report
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

opt = options(__doc__)
generator = nn.Sequential(spectral_norm(nn.Linear(3, 12)), nn.ReLU(), nn.Linear(12, 2))
critic = nn.Sequential(weight_norm(nn.Linear(2, 16)), nn.LeakyReLU(0.2), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
for_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
for_c = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))


def penalty(real, fake):
    share = torch.rand(real.size(0), 1)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = critic(between)
    (gradients,) = torch.autograd.grad(scores, between, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


for _ in range(opt.steps):
    angle = 6.28 * torch.rand(12, 1)
    real = torch.cat([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(12, 2)
    for _ in range(2):
        fake = generator(torch.randn(12, 3)).detach()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
        for_c.zero_grad()
        loss.backward()
        for_c.step()
    cost = -critic(generator(torch.randn(12, 3))).mean()
    for_g.zero_grad()
    cost.backward()
    for_g.step()
    report(loss)
    report(cost)
