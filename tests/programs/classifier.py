"""Four clusters in eight dimensions, told apart by a network with batch normalisation and dropout."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report
from torch.utils.data import DataLoader, TensorDataset, random_split

opt = options(__doc__)
centres = 2 * torch.randn(4, 8)
labels = torch.randint(0, 4, (400,))
points = centres[labels] + torch.randn(400, 8)
train, test = random_split(TensorDataset(points, labels), [320, 80])
loader = DataLoader(train, batch_size=32, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(8, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 16), nn.Tanh()
        )
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
step = 0
while step < opt.steps:
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        report(loss.item())
        step += 1
        if step == opt.steps:
            break
net.eval()
with torch.no_grad():
    x, y = next(iter(DataLoader(test, batch_size=80)))
    report(F.cross_entropy(net(x), y))
