"""LDL factors of symmetric or Hermitian matrices: the pivoting of Bunch and Kaufman (1977), Math. Comp. 31(137), lower triangle.

Pivots count as LAPACK's sytrf (lower): p > 0, a 1x1 block, whose row was exchanged with row p; two negatives -p, a 2x2 block, whose second row
was exchanged with row p.
"""

import numpy as np

ALPHA = (1 + np.sqrt(17)) / 8  # bounds the growth of elements equally for blocks of both sizes


def _size(x):
    return abs(x.real) + abs(x.imag) if np.iscomplexobj(x) else abs(x)


def factor(a, hermitian):
    """(LD, pivots, info) of one matrix, whose lower triangle is read, and of a Hermitian one's diagonal the real part."""
    a = np.array(a)
    n = len(a)
    hermitian = hermitian and np.iscomplexobj(a)
    if hermitian:
        np.fill_diagonal(a, a.diagonal().real)
    twin = np.conj if hermitian else (lambda v: v)
    pivots, info, k = np.zeros(n, np.int32), 0, 0
    while k < n:
        step, p = _choose(a, k, hermitian)
        if step == 0:
            info = info or k + 1
            step, p = 1, k
        else:
            _exchange(a, k + step - 1, p, k, twin)
            if step == 1:
                d, column = a[k, k], a[k + 1 :, k].copy()
                a[k + 1 :, k + 1 :] -= np.tril(np.outer(column, twin(column)) / d)
                a[k + 1 :, k] = column / d
            else:
                d = np.array([[a[k, k], twin(a[k + 1, k])], [a[k + 1, k], a[k + 1, k + 1]]])
                columns = a[k + 2 :, k : k + 2].copy()
                low = np.linalg.solve(d.T, columns.T).T
                a[k + 2 :, k + 2 :] -= np.tril(low @ twin(columns).T)
                a[k + 2 :, k : k + 2] = low
        pivots[k : k + step] = p + 1 if step == 1 else -(p + 1)
        k += step
    return np.tril(a), pivots, np.int32(info)


def _choose(a, k, hermitian):
    """(1 or 2 rows, row to exchange); (0, k) where the column is zero."""
    diagonal = abs(a[k, k].real) if hermitian else _size(a[k, k])
    below = _size(a[k + 1 :, k])
    r = k + 1 + int(below.argmax()) if len(below) else k
    largest = below.max() if len(below) else 0.0
    if max(diagonal, largest) == 0 or np.isnan(diagonal):
        return 0, k
    if diagonal >= ALPHA * largest:
        return 1, k
    row = max(_size(a[r, k:r]).max(), _size(a[r + 1 :, r]).max() if r + 1 < len(a) else 0.0)
    if diagonal >= ALPHA * largest * (largest / row):
        return 1, k
    return (1, r) if (abs(a[r, r].real) if hermitian else _size(a[r, r])) >= ALPHA * row else (2, r)


def _exchange(a, i, p, k, twin):
    """Rows and columns i < p exchanged, in the lower triangle from column k on."""
    if i == p:
        return
    a[p + 1 :, [i, p]] = a[p + 1 :, [p, i]]
    middle = twin(a[i + 1 : p, i]).copy()
    a[i + 1 : p, i] = twin(a[p, i + 1 : p])
    a[p, i + 1 : p] = middle
    a[p, i] = twin(a[p, i])
    a[i, i], a[p, p] = a[p, p], a[i, i]
    a[[i, p], k:i] = a[[p, i], k:i]


def solve(ld, pivots, b, hermitian):
    """X in A X = b from A's factors. A = P1 L1 P2 L2 ... D ... L2^T P2 L1^T P1: each factor undone in turn."""
    x = np.array(b)
    twin = np.conj if hermitian and np.iscomplexobj(ld) else (lambda v: v)
    blocks, k = [], 0
    while k < len(ld):
        step = 1 if pivots[k] > 0 else 2
        blocks.append((k, step, abs(int(pivots[k])) - 1))
        k += step
    for k, step, p in blocks:
        _swap(x, k + step - 1, p)
        x[k + step :] -= ld[k + step :, k : k + step] @ x[k : k + step]
    for k, step, _ in blocks:
        d = ld[k : k + step, k : k + step].copy()
        if step == 2:
            d[0, 1] = twin(d[1, 0])
        elif hermitian:
            d = d.real.astype(d.dtype)
        x[k : k + step] = np.linalg.solve(d, x[k : k + step]) if d[0, 0] or step == 2 else x[k : k + step] / d
    for k, step, p in reversed(blocks):
        x[k : k + step] -= twin(ld[k + step :, k : k + step]).T @ x[k + step :]
        _swap(x, k + step - 1, p)
    return x


def _swap(x, i, p):
    if i != p:
        x[[i, p]] = x[[p, i]]
