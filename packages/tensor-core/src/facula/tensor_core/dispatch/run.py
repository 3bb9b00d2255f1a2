"""Runs one op by its verb with arguments of every allowed kind: what the flat functions of _ops.py do in their special cases."""

import functools

from facula.tensor_core.dispatch.arguments import dim_masks, dtype_id, spread
from facula.tensor_core import _tensor
from facula.tensor_core._errors import FLOATS_FIRST, DimError, DTypeError, IntegerOverflow, ShapeError, public_name
from facula.tensor_core.dispatch import kinds
from facula.tensor_core.dispatch.kinds import check
from facula.tensor_core._lib import NULL, lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import DTYPES, uint64

INT_NONE = -(2**63)


def number(value):
    """(kind, int, real, imaginary) of a Python number, as scalars cross to C."""
    if isinstance(value, bool):
        return 0, int(value), 0.0, 0.0
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise IntegerOverflow(f"the integer {value} does not fit 64 bits. Give a smaller one.")
        return (1, value, 0.0, 0.0) if value < 2**63 else (1, value - 2**64, float(value), 0.0)
    if isinstance(value, complex):
        return 3, 0, value.real, value.imag
    if isinstance(value, float):
        return 2, 0, value, 0.0
    if hasattr(value, "item") and not hasattr(value, "_h") and not getattr(value, "ndim", 0):
        return number(value.item())
    if isinstance(value, Tensor) and value.numel() == 1:
        return number(value.item())
    raise TypeError(f"expected a number, got {type(value).__name__} {value!r}")


def is_number(value):
    if isinstance(value, (int, float, complex)):
        return True
    # The number of dims is asked of its class, not of `==`: a proxy has every attribute, and records what is asked of them.
    return hasattr(value, "dtype") and hasattr(value, "item") and not isinstance(value, Tensor) and type(dims := getattr(value, "ndim", 1)) is int and not dims


def fitting_result(op, value, x, unless=()):
    """value, if the dtype that x and it make together can hold it, or is one of those."""
    if isinstance(x, Tensor) and not -128 < value < 128:
        dtype = DTYPES[lib.fc_result_type_scalar(x._h, number(value)[0])]
        if dtype._name not in unless:
            fitting(op, value, dtype)
    return value


# the largest numbers, of float8 by no one formula
LARGEST = {
    "float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"), "float32": float.fromhex("0x1.fffffep127"), "complex64": float.fromhex("0x1.fffffep127"),
    "float8_e4m3fn": 448.0, "float8_e4m3fnuz": 240.0, "float8_e5m2": 57344.0, "float8_e5m2fnuz": 57344.0, "float8_e8m0fnu": 2.0**127,
}  # fmt: skip


def fitting(op, value, dtype):
    """value, if a tensor of dtype can hold it. Raises RuntimeError where PyTorch does: out of range, or a part that would be lost.

    A fraction is cut off without complaint, infinities and NaN fit every float, and a negative integer an unsigned dtype (it wraps).
    """
    kind = dtype._kind
    if kind == 2 and type(value) is float and -240.0 <= value <= 240.0 or kind == 1 and type(value) is float and 0.0 <= value <= 127.0:
        return value
    if type(value) is int and value in (0, 1) or kind == 0 or not is_number(value):
        return value
    if not isinstance(value, (int, float, complex)):  # NumPy's
        value = value.item()
    fits = True
    if isinstance(value, complex) and kind < 3:
        fits, value = value.imag == 0, value.real
    if fits and kind == 1:
        bits = 8 * dtype.itemsize
        top = 2 ** (bits - 1 if dtype.is_signed else bits)
        if isinstance(value, float):
            fits = (-top if dtype.is_signed else 0) <= value <= float(top - 1)  # NaN fails every comparison
        else:
            fits = -top <= value < top if dtype.is_signed else -top < value < top
    elif fits:
        top = LARGEST.get(dtype._name)
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        fits = top is None or not any(abs(v) > top and abs(v) != float("inf") for v in parts)
    if not fits:
        error = IntegerOverflow if type(value) is int and not -(2**63) <= value < 2**64 else RuntimeError
        raise error(f"{op}: value cannot be converted to type {dtype._name} without overflow: {value}. Give one that the dtype holds.")
    return value


def is_array(value):
    """A NumPy array, which operators take beside a tensor."""
    return type(value).__module__ == "numpy" and hasattr(value, "__array_finalize__")  # NumPy's numbers have the array interface too


