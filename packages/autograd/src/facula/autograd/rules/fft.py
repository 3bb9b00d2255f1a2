"""Derivatives of Fourier transforms: transforms the other way, for that is the conjugate transpose of a transform."""

import facula as F

from .._core import row
from .._table import D

D("_fft_c2c", node="FftC2CBackward0", real=True, x=lambda g, dim, norm, forward: row("_fft_c2c")(g, dim, norm, not forward))
D("_fft_r2c", node="FftR2CBackward0", real=True, x=lambda g, x_shape, dim, norm, onesided: of_half(g, x_shape, dim, norm, onesided))
D("_fft_c2r", node="FftC2RBackward0", real=True, x=lambda g, x_shape, dim, norm: of_whole(g, x_shape, dim, norm))


def of_half(g, x_shape, dim, norm, onesided) -> F.Tensor:
    """Of a real signal, from the gradient of its spectrum (or of the first half of it: the rest had no influence)."""
    missing = x_shape[dim[-1]] - g.shape[dim[-1]]
    if onesided and missing:
        shape = list(g.shape)
        shape[dim[-1]] = missing
        g = F.cat([g, F.zeros(shape, dtype=g.dtype, device=g.device)], dim[-1])
    return row("_fft_c2c")(g, dim, norm, False).real


def of_whole(g, x_shape, dim, norm) -> F.Tensor:
    """Of half a spectrum: every term that has a conjugate twin on the other side counted for both."""
    half = row("_fft_r2c")(g, dim, norm, True)
    d, size = dim[-1], x_shape[dim[-1]]
    twins = g.shape[d] - size
    counts = [1.0] + [2.0] * twins + [1.0] * (size - 1 - twins)
    shape = [1] * g.ndim
    shape[d] = size
    return half * F.tensor(counts, dtype=g.dtype, device=g.device).reshape(shape)
