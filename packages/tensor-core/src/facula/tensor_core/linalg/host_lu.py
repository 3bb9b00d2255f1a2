"""LU with row exchanges, triangular systems and a Cholesky that says where it fails: what NumPy does not offer, over NumPy arrays."""

import numpy as np

PANEL = 32  # columns that are eliminated before the rest of the matrix is touched, by one product


def _size(x):
    """How large pivots are: |re| + |im|, as LAPACK compares them."""
    return abs(x.real) + abs(x.imag) if np.iscomplexobj(x) else abs(x)


def factor(a):
    """(LU, pivots from 1, info) of a stack (B, m, n): right-looking, by panels. info: 1 + the first zero pivot's place, else 0."""
    lu = np.array(a)
    count, m, n = lu.shape
    k = min(m, n)
    pivots, info = np.zeros((count, k), np.int32), np.zeros(count, np.int32)
    every = np.arange(count)
    for start in range(0, k, PANEL):
        stop = min(start + PANEL, k)
        for j in range(start, stop):
            p = j + _size(lu[:, j:, j]).argmax(1) if m > j + 1 else np.full(count, j)
            pivots[:, j] = p + 1
            lu[every, j], lu[every, p] = lu[every, p], lu[every, j].copy()
            pivot = lu[:, j, j]
            zero = pivot == 0
            info[zero & (info == 0)] = j + 1
            lu[:, j + 1 :, j] /= np.where(zero, 1, pivot)[:, None]
            lu[:, j + 1 :, j + 1 : stop] -= lu[:, j + 1 :, j, None] * lu[:, j, None, j + 1 : stop]
        if stop < n:
            forward(lu[:, start:stop, start:stop], lu[:, start:stop, stop:], True)
            lu[:, stop:, stop:] -= lu[:, stop:, start:stop] @ lu[:, start:stop, stop:]
    return lu, pivots, info


def forward(low, x, unit):
    """x becomes the solution of low X = x, low's upper triangle not read. By halves, so that most of it is products."""
    n = low.shape[-1]
    if n > PANEL:
        half = n // 2
        forward(low[..., :half, :half], x[..., :half, :], unit)
        x[..., half:, :] -= low[..., half:, :half] @ x[..., :half, :]
        forward(low[..., half:, half:], x[..., half:, :], unit)
        return
    for i in range(n):
        if i:
            x[..., i, :] -= (low[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
        if not unit:
            x[..., i, :] /= low[..., i, i, None]


def cholesky(a):
    """(L, info) of one matrix; where a minor is not positive, its order, and L up to there."""
    low = np.tril(a)
    for j in range(len(a)):
        row = low[j, :j]
        d = low[j, j].real - (row * row.conj()).sum().real
        if not d > 0:
            return low, np.int32(j + 1)
        low[j, j] = np.sqrt(d)
        low[j + 1 :, j] = (low[j + 1 :, j] - low[j + 1 :, :j] @ row.conj()) / low[j, j]
    return low, np.int32(0)
