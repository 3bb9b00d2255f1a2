"""Shapes: views, joining, splitting, rearranging. Compositions of the view rows and `cat`."""

from facula.tensor_core import _dispatch, _ops
from facula.tensor_core._arguments import ints
from facula.tensor_core._errors import STATUS, DTypeError, ShapeError
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import Size
from facula.tensor_core._types import dtype as _dtype


_view_dims, _view_list, _view_op = lib.view_dims, lib.view_list, lib.view_op
_VIEW, _SLICE = (next(op.id for op in _ops.OPS if op.name == name) for name in ("view", "slice"))
_STRIDE = STATUS.index("view")  # a view that strides do not allow


def wrap_dim(name, dim, ndim):
    """dim counted from the front. Raises IndexError for one that is not there."""
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"{name}: Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def view(self, *shape, size=None, dtype=None):
    """The same elements in another shape (or, given a dtype, the same bytes as another type), without a copy.

    >>> import facula
    >>> facula.tensor([1.0, -2.0]).view(facula.int32)
    tensor([ 1065353216, -1073741824], dtype=torch.int32)
    """
    n = len(shape)
    if 0 < n < 5 and (n > 1 or type(shape[0]) is int) and size is None and dtype is None and not _ops.interpreting:
        try:
            t = _view_dims(_VIEW, self._h, n, shape[0], shape[1] if n > 1 else 0, shape[2] if n > 2 else 0, shape[3] if n > 3 else 0)  # the common case, flat
        except (AttributeError, TypeError, OverflowError):
            t = None
        if t is not None:
            t.base = self if self.base is None else self.base
            if self.origin is not None:
                _dispatch.record[_VIEW](t, self, shape)
            return t
    given = [w for w in (size, dtype) if w is not None]
    if given:
        if shape or len(given) > 1:
            raise TypeError(f"view() takes sizes or a dtype, got {shape}, size={size}, dtype={dtype}. Give one of them.")
        shape = given
    if not shape:
        raise TypeError("view() received an invalid combination of arguments - got (). Give a shape or a dtype.")
    if len(shape) == 1:
        if isinstance(shape[0], _dtype):
            return _ops.view_dtype(self, shape[0])
        if not hasattr(shape[0], "__index__"):
            shape = shape[0]
    return _ops.view(self, shape)


def reshape(input, *shape):
    """input in another shape: a view where strides allow, else a copy. One size may be -1.

    >>> import facula
    >>> facula.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = ints(shape)
    if _ops.interpreting:
        return _reshaped_step_by_step(input, shape)
    try:
        t = _view_list(_VIEW, input._h, len(shape), shape)
    except (TypeError, OverflowError):
        t = None
    if t is None:
        return _reshaped_step_by_step(input, shape)
    t.base = input if input.base is None else input.base
    if input.origin is not None:
        _dispatch.record[_VIEW](t, input, shape)
    return t


def _reshaped_step_by_step(input, shape):
    """reshape where an interpreter listens, a copy is needed, or the shape does not fit."""
    if not _ops.interpreting and _view_list(_VIEW, input._h, len(shape), shape) is None and lib.fc_status() == _STRIDE:
        return _alone(_ops.view(_ops.copy(input, None, 0), shape))
    try:
        return _ops.view(input, shape)
    except RuntimeError as error:
        if "stride" not in str(error):
            raise
    return _alone(_ops.view(_ops.copy(input, None, 0), shape))


def _alone(t):
    """A view of a copy that nobody else has: a tensor of its own, no view."""
    t.base = None
    return t


def view_as(self, other):
    """view(other.shape)."""
    return _ops.view(self, other.shape)


def reshape_as(self, other):
    """reshape(other.shape)."""
    return reshape(self, other.shape)


def expand(self, *size, implicit=False):
    """Dims of size 1 repeated without a copy; -1 keeps a size. implicit changes nothing, as in PyTorch."""
    return _ops.expand(self, ints(size))


def expand_as(self, other):
    """expand(other.shape)."""
    return _ops.expand(self, other.shape)


def broadcast_to(input, size):
    """input expanded to size."""
    return _ops.expand(input, size)


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError where they do not."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max(map(len, shapes), default=0)
    for s in shapes:
        for k in range(1, len(s) + 1):
            if s[-k] != 1:
                if result[-k] not in (1, s[-k]):
                    raise ShapeError(f"broadcast_shapes: Shape mismatch: objects cannot be broadcast to a single shape: {s[-k]} and {result[-k]} at dim -{k}")
                result[-k] = s[-k]
    return Size(result)


def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(t).__name__}. Give the tensors one by one.")
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t if t.shape == shape else _ops.expand(t, shape) for t in tensors)


def permute(input, *order, dims=None):
    """Dims in another order, as a view.

    >>> import facula
    >>> facula.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    dims = order if dims is None else (dims,)
    if not dims:
        raise TypeError("permute() missing 1 required positional argument: 'dims'")
    return _ops.permute(input, ints(dims))


