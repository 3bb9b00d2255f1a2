"""Mathematics composed of rows: products, comparisons, statistics that need no kernel of their own."""

import warnings

from facula.tensor_core import _create, _dispatch, _joining, _ops, _order, _rearranging, _tensor
from facula.tensor_core._errors import DTypeError, RankError, ShapeError
from facula.tensor_core._guard import want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._out import a_tensor, into, resize, same_dtype
from facula.tensor_core._run import fitting, is_number, plain_number, zero_dim
from facula.tensor_core._shape import broadcast_shapes, narrow, wrap_dim
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import bool_ as _bool
from facula.tensor_core._types import int64


def mm(input, mat2, *, out=None):
    """Product of two matrices. Raises RuntimeError for other ranks.

    >>> import facula
    >>> facula.mm(facula.ones(1, 2), facula.ones(2, 1))
    tensor([[2.]])
    """
    if type(input) is not Tensor:
        want_tensor("mm", "input", 0, input)
    if type(mat2) is not Tensor:
        want_tensor("mm", "mat2", 1, mat2)
    if input.dim() != 2 or mat2.dim() != 2:
        raise ShapeError(f"mm: both arguments must be 2D matrices, but self is {input.dim()}D and mat2 is {mat2.dim()}D. Use matmul for others.")
    return _ops.matmul(input, mat2, out=out)


def bmm(input, mat2, *, out=None):
    """Products of two batches of matrices."""
    if type(input) is not Tensor:
        want_tensor("bmm", "input", 0, input)
    if type(mat2) is not Tensor:
        want_tensor("bmm", "mat2", 1, mat2)
    if input.dim() != 3 or mat2.dim() != 3:
        raise (ShapeError if input.dim() else RankError)(f"bmm: batch1 and batch2 must be 3D tensors, got {input.dim()}D and {mat2.dim()}D. Use matmul for others.")
    if input.shape[0] != mat2.shape[0]:
        raise ShapeError(f"bmm: batch sizes must agree, got {input.shape[0]} and {mat2.shape[0]} ({tuple(input.shape)} and {tuple(mat2.shape)}).")
    return _ops.matmul(input, mat2, out=out)


def mv(input, vec, *, out=None):
    """Product of a matrix and a vector."""
    if type(input) is not Tensor:
        want_tensor("mv", "input", 0, input)
    if type(vec) is not Tensor:
        want_tensor("mv", "vec", 1, vec)
    if input.dim() != 2 or vec.dim() != 1:
        raise (ShapeError if input.dim() else RankError)(f"mv: vector + matrix @ vector expected, got {input.dim()}D and {vec.dim()}D. Use matmul for others.")
    return _ops.matmul(input, vec, out=out)


def dot(input, tensor, *, out=None):
    """Product of two vectors of one length."""
    if type(input) is not Tensor:
        want_tensor("dot", "input", 0, input)
    if type(tensor) is not Tensor:
        want_tensor("dot", "tensor", 1, tensor)
    if input.dim() != 1 or tensor.dim() != 1:
        raise ShapeError(f"dot: 1D tensors expected, but got {input.dim()}D and {tensor.dim()}D tensors. Use matmul for others.")
    if input.shape != tensor.shape:
        raise ShapeError(f"dot: inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{tensor.shape[0]}] to have the same number of elements")
    return _ops.matmul(input, tensor, out=out)


inner_1d = dot


def vdot(input, other, *, out=None):
    """Product of the conjugate of a vector and another."""
    if not isinstance(input, Tensor) or not input.is_complex():
        return dot(input, other, out=out)
    if out is None and isinstance(other, Tensor) and other.is_conj() and not input.is_conj():
        return dot(input, other.conj()).conj()  # no copy, and a conjugate as PyTorch's
    return dot(input.conj(), other, out=out)


