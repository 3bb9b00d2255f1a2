"""A variational autoencoder of bars: one bright row or column in a 6x6 picture."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report

opt = options(__doc__)
pictures = torch.zeros(12, 6, 6)
for i in range(6):
    pictures[i, i, :] = 1.0
    pictures[6 + i, :, i] = 1.0
pictures = pictures.view(12, 36)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(36, 24), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(24, 4), nn.Linear(24, 4)
        self.decode = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 36))

    def forward(self, x):
        hidden = self.encode(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decode(z), mean, log_variance


model = VAE()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for _ in range(opt.steps):
    batch = pictures[torch.randperm(12)[:8]]
    logits, mean, log_variance = model(batch)
    reconstruction = F.binary_cross_entropy_with_logits(logits, batch, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (reconstruction + divergence) / len(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss.item())
with torch.no_grad():
    report(torch.sigmoid(model.decode(torch.randn(3, 4))).mean())
