"""The functions of facula.fft over three rows: complex to complex, real to complex, complex to real."""

import math

from facula.tensor_core import _ops, _state
from facula.tensor_core.functions import create as _create, joining as _joining, ranges as _ranges, rearranging as _rearranging, shape as _shape
from facula.tensor_core.dispatch.arguments import as_dtype as _as_dtype
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.kinds import check, read_ints
from facula.tensor_core.dispatch.out import a_tensor, into
from facula.tensor_core.dispatch.slow import one_node
from facula.tensor_core._tensor import Tensor

_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _norm(name, norm, forward):
    """The rows' number of a norm: the direction that carries the factor."""
    if norm not in _NORMS:
        raise RuntimeError(f'{name}: Invalid normalization mode: "{norm}". Use "backward", "ortho" or "forward".')
    number = _NORMS[norm]
    return number if forward or number == 1 else 2 - number


def _read(name, x, kind, s, dim, some=True, out=None):
    """(x as _input has it, sizes, dims). Of several dims PyTorch asks before the dtype, but for rfftn's complex input; of one after the dtype of an output.

    some: no dims are refused, as a half spectrum lies along the last one.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}. Convert it with facula.tensor.")
    if name in ("fft", "ifft", "rfft", "ihfft") and isinstance(out, Tensor) and not out.is_complex() and not x.is_complex():
        raise RuntimeError(f"{name} expects a complex output tensor, but got {out.dtype._name}. Give a complex one.")
    if name in ("irfft", "hfft") and isinstance(out, Tensor) and out.dtype._kind != 2:
        raise RuntimeError(f"{name} expects a floating point output tensor, but got {out.dtype._name}. Give a real one.")
    find = _some_dims if some else _dims
    if name[-1] in "n2" and not (name == "rfftn" and x.is_complex()):
        found = find(name, x, s, dim)
        return _input(name, x, kind), *found
    return _input(name, x, kind), *find(name, x, s, dim)


def _input(name, x, kind):
    """x as real ("real"), complex ("complex") or any ("any") numbers of a dtype that the rows take."""
    if x.dtype._kind < 2:
        x = x.to(_state.get_default_dtype())
    if x.dtype._name in ("float16", "bfloat16"):
        raise DTypeError(f"{name}: Unsupported dtype {x.dtype._name}. Convert it with .to(facula.float32).")
    if kind == "real" and x.is_complex():
        raise DTypeError(f"{name} expects a {'real-valued' if name[-1] in 'n2' else 'real'} input tensor, but got {x.dtype._name}. Use the transform without r, or x.real.")
    return _turned(x) if kind == "complex" else x


def _sized(name, x, sizes, dims):
    """x with each dim cut, or filled up with zeros at its end, to a size."""
    wider = [0] * x.dim()
    for n, d in zip(sizes, dims):
        if n is None:
            continue
        if n < 1:
            raise RuntimeError(f"{name}: Invalid number of data points ({n}) specified")
        have = x.shape[d]
        if n < have:
            x = _ops.slice(x, d, 0, n, 1)
        wider[d] = max(n - have, 0)
    return _rearranging.constant_pad_nd(x, [w for n in wider[::-1] for w in (0, n)]) if any(wider) else x


def _wrapped(name, x, dim):
    """One dim or several of x, counted from the front."""
    dims = read_ints(name, "dim", None, dim)
    if dims and not x.dim():
        raise IndexError(f"{name}: Dimension specified as {dims[0]} but tensor has no dimensions. Give it one with reshape(1).")
    return tuple(_shape.wrap_dim(name, d, x.dim()) for d in dims)


def _dims(name, x, s, dim):
    """(sizes or None, dims): s alone means the last dims, neither means all."""
    n, s = x.dim(), None if s is None else read_ints(name, "s", 1, s)
    if dim is None:
        dim = tuple(range(n) if s is None else range(n - len(s), n))
        if s is not None and len(s) > n:
            raise RuntimeError(f"{name}: Got shape with {len(s)} values but input tensor only has {n} dimensions.")
    dims = _wrapped(name, x, dim)
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"{name}: FFT dims must be unique, got {tuple(dim)}.")
    if s is not None and len(s) != len(dims):
        raise RuntimeError(f"{name}: When given, dim and shape arguments must have the same length, got {len(dims)} and {len(s)}.")
    sizes = [None] * len(dims) if s is None else [None if v == -1 and name[-1] in "n2" else v for v in s]
    for d, v in zip(dims, sizes):
        if v is None and x.shape[d] < 1:
            raise RuntimeError(f"{name}: Invalid number of data points ({x.shape[d]}) specified")
    return sizes, dims


def _some_dims(name, x, s, dim):
    """_dims of what needs one: a half spectrum lies along the last."""
    sizes, dims = _dims(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return sizes, dims


def _turned(x):
    """x as complex numbers. In one dim only once it has its size: so a real signal's gradient is cut as real numbers, as PyTorch's."""
    return x if x.is_complex() else x.to(x.dtype.to_complex())


def _complex(name, x, s, dim, norm, forward, out):
    x, sizes, dims = _read(name, x, "any" if name == "fft" else "complex", s, dim, some=False, out=out)
    if not dims:
        return into(name, _ops.copy(_turned(x)), out)
    return into(name, _spectrum(_sized(name, x, sizes, dims), dims, _norm(name, norm, forward), forward), out)


def _spectrum(x, dims, norm, forward):
    """All terms, of real numbers as well."""
    found = _ops._fft_c2c(_turned(x), dims, norm, forward)
    return found if x.is_complex() else one_node(found, "FftR2CBackward0", x)


def _from_real(name, x, s, dim, norm, out, forward=True):
    x, sizes, dims = _read(name, x, "real", s, dim, out=out)
    half = _ops._fft_r2c(_sized(name, x, sizes, dims), dims, _norm(name, norm, forward), True)
    return into(name, half if forward else half.conj(), out, strides=not forward)


def _to_real(name, x, s, dim, norm, out, forward=False):
    x, sizes, dims = _read(name, x, "complex", s, dim, out=out)
    last = 2 * (x.shape[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
    if last < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({last}) specified")
    sizes = [*sizes[:-1], last // 2 + 1]
    if isinstance(out, Tensor) and out.is_complex():
        raise RuntimeError(f"{name} expects a floating point output tensor, but got {out.dtype._name}. Give a real one.")
    x = _sized(name, x.conj() if forward else x, sizes, dims)
    return into(name, _ops._fft_c2r(x, dims, _norm(name, norm, forward), last), out)


def _one(n):
    return None if n is None else (n,)


def fft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The discrete Fourier transform along dim: X[k] = sum_j x[j] exp(-2 pi i j k / n).

    n: cuts or fills up dim first. norm: "backward" (no factor), "ortho" (1 / sqrt(n)), "forward" (1 / n).

    >>> import facula
    >>> facula.fft.fft(facula.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _complex("fft", input, _one(n), dim, norm, True, out)


def ifft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The inverse of fft; here "backward" is 1 / n and "forward" no factor.

    >>> facula.fft.ifft(facula.fft.fft(facula.tensor([1.0, 2.0, 4.0]))).real
    tensor([1., 2., 4.])
    """
    if isinstance(input, Tensor) and not input.is_complex():  # the conjugate of what fft makes: a view, as PyTorch's
        x, sizes, dims = _read("ifft", input, "real", _one(n), dim, some=False, out=out)
        return into("ifft", _spectrum(_sized("ifft", x, sizes, dims), dims, _norm("ifft", norm, False), True).conj(), out, strides=True)
    return _complex("ifft", input, _one(n), dim, norm, False, out)


