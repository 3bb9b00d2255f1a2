"""Settings that programs make or ask for, and small questions about tensors."""

import warnings

from facula.tensor_core import _warned
from facula.tensor_core.dispatch.kinds import kinds_first, want_tensor
from facula.tensor_core.functions import create as _create
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import channels_last, device as _device, memory_format

_deterministic = {"mode": False, "warn_only": False, "fill": True}
_precision = "highest"
_PRECISIONS = ("highest", "high", "medium")
_DEBUG = ("default", "warn", "error")


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Ask for the same bits in every run. The CPU kernels give them in any case; memory that is not set is filled meanwhile, see utils.deterministic.

    >>> facula.use_deterministic_algorithms(True)
    >>> facula.are_deterministic_algorithms_enabled()
    True
    >>> facula.use_deterministic_algorithms(False)
    """
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(f"use_deterministic_algorithms(): argument '{name}' must be bool, not {type(value).__name__}. Write True or False.")
    _deterministic.update(mode=mode, warn_only=warn_only)
    _create.fill_unset(mode and _deterministic["fill"])


def set_fill_uninitialized_memory(wanted):
    """What utils.deterministic.fill_uninitialized_memory is set to."""
    if not isinstance(wanted, bool):
        raise RuntimeError(f"fill_uninitialized_memory: must be bool, not {type(wanted).__name__}. Write True or False.")
    _deterministic["fill"] = wanted
    _create.fill_unset(wanted and _deterministic["mode"])


def get_fill_uninitialized_memory():
    """What utils.deterministic.fill_uninitialized_memory says."""
    return _deterministic["fill"]


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told.

    >>> facula.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic["mode"]


def is_deterministic_algorithms_warn_only_enabled():
    """Whether it was told to warn only.

    >>> facula.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _deterministic["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """use_deterministic_algorithms by a word: "default", "warn" or "error" (or 0, 1, 2).

    >>> facula.set_deterministic_debug_mode("error")
    >>> facula.get_deterministic_debug_mode()
    2
    >>> facula.set_deterministic_debug_mode("default")
    """
    if isinstance(debug_mode, bool) or not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode).__name__}")
    if debug_mode not in _DEBUG and debug_mode not in range(3):
        raise RuntimeError(f"invalid value of debug_mode, expected one of {_DEBUG} or 0, 1, 2, but got {debug_mode!r}")
    level = _DEBUG.index(debug_mode) if isinstance(debug_mode, str) else debug_mode
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode():
    """0 default, 1 warn, 2 error.

    >>> facula.get_deterministic_debug_mode()
    0
    """
    return 0 if not _deterministic["mode"] else 1 if _deterministic["warn_only"] else 2


def set_float32_matmul_precision(precision):
    """How exact float32 products must at least be: "highest", "high" or "medium". Here they are always the highest.

    >>> facula.set_float32_matmul_precision("high")
    >>> facula.get_float32_matmul_precision()
    'high'
    >>> facula.set_float32_matmul_precision("highest")
    """
    global _precision
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}: {precision!r}. Give one of {_PRECISIONS}.")
    if precision not in _PRECISIONS:
        warnings.warn(f"set_float32_matmul_precision: {precision!r} is not one of {_PRECISIONS}; the call has no effect.", UserWarning, stacklevel=2)
        return
    _precision = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told.

    >>> facula.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def set_flush_denormal(mode):
    """Whether denormal numbers are 0 from now on, or numbers again, as asked: x86 alone can flush them, others keep them.

    It is the thread's mode, of Python's floats as well; kernels have it on every thread that works for this one, and new threads have their maker's.

    >>> facula.set_flush_denormal(True)
    True
    >>> facula.tensor([1e-300], dtype=facula.float64) * 1e-10
    tensor([0.], dtype=torch.float64)
    >>> facula.set_flush_denormal(False)
    True
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"set_flush_denormal: flush_denormal expects a bool, but got {type(mode).__name__}: {mode!r}. Write True or False.")
    return bool(lib.fc_set_flush_denormal(mode))


def set_num_interop_threads(num):
    """Operations run one after the other: only 1 is possible. Raises RuntimeError for others.

    >>> facula.set_num_interop_threads(1)
    """
    if not isinstance(num, int) or isinstance(num, bool):
        raise TypeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num != 1:
        raise RuntimeError(f"set_num_interop_threads: operations run one after the other here, so only 1 is possible, got {num}.")


def init_num_threads():
    """Gives this thread the number of threads that set_num_threads set: all threads share one pool, so it has it already.

    >>> facula.init_num_threads()
    """


has_lapack = has_spectral = True  # linalg and fft are there
has_mkl = has_openmp = False  # and neither needs these


