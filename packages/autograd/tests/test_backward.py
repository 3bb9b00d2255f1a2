"""backward() and grad(): what they return, accumulate, keep and refuse."""

import warnings

import facula
import pytest
from backend import leaf, near, plain, torch


def test_gradient_of_a_product_is_the_other_factor():
    x, y = leaf(2, 3), leaf(5, 7)
    (x * y).sum().backward()

    assert near([5, 7], x.grad) and near([2, 3], y.grad)


def test_gradients_accumulate_over_calls():
    x = leaf(2, 3)
    (x * x).sum().backward()
    (x * x).sum().backward()

    assert near([8, 12], x.grad)


def test_accumulation_is_in_place_when_no_graph_is_made():
    x = leaf(2, 3)
    x.sum().backward()
    first = x.grad
    x.sum().backward()

    assert first is x.grad and near([2, 2], first)


def test_accumulation_with_create_graph_leaves_the_old_gradient_alone():
    x = leaf(2, 3)
    x.sum().backward()
    first = x.grad
    (x * x).sum().backward(create_graph=True)

    assert near([1, 1], first) and near([5, 7], x.grad)


def test_a_shared_input_gets_the_sum_of_its_uses():
    x = leaf(1, 2)
    y = x * 3
    (y * y + y).sum().backward()

    assert near([2 * 9 * 1 + 3, 2 * 9 * 2 + 3], x.grad)


def test_gradients_of_two_leaves_of_a_sum_do_not_share_memory():
    x, y = leaf(1, 2), leaf(3, 4)
    (x + y).sum().backward()
    x.grad.add_(1)

    assert near([2, 2], x.grad) and near([1, 1], y.grad)


def test_gradient_given_to_backward_does_not_become_the_leafs_gradient():
    x = leaf(1, 2)
    g = plain(3, 4)
    x.backward(g)
    x.grad.zero_()

    assert near([3, 4], g)


def test_backward_of_a_leaf_scalar_is_one():
    x = leaf(3).sum().detach().requires_grad_()
    x.backward()

    assert near(1.0, x.grad)


def test_broadcast_operands_get_summed_gradients():
    x, y = leaf(1, 2, 3, shape=(3, 1)), leaf(4, 5)
    (x * y).sum().backward()

    assert near([[9], [9], [9]], x.grad) and near([6, 6], y.grad)


def test_gradient_has_the_dtype_of_the_input_after_promotion():
    x = leaf(1, 2, dtype=torch.float32)
    y = leaf(3, 4)
    (x * y).sum().backward()

    assert x.grad.dtype == torch.float32 and y.grad.dtype == torch.float64
    assert near([3, 4], x.grad)


def test_intermediate_gradients_have_the_dtype_of_their_tensor():
    x = leaf(1, 2, dtype=torch.float32)
    seen = []
    a = x * 2
    a.register_hook(lambda g: seen.append(g.dtype))
    (a * plain(3, 4)).sum().backward()

    assert [torch.float32] == seen and near([6, 8], x.grad)


def test_scalar_backward_needs_no_gradient_but_a_vector_does():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="scalar"):
        (x * 2).backward()
    (x * 2).backward(plain(1, 10))

    assert near([2, 20], x.grad)


def test_backward_of_a_tensor_without_history_is_refused():
    with pytest.raises(RuntimeError, match="does not require grad"):
        plain(1).sum().backward()


@pytest.mark.parametrize("shape", [(4,), (3, 1), ()])
def test_gradient_of_the_wrong_shape_is_refused(shape):
    y = leaf(1, 2, 3) * 2
    with pytest.raises(RuntimeError, match="shape"):
        y.backward(torch.ones(shape, dtype=torch.float64))


def test_backward_with_inputs_fills_only_those():
    x, y = leaf(2), leaf(3)
    (x * y).sum().backward(inputs=[x])

    assert near([3], x.grad) and y.grad is None


def test_backward_with_a_non_leaf_input_fills_its_grad():
    x = leaf(2)
    a = x * 3
    (a * a).sum().backward(inputs=[a])

    assert near([12], a.grad) and x.grad is None


def test_backward_refuses_empty_inputs():
    with pytest.raises(RuntimeError, match="inputs"):
        leaf(2).sum().backward(inputs=[])


def test_module_level_backward_takes_several_tensors():
    x = leaf(1, 2)
    torch.autograd.backward([x.sum(), x * 2], [None, plain(1, 1)])

    assert near([3, 3], x.grad)


def test_second_backward_is_refused_when_buffers_were_freed():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_second_backward_works_where_nothing_was_saved():
    x = leaf(1, 2)
    y = (x + 1).sum()
    y.backward()
    y.backward()

    assert near([2, 2], x.grad)


