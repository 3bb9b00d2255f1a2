"""No bytes of a file can do harm: what is no checkpoint is refused, in time and memory that its length bounds."""

import io
import os
import pickle
import random
import zipfile

import facula
import pytest
from facula import safetensors
from facula.tensor_core.files.pickle_reader import read_pickle
from test_serialization import samples, saved

REFUSALS = (RuntimeError, pickle.UnpicklingError, EOFError)


class Call:
    def __init__(self, function, *args):
        self.parts = function, args

    def __reduce__(self):
        return self.parts


def text_of(text):
    return b"X" + len(text).to_bytes(4, "little") + text.encode()


def call_of(module, name, argument, close=b"\x85R."):
    return b"\x80\x02c" + f"{module}\n{name}\n".encode() + argument + close


REBUILD = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
STORED = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ"
STORED_LONG = STORED.replace(b"\x0c\x00", b"\x0b\x00").replace(b"Float", b"Long").replace(b"K\x06", b"K\x03")
LONG = b"\x8a\x06" + (1 << 40).to_bytes(6, "little")
HUGE = LONG + b"\x85K\x00\x85"  # one dim of 2**40 elements, all the same one

HOSTILE = {
    "a system call": pickle.dumps(Call(os.system, "true"), 2),
    "eval": pickle.dumps(Call(eval, "1"), 4),
    "getattr": pickle.dumps(Call(getattr, 1, "real"), 2),
    "a million nested tuples as a key": b"\x80\x02})" + b"\x85" * 1_000_000 + b"Ns.",
    "two to the hundredth values as a key": b"\x80\x02})" + b"2\x86" * 100 + b"Ns.",
    "more bytes than there are": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "a negative length": b"\x80\x02\x8b\xff\xff\xff\xff.",
    "a deep tuple in a Counter's pair": call_of("collections", "Counter", b"](X\x01\x00\x00\x00a)" + b"\x85" * 1_000_000 + b"\x86e"),
    "deep frozensets": b"\x80\x02" + b"(" * 100_000 + b"\x91" * 100_000 + b".",
    "a long key many times": b"\x80\x02}((" + b"K\x01" * 5000 + b"tq\x00N" + b"h\x00N" * 1000 + b"u.",
    "a thousand copies of a megabyte": call_of("_codecs", "encode", text_of("x" * 1_000_000) + b"X\x06\x00\x00\x00latin1\x86q\x00R(" + b"c_codecs\nencode\nh\x00R" * 1000, close=b"t."),
    "a call of Tensor": call_of("torch", "Tensor", b"J\xff\xff\xff\x7f"),
    "a Size of text": call_of("torch", "Size", text_of("12")),
    "a tensor with a tensor's size": REBUILD + STORED + b"K\x00" + REBUILD[2:] + STORED + b"K\x00" + HUGE + b"\x89NtRK\x01\x85\x89NtR.",
    "a sparse tensor of one index, two to the fortieth times": b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\nX\x10\x00\x00\x00torch.sparse_coo\x85R("
        + REBUILD[2:] + STORED_LONG + b"K\x00K\x01" + LONG + b"\x86K\x00K\x00\x86\x89NtR" + REBUILD[2:] + STORED_LONG + b"K\x00" + HUGE + b"\x89NtRK\x05\x85ttR.",
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


def tensor_pickle(offset, size, stride):
    """PyTorch's pickle of one tensor with the geometry that is asked for."""
    data = zipfile.ZipFile(saved(facula.arange(6, dtype=facula.float32))).read("archive/data.pkl")
    good = b"K\x06tq\x05QK\x00K\x06\x85q\x06K\x01\x85"
    assert good in data

    def number(n):
        return b"\x8a\x09" + n.to_bytes(9, "little", signed=True)

    def row(ns):
        return b"(" + b"".join(map(number, ns)) + b"t"

    return data.replace(good, number(6) + b"tq\x05Q" + number(offset) + row(size) + row(stride))


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
        with_header(b'{"a":{"dtype":"F32","shape":{},"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', bytes(4)),
        with_header(b'{"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}}'),
        with_header(b'{"a":{"dtype":"F32","shape":[0,2305843009213693952,2305843009213693952],"data_offsets":[0,0]}}'),
        with_header(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'),
        with_header(b'{"__metadata__":{"a":1}}'),
    ),
)  # fmt: skip
def test_bad_safetensors_are_refused(data):
    with pytest.raises(RuntimeError):
        safetensors.load(data)
