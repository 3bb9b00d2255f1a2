import datetime

import pytest
from backend import BACKEND, dist, torch


def test_one_process_is_rank_0_of_1(world):
    assert (0, 1, "gloo", True) == (dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_initialized())
    assert 1 == dist.group.WORLD.size()


REDUCTIONS = ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reducing_over_one_process_changes_nothing(world, name):
    t = torch.tensor([[1, 2], [3, 4]]).t()

    dist.all_reduce(t.contiguous(), op=getattr(dist.ReduceOp, name))
    dist.reduce(t.contiguous(), 0, op=getattr(dist.ReduceOp, name))

    assert [[1, 3], [2, 4]] == t.tolist()


def test_what_is_sent_arrives(world):
    t, out = torch.tensor([1.0, 2.0]), torch.zeros(2)
    for call in (
        lambda: dist.all_gather([out], t),
        lambda: dist.gather(t, [out], 0),
        lambda: dist.scatter(out, [t], 0),
        lambda: dist.reduce_scatter(out, [t]),
        lambda: dist.all_gather_into_tensor(out, t),
        lambda: dist.reduce_scatter_tensor(out, t),
    ):
        out.zero_()
        call()

        assert [1.0, 2.0] == out.tolist()


def test_objects_arrive(world):
    found = [None]
    dist.all_gather_object(found, {"a": 1})
    listed = ["x"]
    dist.broadcast_object_list(listed, src=0)

    assert ([{"a": 1}], ["x"]) == (found, listed)


def test_a_leaf_that_requires_grad_may_be_reduced(world):
    pytest.importorskip(BACKEND + ".autograd", reason="facula-autograd is not installed")
    w = torch.ones(2, requires_grad=True)
    version = w._version
    dist.broadcast(w, src=0)

    assert w.requires_grad and w.is_leaf and w.grad_fn is None
    assert w._version >= version


def test_asynchronous_work_is_waited_for(world):
    work = dist.all_reduce(torch.ones(2), async_op=True)

    assert work.wait()
    assert work.is_completed()
    assert dist.barrier() is None


def test_before_it_is_made_there_is_no_group():
    assert not dist.is_initialized()
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(torch.ones(1))):
        with pytest.raises(ValueError, match="init_process_group"):
            call()


def test_the_environment_says_who_is_there(monkeypatch):
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    dist.destroy_process_group()

    assert not dist.is_initialized()


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_a_missing_variable_is_named(monkeypatch, missing):
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(missing)

    with pytest.raises(ValueError, match=missing):
        dist.init_process_group("gloo")


@pytest.mark.parametrize(
    "options,error",
    [
        ({"init_method": "tcp://localhost:2345"}, ValueError),
        ({"init_method": "tcp://localhost:2345", "rank": 0}, ValueError),
        ({"init_method": "carrier-pigeon://x", "rank": 0, "world_size": 1}, RuntimeError),
        ({"init_method": "file:///tmp/x", "rank": 0, "world_size": 1, "timeout": 5}, TypeError),
    ],
)
def test_arguments_that_do_not_tell_who_is_there_are_refused(options, error):
    with pytest.raises(error):
        dist.init_process_group("gloo", **options)


@pytest.mark.facula_only
@pytest.mark.parametrize(
    "backend,options,error,fact",
    [
        ("gloo", {"init_method": "tcp://localhost:0", "rank": 0, "world_size": 2, "timeout": datetime.timedelta(seconds=0.01)}, RuntimeError, "1 of 2"),
        ("gloo", {"init_method": "tcp://localhost:1", "rank": 1, "world_size": 2, "timeout": datetime.timedelta(seconds=0.01)}, RuntimeError, "1 of 2"),
        ("gloo", {"init_method": "tcp://localhost:1", "rank": 1, "world_size": 1}, ValueError, "rank 1"),
        ("gloo", {"init_method": "tcp://localhost", "rank": 0, "world_size": 1}, ValueError, "port"),
        ("smoke", {}, ValueError, "smoke"),
    ],
)
def test_what_a_backend_cannot_do_is_said(backend, options, error, fact):
    with pytest.raises(error, match=fact):
        dist.init_process_group(backend, **options)


@pytest.mark.facula_only
def test_a_url_may_carry_rank_and_size():
    dist.init_process_group("gloo", init_method="tcp://localhost:1?rank=0&world_size=1")
    dist.destroy_process_group()


def test_the_group_is_made_once(world):
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo", init_method="tcp://localhost:1", rank=0, world_size=1)


@pytest.mark.facula_only
@pytest.mark.parametrize(
    "call,error",
    [
        (lambda t: dist.all_reduce([t]), TypeError),
        (lambda t: dist.all_reduce(t, op="sum"), TypeError),
        (lambda t: dist.all_reduce(t, op=dist.ReduceOp.BAND), RuntimeError),
        (lambda t: dist.all_gather([t, t], t), ValueError),
        (lambda t: dist.all_gather([t.double()], t), ValueError),
        (lambda t: dist.broadcast(t, 1), ValueError),
        (lambda t: dist.gather(t), ValueError),
        (lambda t: dist.scatter(t), ValueError),
        (lambda t: dist.send(t, 0), ValueError),
        (lambda t: dist.recv(t), RuntimeError),
        (lambda t: dist.new_group([0, 1]), ValueError),
        (lambda t: dist.all_gather_into_tensor(t, torch.ones(3)), ValueError),
    ],
)
def test_arguments_that_do_not_fit_are_refused(world, call, error):
    with pytest.raises(error):
        call(torch.ones(2))


def test_the_part_is_still_the_function_of_its_name():
    import facula.dist

    assert 5.0 == facula.dist(facula.tensor([3.0, 0.0]), facula.tensor([0.0, 4.0])).item()
    assert 4.0 == facula.dist(facula.tensor([3.0, 0.0]), facula.tensor([0.0, 4.0]), p=float("inf")).item()
    with pytest.raises(TypeError, match="dist"):
        facula.dist(1, 2)
