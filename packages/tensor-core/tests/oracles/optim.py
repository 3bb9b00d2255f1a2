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


def add_flat(params, vector, alpha):
    ends = np.cumsum([p.size for p in params])
    return tuple(p + alpha * vector[end - p.size : end].reshape(p.shape) for p, end in zip(params, ends))


O("_add_flat_", add_flat, ulp=2, halves=2, specials=False, scale="max", result="LISTED", cases=lambda t: [
    (tensors(t), t(22), 0.5), (tensors(t, 1), t(15), -1e-3), ([t(0, 3), t()], t(1), 2.0),
])  # fmt: skip

# --- formulas.def: each is one parameter's step; `each` runs it over the lists ----------------------------------------------


def each(step):
    """An oracle over lists from a step(p, g, states, t, lr, numbers) -> (p, states) of one parameter."""

    def run(params, grads, lists, steps, maximize, decoupled, lr, weight_decay, *numbers):
        new = []
        for k, (p, g) in enumerate(zip(params, grads)):
            g = -g if maximize else g
            p, g = (p * (1 - lr * weight_decay), g) if decoupled else (p, g + weight_decay * p)
            states = [np.asarray(found[k], np.longdouble) if found else None for found in lists]
            count = steps[k].astype(np.longdouble) + 1
            p, *states = step(p, g, *states, count, lr, *numbers)
            new.append([p, *(s for s in states if s is not None), count])
        return tuple(x for column in zip(*new) for x in column)

    return run


@each
def adagrad_each(p, g, total, t, lr, lr_decay, eps):
    total = total + g * g
    return p - lr / (1 + (t - 1) * lr_decay) * g / (np.sqrt(total) + eps), total


@each
def adadelta_each(p, g, v, d, t, lr, rho, eps):
    v = rho * v + (1 - rho) * g * g
    move = np.sqrt(d + eps) / np.sqrt(v + eps) * g
    return p - lr * move, v, rho * d + (1 - rho) * move * move


@each
def rmsprop_each(p, g, v, mean, buffer, t, lr, alpha, eps, momentum):
    v = alpha * v + (1 - alpha) * g * g
    if mean is not None:
        mean = alpha * mean + (1 - alpha) * g
    move = g / (np.sqrt(v if mean is None else v - mean * mean) + eps)
    if buffer is not None:
        move = buffer = momentum * buffer + move
    return p - lr * move, v, mean, buffer


@each
def adamax_each(p, g, m, u, t, lr, beta1, beta2, eps):
    m, u = beta1 * m + (1 - beta1) * g, np.maximum(beta2 * u, np.abs(g) + eps)
    return p - lr / (1 - beta1**t) * m / u, m, u


@each
def nadam_each(p, g, m, v, product, t, lr, beta1, beta2, eps, momentum_decay):
    now, following = (beta1 * (1 - 0.5 * 0.96 ** (k * momentum_decay)) for k in (t, t + 1))
    m, v, product = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g, np.float32(product) * np.float32(now)  # kept in float32
    product = np.longdouble(product)
    below = np.sqrt(v / (1 - beta2**t)) + eps
    return p - lr * ((1 - now) / (1 - product) * g + following / (1 - product * following) * m) / below, m, v, product


@each
def radam_each(p, g, m, v, t, lr, beta1, beta2, eps):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    most = 2 / (1 - beta2) - 1
    rho = most - 2 * t * beta2**t / (1 - beta2**t)
    move = lr * m / (1 - beta1**t)
    if rho > 5:
        rectified = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        move = move * rectified * np.sqrt(1 - beta2**t) / (np.sqrt(v) + eps)
    return p - move, m, v


@each
def rprop_each(p, g, prev, size, t, lr, less, more, smallest, largest):
    turn = np.sign(g * prev)
    size = np.clip(size * np.where(turn > 0, more, np.where(turn < 0, less, 1)), smallest, largest)
    g = np.where(turn < 0, 0, g)
    return p - np.sign(g) * size, g, size


@each
def asgd_each(p, g, ax, eta, mu, t, lr, lambd, alpha, t0):
    p = p * (1 - lambd * eta) - eta * g
    return p, ax + (p - ax) * mu, lr / (1 + lambd * lr * t) ** alpha, 1 / np.maximum(1, t - t0)