def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """fft over two dims.

    >>> facula.fft.fft2(facula.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _complex("fft2", input, s, dim, norm, True, out)


def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """ifft over two dims.

    >>> facula.fft.ifft2(facula.fft.fft2(facula.tensor([[1.0, 2.0], [3.0, 4.0]]))).real
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _complex("ifft2", input, s, dim, norm, False, out)


def fftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """fft over several dims, all by default.

    >>> facula.fft.fftn(facula.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _complex("fftn", input, s, dim, norm, True, out)


def ifftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """ifft over several dims, all by default.

    >>> facula.fft.ifftn(facula.fft.fftn(facula.tensor([[1.0, 2.0], [3.0, 4.0]]))).real
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _complex("ifftn", input, s, dim, norm, False, out)


def rfft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The first n // 2 + 1 terms of a real signal's fft; the others are their conjugates.

    >>> facula.fft.rfft(facula.tensor([1.0, 2.0, 3.0, 2.0])).real
    tensor([ 8., -2.,  0.])
    """
    return _from_real("rfft", input, _one(n), dim, norm, out)


def irfft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The real signal of n elements (2 (m - 1) for m terms by default) whose rfft this is.

    >>> facula.fft.irfft(facula.fft.rfft(facula.tensor([1.0, 2.0, 4.0])), n=3)
    tensor([1., 2., 4.])
    """
    return _to_real("irfft", input, _one(n), dim, norm, out)


