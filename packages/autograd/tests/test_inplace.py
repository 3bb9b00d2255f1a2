"""In-place operations and views: history is rebased, versions are checked, and what cannot be right is refused."""

import pytest
from backend import leaf, near, node, plain, torch


def test_in_place_op_extends_the_history():
    x, y = node(2, 3)
    y.mul_(y.detach().clone())
    y.sum().backward()

    assert near([2, 3], x.grad)


def test_in_place_op_brings_a_plain_tensor_into_the_graph():
    w, y = leaf(2, 3), plain(5, 7)
    y.mul_(w)

    assert y.requires_grad and not y.is_leaf
    y.sum().backward()

    assert near([5, 7], w.grad)


def test_in_place_op_that_needs_its_old_value_keeps_it():
    w = leaf(5, 7)
    x, y = node(2, 3)
    y.mul_(w)
    y.sum().backward()

    assert near([2, 3], w.grad) and near([5, 7], x.grad)


def test_chain_of_in_place_ops():
    x, y = node(2, 3)
    y.mul_(3).add_(1).exp_()
    y.sum().backward()
    expected = (3 * torch.exp(3 * x.detach() + 1)).tolist()

    assert near(expected, x.grad)


IN_PLACE = {
    "add_": (lambda y: y.add_(2), [1, 1]),
    "add_ with alpha": (lambda y: y.add_(plain(1, 1), alpha=2), [1, 1]),
    "sub_": (lambda y: y.sub_(2), [1, 1]),
    "mul_": (lambda y: y.mul_(4), [4, 4]),
    "div_": (lambda y: y.div_(4), [0.25, 0.25]),
    "neg_": (lambda y: y.neg_(), [-1, -1]),
    "pow_": (lambda y: y.pow_(2), [4, 6]),
    "zero_": (lambda y: y.zero_(), [0, 0]),
    "fill_": (lambda y: y.fill_(3), [0, 0]),
    "copy_": (lambda y: y.copy_(plain(8, 9)), [0, 0]),
    "setitem": (lambda y: y.__setitem__(0, 5.0), [0, 1]),
    "iadd": (lambda y: y.__iadd__(1), [1, 1]),
    "relu_": (lambda y: y.relu_(), [1, 1]),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_ops_and_their_gradients(name):
    change, expected = IN_PLACE[name]
    x, y = node(2, 3)
    change(y)
    y.sum().backward()

    assert near(expected, x.grad)


def test_copy_brings_the_sources_gradient():
    x, y = node(2, 3)
    w = leaf(5, 6)
    y.copy_(w)
    (y * plain(1, 10)).sum().backward()

    assert near([0, 0], x.grad) and near([1, 10], w.grad)


def test_copy_sums_over_a_broadcast_source():
    y, w = plain(0, 0), leaf(5)
    y.copy_(w)
    (y * plain(1, 10)).sum().backward()

    assert near([11], w.grad)


def test_copy_casts_the_gradient_to_the_sources_dtype():
    y, w = plain(0, 0), leaf(5, 6, dtype=torch.float32)
    y.copy_(w)
    y.sum().backward()

    assert w.grad.dtype == torch.float32


# ---- views ----------------------------------------------------------------------------------------------------------

def test_base_of_a_modified_view_has_the_views_history():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    v.mul_(10)
    (b * plain(1, 2, 3, 4)).sum().backward()

    assert near([1, 20, 30, 4], x.grad)


def test_view_itself_after_its_modification():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    v.mul_(10)
    v.sum().backward()

    assert near([0, 10, 10, 0], x.grad)


def test_view_sees_a_modification_of_its_base():
    x, b = node(1, 2, 3, 4)
    v = b[1:3]
    b.mul_(plain(1, 2, 3, 4))
    v.sum().backward()

    assert near([0, 2, 3, 0], x.grad)


def test_sibling_of_a_modified_view():
    x, b = node(1, 2, 3, 4)
    v, w = b[0:3], b[1:4]
    v.mul_(10)
    w.sum().backward()

    assert near([0, 10, 10, 1], x.grad)


def test_view_of_a_view():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    v = b.t()[1:]
    w = v[0]
    w.mul_(10)

    (b * 2).sum().backward()

    assert near([[2, 20, 2], [2, 20, 2]], x.grad)


def test_parent_view_after_a_view_of_it_changed():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    v = b.t()
    v[1:][0].mul_(10)
    v[1].sum().backward()

    assert near([[0, 10, 0], [0, 10, 0]], x.grad)


def test_second_modification_through_another_view():
    x, b = node(1, 2, 3, 4)
    v, w = b[0:3], b[1:4]
    v.mul_(10)
    w.mul_(3)
    v.sum().backward()

    assert near([10, 30, 30, 0], x.grad)


def test_modifying_a_view_of_a_plain_tensor_brings_the_base_into_the_graph():
    b, w = plain(1, 2, 3, 4), leaf(5, 6)
    b[1:3].mul_(w)

    assert b.requires_grad and not b.is_leaf
    b.sum().backward()

    assert near([2, 3], w.grad)


def test_older_view_of_a_plain_base_gets_history_from_it():
    b, w = plain(1, 2, 3, 4), leaf(5, 6, 7, 8)
    v = b[1:3]

    assert not v.requires_grad
    b.mul_(w)

    assert v.requires_grad and not v.is_leaf
    v.sum().backward()

    assert near([0, 2, 3, 0], w.grad)


def test_setitem_with_a_tensor_that_requires_grad():
    b, w = plain(1, 2, 3, 4), leaf(5, 6)
    b[1:3] = w
    (b * plain(1, 2, 3, 4)).sum().backward()

    assert near([2, 3], w.grad)


def test_setitem_in_a_loop():
    w = leaf(1, 2, 3)
    out = torch.zeros(3, dtype=torch.float64)
    for i in range(3):
        out[i] = w[i] * w[i]
    out.sum().backward()

    assert near([2, 4, 6], w.grad)


def test_setitem_after_reading_the_same_place():
    w = leaf(1, 2, 3)
    out = w.clone()
    for i in range(1, 3):
        out[i] = out[i] + out[i - 1]
    (out * plain(1, 1, 1)).sum().backward()

    assert near([3, 2, 1], w.grad)


def test_modifying_a_transposed_view():
    x, b = node(1, 2, 3, 4, 5, 6, shape=(2, 3))
    b.t().mul_(torch.arange(6, dtype=torch.float64).reshape(3, 2))
    b.sum().backward()

    assert near([[0, 2, 4], [1, 3, 5]], x.grad)


def test_modifying_a_diagonal():
    x, b = node(1, 2, 3, 4, shape=(2, 2))
    b.diagonal().mul_(10)
    b.sum().backward()

    assert near([[10, 1], [1, 10]], x.grad)


def test_base_with_permuted_strides():
    x = leaf(1, 2, 3, 4, 5, 6, shape=(2, 3))
    b = x.t().clone()  # clone keeps the strides of its input
    b[1].mul_(10)
    (b * torch.arange(6, dtype=torch.float64).reshape(3, 2)).sum().backward()

    assert near([[0, 20, 4], [1, 30, 5]], x.grad)


def test_modified_reshape_that_is_a_view_changes_its_base():
    x, b = node(1, 2, 3, 4)
    b.view(2, 2)[0].zero_()
    b.sum().backward()

    assert near([0, 0, 1, 1], x.grad)


def test_second_order_through_a_modified_view():
    x = leaf(1, 2, 3)
    b = x * x
    b[0:2].mul_(x[1:3])
    (g,) = torch.autograd.grad(b.sum(), x, create_graph=True)  # x0^2 x1 + x1^2 x2 + x2^2

    assert near([4, 13, 10], g)
    (h,) = torch.autograd.grad((g * plain(1, 10, 100)).sum(), x)
    # Hessian rows: [2 x1, 2 x0, 0], [2 x0, 2 x2, 2 x1], [0, 2 x1, 2]

    assert near([2 * 2 + 20, 2 + 60 + 400, 40 + 200], h)


def test_grad_fn_of_a_stale_view_is_rebuilt():
    _, b = node(1, 2, 3, 4)
    v = b[1:3]
    b.mul_(2)

    assert v.grad_fn.name() == "AsStridedBackward0"


def test_detached_alias_of_a_modified_tensor_stays_detached():
    _, b = node(1, 2)
    d = b.detach()
    b.mul_(2)

    assert not d.requires_grad and near([2, 4], d * 1)


# ---- versions -------------------------------------------------------------------------------------------------------

def test_modifying_a_saved_result_is_found_at_backward():
    x = leaf(1, 2)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"(?s)version 1.*0|version 0.*1"):
        y.sum().backward()


