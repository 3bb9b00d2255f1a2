"""Window functions: `facula.hann_window` and its kind (periodic unless told), and `facula.signal.windows` (symmetric unless told).

Formulas: Harris, "On the Use of Windows for Harmonic Analysis with the Discrete Fourier Transform" (1978); Nuttall (1981) for his.
"""

import functools
import math

from facula.tensor_core import _ops
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.functions.create import _finish, a_layout, empty, full, ones, plain
from facula.tensor_core.functions.ranges import arange
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import check, kinds_first
from facula.tensor_core._state import elsewhere, get_default_dtype
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import float32, float64, strided


def _steps(name, M, sym, dtype, layout=None, device=None, requires_grad=False, ranged=False):
    """(0 .. M-1, intervals) in the window's dtype; (the window, 0) where it is empty or one 1.

    Sizes that equal 0 or 1 need be no int, as in PyTorch. ranged: it makes its one step there too, for which 1 is an int.
    """
    dtype = get_default_dtype() if dtype is None else dtype
    if not isinstance(M, (int, float, Tensor)):
        check(name, "M", 0, "int", M)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M == 0:
        return empty(0, dtype=dtype, device=device, requires_grad=requires_grad), 0
    if M == 1:
        if ranged and type(M) is not int:
            check(name, "M", 0, "int", M)
        return ones(1, dtype=dtype, device=device, requires_grad=requires_grad), 0
    if type(M) is not int:
        check(name, "M", 0, "int", M)
    if requires_grad is None:
        check(name, "requires_grad", None, "bool", requires_grad)
    return arange(M, dtype=dtype, device=device), (M - 1 if sym else M)


