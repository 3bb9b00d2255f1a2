"""Sequence to sequence with additive attention: digits to be written backwards, encoder and decoder with optimizers of their own."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report
from torch import optim

SOS, EOS, WORDS, HIDDEN = 0, 1, 12, 16


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.gru(self.dropout(self.embedding(x)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, HIDDEN)
        self.attention = Attention()
        self.gru = nn.GRU(2 * HIDDEN, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, WORDS)

    def forward(self, outputs, hidden, target):
        step_input = torch.empty(outputs.size(0), 1, dtype=torch.long).fill_(SOS)
        answers, attentions = [], []
        for i in range(target.size(1)):
            context, weights = self.attention(hidden.permute(1, 0, 2), outputs)
            output, hidden = self.gru(torch.cat((self.embedding(step_input), context), dim=2), hidden)
            answers.append(self.out(output))
            attentions.append(weights)
            if random.random() < 0.5:
                step_input = target[:, i].unsqueeze(1)
            else:
                step_input = answers[-1].topk(1)[1].squeeze(-1).detach()
        return F.log_softmax(torch.cat(answers, dim=1), dim=-1), torch.cat(attentions, dim=1)


opt = options(__doc__)
random.seed(opt.seed)
encoder, decoder = Encoder(), Decoder()
optimizers = optim.Adam(encoder.parameters(), lr=0.01), optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()
for _ in range(opt.steps):
    x = torch.randint(2, WORDS, (8, 5))
    y = torch.cat([x.flip(1), torch.full((8, 1), EOS)], dim=1)
    for optimizer in optimizers:
        optimizer.zero_grad()
    outputs, hidden = encoder(x)
    scores, attention = decoder(outputs, hidden, y)
    loss = criterion(scores.view(-1, scores.size(-1)), y.view(-1))
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    report(loss.item())
assert attention.shape == (8, 6, 5)
