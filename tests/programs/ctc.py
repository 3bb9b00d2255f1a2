"""Connectionist temporal classification: a convolution over time reads digits out of a longer signal."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 8, 3, padding=1)
        self.rnn = nn.RNN(8, 10, nonlinearity="relu", bidirectional=True)
        self.out = nn.Linear(20, 5)

    def forward(self, x):
        h = F.glu(torch.cat([self.conv(x), self.conv(-x)], dim=1), dim=1)
        return F.log_softmax(self.out(self.rnn(h.permute(2, 0, 1))[0]), dim=-1)


opt = options(__doc__)
model, criterion = Reader(), nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adadelta(model.parameters(), lr=0.5)
codes = torch.randn(5, 3, 1)
for _ in range(opt.steps):
    targets = torch.randint(1, 5, (4, 3))
    signal = torch.cat([codes[targets[:, k]].expand(4, 3, 4) for k in range(3)], dim=2) + 0.2 * torch.randn(4, 3, 12)
    lengths = torch.tensor([3, 2, 3, 1])
    loss = criterion(model(signal), targets, torch.full((4,), 12), lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
