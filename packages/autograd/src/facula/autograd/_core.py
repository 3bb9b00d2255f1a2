"""Everything this package takes from the core, by one import: nothing else here imports facula.tensor_core."""

import facula
from facula import contiguous_format  # noqa: F401
from facula.tensor_core import extend
from facula.tensor_core.extend import (  # noqa: F401  (re-exported)
    GradError,
    Tensor,
    attach,
    epoch_advance,
    epoch_refresh,
    epoch_stale,
    grad_mode,
    lib,
    ops,
    record,
    set_grad_mode,
    set_tape,
    shares_storage,
)
from facula.tensor_core.extend import version as tensor_version  # noqa: F401

_new = object.__new__
_alias = lib.fc_alias


def alias(t):
    """The same memory and version under a new Tensor without origin or base."""
    a = _new(Tensor)
    a._h = _alias(t._h, 0)
    a.origin = a.base = a._shape = None
    return a


def is_complex(t):
    return lib.fc_dtype(t._h) >= 13


def is_float(t):
    return lib.fc_dtype(t._h) >= 9


class no_recording:
    """A block in which this thread records nothing."""

    __slots__ = ("before",)

    def __enter__(self):
        self.before = set_grad_mode(False)

    def __exit__(self, *exc):
        set_grad_mode(self.before)


def conj(t):
    return t.conj()


def real(t):
    return t.real


def view_as_real(t):
    return facula.view_as_real(t)


def as_strided(t, size, stride, offset):
    return t.as_strided(size, stride, offset)


def empty_strided(shape, stride, dtype, device):
    return facula.empty_strided(shape, stride, dtype=dtype, device=device)


def zeros_strided(shape, stride, dtype, device):
    return empty_strided(shape, stride, dtype, device).zero_()


def arange(n):
    return facula.arange(n)


def complex_of(dtype):
    return facula.complex128 if dtype is facula.float64 else facula.complex64


def ones_like(t):
    """The gradient of a scalar of any rank with respect to itself: one call, for every backward() begins with it."""
    g = extend.wrap(lib.fc_from_scalar(lib.fc_dtype(t._h), 1, 1, 1.0, 0.0))
    return g if not t.shape else g.reshape(t.shape)


def zeros(shape, dtype, device):
    return facula.zeros(shape, dtype=dtype, device=device)


def stack(tensors, dim=0):
    return facula.stack(tensors, dim)


def cat(tensors, dim):
    return facula.cat(tensors, dim)


def row(name):
    """The function of a row."""
    return extend.function(ops[name])


def zeros_like(g):
    return facula.zeros(tuple(g.shape), dtype=g.dtype, device=g.device)
