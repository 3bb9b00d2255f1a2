"""The training steps and predictions that are timed and compared, of the six networks of tests/programs/models.py.

A model is a function (t, dtype) -> Run, t being Facula or PyTorch; the parameters, the batches and all noise come from the library's
own streams, seeded by the caller: with one seed both libraries train the same network on the same numbers.
Steps go round several batches: one batch of noise is learnt by heart in twenty steps, and a loss near zero shows nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

NETWORKS = Path(__file__).resolve().parent.parent / "tests/programs/models.py"
BATCHES = 20


@cache
def networks(t):
    """The classes of tests/programs/models.py, a file that imports torch, made of t."""

    def of_t(name, *rest):
        return {"torch": t, "torch.nn": t.nn}.get(name) or builtins.__import__(name, *rest)

    names = {"__name__": f"networks of {t.__name__}", "__builtins__": {**vars(builtins), "__import__": of_t}}
    exec(compile(NETWORKS.read_text(), NETWORKS, "exec"), names)
    return SimpleNamespace(**names)


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


def sgd(t, model, lr):
    return t.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)


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
    return classifier(t, dtype, networks(t).MLP(), (784,), 10, 64)


def vae(t, dtype):
    model, loss_of = networks(t).VAE().to(dtype), networks(t).vae_loss
    pictures = batches(lambda: t.rand(128, 784, dtype=dtype))
    one = next(pictures)[:1]

    def loss():
        x = next(pictures)
        return loss_of(model(x), x)

    return Run(model, adam(t, model), loss, lambda: model(one)[0])


def lenet(t, dtype):
    return classifier(t, dtype, networks(t).LeNet(), (1, 28, 28), 10, 64)


def resnet20(t, dtype, lr=1e-4):
    """lr: at the usual 0.05, twenty normalised layers on noise are chaotic; same_losses.py shows both."""
    return classifier(t, dtype, networks(t).ResNet(), (3, 32, 32), 10, 32, partial(sgd, lr=lr))


def language(t, dtype, model, shape, words, optimizer, single):
    """Cross entropy of the next word, on random words."""
    model = model.to(dtype)
    pairs = batches(lambda: (t.randint(0, words, shape), t.randint(0, words, shape)))
    one = single(next(pairs)[0])

    def scores(ids):
        out = model(ids)
        return out[0] if isinstance(out, tuple) else out

    def loss():
        ids, nexts = next(pairs)
        return t.nn.functional.cross_entropy(scores(ids).view(-1, words), nexts.view(-1))

    return Run(model, optimizer(model.parameters()), loss, lambda: scores(one))


def gpt(t, dtype):
    return language(t, dtype, networks(t).GPT(), (8, 64), 65, lambda p: t.optim.AdamW(p, lr=1e-3), lambda ids: ids[:1])


def lstm(t, dtype):
    return language(t, dtype, networks(t).LanguageModel(), (35, 20), 1000, lambda p: t.optim.SGD(p, lr=1.0), lambda ids: ids[:, :1])


MODELS = {"mlp": mlp, "vae": vae, "lenet": lenet, "resnet20": resnet20, "gpt": gpt, "lstm": lstm}
TITLES = {
    "mlp": "MLP 784-512-512-10, batch 64",
    "vae": "VAE 784-400-20, batch 128",
    "lenet": "LeNet-like 32, 64 on 28x28, batch 64",
    "resnet20": "ResNet-20, width 32, on 32x32, batch 32",
    "gpt": "GPT 4x128, block 64, batch 8",
    "lstm": "LSTM 2x200, 35 steps, batch 20",
}
