"""Dims in another order: permuting, moving, transposing, and the order in which they lie in memory."""

from functools import lru_cache

from facula.tensor_core import _ops, _warned
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core.dispatch.arguments import ints, listed, sequence, whole
from facula.tensor_core.dispatch.kinds import check, want_ints, want_tensor
from facula.tensor_core.dispatch.slow import GOES_ON, one_step
from facula.tensor_core.functions.shape import _alone, wrap_dim


def order_in_memory(input):
    """The dims of a copy of input, from the one with the greatest stride on; None if that is their own order."""
    if input.is_contiguous() or input.dim() < 2:
        return None
    if len(shape := input.shape) == 2 and shape[0] > 1 and shape[1] > 1 and 0 < input.stride(0) != input.stride(1) > 0:
        return (1, 0) if input.stride(0) < input.stride(1) else None
    like = lib.tensor_of(lib.fc_empty_like(input._h, lib.fc_dtype(input._h), 1))
    return None if like.is_contiguous() else sorted(range(input.dim()), key=like.stride, reverse=True)


@one_step(permute=GOES_ON)
def back_in_order(t, order):
    """A tensor that nobody else has and whose dims were permuted by order, as it was."""
    return _alone(_ops.permute(t, order if len(order) == 2 else [order.index(d) for d in range(len(order))]))


def lying_as(t, input):
    """t, of input's shape and contiguous, where a copy of input would lie: itself, or a copy."""
    order = order_in_memory(input)
    if order is None:
        return with_ones(t, input)
    if t._origin is None and not _ops.interpreting and (like := lib.empty_like(input._h, lib.fc_dtype(t._h), 1)) is not None:  # 1.3 us for what stands below
        lib.fc_copy(like._h, t._h)
        lib.fc_fresh(like._h)
        return like
    return with_ones(back_in_order(_ops.copy(_ops.permute(t, order), None, 0), order), input)


def with_ones(t, input):
    """t, which nobody else has and which lies as a copy of input, its dims of size 1 too."""
    if 1 in input.shape:
        lib.fc_lie_as(t._h, lib.fc_empty_like(input._h, lib.fc_dtype(input._h), 1))
    return t


def permute(input, dims):
    """Dims in another order, as a view.

    >>> import facula
    >>> facula.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if type(input) is not Tensor:
        want_tensor("permute", "input", 0, input)
    return _ops.permute(input, sequence("permute", "dims", dims))


def permuted(self, *order, dims=None):
    """permute, with dims one by one too: the method.

    >>> facula.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    return _ops.permute(self, ints(order) if order and dims is None else listed("permute", "dims", order, dims))


@one_step(transpose="TBackward0", alias="TBackward0")
def t(input):
    """The transpose of a matrix; tensors of fewer dims stay. Raises RuntimeError for more.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.t(x)
    tensor([[1, 3],
            [2, 4]])
    >>> x.t()
    tensor([[1, 3],
            [2, 4]])
    """
    if type(input) is not Tensor:
        want_tensor("t", "input", 0, input)
        if input.is_sparse and (input.dim() > 2 or input.dense_dim()):
            raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim()} sparse and {input.dense_dim()} dense dimensions. Use transpose.")
    n = input.dim()
    if n > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {n}D. Use transpose or mT.")
    return _ops.transpose(input, 0, 1) if n == 2 else input if input.is_sparse else _ops.alias(input)


def _reversed_dims(self):
    """The transpose of a matrix. Of tensors of other than two dims, the dims in reverse, which PyTorch deprecates.

    >>> facula.tensor([[1, 2, 3]]).T
    tensor([[1],
            [2],
            [3]])
    """
    n = self.dim()
    if n != 2:
        other = "This function is the identity there." if not n else "Use x.mT to transpose batches of matrices or x.permute(*range(x.ndim - 1, -1, -1)) to reverse the dims."
        _warned.once(f"The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated, and this one has {n}. {other}", of="x.T")
    return _ops.permute(self, tuple(range(self.dim() - 1, -1, -1)))


