"""Numbers and functions of matrices: det, norms, cond, rank, powers, exp; products of vectors and chains."""

from facula.tensor_core import _ops, return_types
from facula.tensor_core.functions import create as _create, joining as _joining, math as _math, shape as _shape
from facula.tensor_core.dispatch import out as _out
from facula.tensor_core.dispatch.arguments import as_dtype, whole
from facula.tensor_core.functions.dims import movedim
from facula.tensor_core._errors import DTypeError, IndexRangeError, ShapeError
from facula.tensor_core.dispatch.kinds import check as check_kind, kinds_first, read_ints, real_order, want_ints, want_tensors
from facula.tensor_core.linalg.spectral import eigvalsh, svdvals
from facula.tensor_core.linalg.solve import inv, inv_ex, of_dims, tolerances
from facula.tensor_core.linalg.tools import check, eye_like, into, matrix, of_nothing, square
from facula.tensor_core._state import promote_types
from facula.tensor_core._tensor import Tensor

inf = float("inf")


def det(A, *, out=None) -> Tensor:
    """The determinant of a square matrix, or of each of a batch.

    >>> import facula
    >>> facula.linalg.det(facula.tensor([[2.0, 1.0], [0.0, 4.0]]))
    tensor(8.)
    """
    if not A.numel() and (found := of_nothing(det, A, out=out)) is not None:
        return found
    square("linalg.det", A)
    return into("linalg.det", _ops._linalg_det(A), out)


def det_(input):
    """facula.linalg.det.

    >>> A = facula.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> facula.det(A)
    tensor(-2.)
    >>> A.det()
    tensor(-2.)
    """
    return det(input)


det_.__name__ = "det"


def slogdet(A, *, out=None):
    """(sign, logarithm of the absolute value) of determinants: exact where the determinant itself would overflow.

    >>> import facula
    >>> facula.linalg.slogdet(facula.tensor([[2.0, 0.0], [0.0, -3.0]])).sign
    tensor(-1.)
    """
    square("linalg.slogdet", A)
    return into("linalg.slogdet", return_types.linalg_slogdet(*_ops._linalg_slogdet(A)), out)


def slogdet_(input, *, out=None):
    """facula.linalg.slogdet.

    >>> A = facula.tensor([[0.0, 2.0], [2.0, 0.0]])
    >>> facula.slogdet(A)
    torch.return_types.slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(1.3863))
    >>> A.slogdet()
    torch.return_types.slogdet(
    sign=tensor(-1.),
    logabsdet=tensor(1.3863))
    """
    return into("slogdet", return_types.slogdet(*slogdet(input)), out)


slogdet_.__name__ = "slogdet"


def logdet(input) -> Tensor:
    """The logarithm of determinants; NaN for negative ones.

    >>> A = facula.tensor([[2.0, 0.0], [0.0, 3.0]])
    >>> facula.logdet(A)
    tensor(1.7918)
    >>> A.logdet()
    tensor(1.7918)
    """
    square("logdet", input)
    sign, size = _ops._linalg_slogdet(input)
    if input.is_complex():
        return sign.log() + size
    from facula.tensor_core.functions.overloads import where

    return where(sign == -1, float("nan"), size)


# --- norms ------------------------------------------------------------------------------------------------------------


def _dims(dim, ndim, name):
    dims = range(ndim) if dim is None else read_ints(name, "dim", None, dim)
    return tuple(_shape.wrap_dim(name, d, ndim) for d in dims)


