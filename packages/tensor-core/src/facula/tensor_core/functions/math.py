"""Mathematics composed of rows: parts of numbers, triangles, differences, areas."""

from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import LACKING
from facula.tensor_core import _ops, _tensor, _warned
from facula.tensor_core.functions import create as _create, joining as _joining
from facula.tensor_core._errors import IndexRangeError, ShapeError
from facula.tensor_core.dispatch.kinds import kinds_first, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._state import elsewhere
from facula.tensor_core.dispatch.out import into, kept, written
from facula.tensor_core.dispatch.run import is_number
from facula.tensor_core.functions.shape import broadcast_tensors, narrow, wrap_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import format_id, int64


def equal(input, other):
    """Same shape and same values?

    >>> import facula
    >>> facula.equal(facula.ones(2), facula.ones(2))
    True
    >>> facula.ones(2).equal(facula.zeros(2))
    False
    """
    if type(input) is not Tensor:
        want_tensor("equal", "input", 0, input)
    if type(other) is not Tensor:
        want_tensor("equal", "other", 1, other)
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if _tensor.leaving is not None:
        _tensor.leaving(input, "equal")
    verdict = lib.fc_equal(input._h, other._h) if input._origin is None and other._origin is None else -1
    if verdict < 0:
        x, y = input.detach(), other.detach()  # whose histories are never stale
        verdict = lib.fc_equal(x._h, y._h)
    if verdict < 0:
        raise RuntimeError(f"equal: operands cannot be compared ({input.dtype._name} and {other.dtype._name})")
    return bool(verdict)


def clone(input, *, memory_format=None):
    """A copy in new memory; strides are kept where they are dense.

    >>> x = facula.tensor([1, 2])
    >>> y = facula.clone(x)
    >>> y[0] = 10
    >>> x
    tensor([1, 2])
    >>> x.clone() is x
    False
    """
    if type(input) is not Tensor:
        want_tensor("clone", "input", 0, input)
    return _ops.copy(input, None, 1 if memory_format is None else format_id("clone", memory_format))


def real(input):
    """The real part, a view of complex memory.

    >>> x = facula.tensor([1 + 2j, 3 - 4j])
    >>> facula.real(x)
    tensor([1., 3.])
    >>> x.real
    tensor([1., 3.])
    """
    if type(input) is not Tensor:
        want_tensor("real", "input", 0, input)
    if not input.is_complex():
        return input
    return _ops.select(_ops.real_view(_ops._conj(input) if lib.fc_lazy(input._h) & 1 else input), -1, 0)


def imag(input):
    """The imaginary part, a view of complex memory.

    >>> x = facula.tensor([1 + 2j, 3 - 4j])
    >>> facula.imag(x)
    tensor([ 2., -4.])
    >>> x.imag
    tensor([ 2., -4.])
    """
    if type(input) is not Tensor:
        want_tensor("imag", "input", 0, input)
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    parts = _ops._neg_view(_ops.real_view(_ops._conj(input))) if lib.fc_lazy(input._h) & 1 else _ops.real_view(input)
    return _ops.select(parts, -1, 1)


def _set_part(part):
    def assign(self, value):
        to = part(self)
        to.fill_(value) if is_number(value) else to.copy_(value)

    return assign


def view_as_real(input):
    """Complex elements as pairs along a last dim, a view.

    >>> facula.view_as_real(facula.tensor([1 + 2j, 3 + 4j]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    if type(input) is not Tensor:
        want_tensor("view_as_real", "input", 0, input)
    if not input.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _ops.real_view(input)


def view_as_complex(input):
    """Pairs along the last dim as complex elements, a view.

    >>> facula.view_as_complex(facula.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1.+2.j, 3.+4.j])
    """
    return _ops.complex_view(input)


def tril(input, diagonal=0, *, out=None):
    """The lower triangle of matrices; zeros above the diagonal.

    >>> x = facula.ones(2, 3)
    >>> facula.tril(x)
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    >>> x.tril()
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    if type(input) is not Tensor:
        want_tensor("tril", "input", 0, input)
    return _triangle(input, diagonal, False, out)


def triu(input, diagonal=0, *, out=None):
    """The upper triangle of matrices; zeros below the diagonal.

    >>> x = facula.ones(2, 3)
    >>> facula.triu(x)
    tensor([[1., 1., 1.],
            [0., 1., 1.]])
    >>> x.triu()
    tensor([[1., 1., 1.],
            [0., 1., 1.]])
    """
    if type(input) is not Tensor:
        want_tensor("triu", "input", 0, input)
    return _triangle(input, diagonal, True, out)


def tril_(input, diagonal=0):
    """tril, written into the tensor itself.

    >>> facula.ones(1, 3).tril_()
    tensor([[1., 0., 0.]])
    """
    return _cleared(input, diagonal, False)


def triu_(input, diagonal=0):
    """triu, written into the tensor itself.

    >>> facula.ones(1, 3).triu_(1)
    tensor([[0., 1., 1.]])
    """
    return _cleared(input, diagonal, True)


