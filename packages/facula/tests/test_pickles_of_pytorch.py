"""Plain pickles, and whole objects in checkpoints, that PyTorch wrote come back as the same things here."""

import io
import pickle

import facula.torch
import pytest

torch = pytest.importorskip("torch")

x = torch.arange(6.0).view(2, 3)
OBJECTS = {
    "tensor": x, "view": x.t()[1:], "parameter": torch.nn.Parameter(x), "with gradient": torch.ones(2, requires_grad=True), "bfloat16": x.bfloat16(),
    "float8": x.to(torch.float8_e5m2), "uint16": x.to(torch.uint16), "meta": x.to("meta"), "conjugate": (x + 1j).conj(), "sparse": torch.eye(2).to_sparse(),
    "compressed": torch.eye(2).to_sparse_csr(), "layout": torch.strided, "generator": torch.Generator().manual_seed(3), "function": torch.add,
    "named tuple": x.max(0), "linear": torch.nn.Linear(2, 2), "lstm": torch.nn.LSTM(2, 2), "optimizer": torch.optim.Adam([x.clone()]),
    "normal": torch.distributions.Normal(x, 1.0), "sequence": torch.nn.utils.rnn.pack_sequence([x]), "data": torch.utils.data.TensorDataset(x),
}  # fmt: skip
KEPT = {
    "generator": lambda g: g.initial_seed(), "function": lambda f: f.__name__, "optimizer": lambda o: str(o.state_dict()), "data": lambda d: str(d[:]),
    "linear": lambda m: str(m.state_dict()), "lstm": lambda m: str(m.state_dict()), "meta": lambda t: (t.shape, str(t.device)),
}  # fmt: skip
# what torch.save cannot write, or PyTorch cannot read back
NOT_SAVED, NOT_PICKLED = ("function",), ("float8", "uint16")


def kept(name, value):
    return str(KEPT.get(name, str)(value))


@pytest.mark.parametrize("name", [n for n in OBJECTS if n not in NOT_PICKLED])
def test_a_plain_pickle_comes_back(name):
    written, expected = pickle.dumps(OBJECTS[name]), kept(name, OBJECTS[name])

    with facula.torch.enabled(shadow=True):
        assert expected == kept(name, pickle.loads(written))


@pytest.mark.parametrize("name", [n for n in OBJECTS if n not in NOT_SAVED])
def test_a_whole_object_of_a_checkpoint_comes_back(name):
    file = io.BytesIO()
    torch.save(OBJECTS[name], file)
    file.seek(0)
    expected = kept(name, OBJECTS[name])

    with facula.torch.enabled(shadow=True) as ours:
        assert expected == kept(name, ours.load(file, weights_only=False))


def test_programs_find_the_connections_of_multiprocessing():
    import subprocess
    import sys

    program = "import sys, torch; assert 'multiprocessing' not in sys.modules; import multiprocessing; print(multiprocessing.connection.Connection)"
    start = "import facula.torch; facula.torch.enabled(shadow=True).__enter__(); "
    assert "Connection" in subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, check=True).stdout
