"""Optimizer steps over lists of tensors, written in place: the oracle gives every list after the step, in the row's order."""

import numpy as np

from . import O


def adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps,
         lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, decoupled):  # fmt: skip
    new = [[], [], [], [], []]
    for k, (p, g, m, v, step) in enumerate(zip(params, grads, exp_avgs, exp_avg_sqs, state_steps)):
        step = step.astype(np.float64) + 1
        g = -g if maximize else g
        p, g = (p * (1 - lr * weight_decay), g) if decoupled else (p, g + weight_decay * p)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        top = np.maximum(max_exp_avg_sqs[k], v) if amsgrad else v
        p = p - lr / (1 - beta1**step) * m / (np.sqrt(top) / np.sqrt(1 - beta2**step) + eps)
        for out, x in zip(new, (p, m, v, top, step)):
            out.append(x)
    return tuple(x for k, out in enumerate(new) if amsgrad or k != 3 for x in out)


def sgd(params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    new, buffers = [], []
    for k, (p, g) in enumerate(zip(params, grads)):
        g = (-g if maximize else g) + weight_decay * p
        if momentum:
            b = g if first else momentum * momentum_buffers[k] + (1 - dampening) * g
            buffers.append(b)
            g = g + momentum * b if nesterov else b
        new.append(p - lr * g)
    return (*new, *buffers)


def tensors(t, count=2):
    return [t(3, 5), t(7)][:count]


def squares(t):
    return [t.value(np.abs(x.array)) for x in tensors(t)]


def steps(t):
    return [t.value(np.float32(4), "float32"), t.value(np.float32(9), "float32")]


def adam_case(t, weight_decay, amsgrad, maximize, decoupled):
    return (tensors(t), tensors(t), tensors(t), squares(t), squares(t) if amsgrad else [], steps(t),
            1e-2, 0.9, 0.999, weight_decay, 1e-8, amsgrad, maximize, decoupled)  # fmt: skip


def sgd_case(t, momentum, dampening, weight_decay, nesterov, maximize, first):
    return (tensors(t), tensors(t), tensors(t) if momentum else [], 1e-2, momentum, dampening, weight_decay, nesterov, maximize, first)


O("_adam_", adam, ulp=64, halves=8, specials=False, scale="max", result="LISTED", cases=lambda t: [
    adam_case(t, 0.0, False, False, False), adam_case(t, 0.1, True, False, False), adam_case(t, 0.1, False, True, True),
])  # fmt: skip
O("_sgd_", sgd, ulp=16, halves=4, specials=False, scale="max", result="LISTED", cases=lambda t: [
    sgd_case(t, 0.0, 0.0, 0.0, False, False, True), sgd_case(t, 0.9, 0.0, 0.1, False, True, True),
    sgd_case(t, 0.9, 0.0, 0.1, True, False, False), sgd_case(t, 0.9, 0.5, 0.0, False, False, False),
])  # fmt: skip