def _cleared(input, diagonal, upper):
    """The tensor with zeros beside one triangle: only they are written where nobody has to hear of it."""
    if type(input) is Tensor and type(diagonal) is int and len(input.shape) > 1 and _dispatch.unheard(input):
        return _ops._triangle_(input, diagonal, upper)
    want_tensor("triu_" if upper else "tril_", "input", 0, input)
    return written(input, (triu if upper else tril)(kept(input), diagonal))


def _triangle(input, diagonal, upper, out):
    if len(input.shape) < 2:
        kinds_first("triu" if upper else "tril", input=input, diagonal=diagonal, out=out)
        raise RuntimeError(f"{'triu' if upper else 'tril'}: input tensor must have at least 2 dimensions, got {input.dim()}")
    return _ops._triangle(input, diagonal, upper, out=out)


def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
    """Row and column indices of the lower triangle.

    >>> facula.tril_indices(2, 3)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    _create.plain(layout, pin_memory)
    return _create._finish(_triangle_indices("tril_indices", row, col, offset, False, dtype, device), requires_grad)


def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
    """Row and column indices of the upper triangle.

    >>> facula.triu_indices(2, 3)
    tensor([[0, 0, 0, 1, 1],
            [0, 1, 2, 1, 2]])
    """
    _create.plain(layout, pin_memory)
    return _create._finish(_triangle_indices("triu_indices", row, col, offset, True, dtype, device), requires_grad)


def _triangle_indices(name, row, col, offset, upper, dtype, device):
    if dtype is None:
        dtype = int64
    elif dtype._name not in ("int32", "int64"):
        raise NotImplementedError(f'"{name}" not implemented for {dtype._name!r}. Give int32 or int64.')
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}.")
    found = _ops._triangle_indices(row, col, offset, upper, dtype)
    device = elsewhere() if device is None else device
    return found if device is None else found.to(device)


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along dim, n times.

    >>> x = facula.tensor([1, 4, 9, 16])
    >>> facula.diff(x)
    tensor([3, 5, 7])
    >>> facula.diff(x, n=2)
    tensor([2, 2])
    >>> x.diff(n=2)
    tensor([2, 2])
    """
    if out is not None:
        return into("diff", diff(input, n, dim, prepend, append), out, () if n else (input,), strides=n > 0)
    if n < 0:
        raise RuntimeError(f"diff: order must be non-negative but got {n}")
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if not 0 <= dim < input.dim() and (n or prepend is not None or append is not None):
        dim = wrap_dim("diff", dim, input.dim())
    x = input
    if prepend is not None or append is not None:
        for name, end in (("prepend", prepend), ("append", append)):
            if end is not None and end.dim() != input.dim():
                raise RuntimeError(f"diff expects prepend or append to be the same dimension as input, but {name} has {end.dim()} dims and input {input.dim()}.")
            if end is not None and any(a != b for d, (a, b) in enumerate(zip(end.shape, input.shape)) if d != dim):
                raise ShapeError(f"diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension; input.shape: {list(input.shape)}, {name}: {list(end.shape)}, dim {dim}. Cut or pad it.")
        if n:
            x = _joining.cat([x for x in (prepend, input, append) if x is not None], dim)
    if n == 0:
        return input.clone()
    apart = _ops.ne if x.dtype._kind == 0 else _ops.sub
    for size in range(x.shape[dim] - 1, max(x.shape[dim] - n, 0) - 1, -1):  # until nothing is left
        x = apart(_ops.slice(x, dim, 1, size, 1), _ops.slice(x, dim, 0, size, 1))
    return x


def cross(input, other, dim=None, *, out=None):
    """Vector product along a dim of size 3 (the first such dim unless given).

    >>> x = facula.tensor([1.0, 0.0, 0.0])
    >>> facula.cross(x, facula.tensor([0.0, 1.0, 0.0]), 0)
    tensor([0., 0., 1.])
    >>> x.cross(facula.tensor([0.0, 1.0, 0.0]), 0)
    tensor([0., 0., 1.])
    """
    if dim is not None and (input.dim() == other.dim() or input.dtype is other.dtype):
        if input.dim() != other.dim():
            raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}.")
        if wrap_dim("cross", dim, input.dim()) >= input.dim():
            raise IndexError(f"cross: Dimension specified as {dim} but tensor has no dimensions. Give vectors.")
    if input.dtype is not other.dtype and input.dtype._kind:
        raise RuntimeError(f"cross: expected scalar type {input.dtype._name} but found {other.dtype._name}. Convert one.")
    if input.dtype._kind == 0:
        raise NotImplementedError('"cross" not implemented for \'Bool\'. Convert with .long().')
    if input.dim() != other.dim():
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}.")
    if dim is None:
        _warned.once("cross: without dim, the first of size 3, is deprecated: the default will change to -1, that of linalg.cross. Give dim, or use linalg.cross.")
        dim = next((d for d, s in enumerate(input.shape) if s == 3), None)
        if dim is None:
            raise RuntimeError("cross: no dimension of size 3 in input")
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}")
    x, y = (input, other) if input.shape == other.shape else broadcast_tensors(input, other)
    product = _dispatch.one_node(_ops._cross(x, y, dim), "LinalgCrossBackward0", input, other)
    return product if out is None else into("cross", product, out, (input, other))


