"""Process-wide settings: default dtype and device, threads."""

from facula.tensor_core import _types
from facula.tensor_core._errors import IntegerOverflow, no_promotion
from facula.tensor_core.dispatch import run as _run
from facula.tensor_core.dispatch.arguments import LACKING, as_dtype
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor

_device = _types.device("cpu")


def get_default_dtype():
    """The dtype of tensors made from Python floats.

    >>> facula.get_default_dtype()
    torch.float32
    """
    return _types.DTYPES[lib.fc_default_dtype()]


def set_default_dtype(d):
    """Set the dtype of tensors made from Python floats; it must be a real floating one. Raises TypeError otherwise.

    >>> facula.set_default_dtype(facula.float64)
    >>> facula.tensor([1.5]).dtype
    torch.float64
    >>> facula.set_default_dtype(facula.float32)
    """
    if not isinstance(d, _types.dtype) or d._kind != 2 or d in _types.FLOAT8:
        raise TypeError(f"set_default_dtype: only floating-point types are supported as the default type, got {d!r}. Use facula.float32 or its like.")
    lib.fc_set_default_dtype(d._id)


def get_default_device():
    """The device on which factories make tensors.

    >>> facula.get_default_device()
    device(type='cpu')
    """
    return _device


def set_default_device(device):
    """Set the device on which factories make tensors; None means the CPU.

    >>> facula.set_default_device("meta")
    >>> facula.zeros(2).device
    device(type='meta')
    >>> facula.set_default_device(None)
    """
    global _device
    _device = _types.device("cpu" if device is None else device)


def elsewhere():
    """The default device where it is another than the CPU, on which data lie to begin with."""
    return None if _device.type == "cpu" else _device


def get_num_threads():
    """Threads that one op may use.

    >>> facula.get_num_threads() >= 1
    True
    """
    return lib.fc_get_num_threads()


def set_num_threads(n):
    """Let one op use n threads. Results do not depend on it. Raises RuntimeError for n < 1.

    >>> before = facula.get_num_threads()
    >>> facula.set_num_threads(1)
    >>> facula.get_num_threads()
    1
    >>> facula.set_num_threads(before)
    """
    if not isinstance(n, int):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(n).__name__}")
    if n >= 2**63:
        raise IntegerOverflow(f"set_num_threads: Overflow when unpacking long long: {n}. Give one of 64 bits.")
    if n < 1 or lib.fc_set_num_threads(n):
        raise RuntimeError(f"set_num_threads: expected a positive number of threads, got {n}.")


def get_num_interop_threads():
    """How many threads run operations beside each other: 1, each operation divides itself among get_num_threads().

    >>> facula.get_num_interop_threads()
    1
    """
    return 1


