"""A small U-Net that finds discs: skip connections, group normalisation, bilinear upsampling, Dice and cross entropy, channels_last."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report


class Double(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(
            nn.Conv2d(a, b, 3, padding=1, bias=False), nn.GroupNorm(2, b), nn.ReLU(inplace=True), nn.Conv2d(b, b, 3, padding=1), nn.InstanceNorm2d(b, affine=True), nn.ReLU(inplace=True)
        )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = Double(1, 4), Double(4, 8), Double(8, 8)
        self.up = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.up2, self.up1 = Double(16, 4), Double(8, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.up2(torch.cat([b, self.up(self.middle(F.max_pool2d(b, 2)))], dim=1))
        return self.out(self.up1(torch.cat([a, F.interpolate(c, scale_factor=2, mode="bilinear", align_corners=False)], dim=1)))


def dice(scores, target):
    p = torch.sigmoid(scores)
    return 1 - (2 * (p * target).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)


opt = options(__doc__)
net = UNet().to(memory_format=torch.channels_last)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
axis = torch.arange(12.0)
for _ in range(opt.steps):
    at, size = 3 + 6 * torch.rand(3, 2, 1, 1), 2 + torch.rand(3, 1, 1)
    disc = ((axis.view(1, 12, 1) - at[:, 0]) ** 2 + (axis.view(1, 1, 12) - at[:, 1]) ** 2 < size**2).to(torch.get_default_dtype()).unsqueeze(1)
    x = disc + 0.5 * torch.randn_like(disc)
    scores = net(x)
    loss = F.binary_cross_entropy_with_logits(scores, disc) + dice(scores, disc).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
