"""SyncBatchNorm over a group: each process's part of the batch gives what one BatchNorm gives for the whole."""

import threading

import numpy as np
import pytest
from backend import BACKEND, dist, torch

pytest.importorskip(f"{torch.__name__}.nn")
pytestmark = pytest.mark.skipif(BACKEND == "torch", reason="PyTorch's takes GPU tensors alone")


class Threads:
    """An engine whose processes are threads."""

    def __init__(self, rank, size, slots, barrier):
        self.rank, self.size, self.slots, self.barrier = rank, size, slots, barrier

    def all_gather(self, array):
        self.slots[self.rank] = np.array(array)
        self.barrier.wait(30)
        found = list(self.slots)
        self.barrier.wait(30)
        return found

    def all_reduce(self, array, op):
        return sum(self.all_gather(array))


def in_threads(parts, run):
    """run(part, group) for each part, in a thread of its own; the results in order."""
    size = len(parts)
    slots, barrier, found = [None] * size, threading.Barrier(size), [None] * size

    def work(rank):
        try:
            found[rank] = run(parts[rank], dist.ProcessGroup("threads", Threads(rank, size, slots, barrier)))
        except BaseException as error:
            found[rank] = error
            barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for result in found:
        if isinstance(result, BaseException):
            raise result
    return found


def trained(norm, x):
    x = x.clone().requires_grad_()
    out = norm(x)
    (out.sin() * x.detach()).sum().backward()
    return out, x.grad, norm.weight.grad, norm.bias.grad, norm.running_mean, norm.running_var


@pytest.mark.parametrize("sizes", [(3, 5), (1, 2, 4)])
@pytest.mark.parametrize("momentum", [0.3, None])
def test_parts_of_a_batch_give_the_whole_batchs_numbers(sizes, momentum):
    torch.manual_seed(0)
    x = torch.randn(sum(sizes), 4, 3, dtype=torch.float64) * 2 + 1
    whole = trained(torch.nn.BatchNorm1d(4, momentum=momentum, dtype=torch.float64), x)
    parts = in_threads(
        x.split(sizes), lambda part, group: trained(torch.nn.SyncBatchNorm(4, momentum=momentum, process_group=group, dtype=torch.float64), part)
    )

    for k, join in enumerate((torch.cat, torch.cat, sum, sum)):
        torch.testing.assert_close(join([p[k] for p in parts]), whole[k])
    for part in parts:
        torch.testing.assert_close(part[4:], whole[4:])


def test_evaluation_asks_nobody():
    norm = torch.nn.SyncBatchNorm(2, process_group=dist.ProcessGroup("threads", Threads(0, 2, [], None))).eval()

    assert norm(torch.ones(1, 2)).shape == (1, 2)
