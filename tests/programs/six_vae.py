"""A variational autoencoder on made-up pictures, Adam."""

import torch
from common import options, report
from models import VAE, vae_loss
from torch.utils.data import DataLoader, TensorDataset

opt = options(__doc__)
inputs, width, latent, batch = (784, 400, 20, 128) if opt.full else (100, 48, 6, 32)
pictures = torch.rand(10, inputs)[torch.randint(0, 10, (8 * batch,))] * torch.rand(8 * batch, 1)
model = VAE(inputs, width, latent)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
step = 0
while step < opt.steps:
    for (x,) in DataLoader(TensorDataset(pictures), batch_size=batch, shuffle=True):
        if step == opt.steps:
            break
        loss = vae_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        report(loss / batch)
        step += 1