def test_modifying_a_saved_input_is_found_at_backward():
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    w.add_(1)
    with pytest.raises(RuntimeError, match=r"version"):
        y.sum().backward()


def test_modifying_through_a_view_is_found():
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    w[0] = 1.0
    with pytest.raises(RuntimeError, match=r"version"):
        y.sum().backward()


def test_modifying_through_a_detached_alias_is_found():
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    w.detach().zero_()
    with pytest.raises(RuntimeError, match=r"version"):
        y.sum().backward()


def test_modifying_through_data_is_not_seen():
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    w.data.add_(1)
    y.sum().backward()

    assert near([4, 5], x.grad)


def test_modifying_a_tensor_that_was_not_saved_is_harmless():
    x = leaf(1, 2)
    y = x + 1
    y.mul_(3)
    y.sum().backward()

    assert near([3, 3], x.grad)


def test_multiplying_a_tensor_by_itself_in_place_is_found():
    _, y = node(2, 3)
    y.mul_(y)
    with pytest.raises(RuntimeError, match="version"):
        y.sum().backward()


def test_version_counts_writes_and_is_shared_by_views():
    x = plain(1, 2)
    v = x[0:1]
    v.add_(1)
    x.mul_(2)

    assert (2, 2) == (x._version, v._version)


@pytest.mark.facula_only
def test_version_error_names_both_versions_and_the_forward_line():
    x = leaf(1, 2)
    y = x.exp()  # the line that the message shows
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()

    assert "version 0" in str(caught.value) and "now 1" in str(caught.value)
    notes = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "test_inplace.py" in notes and "exp" in notes


