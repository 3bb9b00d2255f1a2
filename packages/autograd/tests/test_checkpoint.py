"""Checkpointing: forward again in backward, with the same random numbers."""

import pytest
from backend import checkpointing, leaf, near, plain, torch

checkpoint = checkpointing.checkpoint
BOTH = pytest.mark.parametrize("reentrant", [True, False])


@BOTH
def test_gradients_are_the_same(reentrant):
    x, w = leaf(1, 2), leaf(3, 4)
    checkpoint(lambda x, w: (x * w).exp() * x, x, w, use_reentrant=reentrant).sum().backward()
    x2, w2 = leaf(1, 2), leaf(3, 4)
    ((x2 * w2).exp() * x2).sum().backward()

    assert near(x2.grad.tolist(), x.grad) and near(w2.grad.tolist(), w.grad)


@BOTH
def test_forward_runs_again_once(reentrant):
    calls = []

    def f(x):
        calls.append(torch.is_grad_enabled())
        return x.exp().exp()

    y = checkpoint(f, leaf(0.1), use_reentrant=reentrant)
    y.sum().backward()

    assert 2 == len(calls) and calls[1]


@BOTH
def test_random_numbers_repeat(reentrant):
    seen = []

    def f(x):
        noise = torch.rand(2, dtype=torch.float64)
        seen.append(noise.tolist())
        return x * noise * x

    x = leaf(1, 2)
    y = checkpoint(f, x, use_reentrant=reentrant)
    after = torch.rand(1)
    y.sum().backward()

    assert seen[0] == seen[1] and near([2 * seen[0][0], 4 * seen[0][1]], x.grad) and after is not None


@BOTH
def test_the_random_stream_goes_on_as_if_nothing_ran_again(reentrant):
    def draw():
        torch.manual_seed(3)
        y = checkpoint(lambda x: x * torch.rand(1, dtype=torch.float64) * x, leaf(1), use_reentrant=reentrant)
        y.sum().backward()
        return torch.rand(1).item()

    torch.manual_seed(3)
    torch.rand(1, dtype=torch.float64)

    assert torch.rand(1).item() == draw()


@BOTH
def test_tuples_and_other_arguments(reentrant):
    x = leaf(1, 2)
    a, b = checkpoint(lambda x, k, text: (x * k, x.exp() * len(text)), x, 3, "ab", use_reentrant=reentrant)
    (a + b).sum().backward()

    assert near((3 + 2 * x.detach().exp()).tolist(), x.grad)


@BOTH
def test_nested_checkpoints(reentrant):
    x = leaf(0.5)

    def inner(x):
        return x.exp() * x

    def outer(x):
        return checkpoint(inner, x * x, use_reentrant=reentrant).exp()

    checkpoint(outer, x, use_reentrant=reentrant).sum().backward()
    x2 = leaf(0.5)
    (inner(x2 * x2)).exp().sum().backward()

    assert near(x2.grad.tolist(), x.grad)


def test_parameters_that_are_only_closed_over_get_gradients_when_not_reentrant():
    w = leaf(3)
    checkpoint(lambda c: (c * w).exp(), plain(0.1), use_reentrant=False).sum().backward()

    assert w.grad is not None


def test_keyword_arguments_when_not_reentrant():
    x = leaf(1)
    checkpoint(lambda x, k=1: x * x * k, x, k=5, use_reentrant=False).sum().backward()

    assert near([10], x.grad)


def test_keyword_arguments_are_refused_when_reentrant():
    with pytest.raises(ValueError):
        checkpoint(lambda x, k=1: x, leaf(1), k=5, use_reentrant=True)


def test_grad_works_when_not_reentrant():
    x = leaf(1)
    (g,) = torch.autograd.grad(checkpoint(lambda x: x.exp().exp(), x, use_reentrant=False).sum(), x)

    assert near((x.detach().exp().exp() * x.detach().exp()).tolist(), g)


def test_grad_is_refused_when_reentrant():
    x = leaf(1)
    y = checkpoint(lambda x: x.exp(), x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError):
        torch.autograd.grad(y, x)


