"""Transforms onto simplices and matrices, of shapes, of parts, and by distribution functions."""

from __future__ import annotations

import math

import facula

from . import constraints
from ._transform import Transform
from ._transforms_elementwise import SigmoidTransform
from .utils import softplus, sum_rightmost


class SoftmaxTransform(Transform):
    """y = exp(x) / sum(exp(x)): onto the simplex, not a bijection; its inverse is the logarithm.

    >>> facula.distributions.SoftmaxTransform()(facula.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return facula.softmax(x, dim=-1)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """From K - 1 numbers to the simplex of K, by the shares that a stick is broken into.

    Source: Stan Reference Manual, section "Unit simplex", with its offset of log(K - k).

    >>> facula.distributions.StickBreakingTransform()(facula.tensor([0.0, 0.0]))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _shares(self, x):
        left = x.shape[-1] + 1 - facula.ones(x.shape[-1:], dtype=x.dtype).cumsum(-1)
        return x - left.log()

    def _call(self, x):
        z = SigmoidTransform()._call(self._shares(x))
        rest = (1 - z).cumprod(-1)
        one = facula.ones(x.shape[:-1] + (1,), dtype=x.dtype)
        return facula.cat([z, one], -1) * facula.cat([one, rest], -1)

    def _inverse(self, y):
        head = y[..., :-1]
        left = y.shape[-1] - facula.ones(head.shape[-1:], dtype=y.dtype).cumsum(-1)
        rest = (1 - head.cumsum(-1)).clamp(min=facula.finfo(y.dtype).tiny)
        return head.log() - rest.log() + left.log()

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        x = self._shares(x)
        return (-x - softplus(-x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return self._longer(shape, 1)

    def inverse_shape(self, shape):
        return self._longer(shape, -1)

    @staticmethod
    def _longer(shape, by: int):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input: one of 1 dim or more is wanted.")
        return (*shape[:-1], shape[-1] + by)


class LowerCholeskyTransform(Transform):
    """A square matrix's lower triangle with the exponential of its diagonal.

    >>> facula.distributions.LowerCholeskyTransform()(facula.tensor([[0.0, 5.0], [3.0, 0.0]]))
    tensor([[1., 0.],
            [3., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class CorrCholeskyTransform(Transform):
    """From D (D - 1) / 2 numbers to the Cholesky factor of a correlation matrix of size D.

    tanh(x) are the canonical partial correlations; each row breaks a stick of squared length 1.
    Source: Stan Reference Manual, section "Cholesky factors of correlation matrices".

    >>> factor = facula.distributions.CorrCholeskyTransform()(facula.tensor([0.5]))
    >>> factor @ factor.T
    tensor([[1.0000, 0.4621],
            [0.4621, 1.0000]])
    """

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        eps = facula.finfo(x.dtype).eps
        x = x.tanh().clamp(min=-1 + eps, max=1 - eps)
        size = self.forward_shape(x.shape)[-1]
        rows, columns = facula.tril_indices(size, size, -1, device=x.device)
        r = x.new_zeros(x.shape[:-1] + (size * size,)).index_copy(-1, rows * size + columns, x).reshape(x.shape[:-1] + (size, size))
        left = (1 - r**2).sqrt().cumprod(-1)
        before = facula.cat([facula.ones_like(left[..., :1]), left[..., :-1]], -1)  # what is left of the stick before each break
        return (r + facula.eye(size, dtype=x.dtype)) * before

    @staticmethod
    def _below(matrix, diag):
        size = matrix.shape[-1]
        rows, columns = facula.tril_indices(size, size, diag, device=matrix.device)
        return matrix.flatten(-2).index_select(-1, rows * size + columns)

    def _inverse(self, y):
        left = 1 - (y * y).cumsum(-1)
        before = facula.cat([facula.ones_like(left[..., :1]), left[..., :-1]], -1)
        t = self._below(y, -1) / self._below(before, -1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        left = 1 - (y * y).cumsum(-1)
        sticks = 0.5 * self._below(left, -2).log().sum(-1)
        return sticks - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError(f"CorrCholeskyTransform: Too few dimensions on input: {tuple(shape)}.")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError(f"CorrCholeskyTransform: Input is not a flattened lower-diagonal number: {shape[-1]}. Give D (D - 1) / 2 of them.")
        return facula.Size(shape[:-1]) + (size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise ValueError(f"CorrCholeskyTransform: Input is not square: {tuple(shape)}.")
        return facula.Size(shape[:-2]) + (shape[-1] * (shape[-1] - 1) // 2,)


class PositiveDefiniteTransform(Transform):
    """L L^T of a square matrix's lower triangle with the exponential of its diagonal.

    >>> facula.distributions.PositiveDefiniteTransform()(facula.tensor([[0.0, 5.0], [3.0, 0.0]]))
    tensor([[ 1.,  3.],
            [ 3., 10.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(facula.linalg.cholesky(y))


class CumulativeDistributionTransform(Transform):
    """A distribution's cdf: its values become uniform on [0, 1].

    >>> facula.distributions.CumulativeDistributionTransform(facula.distributions.Normal(0.0, 1.0))(facula.tensor([0.0, 2.0]))
    tensor([0.5000, 0.9772])
    """

    codomain, bijective, sign = constraints.unit_interval, True, 1

    def __init__(self, distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self):
        return self.distribution.support

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return self.distribution.log_prob(x)


class ReshapeTransform(Transform):
    """Events of one shape seen in another.

    >>> facula.distributions.ReshapeTransform((4,), (2, 2))(facula.arange(4.0))
    tensor([[0., 1.],
            [2., 3.]])
    """

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = facula.Size(in_shape), facula.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"ReshapeTransform: in_shape, out_shape have different numbers of elements: {tuple(in_shape)}, {tuple(out_shape)}.")

    @property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _exchanged(shape, old, new):
        cut = len(shape) - len(old)
        if cut < 0 or facula.Size(shape[cut:]) != old:
            raise ValueError(f"ReshapeTransform: Shape mismatch: expected {tuple(old)} at the end of {tuple(shape)}.")
        return facula.Size(shape[:cut]) + new

    def forward_shape(self, shape):
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._exchanged(shape, self.out_shape, self.in_shape)


class _Parts(Transform):
    """Transforms side by side along a dimension. Subclasses take a tensor apart and put the parts together."""

    def __init__(self, tseq, dim: int, cache_size: int) -> None:
        super().__init__(cache_size)
        tseq = list(tseq)
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError(f"{type(self).__name__}: all elements of tseq must be Transform instances, got {tseq}.")
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else tseq
        self.dim = dim

    def _checked(self, x, length):
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"{type(self).__name__}: dim {self.dim} out of range for a tensor with {x.dim()} dimensions.")
        if x.shape[self.dim] != length:
            raise AssertionError(f"{type(self).__name__}: size {x.shape[self.dim]} at dim {self.dim} must equal {length}.")
        return x

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _call(self, x):
        return self._joined([t(part) for t, part in zip(self.transforms, self._apart(x))])

    def _inverse(self, y):
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._apart(y))])

    def _logs(self, x, y):
        return [t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, self._apart(x), self._apart(y))]


