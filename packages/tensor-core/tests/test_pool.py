"""The thread pool under stress: forks while it is warm or busy, many Python threads, a changing number of threads. Bits never change."""

import hashlib
import os
import platform
import subprocess
import sys
import textwrap
import threading

import facula
import numpy as np
import pytest

N = 300_000


@pytest.fixture(autouse=True)
def threads():
    before = facula.get_num_threads()
    yield
    facula.set_num_threads(before)


def digest(*tensors):
    return hashlib.sha256(b"".join(t.contiguous().numpy().tobytes() for t in tensors)).hexdigest()


def work(seed):
    """Sums, maps, products, scans and sorts large enough to be shared out."""
    g = facula.Generator().manual_seed(seed)
    x = facula.randn(N, generator=g)
    m = x[:90_000].reshape(300, 300)
    return digest(x.sin() + x, x.sum(), (m @ m), m.softmax(1), m.sum(0), x.cumsum(0), m.t().contiguous(), x[:10_000].sort()[0])


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="denormal numbers are flushed on x86 alone")
def test_denormal_numbers_are_flushed_on_every_thread_that_works_for_the_one_that_asked():
    facula.set_num_threads(4)
    x = facula.full((N,), 1e-300, dtype=facula.float64)
    assert (x * 1e-10).count_nonzero().item() == N  # the workers are there before it is asked
    try:
        before = facula.set_flush_denormal(True)
        flushed = (x * 1e-10).count_nonzero().item()
        with facula.no_grad():
            products = (facula.eye(4).bfloat16() @ facula.eye(4).bfloat16()).sum().item()  # which flush by themselves and put back what was
        still = (x[:3] * 1e-10).count_nonzero().item()
    finally:
        after = facula.set_flush_denormal(False)

    assert (True, 0, 4, 0, True) == (before, flushed, products, still, after)
    assert (x * 1e-10).count_nonzero().item() == N


def test_many_threads_get_the_bits_that_one_gets():
    facula.set_num_threads(1)
    expected = [work(k) for k in range(6)]
    facula.set_num_threads(4)
    found, errors = {}, []

    def run(k):
        try:
            for _ in range(3):
                found.setdefault(k, set()).add(work(k))
        except Exception as error:
            errors.append(error)

    crowd = [threading.Thread(target=run, args=(k,)) for k in range(6)]
    for t in crowd:
        t.start()
    for count in (1, 3, 8, 2, 5):  # while they compute
        facula.set_num_threads(count)
    for t in crowd:
        t.join()

    assert [] == errors
    assert [{e} for e in expected] == [found[k] for k in range(6)]


def forked(f):
    """f() in a forked child; its answer as text, or how it died."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, f().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert 0 == status
    return answer


pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_child_computes_after_the_parent_did():
    facula.set_num_threads(4)
    expected = work(1)

    assert [expected] * 4 == [forked(lambda: work(1)) for _ in range(4)]
    assert expected == forked(lambda: forked(lambda: work(1)))  # a child of a child
    assert expected == work(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_a_child_may_change_its_threads_and_the_parent_keeps_its_own():
    facula.set_num_threads(3)
    expected = work(2)

    def child():
        facula.set_num_threads(7)
        return f"{facula.get_num_threads()} {work(2)}"

    assert f"7 {expected}" == forked(child)
    assert (3, expected) == (facula.get_num_threads(), work(2))


def test_forks_in_the_midst_of_work_do_not_hang():
    """In a process of its own, so that a hang is a timeout and not the end of the tests."""
    program = """
    import os, threading, facula

    facula.set_num_threads(4)
    x = facula.randn(400_000)
    expected = x.sin().sum().item()
    done = threading.Event()

    def busy():
        while not done.is_set():
            assert x.sin().sum().item() == expected

    crowd = [threading.Thread(target=busy) for _ in range(2)]
    for t in crowd:
        t.start()
    for _ in range(25):
        child = os.fork()
        if child == 0:
            ok = x.sin().sum().item() == expected and facula.zeros(100_000).add_(1).sum().item() == 100_000
            os._exit(0 if ok else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
    done.set()
    for t in crowd:
        t.join()
    print("done")
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)

    assert "done" == done.stdout.strip(), done.stderr[-2000:]


def test_forks_in_the_midst_of_draws_and_new_shapes_do_not_hang():
    """A generator's lock and that of the table of shapes are free in the child, and the stream is between two fills."""
    program = """
    import os, threading, time, facula

    facula.set_num_threads(2)
    g = facula.Generator().manual_seed(0)
    done = threading.Event()

    def draw():
        while not done.is_set():
            facula.randn(200_000, generator=g)

    def shape():
        for k in range(150_000):
            if done.is_set():
                return
            facula.empty(k % 300, k // 300, 0, 3)

    crowd = [threading.Thread(target=f, daemon=True) for f in (draw, draw, shape)]
    for t in crowd:
        t.start()
    for k in range(25):
        child = os.fork()
        if child == 0:
            facula.randn(20, generator=g)
            facula.empty(k, 0, 5, 7)
            h = facula.Generator()
            h.set_state(g.get_state())
            os._exit(0 if facula.equal(facula.randn(700, generator=g), facula.randn(700, generator=h)) else 1)
        until = time.monotonic() + 20
        while not (answer := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.kill(child, 9)
            time.sleep(0.002)
        assert answer[1] == 0, answer
    done.set()
    for t in crowd:
        t.join()
    print("done")
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)

    assert "done" == done.stdout.strip(), done.stderr[-2000:]


def test_memory_passes_between_threads():
    """Tensors made in one thread and freed in another, while storages are resized: the allocator's lists meet."""
    import queue

    passed, errors = queue.Queue(16), []

    def give():
        for k in range(400):
            passed.put(facula.full((k % 97 * 31,), float(k)))
        passed.put(None)

    def take():
        k = 0
        while (t := passed.get()) is not None:
            if t.numel() and t.sum().item() != t.numel() * float(k):
                errors.append(k)
            t.resize_(t.numel() + 50)
            k += 1

    crowd = [threading.Thread(target=f) for f in (give, take)]
    for t in crowd:
        t.start()
    for t in crowd:
        t.join()

    assert [] == errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, which this system lacks")
def test_shared_memory_is_written_by_children():
    x = facula.zeros(3)
    view = x[1:]
    x.share_memory_()
    forked(lambda: str(view.add_(5)))

    assert [0.0, 5.0, 5.0] == x.tolist()
    assert x.is_shared() and view.is_shared() and x.untyped_storage().is_shared() and not facula.zeros(1).is_shared()
    assert x.share_memory_() is x
    assert facula.from_numpy(np.zeros(3)).share_memory_().is_shared()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 3, reason="needs three cores and a say in them")
@pytest.mark.parametrize("before", (False, True))
def test_workers_follow_their_caller_to_more_cores(before):
    """Those that started while it had one or two cores would share those for good."""
    program = f"""
    import os, facula

    cores = sorted(os.sched_getaffinity(0))
    facula.set_num_threads(4)
    x = facula.randn(400_000)
    if {before}:
        x.sin()
    os.sched_setaffinity(0, cores[:2 if {before} else 1])
    x.sin()
    os.sched_setaffinity(0, cores)
    for _ in range(100):
        x.sin()
    others = [os.sched_getaffinity(int(t)) for t in os.listdir("/proc/self/task") if int(t) != os.getpid()]
    print(len(others), {{len(cores) - len(o) for o in others}})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)

    assert "3 {1}" == done.stdout.strip(), done.stderr[-2000:]
