"""Checkpoints: what goes in comes out, PyTorch reads ours and we its, and no bytes of a file can do harm."""

import collections
import io
import os
import pickle
import random
import stat
import threading
import zipfile

import facula
import pytest
from facula import safetensors, serialization
from facula.tensor_core._checkpoint import storage_bytes
from facula.tensor_core._pickle_reader import read_pickle

DTYPES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
REFUSALS = (RuntimeError, pickle.UnpicklingError, EOFError, MemoryError)


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
    with pytest.raises(RuntimeError, match="cuda"):
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


# --- hostile -------------------------------------------------------------------------------------------------------------


class Call:
    def __init__(self, function, *args):
        self.parts = function, args

    def __reduce__(self):
        return self.parts


HOSTILE = {
    "a system call": pickle.dumps(Call(os.system, "true"), 2),
    "eval": pickle.dumps(Call(eval, "1"), 4),
    "getattr": pickle.dumps(Call(getattr, 1, "real"), 2),
    "a million nested tuples as a key": b"\x80\x02})" + b"\x85" * 1_000_000 + b"Ns.",
    "two to the hundredth values as a key": b"\x80\x02})" + b"2\x86" * 100 + b"Ns.",
    "more bytes than there are": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "a negative length": b"\x80\x02\x8b\xff\xff\xff\xff.",
    "an unhashable key": b"\x80\x02}]Ns.",
    "items for a number": b"\x80\x02K\x01(K\x01K\x02u.",
    "attributes for a list": b"\x80\x02]}b.",
    "a call of a dict": b"\x80\x02})R.",
    "an instance of a dtype": b"\x80\x02ctorch\nfloat32\n)\x81.",
    "a mark without values": b"\x80\x02t.",
    "an extension code": b"\x80\x02\x82\x01.",
    "a persistent id that is none": b"\x80\x02K\x01Q.",
    "protocol 0": b"I1\n.",
    "nothing": b"",
    "no end": b"\x80\x02N",
    "a storage of another size": b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuJ\xff\xff\xff\x7ftQ.",
}


def container(pickled, **records):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {"data.pkl": pickled, "data/0": bytes(24), "version": b"3", **records}.items():
            archive.writestr("archive/" + name, data)
    file.seek(0)
    return file


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles_are_refused(name):
    with pytest.raises(REFUSALS):
        facula.load(container(HOSTILE[name]))


def tensor_pickle(offset, size, stride, count=6):
    """PyTorch's pickle of one tensor with the geometry that is asked for."""
    data = zipfile.ZipFile(saved(facula.arange(6, dtype=facula.float32))).read("archive/data.pkl")
    good = b"K\x06tq\x05QK\x00K\x06\x85q\x06K\x01\x85"
    assert good in data

    def number(n):
        return b"\x8a\x09" + n.to_bytes(9, "little", signed=True)

    def row(ns):
        return b"(" + b"".join(map(number, ns)) + b"t"

    return data.replace(good, number(count) + b"tq\x05Q" + number(offset) + row(size) + row(stride))


@pytest.mark.parametrize(
    "offset,size,stride",
    ((0, [7], [1]), (1, [6], [1]), (0, [2, 3], [4, 1]), (-1, [2], [1]), (0, [-2], [1]), (0, [2], [-1]), (0, [2, 2], [1]), (2**62, [1], [1]),
     (0, [2**40, 2**40], [0, 0]), (0, [2], [2**61]), (0, [1] * 65, [1] * 65)),
)  # fmt: skip
def test_tensors_that_leave_their_storage_are_refused(offset, size, stride):
    with pytest.raises(REFUSALS):
        facula.load(container(tensor_pickle(offset, size, stride)))


def test_the_geometry_helper_makes_good_tensors_too():
    assert (2, 2) == tuple(facula.load(container(tensor_pickle(1, [2, 2], [2, 1]))).shape)
    assert (0, 5) == tuple(facula.load(container(tensor_pickle(0, [0, 5], [5, 1]))).shape)


def test_a_giant_memo_index_costs_nothing():
    assert facula.load(container(b"\x80\x02Nr\xff\xff\xff\xff.")) is None


def test_compressed_records_are_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(10_000_000))
    file.seek(0)
    with pytest.raises(RuntimeError, match="claim more bytes|compressed"):
        facula.load(file)


def test_damaged_data_are_noticed():
    data = bytearray(saved([facula.ones(64)]).getvalue())
    data[data.index(b"\x00\x00\x80\x3f" * 8)] ^= 1
    with pytest.raises(RuntimeError, match="CRC"):
        facula.load(io.BytesIO(bytes(data)))


def mutated(seed, rng):
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 2, 4, 10))):
        at = rng.randrange(len(data) + 1)
        action = rng.randrange(4)
        if action == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif action == 1:
            del data[at : at + rng.randrange(1, 9)]
        elif action == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 6))
        else:
            other = rng.randrange(len(data) + 1)
            data[at : at + 4] = data[other : other + 4]
    return bytes(data)


def fuzz_seeds():
    whole = saved({k: v for k, v in samples().items() if k in ("x", "transposed", "shape", "set", "bytes", "ordered")}).getvalue()
    pickled = zipfile.ZipFile(io.BytesIO(whole)).read("archive/data.pkl")
    tensors = safetensors.save({"a": facula.ones(2, 3), "b": facula.tensor([1, 2])}, {"m": "n"})
    return {"container": (whole, io.BytesIO), "pickle": (pickled, container), "safetensors": (tensors, io.BytesIO)}


@pytest.mark.parametrize("kind", ("container", "pickle", "safetensors"))
def test_mutated_files_are_read_or_refused(kind):
    seed, opened = fuzz_seeds()[kind]
    rng = random.Random(kind)
    for _ in range(1500):
        data = mutated(seed, rng)
        try:
            facula.load(opened(data))
        except REFUSALS:
            pass
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} for {data!r}")


def test_the_reader_calls_only_what_it_was_given():
    with pytest.raises(pickle.UnpicklingError):
        read_pickle(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.", {}.__getitem__)


# --- safetensors ---------------------------------------------------------------------------------------------------------


def test_safetensors_come_back(tmp_path):
    tensors = {name: facula.tensor([[1, 0], [1, 1]], dtype=getattr(facula, name)).t() for name in DTYPES if name != "complex128"}
    tensors["empty"] = facula.empty(0, 3)
    path = tmp_path / "a.safetensors"
    safetensors.save_file(tensors, path, {"made": "here"})

    for loaded in (safetensors.load_file(path), safetensors.load(path.read_bytes()), facula.load(path)):
        assert {k: (str(v.dtype), v.tolist()) for k, v in tensors.items()} == {k: (str(v.dtype), v.tolist()) for k, v in loaded.items()}


def with_header(text, body=b""):
    return len(text).to_bytes(8, "little") + text + body


@pytest.mark.parametrize(
    "data",
    (
        b"", b"\xff" * 8 + b"{}", with_header(b"[]"), with_header(b"{"), with_header(b"[" * 100_000),
        with_header(b'{"a":1}'), with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'),
        with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', bytes(8)),
        with_header(b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,-4]}}'),
        with_header(b'{"a":{"dtype":"F32","shape":[true],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}}'),
        with_header(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
        with_header(b'{"__metadata__":{"a":1}}'),
    ),
)  # fmt: skip
def test_bad_safetensors_are_refused(data):
    with pytest.raises(RuntimeError):
        safetensors.load(data)
