"""Turns a C status into an exception: op, what is wrong with both values, what to do. The one place that words messages of C."""

from facula.tensor_core._lib import lib
from facula.tensor_core._types import DTYPES, FLOAT8


class ShapeError(RuntimeError, ValueError):
    """Shapes that do not fit each other.

    >>> try:
    ...     facula.ones(2) + facula.ones(3)
    ... except facula.ShapeError as error:
    ...     print(str(error).split(" at ")[0])
    add: The size of tensor a (2) must match the size of tensor b (3)
    """


class DTypeError(NotImplementedError, TypeError):
    """A dtype for which the op has no meaning, or two that do not go together.

    >>> try:
    ...     facula.ones(2) & 1
    ... except facula.DTypeError as error:
    ...     print(str(error).split(" (")[0])
    bitwise_and: "bitwise_and" not implemented for 'Float'
    """


class DeviceError(RuntimeError):
    """Operands on two devices, or a device that is not there.

    >>> try:
    ...     facula.ones(2) + facula.ones(2, device="meta")
    ... except facula.DeviceError as error:
    ...     print(str(error).split(", but")[0])
    add: Expected all tensors to be on the same device
    """


class GradError(RuntimeError):
    """A gradient that cannot be: what was asked contradicts what was recorded.

    >>> try:
    ...     facula.ones(2).sum().backward()
    ... except facula.GradError as error:
    ...     print(str(error).split(". ")[0])
    backward: element 0 of tensors does not require grad and does not have a grad_fn
    """


class ArgumentsError(ValueError, RuntimeError):
    """Arguments that do not go together: what PyTorch's functions in Python call the one, the same in C the other."""


class IndexShapeError(ShapeError, IndexError):
    """Index tensors that do not go together, or not with what they index."""


class RankError(ShapeError, IndexError):
    """A tensor of no dims where some are wanted: PyTorch raises one or the other, by op."""


class OutOfMemoryError(RuntimeError):
    """Memory is used up: what a failed allocation raises, here that of the CPU's.

    >>> issubclass(facula.OutOfMemoryError, RuntimeError)
    True
    """


lib.raise_by(OutOfMemoryError)


class AcceleratorError(RuntimeError):
    """A device failed while it computed. For programs that catch it: there is no such device yet.

    >>> issubclass(facula.AcceleratorError, RuntimeError)
    True
    """


class EmptyError(IndexError, RuntimeError):
    """A reduction that has no value over no elements."""


class IndexRangeError(IndexError, RuntimeError):
    """A position that the indexed dim does not have: PyTorch raises one or the other, by op."""


class DimError(IndexError):
    """A dim that the tensor does not have."""


STATUS = (
    "ok", "memory", "shape", "dtype", "device", "dim", "index", "zero_division", "cast", "out_shape", "overlap", "stale",
    "layout", "arg", "rank", "size", "empty", "readonly", "view", "numel", "mixed", "lazy", "unresolved",
)  # fmt: skip
MEMORY, STALE = STATUS.index("memory"), STATUS.index("stale")


class IntegerOverflow(RuntimeError, ValueError, OverflowError):
    """An integer beyond 64 bits: PyTorch raises one or the other, by what converts it."""


class IntegersOverflow(IntegerOverflow, TypeError):
    """One beyond 64 bits among several."""


class NotATensorError(TypeError, AttributeError):
    """Something else where a tensor is wanted: PyTorch's parser raises the one, its Python functions, which ask it for its shape, the other."""


def describe(value):
    """An operand in a message: its shape and dtype, or the number itself."""
    if hasattr(value, "_h"):
        return f"{tuple(value.shape)}, {value.dtype._name}"
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], "_h"):
        return "[" + "; ".join(describe(v) for v in value) + "]"
    return repr(value)


def operands(op, args):
    return "; ".join(f"{p.name}: {describe(a)}" for p, a in zip(op.params, args) if p.tensor and a is not None)


def argument(op, k):
    """Name of tensor argument k."""
    names = [p.name for p in op.params if p.tensor]
    return names[k] if 0 <= k < len(names) else "other"


