"""An image optimised, not a network: style by Gram matrices of fixed features, content, total variation, L-BFGS."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from common import options, report

opt = options(__doc__)
features = nn.ModuleList([nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1)]).requires_grad_(False).eval()


def gram(x):
    a, b, c, d = x.size()
    flat = x.view(a * b, c * d)
    return torch.mm(flat, flat.t()).div(a * b * c * d)


def look(x):
    seen = []
    for layer in features:
        x = F.relu(layer(x))
        seen.append(x)
        x = F.avg_pool2d(x, 2)
    return seen


content, style = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8)
targets = [gram(f).detach() for f in look(style)]
kept = look(content)[1].detach()
image = content.clone().requires_grad_(True)
optimizer = optim.LBFGS([image], max_iter=4)
for _ in range(max(2, opt.steps // 10)):

    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        seen = look(image)
        loss = 1e3 * sum(F.mse_loss(gram(f), t) for f, t in zip(seen, targets)) + F.mse_loss(seen[1], kept)
        loss = loss + 1e-2 * ((image[..., 1:] - image[..., :-1]).abs().mean() + (image[..., 1:, :] - image[..., :-1, :]).abs().mean())
        loss.backward()
        return loss

    report(optimizer.step(closure))
with torch.no_grad():
    image.clamp_(0, 1)
report(image.mean())
