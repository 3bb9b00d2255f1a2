"""Stores: the same table of uses for all of them, beside PyTorch's where it is installed."""

import datetime
import importlib.util
import threading

import facula.dist as dist
import pytest
from facula.dist._messages import NoMessage, pack, unpack

SHORT = datetime.timedelta(seconds=0.05)
KINDS = {
    "hash": lambda d, path: d.HashStore(),
    "file": lambda d, path: d.FileStore(str(path / "store"), 1),
    "tcp": lambda d, path: d.TCPStore("127.0.0.1", 0, 1, True),
    "prefix": lambda d, path: d.PrefixStore("a", d.HashStore()),
}


def waited(store):
    try:
        store.wait(["never"], SHORT)
    except RuntimeError as error:
        return type(error).__name__


USES = {
    "set, get": lambda s: [s.set("k", "v"), s.get("k"), s.set("k", b"\x00\xff"), s.get("k")],
    "add": lambda s: [s.add("n", 3), s.add("n", -1), s.get("n"), s.add("n", 0)],
    "compare_set": lambda s: [s.compare_set("c", "", "1"), s.compare_set("c", "0", "2"), s.compare_set("c", "1", "3"), s.get("c"), s.compare_set("d", "x", "y")],
    "check": lambda s: [s.set("k", "v"), s.check(["k"]), s.check(["k", "l"])],
    "wait": lambda s: [s.set("k", "v"), s.wait(["k"]), waited(s)],
    "several": lambda s: [s.multi_set(["a", "b"], ["1", "2"]), s.multi_get(["b", "a"]), s.append("a", "3"), s.get("a")],
}
EXPECTED = {
    "set, get": [None, b"v", None, b"\x00\xff"],
    "add": [3, 2, b"2", 2],
    "compare_set": [b"1", b"1", b"3", b"3", b"x"],
    "check": [None, True, False],
    "wait": [None, None, "DistStoreError"],
    "several": [None, [b"2", b"1"], None, b"13"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES)
def test_a_store_keeps_values(kind, use, tmp_path):
    assert EXPECTED[use] == USES[use](KINDS[kind](dist, tmp_path))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch, which is not installed")
@pytest.mark.parametrize("use", USES)
def test_a_store_answers_as_pytorch_s(use, tmp_path):
    import torch.distributed

    assert EXPECTED[use] == USES[use](KINDS["hash"](torch.distributed, tmp_path))


def test_keys_are_counted_and_removed(tmp_path):
    for make in KINDS.values():
        store = make(dist, tmp_path)
        store.set("a", "1")
        store.set("b", "2")

        assert 2 == store.num_keys()
        assert (True, False) == (store.delete_key("a"), store.delete_key("a"))
        assert 1 == store.num_keys()


@pytest.mark.parametrize("kind", ["hash", "tcp", "file"])
def test_numbers_of_several_threads_add_up(kind, tmp_path):
    store = KINDS[kind](dist, tmp_path)
    others = {"tcp": lambda: dist.TCPStore("127.0.0.1", store.port, 1), "file": lambda: dist.FileStore(str(tmp_path / "store"), 1)}

    def work():
        mine = others[kind]() if kind in others else store
        for _ in range(20):
            mine.add("n", 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert 80 == store.add("n", 0)


def test_a_waiting_process_gets_what_another_sets():
    master = dist.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False)
    got = []
    thread = threading.Thread(target=lambda: got.append(dist.TCPStore("127.0.0.1", master.port, 2).get("late")))
    thread.start()
    master.set("late", "now")
    thread.join()

    assert [b"now"] == got


def test_a_master_that_is_gone_leaves_its_port():
    port = 0
    for _ in range(3):
        master = dist.TCPStore("127.0.0.1", port, 1, True)
        master.set("a", "b")
        port = master.port
        del master


def test_messages_name_no_classes():
    """What arrives is data: a pickle that would run something is refused, and the store goes on."""
    import os
    import pickle
    import socket
    import struct

    master = dist.TCPStore("127.0.0.1", 0, 1, True)

    class Bad:
        def __reduce__(self):
            return os.getpid, ()

    for body in (pickle.dumps(Bad()), pickle.dumps(["num_keys"]), b"L\0\0\0\1S\0\0\0\4kill", b"L\xff\xff\xff\xff", b"L\0\0\0\1" * 9, b"T", b""):
        with socket.create_connection(("127.0.0.1", master.port)) as link:
            link.sendall(struct.pack("!I", len(body)) + body)

            link.settimeout(10)

            assert b"" == link.recv(1)
    master.set("k", "v")

    assert b"v" == master.get("k")


VALUES = [None, True, False, 0, -(2**70), "", "k\u00e9", b"", b"\x00\xff", [], ["set", ["a", "b"], b"v", 3, None]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_messages_come_back(value):
    packed = pack(value)

    assert value == unpack(packed)
    for end in range(len(packed)):
        with pytest.raises(NoMessage):
            unpack(packed[:end])


def test_messages_are_bounded():
    for bad in (b"I\0\0\0\x29" + b"1" * 41, pack([[[[[]]]]]), b"L\xff\xff\xff\xffN", pack(1) + b"N", b"X\0\0\0\0", b"S\0\0\0\1\xff"):
        with pytest.raises(NoMessage):
            unpack(bad)
    with pytest.raises(TypeError, match="float"):
        pack(1.5)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    for body in (b"\0\0\0\1\0\0\0\xffk", b"PNG", b"\0" * 9):
        (tmp_path / "bad").write_bytes(body)
        with pytest.raises(dist.DistStoreError, match="falls apart"):
            dist.FileStore(str(tmp_path / "bad"), 1)


def test_only_numbers_are_added_to(tmp_path):
    for make in KINDS.values():
        store = make(dist, tmp_path)
        store.set("k", "x")
        with pytest.raises(dist.DistStoreError, match="no number"):
            store.add("k", 1)


def test_the_file_goes_with_its_last_user(tmp_path):
    path = tmp_path / "gone"
    store = dist.FileStore(str(path), 1)
    store.set("k", "v")
    del store

    assert not path.exists()


def test_a_group_s_file_stays_as_long_as_the_group(tmp_path):
    path = tmp_path / "meeting"
    store = dist.FileStore(str(path), 1)
    store.set("k", "v")
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    del store
    dist.barrier(device_ids=[0])
    during = path.exists()
    dist.destroy_process_group()

    assert during
    assert not path.exists()
    with pytest.raises(TypeError, match="list of numbers"):
        dist.barrier(device_ids=0)
