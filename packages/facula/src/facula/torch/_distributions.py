"""torch.distributions: helpers under the names that libraries of distributions import."""

from __future__ import annotations

import facula
from facula.distributions import utils

_sum_rightmost = utils.sum_rightmost


def _standard_normal(shape, dtype, device):
    """Standard normal numbers of that shape."""
    return utils.standard_normal(shape, dtype).to(device)


def _clipped_sigmoid(x):
    """The logistic function, held inside the open interval from 0 to 1."""
    finfo = facula.finfo(x.dtype)
    return x.sigmoid().clamp(min=finfo.tiny, max=1.0 - finfo.eps)


def _batch_mv(bmat, bvec):
    """Matrices times vectors, batch by batch."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL, bx):
    """|L^-1 x|^2 of each vector x, L the lower factors of covariances; batch dims broadcast."""
    solved = facula.linalg.solve_triangular(bL, bx.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).square().sum(-1)


def _precision_to_scale_tril(P):
    """The lower factor of a covariance from its inverse: that of P's reversed rows and columns, turned back and inverted."""
    turned = facula.linalg.cholesky(P.flip(-2, -1)).flip(-2, -1).mT
    return facula.linalg.solve_triangular(turned, facula.eye(P.shape[-1], dtype=P.dtype), upper=False)