def widened(name, x, dtype):
    """x in the dtype that a norm was asked for, which holds all that x's does."""
    if dtype is None:
        return x
    dtype = as_dtype(dtype)
    if x.dtype._kind < 2:
        raise DTypeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype._scalar_type}. Convert it with .float().")
    if dtype._kind < 2 or dtype.is_complex != x.is_complex():
        raise DTypeError(f"{name}: dtype should be {'complex' if x.is_complex() else 'floating'} for a {x.dtype._name} input, but got {dtype}.")
    if promote_types(x.dtype, dtype) is not dtype:
        raise DTypeError(f"{name}: the dtype of the input ({x.dtype._scalar_type}) should be convertible without narrowing to the specified dtype ({dtype._scalar_type}). Leave dtype out.")
    return x.to(dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over dims, all by default; inf and -inf: the largest and smallest |x|, 0: how many are not 0.

    >>> import facula
    >>> facula.linalg.vector_norm(facula.tensor([3.0, 4.0]))
    tensor(5.)
    """
    name = "linalg.vector_norm"
    if x.dtype._kind < 2:
        raise DTypeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype._name}. Convert it with .to(facula.float32).")
    if dtype is None and out is None and type(ord) is not complex and (0 < ord < inf or ord == inf and 0 not in x.shape) and (dim is None or type(dim) is int and 0 <= dim < len(x.shape)):
        return _ops.norm_p(x, dim, p=ord, keepdim=keepdim)
    real_order(name, ord)
    x = widened(name, x, dtype)
    dims = _dims(dim, x.dim(), name)
    if (ord < 0 or ord == inf) and 0 in ([x.shape[d] for d in dims] if dims and x.dim() else x.shape):
        raise RuntimeError(f"{name} cannot compute the {ord} norm on an empty tensor because the operation does not have an identity (shape {tuple(x.shape)}).")
    return into(name, _ops.norm_p(x, dims or None, p=ord, keepdim=keepdim), out)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None) -> Tensor:
    """Norm of matrices: "fro", "nuc" (sum of singular values), 2 and -2 (largest, smallest), 1 and -1 (of column sums), inf and -inf (of row sums).

    >>> import facula
    >>> facula.linalg.matrix_norm(facula.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor(6.)
    """
    name = "linalg.matrix_norm"
    if ord == "fro" and dim == (-2, -1) and dtype is out is None and (n := len(A.shape)) > 1 and A.dtype._kind > 1:
        return _ops.norm_p(A, (n - 2, n - 1), p=2, keepdim=keepdim)
    want_ints(name, "dim", 2, dim)
    matrix(name, A, floating=False)
    if A.dtype._kind < 2:
        raise DTypeError(f"{name}: Expected a floating point or complex tensor as input. Got {A.dtype._name}. Convert it with .to(facula.float32).")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    rows, columns = _dims(dim, A.dim(), name)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    if isinstance(ord, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm, got {ord}.")
    if ord is None:
        raise TypeError(f"{name}(): argument 'ord' must be Number or str, not NoneType. Leave it out for the Frobenius norm.")
    if ord not in ("fro", "nuc", 1, -1, 2, -2, inf, -inf):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        matrix(name, A)
    A = widened(name, A, dtype)
    if ord == "fro":
        return into(name, _ops.norm_p(A, (rows, columns), p=2, keepdim=keepdim), out)
    if ord in ("nuc", 2, -2):
        if 0 in (A.shape[rows], A.shape[columns]):
            if ord == -2:
                raise _no_least(name, A)
            return into(name, _ops.norm_p(A, (rows, columns), p=1, keepdim=keepdim), out)
        s = svdvals(movedim(A, (rows, columns), (-2, -1)))
        norm = _ops.sum(s, -1) if ord == "nuc" else _ops.amax(s, -1) if ord == 2 else _ops.amin(s, -1)
        if keepdim:
            for d in sorted((rows, columns)):
                norm = _ops.unsqueeze(norm, d)
        return into(name, norm, out)
    summed, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    if ord < 0 and not A.shape[over]:
        raise _no_least(name, A)
    if 0 in (A.shape[rows], A.shape[columns]):
        return into(name, _ops.norm_p(A, (rows, columns), p=1, keepdim=keepdim), out)
    sums = _ops.norm_p(A, summed, p=1, keepdim=True)
    norm = (_ops.amax if ord > 0 else _ops.amin)(sums, over, True)
    return into(name, norm if keepdim else _ops.squeeze(norm, (rows, columns)), out)


def _no_least(name, A):
    return IndexRangeError(f"{name}: the least of nothing: Expected reduction dim to have non-zero size, got a matrix of shape {tuple(A.shape)}.")


def norm(input, ord=None, dim=None, keepdim=False, *, out=None, dtype=None) -> Tensor:
    """The vector or matrix norm: of matrices where dim names two dims (or input has two and dim is None) and ord is given.

    >>> import facula
    >>> facula.linalg.norm(facula.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if dtype is not None and (as_dtype(dtype)._kind != input.dtype._kind and as_dtype(dtype)._kind < 3 or as_dtype(dtype).to_real().itemsize < input.dtype.to_real().itemsize):
        raise RuntimeError(f"linalg.norm: the dtype of the input ({input.dtype._name}) should be convertible without narrowing to the specified dtype ({as_dtype(dtype)._name}).")
    if isinstance(ord, Tensor) and (ord.dim() or ord._origin is not None):
        raise TypeError(f"linalg.norm(): argument 'ord' must be Number or str, not a Tensor of shape {tuple(ord.shape)}{' that requires grad' if ord._origin is not None else ''}. Give one number.")
    if ord is not None and dim is None and input.dim() not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {input.dim()}D.")
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}. linalg.vector_norm takes any number.")
    if isinstance(ord, str) or ord is not None and (dim is None and input.dim() == 2 or isinstance(dim, (tuple, list)) and len(dim) == 2):
        if whole(dim) or dim is not None and len(dim) != 2:
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim} for order {ord!r}, which is of matrices.")
        return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)