def outer(input, vec2, *, out=None):
    """Products of every element of one vector with every element of another."""
    if type(input) is not Tensor:
        want_tensor("outer", "input", 0, input)
    if type(vec2) is not Tensor:
        want_tensor("outer", "vec2", 1, vec2)
    if input.dim() != 1 or vec2.dim() != 1:
        raise ShapeError(f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D.")
    return _ops.mul(_ops.unsqueeze(input, 1), vec2, out=out)


ger = outer


def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat1 @ mat2)."""
    if type(input) is not Tensor:
        want_tensor("addmm", "input", 0, input)
    if type(mat1) is not Tensor:
        want_tensor("addmm", "mat1", 1, mat1)
    if type(mat2) is not Tensor:
        want_tensor("addmm", "mat2", 2, mat2)
    if out is None and (t := _plain_sum(input, mat1, mat2, 2, 2, beta, alpha)) is not None:
        return t
    if mat1.dim() != 2 or mat2.dim() != 2:
        raise ShapeError(f"addmm: mat1 and mat2 must be matrices, got {mat1.dim()}-D and {mat2.dim()}-D tensors")
    return _scaled_sum("addmm", input, _ops.matmul, mat1, mat2, beta, alpha, out)


def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat @ vec)."""
    if type(input) is not Tensor:
        want_tensor("addmv", "input", 0, input)
    if type(mat) is not Tensor:
        want_tensor("addmv", "mat", 1, mat)
    if type(vec) is not Tensor:
        want_tensor("addmv", "vec", 2, vec)
    if out is None and (t := _plain_sum(input, mat, vec, 2, 1, beta, alpha)) is not None:
        return t
    return _scaled_sum("addmv", input, mv, mat, vec, beta, alpha, out)


def addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * the sum over the batch of products."""
    if type(input) is not Tensor:
        want_tensor("addbmm", "input", 0, input)
    if type(batch1) is not Tensor:
        want_tensor("addbmm", "batch1", 1, batch1)
    if type(batch2) is not Tensor:
        want_tensor("addbmm", "batch2", 2, batch2)
    return _scaled_sum("addbmm", input, lambda x, y: _ops.sum(bmm(x, y), 0, dtype=x.dtype), batch1, batch2, beta, alpha, out)


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * (batch1 @ batch2)."""
    if type(input) is not Tensor:
        want_tensor("baddbmm", "input", 0, input)
    if type(batch1) is not Tensor:
        want_tensor("baddbmm", "batch1", 1, batch1)
    if type(batch2) is not Tensor:
        want_tensor("baddbmm", "batch2", 2, batch2)
    if out is None and (t := _plain_sum(input, batch1, batch2, 3, 3, beta, alpha)) is not None:
        return t
    return _scaled_sum("baddbmm", input, bmm, batch1, batch2, beta, alpha, out)


def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None):
    """beta * input + alpha * outer(vec1, vec2). Of bool tensors: (beta and input) or (alpha and outer)."""
    if type(input) is not Tensor:
        want_tensor("addr", "input", 0, input)
    if type(vec1) is not Tensor:
        want_tensor("addr", "vec1", 1, vec1)
    if type(vec2) is not Tensor:
        want_tensor("addr", "vec2", 2, vec2)
    if out is None and type(beta) is type(alpha) is int and beta == 1 and input.dtype is vec1.dtype is vec2.dtype and input.dtype.kind and len(vec1.shape) == len(vec2.shape) == 1:
        if input.shape == (vec1.shape[0], vec2.shape[0]):
            return _ops.addcmul(input, _ops.unsqueeze(vec1, 1), vec2, value=alpha)
    kinds = {t.dtype.kind for t in (input, vec1, vec2)}
    _real_factors("addr", kinds, beta, alpha)
    for word, number in (("beta", beta), ("alpha", alpha)):
        if kinds <= {0, 1} and isinstance(number, (float, complex)):
            raise RuntimeError(f"addr: For integral input tensors, argument {word} must not be a floating point number, got {number}.")
        if kinds != {0} and isinstance(number, bool):
            raise RuntimeError(f"addr: Boolean {word} only supported for Boolean results, got {number} for {input.dtype.name}. Give {int(number)}.")
    if kinds == {0}:
        beta, alpha = bool(beta), bool(alpha)
    if out is None and beta == 1 and type(alpha) in (int, float) and vec1.dim() == vec2.dim() == 1 and input.dtype is vec1.dtype is vec2.dtype:
        size = vec1.shape[0], vec2.shape[0]
        if kinds != {0} and input.dim() <= 2 and broadcast_shapes(input.shape, size) == size:
            return _ops.addcmul(input, _ops.unsqueeze(vec1, 1), vec2, value=alpha)
    return _sum_of("addr", input, outer, vec1, vec2, beta, alpha, out)


