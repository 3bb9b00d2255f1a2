"""Discrete Fourier transforms. Names and behaviour are torch.fft's; NumPy does the work."""

from facula.tensor_core.dispatch import guard as _guard
from facula.tensor_core.fft import transforms as _fft

for _name in "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn".split():
    setattr(_fft, _name, _guard.guarded(getattr(_fft, _name), _fft.kinds))
_guard.guard(_fft)

from facula.tensor_core.fft.transforms import (  # noqa: E402 - as guarded
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]  # fmt: skip
