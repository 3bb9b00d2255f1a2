"""What the distributions share: broadcasting numbers and tensors, probabilities and logits, cached properties."""

from __future__ import annotations

from numbers import Number

import facula

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix"]


def broadcast_all(*values):
    """Tensors of one shape; numbers take the dtype of the first tensor, or the default one.

    >>> facula.distributions.utils.broadcast_all(1.0, facula.tensor([2.0, 3.0]))
    (tensor([1., 1.]), tensor([2., 3.]))
    """
    wrong = [value for value in values if not isinstance(value, (int, float, facula.Tensor))]
    if wrong:
        raise ValueError(
            f"broadcast_all: Input arguments must all be real numbers or Tensors, got {type(wrong[0]).__name__}. "
            "Give numbers or tensors."
        )
    dtype = next((v.dtype for v in values if isinstance(v, facula.Tensor)), facula.get_default_dtype())
    return facula.broadcast_tensors(
        *(v if isinstance(v, facula.Tensor) else facula.tensor(v, dtype=dtype) for v in values)
    )


def is_number(*values) -> bool:
    return all(isinstance(value, Number) for value in values)


def standard_normal(shape, dtype) -> facula.Tensor:
    return facula.empty(shape, dtype=dtype).normal_()


def sum_rightmost(value, dims: int) -> facula.Tensor:
    """`value` summed over its last `dims` dimensions."""
    return value.reshape(value.shape[:-dims] + (-1,)).sum(-1) if dims else value


def clamp_probs(probs) -> facula.Tensor:
    """Probabilities kept inside (0, 1) by one machine epsilon.

    >>> facula.distributions.utils.clamp_probs(facula.tensor([0.0, 0.5])) > 0
    tensor([True, True])
    """
    eps = facula.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary: bool = False) -> facula.Tensor:
    """The probabilities of logits: their softmax along the last dim, or, is_binary, their sigmoid.

    >>> facula.distributions.utils.logits_to_probs(facula.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """
    return facula.sigmoid(logits) if is_binary else facula.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary: bool = False) -> facula.Tensor:
    """The logits of probabilities: their logarithm, or, is_binary, the logarithm of the odds.

    >>> facula.distributions.utils.probs_to_logits(facula.tensor([0.5, 0.75]), is_binary=True)
    tensor([0.0000, 1.0986])
    """
    clamped = clamp_probs(probs)
    return facula.log(clamped) - facula.log1p(-clamped) if is_binary else facula.log(clamped)


def tril_matrix_to_vec(mat, diag: int = 0) -> facula.Tensor:
    """The lower triangles of matrices (..., D, D), row by row; diag as in facula.tril.

    >>> facula.distributions.utils.tril_matrix_to_vec(facula.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec: diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = facula.tril_indices(n, n, diag, device=mat.device)
    return mat.flatten(-2).index_select(-1, rows * n + columns)


def vec_to_tril_matrix(vec, diag: int = 0) -> facula.Tensor:
    """The matrices whose lower triangles, row by row, are the vectors (..., N).

    >>> facula.distributions.utils.vec_to_tril_matrix(facula.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    size = vec.shape[-1]
    n = round((-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * size + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2)
    rows, columns = facula.tril_indices(n, n, diag, device=vec.device)
    if rows.numel() != size:
        raise ValueError(f"vec_to_tril_matrix: The size of last dimension is {size} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    return vec.new_zeros(vec.shape[:-1] + (n * n,)).index_copy(-1, rows * n + columns, vec).reshape(vec.shape[:-1] + (n, n))


def softplus(x):
    """log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow."""
    # At 0 relu has slope 0 and clamp slope 1: half of each gives softplus its slope of 1/2; halved first, or the largest numbers overflow.
    return 0.5 * facula.relu(x) + 0.5 * x.clamp(min=0) + facula.log1p(facula.exp(-x.abs()))


def bernoulli_log_prob(logits, value) -> facula.Tensor:
    """value * log p + (1 - value) * log(1 - p), from logits: -softplus(-l) = log p, and log(1 - p) = log p - l.

    It has value's dtype, as PyTorch's loss has its target's: RuntimeError where that is no floating one."""
    logits, value = broadcast_all(logits, value)
    if not value.is_floating_point():
        raise RuntimeError(f"log_prob: result type {logits.dtype} can't be cast to that of value, {value.dtype}. Give value.float().")
    return (value * logits - softplus(logits)).to(value.dtype)


class lazy_property:
    """A method computed at first use and kept as an attribute; it may need gradients, whatever the mode then.

    >>> class Circle:
    ...     @facula.distributions.utils.lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    ...
    >>> circle = Circle()
    >>> circle.area
    computed
    3.14
    >>> circle.area
    3.14
    """

    def __init__(self, function) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with facula.enable_grad():
            value = self.function(instance)
        setattr(instance, self.function.__name__, value)
        return value
