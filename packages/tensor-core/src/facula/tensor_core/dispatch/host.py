"""Rows that NumPy computes (kind "host"): the driver between tensors and arrays, and the table of their two functions.

Each row has `infer(*args)`, which checks and describes the results without looking at elements (all that a meta tensor asks for),
and `run(*args)`, which gets arrays for the tensors and answers arrays. Results are copied into memory of our own, in the strides
that infer says.
"""

from typing import NamedTuple

import numpy as np

from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core._errors import DTypeError, OutOfMemoryError, describe
from facula.tensor_core.memory.interop import to_array
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import BY_NAME

TAKES = ("float32", "float64", "complex64", "complex128")


class Spec(NamedTuple):
    """A result: `columns` says that the last two dims lie column by column, as LAPACK leaves matrices; `order` how any dims lie, the outermost first; `tall` by how many
    rows the columns are longer in memory."""

    dtype: str
    shape: tuple
    columns: bool = False
    order: tuple = ()
    tall: int = 0

    def empty(self, device):
        n = len(self.shape)
        order = self.order or ([*range(n - 2), n - 1, n - 2] if self.columns and n > 1 else range(n))
        shape = (*self.shape[:-2], self.shape[-2] + self.tall, self.shape[-1]) if self.tall else self.shape
        h = lib.fc_empty_strided(BY_NAME[self.dtype]._id, device, n, list(self.shape), strides(shape, order))
        if not h:
            raise OutOfMemoryError(f"not enough memory for a result of shape {self.shape}. Use smaller tensors or free some.")
        return own_tensor(h)


def strides(shape, order):
    """Strides of a dense layout whose dims lie in this order, the outermost first."""
    stride, run = [0] * len(shape), 1
    for d in reversed(order):
        stride[d] = run
        run *= max(shape[d], 1)
    return stride


ROWS = {}  # name -> (infer, run, does run write into the results?)


def row(name, infer, into=False):
    """Enter a row's two functions: @row("_linalg_det", infer). into: run(results, *args) gets tensors, fills the results and answers a status of C's."""

    def enter(run):
        ROWS[name] = infer, run, into
        return run

    return enter


def real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def complex_of(dtype):
    return {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)


def check_dtype(op, tensor):
    name = tensor.dtype._name
    if name not in TAKES:
        public = op.name.lstrip("_").replace("_ex", "").replace("linalg_", "linalg.")
        low = "Low precision dtypes not supported" if tensor.dtype._kind == 2 else "Expected a floating point or complex tensor as input"
        raise DTypeError(f"{public}: {low}. Got {name} ({describe(tensor)}). Convert it with .to(facula.float32).")


def _not_converged(op, error):
    from facula.tensor_core.linalg.tools import LinAlgError

    return LinAlgError(f"{op.name.lstrip('_').replace('_', '.', 1)}: {error}. Look for elements that are not finite.")


def run(op, args):
    """The results of a row, or what infer refused."""
    infer, compute, into = ROWS[op.name]
    tensors = [a for a in args if isinstance(a, Tensor)]
    if _dispatch.tape is not None:
        _dispatch.refresh_stale(tensors)
    check_dtype(op, tensors[0])
    if len(tensors) > 1 and any([t.device != tensors[0].device for t in tensors]):
        both = sorted({str(t.device) for t in tensors})
        raise RuntimeError(f"{op.name}: Expected all tensors to be on the same device, but found at least two devices, {both[0]} and {both[1]}! Move one with .to(device).")
    specs = infer(*args)
    outs = [spec.empty(lib.fc_device(tensors[0]._h)) for spec in specs]
    result = outs[0] if op.results is None else tuple(outs)
    if tensors[0].is_meta or not any([out.numel() for out in outs]):
        return result
    with np.errstate(all="ignore"):  # what is not finite shows in the result
        if into:
            if compute(outs, *args):
                raise OutOfMemoryError(f"{op.name.lstrip('_').replace('_', '.', 1)}: not enough memory. Use smaller tensors or free some.")
            for out in outs:
                lib.fc_fresh(out._h)
            return result
        try:
            arrays = compute(*[to_array(a) if isinstance(a, Tensor) else a for a in args])
        except np.linalg.LinAlgError as error:
            raise _not_converged(op, error) from None
    for out, array in zip(outs, arrays if isinstance(arrays, tuple) else (arrays,), strict=True):
        if out.numel():
            to_array(out)[...] = array
    return result


from facula.tensor_core.fft import host as _host_fft  # noqa: E402, F401 - they fill the table
from facula.tensor_core.linalg import host as _host_linalg  # noqa: E402, F401
