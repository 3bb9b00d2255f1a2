"""Gradient accumulation, clipping, decay for weights alone, a sampler with weights, a dataset of our own, AdamW."""

import torch
import torch.nn as nn
from common import options, report
from torch.utils.data import BatchSampler, DataLoader, Dataset, Subset, WeightedRandomSampler


class Spirals(Dataset):
    def __init__(self, n, transform=None):
        turn = torch.rand(n) * 6
        self.kind = torch.arange(n) % 2
        angle = turn + 3.14159 * self.kind
        self.points = torch.stack([turn * angle.cos(), turn * angle.sin()], dim=1) / 6
        self.transform = transform

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        point = self.points[i]
        return (self.transform(point) if self.transform else point), self.kind[i]


opt = options(__doc__)
data = Subset(Spirals(120, transform=lambda p: p + 0.01 * torch.randn(2)), range(0, 120, 2) if False else range(120))
weights = [2.0 if i % 2 else 1.0 for i in range(120)]
loader = DataLoader(data, batch_sampler=BatchSampler(WeightedRandomSampler(weights, 120), 10, drop_last=False))
model = nn.Sequential(nn.Linear(2, 32), nn.Mish(), nn.Linear(32, 32), nn.Mish(), nn.Linear(32, 1))
decay = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=5e-3, betas=(0.9, 0.95))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([0.7]))
EVERY, step = 3, 0
while step < opt.steps:
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = criterion(model(x).squeeze(-1), y.to(x.dtype)) / EVERY
        loss.backward()
        total += loss.item()
        if (i + 1) % EVERY == 0:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
            report(total + norm.item())
            total, step = 0.0, step + 1
            if step == opt.steps:
                break