def name(id):
    return DTYPES[id]._name if 0 <= id < len(DTYPES) else "none"


# rows that are called by another name than theirs
CALLED = {"copy_into_": "copy_", "index_put_rows_": "index_put_", "fill_number_": "fill_", "where_rows": "where"}


def public_name(op):
    """What a user calls the row by. Those that functions are composed of have a leading _."""
    return CALLED.get(op.name) or op.name.lstrip("_")


def explain(op, args, out=None):
    """The exception for this thread's last failing call, which was `op` with `args`."""
    code, d = STATUS[lib.fc_status()], [lib.fc_status_detail(k) for k in range(4)]
    make = globals()["_" + code]
    error, text = make(op, args, out, *d)
    return error(f"{public_name(op)}: {text}")


def _ok(op, args, out, a, b, c, d):
    return TypeError, f"arguments do not fit its signature ({op.signature}); got {', '.join(describe(x) for x in args)}."


def _memory(op, args, out, a, b, c, d):
    return OutOfMemoryError, f"not enough memory: you tried to allocate {a} bytes ({operands(op, args)}). Use smaller tensors or free some."


def _shape(op, args, out, a, b, c, d):
    if op.name == "expand":
        return ShapeError, f"The expanded size of the tensor ({b}) must match the existing size ({c}) at non-singleton dimension {a}. Target sizes: {list(args[1])}. Tensor sizes: {list(args[0].shape)}. Reshape it, or give it a size of 1 there."
    if op.name == "cat":
        return ShapeError, f"Sizes of tensors must match except in dimension {args[1]}. Expected size {b} but got size {c} for tensor number {d} in the list ({operands(op, args)}). Cut or pad it."
    if op.name in ("index", "index_put_rows_"):
        together = _go_together([tuple(i.shape) for i in args[1]])
        error = ShapeError if together else IndexShapeError
        what = "the value cannot be broadcast to indexing result" if together else "indexing tensors could not be broadcast together with shapes " + ", ".join(str(list(i.shape)) for i in args[1])
        return error, f"shape mismatch: {what} (size {b} against {c} at dim {a}; {operands(op, args)}). Reshape one."
    return ShapeError, (
        f"The size of tensor a ({b}) must match the size of tensor b ({c}) at non-singleton dimension {a} "
        f"({operands(op, args)}). Reshape one, or give it a size of 1 there to broadcast."
    )


def _go_together(shapes):
    """Do these shapes broadcast?"""
    from itertools import zip_longest

    return all(len({s for s in sizes if s != 1}) <= 1 for sizes in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1))


_OF_SOME = ("max_index", "min_index", "mode", "kthvalue", "amax", "amin")  # whose dim has to hold elements, which is seen before the dtype


def _dtype(op, args, out, a, b, c, d):
    dim = next((x for p, x in zip(op.params, args) if p.name == "dim" and type(x) is int), 0)
    rank = max(args[0].dim(), 1) if hasattr(args[0], "_h") else 1
    if not -rank <= dim < rank:  # two faults, of which the dim is the first to be seen
        return _dim(op, args, out, dim, rank, c, d)
    given = next((x for p, x in zip(op.params, args) if p.name == "dim"), None)
    if op.name.lstrip("_") in _OF_SOME and args[0].dim() and not all(args[0].shape[d] for d in (given if type(given) is tuple else (dim,)) if type(d) is int and -rank <= d < rank):
        return EmptyError, f"Expected reduction dim {dim} to have non-zero size ({operands(op, args)}). Specify another dim, or check for an empty tensor."
    if op.name == "complex_view":
        return DTypeError, f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {_scalar_type(a)} ({operands(op, args)}). Convert with .float()."
    if op.name in ("sub", "rsub", "neg") and name(a) == "bool":
        return DTypeError, _minus(op, args)
    if op.name == "addcdiv":
        return DTypeError, f"Integer division with addcdiv is no longer supported ({operands(op, args)}). Write input + value * torch.div(tensor1, tensor2, rounding_mode='trunc'), or convert to a floating dtype."
    return DTypeError, f'"{public_name(op)}" not implemented for \'{_scalar_type(a)}\' ({operands(op, args)}). Convert with input.to(a dtype of: {op.types}).'


