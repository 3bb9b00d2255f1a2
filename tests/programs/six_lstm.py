"""A two-layer LSTM language model: the state carried from batch to batch, SGD, gradients clipped."""

import torch
from common import options, report
from models import LanguageModel
from torch import nn

opt = options(__doc__)
words, width, steps, batch = (1000, 200, 35, 20) if opt.full else (50, 16, 9, 5)
text = (torch.arange(batch * 400) * 3 % words + torch.randint(0, 5, (batch * 400,))) % words
columns = text.view(batch, -1).t().contiguous()
model = LanguageModel(words, width)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
criterion = nn.CrossEntropyLoss()
state = None
for k in range(opt.steps):
    start = k * steps % (len(columns) - steps - 1)
    x, y = columns[start : start + steps], columns[start + 1 : start + 1 + steps].reshape(-1)
    state = None if state is None else tuple(s.detach() for s in state)
    scores, state = model(x, state)
    loss = criterion(scores, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    report(loss)