def _plain_sum(input, x, y, x_dims, y_dims, beta, alpha):
    """x @ y + input where that is all there is to it: no factors, one dtype that is no half, shapes that fit. None elsewhere."""
    if beta != 1 or alpha != 1 or _ops.interpreting or not (input.dtype is x.dtype is y.dtype) or input.dtype.itemsize < 4:
        return None
    if len(x.shape) != x_dims or len(y.shape) != y_dims or x_dims == 3 and x.shape[0] != y.shape[0]:
        return None
    try:
        product = _ops.matmul(x, y)
        result = _ops.add(product, input)
    except RuntimeError:  # shapes that do not fit: refused in other words
        return None
    return result if result.shape == product.shape else None


def _real_factors(name, kinds, beta, alpha):
    """Refuse complex factors of real tensors."""
    if 3 not in kinds and (isinstance(beta, complex) or isinstance(alpha, complex)):
        raise RuntimeError(f"{name}: value cannot be converted to type float without overflow: beta={beta}, alpha={alpha}. Give real factors.")


def _scaled_sum(name, input, multiply, x, y, beta, alpha, out):
    """_sum_of tensors of one dtype; integers take the factors cut to integers."""
    if not (input.dtype is x.dtype is y.dtype) and not _dispatch.listened():  # autocast may be about to make them agree
        raise RuntimeError(f"{name}: all tensors must have the same dtype, but got {input.dtype.name}, {x.dtype.name} and {y.dtype.name}. Convert them.")
    if type(beta) is not int or type(alpha) is not int:
        _real_factors(name, {input.dtype.kind}, beta, alpha)
    if input.dtype.kind < 2:
        if input.dtype.kind == 0:
            raise DTypeError(f"{name}: not implemented for 'Bool'. Convert with .to(facula.int64).")
        beta, alpha = int(beta), int(alpha)
    return _sum_of(name, input, multiply, x, y, beta, alpha, out)


def _sum_of(name, input, multiply, x, y, beta, alpha, out):
    """beta = 0 leaves input out altogether, NaN and all, as PyTorch does. Halves compute in float32 and round once."""
    half = input.dtype
    if half.itemsize == 2 and half.kind == 2 and x.dtype is y.dtype is half:
        input, x, y = input.float(), x.float(), y.float()
        return into(name, _sum_of(name, input, multiply, x, y, beta, alpha, None).to(half), out)
    if out is not None and name != "addr":
        a_tensor(name, out)
        same_dtype(name, input.dtype, out)
    product = multiply(x, y)
    if input.dim() > product.dim() or broadcast_shapes(input.shape, product.shape) != product.shape:
        raise ShapeError(f"The expanded size of the tensor must match the existing size: input {tuple(input.shape)} does not expand to {tuple(product.shape)}.")
    if out is not None:
        resize(name, out, product.shape)
    if alpha != 1:
        product = _ops.mul(product, alpha)
    if beta == 0:
        return _ops.add(product, 0, out=out)
    if multiply is outer and not input.is_contiguous() and input.shape == product.shape:  # the result lies as input does
        return _ops.add(input if beta == 1 else _ops.mul(input, beta), product, out=out)
    return _ops.add(product, input if beta == 1 else _ops.mul(input, beta), out=out)


