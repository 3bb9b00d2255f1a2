"""Crosses and rings in 8x8 pictures told apart by a convolutional network, SGD with momentum and a step schedule."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report

opt = options(__doc__)
shapes = torch.zeros(2, 1, 8, 8)
shapes[0, 0].fill_diagonal_(1.0)
shapes[0] += shapes[0].flip(-1)
shapes[1, 0, 1:7, 1:7] = 1.0
shapes[1, 0, 2:6, 2:6] = 0.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, bias=False)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        x = self.pool(F.relu(self.norm(self.conv1(x))))
        x = F.adaptive_avg_pool2d(F.silu(self.conv2(x)), 1)
        return self.fc(torch.flatten(x, 1))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.7)
for _ in range(opt.steps):
    labels = torch.randint(0, 2, (16,))
    pictures = shapes[labels] + 0.5 * torch.randn(16, 1, 8, 8)
    loss = F.nll_loss(F.log_softmax(net(pictures), dim=1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    report(loss)