def is_operand(value):
    return isinstance(value, Tensor) or is_number(value) and not is_array(value)


_KINDS = {"int": "int", "float": "float", "Scalar": "number", "bool": "bool", "dims": "ints?", "int[]": "ints", "str": "str", "dtype": "dtype?", "generator": "generator?"}  # of the words of signatures


@functools.cache
def _kind(row, type, name):
    """What a parameter of a row takes, but for tensors."""
    word = type.rstrip("?")
    kind = kinds.SIZES.get(name) if word == "int" else "ints" if word.startswith("int[") else None
    found = kind or _KINDS.get(word)
    return found and (kinds.form(row, name) or found + "?" * type.endswith("?"))


def coerce(op, args):
    """The arguments with NumPy's numbers, and tensors that stand for integers, as Python's; anything that is no operand is refused by name, before the row looks at sizes."""
    fixed = too_large = None
    for k, p in enumerate(op.params):
        kind = _kind(op.name, p.type, p.name)
        if kind and args[k] is not p.default and not (args[k] is None and kind[-1] == "?"):
            kind = kind.rstrip("?")
            try:
                check(public_name(op), p.name, k, kind, args[k])
            except IntegerOverflow as error:  # said when all are of their kinds
                too_large = too_large or error
                continue
            if kind in kinds.INTS and type(args[k]) is not int:
                fixed = list(fixed or args)
                fixed[k] = kinds.plain(args[k])
    for k in op.tensors:
        p, a = op.params[k], args[k]
        if isinstance(a, Tensor) or (a is None and "?" in p.type):
            continue
        if "[]" in p.type:
            for j, t in enumerate(a):
                if not isinstance(t, Tensor):
                    raise TypeError(f"{public_name(op)}: expected Tensor as element {j} in argument '{p.name}', but got {type(t).__name__}. Convert it with facula.tensor.")
            continue
        if "Scalar" in p.type and op.kind in ("map1", "map2", "map3") and is_number(a):
            if hasattr(a, "item"):  # numpy.float64 is a float, and still no Python number to those who look at its type
                fixed = list(fixed or args)
                fixed[k] = float(a) if isinstance(a.item(), bool) else a.item()  # PyTorch reads NumPy's truth values as floats
            continue
        raise TypeError(f"{public_name(op)}(): argument '{p.name}' (position {k + 1}) must be Tensor, not {type(a).__name__}. Convert it with facula.tensor.")
    if op.kind == "map2" and op.name not in _OF_NUMBERS and not any(isinstance(args[k], Tensor) for k in op.tensors):
        raise TypeError(f"{op.name}(): received an invalid combination of arguments - got two numbers. Make one a tensor.")
    if too_large is not None:
        raise too_large
    return args if fixed is None else tuple(fixed)


_OF_NUMBERS = {"add", "sub", "mul", "div", "floor_divide"}  # what PyTorch computes of two numbers too


# Scalars that PyTorch converts to the tensors' dtype first, or (if False) to the one that it computes in: one of either must hold them
_CONVERTED = {
    ("_hardtanh", "min_val"): True, ("_hardtanh", "max_val"): True,
    ("clamp_numbers", "min"): True, ("clamp_numbers", "max"): True, ("threshold", "value"): True, ("threshold", "threshold"): False,
    ("_leaky_relu", "negative_slope"): False, ("_elu", "alpha"): False, ("_softplus", "beta"): False, ("_softplus", "threshold"): False,
    ("hardshrink", "lambd"): True, ("_softshrink", "lambd"): True, ("celu", "alpha"): False, ("addcmul", "value"): False, ("addcdiv", "value"): False, ("_addr", "beta"): False, ("_addr", "alpha"): False,
}  # fmt: skip
_FLOATS_ALONE = frozenset(("_elu", "celu"))  # which are not defined for integers: said before a number is converted to them