def chain_matmul(*matrices):
    """Product of several matrices in the cheapest order."""
    from facula.linalg import multi_dot

    return multi_dot(matrices)


def equal(input, other):
    """Same shape and same values?

    >>> import facula
    >>> facula.equal(facula.ones(2), facula.ones(2))
    True
    """
    if type(input) is not Tensor:
        want_tensor("equal", "input", 0, input)
    if type(other) is not Tensor:
        want_tensor("equal", "other", 1, other)
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    if _tensor.leaving is not None:
        _tensor.leaving(input, "equal")
    verdict = lib.fc_equal(input._h, other._h) if input.origin is None and other.origin is None else -1
    if verdict < 0:
        x, y = input.detach(), other.detach()  # whose histories are never stale
        verdict = lib.fc_equal(x._h, y._h)
    if verdict < 0:
        raise RuntimeError(f"equal: operands cannot be compared ({input.dtype.name} and {other.dtype.name})")
    return bool(verdict)


def masked_fill(input, mask, value):
    """input with value where mask.

    >>> import facula
    >>> facula.zeros(2).masked_fill(facula.tensor([True, False]), 5.0)
    tensor([5., 0.])
    """
    if type(input) is not Tensor:
        want_tensor("masked_fill", "input", 0, input)
    if type(mask) is not Tensor:
        want_tensor("masked_fill", "mask", 1, mask)
    if type(value) is float and mask.dtype is _bool and input.dtype.kind == 2 and input.dtype.itemsize > 2 and input.shape and abs(value) <= 65504:
        if not (_is_contiguous(input._h, 0) and _is_contiguous(mask._h, 0)):
            input, mask = input.contiguous(), mask.contiguous()
        return _ops.where_rows(mask, value, input)
    if mask.dtype.name != "bool":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype.name}. Convert with .bool().")
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
        if value.dtype.kind > input.dtype.kind or value.dtype.itemsize > input.dtype.itemsize and not value.is_meta:
            if not _dispatch.listened():
                fitting("masked_fill", value.detach().item(), input.dtype)
        value = value.to(input.dtype)
    else:
        value = zero_dim(fitting("masked_fill", value, input.dtype), input.dtype)
    if not (_is_contiguous(input._h, 0) and _is_contiguous(mask._h, 0)):  # the result is
        input, mask = input.contiguous(), mask.contiguous()
    return _ops.where_rows(mask, value, input)


_is_contiguous = lib.fc_is_contiguous


def masked_fill_(self, mask, value):
    """value written where mask. In place."""
    if type(mask) is not Tensor:
        want_tensor("masked_fill_", "mask", 1, mask)
    if filled_where(self, mask, value):
        return self
    alike = [d for d, (size, step) in enumerate(zip(self.shape, self.stride())) if size > 1 and step == 0]
    if alike and self.origin is None:
        return _fill_expanded(self, mask, value, alike)
    result = masked_fill(self, mask, value)
    if result.shape != self.shape:
        raise ShapeError(f"masked_fill_: the mask {tuple(mask.shape)} does not broadcast to {tuple(self.shape)}")
    return _ops.copy_into_(self, result)


def filled_where(self, mask, value):
    """self[mask] = a number, where that is one write that nobody has to hear of: is it done?"""
    kind = 2 if type(value) is float else 1 if type(value) is int else 0
    if not kind or self.origin is not None or _ops.interpreting or mask.shape != self.shape or self.base is not None and self.base.origin is not None or mask.dtype is not _bool:
        return False
    dtype = self.dtype
    if dtype.kind != 2 or not -65504 <= value <= 65504:
        fitting("masked_fill_", value, dtype)
    if kind == 1 and not -(2**63) <= value < 2**63:
        return False
    number = lib.fc_from_scalar(dtype.id, kind, 0 if kind == 2 else value, value, 0.0)
    return lib.fc_map3(_WHERE, self._h, mask._h, number, self._h) is not None