def _minus(op, args):
    """What to write for a minus of truth values, which all three rows refuse alone."""
    both = op.name != "neg" and all(x is True or x is False or getattr(getattr(x, "dtype", None), "_kind", 1) == 0 for x in args[:2])
    kind = "Negation, the `-` operator, on a bool tensor" if op.name == "neg" else f"Subtraction, the `-` operator, with {'two bool tensors' if both else 'a bool tensor'}"
    instead = "Use the `^` or `logical_xor()` operator instead." if both else "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
    return f"{kind} is not supported. {instead} Got {operands(op, args)}."


def _scalar_type(id):
    return DTYPES[id]._scalar_type if 0 <= id < len(DTYPES) else "none"


def _device(op, args, out, a, b, c, d):
    kinds = ("cpu", "meta", "cuda:0")
    return DeviceError, f"Expected all tensors to be on the same device, but found at least two devices, {kinds[a]} and {kinds[b]}! Move one with .to(device)."


FLOATS_FIRST = frozenset("var std var_mean std_mean mean".split())  # which PyTorch refuses integers for before it looks at a dim


def _dim(op, args, out, a, b, c, d):
    if op.name.lstrip("_") in FLOATS_FIRST:
        asked = args[-1] if op.params[-1].name == "dtype" else None
        if (args[0].dtype if asked is None else asked)._kind < 2:
            return DTypeError, f"only floating point and complex dtypes are supported{f', not {asked}' if asked else ''} ({operands(op, args)}). {'Ask for another' if asked else 'Convert with .float()'}."
    low, high = -max(b, 1), max(b, 1) - 1
    if op.name.lstrip("_") == "roll" and not args[0].dim():
        return DimError, f"Dimension specified as {a} but tensor has no dimensions ({operands(op, args)}). Leave dims out."
    return DimError, f"Dimension out of range (expected to be in range of [{low}, {high}], but got {a}) ({operands(op, args)})."


def _index(op, args, out, a, b, c, d):
    if b == 0 and op.name in ("index", "index_put_rows_"):
        return IndexRangeError, f"index {a} is out of bounds for dimension with size 0 (dim {c}; {operands(op, args)})."
    if op.name in ("_embedding", "index_select"):
        return IndexRangeError, f"index out of range in self: index {a} is out of bounds for dimension {c} with size {b} ({operands(op, args)})."
    return IndexRangeError, f"index {a} is out of bounds for dimension {c} with size {b} ({operands(op, args)})."


def _zero_division(op, args, out, a, b, c, d):
    return RuntimeError, f"ZeroDivisionError: an integer was divided by zero ({operands(op, args)}). Convert to floats, or mask the zeros."


def _cast(op, args, out, a, b, c, d):
    return DTypeError, f"result type {_scalar_type(a)} can't be cast to the desired output type {_scalar_type(b)} ({operands(op, args)}). Give an output of dtype {name(a)}."


def _out_shape(op, args, out, a, b, c, d):
    where = f"size {b} at dim {a}, the result has {c}" if a >= 0 else f"{b} dims, the result has {c}"
    written = args[0] if out is None and op.writes else out
    return ShapeError, f"output with shape {list(written.shape) if written is not None else '?'} doesn't match the broadcast shape: it has {where} ({operands(op, args)})."


def _overlap(op, args, out, a, b, c, d):
    return RuntimeError, (
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location, or an input shares "
        f"memory with it ({operands(op, args)}). Please clone() the tensor before performing the operation."
    )


def _layout(op, args, out, a, b, c, d):
    return NotImplementedError, f"not defined for this layout ({operands(op, args)}). Convert with .to_dense()."


