"""A convolutional autoencoder that takes noise away: transposed convolution, upsampling, binary cross entropy."""

import torch
import torch.nn as nn
from common import options, report


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(True), nn.Conv2d(6, 4, 3, stride=1, padding="same"), nn.ELU(), nn.MaxPool2d(2, stride=2)
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1),
            nn.SiLU(),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.ReflectionPad2d(1),
            nn.Conv2d(6, 1, 3),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


opt = options(__doc__)
model = Autoencoder()
criterion = nn.BCELoss()
optimizer = torch.optim.NAdam(model.parameters(), lr=0.01, weight_decay=1e-5)
rows = torch.arange(8).view(1, 1, 8, 1)
for _ in range(opt.steps):
    at = torch.randint(1, 7, (10, 1, 1, 1))
    clean = ((rows - at).abs() <= 1).expand(10, 1, 8, 8).to(torch.get_default_dtype())
    noisy = torch.clamp(clean + 0.3 * torch.randn_like(clean), 0, 1)
    output = model(noisy)
    loss = criterion(output, clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss.data)
