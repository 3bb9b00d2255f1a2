"""`out=` of functions that are composed of rows: PyTorch's conditions in one place. Of one row alone `out=` goes to C."""

import warnings

from facula.tensor_core import _ops
from facula.tensor_core._dispatch import has_origin
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._lib import lib
from facula.tensor_core._resize import set_data
from facula.tensor_core._tensor import Tensor


def into(name, result, out, exact=False, inputs=(), strides=False):
    """result, or out(s) after it was copied there: resized where the shape is another, as PyTorch does.

    exact: out must have the result's dtype, not only one that the result can be cast to. inputs: tensors whose memory it may not share.
    strides: an output that is resized lies as the result does, not contiguously.
    """
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"{name}: out must be a tuple of {len(result)} tensors, one for each result, got {out!r}.")
        written = [into(name, r, o, exact, inputs, strides) for r, o in zip(result, out)]
        return type(result)(*written) if hasattr(result, "_fields") else tuple(written)
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}: argument 'out' must be a Tensor, not {type(out).__name__}.")
    if has_origin((result, out)):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. Detach them.")
    if exact:
        same_dtype(name, result.dtype, out)
    if not lib.fc_can_cast(result.dtype.id, out.dtype.id):
        raise DTypeError(f"{name}: Expected result to be safely castable from {result.dtype.name} dtype, but got result with dtype {out.dtype.name}. Give an output of that dtype.")
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the required output shape {list(result.shape)}.", stacklevel=3)
        out.resize_(result.shape)
        if strides:
            set_data(out, _ops.as_strided(out, result.shape, result.stride(), None))
    apart(name, out, inputs)
    return _ops.copy_into_(out, result)


def same_dtype(name, dtype, out):
    """Refuse an output of another dtype than the result's."""
    if out.dtype is not dtype:
        raise RuntimeError(f"{name}: Expected out tensor to have dtype {dtype.name}, but got {out.dtype.name} instead. Give an output of that dtype.")


def apart(name, out, inputs):
    """Refuse an output two elements of which are one in memory, or that lies where an input lies."""
    if any(n > 1 and s == 0 for n, s in zip(out.shape, out.stride())):
        raise RuntimeError(f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
    for t in inputs:
        if t is out or isinstance(t, Tensor) and lib.fc_same_storage(out._h, t._h) and _dense(out) and _dense(t) and _meet(out, t):
            raise RuntimeError(f"{name}: unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() the tensor before performing the operation.")


def _dense(t):
    """Do the elements fill a stretch of memory?"""
    run = 1
    for s, n in sorted((s, n) for s, n in zip(t.stride(), t.shape) if n > 1):
        if s != run:
            return False
        run *= n
    return t.numel() > 0


def _meet(a, b):
    first, second = ((t.data_ptr(), t.data_ptr() + t.numel() * t.dtype.itemsize) for t in (a, b))
    return first[0] < second[1] and second[0] < first[1]