def attributes(op, args):
    """Leave the named Scalars that are off their default pending for the verb: all at the end, for the next verb takes them."""
    pending = []
    for k, at in enumerate(op.attributes):
        value = args[at].item() if isinstance(args[at], Tensor) else args[at]
        stored = _CONVERTED.get((op.name, op.params[at].name))
        if op.params[at].name == "alpha" and op.name in ("add", "sub", "rsub"):
            if type(value) in (float, bool, complex):
                _check_alpha(op, args, value)
            if type(value) is not complex and (dtype := _common(args[:2])) and dtype._kind:
                fitting(op.name, -value if op.name == "sub" else value, dtype)  # sub adds, to PyTorch
        elif stored is not None and isinstance(args[0], Tensor) and args[0].dtype._kind and not ((stored or op.name in _FLOATS_ALONE) and args[0].dtype._kind == 1 and op.name != "threshold"):
            dtype = args[0].dtype
            value = fitting(op.name, value, dtype if stored or dtype.itemsize > 2 or dtype._kind != 2 else DTYPES[11])
        if op.name == "celu" and value == 0:
            raise RuntimeError("celu: ZeroDivisionError: alpha is 0 and x is divided by it. Give another alpha.")
        if value is not None and value != op.params[at].default:
            pending.append((k, *number(value)))
    for given in pending:
        lib.fc_attr(*given)


def _common(operands):
    """The dtype that two operands make together, None of two numbers."""
    x, y = sorted(operands, key=lambda v: not isinstance(v, Tensor))
    if not isinstance(x, Tensor):
        return None
    return DTYPES[lib.fc_result_type2(x._h, y._h) if isinstance(y, Tensor) else lib.fc_result_type_scalar(x._h, number(y)[0])]


def _check_alpha(op, args, alpha):
    """PyTorch's conditions on add's factor: no fraction among integers, no truth value among numbers, nothing complex among reals."""
    kinds = [a.dtype._kind if isinstance(a, Tensor) else number(a)[0] for a in (args[k] for k in op.tensors)]
    if isinstance(alpha, bool):
        if max(kinds):
            raise RuntimeError(f"{op.name}: Boolean alpha only supported for Boolean results. It is {alpha}: give a number.")
    elif max(kinds) <= 1:
        raise RuntimeError(f"{op.name}: For integral input tensors, argument alpha must not be a floating point number. It is {alpha}: give an integer.")
    elif max(kinds) == 2 and isinstance(alpha, complex):
        raise RuntimeError(f"{op.name}: For non-complex input tensors, argument alpha must not be a complex number. It is {alpha}: give a real one.")


def handle(out):
    if out is not None and not isinstance(out, Tensor):
        raise TypeError(f"out: a Tensor to write into is wanted, but got {type(out).__name__}. Give a tensor.")
    return NULL if out is None else out._h


def zero_dim(value, dtype=None):
    """A number where only a tensor will do."""
    kind, i, re, im = number(value)
    id = dtype._id if dtype is not None else uint64._id if kind == 1 and re else (0, 5, lib.fc_default_dtype(), 13 if lib.fc_default_dtype() != 12 else 14)[kind]
    return own_tensor(lib.fc_from_scalar(id, kind, i, re, im))


def plain_number(op, value, dtype):
    """zero_dim of a number that the dtype has to hold."""
    if type(value) is float and dtype._kind == 2 and -65504.0 <= value <= 65504.0:
        return lib.from_scalar(dtype._id, 2, 0, value, 0.0)
    return zero_dim(fitting(op, value, dtype), dtype)


def number_for(op, value, like):
    """plain_number of a tensor's dtype, on its device."""
    found = plain_number(op, value, like.dtype)
    return own_tensor(lib.fc_empty(like.dtype._id, 1, 0, [])) if like.is_meta else found


def promotable(name, x, value):
    """Refuse a number that uint64 alone holds beside truth values: there is no dtype for both."""
    if x.dtype._kind == 0 and type(value) is int and value >= 2**63:
        raise RuntimeError(f"{name}: Promotion for uint16, uint32, uint64 types is not supported, attempted to promote bool and uint64 ({value}). Convert the truth values with .to().")


def finish(h):
    return own_tensor(h) if h else None


def _map(op, args, out):
    operands = [args[k] for k in op.tensors]
    numbers = [not isinstance(a, Tensor) for a in operands]
    if op.kind == "map2" and sum(numbers) == 1:
        attributes(op, args)
        promotable(public_name(op), operands[numbers[0]], operands[numbers[1]])
        if op.name in ("clamp_max", "clamp_min") and type(operands[numbers[1]]) is int:
            fitting_result(op.name, operands[numbers[1]], operands[numbers[0]])
        if numbers[1]:
            return finish(lib.fc_map2s(op.id, handle(out), operands[0]._h, *number(operands[1])))
        return finish(lib.fc_map2r(op.id, handle(out), *number(operands[0]), operands[1]._h))
    if any(numbers):
        like = next((a for a in operands if isinstance(a, Tensor)), None)
        operands = [_number_like(a, like, op) if n else a for a, n in zip(operands, numbers)]
    attributes(op, args)
    verb = (lib.fc_map1, lib.fc_map2, lib.fc_map3)[len(operands) - 1]
    return finish(verb(op.id, handle(out), *(a._h for a in operands)))


