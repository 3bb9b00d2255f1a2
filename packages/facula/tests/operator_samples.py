"""PyTorch's own samples of its operators (OpInfo), carried over: the entries, what each calls here, and its arguments as ours.

The memory behind every tensor is copied, strides and all, so both libraries get the same numbers in the same places.
"""

import functools
import itertools
import types

import facula
import facula.nn.functional
import torch
from torch.testing._internal.common_methods_invocations import op_db

NAMES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"
DTYPES = {getattr(torch, n): getattr(facula, n) for n in NAMES.split()}
MODULES = {"": torch, "nn.functional.": torch.nn.functional, "linalg.": torch.linalg, "fft.": torch.fft, "special.": torch.special}
MODULES |= {"signal.windows.": torch.signal.windows, "masked.": torch.masked, "Tensor.": torch.Tensor}
ELSEWHERE = ("_refs", "jiterator", "torch.ops", "ops.")  # Python copies of the same functions, a compiler for GPUs, and rows below the API


class Unserved(Exception):
    """A name or a value of PyTorch's that has no counterpart here; the text names it."""


def entries():
    """Every OpInfo entry of dense operators, by its full name."""
    found = {}
    for op in op_db:
        if "sparse" not in op.name and not op.name.startswith(ELSEWHERE):
            found[op.name + ("." + op.variant_test_name if op.variant_test_name else "")] = op
    return found


# --- values -----------------------------------------------------------------------------------------------------------


@functools.singledispatch
def mirrored(value):
    """Our value for one of PyTorch's, containers included; what is not PyTorch's passes through."""
    return value


@mirrored.register
def _(value: torch.Tensor):
    """Two that are one tensor, or look into one storage, do so here too, until forget()."""
    if id(value) not in TENSORS:
        TENSORS[id(value)] = value, _mirrored(value)
    return TENSORS[id(value)][1]


