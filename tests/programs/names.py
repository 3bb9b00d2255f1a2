"""Words by language with a recurrent network written by hand: one-hot letters, lists of lines, a confusion matrix."""

import string

import torch
import torch.nn as nn
from common import options, report

LINES = {
    "latin": ["facula", "luna", "stella", "ignis", "aqua", "terra"],
    "greek": ["kyklos", "logos", "phos", "chronos", "helios", "topos"],
    "norse": ["fjord", "skald", "geysir", "saga", "thing", "berserk"],
}
LETTERS = string.ascii_lowercase


def to_tensor(line):
    tensor = torch.zeros(len(line), 1, len(LETTERS))
    for k, letter in enumerate(line):
        tensor[k][0][LETTERS.find(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.i2h = nn.Linear(len(LETTERS) + size, size)
        self.h2o = nn.Linear(size, len(LINES))
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, x, hidden):
        hidden = torch.tanh(self.i2h(torch.cat((x, hidden), 1)))
        return self.softmax(self.h2o(hidden)), hidden

    def initHidden(self):
        return torch.zeros(1, self.size)


opt = options(__doc__)
rnn, criterion, rate = RNN(16), nn.NLLLoss(), 0.05
kinds = list(LINES)
confusion = torch.zeros(3, 3)
for _ in range(opt.steps):
    kind = int(torch.randint(0, 3, (1,)))
    line = LINES[kinds[kind]][int(torch.randint(0, 6, (1,)))]
    x, hidden = to_tensor(line), rnn.initHidden()
    rnn.zero_grad()
    for i in range(x.size()[0]):
        output, hidden = rnn(x[i], hidden)
    loss = criterion(output, torch.tensor([kind], dtype=torch.long))
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-rate)
    report(loss.item())
    confusion[kind][output.topk(1)[1].item()] += 1
for i in range(3):
    confusion[i] /= confusion[i].sum().clamp(min=1)
assert confusion.sum() <= 3.001
