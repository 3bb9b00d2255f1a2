import gc
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
from backend import data, torch
from samples import Numbers, lists


class Shared(data.IterableDataset):
    """0..n-1, each worker its own part."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        return iter(range(info.id, self.n, info.num_workers))


class Uneven(data.IterableDataset):
    """Worker k gives k batches of its number."""

    def __iter__(self):
        me = data.get_worker_info().id
        return iter([me] * me)


class Info(Numbers):
    def __getitem__(self, i):
        info = data.get_worker_info()
        return info.id, info.num_workers, info.seed, info.dataset is self, torch.initial_seed(), os.getpid()


class Draws(Numbers):
    def __getitem__(self, i):
        return random.random(), torch.rand(()).item(), np.random.rand()


class Bad(Numbers):
    def __init__(self, action):
        super().__init__(6)
        self.action = action

    def __getitem__(self, i):
        if i == 3:
            self.action()
        return i


class Awkward(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


# PyTorch 2.13's, after manual_seed(7)
BASE_SEED = 1407639518939636932
DRAWN = [
    (0.9290632898373887, 0.11662513017654419, 0.03541536592796235),
    (0.5574193789609411, 0.3148404359817505, 0.240715442815568),
    (0.10243784940911504, 0.13414353132247925, 0.2915959425421556),
    (0.46183154346070987, 0.28084486722946167, 0.9137194064224758),
]
PERSISTENT_FOLLOWING = 0.20708602666854858


def first(batch):
    return batch[0]


def load(dataset, **options):
    return data.DataLoader(dataset, **{"num_workers": 2, "collate_fn": first, **options})


def test_each_worker_knows_itself_and_is_seeded_with_base_seed_plus_its_number():
    seen = sorted(load(Info(8)))
    base = BASE_SEED

    assert {(0, 2, base, True, base), (1, 2, base + 1, True, base + 1)} == {row[:5] for row in seen}
    assert {row[5] for row in seen}.isdisjoint({os.getpid()})
    assert data.get_worker_info() is None


def test_draws_in_workers_are_pytorchs_and_differ_between_workers():
    drawn = list(load(Draws(4)))

    assert DRAWN == drawn


def test_streams_are_read_by_each_worker_in_turn():
    assert [[0, 2], [1, 3], [4, 6], [5, 7], [8]] == lists(load(Shared(9), batch_size=2, collate_fn=None))


def test_workers_that_end_early_leave_the_rest_going():
    assert [1, 2, 2] == lists(load(Uneven(), num_workers=3, batch_size=None, collate_fn=int))


def init_fails(worker_id):
    raise ZeroDivisionError(f"worker {worker_id} has nothing")


def stamp(worker_id):
    data.get_worker_info().dataset.n = 100 + worker_id


class Stamped(Numbers):
    def __getitem__(self, i):
        return self.n


def test_worker_init_fn_runs_in_the_worker():
    assert [100, 101, 100] == list(load(Stamped(3), worker_init_fn=stamp))


def test_an_error_in_worker_init_fn_reaches_the_caller():
    with pytest.raises(ZeroDivisionError, match="has nothing"):
        list(load(Numbers(), worker_init_fn=init_fails))


def raise_key():
    raise KeyError("lost\nkey")


def raise_awkward():
    raise Awkward(1, 2)


def raise_value():
    raise ValueError("bad sample")


@pytest.mark.parametrize(
    "action,error,text",
    [(raise_value, ValueError, "bad sample"), (raise_key, KeyError, "lost"), (raise_awkward, RuntimeError, "Awkward")],
)
def test_an_error_is_raised_here_with_the_workers_traceback(action, error, text):
    with pytest.raises(error, match=text) as caught:
        list(load(Bad(action)))

    shown = "".join(traceback.format_exception_only(caught.type, caught.value))
    assert "in DataLoader worker process 1" in shown
    assert f"in {action.__name__}" in shown


def test_the_pass_goes_on_after_an_error():
    loader = iter(load(Bad(raise_value)))

    got = []
    for _ in range(6):
        try:
            got.append(next(loader))
        except ValueError:
            got.append("error")

    assert [0, 1, 2, "error", 4, 5] == got


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(3)


@pytest.mark.parametrize("action", [die, leave])
def test_the_death_of_a_worker_is_noticed(action):
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        list(load(Bad(action)))


@pytest.mark.facula_only
@pytest.mark.parametrize("action,how", [(die, "SIGKILL"), (leave, "exit code 3")])
def test_a_dead_worker_is_reported_with_how_it_died(action, how):
    with pytest.raises(RuntimeError, match=how):
        list(load(Bad(action)))


def sleep():
    time.sleep(60)


def test_a_worker_that_takes_too_long_is_given_up():
    loader = iter(load(Bad(sleep), timeout=0.2))

    with pytest.raises(RuntimeError, match="timed out after 0.2"):
        list(loader)


class Unpicklable(Numbers):
    def __getitem__(self, i):
        return threading.Lock()


@pytest.mark.facula_only
def test_a_sample_that_cannot_be_sent_is_an_error_and_no_hang():
    with pytest.raises(TypeError, match="pickle"):
        list(load(Unpicklable()))


def test_persistent_workers_stay_and_draw_the_base_seed_once():
    loader = load(Info(4), persistent_workers=True, shuffle=True)

    once = {row[5] for row in loader}
    again = {row[5] for row in loader}

    assert once == again
    assert PERSISTENT_FOLLOWING == torch.rand(()).item()


def test_a_new_pass_of_persistent_workers_warns_no_more():
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has an accelerator")
    loader = load(Numbers(2), persistent_workers=True, pin_memory=True)
    with pytest.warns(UserWarning, match="pin_memory"):
        first = list(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert len(first) == len(list(loader))


def test_a_new_pass_of_persistent_workers_forgets_the_abandoned_one():
    loader = load(Numbers(20), persistent_workers=True, batch_size=1)
    for i in loader:
        if i == 2:
            break

    assert list(range(20)) == list(loader)


def test_a_trainer_can_send_persistent_workers_home():
    loader = load(Numbers(4), persistent_workers=True)
    first = sorted(loader)

    loader._iterator._shutdown_workers()
    loader._iterator = None

    assert first == sorted(loader)


def test_persistent_workers_read_a_stream_again():
    loader = load(Shared(5), persistent_workers=True, batch_size=None, collate_fn=int)

    assert [list(range(5))] * 2 == [list(loader), list(loader)]


def test_an_abandoned_pass_stops_its_workers():
    loader = iter(load(Info(50)))
    pids = {next(loader)[5], next(loader)[5]}
    del loader

    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.facula_only
def test_a_pass_that_the_collector_finds_stops_its_workers(monkeypatch):
    caught = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    held = [iter(load(Info(50)))]
    pids = {next(held[0])[5], next(held[0])[5]}
    held.append(held)
    del held
    gc.collect()

    assert [] == caught
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


class Forks(Numbers):
    def __getitem__(self, i):
        gc.collect()
        return i


@pytest.mark.facula_only
def test_a_worker_that_collects_an_inherited_pass_does_not_end_it():
    outer = [iter(load(Numbers(50)))]
    outer.append(outer)  # a cycle: only the collector finds it
    taken = next(outer[0])
    inner = iter(load(Forks(4), worker_init_fn=lambda _: outer.clear()))
    assert [0, 1, 2, 3] == list(inner)

    assert list(range(50)) == [taken, *outer[0]]


class Big(Numbers):
    def __getitem__(self, i):
        return torch.full((300_000,), float(i))


def test_batches_larger_than_a_pipe_arrive_whole_and_unread_ones_do_not_block():
    loader = iter(load(Big(8), batch_size=2, collate_fn=None))
    batch = next(loader)
    del loader

    assert (2, 300_000) == tuple(batch.shape)
    assert [[0.0, 0.0], [1.0, 1.0]] == batch[:, :2].tolist()


def test_indices_larger_than_a_pipe_do_not_block():
    n = 100_000
    batches = [list(range(n))] * 3

    assert [n] * 3 == list(load(Numbers(n), batch_sampler=batches, collate_fn=len, prefetch_factor=3))


class SlowFirst(Numbers):
    def __getitem__(self, i):
        if i == 0:
            time.sleep(0.3)
        return i


def test_out_of_order_gives_every_batch_once():
    assert list(range(8)) == sorted(load(SlowFirst(8), in_order=False))


def test_tensors_of_every_kind_arrive():
    tensors = [torch.tensor(3), torch.zeros(0, 2), torch.ones(2, 2).to(torch.bfloat16), torch.tensor([True])]

    arrived = list(load(tensors, batch_size=None, collate_fn=None))

    assert [(t.dtype, t.shape, t.tolist()) for t in tensors] == [(t.dtype, t.shape, t.tolist()) for t in arrived]


@pytest.mark.skipif(sys.platform == "win32", reason="start methods other than spawn")
def test_a_start_method_can_be_chosen():
    loader = load(Numbers(3), multiprocessing_context="spawn")

    assert [0, 1, 2] == list(loader)