def general_cosine(M, *, a, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """Sum over i of (-1)^i a_i cos(2 pi i n / (M - 1)); over M where not sym.

    >>> facula.signal.windows.general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    n, intervals = _steps("general_cosine", M, sym, dtype, layout, device, requires_grad)
    if not intervals:
        return n
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    w = float(a[0])
    if len(a) == 1 or n.dtype.itemsize == 2:  # a half's first term is rounded before it is added to
        w = full((M,), w, dtype=n.dtype, device=n.device)
    for i, c in enumerate(a[1:], 1):
        angles = (_ops.mul if i + 1 < len(a) else _ops.mul_)(n, 2 * math.pi * i / intervals)
        term = _ops.mul_(_ops.cos_(angles), c if i % 2 == 0 else -c)
        w = _ops.add_(w, term) if isinstance(w, Tensor) else _ops.add_(term, w)
    return _finish(w, requires_grad)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """alpha - (1 - alpha) cos(2 pi n / (M - 1)).

    >>> facula.signal.windows.general_hamming(5, alpha=0.5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """general_hamming of 0.54.

    >>> facula.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """general_hamming of 0.5: a raised cosine.

    >>> import facula
    >>> facula.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """general_cosine of 0.42, 0.5, 0.08.

    >>> facula.signal.windows.blackman(5).round(decimals=2).abs()
    tensor([0.0000, 0.3400, 1.0000, 0.3400, 0.0000])
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """general_cosine of Nuttall's four terms.

    >>> facula.signal.windows.nuttall(3).round(decimals=2)
    tensor([0., 1., 0.])
    """
    a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def bartlett(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """A triangle: 1 - |2n / (M - 1) - 1|.

    >>> facula.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    n, intervals = _steps("bartlett", M, sym, dtype, layout, device, requires_grad)
    return n if not intervals else _finish(1 - _ops.abs(n * (2 / intervals) - 1), requires_grad)


def cosine(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """One half wave: sin(pi (n + 0.5) / M); over M + 1 where not sym.

    >>> facula.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    n, intervals = _steps("cosine", M, sym, dtype, layout, device, requires_grad, ranged=True)
    return n if not intervals else _finish(_ops.sin((n + 0.5) * (math.pi / (intervals + 1))), requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-|n - center| / tau); a center of one's own needs sym=False.

    >>> facula.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    n, intervals = _steps("exponential", M, sym, dtype, layout, device, requires_grad, ranged=True)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 1:
        n, intervals = n - 1, 0
    if not M:
        return n
    return _finish(_ops.exp(_ops.abs(n - (intervals / 2 if center is None else center)) * (-1 / tau)), requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """exp(-((n - middle) / std)^2 / 2).

    >>> facula.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    n, intervals = _steps("gaussian", M, sym, dtype, layout, device, requires_grad, ranged=True)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return n if not intervals else _finish(_ops.exp(_ops.square((n - intervals / 2) * (1 / (std * math.sqrt(2)))) * -1), requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False):
    """I0(beta sqrt(1 - (2n / (M - 1) - 1)^2)) / I0(beta).

    >>> facula.signal.windows.kaiser(3, beta=1.0)
    tensor([0.7898, 1.0000, 0.7898])
    """
    n, intervals = _steps("kaiser", M, sym, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return n if not intervals else _finish(_kaiser_of(n, intervals, beta), requires_grad)


def _kaiser_of(n, intervals, beta):
    height = _ops.rsub_(_ops.square_(_ops.sub_(_ops.mul_(n, 2 / intervals), 1)), 1)
    height = _ops.mul_(_ops.sqrt_(_ops.clamp_min_(height, 0)), beta)
    return _ops.div_(_ops.i0_(height), _i0(float(beta), n.dtype))


@functools.lru_cache(maxsize=64)
def _i0(beta, dtype):
    """I0 of a number, as a 0-d tensor."""
    return _ops.i0_(full((), beta, dtype=dtype, device="cpu"))


def _periodic(name, make, last):
    """The older function of a window: any floating dtype, periodic unless told."""
    shaped = make.__code__.co_varnames[1 : make.__code__.co_argcount]

    def of(window_length, periodic, args, dtype, layout, device, pin_memory, requires_grad, shape):
        if layout is not None and layout is not strided:
            a_layout(layout)
            raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}. Use facula.strided.")
        if pin_memory is not False:
            plain(None, pin_memory)
        if type(periodic) is not bool or args or shape:
            for position, (parameter, value) in enumerate((("periodic", periodic), *zip(shaped, args), *shape.items()), 1):
                check(name, parameter, position, "bool" if parameter == "periodic" else "float", value)
        wanted = get_default_dtype() if dtype is None else dtype
        wanted = as_dtype(wanted)
        if wanted._kind == 3 and type(window_length) is int and -1 < window_length < 2:
            return _finish(ones(window_length, dtype=wanted, device=device), requires_grad)
        if wanted._kind != 2:
            raise (RuntimeError if wanted._kind < 2 else DTypeError)(f"{name} expects floating point dtypes, got: {wanted._name}. Give dtype=facula.float32 or its like.")
        if type(window_length) is not int:
            check(name, "window_length", 0, "int", window_length)
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        w = make(window_length, *args, sym=not periodic, dtype=wanted if wanted is float64 else float32, **shape)
        device = elsewhere() if device is None else device
        w = w if w.dtype is wanted and device is None else w.to(device, wanted)
        return _finish(w, requires_grad)

    def window(window_length, periodic=True, *args, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **shape):
        try:
            return of(window_length, periodic, args, dtype, layout, device, pin_memory, requires_grad, shape)
        except Exception:
            if other := next((n for n in shape if n not in shaped), None) or (len(args) > len(shaped) and "one more"):
                raise TypeError(f"{name}() got an unexpected argument: {other}. Leave it out.") from None
            given = {"window_length": window_length, "periodic": periodic, **dict(zip(shaped, args)), **shape}
            kinds_first(name, **given, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory, requires_grad=requires_grad)
            raise

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"""{(make.__doc__ or "").partition(chr(10))[0]} Periodic (a period of window_length) unless periodic=False. Shape (window_length,).

    >>> facula.{name}(4)[1:]
    tensor({last})
    """
    return window


# The older functions round in an order of their own, PyTorch's, and work in the memory of the steps.


def _two_terms(M, alpha=0.54, beta=0.46, *, sym, dtype):
    """alpha - beta cos(2 pi n / M)."""
    n, intervals = _steps("hamming_window", M, sym, dtype, device="cpu")
    return n if not intervals else _ops.add_(_ops.mul_(_ops.cos_(_ops.mul_(n, 2 * math.pi / intervals)), -beta), alpha)


def _raised(M, *, sym, dtype):
    """(1 - cos(2 pi n / M)) / 2."""
    return _two_terms(M, 0.5, 0.5, sym=sym, dtype=dtype)


def _three_terms(M, *, sym, dtype):
    """0.42 - 0.5 cos(2 pi n / M) + 0.08 cos(4 pi n / M)."""
    n, intervals = _steps("blackman_window", M, sym, dtype, device="cpu")
    if not intervals:
        return n
    n = _ops.mul_(n, math.pi / intervals)
    slow, fast = _ops.mul_(_ops.cos_(_ops.mul(n, 2)), 0.5), _ops.mul_(_ops.cos_(_ops.mul_(n, 4)), 0.08)
    return _ops.add_(_ops.sub_(fast, slow), 0.42)


def _triangle(M, *, sym, dtype):
    """A triangle: 2n / M up to the middle, then 2 - 2n / M."""
    n, intervals = _steps("bartlett_window", M, sym, dtype, device="cpu")
    if intervals:
        _ops.mul_(n, 2 / intervals)
        rising = (intervals >> 1) + 1
        _ops.add_(_ops.mul_(_ops.slice(n, 0, min(rising, M), max(M - rising, 0), 1), -1), 2)
    return n


hann_window = _periodic("hann_window", _raised, "[0.5000, 1.0000, 0.5000]")
blackman_window = _periodic("blackman_window", _three_terms, "[0.3400, 1.0000, 0.3400]")
bartlett_window = _periodic("bartlett_window", _triangle, "[0.5000, 1.0000, 0.5000]")


def _kaiser(M, beta=12.0, *, sym, dtype):
    """I0(beta sqrt(1 - (2n / M - 1)^2)) / I0(beta)."""
    if M < 2:
        return kaiser(M, beta=abs(beta), sym=sym, dtype=dtype, device="cpu")  # where beta is of no account
    return _kaiser_of(_ops.arange_of(0, 0, M, dtype, 0.0, 1.0), M - 1 if sym else M, beta)


hamming_window = _periodic("hamming_window", _two_terms, "[0.5400, 1.0000, 0.5400]")
kaiser_window = _periodic("kaiser_window", _kaiser, "[0.2157, 1.0000, 0.2157]")
