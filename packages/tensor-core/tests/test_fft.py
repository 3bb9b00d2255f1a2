"""facula.fft, stft and istft against PyTorch, with every norm, size and dim; frequencies, shifts, bad input."""

import itertools

import facula
import numpy as np
import pytest

rng = np.random.default_rng(5)
REAL = rng.standard_normal((3, 4, 5))
INPUTS = {
    "real": REAL, "complex": REAL + 1j * rng.standard_normal((3, 4, 5)), "float32": REAL.astype("f4"), "complex64": (REAL - 2j * REAL[::-1]).astype("c8"),
    "integers": np.arange(12).reshape(3, 4), "one element": REAL[0, 0, :1], "strided": REAL.transpose(2, 0, 1)[::2],
}  # fmt: skip
NORMS = (None, "ortho", "forward", "backward", "other")


def outcome(X, name, array, args, options=None):
    try:
        return getattr(X if name in ("stft", "istft") else X.fft, name)(X.from_numpy(array), *args, **(options or {}))
    except Exception as error:
        return error


def same(torch, name, array, args, options=None):
    def given(X):
        return {k: X.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in (options or {}).items()}

    e, r = (outcome(X, name, array, args, given(X)) for X in (torch, facula))
    what = f"{name}{args} {options}: {e!r}, {r!r}"
    if isinstance(e, Exception) or isinstance(r, Exception):
        assert isinstance(r, type(e)), what
        return
    assert (tuple(e.shape), str(e.dtype)) == (tuple(r.shape), str(r.dtype)), what
    tolerance = 1e-4 if e.dtype in (torch.float32, torch.complex64) else 1e-12
    np.testing.assert_allclose(r.resolve_conj().numpy(), e.resolve_conj().numpy(), rtol=tolerance, atol=tolerance, err_msg=what)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("kind", INPUTS)
def test_one_dim_agrees_with_pytorch(name, kind):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for n, dim, norm in itertools.product((None, 3, 8, 0), (-1, 0, 7), NORMS):
        same(torch, name, np.ascontiguousarray(INPUTS[kind]), (n, dim, norm))


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"])
@pytest.mark.parametrize("kind", INPUTS)
def test_several_dims_agree_with_pytorch(name, kind):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    same(torch, name, np.ascontiguousarray(INPUTS[kind]), ())
    dims = ((0, 1), (-1, 0), (0, 0), (1,), *([None] if name.endswith("n") else []))
    for s, dim, norm in itertools.product((None, (3, 6), (-1, 4)), dims, (None, "ortho", "forward")):
        same(torch, name, np.ascontiguousarray(INPUTS[kind]), (s, dim, norm))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts_agree_with_pytorch(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for args in ((), (0,), ((0, -1),)):
        same(torch, name, REAL, args)


def test_frequencies():
    assert [0.0, 1.0, -2.0, -1.0] == facula.fft.fftfreq(4, 0.25).tolist()
    assert [0.0, 0.2, 0.4, -0.4, -0.2] == facula.fft.fftfreq(5, dtype=facula.float64).tolist()
    assert [0.0, 0.5, 1.0] == facula.fft.rfftfreq(4, 0.5).tolist()
    assert [] == facula.fft.fftfreq(0).tolist()
    with pytest.raises(RuntimeError, match="-1"):
        facula.fft.fftfreq(-1)


def test_transforms_undo_each_other():
    x = facula.from_numpy(REAL)
    for forth, back in (("fft", "ifft"), ("fftn", "ifftn"), ("rfft", "irfft"), ("rfftn", "irfftn"), ("ihfft", "hfft")):
        for norm in NORMS[:4]:
            sizes = {"n": 5} if back in ("irfft", "hfft") else {"s": (3, 4, 5)} if back == "irfftn" else {}
            again = getattr(facula.fft, back)(getattr(facula.fft, forth)(x, norm=norm), norm=norm, **sizes)

            np.testing.assert_allclose(again.numpy().real, REAL, atol=1e-12)


WINDOWS = (
    {}, {"hop_length": 3}, {"win_length": 6, "window": np.hanning(6)}, {"window": np.hanning(8), "normalized": True}, {"onesided": False, "window": np.hanning(8)}, {"center": False},
    {"pad_mode": "constant"}, {"pad_mode": "replicate"}, {"pad_mode": "circular"}, {"return_complex": False}, {"return_complex": None}, {"hop_length": 0}, {"win_length": 9}, {"window": np.ones(3)},
    {"onesided": True},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", WINDOWS, ids=str)
def test_short_time_transforms_agree_with_pytorch(options):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    options = {"return_complex": True, **options}
    s = rng.standard_normal((2, 40))
    for signal in (s, s[0], s + 1j * s[::-1], s[:, :3], s[None]):
        same(torch, "stft", signal, (8,), options)
    spectrum = outcome(torch, "stft", s, (8,), {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in options.items()})
    if isinstance(spectrum, Exception) or not spectrum.is_complex():
        return
    back = {k: v for k, v in options.items() if k not in ("return_complex", "pad_mode")}
    for more in ({}, {"length": 37}, {"length": 50}, {"return_complex": True}):
        same(torch, "istft", spectrum.numpy(), (8,), {**back, **more})
    same(torch, "istft", spectrum.numpy()[:, :2], (8,), back)


def test_out_is_filled():
    out = facula.empty(0, dtype=facula.complex128)

    assert facula.fft.fft(facula.from_numpy(REAL), out=out) is out
    assert (3, 4, 5) == out.shape
    with pytest.raises(RuntimeError):
        facula.fft.fft(facula.from_numpy(REAL), out=facula.empty(0))


def test_spectra_without_a_window_warn_of_leakage():
    signal = facula.arange(16.0)
    with pytest.warns(UserWarning, match="^A window was not provided"):
        spectrum = facula.stft(signal, 8, return_complex=True)
    with pytest.warns(UserWarning, match="^A window was not provided"):
        back = facula.istft(spectrum, 8)

    assert facula.allclose(signal, back, atol=1e-5)