# ---- refusals -------------------------------------------------------------------------------------------------------

def refuse_leaf():
    leaf(1, 2).mul_(2)


def refuse_view_of_leaf():
    leaf(1, 2)[0:1].mul_(2)


def refuse_setitem_on_leaf():
    leaf(1, 2)[0] = 3.0


def refuse_unbind():
    node(1, 2)[1].unbind()[0].mul_(2)


def refuse_split():
    node(1, 2)[1].split(1)[0].mul_(2)


def refuse_chunk():
    node(1, 2)[1].chunk(2)[1].mul_(2)


def refuse_split_after_base_changed():
    b = node(1, 2)[1]
    v = b.split(1)[0]
    b.mul_(2)
    v * 2


def refuse_view_made_without_grad():
    b = node(1, 2)[1]
    with torch.no_grad():
        v = b[0:1]
    v.mul_(2)


def refuse_expanded():
    b = node(1)[1]
    b.expand(3).mul_(2)


def refuse_out():
    torch.mul(leaf(1, 2), 2, out=plain(0, 0))


def refuse_out_that_requires_grad():
    torch.mul(plain(1, 2), 2, out=leaf(1, 2))


def refuse_detach_of_a_view():
    node(1, 2)[1][0:1].detach_()


def refuse_integer_leaf():
    torch.tensor([1, 2]).requires_grad_()


def refuse_integer_factory():
    torch.ones(2, dtype=torch.int64, requires_grad=True)


def refuse_flag_of_a_result():
    node(1, 2)[1].requires_grad_(False)


def refuse_numpy():
    leaf(1, 2).numpy()


REFUSALS = [f for name, f in list(globals().items()) if name.startswith("refuse_")]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda f: f.__name__[7:])
def test_refusals(case):
    with pytest.raises(RuntimeError):
        case()


def test_a_refused_write_changes_nothing():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError):
        x.mul_(2)

    assert near([1, 2], x) and x._version == 0


def test_leaf_may_be_written_without_grad():
    x = leaf(1, 2)
    with torch.no_grad():
        x.mul_(2)
        x[0] = 7.0

    assert near([7, 4], x) and x.is_leaf and x.requires_grad