def cond(A, p=None, *, out=None) -> Tensor:
    """The condition number norm(A) * norm(inv(A)): p is an order of matrix_norm, None means 2. inf for singular matrices.

    >>> import facula
    >>> facula.linalg.cond(facula.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor(2.)
    """
    if p in (None, 2, -2) and not A.numel():
        matrix("linalg.cond", A, floating=False)
        return into("linalg.cond", _create.zeros(A.shape[:-2], dtype=A.dtype.to_real(), device=A.device), out)
    matrix("linalg.cond", A)
    if p in (None, 2, -2):
        s = svdvals(A)
        return into("linalg.cond", s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1], out)
    square("linalg.cond", A)
    if p not in ("fro", "nuc", 1, -1, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    inverse, info = inv_ex(A)
    from facula.tensor_core.functions.overloads import where

    inverse = where((info != 0).unsqueeze(-1).unsqueeze(-1), inf, inverse)
    number = matrix_norm(A, p) * matrix_norm(inverse, p)
    none = float("nan") if p == "nuc" else inf  # a matrix without an inverse; of infinities singular values are NaN
    return into("linalg.cond", where((info != 0) | number.isnan(), none, number), out)


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None) -> Tensor:
    """How many singular values (|eigenvalues| if hermitian) are above max(atol, rtol * largest). tol is another name of atol.

    >>> import facula
    >>> facula.linalg.matrix_rank(facula.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    of_dims("linalg.matrix_rank", A)
    matrix("linalg.matrix_rank", A, floating=A.numel() > 0 or atol is rtol is tol is None)
    if hermitian and A.numel():
        square("linalg.matrix_rank", A)
    A = A.detach()
    if tol is not None:
        atol, rtol = tol, 0.0 if rtol is None else rtol
    if not A.numel():
        kinds_first("matrix_rank", atol=atol, rtol=rtol)
        return into("linalg.matrix_rank", _create.zeros(A.shape[:-2], dtype=_math.int64, device=A.device), out)
    atol, rtol = tolerances("linalg.matrix_rank", A, atol, rtol)
    s = _ops.abs(eigvalsh(A)) if hermitian else svdvals(A)
    cut = _ops.maximum(atol, rtol * _ops.amax(s, -1))
    return into("linalg.matrix_rank", _ops.sum(s > cut.unsqueeze(-1), -1), out)


# --- functions of matrices --------------------------------------------------------------------------------------------


def matrix_exp(A) -> Tensor:
    """The exponential 1 + A + A^2/2 + ... of square matrices: Higham's scaling and squaring.

    >>> import facula
    >>> facula.linalg.matrix_exp(facula.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if isinstance(A, Tensor) and A.dtype._kind == 2 and A.dtype.itemsize == 2:
        return _ops.copy(matrix_exp(A.float()), A.dtype)
    square("linalg.matrix_exp", A)
    return _ops._linalg_matrix_exp(A)


def matrix_exp_(input):
    """facula.linalg.matrix_exp.

    >>> A = facula.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> facula.matrix_exp(A)
    tensor([[1., 1.],
            [0., 1.]])
    >>> A.matrix_exp()
    tensor([[1., 1.],
            [0., 1.]])
    """
    return matrix_exp(input)


matrix_exp_.__name__ = "matrix_exp"


def matrix_power(A, n, *, out=None) -> Tensor:
    """A multiplied by itself n times; the inverse for -1, the identity for 0.

    >>> import facula
    >>> facula.linalg.matrix_power(facula.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    name = "linalg.matrix_power"
    matrix(name, A, floating=False)
    if A.shape[-1] != A.shape[-2]:
        raise ShapeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices.")
    check_kind(name, "n", 1, "int", n)
    n = int(n)
    if n == 0:
        return into(name, _ops.copy_into_(_ops.copy(A, None, 0), eye_like(A)), out)  # whose derivative is 0 and not absent
    square_, power, n = inv(A) if n < 0 else A, None, abs(n)
    while n:
        if n & 1:
            power = square_ if power is None else power @ square_
        n >>= 1
        square_ = square_ @ square_ if n else square_
    if out is not None and power is not A:
        _out.same_dtype(name, power.dtype, out)
    return into(name, _ops.copy(A, None, 0) if power is A else power, out)


def matrix_power_(input, n, *, out=None):
    """facula.linalg.matrix_power.

    >>> A = facula.tensor([[1.0, 1.0], [0.0, 1.0]])
    >>> facula.matrix_power(A, 3)
    tensor([[1., 3.],
            [0., 1.]])
    >>> A.matrix_power(3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    return matrix_power(input, n, out=out)


matrix_power_.__name__ = "matrix_power"


# --- products ---------------------------------------------------------------------------------------------------------


def multi_dot(tensors, *, out=None) -> Tensor:
    """The product of two or more matrices in the order that multiplies fewest numbers; the ends may be vectors.

    Source: Cormen et al., Introduction to Algorithms, section 15.2.

    >>> import facula
    >>> facula.linalg.multi_dot([facula.tensor([[1.0, 2.0]]), facula.tensor([[3.0], [4.0]])])
    tensor([[11.]])
    """
    name = "linalg.multi_dot"
    want_tensors(name, tensors)
    tensors = list(tensors)
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"{name}(): expected at least 2 tensors but got {n}")
    for k, t in enumerate(tensors):
        if len(t.shape) != 2 and not (t.dim() == 1 and k in (0, n - 1)):
            which = "the first tensor" if k == 0 else "the last tensor" if k == n - 1 else f"tensor {k}"
            raise ShapeError(f"{name}(): {which} must be {'1D or ' if k in (0, n - 1) else ''}2D but got {t.dim()}D")
    ends = [tensors[0].dim() == 1, tensors[-1].dim() == 1]
    tensors[0] = tensors[0].unsqueeze(0) if ends[0] else tensors[0]
    tensors[-1] = tensors[-1].unsqueeze(1) if ends[1] else tensors[-1]
    sizes = [t.shape[0] for t in tensors] + [tensors[-1].shape[1]]
    for k, (a, b) in enumerate(zip(tensors, tensors[1:])):
        if a.shape[1] != b.shape[0]:
            raise ShapeError(f"{name}(): tensors {k} and {k + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied")
    whole = _in_best_order(tensors, sizes)
    whole = whole.squeeze(-1) if ends[1] else whole
    whole = whole.squeeze(0) if ends[0] else whole
    return whole if out is None else into(name, whole, out)


def _in_best_order(tensors, sizes):
    n = len(tensors)
    if n == 2:
        return _ops.matmul(*tensors)
    if n == 3:
        x, y, z = tensors
        a, b, c, d = sizes
        return _ops.matmul(x, _ops.matmul(y, z)) if b * d * (c + a) <= a * c * (b + d) else _ops.matmul(_ops.matmul(x, y), z)
    cost, best = {(k, k): 0 for k in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[i, j] = min(range(i, j), key=lambda k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1])
            k = best[i, j]
            cost[i, j] = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]

    def product(i, j):
        return tensors[i] if i == j else product(i, best[i, j]) @ product(best[i, j] + 1, j)

    return product(0, n - 1)


