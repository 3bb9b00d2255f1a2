"""Files of PyTorch 0.3, in which a storage may be a part of another: both are over one memory."""

import io
import pickle
import struct

import facula
import pytest

from facula.tensor_core.files.checkpoint import CheckpointError


def plain(thing):
    """The pickle of plain data, without its head and its end."""
    return pickle.dumps(thing, 2)[2:-1]


def tensor(part):
    """That of a tensor of two elements over a storage, of which a part may be meant."""
    id = b"(" + plain("storage") + b"ctorch\nFloatStorage\n" + plain("k0") + plain("cpu") + plain(5) + plain(part) + b"tQ"
    return b"ctorch._utils\n_rebuild_tensor\n(" + id + plain(0) + plain((2,)) + plain((1,)) + b"tR"


def file(part):
    out = io.BytesIO()
    for head in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}):
        pickle.dump(head, out, 2)
    out.write(b"\x80\x02(" + tensor(None) + tensor(part) + b"l." + pickle.dumps(["k0"], 2) + struct.pack("<q5f", 5, 1, 2, 3, 4, 5))
    out.seek(0)
    return out


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("part,values", [(("v", 1, 3), [9.0, 3.0]), (("v", 2, 2), [3.0, 4.0]), (("v", 0, 5), [1.0, 9.0])], ids=str)
def test_a_part_of_a_storage_shares_its_memory(part, values, weights_only):
    x, y = facula.load(file(part), weights_only=weights_only)
    x[1] = 9

    assert values == y.tolist() and part[2] * 4 == y.untyped_storage().nbytes()


@pytest.mark.parametrize("part", [("v", 4, 2), ("v", -1, 2), ("v", 0), ("v", 0, 1.5), (3, 0, 2), "v", ("v", 2**62, 2**62)], ids=str)
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(CheckpointError, match="part"):
        facula.load(file(part))


def test_a_part_on_meta_has_no_memory():
    x, y = facula.load(file(("v", 1, 3)), map_location="meta")

    assert x.is_meta and y.is_meta and (2,) == y.shape
