"""Samples made noisy by two worker processes, each with its own random stream."""

import torch
import torch.nn as nn
from common import options, report
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    def __init__(self, n):
        self.x = torch.linspace(-1, 1, n).unsqueeze(1)

    def __getitem__(self, i):
        assert get_worker_info() is not None
        x = self.x[i] + 0.05 * torch.randn(1)
        return {"x": x, "y": torch.sin(3 * self.x[i]), "i": i}

    def __len__(self):
        return len(self.x)


if __name__ == "__main__":
    opt = options(__doc__)
    net = nn.Sequential(nn.Linear(1, 16), nn.Softplus(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    loader = DataLoader(Noisy(96), batch_size=8, shuffle=True, num_workers=2, drop_last=True, persistent_workers=True)
    step = 0
    while step < opt.steps:
        for batch in loader:
            loss = nn.functional.mse_loss(net(batch["x"]), batch["y"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            report(loss.item() * (1 + batch["i"].sum().item()))
            step += 1
            if step == opt.steps:
                break
