"""Hooks on tensors, leaves and nodes."""

import pytest
from backend import leaf, near, node, plain, torch


def test_tensor_hook_sees_the_gradient():
    x, y = node(1, 2)
    seen = []
    y.register_hook(seen.append)
    (y * plain(3, 4)).sum().backward()

    assert 1 == len(seen) and near([3, 4], seen[0])


def test_tensor_hook_may_replace_the_gradient():
    x, y = node(1, 2)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()

    assert near([10, 10], x.grad)


def test_tensor_hooks_run_in_order_of_registration():
    x, y = node(1, 2)
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()

    assert near([20, 20], x.grad)


def test_leaf_hook_runs_once_on_the_sum():
    x = leaf(1, 2)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2 + x * 3).sum().backward()

    assert [[5.0, 5.0]] == seen


def test_removed_hook_does_not_run():
    x, y = node(1, 2)
    handle = y.register_hook(lambda g: g * 10)
    handle.remove()
    handle.remove()
    y.sum().backward()

    assert near([1, 1], x.grad)


def test_hook_handle_is_a_context_manager():
    x, y = node(1, 2)
    with y.register_hook(lambda g: g * 10):
        y.sum().backward(retain_graph=True)
    y.sum().backward()

    assert near([11, 11], x.grad)


def test_hook_registered_before_an_in_place_op_belongs_to_the_old_value():
    x, y = node(1, 2)
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.mul_(5)
    y.sum().backward()

    assert [[5.0, 5.0]] == seen


def test_hooks_on_a_tensor_without_grad_are_refused():
    for register in (lambda: plain(1).register_hook(print), lambda: plain(1).retain_grad(), lambda: node(1)[1].register_post_accumulate_grad_hook(print)):
        with pytest.raises(RuntimeError):
            register()


@pytest.mark.parametrize("bad", [lambda g: 3, lambda g: torch.ones(3, dtype=torch.float64), lambda g: g.float()])
def test_hook_that_returns_the_wrong_thing_is_refused(bad):
    x, y = node(1, 2)
    y.register_hook(bad)
    with pytest.raises((TypeError, RuntimeError)):
        y.sum().backward()


def test_retain_grad_keeps_an_intermediate_gradient():
    x, y = node(1, 2)
    y.retain_grad()
    y.retain_grad()
    (y * 3).sum().backward()

    assert near([3, 3], y.grad) and y.retains_grad and not x.retains_grad


def test_retain_grad_accumulates_over_calls():
    x, y = node(1, 2)
    y.retain_grad()
    s = (y * 3).sum()
    s.backward(retain_graph=True)
    s.backward()

    assert near([3, 3], y.grad) or near([6, 6], y.grad)


def test_retain_grad_follows_an_in_place_op():
    x, y = node(1, 2)
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()

    assert near([1, 1], y.grad) and near([5, 5], x.grad)


