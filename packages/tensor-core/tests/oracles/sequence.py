"""Recurrences, alignments, resampling. Gradients are five-point differences of the forward oracle in long double: exact for
polynomials of degree four, else good to about 1e-15."""

from itertools import product

import numpy as np

from . import O

HOW = dict(ulp=64, halves=16, scale="max", specials=False)


def gradient(f, x, *gs, h=3e-4):
    """d sum(g * f(x)) / dx for the results of f that have a g."""
    x = np.array(x, np.longdouble)
    out = np.zeros_like(x)

    def total(step):
        results = f(x + step)
        return sum(np.sum(g * r) for g, r in zip(gs, results if isinstance(results, tuple) else (results,)) if g is not None)

    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = h
        out[at] = (8 * (total(step) - total(-step)) - (total(2 * step) - total(-2 * step))) / (12 * np.longdouble(h))
    return out


# --- recurrences ----------------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(gates, h0, c0, w_hh, b_hh, w_hr, sizes, mode, reverse):
    h, c = h0.copy(), None if c0 is None else c0.copy()
    starts = np.concatenate([[0], np.cumsum(sizes)])
    out, kept = np.zeros((len(gates), h0.shape[1]), gates.dtype), [None] * len(sizes)
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        n, u = sizes[t], gates[starts[t] : starts[t + 1]]
        p = h[:n] @ w_hh.T + (0 if b_hh is None else b_hh)
        u, p = (np.split(a, (1, 1, 4, 3)[mode], 1) for a in (u, p))
        if mode < 2:
            new = np.tanh(u[0] + p[0]) if mode == 0 else np.maximum(u[0] + p[0], 0)
            kept[t] = np.zeros((n, 0))
        elif mode == 2:
            i, f, g, o = (np.tanh(a + b) if k == 2 else sigmoid(a + b) for k, (a, b) in enumerate(zip(u, p)))
            c[:n] = f * c[:n] + i * g
            new = o * np.tanh(c[:n])
            kept[t] = np.concatenate([i, f, g, o, c[:n]], 1)
        else:
            r, z = sigmoid(u[0] + p[0]), sigmoid(u[1] + p[1])
            m = np.tanh(u[2] + r * p[2])
            new = (1 - z) * m + z * h[:n]
            kept[t] = np.concatenate([r, z, m, p[2]], 1)
        h[:n] = new if w_hr is None else new @ w_hr.T
        out[starts[t] : starts[t + 1]] = h[:n]
    return out, h, np.zeros(0) if c is None else c, np.concatenate(kept)


def rnn_backward(g, g_h, g_c, output, reserve, h0, c0, w_hh, w_hr, sizes, mode, reverse):
    u = ungated(output, reserve, h0, w_hh, sizes, mode, reverse)
    b = np.zeros(w_hh.shape[0], np.longdouble)
    operands = [u, h0, c0, w_hh, b, w_hr]

    def along(k):
        if operands[k] is None:
            return np.zeros(0)
        return gradient(lambda x: rnn(*operands[:k], x, *operands[k + 1 :], sizes, mode, reverse)[:3], operands[k], g, g_h, g_c if mode == 2 else None)

    return tuple(along(k) for k in range(6))