def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """rfft over the last of two dims, fft over the other.

    >>> facula.fft.rfft2(facula.ones(2, 4)).shape
    torch.Size([2, 3])
    """
    return _from_real("rfftn", input, s, dim, norm, out)


def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """The inverse of rfft2.

    >>> facula.fft.irfft2(facula.fft.rfft2(facula.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _to_real("irfft2", input, s, dim, norm, out)


def rfftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """rfft over the last of several dims, fft over the others.

    >>> facula.fft.rfftn(facula.ones(2, 4)).shape
    torch.Size([2, 3])
    """
    return _from_real("rfftn", input, s, dim, norm, out)


def irfftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """The inverse of rfftn.

    >>> facula.fft.irfftn(facula.fft.rfftn(facula.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return _to_real("irfftn", input, s, dim, norm, out)


def hfft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The real spectrum of a signal of which the first half is given; its other half is conjugate.

    >>> facula.fft.hfft(facula.tensor([1.0, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    return _to_real("hfft", input, _one(n), dim, norm, out, forward=True)


def ihfft(input, n=None, dim=-1, norm=None, *, out=None) -> Tensor:
    """The inverse of hfft: the first half of a signal whose spectrum is real.

    >>> facula.fft.ihfft(facula.tensor([1.0, 2.0, 3.0, 2.0])).real
    tensor([ 2.0000, -0.5000,  0.0000])
    """
    return _from_real("ihfft", input, _one(n), dim, norm, out, forward=False)


def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """hfft over the last of two dims, fft over the other.

    >>> facula.fft.hfft2(facula.tensor([[1.0, 0.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [1., 1.]])
    """
    return hfftn(input, s, dim, norm, out=out)


def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None) -> Tensor:
    """The inverse of hfft2.

    >>> facula.fft.hfft2(facula.fft.ihfft2(facula.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    return ihfftn(input, s, dim, norm, out=out)


def hfftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """hfft over the last of several dims, fft over the others.

    >>> facula.fft.hfftn(facula.tensor([[1.0, 0.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [1., 1.]])
    """
    x, sizes, dims = _read("hfftn", input, "complex", s, dim)
    if len(dims) > 1:
        x = _sized("hfftn", x, [*sizes[:-1], None if sizes[-1] is None else sizes[-1] // 2 + 1], dims)
        x = _complex("hfftn", x, None, dims[:-1], norm, True, None)
    return _to_real("hfftn", x, [sizes[-1]] if sizes[-1] is not None else None, dims[-1], norm, out, forward=True)


def ihfftn(input, s=None, dim=None, norm=None, *, out=None) -> Tensor:
    """The inverse of hfftn.

    >>> facula.fft.hfftn(facula.fft.ihfftn(facula.tensor([[1.0, 2.0], [3.0, 4.0]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    x, sizes, dims = _read("ihfftn", input, "real", s, dim)
    half = _from_real("ihfftn", _sized("ihfftn", x, sizes, dims), None, dims[-1], norm, None, forward=False)
    if len(dims) == 1:
        return into("ihfftn", half, out)
    return _complex("ihfftn", half, None, dims[:-1], norm, False, out)


def _frequencies(name, steps, n, d, out, requires_grad):
    """steps / (n d), which need not be finite."""
    period = n * d
    return _create._finish(into(name, steps * (1.0 / period if period else math.copysign(math.inf, period)), out), requires_grad)


def _of_frequencies(name, n, d, dtype, layout, pin_memory, out):
    """The dtype of a function that gives frequencies, whose arguments are looked at."""
    if type(n) is not int:
        check(f"fft_{name}", "n", 0, "int", n)
    if type(d) is not float:
        check(f"fft_{name}", "d", 1, "float", d)
    _create.a_layout(layout)
    _create.plain(layout, pin_memory is not None and pin_memory)
    if out is not None:
        a_tensor(f"fft_{name}", out)
    dtype = _as_dtype(dtype) or (_state.get_default_dtype() if out is None else out.dtype)
    if dtype._kind < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {dtype._name}. Name one.")
    return dtype


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """The frequencies of fft's n terms for samples d apart: 0, 1, ... -2, -1 over n d.

    >>> facula.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    check("fftfreq", "n", 0, "int", n)
    dtype = _of_frequencies("fftfreq", n, d, dtype, layout, pin_memory, out)
    if n == 0:
        return _create._finish(into("fftfreq", _create.empty(0, dtype=dtype, device=device), out), requires_grad)
    if n < 0:
        raise RuntimeError(f"fftfreq: n must be a positive number, got {n}.")
    half = (n + 1) // 2
    steps = _joining.cat([_ranges.arange(half, dtype=dtype, device=device), _ranges.arange(-(n // 2), 0, dtype=dtype, device=device)])
    return _frequencies("fftfreq", steps, n, d, out, requires_grad)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """The frequencies of rfft's terms for n samples d apart: 0 to n // 2 over n d.

    >>> facula.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    check("rfftfreq", "n", 0, "int", n)
    dtype = _of_frequencies("rfftfreq", n, d, dtype, layout, pin_memory, out)
    steps = _ranges.arange(int(n / 2) + 1, dtype=dtype, device=device)
    return _frequencies("rfftfreq", steps, n, d, out, requires_grad)


def fftshift(input, dim=None) -> Tensor:
    """The terms turned so that frequency 0 is in the middle.

    >>> facula.fft.fftshift(facula.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    dims = _wrapped("fftshift", input, tuple(range(input.dim())) if dim is None else dim)
    return _rearranging.roll(input, [input.shape[d] // 2 for d in dims], dims)


def ifftshift(input, dim=None) -> Tensor:
    """The inverse of fftshift.

    >>> facula.fft.ifftshift(facula.tensor([-2, -1, 0, 1]))
    tensor([ 0,  1, -2, -1])
    """
    dims = _wrapped("ifftshift", input, tuple(range(input.dim())) if dim is None else dim)
    return _rearranging.roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims)


def kinds(function):
    """What the transforms take: n is one size and dim one dim, s and dim of those over several are some, None where they may be left out."""
    several = function.__name__.endswith(("2", "n"))
    dim = ("ints" if function.__name__[-1] == "2" else "ints?") if several else "int"
    return {"input": "tensor", "n": "size?", "s": "ints?", "dim": dim, "axis": dim, "norm": "str?"}
