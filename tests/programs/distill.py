"""A small network taught by a larger one: temperature, Kullback-Leibler divergence, focal loss, mixup."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report

opt = options(__doc__)
T = 3.0
teacher = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 5))
student = nn.Sequential(nn.Linear(8, 8), nn.GELU(approximate="tanh"), nn.AlphaDropout(0.1), nn.Linear(8, 5))
teach = torch.optim.Adam(teacher.parameters(), lr=5e-3)
learn = torch.optim.RAdam(student.parameters(), lr=5e-3)
centres = torch.randn(5, 8) * 1.5


def focal(scores, target, gamma=2.0):
    p = F.softmax(scores, dim=1).gather(1, target.unsqueeze(1)).squeeze(1)
    return ((1 - p) ** gamma * -torch.log(p + 1e-6)).mean()


for _ in range(opt.steps):
    y = torch.randint(0, 5, (24,))
    x = centres[y] + torch.randn(24, 8)
    order, share = torch.randperm(24), 0.8
    mixed = share * x + (1 - share) * x[order]
    scores = teacher(mixed)
    loss = share * F.cross_entropy(scores, y) + (1 - share) * F.cross_entropy(scores, F.one_hot(y[order], 5).to(x.dtype)) + focal(scores, y)
    teach.zero_grad()
    loss.backward()
    teach.step()
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=-1)
    answer = student(x)
    cost = nn.KLDivLoss(reduction="batchmean")(F.log_softmax(answer / T, dim=-1), soft) * T * T + F.multi_margin_loss(answer, y)
    learn.zero_grad()
    cost.backward()
    learn.step()
    report(loss)
    report(cost)
