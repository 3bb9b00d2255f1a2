"""Products over several tensors, composed of matmul and views: tensordot, distances, covariances."""

import functools
import itertools
import warnings

from facula.tensor_core import _ops
from facula.tensor_core.functions import joining as _joining, matrix as _matrix, rearranging as _rearranging, shape as _shape
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import whole
from facula.tensor_core.functions.create import ones, zeros
from facula.tensor_core.functions.einsum import _product
from facula.tensor_core.functions.math import triu_indices
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import want_tensor, want_tensors
from facula.tensor_core.dispatch.out import into
from facula.tensor_core._state import promote_types, result_type
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import int64


def tensordot(a, b, dims=2, out=None):
    """Products of a and b summed over dims: a number n for the last n of a and the first n of b, or two lists.

    >>> facula.tensordot(facula.ones(2, 3), facula.ones(3, 2), dims=1)
    tensor([[3., 3.],
            [3., 3.]])
    """
    dims = _tensordot_first(dims)
    if whole(dims):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims >= 0 and at most {min(a.dim(), b.dim())}, but got dims={dims}")
        dims = (list(range(a.dim() - dims, a.dim())), list(range(dims)))
    for name, over in zip(("dims_self", "dims_other"), dims):
        if not isinstance(over, (list, tuple)):
            raise TypeError(f"tensordot(): argument '{name}' must be tuple of ints, not {type(over).__name__}. Put it into a list.")
    over_a, over_b = map(list, dims)
    if len(over_a) != len(over_b):
        raise RuntimeError(f"tensordot: both dimension lists should have same length, got {over_a} and {over_b}")
    for k, (p, q) in enumerate(zip(over_a, over_b)):
        over_a[k], over_b[k] = p, q = _shape.wrap_dim("tensordot", p, a.dim()), _shape.wrap_dim("tensordot", q, b.dim())
        if a.shape[p] != b.shape[q] and 1 not in (a.shape[p], b.shape[q]):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[p]} in dim {p} and second has size {b.shape[q]} in dim {q}")
    kept_a, kept_b = ([d for d in range(t.dim()) if d not in over] for t, over in ((a, over_a), (b, over_b)))
    for p, q in zip(over_a, over_b):  # what meets a dim of size 1 is summed first
        if b.shape[q] == 1:
            a = _ops.sum(a, p, True, dtype=a.dtype)
        elif a.shape[p] == 1:
            b = _ops.sum(b, q, True, dtype=b.dtype)
    size = _product(a.shape[d] for d in over_a)
    rest = [a.shape[d] for d in kept_a] + [b.shape[d] for d in kept_b]
    if _product(rest) == 1:  # one number: a product of vectors, which autocast leaves alone
        x, y = _ops.permute(a, kept_a + over_a), _ops.permute(b, over_b + kept_b)
        if x.is_contiguous() and y.is_contiguous():
            number = _matrix.dot(*(t if t.dim() == 1 else _ops.view(t, (size,)) for t in (x, y)))
        else:
            number = _ops.sum(_ops.mul(x.squeeze(), y.squeeze()), None, False, dtype=a.dtype)
        return into("tensordot", _ops.view(number, rest), out)
    left = _shape.reshaped(_ops.permute(a, kept_a + over_a), _product(a.shape[d] for d in kept_a), size)
    right = _shape.reshaped(_ops.permute(b, over_b + kept_b), size, _product(b.shape[d] for d in kept_b))
    result = _ops.view(_ops.matmul(left, right), rest)
    return into("tensordot", result, out)


def _tensordot_first(dims):
    """A number of dims, or what says which of either tensor: PyTorch's Python takes it apart before it looks at the tensors."""
    if isinstance(dims, Tensor):
        dims = dims.item() if dims.numel() == 1 else dims.tolist()
    if whole(dims):
        return dims
    if not isinstance(dims, (list, tuple)):
        raise RuntimeError(f"tensordot expects dims to be int or tuple of two lists of ints, but got dims={dims!r}")
    if len(dims) != 2:
        raise ValueError(f"tensordot: {'too many' if len(dims) > 2 else 'not enough'} values to unpack: dims are the lists of two tensors, got {len(dims)} of them. Give two.")
    return dims


def inner(input, other, *, out=None):
    """Products summed over the last dims; with a 0-d tensor, the product.

    >>> x = facula.tensor([1.0, 2.0])
    >>> facula.inner(x, facula.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([11.,  2.])
    >>> x.inner(facula.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([11.,  2.])
    """
    if not input.dim() or not other.dim():
        return _ops.mul(input, other, out=out)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and {list(other.shape)}")
    if other.dim() == 1:
        return (_matrix.dot if input.dim() == 1 else _ops.matmul)(input, other, out=out)
    return tensordot(input, other, dims=([-1], [-1]), out=out)


