"""Checks and small steps that the functions of facula.linalg share."""

from facula.tensor_core import _ops
from facula.tensor_core.dispatch import out as _out
from facula.tensor_core._errors import DTypeError, ShapeError
from facula.tensor_core.functions.shape import _alone
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import float32


class LinAlgError(RuntimeError):
    """A problem that the values have, not the call: a singular matrix, one that is not positive definite.

    >>> try:
    ...     facula.linalg.inv(facula.zeros(2, 2))
    ... except facula.linalg.LinAlgError as error:
    ...     print(str(error).split(",")[0])
    linalg.inv: The diagonal element 1 is zero
    """


def check(name, *tensors, floating=True):
    """Each argument is a tensor, of a floating or complex dtype, all of one."""
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"{name}(): argument must be Tensor, not {type(t).__name__}. Convert it with facula.tensor.")
        if floating and (t.dtype._kind < 2 or t.dtype.itemsize < 4):
            low = "Low precision dtypes not supported" if t.dtype._kind == 2 else "Expected a floating point or complex tensor as input"
            raise DTypeError(f"{name}: {low}. Got {t.dtype._name}. Convert it with .to(facula.float32).")
        if t.dtype is not tensors[0].dtype:
            raise DTypeError(f"{name}: Expected the tensors to have the same dtype, but got {tensors[0].dtype._name} and {t.dtype._name}. Convert one with .to().")


def matrix(name, *tensors, floating=True):
    """Each is a matrix or a batch of them."""
    check(name, *tensors, floating=floating)
    for t in tensors:
        if t.dim() < 2:
            raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions, but has {t.dim()} (shape {tuple(t.shape)}).")


def square(name, *tensors):
    """Each is a square matrix or a batch of them."""
    matrix(name, *tensors)
    for t in tensors:
        if t.shape[-1] != t.shape[-2]:
            raise ShapeError(f"{name}: A must be batches of square matrices, but they are {t.shape[-2]} by {t.shape[-1]} matrices.")


def of_nothing(function, A, *args, whole=False, out=None, **options):
    """function of A without elements, whose dtype no kernel takes: none is asked. Halves, and if whole integers and truth values too; None for others."""
    if A.dtype._kind > 2 or not (whole if A.dtype._kind < 2 else A.dtype.itemsize < 4):
        return None
    found = function(A.to(float32), *args, **options)
    several = isinstance(found, tuple)
    parts = [t.to(A.dtype) if t.dtype is float32 else t for t in (found if several else (found,))]
    return into("linalg." + function.__name__, type(found)(*parts) if several else parts[0], out)


def refuse(name, info, text):
    """Raise LinAlgError if the info of any matrix is not 0; {k} in the text is what it says."""
    if info.is_meta or not info.numel():
        return
    flat = info._values_of_all().reshape(-1).tolist()
    bad = next((b for b, k in enumerate(flat) if k), None)
    if bad is not None:
        where = f"(Batch element {bad}): " if info.dim() else ""
        raise LinAlgError(f"{name}: {where}{text.format(k=flat[bad])}")


_CONTIGUOUS = {"cholesky", "linalg.matrix_power", "cholesky_solve", "linalg.tensorinv"}  # of which PyTorch's outputs lie so when it resizes them


_EMPTY = {"cholesky_inverse", "geqrf", "linalg.eig", "linalg.householder_product", "linalg.lstsq", "ormqr"}  # as the result lies, if an output had no elements; contiguous otherwise


def into(name, result, out, inputs=()):
    """result, or out(s) after it was copied there; see _out.into."""
    if out is None:
        return result
    strides = name not in _CONTIGUOUS
    if name in _EMPTY:
        strides = not any(o.numel() for o in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(o, Tensor))
    return _out.into(name, result, out, inputs, strides)


def H(a):
    """The conjugate transpose of the last two dims."""
    t = _ops.transpose(a, -2, -1)
    return t.conj() if t.is_complex() else t


def columns(a):
    """a with its matrices column by column in memory, as LAPACK leaves results."""
    return _alone(_ops.transpose(_ops.copy(_ops.transpose(a, -2, -1), None, 0), -2, -1))


def eye_like(a, rows=None, columns=None):
    """Identity matrices for a's batch, dtype and device."""
    from facula.tensor_core.functions.create import eye

    rows = a.shape[-2] if rows is None else rows
    one = eye(rows, rows if columns is None else columns, dtype=a.dtype, device=a.device)
    return _ops.expand(one, (*a.shape[:-2], *one.shape))


def finite(name, A, upper=None):
    """LAPACK's search for the eigenvalues or singular values of what is not finite is endless. upper: the triangle that is read, where it is one."""
    if A.is_meta or bool(A._values_of_all().isfinite().all()):
        return
    if upper is None:
        raise LinAlgError(f"torch.{name}: input tensor should not contain infs or NaNs. A.isfinite() finds them.")
    A = A.detach()
    if not bool((A.triu() if upper else A.tril()).isfinite().all()):
        raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix contained non-finite values.")


def without_infinities(name, A):
    """(A with zeros in the place of matrices with infinities, which those are): their singular values are NaN. A NaN is refused."""
    if A.is_meta or bool(A._values_of_all().isfinite().all()):
        return A, None
    if bool(A._values_of_all().isnan().any()):
        raise LinAlgError(f"{name}: The algorithm failed to converge because the input matrix contained non-finite values.")
    spoilt = _ops.any(_ops.any(_ops.isinf(A), -1, True), -2, True)
    return A.masked_fill(spoilt, 0), spoilt


def spoiled(t, where):
    """NaN there and 0 elsewhere, to be added to t."""
    from facula.tensor_core.functions.create import zeros

    return zeros(where.shape, dtype=t.dtype, device=t.device).masked_fill(where, float("nan"))