def is_tensor(obj):
    """Is it a Tensor?

    >>> facula.is_tensor(facula.ones(1)), facula.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_storage(obj):
    """Is it an UntypedStorage or a TypedStorage?

    >>> facula.is_storage(facula.ones(1).untyped_storage())
    True
    """
    from facula.tensor_core.memory.storage import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


def _tensor(name, input):
    """input, which is to be a Tensor. Raises TypeError for anything else."""
    if not hasattr(input, "numel"):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}. Convert it with facula.tensor.")
    return input


def is_floating_point(input):
    """Has it a real floating dtype?

    >>> x = facula.tensor([1.0])
    >>> facula.is_floating_point(x)
    True
    """
    return _tensor("is_floating_point", input).dtype._kind == 2


def is_complex(input):
    """Has it a complex dtype?

    >>> x = facula.tensor([1j])
    >>> facula.is_complex(x)
    True
    """
    return _tensor("is_complex", input).dtype._kind == 3


def numel(input):
    """Number of elements.

    >>> x = facula.zeros(2, 3)
    >>> facula.numel(x)
    6
    >>> x.numel()
    6
    """
    return _tensor("numel", input).numel()


def promote_types(type1, type2):
    """The smallest dtype to which both convert. Raises RuntimeError where there is none.

    >>> facula.promote_types(facula.int32, facula.float16)
    torch.float16
    """
    for position, given in enumerate((type1, type2), 1):
        if given is None:
            raise TypeError(f"promote_types(): argument 'type{position}' (position {position}) must be torch.dtype, not None. Give two.")
    type1, type2 = as_dtype(type1), as_dtype(type2)
    id = lib.fc_promote_types(type1._id, type2._id)
    if id < 0:
        raise RuntimeError(f"promote_types: {no_promotion(type1, type2)}. Convert one first.")
    return _types.DTYPES[id]


def _common(x, y):
    id = lib.fc_result_type2(x._h, y._h)
    if id < 0:
        raise RuntimeError(f"result_type: {no_promotion(x.dtype, y.dtype)}. Convert one first.")
    return _types.DTYPES[id]


def can_cast(from_, to):
    """May a result of dtype from_ be written to an output of dtype to?

    >>> facula.can_cast(facula.int32, facula.float32), facula.can_cast(facula.float32, facula.int32)
    (True, False)
    """
    try:
        return bool(lib.fc_can_cast(from_._id, to._id))
    except AttributeError:
        raise TypeError(f"can_cast(): both arguments must be torch.dtype, got {type(from_).__name__} and {type(to).__name__}. Give facula.float32 or its like.") from None


_KINDS = {bool: 0, int: 1, float: 2, complex: 3}


def _strided(x):
    """A strided tensor that promotes as x does: a sparse one has none of its own."""
    return x if not isinstance(x, Tensor) or x.layout is _types.strided else _run.own_tensor(lib.fc_empty(x.dtype._id, 0, int(x.dim() > 0), [0] * int(x.dim() > 0)))


def _operands(first, second, named):
    """The two operands of result_type by the names that PyTorch has for them: (tensor, other), (scalar, tensor) or (scalar1, scalar2)."""
    given = {name: value for name, value in named.items() if value is not LACKING}
    for names in (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2")):
        found = dict(zip(names, [v for v in (first, second) if v is not LACKING]))
        if len(found) + len(given) == 2 and set(found) | set(given) == set(names):
            found.update(given)
            if all(isinstance(found[name], Tensor) == (name == "tensor") or name == "other" for name in names):
                return tuple(found[name] for name in names)
    raise TypeError(f"result_type() received an invalid combination of arguments: {', '.join(given) or 'too few'}. Give two tensors or numbers, in their order.")


def result_type(first=LACKING, second=LACKING, *, tensor=LACKING, other=LACKING, scalar=LACKING, scalar1=LACKING, scalar2=LACKING):
    """The dtype that an op on these two operands (tensors or numbers) computes in.

    >>> facula.result_type(facula.tensor([1], dtype=facula.int32), 1.5)
    torch.float32
    """
    if first is LACKING or second is LACKING:
        tensor, other = _operands(first, second, {"tensor": tensor, "other": other, "scalar": scalar, "scalar1": scalar1, "scalar2": scalar2})
    elif not tensor is other is scalar is scalar1 is scalar2 is LACKING:
        raise TypeError("result_type() received an invalid combination of arguments: two by position, and one by name. Give two.")
    else:
        tensor, other = first, second
    tensor, other = _strided(tensor), _strided(other)
    x, y = isinstance(tensor, Tensor), isinstance(other, Tensor)
    if x and y:
        return _common(tensor, other)
    if x or y:
        tensor, value = (tensor, other) if x else (other, tensor)
        _run.promotable("result_type", tensor, value)
        return _types.DTYPES[lib.fc_result_type_scalar(tensor._h, _KINDS[type(value)] if type(value) in _KINDS else _run.number(value)[0])]
    return _common(_run.zero_dim(tensor), _run.zero_dim(other))


__all__ = [
    "can_cast", "get_default_device", "get_default_dtype", "get_num_interop_threads", "get_num_threads", "is_complex", "is_floating_point",
    "is_storage", "is_tensor", "numel", "promote_types", "result_type", "set_default_device", "set_default_dtype", "set_num_threads",
]  # fmt: skip