@_dispatch.one_step(mul="MulBackward0", view="UnsafeViewBackward0")
def kron(input, other, *, out=None):
    """Kronecker product: every element of input times the whole of other.

    >>> x = facula.tensor([[1, 2]])
    >>> facula.kron(x, facula.tensor([[1, 1], [0, 1]]))
    tensor([[1, 1, 2, 2],
            [0, 1, 0, 2]])
    >>> x.kron(facula.tensor([[1, 1], [0, 1]]))
    tensor([[1, 1, 2, 2],
            [0, 1, 0, 2]])
    """
    x, y = input.shape, other.shape
    if len(y) == 1 and x and out is None:
        result = _ops.mul(_ops.unsqueeze(input, len(x)), other)
        return _shape._alone(_shape.reshaped(result, (*x[:-1], x[-1] * y[0])))
    x, y = list(x), list(y)
    n = max(len(x), len(y))
    if n == 2 == len(x) == len(y):
        result = _ops.mul(_ops.unsqueeze(_ops.unsqueeze(input, 1), 3), _ops.unsqueeze(other, 1))
        result = _shape._alone(_shape.reshaped(result, (x[0] * y[0], x[1] * y[1])))
        return result if out is None else into("kron", result, out, (input, other))
    x[:0], y[:0] = [1] * (n - len(x)), [1] * (n - len(y))
    wide, flat = [1] * (2 * n), [1] * (2 * n)
    wide[::2], flat[1::2] = x, y
    result = _ops.mul(_shape.reshaped(input, wide), other if n == 1 or len(other.shape) == 1 else _shape.reshaped(other, flat))
    result = _shape._alone(_shape.reshaped(result, [p * q for p, q in zip(x, y)]))
    return result if out is None else into("kron", result, out, (input, other))


