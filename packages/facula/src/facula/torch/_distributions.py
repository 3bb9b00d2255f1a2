"""torch.distributions: helpers under the names that libraries of distributions import."""

from __future__ import annotations

from facula.distributions import utils

_sum_rightmost = utils.sum_rightmost


def _standard_normal(shape, dtype, device):
    """Standard normal numbers of that shape."""
    return utils.standard_normal(shape, dtype).to(device)
