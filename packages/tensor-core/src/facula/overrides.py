"""facula.overrides: what libraries ask that give functions another meaning for their own types (__torch_function__)."""

import functools
import inspect
import types

from facula.tensor_core.dispatch.override import (
    NEVER,
    UNSEEN,
    DisableTorchFunctionSubclass,  # noqa: F401 - of torch._C
    Enabled,
    answered,
    disabled,
    overrides,
    overriding,
    watch,
)
from facula.tensor_core.dispatch.modes import DisableTorchFunction, TorchFunctionMode  # noqa: F401 - the first is of torch._C
from facula.tensor_core._tensor import Tensor

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "enable_reentrant_dispatch", "get_default_nowrap_functions", "get_ignored_functions", "get_overridable_functions",
    "get_testing_overrides", "handle_torch_function", "has_torch_function", "has_torch_function_unary", "has_torch_function_variadic", "is_tensor_like",
    "is_tensor_method_or_property", "resolve_name", "wrap_torch_function",
]  # fmt: skip


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing.

    >>> with facula.overrides.BaseTorchFunctionMode():
    ...     x = facula.ones(2) * 2
    >>> x
    tensor([2., 2.])
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def has_torch_function(relevant_args):
    """Does one of these have a __torch_function__ of its own, so that handle_torch_function should be called?

    >>> import facula
    >>> facula.overrides.has_torch_function((facula.ones(1), 2))
    False
    """
    return not disabled() and any(overrides(type(x)) for x in relevant_args)


def has_torch_function_unary(x):
    """has_torch_function of one argument.

    >>> facula.overrides.has_torch_function_unary(facula.ones(1))
    False
    """
    return has_torch_function((x,))


def has_torch_function_variadic(*args):
    """has_torch_function of several arguments.

    >>> facula.overrides.has_torch_function_variadic(facula.ones(1), 2)
    False
    """
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the types among relevant_args answer for public_api(*args, **kwargs). Raises TypeError where none has an answer.

    >>> class Seven:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return 7
    ...
    >>> facula.overrides.handle_torch_function(facula.add, (Seven(),), Seven(), 1)
    7
    """
    return answered(public_api, overriding(relevant_args), args, kwargs)


def is_tensor_like(inp):
    """Is it a Tensor, or of a type that stands for one?

    >>> facula.overrides.is_tensor_like(facula.ones(1)), facula.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Does this function belong to Tensor (rather than to a module)?

    >>> facula.overrides.is_tensor_method_or_property(facula.Tensor.add), facula.overrides.is_tensor_method_or_property(facula.cat)
    (True, False)
    """
    return func in _methods() or getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__")


@functools.cache
def _methods():
    return {f for f in vars(Tensor).values() if callable(f) and not isinstance(f, type)}


def wrap_torch_function(dispatcher):
    """Decorator: the function asks the arguments that dispatcher(*args, **kwargs) names before it runs.

    >>> import facula
    >>> @facula.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return x + x
    >>> double(facula.ones(1))
    tensor([2.])
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def resolve_name(f):
    """The dotted name of a function that can be overridden, or None.

    >>> facula.overrides.resolve_name(facula.Tensor.add), facula.overrides.resolve_name(facula.Tensor.shape.__get__)
    ('torch.Tensor.add', 'torch.Tensor.shape.__get__')
    """
    for owner, functions in get_overridable_functions().items():
        if f in functions:
            home = "torch.Tensor" if owner is Tensor else owner.__name__.replace("facula", "torch", 1)
            return f"{home}.{_name(f)}"
    return None


def _name(f):
    """The name of a function in its namespace; of a getter, the property's and its own."""
    if f.__name__ != "__get__":
        return f.__name__
    return next(f"{n}.__get__" for n, p in vars(Tensor).items() if p is f.__self__)


def get_ignored_functions():
    """Functions that never ask: they make tensors of other things, or say nothing about one.

    >>> facula.ones in facula.overrides.get_ignored_functions()
    True
    """
    import facula

    functions, methods = (getattr(facula, name, None) for name in _IGNORED), (vars(Tensor).get(name) for name in UNSEEN)  # of its own: asked for by getattr, a class makes itself annotations
    return {f for f in (*functions, *methods) if callable(f)}


# functions that make tensors of other things, or set and tell modes
_IGNORED = NEVER | set(
    "arange are_deterministic_algorithms_enabled as_strided bartlett_window blackman_window can_cast clear_autocast_cache empty empty_permuted empty_strided eye fill fork_rng from_file full "
    "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_deterministic_debug_mode get_device_module get_float32_matmul_precision get_num_interop_threads get_printoptions "
    "hamming_window hann_window init_num_threads is_anomaly_check_nan_enabled is_autocast_cache_enabled is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled kaiser_window linspace "
    "logspace normal ones promote_types rand rand_like randint randint_like randn randn_like randperm result_type scalar_tensor set_autocast_dtype set_default_tensor_type "
    "set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_warn_always sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor "
    "sparse_csc_tensor sparse_csr_tensor thread_safe_generator tril_indices triu_indices use_deterministic_algorithms vander zeros".split()
)


@functools.cache
def get_overridable_functions():
    """{namespace: functions there that ask __torch_function__}.

    >>> facula.add in facula.overrides.get_overridable_functions()[facula]
    True
    """
    import importlib

    import facula

    found = {}
    for name in ("facula", "facula.nn.functional", "facula.linalg", "facula.fft", "facula.special"):
        try:
            home = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        names = home.__all__ if home is facula or hasattr(home, "__all__") else dir(home)
        functions = (getattr(home, n) for n in names if not n.startswith("_") and n not in _IGNORED and n not in _PARTS)
        found[home] = [f for f in functions if isinstance(f, types.FunctionType)]
    methods = {n: f for n, f in vars(Tensor).items() if n not in UNSEEN}
    found[Tensor] = [f for f in methods.values() if isinstance(f, (types.FunctionType, types.MethodDescriptorType))]
    found[Tensor] += [f.__get__ for f in methods.values() if isinstance(f, property)]
    return found


_PARTS = {
    "nn", "optim", "autograd", "func", "amp", "jit", "onnx", "distributed", "multiprocessing", "hub", "distributions", "vision", "data", "torch", "linalg", "fft",
    "signal", "special", "sparse", "masked", "random", "testing", "cuda", "backends", "utils", "version", "safetensors", "overrides",
}  # fmt: skip


def get_testing_overrides():
    """{function that can be overridden: a function with its signature that returns -1}, for tests of other types.

    >>> facula.overrides.get_testing_overrides()[facula.add](1, 2)
    -1
    """
    found = {}
    for functions in get_overridable_functions().values():
        for f in functions:
            if f.__name__ == "__get__":
                found[f] = lambda self: -1
                continue
            stand_in = functools.wraps(f)(lambda *args, **kwargs: -1)
            try:
                stand_in.__signature__ = inspect.signature(f)
            except (TypeError, ValueError):
                continue
            found[f] = stand_in
    return found


def get_default_nowrap_functions():
    """Functions whose results Tensor.__torch_function__ leaves of the class that they are.

    >>> len(facula.overrides.get_default_nowrap_functions()) > 0
    True
    """
    return {vars(Tensor)[name].__get__ for name in ("_base", "grad")}


enable_reentrant_dispatch = Enabled

watch()  # whoever imports this has types of their own in mind