def _fill_expanded(self, mask, value, dims):
    """masked_fill_ of a tensor that shows one element in many places: it is filled where any of them is chosen."""
    warnings.warn(
        "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation.", UserWarning, stacklevel=3
    )
    mask = _ops.any(_ops.expand(mask, self.shape), tuple(dims), True)
    one = self
    for d in dims:
        one = _ops.slice(one, d, 0, 1, 1)
    masked_fill_(one, mask, value)
    return self


def clone(input, *, memory_format=None):
    """A copy in new memory; strides are kept where they are dense."""
    if type(input) is not Tensor:
        want_tensor("clone", "input", 0, input)
    return _ops.copy(input, None, 1 if memory_format is None else memory_format.id)


def real(input):
    """The real part, a view of complex memory."""
    if type(input) is not Tensor:
        want_tensor("real", "input", 0, input)
    if not input.is_complex():
        return input
    return _ops.select(_ops.real_view(_ops._conj(input) if lib.fc_lazy(input._h) & 1 else input), -1, 0)


def imag(input):
    """The imaginary part, a view of complex memory."""
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
    """Complex elements as pairs along a last dim, a view."""
    if type(input) is not Tensor:
        want_tensor("view_as_real", "input", 0, input)
    if not input.is_complex():
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _ops.real_view(input)


def view_as_complex(input):
    """Pairs along the last dim as complex elements, a view."""
    return _ops.complex_view(input)


def tril(input, diagonal=0, *, out=None):
    """The lower triangle of matrices; zeros above the diagonal."""
    if type(input) is not Tensor:
        want_tensor("tril", "input", 0, input)
    return _triangle(input, diagonal, False, out)


def triu(input, diagonal=0, *, out=None):
    """The upper triangle of matrices; zeros below the diagonal."""
    if type(input) is not Tensor:
        want_tensor("triu", "input", 0, input)
    return _triangle(input, diagonal, True, out)


def _triangle(input, diagonal, upper, out):
    if len(input.shape) < 2:
        raise RuntimeError(f"{'triu' if upper else 'tril'}: input tensor must have at least 2 dimensions, got {input.dim()}")
    return _ops._triangle(input, diagonal, upper, out=out)


def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column indices of the lower triangle."""
    _create.plain(layout)
    return _triangle_indices("tril_indices", row, col, offset, False, dtype, device)


def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column indices of the upper triangle."""
    _create.plain(layout)
    return _triangle_indices("triu_indices", row, col, offset, True, dtype, device)


def _triangle_indices(name, row, col, offset, upper, dtype, device):
    if dtype is None:
        dtype = int64
    elif dtype.kind != 1:
        raise NotImplementedError(f'"{name}" not implemented for {dtype.name!r}. Give an integer dtype.')
    if row < 0 or col < 0:
        raise RuntimeError(f"{name}: row and col must be non-negative, got {row} and {col}.")
    found = _ops._triangle_indices(row, col, offset, upper, dtype)
    return found if device is None else found.to(device)


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along dim, n times."""
    if out is not None:
        return into("diff", diff(input, n, dim, prepend, append), out)
    if n < 0:
        raise RuntimeError(f"diff: order must be non-negative but got {n}")
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n == 0:
        return input.clone()
    if not 0 <= dim < input.dim():
        dim = wrap_dim("diff", dim, input.dim())
    x = input
    if prepend is not None or append is not None:
        for name, end in (("prepend", prepend), ("append", append)):
            if end is not None and end.dim() != input.dim():
                raise RuntimeError(f"diff expects {name} to have the same number of dimensions as input, got {end.dim()} and {input.dim()}.")
        x = _joining.cat([x for x in (prepend, input, append) if x is not None], dim)
    apart = _ops.ne if x.dtype.kind == 0 else _ops.sub
    for _ in range(min(n, x.shape[dim] + 1)):  # nothing is left then
        size = x.shape[dim]
        x = apart(_ops.slice(x, dim, 1, size - 1, 1), _ops.slice(x, dim, 0, size - 1, 1)) if size else apart(x, x)
    return x


def cross(input, other, dim=None, *, out=None):
    """Vector product along a dim of size 3 (the first such dim unless given)."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"cross: expected scalar type {input.dtype.name} but found {other.dtype.name}. Convert one.")
    if input.dtype.kind == 0:
        raise NotImplementedError('"cross" not implemented for \'Bool\'. Convert with .long().')
    if input.dim() != other.dim():
        raise RuntimeError(f"linalg.cross: inputs must have the same number of dimensions, got {input.dim()} and {other.dim()}.")
    if dim is None:
        dim = next((d for d, s in enumerate(input.shape) if s == 3), None)
        if dim is None:
            raise RuntimeError("cross: no dimension of size 3 in input")
    if input.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}")
    if input.dtype is other.dtype and input.shape == other.shape and input.dtype.kind:
        return into("cross", _ops._cross(input, other, dim), out, (input, other))
    roll = _rearranging.roll
    product = _ops.sub(_ops.mul(roll(input, -1, dim), roll(other, -2, dim)), _ops.mul(roll(input, -2, dim), roll(other, -1, dim)))
    return into("cross", product, out, (input, other))


