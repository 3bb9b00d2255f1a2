"""Hooks of every kind, gradients kept at inner tensors, feature extraction, a layer frozen and let go."""

import torch
import torch.nn as nn
from common import options, report

opt = options(__doc__)
model = nn.Sequential()
model.add_module("first", nn.Linear(6, 10))
model.add_module("act", nn.Tanh())
model.add_module("second", nn.Linear(10, 3))
features, gradients, calls = {}, {}, []


def keep(name):
    def hook(module, inputs, output):
        features[name] = output.detach()

    return hook


def halve(module, grad_input, grad_output):
    gradients["second"] = grad_output[0].norm()
    return tuple(None if g is None else g * 0.5 for g in grad_input)


handles = [model.act.register_forward_hook(keep("act")), model.second.register_full_backward_hook(halve)]
model.first.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2,))
model.first.weight.register_hook(lambda g: calls.append(1) or g.clamp(-0.1, 0.1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(opt.steps):
    x = torch.randn(8, 6)
    model.second.requires_grad_(step % 3 != 0)
    hidden = model.act(model.first(x))
    hidden.retain_grad()
    hidden.register_hook(lambda g: g * 3)
    loss = model.second(hidden).logsumexp(dim=1).mean() + model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    report(loss)
    report(hidden.grad.norm() + gradients["second"] + features["act"].abs().mean())
    optimizer.step()
    if step == opt.steps // 2:
        for handle in handles:
            handle.remove()
        handles.clear()
assert len(calls) == opt.steps
