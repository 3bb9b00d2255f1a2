"""autocast: an interpreter that casts the operands of some rows before they run, and of some functions. What is cast: _policies.py."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import facula
from facula.autograd._support import relined
from facula.tensor_core import extend

from . import _policies

MODE_OF_RNN = 7  # the argument: 0 tanh, 1 relu, 2 LSTM, 3 GRU

_local = extend.ThreadState()
_defaults = {"cpu": facula.bfloat16, "cuda": facula.float16}


def is_autocast_available(device_type) -> bool:
    """Is there an autocast for this kind of device?

    >>> facula.amp.is_autocast_available("cpu")
    True
    """
    if not isinstance(device_type, str):
        raise TypeError(f"is_autocast_available: device_type must be a str, but got {type(device_type).__name__}")
    return device_type in _defaults


def _current(device_type) -> autocast | None:
    """The innermost autocast of this thread for the device, or None."""
    return next((a for a in reversed(getattr(_local, "stack", ())) if a.device == device_type), None)


def is_autocast_enabled(device_type=None) -> bool:
    """Does this thread cast now? Without a device the question is for CUDA, as in PyTorch.

    >>> with facula.autocast("cpu"):
    ...     facula.is_autocast_enabled("cpu")
    True
    """
    if device_type is not None and not isinstance(device_type, str):
        raise TypeError(f"is_autocast_enabled(): argument 'device_type' (position 1) must be str, not {type(device_type).__name__}. Name a device.")
    a = _current(device_type or "cuda")
    return a is not None and a._enabled


def is_autocast_cpu_enabled() -> bool:
    """is_autocast_enabled("cpu").

    >>> with facula.autocast("cpu"):
    ...     facula.is_autocast_cpu_enabled()
    True
    """
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type) -> facula.dtype:
    """The lower precision in force for the device.

    >>> facula.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    if type(device_type) is not str:
        extend.check("get_autocast_dtype", "device_type", 0, "str", device_type)
    if device_type not in _defaults:
        raise RuntimeError(f"get_autocast_dtype: there is no autocast for {device_type!r}. Devices: {', '.join(_defaults)}.")
    a = _current(device_type)
    return _defaults[device_type] if a is None else a.fast_dtype


def get_autocast_cpu_dtype() -> facula.dtype:
    """get_autocast_dtype("cpu").

    >>> facula.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> facula.dtype:
    """get_autocast_dtype("cuda").

    >>> facula.get_autocast_gpu_dtype()
    torch.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_dtype(device_type, dtype) -> None:
    """The lower precision that later autocasts for the device use unless given one.

    >>> before = facula.get_autocast_dtype("cpu")
    >>> facula.set_autocast_dtype("cpu", facula.float16)
    >>> facula.get_autocast_dtype("cpu")
    torch.float16
    >>> facula.set_autocast_dtype("cpu", before)
    """
    get_autocast_dtype(device_type)
    _defaults[device_type] = dtype


def is_autocast_cache_enabled() -> bool:
    """Are casts of parameters kept until the outermost autocast ends?

    >>> facula.is_autocast_cache_enabled()
    True
    """
    stack = getattr(_local, "stack", ())
    return stack[-1]._cache_enabled if stack else True


def clear_autocast_cache() -> None:
    """Forget the casts of parameters.

    >>> facula.clear_autocast_cache()
    """
    for a in getattr(_local, "stack", ()):
        a._cast.clear()