class CatTransform(_Parts):
    """Each transform on its piece, of its length, along dim.

    >>> facula.distributions.CatTransform([facula.distributions.ExpTransform(), facula.distributions.AffineTransform(0.0, 10.0)], lengths=[1, 2])(facula.tensor([0.0, 1.0, 2.0]))
    tensor([ 1., 10., 20.])
    """

    def __init__(self, tseq, dim: int = 0, lengths=None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"CatTransform: lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)}).")

    @property
    def event_dim(self) -> int:
        return max(t.codomain.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _apart(self, x):
        return self._checked(x, self.length).split(self.lengths, self.dim)

    def _joined(self, parts):
        return facula.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        logs = [sum_rightmost(log, self.event_dim - t.codomain.event_dim) for t, log in zip(self.transforms, self._logs(x, y))]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return facula.cat(logs, dim) if dim < 0 else sum(logs)


class StackTransform(_Parts):
    """Each transform on its slice along dim.

    >>> facula.distributions.StackTransform([facula.distributions.ExpTransform(), facula.distributions.AffineTransform(0.0, 10.0)])(facula.tensor([0.0, 1.0]))
    tensor([ 1., 10.])
    """

    def __init__(self, tseq, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _apart(self, x):
        return self._checked(x, len(self.transforms)).unbind(self.dim)

    def _joined(self, parts):
        return facula.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y) -> facula.Tensor:
        return facula.stack(self._logs(x, y), self.dim)
