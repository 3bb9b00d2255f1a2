"""The six models that Facula is measured by, each with the sizes of its test and of its benchmark."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class MLP(nn.Module):
    def __init__(self, inputs=784, width=512, classes=10, dropout=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes)
        )

    def forward(self, x):
        return self.layers(x.flatten(1))


class VAE(nn.Module):
    """Kingma and Welling (2014), with one hidden layer."""

    def __init__(self, inputs=784, width=400, latent=20):
        super().__init__()
        self.hidden = nn.Linear(inputs, width)
        self.mean, self.log_variance = nn.Linear(width, latent), nn.Linear(width, latent)
        self.back, self.out = nn.Linear(latent, width), nn.Linear(width, inputs)

    def forward(self, x):
        hidden = F.relu(self.hidden(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return torch.sigmoid(self.out(F.relu(self.back(z)))), mean, log_variance


def vae_loss(result, x):
    seen, mean, log_variance = result
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return F.binary_cross_entropy(seen, x, reduction="sum") + divergence


class LeNet(nn.Module):
    """Two 3x3 convolutions, pooling, dropout, two linear layers."""

    def __init__(self, size=28, channels=(32, 64), width=128, classes=10):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, channels[0], 3), nn.Conv2d(*channels, 3)
        self.dropout1, self.dropout2 = nn.Dropout2d(0.25), nn.Dropout(0.5)
        side = (size - 4) // 2
        self.fc1, self.fc2 = nn.Linear(channels[1] * side * side, width), nn.Linear(width, classes)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(self.dropout1(F.max_pool2d(x, 2)), 1)
        return self.fc2(self.dropout2(F.relu(self.fc1(x))))


class Block(nn.Module):
    """Two convolutions with batch norms and a shortcut. He et al. (2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        out = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(out)) + self.shortcut(x))


class ResNet(nn.Module):
    """3 stages of `blocks` blocks: with 3 blocks, ResNet-20."""

    def __init__(self, width=32, blocks=3, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        stages, inputs = [], width
        for stage in range(3):
            outputs = width * 2**stage
            for block in range(blocks):
                stages.append(Block(inputs, outputs, 2 if stage and not block else 1))
                inputs = outputs
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(inputs, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.stages(self.stem(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class SelfAttention(nn.Module):
    """Causal self-attention written out."""

    def __init__(self, width, heads, block, dropout):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(block, block, dtype=torch.bool)), persistent=False)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (p.view(n, t, self.heads, width // self.heads).transpose(1, 2) for p in self.qkv(x).split(width, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        weights = F.softmax(scores.masked_fill(~self.mask[:t, :t], float("-inf")), dim=-1)
        return self.out((self.dropout(weights) @ v).transpose(1, 2).contiguous().view(n, t, width))


class GPT(nn.Module):
    """A decoder of `layers` blocks, norms first. Radford et al. (2019)."""

    def __init__(self, letters=65, width=128, layers=4, heads=4, block=64, dropout=0.1):
        super().__init__()
        self.token, self.place = nn.Embedding(letters, width), nn.Embedding(block, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(width),
                    "attention": SelfAttention(width, heads, block, dropout),
                    "norm2": nn.LayerNorm(width),
                    "mlp": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)),
                }
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)
        self.head.weight = self.token.weight
        self.apply(self.start)

    @staticmethod
    def start(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, mean=0.0, std=0.02)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def forward(self, tokens):
        x = self.dropout(self.token(tokens) + self.place(torch.arange(tokens.size(1))))
        for block in self.blocks:
            x = x + block["attention"](block["norm1"](x))
            x = x + block["mlp"](block["norm2"](x))
        return self.head(self.norm(x))


class LanguageModel(nn.Module):
    """Zaremba et al. (2014): embedding, LSTM layers with dropout, a linear decoder; the state goes on from batch to batch."""

    def __init__(self, words=1000, width=200, layers=2, dropout=0.2):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.encoder, self.decoder = nn.Embedding(words, width), nn.Linear(width, words)
        self.lstm = nn.LSTM(width, width, layers, dropout=dropout)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, words, state=None):
        out, state = self.lstm(self.dropout(self.encoder(words)), state)
        return self.decoder(self.dropout(out)).flatten(0, 1), state
