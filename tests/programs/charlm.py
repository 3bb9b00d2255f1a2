"""A character language model: embeddings, one block of causal self-attention, weights clipped by norm."""

import math

import torch
from common import options, report
from torch import nn
from torch.nn import functional as F

opt = options(__doc__)
TEXT = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 4
letters = sorted(set(TEXT))
index = {c: i for i, c in enumerate(letters)}
text = torch.tensor([index[c] for c in TEXT])
CONTEXT, WIDTH, HEADS = 16, 32, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.tril(torch.ones(CONTEXT, CONTEXT)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, HEADS, C // HEADS).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // HEADS)
        weights = scores.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, C))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(len(letters), WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, len(letters))

    def forward(self, tokens):
        x = self.token(tokens) + self.place[: tokens.shape[1]]
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(self.norm3(x))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
for _ in range(opt.steps):
    starts = torch.randint(len(text) - CONTEXT - 1, (8,))
    x = torch.stack([text[i : i + CONTEXT] for i in starts])
    y = torch.stack([text[i + 1 : i + CONTEXT + 1] for i in starts])
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    report(loss)

model.eval()
tokens = torch.zeros(1, 1, dtype=torch.long)
with torch.no_grad():
    for _ in range(10):
        probabilities = F.softmax(model(tokens[:, -CONTEXT:])[:, -1], dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(probabilities, 1)], dim=1)
report(tokens.sum())
