"""What a node shows, and what keeps it alive."""

import gc
import weakref

import pytest
from backend import leaf, near, node, plain, torch

SQUARE = dict(shape=(2, 2))

NAMES = {
    "MulBackward0": lambda x: x * x,
    "AddBackward0": lambda x: x + 1,
    "SubBackward0": lambda x: x - 1,
    "DivBackward0": lambda x: x / 2,
    "PowBackward0": lambda x: x**2,
    "NegBackward0": lambda x: -x,
    "ExpBackward0": lambda x: x.exp(),
    "ReluBackward0": lambda x: x.relu(),
    "SumBackward0": lambda x: x.sum(),
    "MeanBackward0": lambda x: x.mean(),
    "ViewBackward0": lambda x: x.view(4),
    "TransposeBackward0": lambda x: x.transpose(0, 1),
    "SelectBackward0": lambda x: x[0],
    "SliceBackward0": lambda x: x[0:1],
    "PermuteBackward0": lambda x: x.permute(1, 0),
    "ExpandBackward0": lambda x: x.expand(3, 2, 2),
    "UnsqueezeBackward0": lambda x: x.unsqueeze(0),
    "SplitBackward0": lambda x: x.split(1)[0],
    "UnbindBackward0": lambda x: x.unbind()[1],
    "CloneBackward0": lambda x: x.clone(),
    "MmBackward0": lambda x: x @ x,
    "CatBackward0": lambda x: torch.cat([x, x]),
    "WhereBackward0": lambda x: torch.where(x > 0, x, x),
    "MaximumBackward0": lambda x: torch.maximum(x, x),
    "CumsumBackward0": lambda x: x.cumsum(0),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_pytorchs(name):
    y = NAMES[name](leaf(1, 2, 3, 4, **SQUARE))

    assert name == y.grad_fn.name() and name == type(y.grad_fn).__name__


def test_next_functions_lead_to_the_leaf():
    x = leaf(1, 2)
    y = (x * 2).exp()
    (mul, number), = y.grad_fn.next_functions
    (accumulate, zero), other = mul.next_functions

    assert "MulBackward0" == mul.name() and 0 == number == zero
    assert accumulate.variable is x and (None, 0) == other


def test_next_functions_tell_which_output_was_used():
    x = leaf(1, 2, 3, 4)
    a, b = x.split(2)

    assert (b * 1).grad_fn.next_functions[0] == (b.grad_fn, 1) and a.grad_fn is b.grad_fn
    assert (0, 1) == (a.output_nr, b.output_nr)


def test_grad_fn_is_the_same_object_each_time():
    y = leaf(1) * 2

    assert y.grad_fn is y.grad_fn and leaf(1).grad_fn is None


def test_pieces_tell_how_they_were_cut():
    x = torch.ones(2, 6).requires_grad_()
    sizes, even, each, part = (x * 1).split((2, 4), -1)[1].grad_fn, (x * 1).chunk(3, 1)[0].grad_fn, (x * 1).unbind(1)[0].grad_fn, (x * 1)[:, 1:5:2].grad_fn

    assert (1, (2, 4), (2, 6)) == (sizes._saved_dim, sizes._saved_split_sizes, sizes._saved_self_sym_sizes)
    assert (1, 2, (2, 6)) == (even._saved_dim, even._saved_split_size, even._saved_self_sym_sizes)
    assert 1 == each._saved_dim and not hasattr(each, "_saved_split_size") and not hasattr(sizes, "_saved_split_size")
    assert (1, 1, 5, 2) == (part._saved_dim, part._saved_start, part._saved_end, part._saved_step)


def test_every_saved_value_of_a_node_can_be_read():
    x = torch.ones(2, 3).requires_grad_()

    for y in (x**2, x / 2, x[torch.tensor([0, 1])], torch.cat([x, x]), x.split(1)[0]):
        for name in dir(y.grad_fn):
            if name.startswith("_saved"):
                getattr(y.grad_fn, name)
    i = torch.tensor([0, 1])
    y = x[i]
    i.add_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.grad_fn._saved_indices


def test_saved_values_can_be_read_until_they_are_freed():
    x, w = leaf(1, 2), leaf(3, 4)
    y = x * w

    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is w
    z = x.exp()

    assert near(z.tolist(), z.grad_fn._saved_result)
    z.sum().backward()
    with pytest.raises(RuntimeError):
        z.grad_fn._saved_result


def test_metadata_is_a_dictionary_of_the_users():
    y = leaf(1) * 2
    y.grad_fn.metadata["mine"] = 5

    assert {"mine": 5} == y.grad_fn.metadata


def test_sequence_numbers_grow():
    x = leaf(1)
    y = x * 2
    z = y * 2

    assert z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr()


def test_saved_result_makes_no_reference_cycle():
    gc.disable()
    try:
        y = leaf(1, 2).exp()
        dead = weakref.ref(y)
        del y

        assert dead() is None
    finally:
        gc.enable()


def test_graph_dies_with_its_result():
    gc.disable()
    try:
        x = leaf(1, 2)
        a = x * 2
        dead = weakref.ref(a)
        y = a * a
        del a

        assert dead() is not None
        y.sum().backward()

        assert dead() is None  # backward freed what was saved
    finally:
        gc.enable()


@pytest.mark.parametrize("step", [
    lambda x, b: b.mul_(x), lambda x, b: b[0:1].mul_(x[0:1]), lambda x, b: b.exp_(), lambda x, b: b.detach(),
    lambda x, b: b.retain_grad(), lambda x, b: (b * b).sum().backward(), lambda x, b: b.view(2).tanh_(),
    lambda x, b: b.split(1)[0] * 2,
], ids=["mul_", "view mul_", "exp_", "detach", "retain_grad", "backward", "view tanh_", "split"])
def test_no_step_makes_a_reference_cycle(step):
    gc.collect()
    gc.disable()
    try:
        x = leaf(1, 2)
        b = x.tanh()
        step(x, b)
        dead = weakref.ref(b), weakref.ref(x)
        del b, x

        assert (None, None) == (dead[0](), dead[1]())
    finally:
        gc.enable()


def test_what_came_back_from_a_hook_makes_no_reference_cycle():
    gc.collect()
    gc.disable()
    try:
        def unpack(t):
            return t

        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
            leaf(1, 2).exp().sum().backward()
        dead = weakref.ref(unpack)
        del unpack

        assert dead() is None
    finally:
        gc.enable()


def test_leaf_that_only_the_graph_knows_still_lets_backward_run():
    x = leaf(1, 2)
    y = (x * leaf(3, 4)).sum()
    y.backward()

    assert near([3, 4], x.grad)


def test_a_million_nodes_need_no_recursion():
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y + 1
    y.backward()

    assert 1.0 == x.grad.item()
    del y


def test_a_long_chain_with_saved_tensors_is_freed_without_recursion():
    x = torch.ones((), requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y * x
    del y


def test_a_long_chain_in_place():
    y = torch.ones((), requires_grad=True).clone()
    for _ in range(100_000):
        y.add_(1)
    y.backward()
    del y


def test_result_of_ops_without_derivative_has_no_history():
    x = leaf(1, 2)

    assert not (x > 0).requires_grad and not x.argmax().requires_grad


def test_zero_derivative_keeps_history():
    x = leaf(1.5, 2.5)
    y = x.floor()

    assert y.requires_grad
    y.sum().backward()

    assert near([0, 0], x.grad)


def test_tensors_copy_as_leaves_only():
    import copy

    x = leaf(1, 2)
    y = copy.deepcopy(x)

    assert y.requires_grad and y.is_leaf and y is not x
    with pytest.raises(RuntimeError):
        copy.deepcopy(x * 2)


def test_allow_mutation_of_saved_tensors_is_absent_but_plain_use_is_checked():
    x, w = leaf(1, 2), plain(1, 2)
    y = x * w
    w.zero_()
    with pytest.raises(RuntimeError, match="version"):
        y.sum().backward()


def test_iterating_over_a_tensor_records():
    x = leaf(1, 2, 3)
    total = sum(v * (i + 1) for i, v in enumerate(x))
    total.backward()

    assert near([1, 2, 3], x.grad)


def test_sum_of_a_diamond_runs_newest_first():
    order = []
    x, y = node(1)
    a = y * 2
    b = y * 3
    for name, t in (("a", a), ("b", b), ("y", y)):
        t.register_hook(lambda g, name=name: order.append(name))
    (a + b).sum().backward()

    assert ["b", "a", "y"] == order


# ---- saved tensors that may be written to -----------------------------------------------------------------------------


MUTATIONS = {
    "the operand": lambda y: (y * y, y.mul_(5)),
    "twice": lambda y: (y.sin() + y.cos() * y, y.zero_(), y.add_(3)),
    "a view's base": lambda y: (y[:1] ** 2, y.mul_(3)),
    "a view": lambda y: (y.view(2, 1) ** 2, y[:1].fill_(7)),
    "the result": lambda y: (z := y.exp(), z * 1, z.add_(1))[1:],
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_saved_tensor_may_be_written_to_inside_the_block(name):
    x = leaf(1, 2)
    f = MUTATIONS[name]
    with torch.no_grad():
        expected = x.clone()
    expected.requires_grad_()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        f(x.clone())[0].sum().backward()
    kept = {"the operand": lambda y: y * y, "twice": lambda y: y.sin() + y.cos() * y, "a view's base": lambda y: y[:1] ** 2, "a view": lambda y: y**2, "the result": torch.exp}
    kept[name](expected).sum().backward()

    assert near(expected.grad.tolist(), x.grad)


def test_mutation_is_allowed_inside_the_block_only():
    x, y = node(1, 2)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        z = y * y
        with pytest.raises(RuntimeError, match="nested"):
            torch.autograd.graph.allow_mutation_on_saved_tensors().__enter__()
    with pytest.raises((RuntimeError, AssertionError), match="outside"):
        z.sum().backward()


def test_hooks_on_saved_tensors_cannot_be_forbidden_where_they_are_at_work():
    with torch.autograd.graph.save_on_cpu(), pytest.raises(RuntimeError, match="not here"):
        with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
            pass


def test_a_node_shows_the_attributes_it_kept():
    assert 1 == leaf(1, 2, shape=(1, 2)).cumsum(1).grad_fn._saved_dim


NODES = {  # expression -> a node of each kind
    "one result": lambda x: (x * x).grad_fn, "several results": lambda x: x.max(0).values.grad_fn, "pieces": lambda x: x.unbind()[0].grad_fn, "a leaf's": lambda x: (x * x).grad_fn.next_functions[0][0],
    "a write to a view": lambda x: write_to_a_view(x * 1).grad_fn, "a view of what was written": lambda x: write_to_a_view(x * 1)[1:].grad_fn, "another overload": lambda x: x.sum(0).grad_fn,
}  # fmt: skip


def write_to_a_view(t):
    t[0] = 2.0
    return t


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_a_node_shows_what_nodes_of_pytorch_show(node):
    shown = {name for name in dir(node(leaf(1, 2, 3))) if not name.startswith("_")}

    assert shown - {"variable"} == {"metadata", "name", "next_functions", "register_hook", "register_prehook", "requires_grad"}
