"""Checkpoints: what goes in comes out, PyTorch reads ours and we its."""

import collections
import io
import os
import pickle
import stat
import subprocess
import sys
import threading
import zipfile

import facula
import pytest
from facula import safetensors, serialization
from facula.tensor_core.files.checkpoint import storage_bytes

DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()


def samples():
    x = facula.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    values = {name: facula.tensor([1, 0, 1], dtype=getattr(facula, name)) for name in DTYPES}
    return {
        "x": x, "transposed": x.t(), "row": x[1], "sliced": x[:, ::2], "scalar": facula.tensor(3), "empty": facula.empty(0, 4), **values,
        "shape": x.shape, "dtype": facula.float64, "device": facula.device("cpu"), "ordered": collections.OrderedDict(a=1, b=[2]),
        "set": {1, "a"}, "bytes": b"\x00\xff", "bytearray": bytearray(b"ab"), "complex": 1 - 2j, "big": -(2**200), "none": None,
        "flags": (True, False), "nested": [{"k": (1, 2, 3, 4)}, "\u00e9\ud800"],
    }  # fmt: skip


def plain(value):
    if isinstance(value, facula.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride(), value.tolist()
    if isinstance(value, dict):
        return type(value), {k: plain(v) for k, v in value.items()}
    return value


def saved(value, **options):
    file = io.BytesIO()
    facula.save(value, file, **options)
    file.seek(0)
    return file


# --- ours ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights_only", (True, False))
@pytest.mark.parametrize("protocol", (2, 3, 4, 5))
def test_what_is_saved_is_loaded(protocol, weights_only):
    loaded = facula.load(saved(samples(), pickle_protocol=protocol), weights_only=weights_only)

    assert plain(samples()) == plain(loaded)


def test_shared_storages_stay_shared():
    loaded = facula.load(saved(samples()))
    loaded["x"][1, 0] = 9.0

    assert 9.0 == loaded["transposed"][0, 1].item() == loaded["row"][0].item() == loaded["sliced"][1, 0].item()
    assert 24 == len(storage_bytes(loaded["row"]))


def test_sparse_tensors_come_back_in_both_formats():
    matrix = facula.tensor([[0.0, 2.0], [3.0, 0.0]])
    for zipped in (True, False):
        loaded = facula.load(saved([matrix.to_sparse(), matrix.to_sparse_csr(), matrix.to_sparse_csc()], _use_new_zipfile_serialization=zipped))

        assert [matrix.tolist()] * 3 == [t.to_dense().tolist() for t in loaded]
        assert ["torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc"] == [str(t.layout) for t in loaded]


def test_two_dtypes_over_one_storage_are_refused():
    x = facula.zeros(4)
    with pytest.raises(RuntimeError, match="different types"):
        facula.save([x, x.view(facula.int32)], io.BytesIO())


def test_a_file_is_replaced_at_once_or_not_at_all(tmp_path):
    path = tmp_path / "model.pt"
    facula.save([1], path)
    path.chmod(0o640)
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        facula.save([facula.zeros(3), threading.Lock()], path)
    assert [1] == facula.load(path)
    facula.save([2], path)

    assert [2] == facula.load(path)
    assert ["model.pt"] == os.listdir(tmp_path)
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    facula.save([1], tmp_path / "link")

    assert (tmp_path / "link").is_symlink()
    assert [1] == facula.load(tmp_path / "real")


def test_load_continues_in_a_stream():
    file = io.BytesIO(b"header" + saved([facula.ones(2)]).getvalue())
    file.seek(6)

    assert [1.0, 1.0] == facula.load(file)[0].tolist()


def test_records_begin_on_64_bytes():
    archive = zipfile.ZipFile(saved(samples()))
    for info in archive.infolist():
        header = info.header_offset
        archive.fp.seek(header + 26)
        name, extra = int.from_bytes(archive.fp.read(2), "little"), int.from_bytes(archive.fp.read(2), "little")

        assert 0 == (header + 30 + name + extra) % 64


def test_map_location():
    file = saved([facula.ones(2)])
    for location in ("cpu", facula.device("cpu"), {"cpu": "cpu"}, lambda storage, where: storage, lambda storage, where: None):
        file.seek(0)
        assert [1.0, 1.0] == facula.load(file, location)[0].tolist()
    file.seek(0)
    with pytest.raises(RuntimeError, match="(?i)cuda"):
        facula.load(file, "cuda:0")


class Point:
    def __init__(self, x):
        self.x = x


def test_classes_are_refused_until_they_are_called_safe():
    file = saved(Point(3))
    with pytest.raises(pickle.UnpicklingError, match="Point"):
        facula.load(file)
    file.seek(0)
    with serialization.safe_globals([Point]):
        assert 3 == facula.load(file).x
    file.seek(0)

    assert 3 == facula.load(file, weights_only=False).x
    assert [] == serialization.get_safe_globals()


# --- PyTorch's -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


def test_pytorch_reads_ours(torch, tmp_path):
    path = tmp_path / "a.pt"
    facula.save(samples(), path)
    loaded = torch.load(path, weights_only=True)

    for name, value in samples().items():
        if isinstance(value, facula.Tensor):
            assert (str(value.dtype), value.stride(), value.tolist()) == (str(loaded[name].dtype), loaded[name].stride(), loaded[name].tolist())
        elif name in ("shape", "dtype", "device"):
            assert str(value) == str(loaded[name])
        else:
            assert value == loaded[name]
    assert loaded["x"].data_ptr() == loaded["transposed"].data_ptr()


@pytest.mark.parametrize("weights_only", (True, False))
@pytest.mark.parametrize("zipped", (True, False))
def test_we_read_pytorchs(torch, tmp_path, zipped, weights_only):
    path = tmp_path / "a.pt"
    x = torch.arange(6.0).reshape(2, 3)
    names = [n for n in DTYPES if zipped or not n.startswith("uint") or n == "uint8"]
    kept = {"x": x, "t": x.t(), "size": x.shape, "dtype": torch.float16, **{n: torch.tensor([1, 0, 1]).to(getattr(torch, n)) for n in names}}
    kept["state"] = torch.nn.Linear(2, 3).state_dict()
    torch.save(kept, path, _use_new_zipfile_serialization=zipped)
    loaded = facula.load(path, weights_only=weights_only)

    for name, value in kept.items():
        if isinstance(value, torch.Tensor):
            assert (str(value.dtype), value.stride(), value.tolist()) == (str(loaded[name].dtype), loaded[name].stride(), loaded[name].tolist())
    assert str(kept["size"]) == str(loaded["size"]) and str(kept["dtype"]) == str(loaded["dtype"])
    assert kept["state"]["weight"].tolist() == loaded["state"]["weight"].tolist()
    assert kept["state"]._metadata == loaded["state"]._metadata


def test_conjugated_tensors_of_pytorch_are_resolved(torch, tmp_path):
    torch.save(torch.tensor([1 + 2j]).conj(), tmp_path / "a.pt")

    assert [1 - 2j] == facula.load(tmp_path / "a.pt").tolist()


# --- safetensors ---------------------------------------------------------------------------------------------------------


def test_safetensors_come_back(tmp_path):
    tensors = {name: facula.tensor([[1, 0], [1, 1]], dtype=getattr(facula, name)).t() for name in DTYPES if name != "complex128"}
    tensors["empty"] = facula.empty(0, 3)
    path = tmp_path / "a.safetensors"
    safetensors.save_file(tensors, path, {"made": "here"})

    for loaded in (safetensors.load_file(path), safetensors.load(path.read_bytes()), facula.load(path)):
        assert {k: (str(v.dtype), v.tolist()) for k, v in tensors.items()} == {k: (str(v.dtype), v.tolist()) for k, v in loaded.items()}


def test_records_without_a_checksum_are_read():
    file = bytearray(saved(samples()["x"]).getvalue())
    at = 0
    while (at := file.find(b"PK\x01\x02", at + 1)) > 0:
        file[at + 16 : at + 20] = bytes(4)  # as save writes them after PyTorch's set_crc32_options(False)

    assert plain(samples()["x"]) == plain(facula.load(io.BytesIO(file)))


def test_modules_of_the_system_stay_blocked():
    file = saved(os.getcwd)
    with serialization.safe_globals([os.getcwd]):
        with pytest.raises(pickle.UnpicklingError, match="blocked"):
            facula.load(file)


def test_a_shared_mapping_writes_to_the_file(tmp_path):
    mmap = pytest.importorskip("mmap")
    if not hasattr(mmap, "MAP_SHARED"):
        pytest.skip("no mapping flags on this system")
    facula.save(facula.zeros(3), tmp_path / "x.pt")
    facula.load(tmp_path / "x.pt", mmap=True).fill_(1)
    private = facula.load(tmp_path / "x.pt", mmap=True).tolist()
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        facula.load(tmp_path / "x.pt", mmap=True).fill_(2)

    assert ([0.0] * 3, [2.0] * 3, mmap.MAP_PRIVATE) == (private, facula.load(tmp_path / "x.pt", mmap=True).tolist(), serialization.get_default_mmap_options())


def test_a_file_without_a_mark_is_taken_for_what_is_said():
    with zipfile.ZipFile(saved(facula.tensor([1], dtype=facula.int16))) as marked:
        records = {name: marked.read(name) for name in marked.namelist() if not name.endswith("byteorder")}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    file.seek(0)
    little = facula.load(file).tolist()
    file.seek(0)
    serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        big = facula.load(file).tolist()
    finally:
        serialization.set_default_load_endianness(None)

    assert ([1], [256]) == (little, big)


@pytest.mark.parametrize("only", [True, False])
def test_texts_of_python_2_are_decoded_as_asked(only):
    name = "\u017c\u00f3".encode()
    file = bytearray(saved({"ab12": 1, "x": facula.ones(1)}, _use_new_zipfile_serialization=False).getvalue())
    file = file.replace(b"X\x04\x00\x00\x00ab12", b"U\x04" + name)
    load = lambda **options: list(facula.load(io.BytesIO(file), weights_only=only, **options))[0]

    assert (name.decode(), name.decode("latin-1"), name) == (load(), load(encoding="latin-1"), load(encoding="bytes"))


def test_the_environment_forces_weights_only_either_way(monkeypatch):
    file = saved(collections.deque([1]))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing"):
        relaxed = facula.load(file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        facula.load(file, weights_only=True)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "y")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        facula.load(file, weights_only=False)

    assert collections.deque([1]) == relaxed


def test_what_a_refusal_names_is_there_after_import_facula_alone():
    program = "import facula\nwith facula.serialization.safe_globals([print]):\n    assert print in facula.serialization.get_safe_globals()"
    subprocess.run([sys.executable, "-c", program], check=True)
