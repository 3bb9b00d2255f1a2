"""stft and istft: Fourier transforms of overlapping windows of a signal."""

import math
import warnings

from facula.tensor_core import _ops, _ownership, _warned
from facula.tensor_core.functions import create as _create, joining as _joining, ranges as _ranges, rearranging as _rearranging
from facula.tensor_core._errors import DTypeError, ShapeError
from facula.tensor_core.dispatch.guard import guarded
from facula.tensor_core.dispatch.kinds import check, want_tensor
from facula.tensor_core._tensor import Tensor


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


def _rectangular(name):
    _warned.once(
        "A window was not provided. A rectangular window will be applied, which is known to cause spectral leakage. "
        "Pass one such as facula.hann_window(win_length), or facula.ones(win_length) to keep this one.",
        stacklevel=3,
        of=f"a window for {name}",
    )


def _stft_first(input, n_fft, center, pad_mode, align_to_window):
    """Refuse what PyTorch's Python does, which pads the signal before its parser sees the other arguments."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    if not center:
        return
    want_tensor("stft", "input", 0, input)
    shape = [*(1,) * (3 - input.dim()), *input.shape]
    pad, n = int(n_fft // 2), shape[-1]
    check("stft", "pad_mode", None, "str", pad_mode)
    if pad_mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"stft: Unrecognised padding mode {pad_mode}. Use 'reflect', 'constant', 'replicate' or 'circular'.")
    if pad_mode != "constant":
        if len(shape) > 3:
            raise NotImplementedError(f"stft: padding mode {pad_mode!r} is for 1D and 2D signals, got {input.dim()}D. Flatten the batch.")
        if 0 in shape[1:] and pad_mode != "circular":
            raise RuntimeError(f"stft: Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {shape}")
        if pad > n or pad == n and pad_mode == "reflect":
            if pad_mode != "replicate":
                raise RuntimeError(f"stft: Padding size should be less than the corresponding input dimension, but got: padding ({pad}, {pad}) at dimension {input.dim() - 1} of input {list(input.shape)}")
    if n + 2 * pad < (pad_mode != "constant"):
        raise RuntimeError(f"stft: the input, of {n} samples, and its padding of {pad} on either side, for n_fft={n_fft}, make no signal. Choose a larger n_fft.")
    if pad_mode in ("reflect", "replicate") and input.dtype._kind == 0:
        raise DTypeError(f'stft: padding mode {pad_mode!r} is not implemented for {input.dtype._scalar_type!r}. Convert it with .float().')


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
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if window is None:
        _rectangular("stft")
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false.")
    if return_complex is None:
        if not input.is_complex() and (window is None or not window.is_complex()):
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True in a future PyTorch release.")
        return_complex = True
    if input.dtype._kind < 2:
        raise DTypeError(f"stft: expected a tensor of floating point or complex values, but got {input.dtype._name}.")
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
        _rectangular("istft")
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


def _kinds(function):
    """What stft and istft take. PyTorch's stft asks in Python whether center is true, of whatever kind it is."""
    spectra = function.__name__ == "stft"
    return {
        "input": "tensor", "n_fft": "int", "hop_length": "int?", "win_length": "int?", "window": "tensor?", "center": None if spectra else "bool",
        "normalized": "bool", "onesided": "bool?", "length": "int?", "return_complex": "bool?" if spectra else "bool",
    }  # fmt: skip


istft, stft = guarded(istft, _kinds), guarded(stft, _kinds, first=_stft_first)  # by these names _ownership finds them
_ownership.attach({"istft": istft, "stft": stft})