def typename(obj):
    """The full name of an object's type; of a tensor, of its tensor type.

    >>> facula.typename(facula.ones(1)), facula.typename([])
    ('torch.FloatTensor', 'list')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    if kind.__module__ in ("builtins", None):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def get_device(input):
    """The index of the tensor's device, -1 for the CPU.

    >>> x = facula.ones(2)
    >>> facula.get_device(x)
    -1
    >>> x.get_device()
    -1
    """
    want_tensor("get_device", "input", 0, input)
    return input.get_device()


def is_signed(input):
    """Can its dtype hold negative numbers?

    >>> x = facula.tensor([1], dtype=facula.uint8)
    >>> facula.is_signed(x)
    False
    """
    want_tensor("is_signed", "input", 0, input)
    return input.dtype.is_signed


def is_set_to(self, tensor):
    """Do both look at the same elements of one storage?

    >>> x = facula.ones(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)
    """
    want_tensor("is_set_to", "tensor", 0, tensor)
    same = self.untyped_storage() == tensor.untyped_storage() and self.storage_offset() == tensor.storage_offset()
    return same and self.shape == tensor.shape and self.stride() == tensor.stride()


def is_pinned(self, device=None):
    """Does it lie in memory pinned for a GPU? There is none.

    >>> facula.ones(2).is_pinned()
    False
    """
    kinds_first("is_pinned", device=device)
    if device is not None:
        _device(device)
    return False


def is_shared(self):
    """Does it lie in memory shared between processes?

    >>> facula.ones(2).is_shared()
    False
    """
    return self.untyped_storage().is_shared()


def pin_memory(self, device=None):
    """Pinning is for copies to an accelerator. Raises RuntimeError: there is none.

    >>> facula.ones(2).pin_memory()
    Traceback (most recent call last):
        ...
    RuntimeError: pin_memory: Cannot access accelerator device when none is available. Leave it out.
    """
    kinds_first("pin_memory", device=device)
    raise RuntimeError("pin_memory: Cannot access accelerator device when none is available. Leave it out.")


def _no_history(name, *tensors):
    for position, t in enumerate(tensors):
        want_tensor(name.strip("()"), ("self", "other", "y")[position], None, t)
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(f"{name}: Can't call {name} on Variable that requires grad. Use var.detach().{name} instead.")


def apply_(self, callable):
    """Every element replaced by callable(element): slow, for it is Python. In place.

    >>> facula.tensor([1.0, 2.0]).apply_(lambda a: a * 10)
    tensor([10., 20.])
    """
    _no_history("apply_()", self)
    values = [_told(callable(v)) for v in self.reshape(-1).tolist()]
    return self.copy_(_tensor_of(values, self))


def map_(self, other, callable):
    """Every element a replaced by callable(a, b), b of `other` broadcast. In place.

    >>> facula.tensor([1.0, 2.0]).map_(facula.tensor([3.0, 4.0]), lambda a, b: a * b)
    tensor([3., 8.])
    """
    _no_history("map_()", self, other)
    beside = other.expand(self.shape).reshape(-1).tolist()
    values = [_told(callable(a, b)) for a, b in zip(self.reshape(-1).tolist(), beside)]
    return self.copy_(_tensor_of(values, self))


def map2_(self, x, y, callable):
    """Every element a replaced by callable(a, b, c), b and c of x and y broadcast. In place.

    >>> facula.tensor([1.0, 2.0]).map2_(facula.tensor([3.0, 4.0]), facula.tensor([5.0, 6.0]), lambda a, b, c: a * b + c)
    tensor([ 8., 14.])
    """
    _no_history("map2_()", self, x, y)
    columns = [self.reshape(-1).tolist(), *(t.expand(self.shape).reshape(-1).tolist() for t in (x, y))]
    return self.copy_(_tensor_of([callable(*row) for row in zip(*columns)], self))


def _told(value):
    if not hasattr(value, "__float__") and not isinstance(value, complex):
        raise TypeError(f"apply_: the function must return a number, got {type(value).__name__} {value!r}.")
    return value


def _tensor_of(values, like):
    from facula.tensor_core.memory.data import tensor

    return tensor(values, dtype=like.dtype).reshape(like.shape)


def set_warn_always(b):
    """Show warnings each time, not once: those of one place, Python's filter is set so, and those that come once in a program.

    >>> facula.set_warn_always(True)
    >>> facula.is_warn_always_enabled()
    True
    >>> facula.set_warn_always(False)
    """
    import warnings

    _warned.always = bool(b)
    warnings.simplefilter("always" if b else "default")


def is_warn_always_enabled():
    """What set_warn_always was told.

    >>> facula.is_warn_always_enabled()
    False
    """
    return _warned.always


def compiled_with_cxx11_abi():
    """There is no C++ in the library.

    >>> facula.compiled_with_cxx11_abi()
    True
    """
    return True


def get_device_module(device=None):
    """The module of a device's kind: facula.cuda for "cuda". Raises RuntimeError for kinds without one.

    >>> facula.get_device_module("cuda").__name__
    'facula.cuda'
    """
    from facula.tensor_core._types import device as Device

    import facula

    kind = "cpu" if device is None else Device(device).type
    if kind != "cuda":
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'. Only cuda has one.")
    return facula.cuda


def is_distributed(input):
    """Is it spread over processes? Never.

    >>> x = facula.ones(1)
    >>> facula.is_distributed(x)
    False
    >>> x.is_distributed()
    False
    """
    want_tensor("is_distributed", "input", 0, input)
    return False


def dim_order(self, *, ambiguity_check=False):
    """Dims from the slowest to the fastest in memory.

    ambiguity_check: True refuses tensors that have several such orders; a list of memory formats, those that none or several of them fit.

    >>> import facula
    >>> facula.zeros(2, 3).t().dim_order()
    (1, 0)
    """
    if not isinstance(ambiguity_check, (bool, list, tuple)) or not isinstance(ambiguity_check, bool) and not all(isinstance(f, memory_format) for f in ambiguity_check):
        raise TypeError(f"dim_order: the ambiguity_check argument must be a bool or a list of memory formats, got {ambiguity_check!r}.")
    stride = self.stride()
    if ambiguity_check is not False and (1 in self.shape or any(a == b for a, b in zip(stride, stride[1:]))):
        fit = [f for f in ambiguity_check if self.is_contiguous(memory_format=f)] if ambiguity_check is not True else []
        if len(fit) != 1 or len(ambiguity_check) < 2:
            raise RuntimeError(
                f"dim_order: The tensor does not have unique dim order, or cannot map to exact one of the given memory formats (size {tuple(self.shape)}, "
                f"stride {stride}). Leave ambiguity_check out."
            )
        stride = self.new_empty(self.shape, device="meta").to(memory_format=fit[0]).stride()
    plain, last = self.is_contiguous(), self.dim() == 4 and self.is_contiguous(memory_format=channels_last)
    if plain is not last and stride == self.stride():
        return (0, 2, 3, 1) if last else tuple(range(self.dim()))
    order = list(range(self.dim()))[::-1]  # the fastest first; a stride of 0 (in either of two) says nothing
    for k in range(1, len(order)):
        at = k
        for before in range(k - 1, -1, -1):
            a, b = order[before], order[at]
            if not stride[a] or not stride[b]:
                continue
            if (stride[a], self.shape[a]) > (stride[b], self.shape[b]):
                order[before], order[at], at = b, a, before
            elif stride[a] < stride[b]:
                break
    return tuple(order[::-1])


def module_load(self, other, assign=False):
    """What a parameter or buffer becomes when `other` of a state_dict is loaded into it; never itself.

    >>> import facula
    >>> facula.zeros(2).module_load(facula.ones(2))
    tensor([1., 1.])
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"module_load: expected a tensor to load, but got {type(other).__name__}.")
    return other.detach() if assign else self.copy_(other).detach()


