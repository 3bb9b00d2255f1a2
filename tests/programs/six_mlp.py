"""An MLP on made-up pictures: shuffled batches, dropout, Adam."""

import torch
from common import options, report
from models import MLP
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

opt = options(__doc__)
side, width, batch = (28, 512, 64) if opt.full else (12, 64, 32)
centres = torch.rand(10, 1, side, side)
labels = torch.randint(0, 10, (8 * batch,))
pictures = centres[labels] + 0.3 * torch.randn(8 * batch, 1, side, side)
model = MLP(side * side, width)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
step = 0
while step < opt.steps:
    for x, y in DataLoader(TensorDataset(pictures, labels), batch_size=batch, shuffle=True):
        if step == opt.steps:
            break
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report(loss)
        step += 1
