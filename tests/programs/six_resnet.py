"""A ResNet-20-like network with batch norms, SGD with Nesterov momentum and a cosine schedule."""

import torch
from common import options, report
from models import ResNet
from torch import nn

opt = options(__doc__)
side, width, blocks, batch = (32, 32, 3, 32) if opt.full else (8, 6, 1, 8)
centres = torch.rand(10, 3, side, side)
model = ResNet(width, blocks)
# at the full size a rate of 0.01 multiplies rounding: PyTorch is 2e-3 from itself, with and without oneDNN, after 15 steps
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4 if opt.full else 0.01, momentum=0.9, nesterov=True, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=200)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for _ in range(opt.steps):
    labels = torch.randint(0, 10, (batch,))
    pictures = centres[labels] + 0.3 * torch.randn(batch, 3, side, side)
    loss = criterion(model(pictures), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    report(loss)