def ungated(output, reserve, h0, w_hh, sizes, mode, reverse):
    """The gates that gave this output, without a bias: the activations undone."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    u = np.zeros((len(output), w_hh.shape[0]), np.longdouble)
    h = h0.copy()
    for t in reversed(range(len(sizes))) if reverse else range(len(sizes)):
        rows = slice(starts[t], starts[t + 1])
        y, kept = output[rows], np.split(reserve[rows], {2: 5, 3: 4}.get(mode, 1), 1)
        p = h[: sizes[t]] @ w_hh.T
        logit = lambda x: np.log(x / (1 - x))  # noqa: E731
        if mode < 2:
            u[rows] = (np.arctanh(y) if mode == 0 else y) - p
        elif mode == 2:
            u[rows] = np.concatenate([logit(kept[0]), logit(kept[1]), np.arctanh(kept[2]), logit(kept[3])], 1) - p
        else:
            r, z, m, pn = kept
            n = r.shape[1]
            u[rows] = np.concatenate([logit(r) - p[:, :n], logit(z) - p[:, n : 2 * n], np.arctanh(m) - r * pn], 1)
        h[: sizes[t]] = y
    return u


def rnn_cases(t):
    for mode, reverse, projected in ((0, False, False), (2, False, False), (2, True, True), (3, False, False), (3, True, False)):
        gates, n, h = (1, 1, 4, 3)[mode], 3, 4
        p = 2 if projected else h
        small = lambda *shape: t.value(t.rng.uniform(-1, 1, shape))  # noqa: E731
        sizes = t.value(np.array([3, 3, 2, 1]), "int64")
        yield (small(9, gates * h), small(n, p), small(n, h) if mode == 2 else None, small(gates * h, p),
               None if projected else small(gates * h), small(p, h) if projected else None, sizes, mode, reverse)  # fmt: skip


def rnn_backward_cases(t):
    for u, h0, c0, w, _, r, sizes, mode, reverse in rnn_cases(t):
        wide = [None if a is None else a.array.astype(np.longdouble) for a in (u, h0, c0, w, None, r)]
        out, h, c, kept = rnn(*wide, sizes.array, mode, reverse)
        yield (t(*out.shape), t(*h.shape), t(*c.shape) if mode == 2 else None, t.value(out), t.wide(kept), h0, c0, w, r, sizes, mode, reverse)


O("_rnn", rnn, result=("SAME", "SAME", "SAME", "STAT"), cases=lambda t: list(rnn_cases(t)), layouts=False, **HOW)
O("_rnn_backward", rnn_backward, cases=lambda t: list(rnn_backward_cases(t)), layouts=False, only=("float32", "float64"), **{**HOW, "ulp": 4096})

# --- alignments: every path, one by one -----------------------------------------------------------------------------------


def collapsed(path, blank):
    return [c for k, c in enumerate(path) if c != blank and (k == 0 or c != path[k - 1])]


def ctc(log_probs, targets, input_lengths, target_lengths, blank, normalised):
    losses = []
    for n, (steps, length) in enumerate(zip(input_lengths, target_lengths)):
        wanted = list(targets[n, :length])
        paths = [p for p in product(range(log_probs.shape[2]), repeat=int(steps)) if collapsed(p, blank) == wanted]
        losses.append(-np.log(sum(np.exp(sum(log_probs[t, n, c] for t, c in enumerate(p))) for p in paths)))
    return np.array(losses), None


def ctc_backward(g, log_probs, targets, input_lengths, target_lengths, loss, alpha, blank, normalised):
    dx = gradient(lambda x: ctc(x, targets, input_lengths, target_lengths, blank, normalised)[0], log_probs, g)
    counted = np.arange(len(log_probs))[:, None, None] < input_lengths[:, None]
    return dx + np.exp(log_probs) * counted * g[:, None] * normalised


def ctc_operands(t, normalised):
    x = t.rng.uniform(-2, 2, (4, 2, 3))
    x -= np.log(np.sum(np.exp(x), 2, keepdims=True))
    return (t.value(x), t.value(np.array([[1, 1], [2, 1]]), "int64"), t.value(np.array([4, 3]), "int64"),
            t.value(np.array([2, 1]), "int64"), 0, normalised)  # fmt: skip


def ctc_backward_operands(t, normalised):
    x, targets, steps, lengths, blank, normalised = ctc_operands(t, normalised)
    loss, _ = ctc(x.array.astype(np.longdouble), targets.array, steps.array, lengths.array, blank, normalised)
    alpha = alphas(x.array.astype(np.longdouble), targets.array, steps.array, lengths.array, blank)
    return t(2), x, targets, steps, lengths, t.wide(loss), t.wide(alpha), blank, normalised


def alphas(x, targets, steps, lengths, blank):
    """Probabilities of prefixes, in logarithms."""
    out = np.zeros((x.shape[1], x.shape[0], 2 * targets.shape[1] + 1), np.longdouble)
    for n in range(len(out)):
        labels = [blank, *(c for k in range(lengths[n]) for c in (targets[n, k], blank))]
        for t in range(steps[n]):
            for s, c in enumerate(labels):
                near = [s] if t == 0 else [s, s - 1] + ([s - 2] if s > 1 and c != labels[s - 2] else [])
                before = (s < 2) if t == 0 else sum(out[n, t - 1, k] for k in near if k >= 0)
                out[n, t, s] = before * np.exp(x[t, n, c])
    with np.errstate(divide="ignore"):
        return np.log(out)


O("_ctc_loss", ctc, result=("SAME", "STAT"), cases=lambda t: [ctc_operands(t, False)], layouts=False, **HOW)
O("_ctc_loss_backward", ctc_backward, cases=lambda t: [ctc_backward_operands(t, k) for k in (False, True)], layouts=False,
  only=("float32", "float64"), **{**HOW, "ulp": 256})  # fmt: skip

# --- resampling -----------------------------------------------------------------------------------------------------


def resample(input, places, weights, dim):
    parts = [np.take(input, np.maximum(p, 0), dim) * (w * (p >= 0)) for ps, ws in zip(places, weights) for p, w in zip(ps, ws)]
    lines = [sum(parts[k : k + places.shape[1]]) for k in range(0, len(parts), places.shape[1])]
    return np.stack(lines, dim)


def resample_backward(g, places, weights, size, dim):
    shape = list(g.shape)
    shape[dim] = size
    out = np.zeros(shape, g.dtype)
    for k, (ps, ws) in enumerate(zip(places, weights)):
        for p, w in zip(ps, ws):
            if p >= 0:
                out.swapaxes(0, dim)[p] += w * np.take(g, k, dim)
    return out


def taps(t):
    return t.value(np.array([[0, 1], [3, -1], [2, 2], [4, 0]]), "int64"), t(4, 2)


O("_resample", resample, cases=lambda t: [(t(2, 5, 3), *taps(t), 1), (t(2, 5), *taps(t), -1), (t(5, 2, 300), *taps(t), 0)], **HOW)
O("_resample_backward", resample_backward, cases=lambda t: [(t(2, 4, 3), *taps(t), 5, 1), (t(2, 4), *taps(t), 6, -1), (t(4, 2, 600), *taps(t), 5, 0)],
  **HOW)  # fmt: skip


def resample_bytes(input, places, weights, dim, bits):
    sums = resample(input.astype(np.int64), places, weights.astype(np.int64), dim)
    return np.clip(np.floor_divide(sums + 2**bits // 2, 2**bits), 0, 255).astype(np.uint8)


def byte_taps(t):
    return t.value(np.array([[0, 1], [3, -1], [2, 2], [4, 0]]), "int64"), t.value(np.array([[20, 12], [32, 5], [-7, 40], [45, -14]]), "int16")


O("_resample_bytes", resample_bytes, only=("uint8",), cases=lambda t: [
    (t(2, 5, 3), *byte_taps(t), 1, 5), (t(37, 5), *byte_taps(t), -1, 5), (t(5, 2, 301), *byte_taps(t), 0, 5), (t(3, 19, 5, 3), *byte_taps(t), 2, 4),
    (t(6, 5), t.value(np.array([[4], [0], [2]]), "int64"), t.value(np.array([[1], [1], [1]]), "int16"), 1, 0)])  # fmt: skip


def grid_sample(input, grid, mode, padding, align_corners):
    n, c, *sizes = input.shape
    dims = len(sizes)
    out = np.zeros((n, c, *grid.shape[1:-1]), np.longdouble)

    def moved(at, size):
        if padding == 2:  # mirrored until it is inside
            low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
            while low < high and not low <= at <= high:
                at = 2 * low - at if at < low else 2 * high - at
            at = at if low < high else np.longdouble(0)
        return at if padding == 0 else min(max(at, 0), size - 1)

    def kernel(x):
        if mode == 0:
            return max(0, 1 - abs(x))
        a, x = -0.75, abs(x)  # Keys
        return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x <= 1 else a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0

    for place in np.ndindex(n, *grid.shape[1:-1]):
        choices = []
        for d, size in enumerate(sizes):
            u = grid[(*place, dims - 1 - d)]
            at = (u + 1) / 2 * (size - 1) if align_corners else ((u + 1) * size - 1) / 2
            if mode != 2:
                at = moved(at, size)
            if mode == 1:
                near = [(np.round(at), 1)]
            else:
                low = np.floor(at)
                near = [(low + j, kernel(at - low - j)) for j in ((0, 1) if mode == 0 else (-1, 0, 1, 2))]
            if mode == 2:
                near = [(np.floor(moved(k, size)), w) for k, w in near]
            choices.append([(int(k), w) for k, w in near if 0 <= k <= size - 1])
        for pick in product(*choices):
            out[(place[0], slice(None), *place[1:])] += input[(place[0], slice(None), *(k for k, _ in pick))] * np.prod([w for _, w in pick])
    return out


def grid_sample_backward(g, input, grid, mode, padding, align_corners):
    rest = (mode, padding, align_corners)
    return gradient(lambda x: grid_sample(x, grid, *rest), input, g, h=1), gradient(lambda y: grid_sample(input, y, *rest), grid, g, h=1e-5)


def affine_grid(theta, sizes, align_corners):
    lines = [np.linspace(-1, 1, n, dtype=np.longdouble) * (1 if align_corners else (n - 1) / np.longdouble(n)) if n > 1 else np.zeros(1, np.longdouble) for n in sizes]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")][::-1] + [np.ones(sizes, np.longdouble)], -1)
    return np.einsum("nij,...j->n...i", theta, places)


def grids(t, *before):
    for mode, padding, align in ((0, 0, True), (0, 1, False), (0, 2, False), (1, 2, True), (2, 0, False), (2, 2, True)):
        yield *before, t(1, 2, 4, 3), t.value(t.rng.uniform(-1.6, 1.6, (1, 1, 5, 2))), mode, padding, align
    yield *([t(1, 1, 1, 1, 4)] if before else []), t(1, 1, 2, 3, 3), t.value(t.rng.uniform(-1.6, 1.6, (1, 1, 1, 4, 3))), 0, 1, False


O("_affine_grid", affine_grid, cases=lambda t: [(t(2, 2, 3), (4, 3), True), (t(1, 2, 3), (1, 6), False), (t(2, 3, 4), (2, 1, 5), False)], **HOW)
O("_grid_sample", grid_sample, cases=lambda t: list(grids(t)), layouts=False, **HOW)
O("_grid_sample_backward", grid_sample_backward, cases=lambda t: list(grids(t, t(1, 2, 1, 5))), layouts=False,
  only=("float32", "float64"), **{**HOW, "ulp": 4096})  # fmt: skip