@pytest.mark.parametrize("function", [lambda x, y: x, lambda x, y: x * 2])
def test_a_part_without_gradients_is_refused_when_reentrant(function):
    y = checkpoint(function, torch.ones(2), leaf(1), use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_nothing_is_saved_in_forward_when_not_reentrant():
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        y = checkpoint(lambda x: x.exp().exp().exp(), leaf(0.1), use_reentrant=False)
    count = len(saved)
    y.sum().backward()

    assert count <= 1


def test_a_different_recomputation_is_found():
    state = []

    def f(x):
        state.append(1)
        return x.exp() if len(state) == 1 else x[0:1].exp()

    y = checkpoint(f, leaf(0.1, 0.2), use_reentrant=False)
    with pytest.raises(checkpointing.CheckpointError):
        y.sum().backward()


def test_sequential():
    x = leaf(0.1, 0.2)
    steps = [lambda x: x * 2, torch.exp, lambda x: x + 1, torch.tanh]
    checkpointing.checkpoint_sequential(steps, 2, x, use_reentrant=False).sum().backward()
    x2 = leaf(0.1, 0.2)
    torch.tanh(torch.exp(x2 * 2) + 1).sum().backward()

    assert near(x2.grad.tolist(), x.grad)


def test_a_context_for_each_of_the_two_runs():
    import contextlib

    names = []

    @contextlib.contextmanager
    def named(name):
        names.append(name)
        yield

    x = leaf(1)
    checkpoint(lambda x: x.exp(), x, use_reentrant=False, context_fn=lambda: (named("forward"), named("again"))).sum().backward()

    assert ["forward", "again"] == names


@pytest.mark.parametrize("segments", [0, 5])
def test_sequential_refuses_a_wrong_number_of_segments(segments):
    with pytest.raises((ValueError, ZeroDivisionError)):
        checkpointing.checkpoint_sequential([torch.sin, torch.cos], segments, leaf(1), use_reentrant=False)


def different_each_time():
    calls = []

    def f(x):
        calls.append(1)
        return (x * x[:1] if len(calls) == 1 else x * x).sin()

    return f


def test_debug_shows_what_both_runs_did():
    with checkpointing.set_checkpoint_debug_enabled(True):
        y = checkpointing.checkpoint(different_each_time(), leaf(1, 2), use_reentrant=False)
    with pytest.raises(RuntimeError, match="You are seeing this error because you passed `debug=True` to checkpoint") as error:
        y.sum().backward()
    first, again = str(error.value).split("Operations executed during recomputation")
    assert "mul" in first.split("Operations executed during the original forward")[1] and "mul" in again


def test_without_debug_the_error_names_the_values_alone():
    y = checkpointing.checkpoint(different_each_time(), leaf(1, 2), use_reentrant=False)
    with pytest.raises(RuntimeError, match="different metadata") as error:
        y.sum().backward()
    assert "Operations executed" not in str(error.value)


@pytest.mark.facula_only
class TestSelective:
    def ran(self, policy, f=lambda x: ((x * 3).sin() * x).exp().sum()):
        """(gradient, names of the operations that the second run computed)."""
        from facula.tensor_core import extend

        x, heard = leaf(0.5, 0.25), []
        y = checkpointing.checkpoint(f, x, use_reentrant=False, context_fn=lambda: checkpointing.create_selective_checkpoint_contexts(policy))

        def listen(op, args, kwargs):
            heard.append(op.name)
            return extend.call(op, *args, **kwargs)

        with extend.interpreter(listen):
            y.backward()
        return x.grad.tolist(), heard

    def test_keeps_what_a_list_names(self):
        grad, heard = self.ran(["sin", "exp"])
        expected, all_ = self.ran([])

        assert near(expected, torch.tensor(grad, dtype=torch.float64))
        assert "sin" in all_ and "sin" not in heard

    def test_keeps_what_a_policy_wants(self):
        seen = []

        def policy(context, op, *args):
            seen.append(context.is_recompute)
            return checkpointing.CheckpointPolicy.MUST_SAVE if op.name == "sin" else checkpointing.CheckpointPolicy.MUST_RECOMPUTE

        _, heard = self.ran(policy)

        assert "sin" not in heard and {True, False} == set(seen)

    def test_refuses_an_unknown_operation(self):
        with pytest.raises(ValueError, match="sideways"):
            checkpointing.create_selective_checkpoint_contexts(["sideways"])
        with pytest.raises(TypeError):
            checkpointing.create_selective_checkpoint_contexts(3)
        with pytest.raises(TypeError, match="policy"):
            self.ran(lambda *_: 3)

    def test_refuses_a_kept_result_that_was_written_to(self):
        with pytest.raises(RuntimeError, match="in place"):
            self.ran(["mul"], lambda x: (x * 3).mul_(2).sin().sum())


def test_a_group_runs_a_part_again_once():
    runs = []

    def part(x):
        runs.append(1)
        return x.sin(), x.cos()

    x = leaf(1, 2)
    a, b = checkpoint(part, x, use_reentrant=False)
    with checkpointing.GraphExecGroup():
        a.sum().backward(retain_graph=True)
        b.sum().backward(retain_graph=True)

    assert 2 == len(runs)


def test_a_group_refuses_to_use_a_value_twice():
    x = leaf(1, 2)
    y = checkpoint(lambda x: x.sin(), x, use_reentrant=False)
    with checkpointing.GraphExecGroup():
        y.sum().backward(retain_graph=True)
        with pytest.raises(checkpointing.CheckpointError):
            y.sum().backward(retain_graph=True)


def test_groups_do_not_nest():
    with checkpointing.GraphExecGroup(), pytest.raises(RuntimeError):
        with checkpointing.GraphExecGroup():
            pass


def test_the_default_device_can_be_named():
    kind = checkpointing.DefaultDeviceType
    assert "cpu" == kind.get_device_type()
    kind.set_device_type("cuda")
    try:
        assert "cuda" == kind.get_device_type()
        checkpointing.set_device_states([], [])
    finally:
        kind.set_device_type("cpu")


def test_helpers_of_reentrant_checkpoints():
    x, y = leaf(1), torch.ones(1)
    a, b, c = checkpointing.detach_variable((x * 2, y, 3))

    assert (True, True, False, 3) == (a.requires_grad, a.is_leaf, b.requires_grad, c)
    with pytest.raises(RuntimeError):
        checkpointing.detach_variable([x])
    with pytest.warns(UserWarning):
        checkpointing.check_backward_validity([y])
    assert ([], []) == tuple(map(list, checkpointing.get_device_states(x)))


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("around", [False, True], ids=["backward outside", "backward inside another autocast"])
def test_the_second_run_casts_as_the_first_did(reentrant, around):
    seen = []

    def layer(x, w):
        out = torch.mm(torch.mm(x, w), w)
        seen.append(out.dtype)
        return out

    x, w = (torch.randn(3, 3, requires_grad=True) for _ in range(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = checkpoint(layer, x, w, use_reentrant=reentrant).float().sum()
    if around:
        with torch.autocast("cpu", enabled=False):
            loss.backward()
    else:
        loss.backward()

    assert [torch.bfloat16] * 2 == (seen * 2)[:2]
    assert w.grad.dtype is torch.float32
    assert all(dtype is torch.bfloat16 for dtype in seen)