def _mirrored(value):
    if value.layout is not torch.strided or value.dtype not in DTYPES or value.dim() > 64:
        raise Unserved(f"{value.layout} {value.dtype} of {value.dim()} dims")
    if value.is_meta:
        return facula.empty_strided(tuple(value.shape), value.stride(), dtype=DTYPES[value.dtype], device="meta")
    dense = turned(torch, value.detach(), value)
    memory = _memory(dense.untyped_storage())
    whole = memory[: memory.numel() // dense.element_size() * dense.element_size()]
    ours = whole.view(DTYPES[dense.dtype]) if whole.numel() else facula.empty(0, dtype=DTYPES[dense.dtype])
    ours = ours.as_strided(tuple(dense.shape), dense.stride(), dense.storage_offset()).detach()
    return turned(facula, ours, value).detach().requires_grad_(value.requires_grad)


def turned(library, t, like):
    """t conjugated and negated as `like` is, by views."""
    t = library._conj(t) if like.is_conj() else t
    return library._neg_view(t) if like.is_neg() else t


def _memory(storage):
    """Our copy of a storage's bytes."""
    if storage.data_ptr() in MEMORIES:
        return MEMORIES[storage.data_ptr()][1]
    ours = facula.from_numpy(torch.empty(0, dtype=torch.uint8).set_(storage).clone().numpy()).clone()  # what NumPy sees cannot grow, in either
    if ours.numel():
        MEMORIES[storage.data_ptr()] = storage, ours  # held, so that no other one gets its address
    return ours


TENSORS, MEMORIES = {}, {}  # id of a tensor -> it, and ours; address of a storage -> it, and our bytes


def forget():
    """The next tensors have nothing to do with those before."""
    TENSORS.clear()
    MEMORIES.clear()


@mirrored.register
def _(value: torch.dtype):
    if value not in DTYPES:
        raise Unserved(str(value))
    return DTYPES[value]


@mirrored.register(torch.memory_format)
@mirrored.register(torch.layout)
def _(value):
    try:
        return getattr(facula, str(value).removeprefix("torch."))
    except AttributeError:
        raise Unserved(str(value)) from None


@mirrored.register
def _(value: torch.device):
    return facula.device(str(value))


@mirrored.register
def _(value: torch.Generator):
    raise Unserved("torch.Generator")


@mirrored.register
def _(value: torch.Size):
    return tuple(value)


@mirrored.register
def _(value: list):
    return [mirrored(v) for v in value]


@mirrored.register
def _(value: tuple):
    made = (mirrored(v) for v in value)
    return type(value)(*made) if hasattr(value, "_fields") else tuple(made)


@mirrored.register
def _(value: dict):
    return {k: mirrored(v) for k, v in value.items()}


@mirrored.register
def _(value: torch.nn.PairwiseDistance):
    return facula.nn.PairwiseDistance(value.norm, value.eps, value.keepdim)


@mirrored.register
def _(value: types.FunctionType):
    return at(PATHS[id(value)]) if id(value) in PATHS else retargeted(value)


@mirrored.register
def _(value: types.BuiltinFunctionType):
    return at(PATHS[id(value)]) if id(value) in PATHS else value


@mirrored.register
def _(value: torch.nn.LinearCrossEntropyOptions):
    return facula.nn.LinearCrossEntropyOptions(**{k: mirrored(getattr(value, k)) for k in facula.nn.LinearCrossEntropyOptions.__slots__})


def tensors(value):
    """The tensors of either library in a nest of containers, in order."""
    if isinstance(value, (torch.Tensor, facula.Tensor)):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


# --- functions --------------------------------------------------------------------------------------------------------


class _Torch(types.ModuleType):
    """What a function of PyTorch's test code sees as `torch` when it is made to call ours."""

    def __getattr__(self, name):
        try:
            return getattr(facula, name)
        except (AttributeError, ImportError):
            raise Unserved(name) from None


def _path_of():
    """id of every public function -> its path below torch. The first module that has it wins."""
    paths = {}
    for prefix, module in MODULES.items():
        for name in sorted(dir(module), key=lambda n: (n.startswith("_"), n)):
            value = getattr(module, name, None)
            if callable(value):
                paths.setdefault(id(value), prefix + name)
    return paths


PATHS = _path_of()


def at(path):
    """facula.<path>."""
    found = facula
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            raise Unserved(path) from None
    return found


def retargeted(function):
    """A Python function of PyTorch's test code with `torch` in it meaning ours; the code itself is shared."""
    names = {**function.__globals__, "torch": _Torch("torch"), "F": facula.nn.functional}
    if "wrapper_set_seed" in names:
        names["wrapper_set_seed"] = _seeded
    cells = function.__closure__ and tuple(types.CellType(_captured(c.cell_contents)) for c in function.__closure__)
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _captured(value):
    if isinstance(value, types.FunctionType) and id(value) not in PATHS:
        return retargeted(value)
    return at(PATHS[id(value)]) if id(value) in PATHS else DTYPES.get(value) if isinstance(value, torch.dtype) else value


def _seeded(function, *args, **options):
    state = facula.get_rng_state()
    facula.manual_seed(42)
    try:
        return function(*args, **options)
    finally:
        facula.set_rng_state(state)


def counterpart(op):
    """Our function for what an entry calls."""
    function = op.op
    if id(function) in PATHS:
        return at(PATHS[id(function)])
    if isinstance(function, types.FunctionType) and not function.__module__.startswith("torch._refs"):
        return retargeted(function)
    return getattr(facula.Tensor, op.name, None) or at(op.name)


# --- samples ----------------------------------------------------------------------------------------------------------


def samples(op, dtype, requires_grad, most, reference=False):
    """Up to `most` of an entry's samples, evenly taken from the first 3 * most."""
    make = op.reference_inputs if reference else op.sample_inputs
    torch.manual_seed(0)
    try:
        made = list(itertools.islice(make("cpu", dtype, requires_grad=requires_grad), 3 * most))
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # a few entries list dtypes that they cannot make samples of
        return []
    return made[:: max(1, -(-len(made) // most))]


def spelt(value):
    """An argument, short, for a message."""
    if isinstance(value, torch.Tensor):
        dense = value.layout is torch.strided and value.is_contiguous()
        return f"{str(value.dtype)[6:]}{list(value.shape)}" + ("" if dense else f" strided {list(value.stride())}")
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(spelt, value)) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k}={spelt(v)}" for k, v in value.items())
    return str(value)[:40]