def t(input):
    """The transpose of a matrix; tensors of fewer dims stay. Raises RuntimeError for more."""
    n = input.dim()
    if n > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {n}D. Use transpose or mT.")
    return _ops.transpose(input, 0, 1) if n == 2 else _ops.alias(input)


def _reversed_dims(self):
    n = self.dim()
    if n != 2:
        import warnings

        other = "This function is the identity there." if not n else "Use x.mT to transpose batches of matrices or x.permute(*range(x.ndim - 1, -1, -1)) to reverse the dims."
        warnings.warn(f"The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated, and this one has {n}. {other}", UserWarning, stacklevel=2)
    return _ops.permute(self, tuple(range(self.dim() - 1, -1, -1)))


def _hermitian(self):
    """The conjugate transpose of a matrix."""
    n = self.dim()
    if n not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{' For batches of matrices, consider using tensor.mH' if n > 2 else ''}")
    return adjoint(self)


def _matrix_transposed(self):
    if not self.shape:
        return _ops.alias(self)
    if self.dim() < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor.")
    return _ops.transpose(self, -2, -1)


def squeeze(input, dim=None):
    """Without dims of size 1: all of them, or those named."""
    if dim is None:
        dim = tuple(d for d, size in enumerate(input.shape) if size == 1)
    elif isinstance(dim, int):
        dim = (dim,)
    if len(dim) > 1 and len({wrap_dim("squeeze", d, input.dim()) for d in dim}) < len(dim):
        raise RuntimeError(f"squeeze: a dim appears multiple times in the list of dims {tuple(dim)}. Name each dim once.")
    return _ops.squeeze(input, tuple(dim))


