"""Sparse tensors in coordinate form, beside the dense tensors that they stand for."""

import copy
import pickle

import facula
import pytest

INDICES, VALUES = [[0, 2, 0], [1, 0, 1]], [1.0, 2.0, 3.0]
DENSE = [[0.0, 4.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]


def made(**options):
    return facula.sparse_coo_tensor(INDICES, VALUES, (3, 3), **options)


def rows():
    return facula.sparse_coo_tensor([[2, 0, 2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (3, 2))


def test_values_of_equal_indices_add_up():
    assert DENSE == made().to_dense().tolist()
    assert [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]] == rows().to_dense().tolist()


def test_coalesce_lists_each_index_once_in_order():
    c = made().coalesce()

    assert [[0, 2], [1, 0]] == c.indices().tolist()
    assert [4.0, 2.0] == c.values().tolist()
    assert c.is_coalesced() and c.coalesce() is c and not made().is_coalesced()


def test_a_sparse_tensor_describes_itself():
    s = rows()

    assert (facula.sparse_coo, True, (3, 2), 2, 6, 3) == (s.layout, s.is_sparse, tuple(s.shape), s.dim(), s.numel(), s._nnz())
    assert (1, 1, facula.float32, False) == (s.sparse_dim(), s.dense_dim(), s.dtype, s.requires_grad)
    assert "size=(3, 2), nnz=3, layout=" in repr(s)


def test_the_size_defaults_to_the_smallest():
    assert (3, 2) == tuple(facula.sparse_coo_tensor(INDICES, VALUES).shape)
    assert (2, 3) == tuple(facula.sparse_coo_tensor((2, 3)).shape)


def dense(x):
    return x.to_dense().tolist() if x.is_sparse else x.tolist()


ONE = facula.ones(3, 3)
CASES = {
    "add": lambda s: s + s, "add to dense": lambda s: ONE + s, "alpha": lambda s: facula.add(ONE, s, alpha=-2), "sub": lambda s: s - 2 * s, "neg": lambda s: -s,
    "times a number": lambda s: s * 3, "over a number": lambda s: s / 4, "product": lambda s: s * s, "with dense": lambda s: s * (ONE * 5),
    "pow": lambda s: s**2, "sqrt": lambda s: s.sqrt(), "abs": lambda s: (-s).abs(), "sum": lambda s: s.sum(), "transpose": lambda s: s.t(),
    "matmul": lambda s: s @ facula.arange(6.0).reshape(3, 2), "from the right": lambda s: facula.arange(6.0).reshape(2, 3) @ s, "vector": lambda s: s @ facula.arange(3.0),
    "norm": lambda s: s.norm(), "to float64": lambda s: s.double(), "clone": lambda s: s.clone(), "detach": lambda s: s.detach(),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_an_op_gives_what_it_gives_on_the_dense_tensor(case):
    expected = CASES[case](made().to_dense())
    actual = CASES[case](made())

    assert expected.tolist() == dense(actual)


def test_dense_tensors_take_sparse_ones_in_place():
    x, y = facula.ones(3, 3), facula.ones(3, 3).t()
    x.add_(made(), alpha=2)
    y.add_(made())

    assert (facula.ones(3, 3) + 2 * facula.tensor(DENSE)).tolist() == x.tolist()
    assert (facula.ones(3, 3) + facula.tensor(DENSE)).tolist() == y.tolist()


def test_sparse_tensors_change_in_place():
    s = made()
    s.mul_(2).add_(made()).div_(3)

    assert DENSE == s.to_dense().tolist()
    assert 0 == s.zero_()._nnz() and (3, 3) == tuple(s.shape)


def test_dense_to_sparse_and_back():
    x = facula.tensor(DENSE)

    assert DENSE == x.to_sparse().to_dense().tolist() and 2 == x.to_sparse()._nnz()
    assert DENSE == x.to_sparse(1).to_dense().tolist() and 1 == x.to_sparse(1).dense_dim()
    assert [4.0, 2.0] == x.sparse_mask(made().coalesce()).values().tolist()


def test_sums_over_dims():
    assert [2.0, 4.0, 0.0] == dense(facula.sparse.sum(made(), 0))
    assert [7.0, 0.0, 14.0] == dense(facula.sparse.sum(rows(), 1))
    assert [9.0, 12.0] == dense(facula.sparse.sum(rows(), 0))


def test_copies_and_pickles_are_equal_and_apart():
    s = rows()
    for twin in (copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        twin.mul_(0)
        assert 6.0 == s.to_dense()[2, 0].item()


def test_gradients_go_through_the_values():
    pytest.importorskip("facula.autograd")
    v = facula.tensor(VALUES, requires_grad=True)
    (facula.sparse_coo_tensor(INDICES, v, (3, 3)).to_dense() ** 2).sum().backward()

    assert [8.0, 4.0, 8.0] == v.grad.tolist()


REFUSED = [
    (lambda: made().indices(), RuntimeError, "coalesce"),
    (lambda: made().exp(), NotImplementedError, "exp"),
    (lambda: made() + ONE, RuntimeError, "add"),
    (lambda: made() + facula.sparse_coo_tensor((2, 2)), RuntimeError, "(2, 2)"),
    (lambda: made().numpy(), TypeError, "to_dense"),
    (lambda: ONE.coalesce(), RuntimeError, "Strided"),
    (lambda: facula.sparse_coo_tensor([[0], [9]], [1.0], (2, 2)), RuntimeError, "9"),
    (lambda: facula.sparse_coo_tensor([[-1]], [1.0], (2,)), RuntimeError, "-1"),
    (lambda: facula.sparse_coo_tensor([[0, 1]], [1.0], (2,)), RuntimeError, "nnz"),
    (lambda: facula.sparse_coo_tensor([[0]], [1.0], (2, 2)), RuntimeError, "dimensions"),
    (lambda: made().data_ptr(), RuntimeError, "storage"),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_a_sparse_tensor_cannot_do_is_refused(k):
    call, kind, fact = REFUSED[k]
    with pytest.raises(kind) as error:
        call()

    assert fact in str(error.value)


LEFT = [[0.0, 2.0], [3.0, 0.0]]
RIGHT = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def left():
    return facula.tensor(LEFT).to_sparse()


def test_products_of_a_sparse_and_a_dense_matrix_stay_sparse():
    expected = (facula.tensor(LEFT) @ facula.tensor(RIGHT)).tolist()
    right = facula.tensor(RIGHT)

    for product in (facula.smm(left(), right), left().smm(right), facula.hspmm(left(), right)):
        assert product.is_sparse and expected == product.to_dense().tolist()
    assert (1, 1) == (facula.hspmm(left(), right).sparse_dim(), facula.hspmm(left(), right).dense_dim())
    total = facula.sspaddmm(right.to_sparse(), left(), right, beta=2, alpha=3)
    assert (2 * right + 3 * facula.tensor(expected)).tolist() == total.to_dense().tolist() and not total.is_coalesced()
    assert total.to_dense().tolist() == right.to_sparse().sspaddmm(left(), right, beta=2, alpha=3).to_dense().tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: facula.smm(facula.tensor(LEFT), facula.tensor(RIGHT)),
        lambda: facula.smm(left(), left()),
        lambda: facula.smm(left(), facula.ones(3, 2)),
        lambda: facula.hspmm(left(), facula.ones(2)),
        lambda: facula.sspaddmm(facula.ones(2, 3), left(), facula.tensor(RIGHT)),
        lambda: facula.sspaddmm(left(), left(), facula.tensor(RIGHT)),
        lambda: facula.ones(2).sparse_resize_((2,), 1, 0),
        lambda: left().sparse_resize_((1, 1), 2, 0),
        lambda: left().sparse_resize_((2, 2, 4), 2, 1),
        lambda: left().sparse_resize_((2, 2), 3, 0),
        lambda: facula.sparse.softmax(facula.ones(2, 2), 1),
    ],
)
def test_what_has_no_sparse_meaning_is_refused(call):
    with pytest.raises(RuntimeError):
        call()


def test_a_sparse_tensor_grows_in_place():
    x = left()

    assert x.sparse_resize_((3, 4), 2, 0) is x and (3, 4) == tuple(x.to_dense().shape)
    assert x.sparse_resize_and_clear_((1, 1), 2, 0) is x and (0, (1, 1)) == (x._nnz(), tuple(x.shape))
    assert x.to_sparse_coo() is x and facula.ones(2).to_sparse_coo().is_sparse


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_is_over_the_elements_that_are_listed(dim):
    dense = facula.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 3.0]])
    hidden = facula.where(dense == 0, -float("inf"), dense)

    expected = hidden.softmax(dim).tolist()
    assert all(pytest.approx(e) == a for e, a in zip(expected, facula.sparse.softmax(dense.to_sparse(), dim).to_dense().tolist()))
    logs = facula.sparse.log_softmax(dense.to_sparse(), dim)
    assert pytest.approx(hidden.log_softmax(dim)[dense != 0].tolist()) == logs.values().tolist()


def test_softmax_over_a_dense_dim():
    s = rows().coalesce()

    assert s.values().softmax(1).tolist() == facula.sparse.softmax(s, 1).values().tolist()


def test_invariants_are_a_switch():
    check = facula.sparse.check_sparse_tensor_invariants

    assert not check.is_enabled()
    with check():
        assert check.is_enabled()
    assert check()(check.is_enabled)() and not check.is_enabled()
    with pytest.raises(RuntimeError), check() as _, check() as __:
        again = check()
        with again, again:
            pass


def test_gradcheck_takes_sparse_tensors():
    autograd = pytest.importorskip("facula.autograd")
    x = facula.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=facula.float64).to_sparse().requires_grad_()
    check = facula.sparse.as_sparse_gradcheck(autograd.gradcheck)

    assert check(lambda s: s * s, (x,), masked=True)
    assert check(lambda s: s.to_dense().sin(), (x,))
