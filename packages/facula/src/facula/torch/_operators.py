"""torch.ops: operators by library and name: Facula's functions in aten, ranges of a profile in profiler, and what programs define."""

from __future__ import annotations

import facula
from facula.autograd.profiler import record_function
from facula.overrides import handle_torch_function, has_torch_function
from facula.tensor_core import extend

# what aten calls rows of other names: a policy of selective checkpointing compares the rows that it is asked about with these
_ROWS = {
    "mm": ("matmul", "linear"),
    "addmm": ("linear",),
    "bmm": ("matmul",),
    "mv": ("matmul",),
    "dot": ("matmul",),
    "_scaled_dot_product_flash_attention": ("_attention",),
    "_scaled_dot_product_flash_attention_for_cpu": ("_attention",),
    "_scaled_dot_product_efficient_attention": ("_attention",),
}


class _Named:
    """An operator is equal to each row of the table that computes it."""

    @property
    def rows(self) -> tuple[str, ...]:
        name = self.__name__.partition(".")[0]
        return tuple(n for n in _ROWS.get(name, (name, f"_{name}")) if n in extend.ops)

    def _called(self, function, args: tuple, options: dict):
        """Of the function, or of who answers instead of it: a tracer's proxy, a subclass."""
        if has_torch_function((*args, *options.values())):
            return handle_torch_function(self, (*args, *options.values()), *args, **options)
        return function(*args, **options)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __eq__(self, other) -> bool:
        return self is other or (isinstance(other, extend.Op) and other.name in self.rows)

    def __hash__(self) -> int:
        return id(self)


class _Overload(_Named):
    """One way of calling an operator: torch.ops.aten.add.Tensor."""

    def __init__(self, packet: _Operator, overload: str) -> None:
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__, self.__module__, self.namespace = f"{packet.__name__}.{overload}", packet.__module__, packet.namespace

    def __call__(self, /, *args, **options):
        return self._called(self.overloadpacket._function, args, options)

    def name(self) -> str:
        return f"{self.namespace}::{self.__name__.removesuffix('.default')}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class _Operator(_Named):
    """An operator by its name, all its overloads in one."""

    def __init__(self, namespace: str, name: str, function) -> None:
        self.namespace, self.__name__, self._function = namespace, name, function
        self.__module__, self._qualified_op_name = f"torch._ops.{namespace}", f"{namespace}::{name}"

    def __call__(self, /, *args, **options):
        return self._called(self._function, args, options)

    def __getattr__(self, overload: str):
        if overload.startswith("__"):
            raise AttributeError(overload)
        made = _Overload(self, overload)
        setattr(self, overload, made)
        return made

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def _slice(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _pin_memory(x, device=None):
    return x


# operators of aten that no public function is named after
_ATEN = {
    "_pin_memory": _pin_memory,
    "_sparse_addmm": lambda input, mat1, mat2, *, beta=1, alpha=1: facula.sparse.addmm(input, mat1, mat2, beta=beta, alpha=alpha),
    "_sparse_mm_reduce_impl": lambda input, other, reduce: facula.sparse.mm(input, other, reduce),
    "_to_copy": lambda x, *, dtype=None, device=None, memory_format=facula.preserve_format, **options: x.to(
        device=device, dtype=dtype or x.dtype, copy=True, memory_format=memory_format
    ),
    "_unsafe_view": lambda x, size: x.reshape(size),
    "alias": lambda x: x.view_as(x),
    "index": lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
    "slice": _slice,
}

# a range of a profile: entered, and left by what entering gave
_PROFILER = {
    "_record_function_enter": lambda name, args=None: record_function(name, args).__enter__(),
    "_record_function_enter_new": lambda name, args=None: record_function(name, args).__enter__(),
    "_record_function_exit": lambda record: record.__exit__(),
}


class _Library:
    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str):
        function = _PROFILER.get(name) if self.__name__ == "profiler" else None
        if self.__name__ == "aten" and not name.startswith("__"):
            function = (
                _ATEN.get(name)
                or getattr(facula, name, None)
                or getattr(facula.Tensor, name, None)
                or getattr(facula.nn.functional, name, None)
            )
        if not callable(function):
            raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'")
        made = _Operator(self.__name__, name, function)
        setattr(self, name, made)
        return made


loaded_libraries: set[str] = set()


def load_library(path) -> None:
    """Raises OSError: a file of operators is compiled against PyTorch's own library, which is not here. Programs try and go on without."""
    raise OSError(f"load_library: Could not load this library: {path}. It needs PyTorch's own; operators written in Python come by torch.library.")


def __getattr__(name: str) -> _Library:
    if name.startswith("__"):
        raise AttributeError(name)
    globals()[name] = made = _Library(name)
    return made


def define(namespace: str, name: str, function) -> None:
    """torch.ops.NAMESPACE.NAME is a program's own function."""
    library = globals().get(namespace)
    if not isinstance(library, _Library):
        globals()[namespace] = library = _Library(namespace)
    setattr(library, name, _Operator(namespace, name, function))
