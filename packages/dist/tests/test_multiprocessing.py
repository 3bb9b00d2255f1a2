"""spawn and the errors of its processes."""

import os
import signal
import sys

import pytest
from backend import BACKEND, torch

if BACKEND == "torch":
    import torch.multiprocessing as mp
else:
    mp = torch.multiprocessing


def store(index, folder):
    torch.save(torch.tensor([index]), os.path.join(folder, f"{index}.pt"))


def fail(index):
    if index == 1:
        raise KeyError("one")


def die(index):
    os.kill(os.getpid(), signal.SIGKILL)


def leave(index):
    sys.exit(3)


def test_spawned_processes_get_their_number_and_arguments(tmp_path):
    mp.spawn(store, args=(str(tmp_path),), nprocs=2)

    assert [0, 1] == [torch.load(tmp_path / f"{k}.pt").item() for k in range(2)]


@pytest.mark.parametrize(
    "function,kind,fact",
    [
        (fail, "ProcessRaisedException", "KeyError: 'one'"),
        (die, "ProcessExitedException", "SIGKILL"),
        (leave, "ProcessExitedException", "3"),
    ],
)
def test_a_process_that_fails_is_heard_of(function, kind, fact):
    with pytest.raises(getattr(mp, kind), match=fact):
        mp.start_processes(function, nprocs=2, start_method="fork")


def test_names_of_python_are_there():
    assert mp.get_context("spawn").Process
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises((ValueError, AssertionError)):
        mp.set_sharing_strategy("telepathy")