def test_retain_graph_allows_a_second_backward():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()

    assert near([4, 8], x.grad)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_create_graph_gives_a_differentiable_gradient():
    x = leaf(2, 3)
    (x * x * x).sum().backward(create_graph=True)

    assert x.grad.requires_grad and near([12, 27], x.grad)


def test_grad_leaves_dot_grad_alone():
    x = leaf(2, 3)
    (g,) = torch.autograd.grad((x * x).sum(), x)

    assert near([4, 6], g) and x.grad is None and not g.requires_grad


def test_third_derivative_through_grad():
    x = leaf(2)
    y = x * x * x * x
    for expected in (32, 48, 48):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)

        assert near([expected], y)


def test_grad_takes_grad_outputs():
    x = leaf(2, 3)
    (g,) = torch.autograd.grad(x * x, x, plain(1, 10))

    assert near([4, 60], g)


def test_grad_outputs_are_differentiable():
    x, v = leaf(2, 3), leaf(1, 1)
    (g,) = torch.autograd.grad(x * x, x, v, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), v)

    assert near([4, 6], h)


def test_grad_of_several_outputs_sums():
    x = leaf(2)
    (g,) = torch.autograd.grad([x.sum(), (x * x).sum()], [x])

    assert near([5], g)


def test_grad_with_respect_to_an_intermediate():
    x = leaf(2)
    a = x * 3
    g = torch.autograd.grad((a * a).sum(), [a, x])

    assert near([12], g[0]) and near([36], g[1])


def test_grad_of_a_tensor_with_respect_to_itself_is_the_grad_output():
    x = leaf(2)
    a = x * 3
    (g,) = torch.autograd.grad(a, a, plain(5))

    assert near([5], g)


def test_unused_input_is_refused_unless_allowed():
    x, w = leaf(2), leaf(3)
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.autograd.grad((x * 2).sum(), [w])
    gx, gw = torch.autograd.grad((x * 2).sum(), [x, w], allow_unused=True)

    assert near([2], gx) and gw is None


def test_materialize_grads_gives_zeros_for_unused_inputs():
    x, w = leaf(2), leaf(3, 4)
    (gw,) = torch.autograd.grad((x * 2).sum(), [w], materialize_grads=True)

    assert near([0, 0], gw)


def test_materialize_grads_contradicts_allow_unused_false():
    x = leaf(2)
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad((x * 2).sum(), [x], allow_unused=False, materialize_grads=True)


def test_grad_refuses_inputs_that_do_not_require_grad():
    x = leaf(2)
    with pytest.raises(RuntimeError, match="not require grad"):
        torch.autograd.grad((x * 2).sum(), [plain(1)])


def test_grad_frees_buffers_unless_told_otherwise():
    x = leaf(2)
    y = (x * x).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, x)


def test_grad_leaves_parts_of_the_graph_that_it_does_not_need_intact():
    x, w = leaf(2), leaf(3)
    side = w * w
    y = (x * x + side).sum()
    torch.autograd.grad(y, x)
    side.sum().backward()

    assert near([6], w.grad)


def test_is_grads_batched_maps_over_the_first_dimension():
    x = leaf(2, 3)
    (g,) = torch.autograd.grad(x * x, x, torch.eye(2, dtype=torch.float64), is_grads_batched=True)

    assert near([[4, 0], [0, 6]], g)


def test_hessian_vector_product():
    x = leaf(1, 2, 3)
    (g,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * plain(1, 10, 100)).sum(), x)

    assert near([6, 120, 1800], h)


def test_gradients_do_not_flow_into_tensors_that_do_not_require_them():
    x, c = leaf(1, 2), plain(3, 4)
    (x * c).sum().backward()

    assert c.grad is None and near([3, 4], x.grad)


def test_assigning_grad_checks_it():
    x = leaf(1, 2)
    for bad, error in ((torch.ones(3, dtype=torch.float64), RuntimeError), (torch.ones(2), RuntimeError), (3, TypeError), (x, RuntimeError)):
        with pytest.raises(error):
            x.grad = bad
    x.grad = plain(5, 6)
    x.sum().backward()

    assert near([6, 7], x.grad)
    x.grad = None

    assert x.grad is None


def test_deep_use_of_one_tensor_runs_each_node_once():
    x = leaf(1)
    y = x * 1
    for _ in range(60):  # 2**60 paths
        y = y + y
    y.sum().backward()

    assert near([2.0**60], x.grad)


def test_complex_gradient_is_the_conjugate_wirtinger_derivative():
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128).requires_grad_()
    (z * z.conj()).real.sum().backward()

    assert near([2, 6], z.grad.real) and near([4, -2], z.grad.imag)


