"""The six networks whose training steps are timed and compared, written once for `t`, Facula or PyTorch.

A model is a function (t, dtype) -> Run; the parameters, the batches and all noise come from the library's own streams,
seeded by the caller: with one seed both libraries train the same network on the same numbers.
Steps go round several batches: one batch of noise is learnt by heart in twenty steps, and a loss near zero shows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle
from dataclasses import dataclass


BATCHES = 20


def batches(draw):
    """Rounds over batches that are drawn once; `next` gives one."""
    return cycle([draw() for _ in range(BATCHES)])


@dataclass(frozen=True)
class Run:
    """model, its optimizer, loss() of the next batch, single(): a forward pass for one sample."""

    model: object
    optimizer: object
    loss: Callable
    single: Callable

    def step(self):
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return loss


def adam(t, model, lr=1e-3):
    return t.optim.Adam(model.parameters(), lr=lr)


def sgd(t, model):
    return t.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)


def classifier(t, dtype, model, shape, classes, batch, optimizer=adam):
    """Cross entropy on noise with random labels."""
    model, loss_of = model.to(dtype), t.nn.CrossEntropyLoss()
    pairs = batches(lambda: (t.randn(batch, *shape, dtype=dtype), t.randint(0, classes, (batch,))))
    one = next(pairs)[0][:1]

    def loss():
        x, y = next(pairs)
        return loss_of(model(x), y)

    return Run(model, optimizer(t, model), loss, lambda: model(one))


def mlp(t, dtype):
    nn = t.nn
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return classifier(t, dtype, model, (784,), 10, 64)


def vae(t, dtype):
    nn, F = t.nn, t.nn.functional

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.mean, self.spread = nn.Linear(784, 400), nn.Linear(400, 20), nn.Linear(400, 20)
            self.back, self.out = nn.Linear(20, 400), nn.Linear(400, 784)

        def forward(self, x):
            h = t.relu(self.into(x))
            mean, log_variance = self.mean(h), self.spread(h)
            std = t.exp(0.5 * log_variance)
            z = mean + std * t.randn_like(std)
            return t.sigmoid(self.out(t.relu(self.back(z)))), mean, log_variance

    model = VAE().to(dtype)
    pictures = batches(lambda: t.rand(128, 784, dtype=dtype))
    one = next(pictures)[:1]

    def loss():
        x = next(pictures)
        out, mean, log_variance = model(x)
        kl = -0.5 * t.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return F.binary_cross_entropy(out, x, reduction="sum") + kl

    return Run(model, adam(t, model), loss, lambda: model(one)[0])


def lenet(t, dtype):
    nn = t.nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    return classifier(t, dtype, model, (1, 28, 28), 10, 64)


def resnet20(t, dtype, width=32):
    nn = t.nn

    class Block(nn.Module):
        def __init__(self, into, out, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(into, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
            self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
            self.short = nn.Sequential()
            if stride != 1 or into != out:
                self.short = nn.Sequential(nn.Conv2d(into, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            h = self.bn2(self.conv2(t.relu(self.bn1(self.conv1(x)))))
            return t.relu(h + self.short(x))

    layers, into = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()], width
    for stage in range(3):
        for k in range(3):
            layers.append(Block(into, width << stage, 2 if stage and not k else 1))
            into = width << stage
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(into, 10))
    return classifier(t, dtype, model, (3, 32, 32), 10, 32, sgd)


def language(t, model, shape, words, optimizer, single):
    """Cross entropy of the next word, on random words."""
    pairs = batches(lambda: (t.randint(0, words, shape), t.randint(0, words, shape)))
    one = single(next(pairs)[0])

    def loss():
        ids, nexts = next(pairs)
        return t.nn.functional.cross_entropy(model(ids).view(-1, words), nexts.view(-1))

    return Run(model, optimizer, loss, lambda: model(one))


def gpt(t, dtype, layers=4, width=128, heads=4, block=64, batch=8, words=65):
    """A decoder with pre-norm blocks and attention written out: products, mask, softmax."""
    nn, F = t.nn, t.nn.functional

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.register_buffer("mask", t.tril(t.ones(block, block)).view(1, 1, block, block) == 0)

        def forward(self, x):
            b, n, c = x.shape
            q, k, v = (u.view(b, n, heads, c // heads).transpose(1, 2) for u in self.qkv(x).split(c, dim=2))
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(c // heads)
            scores = scores.masked_fill(self.mask[:, :, :n, :n], float("-inf"))
            return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, n, c))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.place = nn.Embedding(words, width), nn.Embedding(block, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, ids):
            x = self.token(ids) + self.place(t.arange(ids.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    model = GPT().to(dtype)
    return language(t, model, (batch, block), words, t.optim.AdamW(model.parameters(), lr=1e-3), lambda ids: ids[:1])


def lstm(t, dtype, width=200, steps=35, batch=20, words=1000):
    """A language model of two LSTM layers with dropout, SGD."""
    nn = t.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.drop = nn.Embedding(words, width), nn.Dropout(0.2)
            self.lstm, self.head = nn.LSTM(width, width, 2, dropout=0.2), nn.Linear(width, words)

        def forward(self, ids):
            out, _ = self.lstm(self.drop(self.embed(ids)))
            return self.head(self.drop(out))

    model = Model().to(dtype)
    return language(t, model, (steps, batch), words, t.optim.SGD(model.parameters(), lr=1.0), lambda ids: ids[:, :1])


MODELS = {"mlp": mlp, "vae": vae, "lenet": lenet, "resnet20": resnet20, "gpt": gpt, "lstm": lstm}
TITLES = {
    "mlp": "MLP 784-512-512-10, batch 64",
    "vae": "VAE 784-400-20, batch 128",
    "lenet": "LeNet-like 32, 64 on 28x28, batch 64",
    "resnet20": "ResNet-20, width 32, on 32x32, batch 32",
    "gpt": "GPT 4x128, block 64, batch 8",
    "lstm": "LSTM 2x200, 35 steps, batch 20",
}
