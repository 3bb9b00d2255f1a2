"""Averages of weights: an exponential one kept by hand, stochastic weight averaging, batch statistics made anew."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn
from torch.utils.data import DataLoader, TensorDataset

opt = options(__doc__)
x = torch.randn(60, 5)
y = torch.randint(0, 3, (60,))
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(5, 16, bias=False), nn.BatchNorm1d(16), nn.Hardswish(), nn.Linear(16, 3))
shadow = copy.deepcopy(model)
for p in shadow.parameters():
    p.requires_grad_(False)
swa, ema = AveragedModel(model), AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)


@torch.no_grad()
def follow(average, source, decay=0.9):
    for a, s in zip(average.parameters(), source.parameters()):
        a.mul_(decay).add_(s, alpha=1 - decay)
    for a, s in zip(average.buffers(), source.buffers()):
        a.copy_(s)


done = 0
while done < opt.steps:
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        follow(shadow, model)
        ema.update_parameters(model)
        report(loss)
        done += 1
        if done == opt.steps:
            break
    swa.update_parameters(model)
    scheduler.step()
update_bn(loader, swa)
for average in (shadow, swa, ema):
    average.eval()
    with torch.inference_mode():
        report(F.cross_entropy(average(x), y))