def flatten(input, start_dim=0, end_dim=-1):
    """Dims start_dim to end_dim as one.

    >>> import facula
    >>> facula.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    n = input.dim()
    if start_dim == 0 and end_dim == -1:
        return input if n == 1 else reshape(input, (input.numel(),))
    a, b = wrap_dim("flatten", start_dim, n), wrap_dim("flatten", end_dim, n)
    if a > b:
        raise RuntimeError(f"flatten() has invalid args: start_dim cannot come after end_dim, got {start_dim} and {end_dim}")
    shape = input.shape
    if n == 0:
        return reshape(input, (1,))
    if a == b:
        return input
    size = 1
    for s in shape[a : b + 1]:
        size *= s
    return reshape(input, (*shape[:a], size, *shape[b + 1 :]))


def ravel(input):
    """All elements in one dim, without a copy where they lie contiguously."""
    return _ops.view(input if lib.fc_is_contiguous(input._h, 0) else _ops.copy(input, None, 0), (-1,))


def unflatten(input, dim, sizes):
    """One dim as several; one of sizes may be -1."""
    d = wrap_dim("unflatten", dim, input.dim())
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    return _ops.view(input, (*input.shape[:d], *sizes, *input.shape[d + 1 :]))


def narrow(input, dim, start, length):
    """The part of dim from start on, length long, as a view."""
    if input.dim() == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = wrap_dim("narrow", dim, input.dim())
    size = input.shape[d]
    if isinstance(start, Tensor) and (start.dim() or start.dtype.kind != 1):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = int(start)
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}.")
    if not -size <= start <= size:
        raise IndexError(f"narrow: start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _ops.slice(input, d, start, length, 1)


def movedim(input, source, destination):
    """Dims moved to other places; the rest keep their order."""
    n = input.dim()
    source = (source,) if isinstance(source, int) else tuple(source)
    destination = (destination,) if isinstance(destination, int) else tuple(destination)
    if len(source) != len(destination):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same number of dims as destination ({destination} dims)")
    source = [wrap_dim("movedim", d, n) for d in source]
    destination = [wrap_dim("movedim", d, n) for d in destination]
    if len(set(source)) < len(source) or len(set(destination)) < len(destination):
        raise RuntimeError(f"movedim: repeated dim in `source` ({source}) or `destination` ({destination})")
    order = [d for d in range(n) if d not in source]
    for at, d in sorted(zip(destination, source)):
        order.insert(at, d)
    return _ops.permute(input, tuple(order))


moveaxis = movedim


def swapaxes(input, axis0, axis1):
    """transpose(axis0, axis1)."""
    return _ops.transpose(input, axis0, axis1)


swapdims = swapaxes


def adjoint(input):
    """The conjugate transpose of the last two dims."""
    if input.dim() < 2:
        if not input.shape:
            return input.conj()
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _ops.transpose(input, -2, -1).conj() if input.is_complex() else _ops.transpose(input, -2, -1)


def select(input, dim, index):
    """One slice along dim, as a view."""
    if not input.shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    return _ops.select(input, dim, int(index))


def unbind(input, dim=0, *, axis=None):
    """The slices along dim, as views."""
    dim = dim if axis is None else axis
    if input.dim() == 0:
        raise IndexError("unbind: Dimension specified as 0 but tensor has no dimensions")
    d = wrap_dim("unbind", dim, input.dim())
    return _together("unbind", input, tuple(_ops.select(input, d, k) for k in range(input.shape[d])), d)


def _together(name, input, pieces, dim):
    """Pieces of one tensor: the tape hears of them as the results of one op."""
    if input.origin is not None:
        _dispatch.tape.pieces(name, input, pieces, dim)
    return pieces


def split(tensor, split_size_or_sections, dim=0):
    """Pieces along dim: of one size (the last may be smaller) or of the sizes given. Views."""
    if tensor.dim() == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim("split", dim, tensor.dim())
    size = tensor.shape[d]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        if step < 0 or (step == 0 and size):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step} (dimension size {size})")
        sizes = [min(step, size - k) for k in range(0, size, step)] if size else [0]
    else:
        sizes = [int(s) for s in split_size_or_sections]
        if sum(sizes) != size or any(s < 0 for s in sizes):
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {d}), but got split_sizes={sizes}")
    pieces, start = [], 0
    if _ops.interpreting or lib.fc_epoch_stale(tensor._h):
        for s in sizes:
            pieces.append(_ops.slice(tensor, d, start, s, 1))
            start += s
    else:  # the tape gives all of them one node, so none is recorded
        base = tensor if tensor.base is None else tensor.base
        for s in sizes:
            t = _view_op(_SLICE, tensor._h, d, start, s, 1)
            t.base = base
            pieces.append(t)
            start += s
    return _together("split", tensor, tuple(pieces), d)


def split_with_sizes(input, split_sizes, dim=0):
    """split(input, split_sizes, dim)."""
    return split(input, list(split_sizes), dim)


def chunk(input, chunks, dim=0, *, axis=None):
    """At most `chunks` pieces of one size along dim."""
    dim = dim if axis is None else axis
    if not input.shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = wrap_dim("chunk", dim, input.dim())
    size = input.shape[d]
    step = -(-size // chunks)
    return split(input, step, d) if size else split(input, [0] * chunks, d)


def tensor_split(input, indices_or_sections, dim=0):
    """Pieces along dim: a number of nearly equal ones, or cut at the indices given."""
    if not input.shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    d = wrap_dim("tensor_split", dim, input.dim())
    size = input.shape[d]
    if isinstance(indices_or_sections, Tensor):
        if indices_or_sections.dtype is not _int64():
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {indices_or_sections.dtype.name}")
        if indices_or_sections.dim() > 1:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with {indices_or_sections.dim()} dims")
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {n}")
        return split(input, [size // n + (k < size % n) for k in range(n)], d)
    cuts = [0, *(slice(None, i).indices(size)[1] for i in indices_or_sections), size]
    return tuple(_ops.slice(input, d, min(a, size), max(b - a, 0), 1) for a, b in zip(cuts, cuts[1:]))


def _splittable(name, input, least, sections, dim):
    """PyTorch's conditions: enough dims, and a number of pieces that divides the size."""
    if input.dim() < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.dim()} dimensions!")
    if isinstance(sections, int):
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        if input.shape[dim] % sections:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {input.shape[dim]} is not divisible by the split_size {sections}!")


def hsplit(input, indices_or_sections):
    """tensor_split along dim 1 (dim 0 of a 1-d tensor)."""
    _splittable("hsplit", input, 1, indices_or_sections, 0 if input.dim() == 1 else 1)
    return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


def vsplit(input, indices_or_sections):
    """tensor_split along dim 0."""
    _splittable("vsplit", input, 2, indices_or_sections, 0)
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    """tensor_split along dim 2."""
    _splittable("dsplit", input, 3, indices_or_sections, 2)
    return tensor_split(input, indices_or_sections, 2)


