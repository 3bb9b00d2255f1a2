"""A LeNet-like convolutional network with dropout, SGD with momentum and a step schedule."""

import torch
import torch.nn.functional as F
from common import options, report
from models import LeNet
from torch.optim.lr_scheduler import StepLR

opt = options(__doc__)
side, channels, batch = (28, (32, 64), 64) if opt.full else (12, (6, 10), 16)
centres = torch.rand(10, 1, side, side)
model = LeNet(side, channels)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = StepLR(optimizer, step_size=25, gamma=0.7)
for _ in range(opt.steps):
    labels = torch.randint(0, 10, (batch,))
    pictures = centres[labels] + 0.3 * torch.randn(batch, 1, side, side)
    loss = F.nll_loss(F.log_softmax(model(pictures), dim=1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    report(loss)