def _number_like(value, like, op):
    """A number among the operands of a map3: of the tensors' dtype where promotion would leave that alone."""
    if like is None:
        return zero_dim(value)
    kind = number(value)[0]
    dtype = DTYPES[lib.fc_result_type_scalar(like._h, kind)]
    if like.is_meta:
        return own_tensor(lib.fc_empty(dtype._id, 1, 0, []))
    return zero_dim(value, dtype)


def _fold(op, args, out):
    by = {p.name: a for p, a in zip(op.params, args)}
    attributes(op, args)
    try:
        low, high = dim_masks(by["dim"], op.params[1].type != "dims")
    except DimError as error:
        if op.name.lstrip("_") not in FLOATS_FIRST or by["input"].dtype._kind > 1 or by.get("dtype") is not None:
            raise
        raise DTypeError(f"{op.name}: only floating point and complex dtypes are supported, got {by['input'].dtype._name}. Convert with .float().") from error
    h = lib.fc_fold(op.id, handle(out), by["input"]._h, low, high, bool(by.get("keepdim", False)), dtype_id(by.get("dtype")))
    return several(op, h)


def _scan(op, args, out):
    by = {p.name: a for p, a in zip(op.params, args)}
    return several(op, lib.fc_scan(op.id, handle(out), by["input"]._h, by["dim"], dtype_id(by.get("dtype"))))


def several(op, h):
    first = finish(h)
    if first is None or op.results is None:
        return first
    return (first, *(own_tensor(lib.fc_result(k)) for k in range(1, len(op.results))))


def _dot(op, args, out):
    tensors = [NULL if args[k] is None else args[k]._h for k in op.tensors] + [NULL]
    return finish(lib.fc_dot(op.id, handle(out), *tensors[:3]))


def _gather(op, args, out):
    tensors = [args[k]._h for k in op.tensors] + [NULL]
    index = args[2]
    if op.name in ("gather", "_gather_sparse_grad", "scatter", "scatter_add") and not index.numel():  # an empty index may be of any dtype and shape
        return _through_nothing(op, args[0], args[1], index, args[3] if len(args) > 3 else None, out)
    if op.name == "index_copy" and args[0].dim() == 1 and not args[3].dim() and index.numel() == 1:  # one number is a vector of one
        tensors[2] = lib.fc_as_strided(tensors[2], 1, [1], [1], lib.fc_offset(tensors[2]))
    return finish(lib.fc_gather(op.id, handle(out), tensors[0], args[1], tensors[1], tensors[2]))


def sizes(op, values):
    """A list of sizes. Raises TypeError for what is no integer."""
    try:
        if len(values) and (values[0] is True or values[0] is False):  # PyTorch looks for a bool in the first place alone
            raise AttributeError
        return [d.__index__() for d in values]
    except AttributeError:
        raise TypeError(f"{op.name}() takes ints, but got ({', '.join(type(d).__name__ for d in values)}). Convert them with int().") from None


def _through_nothing(op, x, dim, index, src, out):
    """gather and scatter through an index without elements; None for an output of another shape."""
    if out is not None and out.shape != (index if "gather" in op.name else x).shape:
        return None
    if src is not None:
        from facula.tensor_core.functions.shape import wrap_dim

        wrap_dim(op.name, dim, x.dim())
        if src.dtype is not x.dtype:
            raise DTypeError(f"{op.name}: Expected self.dtype to be equal to src.dtype, got {x.dtype._name} and {src.dtype._name}. Convert one with .to().")
    if op.name in ("gather", "_gather_sparse_grad"):
        return out if out is not None else finish(lib.fc_empty(lib.fc_dtype(x._h), lib.fc_device(x._h), index.dim(), list(index.shape)))
    if out is None:
        return finish(lib.fc_to(x._h, lib.fc_dtype(x._h), 0, 1))
    return _written(out is x or not lib.fc_copy(out._h, x._h), out)


