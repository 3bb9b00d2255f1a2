"""A small GPT on made-up text: AdamW in two groups, warm-up, gradients clipped."""

import torch
from common import options, report
from models import GPT
from torch import nn
from torch.nn import functional as F

opt = options(__doc__)
width, layers, heads, block, batch = (128, 4, 4, 64, 8) if opt.full else (24, 2, 2, 12, 4)
text = (torch.arange(4000) * 7 % 65 + (torch.rand(4000) * 3).long()) % 65
model = GPT(65, width, layers, heads, block)
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=1e-3, betas=(0.9, 0.95))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
for _ in range(opt.steps):
    starts = torch.randint(len(text) - block - 1, (batch,))
    x = torch.stack([text[i : i + block] for i in starts])
    y = torch.stack([text[i + 1 : i + 1 + block] for i in starts])
    logits = model(x)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    report(loss)
report(norm)