def _arg(op, args, out, a, b, c, d):
    if d == 1:
        return RuntimeError, f"dim {b} appears multiple times in the list of dims, and dims cannot be identical ({operands(op, args)}). Name each dim once."
    if op.name == "masked_scatter":
        return RuntimeError, f"expected mask to have at most {b} true elements, as source has, got {c} ({operands(op, args)}). Give a longer source."
    if op.name == "as_strided" and op.params[a].name == "stride":
        return ShapeError, f"Negative strides are not supported at the moment, got strides: {list(args[2])} ({operands(op, args)})."
    if op.name == "unfold":
        wish = f"{op.params[a].name} is {b} but must be {'>= 0' if a == 2 else '> 0'}" if b <= 0 else f"maximum size for tensor at dimension {args[1]} is {c} but size is {b}"
        return ShapeError, f"{wish} ({operands(op, args)})."
    if op.name == "expand":
        return ShapeError, f"The expanded size of the tensor ({b}) isn't allowed in a leading, non-existing dimension {c} ({operands(op, args)}). Give its size."
    given = op.params[a].name if a < len(op.params) else f"argument {a}"
    if op.name == "view":
        sizes = list(args[1])
        why = "only one dimension can be inferred" if b == -1 else f"invalid shape dimension {b} at index {sizes.index(b) if b in sizes else '?'} of shape {sizes}"
        return RuntimeError, f"{why} ({operands(op, args)}). Give the sizes."
    return RuntimeError, f"{given} may not be {b} (limit: {c}) ({operands(op, args)})."


_SLICES_READ = ("index_copy", "scatter", "scatter_add")  # which PyTorch looks up in the sizes of the source
_INDEXED = ("index_select", "index_add", "index_copy")


def _rank(op, args, out, a, b, c, d):
    if op.name == "cat":
        if (zero := next((k for k, t in enumerate(args[0]) if not t.dim()), None)) is not None:
            return RankError, f"zero-dimensional tensor (at position {zero}) cannot be concatenated ({operands(op, args)}). Use stack, or reshape it."
        return ShapeError, f"Tensors must have same number of dimensions: got {c} and {b} ({operands(op, args)}). Reshape one, or add dims with unsqueeze."
    if op.name == "gather":
        return ShapeError if b else RankError, f"Index tensor must have the same number of dimensions as input tensor ({operands(op, args)}). Reshape it."
    if op.name in _INDEXED and len(args) > 2 and args[2].dim() > 1:
        return IndexShapeError, f"Index is supposed to be a vector, but got dim: {args[2].dim()} ({operands(op, args)}). Reshape it."
    if op.name == "index_add":
        return ShapeError if b else RankError, _unlike(args)
    if op.name == "expand":
        return ShapeError, f"the number of sizes provided ({b}) must be greater or equal to the number of dimensions in the tensor ({c}) ({operands(op, args)}). Give a size for each dim."
    return ShapeError if b and op.name not in _SLICES_READ else RankError, f"{argument(op, a)} has {b} dims where {c} are wanted ({operands(op, args)}). Reshape it, or add dims with unsqueeze."


def _unlike(args):
    """What index_add says of a source of another shape."""
    return (
        "source tensor shape must match self tensor shape, excluding the specified dimension. "
        f"Got self.shape = {list(args[0].shape)} source.shape = {list(args[3].shape)}. Reshape the source."
    )


def _as_matrices(op, x, y):
    """" (2x3 and 4x5)", which programs look for; a layer's input is taken as rows."""
    if y.dim() != 2 or x.dim() < 2 or x.dim() > 2 and op.name != "linear":
        return ""
    rows, columns = (y.shape[1], y.shape[0]) if op.name == "linear" else y.shape
    return f" ({x.shape[:-1].numel()}x{x.shape[-1]} and {rows}x{columns})"