def test_data_may_be_written_any_time():
    x = leaf(1, 2)
    x.data.mul_(2)

    assert near([2, 4], x) and x.is_leaf and x._version == 0


def test_writing_a_view_without_grad_leaves_history_alone():
    x, b = node(1, 2, 3)
    v = b[0:2]
    with torch.no_grad():
        v.mul_(10)
    b.sum().backward()

    assert near([1, 1, 1], x.grad)


# ---- detach and flags -------------------------------------------------------------------------------------------------

def test_detach_shares_memory_but_not_history():
    x, y = node(1, 2)
    d = y.detach()
    d.add_(1)

    assert not d.requires_grad and d.is_leaf and d.grad_fn is None and near([2, 3], y)


def test_detach_in_place_cuts_the_history():
    x, y = node(1, 2)
    y.detach_()

    assert not y.requires_grad and y.is_leaf and y.grad_fn is None


def test_requires_grad_can_be_switched_on_a_leaf():
    x = plain(1, 2)

    assert x.requires_grad_() is x and x.requires_grad and x.is_leaf
    x.requires_grad = False

    assert not x.requires_grad and x.grad_fn is None


def test_results_are_not_leaves_but_plain_tensors_are():
    x, y = node(1, 2)

    assert x.is_leaf and not y.is_leaf and plain(1).is_leaf and y.detach().is_leaf


def test_in_place_on_an_argument_of_zero_gradient_op():
    x, y = node(1.5, 2.5)
    y.floor_()
    y.sum().backward()

    assert near([0, 0], x.grad)


def test_data_setter_replaces_the_values():
    x = leaf(1, 2)
    x.data = plain(5, 6)
    (x * x).sum().backward()

    assert near([5, 6], x) and near([10, 12], x.grad)


def silent_view(x):
    with torch.no_grad():
        return x[:1]


def test_a_view_made_under_no_grad_requires_grad_and_passes_nothing_on():
    x = leaf(1, 2, 3)
    v = silent_view(x)
    (v * 2).sum().backward()

    assert v.requires_grad and v.is_leaf and v.grad is None and x.grad is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        v.backward()
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad((v * 2).sum(), v)


def test_a_view_made_under_no_grad_is_not_written_to_with_history():
    with pytest.raises(RuntimeError, match="no_grad"):
        silent_view(leaf(1, 2, 3)).mul_(2)


def test_a_view_made_under_no_grad_is_not_used_after_a_write_to_its_base():
    x, y = node(1, 2, 3)
    v = silent_view(y)
    y.mul_(2)

    assert v.requires_grad
    with pytest.raises(RuntimeError, match="no_grad"):
        v * 2
    with torch.no_grad():
        assert near(2.0, v.sum())
    with pytest.raises(RuntimeError, match="no_grad"):
        (v * 2).sum().backward()


def test_pieces_are_not_used_after_a_silent_write_to_their_leaf():
    x = leaf(1, 2, 3)
    a, b, c = x.unbind(0)
    with torch.no_grad():
        x.mul_(2)

        assert near(4.0, b * 1)
    with pytest.raises(RuntimeError, match="[uU]nbind"):
        a * 2


def test_clamp_in_place_keeps_what_its_derivative_needs():
    x, y = node(-3, 0.5, 3)
    y.clamp_(-1, 1)
    y.sum().backward()

    assert near([0, 1, 0], x.grad)


def test_as_strided_beyond_its_view_sends_back_what_the_view_has():
    x, y = node(1, 2, 3, 4)
    y[1].as_strided((2,), (1,), 1).sum().backward()

    assert near([0, 1, 0, 0], x.grad)


READS = {
    "tolist": lambda d: d.tolist(),
    "equal": lambda d: torch.equal(d, d),
    "nonzero": lambda d: d.nonzero(),
    "a copy": lambda d: torch.tensor(d.tolist()),
    "clone": lambda d: d.clone(),
    "numpy": lambda d: d.numpy(),
    "repr": repr,
    "a mask": lambda d: d[d > 0],
    "resize_": lambda d: d.resize_(1),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READS)
def test_a_detached_alias_can_be_read_after_a_write(name):
    x, y = node(1, 2)
    d = y.detach()
    y.mul_(2)

    READS[name](d)
