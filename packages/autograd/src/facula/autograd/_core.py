"""Everything this package takes from the core, by one import: nothing else here imports facula.tensor_core."""

import facula
from facula.tensor_core import extend
from facula.tensor_core.extend import (  # noqa: F401  (re-exported)
    GradError,
    Tensor,
    alias,
    attach,
    epoch_advance,
    epoch_refresh,
    epoch_stale,
    grad_mode,
    inference_mode,
    ops,
    record,
    set_grad_mode,
    set_inference_mode,
    set_tape,
    shares_storage,
    version,
)


def dtype(t):
    return t.dtype


def is_complex(t):
    return t.dtype.is_complex


def is_float(t):
    d = t.dtype
    return d.is_floating_point or d.is_complex


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


def ones(shape, dtype, device):
    return facula.ones(shape, dtype=dtype, device=device)


def zeros(shape, dtype, device):
    return facula.zeros(shape, dtype=dtype, device=device)


def stack(tensors):
    return facula.stack(tensors, 0)


def row(name):
    """The function of a row."""
    return extend.function(ops[name])


def zeros_like(g):
    return facula.zeros(tuple(g.shape), dtype=g.dtype, device=g.device)