def _no_such_device(name, error, text):
    def move(self, *arguments, **options):
        raise error(text)

    move.__name__ = move.__qualname__ = name
    move.__doc__ = f"A copy in the memory of an {name.upper()}. Raises {error.__name__}: there is none.\n\n    >>> facula.ones(2).{name}()\n    Traceback (most recent call last):\n        ...\n    {error.__name__}: {text}\n    "
    return move


xpu = _no_such_device("xpu", AssertionError, "xpu: Torch not compiled with XPU enabled: there is no such device. Stay on the cpu.")
mtia = _no_such_device("mtia", AssertionError, "mtia: Torch not compiled with MTIA enabled: there is no such device. Stay on the cpu.")
ipu = _no_such_device("ipu", RuntimeError, "ipu: not linked with support for ipu devices: there is no such device. Stay on the cpu.")


def as_subclass(self, cls):
    """A tensor of class cls over the same memory; where there is a history, an alias goes on with it.

    >>> facula.ones(2).as_subclass(facula.nn.Parameter).__class__
    <class 'facula.nn.parameter.Parameter'>
    """
    from facula.tensor_core import _ops
    from facula.tensor_core.dispatch.override import of_class

    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise RuntimeError(f"Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits from Tensor: {cls!r}.")
    return of_class(self if self._origin is None else _ops.alias(self), cls)


def new_empty_strided(self, size, stride, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """facula.empty_strided with this tensor's dtype and device.

    >>> facula.ones(1, dtype=facula.int32).new_empty_strided((2, 3), (1, 2)).dtype
    torch.int32
    """
    from facula.tensor_core.functions.create import empty_strided

    return empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, layout=layout, requires_grad=requires_grad, pin_memory=pin_memory)


def const_data_ptr(self):
    """Address of the first element, for reading.

    >>> x = facula.ones(2)
    >>> x.const_data_ptr() == x.data_ptr()
    True
    """
    return self.data_ptr()


def __reversed__(self):
    """The tensor with its elements backwards along the first dim."""
    from facula.tensor_core.functions.rearranging import flip

    return self if self.dim() == 0 else flip(self, (0,))


METHODS = [
    "__reversed__", "as_subclass", "const_data_ptr", "dim_order", "is_distributed", "is_pinned", "is_set_to", "is_shared", "apply_", "map_", "map2_", "pin_memory",
    "ipu", "module_load", "mtia", "new_empty_strided", "xpu",
]  # fmt: skip
__all__ = [
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_device_module", "is_warn_always_enabled", "set_warn_always", "get_deterministic_debug_mode", "get_device", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "init_num_threads", "get_float32_matmul_precision",
    "is_deterministic_algorithms_warn_only_enabled", "is_distributed", "is_signed", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads", "typename", "use_deterministic_algorithms",
]  # fmt: skip