def square(input, *, out=None):
    """input * input; of bool, int64.

    >>> x = facula.tensor([3.0, -2.0])
    >>> facula.square(x)
    tensor([9., 4.])
    >>> x.square()
    tensor([9., 4.])
    """
    if type(input) is not Tensor:
        want_tensor("square", "input", 0, input)
    return _ops.square(input.to(int64) if input.dtype._kind == 0 else input, out=out)


@_dispatch.one_step(sum="TraceBackward0")
def trace(input):
    """Sum of the main diagonal of a matrix.

    >>> x = facula.tensor([[1, 2], [3, 4]])
    >>> facula.trace(x)
    tensor(5)
    >>> x.trace()
    tensor(5)
    """
    if type(input) is not Tensor:
        want_tensor("trace", "input", 0, input)
    if input.dtype._kind == 0:
        raise NotImplementedError('"trace" not implemented for \'Bool\'. Convert with input.long().')
    if len(input.shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return _ops.sum(_ops.diagonal(input))


def _points(op, x, dx):
    """x, or None where dx is the spacing."""
    if x is LACKING:
        return None
    if not (type(dx) is int and dx == 1):
        raise TypeError(f"{op}(): x and dx={dx!r} cannot be given together. Give one of them.")
    return x


def cumulative_trapezoid(y, x=LACKING, *, dx=1, dim=-1):
    """Running integral along dim by the trapezoidal rule.

    >>> facula.cumulative_trapezoid(facula.tensor([0.0, 1.0, 2.0, 3.0]))
    tensor([0.5000, 2.0000, 4.5000])
    """
    x = _points("cumulative_trapezoid", x, dx)
    dim = wrap_dim("cumulative_trapezoid", dim, y.dim())
    return _ops.cumsum(_trapezoids(y, x, dx, dim), dim)


def trapezoid(y, x=LACKING, *, dx=1, dim=-1):
    """Integral along dim by the trapezoidal rule.

    >>> facula.trapezoid(facula.tensor([0.0, 1.0, 2.0]), dx=0.5)
    tensor(1.)
    """
    x = _points("trapezoid", x, dx)
    if x is None and y.dim() and y.shape[dim] and isinstance(dx, (int, float)) and not isinstance(dx, bool) and y.dtype._kind:  # each but the ends counts twice
        ends = _ops.add(_ops.select(y, dim, 0), _ops.select(y, dim, -1))
        return _ops.mul(_ops.sub(_ops.sum(y, dim), _ops.mul(ends, 0.5)), dx)
    if not y.dim() and (x is None or x.dim()):
        raise IndexRangeError(f"trapezoid: Dimension specified as {dim} but tensor has no dimensions. Give samples along a dim.")
    dim = wrap_dim("trapezoid", dim, y.dim())  # of y: x may have more dims
    if y.dim() and not y.shape[dim]:
        return y.new_zeros([n for d, n in enumerate(y.shape) if d != dim])
    return _ops.sum(_trapezoids(y, x, dx, dim), dim)


trapz = trapezoid


def _trapezoids(y, x, dx, dim):
    if isinstance(dx, (complex, bool)):
        raise RuntimeError(f"trapezoid: Currently, we only support dx as a real number, got {dx}. Multiply the result by it.")
    for name, t in (("y", y), ("x", x)):
        if t is not None and t.dtype._kind == 0:
            raise RuntimeError(f"trapezoid: received a bool input for `{name}`, but bool is not supported. Convert it with .float().")
    n = y.shape[dim]
    first, count = min(n, 1), max(n - 1, 0)
    pairs = _ops.add(narrow(y, dim, first, count), narrow(y, dim, 0, count))
    if x is not None:
        if x.dim() == 1:  # along dim; others are of the last dims
            if x.shape[0] != n:
                raise RuntimeError(f"trapezoid: There must be one `x` value for each sample point, got {tuple(x.shape)} for {tuple(y.shape)} along dim {dim}.")
            x = _ops.view(x, [n if d == dim else 1 for d in range(y.dim())])
        elif x.dim() < y.dim():
            x = _ops.view(x, (*(1,) * (y.dim() - x.dim()), *x.shape))
        dx = diff(x, dim=dim)
    return _ops.mul(_ops.mul(pairs, dx), 0.5)


__all__ = [
    "clone", "cross", "cumulative_trapezoid", "diff", "equal", "imag", "real", "square", "trace", "trapezoid", "trapz",
    "tril", "tril_indices", "triu", "triu_indices", "view_as_complex", "view_as_real",
]  # fmt: skip
_NO_METHOD = {"cumulative_trapezoid", "imag", "real", "trapezoid", "trapz", "tril_indices", "triu_indices", "view_as_complex", "view_as_real"}
METHODS = [n for n in __all__ if n not in _NO_METHOD] + ["tril_", "triu_"]
