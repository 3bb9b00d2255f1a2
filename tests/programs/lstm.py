"""The next value of a noisy wave, by a two-layer LSTM and a scheduler."""

import torch
import torch.nn as nn
from common import options, report

opt = options(__doc__)
time = torch.arange(400) * 0.1
wave = torch.sin(time) + 0.5 * torch.sin(2.3 * time) + 0.05 * torch.randn(400)
windows = wave.unfold(0, 21, 4).unsqueeze(-1)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 12, num_layers=2, batch_first=True)
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        out, (hidden, cell) = self.lstm(x)
        return self.head(out[:, -1]) + 0 * hidden[-1].sum() + 0 * cell[0].mean()


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50)
criterion = nn.SmoothL1Loss()
for _ in range(opt.steps):
    chosen = windows[torch.randint(len(windows), (16,))]
    loss = criterion(model(chosen[:, :-1]), chosen[:, -1])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    report(loss.item() + scheduler.get_last_lr()[0])