def test_holomorphic_rule_is_conjugated():
    z = torch.tensor([1 + 2j], dtype=torch.complex128).requires_grad_()
    (z * z).backward(torch.tensor([1 + 0j], dtype=torch.complex128))

    assert near([2], z.grad.real) and near([-4], z.grad.imag)


def test_real_input_of_a_complex_op_gets_a_real_gradient():
    x = leaf(2, 3)
    z = torch.tensor([1j, 2 + 1j], dtype=torch.complex128)
    (x * z).real.sum().backward()

    assert x.grad.dtype == torch.float64 and near([0, 2], x.grad)


def test_complex_output_needs_an_explicit_gradient():
    z = torch.tensor(1 + 2j, dtype=torch.complex128).requires_grad_()
    with pytest.raises(RuntimeError, match="real"):
        (z * z).backward()


def test_variable_makes_tensors_and_every_tensor_is_one():
    x = facula.ones(2)
    v = facula.autograd.Variable(x, requires_grad=True)
    (v * 3).sum().backward()

    assert [3.0, 3.0] == v.grad.tolist()
    assert isinstance(x, facula.autograd.Variable) and not isinstance(3, facula.autograd.Variable)
    assert not x.requires_grad and v.data_ptr() == x.data_ptr()
    with pytest.warns(UserWarning, match="volatile"):
        facula.autograd.Variable(x, volatile=True)
    with pytest.raises(TypeError, match="list"):
        facula.autograd.Variable([1.0])


def test_gradients_are_cast_to_the_dtype_that_a_leaf_wants():
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    (x * 2).sum().backward()

    assert (torch.float64, [4.0, 4.0]) == (x.grad.dtype, x.grad.tolist())


def test_the_gradients_dtype_can_be_set_before_a_gradient_is_wanted():
    x = torch.ones(2)
    x.grad_dtype = torch.float64
    x.requires_grad_()
    (x * 2).sum().backward()

    assert torch.float64 == x.grad.dtype == x.grad_dtype


def test_the_gradients_dtype_belongs_to_leaves():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        (x * 2).grad_dtype
    with pytest.raises(RuntimeError):
        (x * 2).grad_dtype = torch.float64
    with pytest.raises(RuntimeError):
        x.grad_dtype = 3
    x.grad = torch.ones(2)
    with pytest.raises(RuntimeError):
        x.grad_dtype = torch.float64
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(2, dtype=torch.float64)
    x.grad, x.grad_dtype = None, None
    x.grad = torch.ones(2, dtype=torch.float64)

    assert x.grad_dtype is None


def test_what_is_no_tensor_has_no_gradient():
    with pytest.raises(TypeError):
        torch.autograd.backward(3)
    with pytest.raises(TypeError):
        torch.autograd.grad(3, torch.ones(1, requires_grad=True))


def test_the_data_of_a_tensor_with_gradients_are_floats():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        x.data = torch.ones(3, dtype=torch.long)
    x.data = torch.ones(3)

    assert (3,) == tuple(x.shape)


READS = [
    ((4, 5), 0, [[0, 1, 0], [3, 3, 2]]),
    ((4, 5), -1, [[0, 1, 0], [4, 3, 2]]),
    ((4,), 0, [1, 1, 3]),
    ((3,), 0, 2),
    ((), 0, [0]),
    ((), 0, 0),
    ((3, 4), 0, []),
]


@pytest.mark.parametrize("shape,dim,index", READS)
def test_gather_lists_what_it_read(shape, dim, index):
    x, index = torch.randn(shape, dtype=torch.float64, requires_grad=True), torch.tensor(index, dtype=torch.int64)
    weights = torch.arange(1.0, 1 + index.numel(), dtype=torch.float64).reshape(index.shape)
    (dense,) = torch.autograd.grad(torch.gather(x, dim, index), x, weights) if index.numel() else (torch.zeros_like(x),)

    (sparse,) = torch.autograd.grad(x.gather(dim, index, sparse_grad=True), x, weights)

    assert sparse.is_sparse
    assert (len(shape), index.numel()) == sparse._indices().shape
    assert torch.equal(weights.reshape(-1), sparse._values())
    assert torch.equal(dense, sparse.to_dense())


def test_the_old_name_of_the_weights_warns():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="grad_tensors"):
        torch.autograd.backward(x.sum(), grad_variables=torch.tensor(3.0))

    assert [3.0, 3.0] == x.grad.tolist()


def test_a_graph_of_gradients_is_warned_of_once_in_a_program(monkeypatch):
    from facula.tensor_core import _warned

    monkeypatch.setattr(_warned, "_given", set())
    heard = []
    for _ in range(2):
        x = facula.ones(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            x.sum().backward(create_graph=True)
        heard.append(len(said))

    assert [1, 0] == heard