class autocast:
    """Within the block (or the decorated function) products run in `dtype`, and what needs range in float32.

    On the CPU dtype is bfloat16 or float16. An autocast for CUDA does nothing here, and says so once.

    >>> import facula
    >>> with facula.autocast("cpu"):
    ...     (facula.ones(2, 2) @ facula.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = True if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda":
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype not in (facula.bfloat16, facula.float16):
            warnings.warn(
                f"In CPU autocast, but the target dtype is not supported. Disabling autocast. CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently, got {self.fast_dtype}.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cast = {}  # id of a parameter -> (it, its cast)
        self._inside = []

    def __enter__(self) -> autocast:
        if not (isinstance(self._enabled, bool) and isinstance(self._cache_enabled, bool)):
            raise TypeError(f"autocast: enabled and cache_enabled must be bool, got {self._enabled!r} and {self._cache_enabled!r}. Write True or False.")
        _local.__dict__.setdefault("stack", []).append(self)
        self._inside.append(extend.interpreter(self._run) if self._enabled else None)
        if self._inside[-1] is not None:
            _policies.meet(_of_function)
            self._inside[-1].__enter__()
        return self

    def __exit__(self, *exc) -> bool:
        door = self._inside.pop()
        if door is not None:
            door.__exit__(*exc)
        _local.stack.pop()
        self._cast.clear()
        return False

    def __call__(self, function) -> Callable:
        @functools.wraps(function)
        def inside(*args, **kwargs) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return function(*args, **kwargs)

        return inside

    def _run(self, op, args, kwargs) -> Any:
        if kwargs.get("out") is None and _current("cpu") is self:  # the innermost alone decides, also where it is off
            args = self._cast_by(_policies.of_row(op.name), args)
        return relined(extend.call(op, *args, **kwargs))

    def _cast_by(self, policy, args) -> tuple:
        if policy == "lower":
            return self._all_to(self.fast_dtype, args)
        if policy == "full":
            return self._all_to(facula.float32, args)
        if policy == "widest":
            return self._all_to(_widest(args), args)
        if policy == "recurrent":  # the state of plain recurrences goes through a product, that of gated ones stays as wide as it is
            return self._all_to(self.fast_dtype if args[MODE_OF_RNN] < 2 else _widest(args[:2]), args)
        return args

    def _all_to(self, dtype, args) -> tuple:
        return tuple(self._to(dtype, a) for a in args)

    def _to(self, dtype, a) -> Any:
        if type(a) in (list, tuple):
            return type(a)(self._to(dtype, t) for t in a)
        if not isinstance(a, facula.Tensor) or a.dtype is dtype or a.dtype not in (facula.float32, facula.bfloat16, facula.float16):
            return a
        if not (self._cache_enabled and a.is_leaf and a.requires_grad and a.dtype is facula.float32):
            return a.to(dtype)
        kept = self._cast.get(id(a))
        if kept is None or kept[0] is not a or kept[1].dtype is not dtype or kept[2] != a._version:
            kept = self._cast[id(a)] = (a, a.to(dtype), a._version)
        return kept[1]


def _of_function(policy, function, args, kwargs) -> Any:
    """A function of several rows in the autocast of this thread: its operands cast, and nothing within it."""
    a = _current("cpu")
    if a is None or not a._enabled:
        return function(*args, **kwargs)
    if kwargs.get("out") is None:
        args = a._cast_by(policy, args)
        kwargs = dict(zip(kwargs, a._cast_by(policy, tuple(kwargs.values()))))
    with autocast("cpu", enabled=False):
        return function(*args, **kwargs)


def _widest(args) -> facula.dtype:
    found = [t.dtype for a in args for t in (a if type(a) in (list, tuple) else (a,)) if isinstance(t, facula.Tensor) and t.dtype.is_floating_point]
    return facula.float32 if facula.float32 in found else found[0] if found else facula.float32


def custom_fwd(fwd=None, *, device_type="cpu", cast_inputs=None) -> Callable:
    """For Function.forward: run it in the caller's autocast, or, with cast_inputs, on inputs of that dtype without autocast.

    >>> from facula.amp import custom_fwd
    >>> class Double(facula.autograd.Function):
    ...     @staticmethod
    ...     @custom_fwd(cast_inputs=facula.float32)
    ...     def forward(ctx, x):
    ...         return 2 * x
    ... 
    >>> with facula.autocast("cpu"):
    ...     Double.apply(facula.ones(1, dtype=facula.bfloat16)).dtype
    torch.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs) -> Any:
        enabled = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None or not enabled:
            ctx._fwd_used_autocast = enabled
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            cast = [a.to(cast_inputs) if isinstance(a, facula.Tensor) and a.is_floating_point() else a for a in args]
            return fwd(ctx, *cast, **kwargs)

    return forward


def custom_bwd(bwd=None, *, device_type="cpu") -> Callable:
    """For Function.backward: run it in the autocast that its forward ran in.

    >>> from facula.amp import custom_bwd, custom_fwd
    >>> class Double(facula.autograd.Function):
    ...     @staticmethod
    ...     @custom_fwd
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @custom_bwd
    ...     def backward(ctx, g):
    ...         return 2 * g
    ... 
    >>> x = facula.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *grads) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *grads)

    return backward