def stack(tensors, dim=0, *, out=None, axis=None):
    """Tensors of one shape along a new dim.

    >>> import facula
    >>> facula.stack([facula.zeros(2), facula.ones(2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    dim = dim if axis is None else axis
    if not len(tensors):
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0].shape
    for k, other in enumerate(tensors):
        if other.shape != shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(other.shape)} at entry {k}")
    d = wrap_dim("stack", dim, len(shape) + 1)
    return _ops.cat([_ops.unsqueeze(x, d) for x in tensors], d, out=out)


def cat(tensors, dim=0, *, axis=None, out=None):
    """Tensors joined along a dim that they have; other sizes agree, dtypes promote."""
    dim = dim if axis is None else axis
    if isinstance(tensors, Tensor):
        raise TypeError("cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor. Put it into a list.")
    tensors = list(tensors)
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    if out is None and isinstance(tensors[0], Tensor) and tensors[0].dim() in (4, 5) and all(map(_channels_last, tensors)):
        n = tensors[0].dim()
        order = (0, *range(2, n), 1)  # the result lies as its parts do
        joined = _ops.cat([_ops.permute(t, order) for t in tensors], order.index(wrap_dim("cat", dim, n)))
        return _ops.permute(joined, (0, n - 1, *range(1, n - 1)))
    return _ops.cat(tensors, dim, out=out)


def _channels_last(t):
    return isinstance(t, Tensor) and t.dim() in (4, 5) and not lib.fc_is_contiguous(t._h, 0) and lib.fc_is_contiguous(t._h, t.dim() - 2)


concat = concatenate = cat


def atleast_1d(*tensors):
    """Tensors with at least one dim."""
    return _at_least(tensors, lambda x: x.reshape(1) if x.dim() == 0 else x)


def atleast_2d(*tensors):
    """Tensors with at least two dims."""
    return _at_least(tensors, lambda x: x.reshape(1, 1) if x.dim() == 0 else x.unsqueeze(0) if x.dim() == 1 else x)


def atleast_3d(*tensors):
    """Tensors with at least three dims."""
    def widen(x):
        n = x.dim()
        return x.reshape(1, 1, 1) if n == 0 else x.unsqueeze(0).unsqueeze(-1) if n == 1 else x.unsqueeze(-1) if n == 2 else x

    return _at_least(tensors, widen)


def _at_least(tensors, widen):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return tuple(map(widen, tensors[0]))
    return widen(tensors[0]) if len(tensors) == 1 else tuple(map(widen, tensors))


def hstack(tensors, *, out=None):
    """cat along dim 1 (dim 0 of 1-d tensors)."""
    if not len(tensors):
        raise RuntimeError("hstack expects a non-empty TensorList")
    tensors = atleast_1d(*tensors) if len(tensors) > 1 else (atleast_1d(tensors[0]),)
    return cat(tensors, 0 if tensors[0].dim() == 1 else 1, out=out)


def vstack(tensors, *, out=None):
    """cat along dim 0 of tensors with at least two dims."""
    if not len(tensors):
        raise RuntimeError("vstack expects a non-empty TensorList")
    return cat([atleast_2d(x) for x in tensors], 0, out=out)


row_stack = vstack


def dstack(tensors, *, out=None):
    """cat along dim 2 of tensors with at least three dims."""
    if not len(tensors):
        raise RuntimeError("dstack expects a non-empty TensorList")
    return cat([atleast_3d(x) for x in tensors], 2, out=out)


def column_stack(tensors, *, out=None):
    """1-d and 0-d tensors as columns, then cat along dim 1."""
    return cat([x.reshape(-1, 1) if x.dim() <= 1 else x for x in tensors], 1, out=out)


def repeat(self, *repeats):
    """The tensor copied repeats[d] times along each dim d; more repeats than dims add leading dims."""
    repeats = ints(repeats)
    n = self.dim()
    if any(r < 0 for r in repeats):
        raise RuntimeError(f"repeat: Trying to create tensor with negative dimension: repeats are {repeats}. Give numbers from 0 on.")
    if len(repeats) < n:
        raise RuntimeError(f"repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor ({len(repeats)} < {n})")
    shape = (1,) * (len(repeats) - n) + tuple(self.shape)
    x, wide = self, []
    for d, (r, s) in enumerate(zip(repeats, shape)):  # a dim for each that is repeated
        if d < len(shape) - n:
            wide.append(r)
            continue
        if r != 1:
            x = _ops.unsqueeze(x, len(wide) - (len(shape) - n))
            wide.append(r)
        wide.append(s)
    total = [r * s for r, s in zip(repeats, shape)]
    whole = _ops.copy(_ops.expand(x, wide), None, 0)  # of its own memory, also where strides of 0 would do
    return _alone(_ops.view(whole, total))


def tile(input, *dims):
    """repeat, with missing leading counts taken as 1."""
    dims = tuple(ints(dims))
    return repeat(input, (1,) * (input.dim() - len(dims)) + dims)


def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Every element (or slice along dim) repeated in place: a count for all, or one for each."""
    from facula.tensor_core._create import arange, tensor

    if repeats is None:
        return repeat_interleave(arange(input.numel()), input)
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    d = wrap_dim("repeat_interleave", dim, input.dim())
    size = input.shape[d] if input.dim() else 1
    if isinstance(repeats, int) and repeats > 0 and input.dim():
        shape = input.shape
        wide = _ops.expand(_ops.unsqueeze(input, d + 1), [*shape[: d + 1], repeats, *shape[d + 1 :]])
        return _alone(_ops.view(_ops.copy(wide, None, 0), [*shape[:d], size * repeats, *shape[d + 1 :]]))
    if isinstance(repeats, Tensor):
        if repeats.dtype.name not in ("int64", "int32"):
            raise DTypeError(f"repeat_interleave: repeats has to be Long or Int tensor, not implemented for {repeats.dtype.name}. Convert it with .long().")
        counts = repeats.tolist()
        counts = counts * size if repeats.numel() == 1 and isinstance(counts, list) else [counts] * size if not isinstance(counts, list) else counts
    else:
        counts = [repeats] * size
    if len(counts) != size:
        raise RuntimeError(f"repeat_interleave: repeats must have the same size as input along dim, but got {len(counts)} and {size}")
    if any(c < 0 for c in counts):
        raise RuntimeError("repeat_interleave: repeats can not be negative")
    if output_size is not None and output_size != sum(counts):
        raise RuntimeError(f"repeat_interleave: allocated size does not match required size: output_size={output_size}, the repeats sum to {sum(counts)}.")
    index = tensor([k for k, c in enumerate(counts) for _ in range(c)], dtype=_int64(), device=input.device)
    return _ops.index_select(input, dim, index)


