"""Conjugate and negative views: the same memory under a bit that says what is still to be done to the elements.

Only views, copies and fills look through the bit; for every other row the binding makes a copy in which it is done, and writes
back through the view what the row wrote (docs/decisions/047). So nothing above the rows has to know of it, except what reads memory itself.
"""

from facula.tensor_core import _ops
from facula.tensor_core.dispatch.kinds import want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import strided

CONJ, NEG = 1, 2  # bits of lib.fc_lazy


def conj(input):
    """The complex conjugate, as a view: nothing is computed before the elements are needed. A real tensor itself.

    >>> import facula
    >>> z = facula.tensor([1 + 2j])
    >>> z.conj().is_conj(), z.conj().data_ptr() == z.data_ptr()
    (True, True)
    """
    if type(input) is not Tensor:
        want_tensor("conj", "input", 0, input)
    if not input.is_complex():
        return input
    return _ops._conj(input) if input.layout is strided else _ops.conj_physical(input)


def conj_physical(input, *, out=None):
    """The complex conjugate, computed; a real tensor itself.

    >>> x = facula.tensor([1 + 2j])
    >>> facula.conj_physical(x)
    tensor([1.-2.j])
    >>> x.conj_physical()
    tensor([1.-2.j])
    """
    if type(input) is not Tensor:
        want_tensor("conj_physical", "input", 0, input)
    if out is None and not input.is_complex():
        return input
    return _ops.conj_physical(input, out=out)


def resolve_conj(input):
    """A copy in which the conjugation is done, or input itself where there is none to do.

    >>> x = facula.tensor([1j]).conj()
    >>> facula.resolve_conj(x).is_conj()
    False
    >>> x.resolve_conj().is_conj()
    False
    """
    if type(input) is not Tensor:
        want_tensor("resolve_conj", "input", 0, input)
    return _ops.copy(input, None, 1) if is_conj(input) else input


def resolve_neg(input):
    """A copy in which the negation is done, or input itself where there is none to do.

    >>> x = facula.tensor([1j]).conj().imag
    >>> facula.resolve_neg(x).is_neg()
    False
    >>> x.resolve_neg().is_neg()
    False
    """
    if type(input) is not Tensor:
        want_tensor("resolve_neg", "input", 0, input)
    return _ops.copy(input, None, 1) if is_neg(input) else input


def is_conj(input):
    """Are the elements still to be conjugated?

    >>> x = facula.tensor([1j]).conj()
    >>> facula.is_conj(x)
    True
    >>> x.is_conj()
    True
    """
    if type(input) is not Tensor:
        want_tensor("is_conj", "input", 0, input)
    return input.layout is strided and bool(lib.fc_lazy(input._h) & CONJ)


def is_neg(input):
    """Are the elements still to be negated, as those of z.conj().imag are?

    >>> x = facula.tensor([1j]).conj().imag
    >>> facula.is_neg(x)
    True
    >>> x.is_neg()
    True
    """
    if type(input) is not Tensor:
        want_tensor("is_neg", "input", 0, input)
    return input.layout is strided and bool(lib.fc_lazy(input._h) & NEG)


def turned(t, bits):
    """t with these bits the other way round."""
    t = _ops._conj(t) if bits & CONJ else t
    return _ops._neg_view(t) if bits & NEG else t


def bare(t):
    """t's memory as it is, without its bits."""
    return turned(t, lib.fc_lazy(t._h))


def resolved(t):
    """t, or a copy of it in which all is done: for those who read its memory."""
    return _ops.copy(t, None, 1) if lib.fc_lazy(t._h) else t


_conj, _neg_view = _ops._conj, _ops._neg_view
__all__ = ["_conj", "_neg_view", "conj", "conj_physical", "is_conj", "is_neg", "resolve_conj", "resolve_neg"]
METHODS = __all__
