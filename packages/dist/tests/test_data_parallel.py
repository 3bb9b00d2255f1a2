"""DistributedDataParallel in a group of one process, beside PyTorch's."""

import pytest
from backend import BACKEND, dist, torch

pytest.importorskip(f"{torch.__name__}.nn")
DDP = torch.nn.parallel.DistributedDataParallel


def net():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    with torch.no_grad():
        model[0].weight.copy_(torch.arange(6.0).reshape(2, 3).sin())
    return model


def gradients(model, module, steps):
    for x in steps:
        (model(x) * torch.tensor([1.0, -2.0])).pow(2).sum().backward()
    return [p.grad.tolist() for p in module.parameters()]


def test_gradients_and_statistics_are_the_modules_own(world):
    plain, inner = net(), net()
    inner.load_state_dict(plain.state_dict())
    wrapped = DDP(inner)
    steps = [torch.arange(12.0).reshape(4, 3).cos(), torch.arange(12.0).reshape(4, 3).sin()]

    assert gradients(plain, plain, steps) == gradients(wrapped, inner, steps)
    assert [b.tolist() for b in plain.buffers()] == [b.tolist() for b in inner.buffers()]
    assert [f"module.{n}" for n in plain.state_dict()] == list(wrapped.state_dict())


def test_no_sync_lasts_as_long_as_its_block(world):
    wrapped = DDP(net(), find_unused_parameters=True)

    with wrapped.no_sync():
        assert not wrapped.require_backward_grad_sync
        wrapped(torch.ones(2, 3)).sum().backward()

    assert wrapped.require_backward_grad_sync
    assert wrapped.module[0].weight.grad is not None


def test_a_forward_without_averages_lets_the_next_send_no_buffers(world):
    wrapped = DDP(net())
    with wrapped.no_sync():
        wrapped(torch.ones(2, 3))
    between = wrapped.require_forward_param_sync
    wrapped(torch.ones(2, 3)).sum().backward()

    assert (False, True) == (between, wrapped.require_forward_param_sync)


def test_what_cannot_be_wrapped_is_refused(world):
    with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
        DDP(torch.nn.ReLU())
    with pytest.raises(ValueError, match="device_ids"):
        DDP(net(), device_ids=[0])


def test_without_a_process_group_there_is_nothing_to_average_over():
    with pytest.raises(ValueError, match="process group has not been initialized"):
        DDP(net())


@pytest.mark.skipif(BACKEND != "facula", reason="looks inside Facula's")
def test_the_mean_is_taken_over_the_group(world, monkeypatch):
    seen = []
    monkeypatch.setattr(dist, "all_reduce", lambda t, op, group: (seen.append(op), t.mul_(2)))
    inner = net()
    wrapped = DDP(inner)
    with wrapped.no_sync():
        wrapped(torch.ones(2, 3)).sum().backward()
    local = inner[1].bias.grad.tolist()
    wrapped(torch.ones(2, 3)).sum().backward()

    assert [2.0, 2.0] == local
    assert [8.0, 8.0] == inner[1].bias.grad.tolist()  # what had accumulated is averaged with the rest
    assert 4 * [dist.ReduceOp.AVG] == seen


@pytest.mark.skipif(BACKEND != "facula", reason="looks inside Facula's")
def test_the_reducer_lets_the_next_backward_average(world, monkeypatch):
    seen = []
    monkeypatch.setattr(dist, "all_reduce", lambda t, op, group: seen.append(op))
    wrapped = DDP(net())
    with wrapped.no_sync():
        out = wrapped(torch.ones(2, 3)).sum()
    wrapped.reducer.prepare_for_backward([])
    out.backward()

    assert 4 * [dist.ReduceOp.AVG] == seen