def ones_of(t, *values):
    return [t.value(np.float32(v), "float32") for v in values]


def later(t, at):
    return ones_of(t, at, at + 3)


FORMULA = dict(ulp=64, halves=8, specials=False, scale="max", result="LISTED")
O("_adagrad_", lambda params, grads, state_sums, state_steps, lr, weight_decay, lr_decay, eps, maximize, decoupled:
  adagrad_each(params, grads, [state_sums], state_steps, maximize, decoupled, lr, weight_decay, lr_decay, eps),
  cases=lambda t: [(tensors(t), tensors(t), squares(t), steps(t), 0.1, 0.1, 0.2, 1e-3, True, False)], **FORMULA)  # fmt: skip
O("_adadelta_", lambda params, grads, square_avgs, acc_deltas, state_steps, lr, weight_decay, rho, eps, maximize, decoupled:
  adadelta_each(params, grads, [square_avgs, acc_deltas], state_steps, maximize, decoupled, lr, weight_decay, rho, eps),
  cases=lambda t: [(tensors(t), tensors(t), squares(t), squares(t), steps(t), 0.1, 0.1, 0.9, 1e-3, True, False)], **FORMULA)  # fmt: skip
O("_rmsprop_", lambda params, grads, square_avgs, grad_avgs, momentum_buffers, state_steps, lr, weight_decay, alpha, eps, momentum, maximize, decoupled:
  rmsprop_each(params, grads, [square_avgs, grad_avgs, momentum_buffers], state_steps, maximize, decoupled, lr, weight_decay, alpha, eps, momentum),
  cases=lambda t: [
    (tensors(t), tensors(t), squares(t), [], [], steps(t), 0.1, 0.1, 0.9, 1e-3, 0.0, True, False),
    (tensors(t), tensors(t), squares(t), [], tensors(t), steps(t), 0.1, 0.1, 0.9, 1e-3, 0.5, False, False),
    (tensors(t), tensors(t), [t.value(np.abs(x.array) + 5) for x in tensors(t)], [t.value(0 * x.array) for x in tensors(t)], tensors(t), steps(t),
     0.1, 0.0, 0.9, 1e-3, 0.5, False, False),
  ], **FORMULA)  # fmt: skip
O("_adamax_", lambda params, grads, exp_avgs, exp_infs, state_steps, lr, weight_decay, beta1, beta2, eps, maximize, decoupled:
  adamax_each(params, grads, [exp_avgs, exp_infs], state_steps, maximize, decoupled, lr, weight_decay, beta1, beta2, eps),
  cases=lambda t: [(tensors(t), tensors(t), tensors(t), squares(t), steps(t), 0.1, 0.1, 0.9, 0.99, 1e-2, True, False)], **FORMULA)  # fmt: skip
O("_nadam_", lambda params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps, lr, weight_decay, beta1, beta2, eps, momentum_decay, maximize, decoupled:
  nadam_each(params, grads, [exp_avgs, exp_avg_sqs, mu_products], state_steps, maximize, decoupled, lr, weight_decay, beta1, beta2, eps, momentum_decay),
  cases=lambda t: [(tensors(t), tensors(t), tensors(t), squares(t), ones_of(t, 0.5, 0.25), steps(t), 0.1, 0.1, 0.9, 0.99, 1e-2, 4e-3, m, not m)
                   for m in (True, False)], **FORMULA)  # fmt: skip
O("_radam_", lambda params, grads, exp_avgs, exp_avg_sqs, state_steps, lr, weight_decay, beta1, beta2, eps, maximize, decoupled:
  radam_each(params, grads, [exp_avgs, exp_avg_sqs], state_steps, maximize, decoupled, lr, weight_decay, beta1, beta2, eps),
  cases=lambda t: [(tensors(t), tensors(t), tensors(t), squares(t), later(t, at), 0.1, 0.1, 0.9, 0.99, 1e-2, at == 1, at != 1) for at in (1, 30)],
  **FORMULA)  # fmt: skip