def _size(op, args, out, a, b, c, d):
    if op.kind == "dot":
        return ShapeError, f"mat1 and mat2 shapes cannot be multiplied{_as_matrices(op, args[a], args[c])}: {argument(op, a)} has {b} columns but {argument(op, c)} has {d} rows ({operands(op, args)}). Transpose one, or check the layer sizes."
    if op.name == "complex_view":
        return ShapeError, _pairs_wanted(args[0]) + f" ({operands(op, args)})."
    if op.name in _INDEXED and not args[0].dim():
        return IndexShapeError, f"Index to scalar can have only 1 value, got {b} value(s) ({operands(op, args)}). Give one."
    if op.name == "index_copy" and len(args) > 3 and args[3].dim() and args[2].numel() != args[3].shape[args[1]]:
        return IndexShapeError, f"Number of indices ({args[2].numel()}) should be equal to source.size(dim) ({args[3].shape[args[1]]}) ({operands(op, args)})."
    if op.name == "gather":
        at = next((k for k, (i, n) in enumerate(zip(args[2].shape, args[0].shape)) if i > n and k != args[1] % max(args[0].dim(), 1)), "?")
        return ShapeError, f"Size does not match at dimension {at}: expected index {list(args[2].shape)} to be no larger than self {list(args[0].shape)} apart from dimension {args[1]}. Cut it."
    if op.name == "index_add" and [n for k, n in enumerate(args[3].shape) if k != args[1] % max(args[3].dim(), 1)] != [n for k, n in enumerate(args[0].shape) if k != args[1] % args[0].dim()]:
        return ShapeError, _unlike(args)
    return ShapeError, f"{argument(op, a)} has size {b} where {argument(op, c)} has {d} ({operands(op, args)}). Make the sizes agree."


def _empty(op, args, out, a, b, c, d):
    return EmptyError, f"Expected reduction dim {a} to have non-zero size ({operands(op, args)}). Specify another dim, or check for an empty tensor."


def _readonly(op, args, out, a, b, c, d):
    if any(hasattr(a, "_h") and lib.fc_inference(a._h) and not lib.fc_may_write(a._h) for a in (*args, out)):
        return RuntimeError, f"Inplace update to inference tensor outside InferenceMode is not allowed ({operands(op, args)}). Clone it to get a normal tensor."
    return RuntimeError, f"the memory is read-only ({operands(op, args)}). Clone the tensor first."


def _pairs_wanted(x):
    """Which of the wants of view_as_complex does x miss?"""
    if not x.dim():
        return "Input tensor must have one or more dimensions"
    if x.shape[-1] != 2:
        return f"Tensor must have a last dimension of size 2, it has {x.shape[-1]}"
    if x.stride(-1) != 1:
        return f"Tensor must have a last dimension with stride 1, it has {x.stride(-1)}. Make it contiguous"
    if x.storage_offset() % 2:
        return f"Tensor must have a storage_offset divisible by 2, it has {x.storage_offset()}. Clone it"
    return f"Tensor must have a stride divisible by 2 for all but last dimension, it has {x.stride()}. Make it contiguous"


def _view(op, args, out, a, b, c, d):
    if op.name == "complex_view":
        return ShapeError, _pairs_wanted(args[0]) + f" ({operands(op, args)})."
    if op.name == "view_dtype":
        what = ("dim()", "stride(-1)", "size(-1)", "storage_offset()")[a - 1] if a < 5 else f"stride({a - 5})"
        wish = f"cannot be {b}" if a == 1 else f"must be 1 but is {b}" if a == 2 else f"must be divisible by {c} but is {b}"
        types = f"{_scalar_type(args[0].dtype._id)} as {_scalar_type(d)}"
        return ShapeError, f"self.{what} {wish} to view {types} (different element sizes) ({operands(op, args)}). Make it contiguous, or choose another dtype."
    return RuntimeError, f"view size is not compatible with input tensor's size and stride ({operands(op, args)}). Use .reshape(...) instead."


def _numel(op, args, out, a, b, c, d):
    if op.name == "view" and c and not a:
        return ShapeError, f"cannot reshape tensor of 0 elements into shape {list(args[1])} because the unspecified dimension size -1 can be any value and is ambiguous. Give its size."
    wanted = f"shape '{list(args[1])}' is invalid for input of size {a}" if op.name == "view" and len(args) > 1 else f"{a} elements (or bytes) do not go with {b}"
    return ShapeError, f"{wanted} ({operands(op, args)})."