def _int64():
    from facula.tensor_core._types import int64

    return int64


def flip(input, *dims, **named):
    """The order along the dims turned round: a copy."""
    dims = ints((named.pop("dims"),) if not dims and "dims" in named else dims)
    if named:
        raise TypeError(f"flip() got an unexpected keyword argument '{next(iter(named))}'")
    x = input
    wrapped = [wrap_dim("flip", d, input.dim()) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"flip: a dim appears multiple times in the list of dims {list(dims)}. Name each dim once.")
    for d in wrapped if input.dim() else ():
        size = input.shape[d]
        x = _ops.slice(x, d, size - 1 if size else 0, size, -1)
    return _ops.copy(x, None, 0)


def fliplr(input):
    """flip along dim 1."""
    if input.dim() < 2:
        raise RuntimeError("fliplr: Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input):
    """flip along dim 0."""
    if input.dim() < 1:
        raise RuntimeError("flipud: Input must be >= 1-d.")
    return flip(input, 0)


def roll(input, shifts, dims=None):
    """Elements moved along dims, those that leave come back at the other end; without dims, over the flat tensor."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if dims is None:
        return _alone(reshape(roll(reshape(input, (-1,)), shifts, (0,)), input.shape))
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(dims) != len(shifts):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    x = input
    for shift, d in zip(shifts, dims):
        size = x.shape[wrap_dim("roll", d, x.dim())]
        if size == 0:
            continue
        k = shift % size
        if k:
            d = wrap_dim("roll", d, x.dim())
            x = _ops.cat([_ops.slice(x, d, size - k, k, 1), _ops.slice(x, d, 0, size - k, 1)], d)
    return x if x is not input else input.clone()


def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dims turned by k quarter turns, from the first towards the second: a copy."""
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {len(dims)}")
    n = input.dim()
    if n < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {n}")
    a, b = (wrap_dim("rot90", d, n) for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    k %= 4
    if k == 1:
        return _ops.transpose(flip(input, b), a, b)
    if k == 2:
        return flip(input, a, b)
    if k == 3:
        return _ops.transpose(flip(input, a), a, b)
    return _ops.copy(input, None, 0)


def diag(input, diagonal=0, *, out=None):
    """The diagonal of a matrix, or the matrix with this diagonal."""
    from facula.tensor_core._out import into

    if input.dim() == 2:
        return into("diag", _ops.copy(_ops.diagonal(input, diagonal), None, 0), out)
    if input.dim() != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return into("diag", diag_embed(input, diagonal), out)


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices whose diagonals are the last dim of input."""
    from facula.tensor_core._create import zeros

    size = input.shape[-1] + abs(offset)
    n = input.dim() + 1
    if not _ops.interpreting and input.origin is None and (dim1, dim2) == (-2, -1) and not input.is_meta:
        out = zeros((*input.shape[:-1], size, size), dtype=input.dtype)
        if not lib.fc_copy(_ops.diagonal(out, offset, -2, -1)._h, input._h):
            return out
    a, b = wrap_dim("diag_embed", dim1, n), wrap_dim("diag_embed", dim2, n)
    if a == b:
        raise RuntimeError(f"diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2}. Give two dims.")
    if _ops.interpreting:  # without a write, which an interpreter may not be able to follow
        out = _diagonals(input, size, offset)
    else:
        shape = list(input.shape[:-1])
        for d in sorted((a, b)):
            shape.insert(d, size)
        out = zeros(*shape, dtype=input.dtype, device=input.device)
        _ops.diagonal(out, offset, a, b).copy_(input)
        return _alone(out)
    return _alone(movedim(out, (n - 2, n - 1), (a, b)))


def _diagonals(input, size, offset):
    """The last dim of input on a diagonal of zeros, by choice: [i, j] is input's element where j - i is the offset."""
    from facula.tensor_core._create import arange, zeros

    ends = zeros(*input.shape[:-1], abs(offset), dtype=input.dtype)
    columns = _ops.cat([ends, input] if offset > 0 else [input, ends], -1)
    place = arange(size)
    return _ops.where_rows(_ops.unsqueeze(place, 0) - _ops.unsqueeze(place, 1) == offset, _ops.unsqueeze(columns, -2), zeros((), dtype=input.dtype))


def diagflat(input, offset=0):
    """diag of the flat input."""
    return diag_embed(reshape(input, (-1,)), offset)


def meshgrid(*tensors, indexing=None):
    """Coordinate grids from 1-d tensors; 'ij' for matrix order, 'xy' for Cartesian."""
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if indexing is None:
        import warnings

        warnings.warn('meshgrid: in an upcoming release, it will be required to pass the indexing argument: "ij" is taken.', UserWarning, stacklevel=2)
        indexing = "ij"
    if not len(tensors):
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len({t.dtype for t in tensors}) > 1:
        raise RuntimeError(f"meshgrid expects all tensors to have the same dtype, got {', '.join(t.dtype.name for t in tensors)}. Convert them with .to().")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f"meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}")
    tensors = [x.reshape(1) if x.dim() == 0 else x for x in tensors]
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors[0], tensors[1] = tensors[1], tensors[0]
    shape = [x.shape[0] for x in tensors]
    grids = [_ops.expand(_ops.view(x, [-1 if k == d else 1 for k in range(len(shape))]), shape) for d, x in enumerate(tensors)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def unfold(self, dimension, size, step):
    """Overlapping windows along a dim, as a last dim: a view."""
    return _ops.unfold(self, dimension, size, step)


def as_strided(input, size, stride, storage_offset=None):
    """Any sizes and strides over the storage of input. Raises RuntimeError where they leave it."""
    if len(size) != len(stride):
        raise RuntimeError(f"as_strided: mismatch in length of strides ({len(stride)}) and shape ({len(size)})")
    return _ops.as_strided(input, list(size), list(stride), storage_offset)


__all__ = [
    "adjoint", "as_strided", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "cat",
    "chunk", "column_stack", "concat", "concatenate", "diag", "diag_embed", "diagflat", "dsplit", "dstack", "flatten", "flip", "fliplr",
    "flipud", "hsplit", "hstack", "meshgrid", "moveaxis", "movedim", "narrow", "permute", "ravel", "repeat_interleave", "reshape", "roll",
    "rot90", "row_stack", "select", "split", "split_with_sizes", "squeeze", "stack", "swapaxes", "swapdims", "t", "tensor_split", "tile",
    "unbind", "unflatten", "vsplit", "vstack",
]  # fmt: skip
METHODS = [*__all__, "expand", "expand_as", "repeat", "reshape_as", "unfold", "view", "view_as"]
