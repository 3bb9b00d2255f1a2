#!/usr/bin/env python3
"""What a call costs: operations on 8 elements, a small layer, a training step of a small network, beside PyTorch.

    tools/bench small [--quick] [--torch-python PYTHON]
"""

from _harness import Case, main


def pair(t, grad=False):
    x, y = (t.linspace(first, 1.0, 8) for first in (-0.5, 0.5))
    return (x.requires_grad_(), y.requires_grad_()) if grad else (x, y)


def on_eight(f, grad=False):
    def make(t):
        x, y = pair(t, grad)
        return lambda: f(t, x, y)

    return make


def matmul(t):
    x, y = pair(t)
    x, y = x.view(2, 4), y.view(4, 2)
    return lambda: x @ y


def linear(t):
    """Linear(8, 8) forward and backward for 4 rows."""
    layer, x = t.nn.Linear(8, 8), t.linspace(-1.0, 1.0, 32).view(4, 8)

    def step():
        layer.weight.grad = layer.bias.grad = None
        layer(x).sum().backward()
        return layer.weight.grad

    return step


def mlp(t):
    """One training step of 8-32-32-2 with tanh, batch 16, Adam."""
    nn = t.nn
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    loss_of, optimizer = nn.CrossEntropyLoss(), t.optim.Adam(model.parameters(), lr=1e-3)
    x, y = t.randn(16, 8), t.randint(0, 2, (16,))

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


CASES = [
    Case("x.sum()", on_eight(lambda t, x, y: x.sum()), 0.5),
    Case("x @ y, 2x4 and 4x2", matmul, 0.5),
    Case("x + 1.5", on_eight(lambda t, x, y: x + 1.5), 0.5),
    Case("x * 2", on_eight(lambda t, x, y: x * 2), 0.5),
    Case("x * y, recorded", on_eight(lambda t, x, y: x * y, grad=True), 0.5),
    Case("x + y, recorded", on_eight(lambda t, x, y: x + y, grad=True), 0.5),
    Case("x.tanh(), recorded", on_eight(lambda t, x, y: x.tanh(), grad=True), 0.5),
    Case("x + y", on_eight(lambda t, x, y: x + y), 0.65),
    Case("x.relu()", on_eight(lambda t, x, y: x.relu()), 0.65),
    Case("x[0]", on_eight(lambda t, x, y: x[0]), 0.65),
    Case("x.view(2, 4)", on_eight(lambda t, x, y: x.view(2, 4)), 0.75),
    Case("Linear(8, 8), 4 rows, forward and backward", linear, 0.4),
    Case("MLP 8-32-32-2, batch 16, Adam: a step", mlp, 0.25),
]


if __name__ == "__main__":
    main("small", __doc__, CASES)
