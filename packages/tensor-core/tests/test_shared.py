"""Memory shared with forked processes."""

import multiprocessing
import os
import sys

import facula
import pytest


def in_a_child(f):
    pid = os.fork()
    if not pid:
        f()
        os._exit(0)
    assert 0 == os.waitpid(pid, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_a_child_writes_into_shared_memory():
    x, y = facula.zeros(3), facula.zeros(3)
    assert not x.is_shared() and x is x.share_memory_() and x.is_shared()

    in_a_child(lambda: (x.add_(2), y.add_(2)))

    assert [2.0, 2.0, 2.0] == x.tolist() and [0.0, 0.0, 0.0] == y.tolist()


def test_sharing_keeps_values_strides_and_views():
    x = facula.arange(12.0).reshape(3, 4).t()[1:]
    before, stride = x.tolist(), x.stride()

    assert before == x.share_memory_().tolist() and stride == x.stride()
    assert x.share_memory_() is x and x[0].is_shared()
    assert x.untyped_storage().is_shared()


def test_an_empty_tensor_has_nothing_to_share():
    assert (0,) == tuple(facula.empty(0).share_memory_().shape)
    with pytest.raises(NotImplementedError):
        facula.empty(3, device="meta").share_memory_()


def write(x, views):
    x.add_(1)
    views["row"].add_(1)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs files without a name")
def test_a_process_started_afresh_writes_into_shared_memory():
    context = multiprocessing.get_context("spawn")
    x, y = facula.zeros(3).share_memory_(), facula.zeros(2, 2).share_memory_()
    child = context.Process(target=write, args=(x, {"row": y[1]}))
    child.start()
    child.join()

    assert 0 == child.exitcode
    assert [1.0] * 3 == x.tolist() and [[0.0, 0.0], [1.0, 1.0]] == y.tolist()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs files without a name")
def test_what_is_shared_stays_so_through_a_queue():
    queue = multiprocessing.get_context("fork").Queue()
    x = facula.zeros(3).share_memory_()
    queue.put(x)
    twin = queue.get(timeout=20)
    twin.add_(5)

    assert [5.0] * 3 == x.tolist() and twin.is_shared()
