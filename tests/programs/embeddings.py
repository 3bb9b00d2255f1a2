"""An n-gram language model and a bag of words over a short text: word embeddings, found by name."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from common import options, report

TEXT = """a small torch burns on the stone and the stone is warm and the night is long
we carry the torch along the wall and the wall is cold and the torch is small""".split()
CONTEXT, DIM = 2, 10

opt = options(__doc__)
ngrams = [([TEXT[i - j - 1] for j in range(CONTEXT)], TEXT[i]) for i in range(CONTEXT, len(TEXT))]
index = {word: i for i, word in enumerate(sorted(set(TEXT)))}


class NGram(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embeddings = nn.Embedding(words, DIM)
        self.linear1 = nn.Linear(CONTEXT * DIM, 32)
        self.linear2 = nn.Linear(32, words)

    def forward(self, inputs):
        out = F.relu(self.linear1(self.embeddings(inputs).view((1, -1))))
        return F.log_softmax(self.linear2(out), dim=1)


class Bag(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.bag = nn.EmbeddingBag(words, DIM, mode="mean")
        self.fc = nn.Linear(DIM, words)
        for p in self.parameters():
            p.data.uniform_(-0.5, 0.5)

    def forward(self, words, offsets):
        return self.fc(self.bag(words, offsets))


model, bag = NGram(len(index)), Bag(len(index))
optimizer = optim.SGD(model.parameters(), lr=0.1)
second = optim.Adagrad(bag.parameters(), lr=0.1)
for step in range(opt.steps):
    context, target = ngrams[step % len(ngrams)]
    ids = torch.tensor([index[w] for w in context], dtype=torch.long)
    model.zero_grad()
    loss = nn.NLLLoss()(model(ids), torch.tensor([index[target]], dtype=torch.long))
    loss.backward()
    optimizer.step()
    picked = [ngrams[(step + k) % len(ngrams)] for k in range(4)]
    words = torch.tensor([index[w] for c, _ in picked for w in c[: 1 + step % 2]])
    offsets = torch.arange(0, len(words), 1 + step % 2)
    bag.zero_grad()
    loss_bag = F.cross_entropy(bag(words, offsets), torch.tensor([index[t] for _, t in picked]), label_smoothing=0.1)
    loss_bag.backward()
    second.step()
    report(loss.item() + loss_bag.item())
report(F.cosine_similarity(model.embeddings.weight[index["torch"]], model.embeddings.weight[index["stone"]], dim=0))
