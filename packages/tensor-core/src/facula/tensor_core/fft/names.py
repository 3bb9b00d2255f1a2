"""The functions of facula.fft over three rows (complex to complex, real to complex, complex to real), and stft and istft."""

import math
import warnings

from facula.tensor_core import _ops, _ownership, _state
from facula.tensor_core.functions import create as _create, joining as _joining, ranges as _ranges, rearranging as _rearranging, shape as _shape
from facula.tensor_core.dispatch.arguments import as_dtype as _as_dtype
from facula.tensor_core.dispatch.arguments import whole
from facula.tensor_core._errors import DTypeError, ShapeError
from facula.tensor_core.dispatch.guard import check, guarded, want_tensor
from facula.tensor_core.dispatch.out import into
from facula.tensor_core._tensor import Tensor

_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _norm(name, norm, forward):
    """The rows' number of a norm: the direction that carries the factor."""
    if norm not in _NORMS:
        raise RuntimeError(f'{name}: Invalid normalization mode: "{norm}". Use "backward", "ortho" or "forward".')
    number = _NORMS[norm]
    return number if forward or number == 1 else 2 - number


def _input(name, x, kind):
    """x as real ("real"), complex ("complex") or any ("any") numbers of a dtype that the rows take."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}. Convert it with facula.tensor.")
    if x.dtype.name in ("float16", "bfloat16"):
        raise DTypeError(f"{name}: Unsupported dtype {x.dtype.name}. Convert it with .to(facula.float32).")
    if x.dtype.kind < 2:
        x = x.to(_state.get_default_dtype())
    if kind == "real" and x.is_complex():
        raise DTypeError(f"{name} expects a {'real-valued' if name[-1] in 'n2' else 'real'} input tensor, but got {x.dtype.name}. Use the transform without r, or x.real.")
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
    dims = (dim,) if whole(dim) or isinstance(dim, Tensor) else tuple(dim)
    if dims and not x.dim():
        raise IndexError(f"{name}: Dimension specified as {dims[0]} but tensor has no dimensions. Give it one with reshape(1).")
    return tuple(_shape.wrap_dim(name, d, x.dim()) for d in dims)


def _dims(name, x, s, dim, default=None):
    """(sizes or None, dims): s alone means the last dims, neither means all (or `default`)."""
    n, s = x.dim(), [s] if whole(s) else s
    if s is not None and not all([type(v) is int for v in s]):
        for v in s:
            check(name, "s", 1, "int", v)
        s = [int(v) for v in s]
    if dim is None:
        dim = default if s is None and default is not None else range(n) if s is None else range(n - len(s), n)
        if s is not None and len(s) > n:
            raise RuntimeError(f"{name}: Got shape with {len(s)} values but input tensor only has {n} dimensions.")
    dims = _wrapped(name, x, dim)
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"{name}: FFT dims must be unique, got {tuple(dim)}.")
    if s is not None and len(s) != len(dims):
        raise RuntimeError(f"{name}: When given, dim and shape arguments must have the same length, got {len(dims)} and {len(s)}.")
    sizes = [None] * len(dims) if s is None else [None if v == -1 else v for v in s]
    for d, v in zip(dims, sizes):
        if v is None and x.shape[d] < 1:
            raise RuntimeError(f"{name}: Invalid number of data points ({x.shape[d]}) specified")
    return sizes, dims


def _turned(x):
    """x as complex numbers. In one dim only once it has its size: so a real signal's gradient is cut as real numbers, as PyTorch's."""
    return x if x.is_complex() else x.to(x.dtype.to_complex())


def _complex(name, x, s, dim, norm, forward, out, default=None):
    x = _input(name, x, "any" if name == "fft" else "complex")
    sizes, dims = _dims(name, x, s, dim, default)
    if not dims:
        return into(name, _ops.copy(_turned(x), None, 0), out)
    return into(name, _ops._fft_c2c(_turned(_sized(name, x, sizes, dims)), dims, _norm(name, norm, forward), forward), out)


def _from_real(name, x, s, dim, norm, out, default=None, forward=True):
    x = _input(name, x, "real")
    sizes, dims = _dims(name, x, s, dim, default)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    half = _ops._fft_r2c(_sized(name, x, sizes, dims), dims, _norm(name, norm, forward), True)
    return into(name, half if forward else half.conj(), out, strides=not forward)


def _to_real(name, x, s, dim, norm, out, default=None, forward=False):
    x = _input(name, x, "complex")
    sizes, dims = _dims(name, x, s, dim, default)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = 2 * (x.shape[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
    if last < 1:
        raise RuntimeError(f"{name}: Invalid number of data points ({last}) specified")
    sizes = [*sizes[:-1], last // 2 + 1]
    if isinstance(out, Tensor) and out.is_complex():
        raise RuntimeError(f"{name} expects a floating point output tensor, but got {out.dtype.name}. Give a real one.")
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
        x = _input("ifft", input, "real")
        sizes, dims = _dims("ifft", x, _one(n), dim)
        return into("ifft", _ops._fft_c2c(_turned(_sized("ifft", x, sizes, dims)), dims, _norm("ifft", norm, False), True).conj(), out, strides=True)
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
    x = _input("hfftn", input, "complex")
    sizes, dims = _dims("hfftn", x, s, dim)
    if not dims:
        raise RuntimeError("hfftn must transform at least one axis")
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
    x = _input("ihfftn", input, "real")
    sizes, dims = _dims("ihfftn", x, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    half = _from_real("ihfftn", _sized("ihfftn", x, sizes, dims), None, dims[-1], norm, None, forward=False)
    if len(dims) == 1:
        return into("ihfftn", half, out)
    return _complex("ihfftn", half, None, dims[:-1], norm, False, out)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """The frequencies of fft's n terms for samples d apart: 0, 1, ... -2, -1 over n d.

    >>> facula.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    if type(n) is not int:
        check("fft_fftfreq", "n", 0, "int", n)
    _create.plain(layout)
    if n == 0:
        return _create._finish(into("fftfreq", _create.empty(0, dtype=dtype, device=device), out), requires_grad)
    if n < 0:
        raise RuntimeError(f"fftfreq: n must be a positive number, got {n}.")
    dtype = _as_dtype(dtype) or (_state.get_default_dtype() if out is None else out.dtype)
    if dtype.kind < 2:
        raise RuntimeError(f"fftfreq requires a floating point or complex dtype, got {dtype.name}. Name one.")
    half = (n + 1) // 2
    steps = _joining.cat([_ranges.arange(half, dtype=dtype, device=device), _ranges.arange(-(n // 2), 0, dtype=dtype, device=device)])
    return _create._finish(into("fftfreq", steps * (1.0 / (n * d)), out), requires_grad)


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False) -> Tensor:
    """The frequencies of rfft's terms for n samples d apart: 0 to n // 2 over n d.

    >>> facula.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    if type(n) is not int:
        check("fft_rfftfreq", "n", 0, "int", n)
    _create.plain(layout)
    if n < 1:
        raise RuntimeError(f"rfftfreq: n must be a positive number, got {n}.")
    dtype = dtype or (_state.get_default_dtype() if out is None else out.dtype)
    steps = _ranges.arange(n // 2 + 1, dtype=dtype, device=device)
    return _create._finish(into("rfftfreq", steps * (1.0 / (n * d)), out), requires_grad)


def fftshift(input, dim=None) -> Tensor:
    """The terms turned so that frequency 0 is in the middle.

    >>> facula.fft.fftshift(facula.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    dims = _wrapped("fftshift", input, range(input.dim()) if dim is None else dim)
    return _rearranging.roll(input, [input.shape[d] // 2 for d in dims], dims)


def ifftshift(input, dim=None) -> Tensor:
    """The inverse of fftshift.

    >>> facula.fft.ifftshift(facula.tensor([-2, -1, 0, 1]))
    tensor([ 0,  1, -2, -1])
    """
    dims = _wrapped("ifftshift", input, range(input.dim()) if dim is None else dim)
    return _rearranging.roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims)


# --- short-time transforms --------------------------------------------------------------------------------------------


def _reflected(x, pad, mode):
    """The last dim with `pad` elements more on either side: mirrored, zeros, the end's value, or round about."""
    n = x.shape[-1]
    if mode == "reflect" and pad >= n:
        raise RuntimeError(f"stft: Padding size should be less than the corresponding input dimension, but got: padding ({pad}, {pad}) at dimension {x.dim() - 1} of input {list(x.shape)}")
    places = _ranges.arange(-pad, n + pad, device=x.device)
    if mode == "constant":
        return _rearranging.constant_pad_nd(x, (pad, pad))
    if mode == "reflect":
        places = (n - 1) - ((n - 1) - places.abs()).abs()
    elif mode == "replicate":
        places = places.clamp(0, n - 1)
    elif mode == "circular":
        if pad > n:
            raise RuntimeError(f"stft: Padding value causes wrapping around more than once: {pad} on either side of {n} samples.")
        places = places % n
    else:
        raise NotImplementedError(f"stft: Unrecognised padding mode {mode}. Use 'reflect', 'constant', 'replicate' or 'circular'.")
    return _ops.index_select(x, -1, places)


def _window(name, window, win_length, n_fft, like):
    """The window, of ones by default, in the middle of n_fft places."""
    if window is None:
        window = _create.ones(win_length, dtype=like.dtype.to_real(), device=like.device)
    elif window.dim() != 1 or window.shape[0] != win_length:
        raise ShapeError(f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size {list(window.shape)}")
    left = (n_fft - win_length) // 2
    if win_length < n_fft:
        zeros = [_create.zeros(k, dtype=window.dtype, device=window.device) for k in (left, n_fft - win_length - left)]
        window = _joining.cat([zeros[0], window, zeros[1]])
    return window


def _rectangular():
    warnings.warn(
        "A window was not provided. A rectangular window will be applied, which is known to cause spectral leakage. "
        "Pass one such as facula.hann_window(win_length), or facula.ones(win_length) to keep this one.",
        UserWarning,
        stacklevel=3,
    )


def stft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
    align_to_window=None,
):  # fmt: skip
    """Spectra of overlapping windows of a signal (N,) or (B, N): (n_fft // 2 + 1, frames), or all n_fft rows unless onesided.

    Frame t is the fft of input[t hop - n_fft // 2 : ... + n_fft] times the window; center: the signal is padded by n_fft // 2 before.
    align_to_window: without center, a window shorter than n_fft begins at input[t hop].
    return_complex must be given for real signals; False answers real and imaginary parts along a last dim.

    >>> x = facula.ones(8)
    >>> facula.stft(x, 4, window=facula.ones(4), return_complex=True).shape
    torch.Size([3, 9])
    >>> x.stft(4, window=facula.ones(4), return_complex=True).shape
    torch.Size([3, 9])
    """
    if type(input) is not Tensor:
        want_tensor("stft", "input", 0, input)
    check("stft", "n_fft", 1, "int", n_fft)
    if return_complex is not None:
        check("stft", "return_complex", None, "bool", return_complex)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if window is None:
        _rectangular()
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    if return_complex is None:
        if not input.is_complex() and (window is None or not window.is_complex()):
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
        return_complex = True
    if input.dtype.kind < 2:
        raise DTypeError(f"stft: expected a tensor of floating point or complex values, but got {input.dtype.name}.")
    if input.dim() not in (1, 2):
        raise ShapeError(f"stft: expected a 1D or 2D tensor, but got {input.dim()}D.")
    x = input.unsqueeze(0) if input.dim() == 1 else input
    if center:
        x = _reflected(x, n_fft // 2, pad_mode)
    elif align_to_window and 0 < length < n_fft:  # windows, not transforms, begin at the first sample
        rest = n_fft - length
        x = _joining.cat([x.new_zeros(len(x), rest // 2), x, x.new_zeros(len(x), rest - rest // 2)], 1)
    n = x.shape[-1]
    if not 0 < n_fft <= n:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {n}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={length}")
    whole = x.is_complex() or window is not None and window.is_complex()
    onesided = not whole if onesided is None else onesided
    if onesided and whole:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    frames = _ops.unfold(x, -1, n_fft, hop)
    if window is not None or length < n_fft:
        frames = frames * _window("stft", window, length, n_fft, input)
    if whole:
        spectra = _ops._fft_c2c(frames.to(frames.dtype.to_complex()), (2,), int(normalized), True)
    else:
        spectra = _ops._fft_r2c(frames, (2,), int(normalized), bool(onesided))
    spectra = spectra.transpose(1, 2)
    spectra = spectra.squeeze(0) if input.dim() == 1 else spectra
    return spectra if return_complex else _ops.real_view(spectra)


def _added(frames, hop):
    """Frames (B, T, n) laid over each other, hop apart, and summed: (B, n + hop (T - 1))."""
    batch, count, n = frames.shape
    total = n + hop * (count - 1)
    places = (_ranges.arange(count, device=frames.device) * hop).unsqueeze(-1) + _ranges.arange(n, device=frames.device)
    return _ops.index_add(_create.zeros(batch, total, dtype=frames.dtype, device=frames.device), 1, places.reshape(-1), frames.reshape(batch, -1))


def istft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False
) -> Tensor:
    """The signal whose stft this is, by least squares: windowed frames added up over the squares of the window.

    Raises RuntimeError where the windows leave a sample uncovered.
    Source: Griffin and Lim (1984), IEEE Trans. ASSP 32(2).

    >>> x = facula.arange(8.0)
    >>> window = facula.ones(4)
    >>> X = facula.stft(x, 4, window=window, return_complex=True)
    >>> facula.istft(X, 4, window=window)
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    >>> X.istft(4, window=window).shape
    torch.Size([8])
    """
    want_tensor("istft", "input", 0, input)
    hop = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if window is None:
        _rectangular()
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if input.numel() == 0:
        raise ShapeError("istft: input tensor cannot be empty.")
    if input.dim() not in (2, 3):
        raise ShapeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {input.dim()}.")
    x = input.unsqueeze(0) if input.dim() == 2 else input
    onesided = x.shape[1] != n_fft if onesided is None else onesided
    rows = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[1] != rows:
        raise ShapeError(f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft ({'n_fft / 2 + 1' if onesided else 'n_fft'} = {rows}), but got {x.shape[1]}.")
    if not 0 < hop <= win_length:
        raise RuntimeError(f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop}, win_length={win_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"istft: expected 0 < win_length <= n_fft, but got win_length={win_length}, n_fft={n_fft}")
    if onesided and return_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex. Give onesided=False.")
    w = _window("istft", window, win_length, n_fft, input)
    x = _ops.complex_view(_ops.transpose(_ops.real_view(x.resolve_conj()), 1, 2)) if x.requires_grad else x.transpose(1, 2)  # the gradient is contiguous
    norm = 1 if normalized else 2
    if return_complex:
        frames = _ops._fft_c2c(x, (2,), norm, False)
    else:
        if w.is_complex():
            raise RuntimeError("Complex windows are incompatible with return_complex=False")
        frames = _ops._fft_c2r(x if onesided else _ops.slice(x, 2, 0, n_fft // 2 + 1, 1), (2,), norm, n_fft)
    count = frames.shape[1]
    signal = _added(frames * w, hop)
    weight = _added((w * w).expand(1, count, n_fft), hop)
    start = n_fft // 2 if center else 0
    total = signal.shape[1]
    end = total if length is None and not center else total - n_fft // 2 if length is None else start + length
    stop = min(end, total)
    signal, weight = signal[:, start:stop], weight[:, start:stop]
    low = weight.abs().min().item() if weight.numel() else math.inf
    if low <= 1e-11:
        raise RuntimeError(f"istft: window overlap add min: {low} is not above 1e-11: some samples are covered by no window. Use a smaller hop_length.")
    signal = signal / weight
    if end > stop:
        warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. Check center and hop_length.", UserWarning, stacklevel=2)
        signal = _joining.cat([signal, _create.zeros(signal.shape[0], end - stop, dtype=signal.dtype, device=signal.device)], -1)
    return signal.squeeze(0) if input.dim() == 2 else signal


def transforms(function):
    """What the transforms take: n is one size and dim one dim, s and dim of those over several are some, None where they may be left out."""
    several = function.__name__.endswith(("2", "n"))
    dim = ("ints" if function.__name__[-1] == "2" else "ints?") if several else "int"
    return {"input": "tensor", "n": "int?", "s": "ints?", "dim": dim, "axis": dim, "norm": "str?"}


def _kinds(function):
    """What stft and istft take."""
    return {
        "input": "tensor", "n_fft": "int", "hop_length": "int?", "win_length": "int?", "window": "tensor?", "center": "bool", "normalized": "bool",
        "onesided": "bool?", "length": "int?", "return_complex": "bool?",
    }  # fmt: skip


PUBLIC = {"istft": guarded(istft, _kinds), "stft": guarded(stft, _kinds)}
_ownership.attach(PUBLIC)