def _view(op, args, out):
    x, rest = args[0], args[1:]
    if op.name == "as_strided":
        size, stride, offset = rest
        if len(size) != len(stride):
            raise ShapeError(f"as_strided: mismatch in length of strides and shape, got {len(stride)} and {len(size)}. Give a stride for each size.")
        h = lib.fc_as_strided(x._h, len(size), list(size), list(stride), lib.fc_offset(x._h) if offset is None else offset)
    elif op.params[1:] and op.params[1].type == "int[]":
        h = lib.fc_view_list(op.id, x._h, len(rest[0]), sizes(op, rest[0]))
    else:
        rest = [dtype_id(r) if p.type == "dtype" else r for p, r in zip(op.params[1:], rest)]
        h = lib.fc_view_op(op.id, x._h, *rest, *(0,) * (4 - len(rest)))
    t = finish(h)
    if t is not None and op.name != "view_dtype":
        t._viewed = x if x._viewed is None else x._viewed
    return t


def _own(op, args, out):
    lengths, tensors, ints, doubles = [], [], [], []
    for p, a in zip(op.params, args):
        if "[]" in p.type and p.tensor:
            lengths.append(len(a))
            tensors += [t._h for t in a]
        elif p.tensor:
            tensors.append(NULL if a is None else a._h)
        elif p.type == "dtype":
            ints.append(dtype_id(a))
        elif p.type == "int?":
            ints.append(INT_NONE if a is None else a)
        elif p.type in ("int", "bool"):
            ints.append(int(a))
        elif p.type == "int[]":
            ints += [len(a), *sizes(op, a)]
        elif p.type.startswith("int["):
            ints += spread(a, int(p.type[4:-1]))
        elif p.type in ("float", "float?", "Scalar"):
            doubles.append(float("nan") if a is None else float(a))
    ints = lengths + ints
    h = lib.fc_own_n(op.id, handle(out), len(tensors), tensors, len(ints), ints, len(doubles), doubles)
    if h and op.results == ():
        return args[0]
    return several(op, h)


def _random(op, args, out):
    ints = [a for p, a in zip(op.params, args) if p.type == "int"] + [0, 0]
    doubles = [float(a) for p, a in zip(op.params, args) if p.type == "float"] + [0.0, 0.0]
    generator = args[-1] or _tensor.default_generator
    if not isinstance(generator, type(_tensor.default_generator)):
        raise TypeError(f"{op.name}: argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    h = lib.fc_random(op.id, args[0]._h, generator._g, ints[0], ints[1], doubles[0], doubles[1])
    return _written(h, args[0])


def _written(h, target):
    return target if h else None


def _to(op, args, out):
    x, dtype, memory_format = args
    return finish(lib.fc_to(x._h, lib.fc_dtype(x._h) if dtype is None else dtype_id(dtype), memory_format, 1))


def _indices(op, args):
    """One handle (or NULL) per leading dim from the list of index tensors and the bits of the dims they stand at."""
    indices, dims = args["indices"], args["dims"]
    if dims < 0 or dims.bit_count() != len(indices):
        raise ShapeError(f"{op.name}: {len(indices)} index tensors do not stand at the dims of {dims:#b}. Set one bit for each.")
    left = iter(indices)
    return [next(left)._h if dims >> d & 1 else NULL for d in range(dims.bit_length())]


def _place(op, args, out):
    by = {p.name: a for p, a in zip(op.params, args)}
    x = by["input"]
    if op.name == "index":
        index = _indices(op, by)
        return finish(lib.fc_index(x._h, len(index), index))
    if op.name == "index_put_rows_":
        index = _indices(op, by)
        bad = lib.fc_index_put(x._h, len(index), index, by["values"]._h, by["accumulate"])
    elif op.name in ("copy_into_", "place_into_"):
        bad = lib.fc_copy(x._h, by["source"]._h)
    else:
        bad = lib.fc_fill(x._h, *number(by["value"]))
    return None if bad else x


def _host(op, args, out):
    from facula.tensor_core.dispatch import host as _host  # NumPy is imported with the first of these rows

    return _host.run(op, args)


BY_KIND = {
    "map1": _map, "map2": _map, "map3": _map, "fold": _fold, "scan": _scan, "dot": _dot, "gather": _gather,
    "view": _view, "own": _own, "random": _random, "to": _to,
    "place": _place, "host": _host,
}  # fmt: skip