def _hermitian(self):
    """The conjugate transpose of a matrix.

    >>> facula.tensor([[1 + 1j, 2], [3, 4]]).H
    tensor([[1.-1.j, 3.-0.j],
            [2.-0.j, 4.-0.j]])
    """
    n = self.dim()
    if n not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{' For batches of matrices, consider using tensor.mH' if n > 2 else ''}")
    return adjoint(self)


def _matrix_transposed(self):
    """The last two dims exchanged. Raises RuntimeError for tensors of one dim.

    >>> facula.zeros(4, 2, 3).mT.shape
    torch.Size([4, 3, 2])
    """
    if not self.shape:
        return self
    if self.dim() < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor.")
    return _ops.transpose(self, -2, -1)


def movedim(input, source, destination):
    """Dims moved to other places; the rest keep their order.

    >>> x = facula.zeros(2, 3, 4)
    >>> facula.movedim(x, 0, -1).shape
    torch.Size([3, 4, 2])
    >>> x.movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    if type(input) is not Tensor:
        want_tensor("movedim", "input", 0, input)
    n = input.dim()
    if n and type(source) is type(destination) is int and -n <= source < n and -n <= destination < n:
        order = list(range(n))
        order.insert(destination % n, order.pop(source % n))
        return _ops.permute(input, order)
    if whole(source) and whole(destination):  # both are one, or both several
        check("movedim", "source", 1, "int", source)
        check("movedim", "destination", 2, "int", destination)
    else:
        want_ints("movedim", "source", 1, source)
        want_ints("movedim", "destination", 2, destination)
    source, destination = (tuple([d if isinstance(d, int) else d.__index__() for d in ((dims,) if whole(dims) else dims)]) for dims in (source, destination))
    if len(source) != len(destination):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number of dims as destination ({list(destination)} dims)")
    return _ops.permute(input, _moved(n, source, destination))


@lru_cache(maxsize=256)
def _moved(n, source, destination):
    """The order of n dims in which those of source stand at destination."""
    given = ("source", source), ("destination", destination)
    source, destination = ([wrap_dim("movedim", d, n) for d in dims] for _, dims in given)
    for (word, named), dims in zip(given, (source, destination)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{word}` ({list(named)}). Name each once.")
    order = [d for d in range(n) if d not in source]
    for at, d in sorted(zip(destination, source)) if n else ():
        order.insert(at, d)
    return tuple(order)


moveaxis = movedim


def swapaxes(input, axis0, axis1):
    """transpose(axis0, axis1).

    >>> x = facula.zeros(2, 3)
    >>> facula.swapaxes(x, 0, 1).shape
    torch.Size([3, 2])
    >>> x.swapaxes(0, 1).shape
    torch.Size([3, 2])
    """
    if type(input) is not Tensor:
        want_tensor("swapaxes", "input", 0, input)
    return _ops.transpose(input, axis0, axis1)


def swapdims(input, dim0, dim1):
    """transpose.

    >>> x = facula.zeros(2, 3)
    >>> facula.swapdims(x, 0, 1).shape
    torch.Size([3, 2])
    >>> x.swapdims(0, 1).shape
    torch.Size([3, 2])
    """
    return swapaxes(input, dim0, dim1)


def adjoint(input):
    """The conjugate transpose of the last two dims.

    >>> x = facula.tensor([[1 + 1j, 2], [3, 4]])
    >>> facula.adjoint(x)
    tensor([[1.-1.j, 3.-0.j],
            [2.-0.j, 4.-0.j]])
    >>> x.mH.equal(x.adjoint())
    True
    """
    if type(input) is not Tensor:
        want_tensor("adjoint", "input", 0, input)
    if input.dim() < 2:
        if not input.shape:
            return input.conj()
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _ops.transpose(input, -2, -1).conj() if input.is_complex() else _ops.transpose(input, -2, -1)


__all__ = ["adjoint", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t"]
METHODS = __all__
