"""A learning-rate range test, then training under one schedule after the other."""

import copy
import math

import torch
import torch.nn as nn
from common import options, report
from torch.optim import lr_scheduler as S

opt = options(__doc__)
model = nn.Sequential(nn.Linear(3, 12), nn.Softplus(), nn.Linear(12, 2), nn.LogSoftmax(dim=1))
x = torch.randn(64, 3)
y = (x[:, 0] * x[:, 1] > 0).long()
criterion = nn.NLLLoss()


def run(model, optimizer, scheduler, steps, plateau=False):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step(loss.item()) if plateau else scheduler.step()
        report(loss.item())
        report(optimizer.param_groups[0]["lr"])


state = copy.deepcopy(model.state_dict())
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
run(model, optimizer, S.LambdaLR(optimizer, lambda k: 10 ** (2 * k / 10)), 4)
model.load_state_dict(state)
each = max(2, opt.steps // 10)
for make in (
    lambda o: S.OneCycleLR(o, max_lr=0.1, total_steps=each + 1),
    lambda o: S.CosineAnnealingLR(o, T_max=each),
    lambda o: S.CosineAnnealingWarmRestarts(o, T_0=3),
    lambda o: S.ExponentialLR(o, 0.9),
    lambda o: S.MultiStepLR(o, [1, 4], 0.3),
    lambda o: S.CyclicLR(o, 1e-3, 0.1, step_size_up=3),
    lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=3), S.PolynomialLR(o, each, power=2)], [3]),
    lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.95)]),
):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    run(model, optimizer, make(optimizer), each)
optimizer = torch.optim.Adamax(model.parameters(), lr=0.01)
run(model, optimizer, S.ReduceLROnPlateau(optimizer, patience=1, factor=0.5), each, plateau=True)
assert math.isfinite(criterion(model(x), y).item())
