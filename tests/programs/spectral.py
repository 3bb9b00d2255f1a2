"""An operator learned in frequency space: products of the low frequencies with complex weights, beside a pointwise layer."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report


class Spectral(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        kind = torch.complex64 if torch.get_default_dtype() == torch.float32 else torch.complex128
        self.low = nn.Parameter(torch.rand(width, width, modes, modes, dtype=kind) / width**2)
        self.high = nn.Parameter(torch.rand(width, width, modes, modes, dtype=kind) / width**2)

    def forward(self, x):
        m, f = self.modes, torch.fft.rfft2(x)
        out = torch.zeros_like(f)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, :m, :m], self.low)
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, -m:, :m], self.high)
        return torch.fft.irfft2(out, s=x.shape[-2:])


opt = options(__doc__)
lift, lower = nn.Conv2d(3, 6, 1), nn.Conv2d(6, 1, 1)
spectral, pointwise = nn.ModuleList([Spectral(6, 3) for _ in range(2)]), nn.ModuleList([nn.Conv2d(6, 6, 1) for _ in range(2)])
parameters = [p for m in (lift, lower, spectral, pointwise) for p in m.parameters()]
x = torch.randn(4, 1, 12, 12)
decay = torch.exp(-0.1 * torch.fft.fftfreq(12, 1 / 12)[:, None] ** 2)
y = torch.fft.ifft2(torch.fft.fft2(x) * decay).real
grid = torch.stack(torch.meshgrid(torch.linspace(0, 1, 12), torch.linspace(0, 1, 12), indexing="ij")).expand(4, 2, 12, 12)
optimizer = torch.optim.SGD(parameters, lr=0.02, momentum=0.9)
for _ in range(opt.steps):
    h = lift(torch.cat([x, grid], 1))
    for s, p in zip(spectral, pointwise):
        h = F.gelu(s(h) + p(h))
    loss = F.mse_loss(lower(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
report(torch.view_as_real(spectral[0].low.grad).norm())