O("_rprop_", lambda params, grads, prevs, step_sizes, state_steps, lr, weight_decay, etaminus, etaplus, smallest, largest, maximize, decoupled:
  rprop_each(params, grads, [prevs, step_sizes], state_steps, maximize, decoupled, lr, weight_decay, etaminus, etaplus, smallest, largest),
  cases=lambda t: [(tensors(t), tensors(t), tensors(t), squares(t), steps(t), 0.1, 0.0, 0.5, 1.25, 0.125, 4.0, True, False)], **FORMULA)  # fmt: skip
O("_asgd_", lambda params, grads, axs, etas, mus, state_steps, lr, weight_decay, lambd, alpha, t0, maximize, decoupled:
  asgd_each(params, grads, [axs, etas, mus], state_steps, maximize, decoupled, lr, weight_decay, lambd, alpha, t0),
  cases=lambda t: [(tensors(t), tensors(t), tensors(t), ones_of(t, 0.1, 0.05), ones_of(t, 1.0, 0.25), steps(t), 0.1, 0.1, 0.125, 0.75, 2.0, True, False)],
  **FORMULA)  # fmt: skip


def adafactor(params, grads, row_vars, col_vars, state_steps, lr, weight_decay, beta2_decay, eps1, eps2, d, maximize):
    new = [[], [], [], []]
    for p, g, row, col, step in zip(params, grads, row_vars, col_vars, state_steps):
        step = step.astype(np.float64) + 1
        fresh, sign = step**beta2_decay, -1 if maximize else 1
        size = max(eps2, np.sqrt((p * p).mean()))
        if p.ndim > 1:
            row = row + fresh * ((g * g).mean(-1, keepdims=True) - row)
            col = col + fresh * ((g * g).mean(-2, keepdims=True) - col)
            v = row * col / np.maximum(row.mean(-2, keepdims=True), eps1)
        else:
            v = row = row + fresh * (g * g - row)
        u = sign * g / np.sqrt(np.maximum(v, eps1 * eps1))
        p = p * (1 - lr * weight_decay) - size * min(lr, step**-0.5) / max(1, np.sqrt((u * u).mean()) / d) * u
        for out, x in zip(new, (p, row, col, step)):
            out.append(x)
    return tuple(x for out in new for x in out)


def adafactor_case(t, *settings):
    counts = steps(t)
    rows = [t.value(np.abs(t(2, 3, 1).array)), t.value(np.abs(t(7).array))]
    return ([t(2, 3, 5), t(7)], [t(2, 3, 5), t(7)], rows, [t.value(np.abs(t(2, 1, 5).array)), counts[1]], counts, *settings)


def bfloat16(x):
    """x rounded to 8 bits."""
    part, power = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(np.round(part * 256), power - 8)


def muon(params, grads, momentum_buffers, lr, weight_decay, momentum, a, b, c, eps, ns_steps, nesterov, match_rms):
    new, buffers = [], []
    for p, g, buffer in zip(params, grads, momentum_buffers):
        buffer = buffer + (1 - momentum) * (g - buffer)
        x = bfloat16(g + momentum * (buffer - g) if nesterov else buffer)
        x = x.T if x.shape[0] > x.shape[1] else x
        x = bfloat16(x / max(bfloat16(np.sqrt((x * x).sum())), bfloat16(eps)))
        for _ in range(ns_steps):
            s = bfloat16(x @ x.T)
            x = bfloat16(a * x + bfloat16(b * s + c * (s @ s)) @ x)
        rows, cols = p.shape
        scale = 0.2 * np.sqrt(max(rows, cols)) if match_rms else np.sqrt(max(1, rows / cols))
        new.append(p * (1 - lr * weight_decay) - lr * scale * (x.T if rows > cols else x))
        buffers.append(buffer)
    return (*new, *buffers)


def muon_case(t, nesterov, match_rms):
    shapes = ((3, 5), (7, 2))
    return (*([t(*s) for s in shapes] for _ in range(3)), 0.1, 0.1, 0.9, 3.4445, -4.775, 2.0315, 1e-7, 3, nesterov, match_rms)


O("_adafactor_", adafactor, cases=lambda t: [adafactor_case(t, 0.1, 0.1, -0.8, 1e-3, 1e-2, 1.5, m) for m in (True, False)], **FORMULA)
O("_muon_", muon, cases=lambda t: [muon_case(t, m, not m) for m in (True, False)], **FORMULA)
