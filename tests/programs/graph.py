"""A graph network by message passing: edges as index pairs, sums by index_add, degrees by bincount and scatter_add, a readout per graph."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report


class GCN(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inside, outside))
        self.bias = nn.Parameter(torch.zeros(outside))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, edges):
        source, target = edges
        degree = torch.bincount(target, minlength=x.size(0)).clamp(min=1).to(x.dtype)
        scale = degree.pow(-0.5)
        messages = (x @ self.weight)[source] * (scale[source] * scale[target]).unsqueeze(1)
        return torch.zeros(x.size(0), messages.size(1)).index_add(0, target, messages) + self.bias


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin, self.att = nn.Linear(width, width, bias=False), nn.Parameter(torch.randn(2 * width) * 0.1)

    def forward(self, x, edges):
        h, (source, target) = self.lin(x), edges
        score = F.leaky_relu((torch.cat([h[source], h[target]], dim=-1) * self.att).sum(-1), 0.2).exp()
        total = torch.zeros(x.size(0)).scatter_add(0, target, score)
        return torch.zeros_like(h).index_add_(0, target, h[source] * (score / total[target]).unsqueeze(-1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.out = GCN(4, 8), Attention(8), nn.Linear(8, 2)

    def forward(self, x, edges, batch):
        x = F.elu(self.one(x, edges))
        x = self.two(F.dropout(x, 0.2, self.training), edges)
        pooled = torch.zeros(int(batch.max()) + 1, 8).index_add(0, batch, x) / torch.bincount(batch).unsqueeze(1)
        return self.out(pooled)


opt = options(__doc__)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for _ in range(opt.steps):
    batch = torch.arange(4).repeat_interleave(6)
    pairs = torch.randint(0, 6, (2, 4, 10)) + 6 * torch.arange(4).view(1, 4, 1)
    loops = torch.arange(24).expand(2, 24)
    edges = torch.cat([pairs.reshape(2, -1), loops], dim=1)
    x = torch.randn(24, 4)
    y = (x.view(4, 6, 4).mean(1)[:, 0] > 0).long()
    loss = F.cross_entropy(net(x, edges, batch), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