def vecdot(x, y, *, dim=-1, out=None) -> Tensor:
    """sum conj(x) y along dim; other dims broadcast.

    >>> import facula
    >>> facula.linalg.vecdot(facula.tensor([1.0, 2.0]), facula.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if out is None and type(x) is type(y) is Tensor and x.dtype is y.dtype and x.dtype._kind == 2 and x.shape == y.shape:
        return _ops.sum(_ops.mul(x, y), dim)
    check("linalg.vecdot", x, y, floating=False)
    if x.dtype._kind < 2:
        raise DTypeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {x.dtype._name}. Convert it with .to(facula.float32).")
    if x.dim() == y.dim() == 1 and x.shape != y.shape:
        raise ShapeError(f"linalg.vecdot: inconsistent tensor size, expected tensor [{x.shape[0]}] and src [{y.shape[0]}] to have the same number of elements. Make the lengths agree.")
    x, y = _shape.broadcast_tensors(x, y)
    return into("linalg.vecdot", _ops.sum(_ops.mul(x.conj() if x.is_complex() else x, y), dim), out)


def cross(input, other, *, dim=-1, out=None) -> Tensor:
    """The vector product along a dim of size 3; other dims broadcast.

    >>> import facula
    >>> facula.linalg.cross(facula.tensor([1.0, 0.0, 0.0]), facula.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    if out is None and input.shape == other.shape and input.dtype is other.dtype and input.dtype._kind and -len(input.shape) <= dim < len(input.shape) and input.shape[dim] == 3:
        return _ops._cross(input, other, dim % len(input.shape))
    if input.dim() != other.dim():
        raise ShapeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}.")
    d = _shape.wrap_dim("linalg.cross", dim, input.dim())
    if input.shape[d] != 3 or other.shape[d] != 3:
        raise ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[d]} and {other.shape[d]}")
    return into("linalg.cross", _math.cross(input, other, d), out, (input, other))