def test_retained_gradient_is_seen_after_hooks():
    x, y = node(1, 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()

    assert near([10, 10], y.grad)


def test_post_accumulate_hook_sees_the_filled_leaf():
    x = leaf(1, 2)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    (x * 2).sum().backward()

    assert [(True, [2.0, 2.0])] == seen


def test_post_accumulate_hook_may_free_the_gradient():
    x, w = leaf(1, 2), leaf(3, 4)

    def step(t):
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None

    w.register_post_accumulate_grad_hook(step)
    (x + w).sum().backward()

    assert w.grad is None and near([2, 3], w)


def test_post_accumulate_hook_can_be_removed():
    x = leaf(1, 2)
    seen = []
    x.register_post_accumulate_grad_hook(seen.append).remove()
    x.sum().backward()

    assert [] == seen


def test_leaf_hooks_run_before_older_nodes():
    """A leaf is filled as soon as its last gradient is known, so an optimizer may step during backward."""
    order = []
    x, w = leaf(1), leaf(2)
    a = x * 3
    a.register_hook(lambda g: order.append("a"))
    b = a * w
    w.register_post_accumulate_grad_hook(lambda t: order.append("w"))
    b.sum().backward()

    assert ["w", "a"] == order


def test_node_hook_sees_inputs_and_outputs_gradients():
    x, y = node(1, 2)
    z = y * 3
    seen = []
    z.grad_fn.register_hook(lambda gi, go: seen.append((len(gi), gi[0].tolist(), len(go), go[0].tolist())))
    z.sum().backward()

    assert [(2, [3.0, 3.0], 1, [1.0, 1.0])] == seen


def test_node_hook_may_replace_inputs_gradients():
    x, y = node(1, 2)
    z = y * 3
    z.grad_fn.register_hook(lambda gi, go: (gi[0] * 10,) + gi[1:])
    z.sum().backward()

    assert near([30, 30], x.grad)


def test_node_prehook_may_replace_outputs_gradients():
    x, y = node(1, 2)
    z = y * 3
    handle = z.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    z.sum().backward(retain_graph=True)

    assert near([30, 30], x.grad)
    handle.remove()
    z.sum().backward()

    assert near([33, 33], x.grad)


def test_hook_of_one_output_of_several():
    x, y = node(1, 2, 3, 4)
    a, b = y.split(2)
    seen = []
    b.register_hook(lambda g: seen.append(g.tolist()))
    (a * 2 + b * 3).sum().backward()

    assert [[3.0, 3.0]] == seen and near([2, 2, 3, 3], x.grad)


def test_hook_runs_for_captured_gradients():
    x, y = node(1, 2)
    y.register_hook(lambda g: g * 10)
    (g,) = torch.autograd.grad((y * 3).sum(), y)

    assert near([30, 30], g)


def test_hook_with_create_graph_is_recorded():
    x = leaf(1, 2)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)  # 2 x * x

    assert near([2, 8], g)
    (h,) = torch.autograd.grad(g.sum(), x)

    assert near([4, 8], h)


def test_backward_called_from_a_hook():
    x, y = node(1, 2)
    w = leaf(3)

    def inner(g):
        with torch.enable_grad():
            (w * w).sum().backward()

    y.register_hook(inner)
    y.sum().backward()

    assert near([1, 1], x.grad) and near([6], w.grad)


def test_multi_grad_hook_waits_for_all():
    x, w = leaf(1), leaf(2)
    seen = []
    handle = torch.autograd.graph.register_multi_grad_hook([x, w], lambda grads: seen.append([g.tolist() for g in grads]))
    (x * w).sum().backward()

    assert [[[2.0], [1.0]]] == seen
    handle.remove()


def test_exception_in_a_hook_reaches_the_caller():
    x, y = node(1, 2)

    def fail(g):
        raise KeyError("mine")

    y.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward()


def captured(*names):
    x = leaf(2.0, 3.0)
    y = x * x
    z = y * 5
    y.register_hook(lambda g: g * 2)
    z.register_hook(lambda g: g * 7)
    z.grad_fn.register_prehook(lambda gs: (gs[0] * 11,))
    return [g.tolist() for g in torch.autograd.grad(z.sum(), [{"x": x, "y": y, "z": z}[k] for k in names])]


def test_grad_with_respect_to_a_result_goes_through_its_hooks():
    assert [[770.0, 770.0]] == captured("y")


def test_grad_goes_through_no_prehook_of_a_node_that_need_not_run():
    assert [[7.0, 7.0]] == captured("z")


def test_grad_of_a_result_on_the_way_is_what_arrives_there():
    assert [[3080.0, 4620.0], [385.0, 385.0]] == captured("x", "y")


def test_a_leaf_that_no_longer_requires_grad_gets_none():
    x = leaf(1.0)
    y = x * 2
    x.requires_grad_(False)
    y.backward(torch.ones(1, dtype=torch.float64))

    assert x.grad is None


@pytest.mark.parametrize("make,stride", [
    (lambda: torch.ones(3, 4, dtype=torch.float64).t(), (1, 4)),
    (lambda: torch.ones(2, 3, 4, dtype=torch.float64).permute(2, 0, 1), (1, 12, 4)),
    (lambda: torch.ones(6, dtype=torch.float64)[::2], (1,)),
    (lambda: torch.ones(1, dtype=torch.float64).expand(3), (1,)),
    (lambda: torch.ones(2, 4, dtype=torch.float64)[:, :2], (2, 1)),
])  # fmt: skip
def test_grad_lies_in_memory_as_its_leaf_where_that_is_dense(make, stride):
    x = make().detach().requires_grad_()
    (x * x).sum().backward()

    assert stride == x.grad.stride()
