"""What factories are asked for beside sizes and values: layouts, pinned memory and devices are made, or refused."""

import facula
import pytest

x = facula.ones(2, 2)
FACTORIES = {
    "empty": lambda **k: facula.empty(2, **k), "zeros": lambda **k: facula.zeros(2, **k), "ones": lambda **k: facula.ones(2, **k),
    "full": lambda **k: facula.full((2,), 1.0, **k), "eye": lambda **k: facula.eye(2, **k), "arange": lambda **k: facula.arange(3, **k),
    "arange of floats": lambda **k: facula.arange(0.0, 1.0, 0.5, **k), "linspace": lambda **k: facula.linspace(0, 1, 3, **k),
    "logspace": lambda **k: facula.logspace(0, 1, 3, **k), "empty_strided": lambda **k: facula.empty_strided((2,), (1,), **k),
    "empty_permuted": lambda **k: facula.empty_permuted((2, 3), (1, 0), **k), "scalar_tensor": lambda **k: facula.scalar_tensor(1.0, **k),
    "tensor": lambda **k: facula.tensor([1, 2], **k), "rand": lambda **k: facula.rand(2, **k), "randn": lambda **k: facula.randn(2, **k),
    "randint": lambda **k: facula.randint(3, (2,), **k), "randperm": lambda **k: facula.randperm(3, **k), "normal": lambda **k: facula.normal(0.0, 1.0, (2,), **k),
    "empty_like": lambda **k: facula.empty_like(x, **k), "zeros_like": lambda **k: facula.zeros_like(x, **k), "ones_like": lambda **k: facula.ones_like(x, **k),
    "full_like": lambda **k: facula.full_like(x, 2.0, **k), "rand_like": lambda **k: facula.rand_like(x, **k), "randn_like": lambda **k: facula.randn_like(x, **k),
    "new_empty": lambda **k: x.new_empty((2,), **k), "new_zeros": lambda **k: x.new_zeros(2, **k), "new_ones": lambda **k: x.new_ones((2,), **k),
    "new_full": lambda **k: x.new_full((2,), 3.0, **k), "new_tensor": lambda **k: x.new_tensor([1], **k),
    "new_empty_strided": lambda **k: x.new_empty_strided((2,), (1,), **k), "tril_indices": lambda **k: facula.tril_indices(2, 2, **k),
    "triu_indices": lambda **k: facula.triu_indices(2, 2, **k), "fftfreq": lambda **k: facula.fft.fftfreq(3, **k), "rfftfreq": lambda **k: facula.fft.rfftfreq(3, **k),
    "hann_window": lambda **k: facula.hann_window(4, **k), "hamming_window": lambda **k: facula.hamming_window(4, **k),
    "blackman_window": lambda **k: facula.blackman_window(4, **k), "bartlett_window": lambda **k: facula.bartlett_window(4, **k),
    "kaiser_window": lambda **k: facula.kaiser_window(4, **k), "windows.hann": lambda **k: facula.signal.windows.hann(4, **k),
    "windows.bartlett": lambda **k: facula.signal.windows.bartlett(4, **k), "windows.cosine": lambda **k: facula.signal.windows.cosine(4, **k),
    "windows.exponential": lambda **k: facula.signal.windows.exponential(4, **k), "windows.gaussian": lambda **k: facula.signal.windows.gaussian(4, **k),
    "windows.kaiser": lambda **k: facula.signal.windows.kaiser(1, **k),
}  # fmt: skip
SPARSE = {
    "coo": lambda **k: facula.sparse_coo_tensor([[0]], [1.0], (2,), **k), "csr": lambda **k: facula.sparse_csr_tensor([0, 1], [0], [1.0], (1, 2), **k),
    "csc": lambda **k: facula.sparse_csc_tensor([0, 1], [0], [1.0], (1, 1), **k),
    "compressed": lambda **k: facula.sparse_compressed_tensor([0, 1], [0], [1.0], (1, 2), layout=facula.sparse_csr, **k),
}  # fmt: skip


BLANK = ("empty", "zeros", "zeros_like", "new_empty", "new_zeros")  # what a sparse tensor that lists nothing answers


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_make_what_they_are_asked_for_or_refuse(name):
    make = FACTORIES[name]

    assert make(device="meta").is_meta
    assert make(device="cpu").device.type == "cpu"
    with pytest.raises((RuntimeError, AssertionError)):
        make(device="cuda")
    asked_for = {"layout": facula.sparse_coo}
    if name in BLANK:
        assert make(**asked_for).layout is facula.sparse_coo and make(**asked_for)._nnz() == 0
        asked_for = {"pin_memory": True, "layout": facula.sparse_coo}
    for asked in (asked_for, {"pin_memory": True}):
        with pytest.raises((RuntimeError, ValueError, TypeError)):  # TypeError: has no such argument, as PyTorch's has not
            make(**asked)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_tensors_are_made_on_the_cpu(name):
    assert SPARSE[name](device="cpu").device.type == "cpu"
    for asked in ({"device": "meta"}, {"device": "cuda"}, {"pin_memory": True}):
        with pytest.raises((RuntimeError, AssertionError)):
            SPARSE[name](**asked)


CONVERSIONS = {
    "blocks": lambda: x.to_sparse(blocksize=(1, 1)), "dense dims": lambda: x.to_sparse_csr(dense_dim=1),
    "blocks of a sparse one": lambda: x.to_sparse().to_sparse(blocksize=(1, 1)), "other sparse dims": lambda: x.to_sparse().to_sparse(1),
    "a sparse one's format": lambda: x.to_sparse().clone(memory_format=facula.channels_last),
    "windows with center": lambda: facula.stft(facula.ones(8), 4, return_complex=True, align_to_window=True),
    "an ambiguous order": lambda: facula.ones(1, 1).dim_order(ambiguity_check=True),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSIONS)
def test_what_is_not_here_is_refused(name):
    with pytest.raises(RuntimeError):
        CONVERSIONS[name]()


def test_windows_begin_at_the_first_sample():
    signal = facula.arange(21.0)
    aligned = facula.stft(signal, 8, hop_length=2, win_length=6, return_complex=True, center=False, align_to_window=True)
    window = facula.ones(6)
    expected = [facula.fft.rfft(facula.cat([facula.zeros(1), signal[k : k + 6] * window, facula.zeros(1)])) for k in range(0, 16, 2)]

    assert facula.allclose(facula.stack(expected, 1), aligned, rtol=1e-4)
