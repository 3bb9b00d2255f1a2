"""A DCGAN of 8x8 blobs: weights set by apply(), convolutions both ways, batch normalisation, labels of ones and zeros."""

import torch
import torch.nn as nn
from common import options, report

opt = options(__doc__)
LATENT = 6


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


generator = nn.Sequential(
    nn.ConvTranspose2d(LATENT, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False), nn.Tanh()
)
discriminator = nn.Sequential(
    nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8),
    nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(8, 1, 4, 1, 0, bias=False), nn.Sigmoid(),
)  # fmt: skip
generator.apply(weights_init)
discriminator.apply(weights_init)
criterion = nn.BCELoss()
for_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
for_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
grid = torch.stack(torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij"))
for _ in range(opt.steps):
    centre = 2 + 4 * torch.rand(6, 2, 1, 1)
    real = 2 * torch.exp(-((grid - centre) ** 2).sum(1, keepdim=True) / 4) - 1
    discriminator.zero_grad()
    label = torch.full((6,), 1.0)
    loss_real = criterion(discriminator(real).view(-1), label)
    loss_real.backward()
    fake = generator(torch.randn(6, LATENT, 1, 1))
    label.fill_(0.0)
    loss_fake = criterion(discriminator(fake.detach()).view(-1), label)
    loss_fake.backward()
    for_d.step()
    generator.zero_grad()
    label.fill_(1.0)
    loss = criterion(discriminator(fake).view(-1), label)
    loss.backward()
    for_g.step()
    report(loss_real + loss_fake)
    report(loss)
