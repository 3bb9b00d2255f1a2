"""Sequences of many lengths: collate_fn with padding, packed into a bidirectional LSTM, the last states classified."""

import torch
import torch.nn as nn
from common import options, report
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.gru = nn.GRUCell(12, 6)
        self.out = nn.Linear(6, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        output, (h, _) = self.lstm(packed)
        padded, sizes = pad_packed_sequence(output, batch_first=True)
        assert torch.equal(sizes, lengths)
        mean = padded.sum(1) / lengths.unsqueeze(1)
        return self.out(self.gru(mean, h[-1]))


def collate(batch):
    sequences, labels = zip(*batch)
    return pad_sequence(sequences, batch_first=True), torch.tensor([len(s) for s in sequences]), torch.stack(labels)


opt = options(__doc__)
data = []
for _ in range(48):
    sequence = torch.randint(1, 10, (int(torch.randint(2, 7, ())),))
    data.append((sequence, (sequence.float().mean() > 5).long()))
loader = DataLoader(data, batch_size=12, shuffle=True, collate_fn=collate)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
step = 0
while step < opt.steps:
    for x, lengths, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x, lengths), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        report(loss)
        step += 1
        if step == opt.steps:
            break
