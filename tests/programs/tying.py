"""A transformer language model whose output weights are its embeddings: positions, causal and padding masks, truncated init."""

import math

import torch
import torch.nn as nn
from common import options, report


class Positions(nn.Module):
    def __init__(self, width, longest=32):
        super().__init__()
        at = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(longest, 1, width)
        table[:, 0, 0::2] = torch.sin(at * rate)
        table[:, 0, 1::2] = torch.cos(at * rate)
        self.register_buffer("pe", table)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Model(nn.Module):
    def __init__(self, words=15, width=16):
        super().__init__()
        self.width = width
        self.encoder = nn.Embedding(words, width, padding_idx=0)
        self.positions = Positions(width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=32, dropout=0.1, activation="gelu", norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.encoder.weight
        nn.init.trunc_normal_(self.encoder.weight, std=0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, src, mask, padding):
        x = self.positions(self.encoder(src) * math.sqrt(self.width))
        return self.decoder(self.transformer(x, mask=mask, src_key_padding_mask=padding))


opt = options(__doc__)
model = Model()
assert len(list(model.parameters())) == len({id(p) for p in model.parameters()})
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
mask = nn.Transformer.generate_square_subsequent_mask(7)
for _ in range(opt.steps):
    start = torch.randint(1, 15, (1, 6))
    sequence = (start + torch.arange(8).unsqueeze(1) * 3 - 1) % 14 + 1
    lengths = torch.randint(5, 8, (6,))
    padding = torch.arange(7).unsqueeze(0) >= lengths.unsqueeze(1)
    source, target = sequence[:-1].masked_fill(padding.t(), 0), sequence[1:].masked_fill(padding.t(), 0)
    scores = model(source, mask, torch.zeros(6, 7).masked_fill(padding, float("-inf")))
    loss = nn.functional.cross_entropy(scores.view(-1, 15), target.reshape(-1), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    report(loss)