def _before_dtypes(op, args):
    """What PyTorch says of an indexed write, where it sees that before two dtypes that do not go together; None for nothing."""
    x, dim, index, source = args[:4]
    rank = max(x.dim(), 1)
    if not -rank <= dim < rank:
        return _dim(op, args, None, dim, rank, 0, 0)
    if index.dim() > 1:
        return _rank(op, args, None, 2, index.dim(), 1, 0)
    if op.name == "index_copy" and not source.dim() and index.numel() != 1:
        return IndexShapeError, f"When source is scalar, index should have one element, but it has {index.numel()} ({operands(op, args)}). Give one."
    if op.name == "index_copy" and x.dim() and source.dim() and x.dim() != source.dim():
        return IndexShapeError, f"When source and destination are not scalars, their dimensionality must match. They have {source.dim()} and {x.dim()} dims ({operands(op, args)}). Reshape the source."
    return None


def _before_put(op, args):
    """What PyTorch says of indices before it sees what is put there; None for nothing."""
    x, places, _, dims = args[:4]
    if not _go_together([tuple(i.shape) for i in places]):
        return IndexShapeError, f"shape mismatch: indexing tensors could not be broadcast together with shapes {', '.join(str(list(i.shape)) for i in places)} ({operands(op, args)}). Reshape one."
    none = next((d for d, n in enumerate(x.shape) if not n and dims >> d & 1), None)
    return None if none is None or not all(i.numel() for i in places) else _index(op, args, None, int(places[0].flatten()[0]), 0, none, 0)


def no_promotion(a, b):
    """What to say of two dtypes that no third one holds."""
    kinds = "Float8 Types" if a in FLOAT8 or b in FLOAT8 else "uint16, uint32, uint64 types"
    return f"Promotion for {kinds} is not supported, attempted to promote {a._scalar_type} and {b._scalar_type}"


def _mixed(op, args, out, a, b, c, d):
    if op.name in ("index_add", "index_copy") and (seen := _before_dtypes(op, args)):
        return seen
    if op.name == "index_select" and args[2].dim() > 1:
        return _rank(op, args, out, 2, args[2].dim(), 1, 0)
    if op.name == "index_put_rows_" and (seen := _before_put(op, args)):
        return seen
    if c < 0:
        return DTypeError, f"{argument(op, a - 1)} must be {name(d)} but is {name(b)} ({operands(op, args)}). Convert with .to(facula.{name(d)})."
    if op.name in ("scatter", "scatter_add"):
        return DTypeError, f"Expected self.dtype to be equal to src.dtype, but got {_scalar_type(b)} and {_scalar_type(d)} ({operands(op, args)}). Convert one with .to()."
    if op.name == "convolution" and args[0].dtype is args[1].dtype:
        return DTypeError, f"Input type ({_scalar_type(b)}) and bias type ({_scalar_type(d)}) should be the same ({operands(op, args)}). Convert one with .to()."
    if op.kind in ("map2", "map3") or op.name in ("cat", "stack"):
        return DTypeError, f"{no_promotion(DTYPES[b], DTYPES[d])} ({operands(op, args)}). Convert one with .to()."
    if op.name == "convolution":
        return DTypeError, f"expected scalar type {_scalar_type(b)} but found {_scalar_type(d)} ({operands(op, args)}). Convert one with .to()."
    return DTypeError, f"expected m1 and m2 to have the same dtype, but got: {_scalar_type(b).lower()} != {_scalar_type(d).lower()} ({operands(op, args)}). Convert one with .to()."


def _lazy(op, args, out, a, b, c, d):
    return RuntimeError, f"{argument(op, a)} is a conjugate or negative view where its elements are wanted ({operands(op, args)}). Call resolve_conj() or resolve_neg() first."


def _unresolved(op, args, out, a, b, c, d):
    what, cure = ("conjugate view tensors", "resolve_conj()") if a & 1 else ("tensors with negative bit set", "resolve_neg()")
    return RuntimeError, f"not supported for {what} when converting to a different dtype ({operands(op, args)}). Call {cure} first, which copies."


def _stale(op, args, out, a, b, c, d):
    if 0 <= a < len(args) and hasattr(args[a], "_h") and not lib.fc_epoch_stale(args[a]._h):
        return RuntimeError, f"the storage of {argument(op, a)} was resized to {lib.fc_storage_bytes(args[a]._h)} bytes, too few for it ({operands(op, args)}). Resize it again first."
    return GradError, f"the gradient history of a view could not be rebuilt ({operands(op, args)})."
