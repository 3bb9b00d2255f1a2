"""A siamese network on noisy patterns: contrastive loss, triplets, and distances between embeddings."""

import torch
from common import options, report
from torch import nn
from torch.nn import functional as F


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.LeakyReLU(0.1), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.PReLU(8), nn.AvgPool2d(2)
        )
        self.fc = nn.Linear(8, 4)

    def one(self, x):
        return self.fc(self.cnn(x).flatten(start_dim=1))

    def forward(self, a, b):
        return self.one(a), self.one(b)


class Contrastive(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, different):
        distance = F.pairwise_distance(a, b, keepdim=True)
        return torch.mean((1 - different) * torch.pow(distance, 2) + different * torch.pow(torch.clamp(self.margin - distance, min=0.0), 2))


opt = options(__doc__)
prototypes = torch.rand(3, 1, 8, 8)
net, contrastive, triplet = Siamese(), Contrastive(), nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.005)
for _ in range(opt.steps):
    kinds = torch.randint(0, 3, (12,))
    x = prototypes[kinds] + 0.1 * torch.randn(12, 1, 8, 8)
    different = (kinds[:6] != kinds[6:]).to(x.dtype).unsqueeze(1)
    a, b = net(x[:6], x[6:])
    near = net.one(prototypes[kinds[:6]])
    loss = contrastive(a, b, different) + triplet(a, near, b) + nn.CosineEmbeddingLoss()(a, b, 1 - 2 * different.squeeze(1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    report(loss)