_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _cdist_first(compute_mode):
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode of cdist. Take one of {', '.join(_MODES)}.")


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """p-norm distances between the rows of x1 (..., P, M) and of x2 (..., R, M), as (..., P, R).

    compute_mode is checked; distances are always sums of differences, the exact way.

    >>> facula.cdist(facula.tensor([[0.0, 0.0]]), facula.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    _cdist_first(compute_mode)
    if x1.dim() < 2 or x2.dim() < 2:
        raise RuntimeError(f"cdist only supports at least 2D tensors, got {x1.dim()}D and {x2.dim()}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    for k, x in enumerate((x1, x2), 1):
        if x.dtype._kind != 2:
            raise DTypeError(f"cdist only supports floating-point dtypes, X{k} got: {x.dtype._name}. Convert it with .float().")
        if x.dtype.itemsize == 2:
            raise DTypeError(f'"cdist" not implemented for {x.dtype._name!r}. Convert it with .float().')
    if not p >= 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if x1.dtype is not x2.dtype:
        raise RuntimeError(f"cdist: expected scalar type {x1.dtype._name} but found {x2.dtype._name}. Convert one with .to().")
    if (front := x1.shape[:-2]) != x2.shape[:-2]:
        front = _shape.broadcast_shapes(front, x2.shape[:-2])
        wide = (_ops.expand(x, [*front, *x.shape[-2:]]) for x in (x1, x2))
        return _dispatch.one_node(_ops._cdist(*wide, float(p)), "CdistBackward0", x1, x2)
    return _ops._cdist(x1, x2, float(p))


def _distance(difference, p, dim):
    if not p >= 0:
        raise RuntimeError(f"only non-negative p values are supported, got {p}")
    if p == 0:  # a count, whose derivative is 0 and not absent
        return _ops.sum(_ops.abs(_ops.sign(difference)), dim)
    return _ops.norm_p(difference, dim, p=float(p))


def pdist(input, p=2.0):
    """p-norm distances between every two rows of a matrix, in the order (0, 1), (0, 2), ...

    >>> facula.pdist(facula.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    if input.dtype._name in ("float16", "bfloat16"):
        raise DTypeError(f'pdist: "pdist" not implemented for {input.dtype._name} (input: {tuple(input.shape)}). Convert with input.float().')
    return _ops._pdist(input, float(p))


def dist(input, other, p=2):
    """The p-norm of input - other.

    >>> x = facula.tensor([0.0, 0.0])
    >>> x.dist(facula.tensor([3.0, 4.0]))
    tensor(5.)
    """
    for place, value in enumerate((input, other)):
        if not isinstance(value, Tensor):
            raise TypeError(f"dist(): argument {place + 1} must be Tensor, not {type(value).__name__}. Convert it with facula.tensor.")
    from facula.tensor_core.linalg.norm import vector_norm

    return _dispatch.one_node(vector_norm(_ops.sub(input, other), p), "DistBackward0", input, other)


def vander(x, N=None, increasing=False):
    """Powers of a vector as columns, falling unless increasing.

    >>> facula.vander(facula.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got {x.dim()}-D")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise RuntimeError(f"N must be non-negative, got {n}")
    x = x if x.dtype._kind > 1 else x.to(int64)
    columns = [ones((x.shape[0], 1), dtype=x.dtype, device=x.device)] * min(n, 1)
    if n > 1:
        columns.append(_ops.cumprod(_ops.expand(_ops.unsqueeze(x, 1), (x.shape[0], n - 1)), 1))
    powers = _ops.cat(columns, 1) if n else ones((x.shape[0], 0), dtype=x.dtype, device=x.device)
    return powers if increasing else _ops.flip(powers, (1,))


def block_diag(*tensors):
    """Matrices along the diagonal of one, zeros elsewhere.

    >>> facula.block_diag(facula.tensor([[1, 2]]), facula.tensor([[3], [4]]))
    tensor([[1, 2, 0],
            [0, 0, 3],
            [0, 0, 4]])
    """
    want_tensors("block_diag", tensors)
    if not tensors:
        return zeros(1, 0)
    wide = [t if len(t.shape) == 2 else _joining.atleast_2d(_dispatch.gradient_lies(t, "rows")) for t in tensors]
    if most := [t for t in wide if len(t.shape) > 2]:
        at = next(k for k, t in enumerate(wide) if t is most[0])
        raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has {most[0].dim()} dimensions")
    dtype = wide[0].dtype
    if any([t.dtype is not dtype for t in wide]):
        sized, single = ([t.dtype for t in tensors if bool(t.dim()) is kind] for kind in (True, False))
        sized, single = (functools.reduce(promote_types, found) if found else None for found in (sized, single))
        dtype = sized or single if not sized or not single else result_type(zeros(1, dtype=sized), zeros((), dtype=single))
    columns, rows, at = sum([t.shape[1] for t in wide]), [], 0
    if not (_ops.interpreting or _dispatch.has_origin(wide)):
        joined, at_row = zeros(sum([t.shape[0] for t in wide]), columns, dtype=dtype, device=wide[0].device), 0
        for t in wide:
            height, width = t.shape
            _ops.copy_into_(_ops.as_strided(joined, (height, width), (columns, 1), at_row * columns + at), t)
            at, at_row = at + width, at_row + height
        return joined
    for t in wide:
        height, width = t.shape
        t = t if t.dtype is dtype else t.to(dtype)
        if t._origin is None:
            rows.append(_ops.constant_pad_nd(t, (at, columns - at - width)))
        else:  # each gradient is a view, as PyTorch's
            before, after = (zeros(height, n, dtype=dtype, device=t.device) for n in (at, columns - at - width))
            rows.append(_ops.cat([before, t, after], 1))
        at += width
    return _dispatch.one_node(_ops.cat(rows, 0), "BlockDiagBackward0", *tensors)


def cartesian_prod(*tensors):
    """Every choice of one element from each vector, as rows.

    >>> facula.cartesian_prod(facula.tensor([1, 2]), facula.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    want_tensors("cartesian_prod", tensors)
    if bad := [t for t in tensors if t.dim() != 1]:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(bad[0].shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return _joining.stack([_shape.reshaped(g, -1) for g in _rearranging.meshgrid(*tensors, indexing="ij")], 1)


@_dispatch.one_step(view="StackBackward0")
def combinations(input, r=2, with_replacement=False):
    """Every choice of r elements of a vector, as rows.

    >>> facula.combinations(facula.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    from facula.tensor_core.functions.create import empty
    from facula.tensor_core.memory.data import tensor

    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    n = input.shape[0]
    if not r:
        return empty(0, dtype=input.dtype, device=input.device)
    if r == 2:
        chosen = _ops.transpose(triu_indices(n, n, 0 if with_replacement else 1, device=input.device), 0, 1).flatten()
    else:
        choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
        chosen = tensor([i for row in choose(range(n), r) for i in row], dtype=int64, device=input.device)
    return _shape._alone(_shape.reshaped(_ops.index_select(input, 0, chosen), chosen.shape[0] // r, r))


def cov(input, *, correction=1, fweights=None, aweights=None):
    """Covariances of the rows of a matrix, whose columns are observations. fweights: counts; aweights: weights of columns.

    >>> x = facula.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> facula.cov(x)
    tensor([[ 1., -1.],
            [-1.,  1.]])
    >>> x.cov()
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    if input.dtype._kind == 0:
        raise RuntimeError("cov(): bool dtype is not supported for input. Convert with .long().")
    _check_weights(input, fweights, aweights)
    x = input if input.dim() == 2 else _shape.reshaped(input, 1, -1)
    x = x if x.dtype._kind >= 2 else _ops.mul(x, 1.0)
    weights = None if fweights is None else fweights
    if aweights is not None:
        weights = aweights if weights is None else _ops.mul(weights, aweights)
    if weights is None:
        total, mean = x.shape[1], _ops.mean(x, 1, True)
        norm = total - correction
        none = norm <= 0
    else:
        total = _ops.sum(weights)
        if not total.is_meta and not _dispatch.listened() and total.detach().item() == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized. Give some column a positive weight.")
        mean = _ops.div(_ops.sum(_ops.mul(x, weights), 1, True), total)
        norm = total - correction if aweights is None else total - correction * _ops.sum(_ops.mul(weights, aweights)) / total
        none = not total.is_meta and not _dispatch.listened() and norm.detach().item() <= 0
        norm = _ops.clamp_min(norm, 0)
    if none:
        warnings.warn(f"cov(): degrees of freedom is <= 0: {x.shape[1]} observations and a correction of {correction}. Take a smaller correction.", UserWarning, stacklevel=3)
    centred = _ops.sub(x, mean)
    right = centred if weights is None else _ops.mul(centred, weights)
    right = right.conj() if right.is_complex() else right
    result = _ops.div(_ops.matmul(centred, _ops.transpose(right, 0, 1)), max(norm, 0) if weights is None else norm)
    return _shape.squeeze(result)


def _check_weights(input, fweights, aweights):
    count = input.shape[-1] if input.dim() else 1
    for name, weights, integral in (("fweights", fweights, True), ("aweights", aweights, False)):
        if weights is None:
            continue
        if weights.dim() > 1:
            raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions")
        if (weights.dtype._kind == 1) != integral or weights.dtype._kind not in (1, 2):
            raise RuntimeError(f"cov(): expected {name} to have {'integral' if integral else 'floating point'} dtype but got {name} with {weights.dtype._name} dtype")
        if weights.numel() != count:
            raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != {count}")
        if bool((weights < 0).any()):
            raise RuntimeError(f"cov(): {name} cannot be negative")


def corrcoef(input):
    """Correlation coefficients of the rows of a matrix, within [-1, 1].

    >>> x = facula.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> facula.corrcoef(x)
    tensor([[ 1., -1.],
            [-1.,  1.]])
    >>> x.corrcoef()
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    c = cov(input)
    if not c.dim():
        return _ops.div(c, c)
    deviation = _ops.sqrt(_ops.diagonal(c, 0, 0, 1))
    result = _ops.div(_ops.div(c, _ops.unsqueeze(deviation, 1)), _ops.unsqueeze(deviation, 0))
    return result if result.is_complex() else _ops.clamp_numbers(result, min=-1, max=1)


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """Cross-correlation over the dims behind the first two, 1 to 3 of them, or its transpose; each size is one int or as many as there are such dims.

    >>> w = facula.tensor([[[-1.0, 1.0]]])
    >>> facula.convolution(facula.tensor([[[1.0, 2.0, 4.0, 8.0]]]), w, None, (1,), (0,), (1,), False, (0,), 1)
    tensor([[[1., 2., 4.]]])
    """
    want_tensor("convolution", "input", 0, input)
    want_tensor("convolution", "weight", 1, weight)
    dims = weight.ndim - 2
    if input.ndim != dims + 2:
        raise RuntimeError(f"convolution: expected {dims + 2}-dimensional input for {dims + 2}-dimensional weight {list(weight.shape)}, but got one of {list(input.shape)}. Add dims with unsqueeze.")
    sizes = []
    for name, size, plain in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1), ("output_padding", output_padding, 0)):
        if isinstance(size, (list, tuple)) and len(size) != 1:
            if len(size) != dims:
                raise RuntimeError(f"convolution: expected {name} to be one int or {dims}, for the dims of weight {list(weight.shape)}, but got {list(size)}. Give one for each.")
            size = (*(plain,) * (3 - dims), *size)
        sizes.append(size)
    return _ops.convolution(input, weight, bias, *sizes[:3], transposed, sizes[3], groups)


__all__ = [
    "block_diag", "cartesian_prod", "cdist", "combinations", "convolution", "corrcoef", "cov", "dist", "inner", "kron", "pdist",
    "tensordot", "vander",
]  # fmt: skip
METHODS = ["corrcoef", "cov", "dist", "inner", "kron"]