def square(input, *, out=None):
    """input * input; of bool, int64."""
    if type(input) is not Tensor:
        want_tensor("square", "input", 0, input)
    return _ops.square(input.to(int64) if input.dtype.kind == 0 else input, out=out)


def trace(input):
    """Sum of the main diagonal of a matrix."""
    if type(input) is not Tensor:
        want_tensor("trace", "input", 0, input)
    if len(input.shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    if input.dtype.kind == 0:
        raise NotImplementedError('"trace" not implemented for \'Bool\'. Convert with input.long().')
    return _ops.sum(_ops.diagonal(input))


def gather(input, dim, index, *, sparse_grad=False, out=None):
    """The elements of input at index along dim. sparse_grad changes nothing: gradients are dense.

    >>> import facula
    >>> facula.gather(facula.tensor([[1, 2], [3, 4]]), 1, facula.tensor([[0], [1]]))
    tensor([[1],
            [4]])
    """
    if type(input) is not Tensor:
        want_tensor("gather", "input", 0, input)
    if type(index) is not Tensor:
        want_tensor("gather", "index", 2, index)
    if not index.numel() and index.dtype.name == "int64" and index.dim() != input.dim():
        return into("gather", _create.empty(index.shape, dtype=input.dtype), out)
    return _ops.gather(input, dim, index, out=out)


def index_fill(input, dim, index, value):
    """input with value in the slices along dim that index names."""
    if index.dtype is not int64:
        raise IndexError(f"index_fill_(): Expected dtype int64 for index, but got {index.dtype.name}. Convert it with .to(facula.int64).")
    shape = list(input.shape)
    if shape:
        shape[dim] = index.numel()
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
        if value.is_complex() and not input.is_complex():
            raise RuntimeError(f"index_fill_(): Converting complex Scalar to non-complex type is not supported: {value.dtype.name} to {input.dtype.name}. Take its real part.")
        if value.requires_grad and shape:  # a slice named twice is written once
            index = _order.unique(_ops.where_rows(_ops.lt(index, 0), _ops.add(index, input.shape[dim]), index))
            shape[dim] = index.numel()
        filled = _ops.copy(_ops.expand(value.to(input.dtype), shape), None, 1)
    else:
        filled = _ops.expand(plain_number("index_fill", value, input.dtype), shape)
        if not _ops.interpreting:
            try:
                return _ops.index_copy(input, dim, index, filled)
            except IndexError:  # from the end, perhaps
                pass
    index = _ops.where_rows(_ops.lt(index, 0), _ops.add(index, input.shape[dim] if input.shape else 1), index)
    return _ops.index_copy(input, dim, index, filled)


def take_along_dim(input, indices, dim=None, *, out=None):
    """gather with broadcasting; without dim, of the flat tensors. Along a dim indices count round and round: -1 is the last, n the first again."""
    if dim is None:
        return _ops.gather(input.reshape(-1), 0, indices.reshape(-1), out=out)
    if input.dim() != indices.dim():
        raise RuntimeError(f"take_along_dim(): input and indices should have the same number of dimensions, but got {input.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    if indices.dtype is not int64:
        raise RuntimeError(f"take_along_dim(): dtype of indices should be Long but got {indices.dtype.name}")
    if not input.dim():
        raise IndexError(f"take_along_dim: Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim("take_along_dim", dim, input.dim())
    if input.shape == indices.shape and out is None and not _ops.interpreting:
        try:
            return _ops.gather(input, d, indices)
        except IndexError:  # from the end, perhaps
            pass
    if input.shape[d]:
        indices = _ops.remainder(indices, input.shape[d])  # round and round, as PyTorch does
    if input.shape == indices.shape:
        return _ops.gather(input, d, indices, out=out)
    common = broadcast_shapes(*([s if k != d else 1 for k, s in enumerate(x.shape)] for x in (input, indices)))
    wide = [s if k != d else x for k, (s, x) in enumerate(zip(common, indices.shape))]
    source = [s if k != d else x for k, (s, x) in enumerate(zip(common, input.shape))]
    return _ops.gather(_ops.expand(input, source), d, _ops.expand(indices, wide), out=out)


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """Running integral along dim by the trapezoidal rule."""
    return _ops.cumsum(_trapezoids(y, x, dx, dim), dim)


def trapezoid(y, x=None, *, dx=1, dim=-1):
    """Integral along dim by the trapezoidal rule."""
    if x is None and y.dim() and y.shape[dim] > 1 and isinstance(dx, (int, float)) and y.dtype.kind:  # each but the ends counts twice
        ends = _ops.add(_ops.select(y, dim, 0), _ops.select(y, dim, -1))
        return _ops.mul(_ops.sub(_ops.sum(y, dim), _ops.mul(ends, 0.5)), dx)
    if y.dim() and not y.shape[dim]:
        return y.new_zeros([n for d, n in enumerate(y.shape) if d != dim % y.dim()])
    return _ops.sum(_trapezoids(y, x, dx, dim), dim)


trapz = trapezoid


def _trapezoids(y, x, dx, dim):
    for name, t in (("y", y), ("x", x)):
        if t is not None and t.dtype.kind == 0:
            raise RuntimeError(f"trapezoid: received a bool input for `{name}`, but bool is not supported. Convert it with .float().")
    n = y.shape[dim]
    first, count = min(n, 1), max(n - 1, 0)
    pairs = _ops.add(narrow(y, dim, first, count), narrow(y, dim, 0, count))
    if x is not None:
        dx = diff(x, dim=dim if x.dim() == y.dim() else -1)
        if x.dim() == 1 and y.dim() > 1:
            dx = dx.reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    return _ops.mul(_ops.mul(pairs, dx), 0.5)


_WHERE = next(op.id for op in _ops.OPS if op.name == "where_rows")

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "clone", "cross", "cumulative_trapezoid", "diff",
    "dot", "equal", "gather", "ger", "imag", "index_fill", "masked_fill", "mm", "mv", "outer", "real", "square", "take_along_dim",
    "trace", "trapezoid", "trapz", "tril", "tril_indices", "triu", "triu_indices", "vdot", "view_as_complex", "view_as_real",
]  # fmt: skip
_NO_METHOD = {"chain_matmul", "cumulative_trapezoid", "trapezoid", "trapz", "tril_indices", "triu_indices", "view_as_complex", "view_as_real", "real", "imag"}
METHODS = [n for n in __all__ if n not in _NO_METHOD] + ["masked_fill_"]
