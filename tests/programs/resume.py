"""Training that is saved half-way and goes on from the file: model, optimizer, scheduler and random state."""

import os
import tempfile

import torch
import torch.nn as nn
from common import options, report

opt = options(__doc__)


def make():
    model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(16), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(
        [{"params": [p for n, p in model.named_parameters() if n.endswith("weight")], "weight_decay": 1e-3},
         {"params": [p for n, p in model.named_parameters() if n.endswith("bias")]}],
        lr=0.05, momentum=0.9, nesterov=True,
    )  # fmt: skip
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.5)


def train(model, optimizer, scheduler, steps):
    model.train()
    for _ in range(steps):
        x = torch.randn(16, 4)
        y = (x.prod(dim=1, keepdim=True) + x.sum(1, keepdim=True)).sin()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        report(loss)


model, optimizer, scheduler = make()
train(model, optimizer, scheduler, opt.steps // 2)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save(
        {
            "epoch": opt.steps // 2,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "rng": torch.get_rng_state(),
        },
        path,
    )
    torch.manual_seed(123)
    model, optimizer, scheduler = make()
    checkpoint = torch.load(path, map_location=torch.device("cpu"), weights_only=True)
    model.load_state_dict(checkpoint["model_state_dict"], strict=True)
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    torch.set_rng_state(checkpoint["rng"])
train(model, optimizer, scheduler, opt.steps - checkpoint["epoch"])
report(scheduler.get_last_lr()[0])