def diagonal(A, *, offset=0, dim1=-2, dim2=-1) -> Tensor:
    """The diagonals of matrices, as a view.

    >>> import facula
    >>> facula.linalg.diagonal(facula.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return _ops.diagonal(A, offset, dim1, dim2)


def matmul(input, other, *, out=None) -> Tensor:
    """facula.matmul.

    >>> facula.linalg.matmul(facula.eye(2), facula.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    return _ops.matmul(input, other, out=out)


def vander(x, N=None) -> Tensor:
    """Rows 1, x, x^2, ... of N columns (as many as x has elements).

    >>> import facula
    >>> facula.linalg.vander(facula.tensor([2.0, 3.0]))
    tensor([[1., 2.],
            [1., 3.]])
    """
    if x.dtype._kind == 0:
        raise DTypeError("linalg.vander: not defined for bool. Convert it with .to(facula.int64).")
    if x.dtype._kind == 2 and x.dtype.itemsize == 2:
        raise RuntimeError(f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype._scalar_type}. Convert it with .float().")
    x = x if x.dim() else _ops.unsqueeze(x, 0)
    N = x.shape[-1] if N is None else N
    if N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}.")
    powers = _ops.expand(_ops.unsqueeze(x, -1), (*x.shape, N - 1))
    if x.dtype._kind == 1:
        powers = powers.to(_math.int64)
    one = _create.ones(*x.shape, 1, dtype=powers.dtype, device=x.device)
    return _joining.cat([one, _ops.cumprod(powers, -1)], -1)
