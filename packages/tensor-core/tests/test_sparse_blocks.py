"""Compressed sparse tensors of a batch, in blocks (BSR, BSC) and with dense dims: through conversions, copies, files and ops."""

import copy
import io
import pickle

import pytest

import facula

LAYOUTS = [facula.sparse_csr, facula.sparse_csc, facula.sparse_bsr, facula.sparse_bsc]


def matrix():
    return facula.tensor([[0.0, 2.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]])


def inputs():
    d = matrix()
    return [(d, 0), (facula.stack([d, 2 * d]), 0), (facula.stack([d, 3 * d], -1), 1), (facula.stack([facula.stack([d, 3 * d], -1)] * 2), 1)]


def made(x, layout, dense_dim=0, block=(1, 2)):
    return x.to_sparse(layout=layout, blocksize=block if layout in LAYOUTS[2:] else None, dense_dim=dense_dim)


def through_a_file(s):
    file = io.BytesIO()
    facula.save(s, file)
    file.seek(0)
    return facula.load(file)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)), through_a_file, lambda s: s.clone(), lambda s: s.to_sparse()], ids=["deepcopy", "pickle", "file", "clone", "coo"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_elements_survive(layout, how):
    for x, dense_dim in inputs():
        assert facula.equal(how(made(x, layout, dense_dim)).to_dense(), x)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_ops_are_those_of_the_strided_tensor(layout):
    for x, dense_dim in inputs():
        s = made(x, layout, dense_dim)

        for op in (facula.sin, facula.neg, lambda t: t * 2, lambda t: t / 2, lambda t: t + t, lambda t: t * t, lambda t: t.double(), facula.zeros_like):
            assert facula.equal(op(s).to_dense(), op(x))
            assert op(s).layout is layout


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 2, 4), (3, 0, 4), (2, 2, 0)])
def test_nothing_is_listed_of_nothing(layout, shape):
    x = facula.zeros(shape)
    s = made(x, layout, 0, (2, 2))

    assert s._nnz() == 0 and facula.equal(s.to_dense(), x) and facula.equal(s.to_sparse().to_dense(), x)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_gradients_go_through_the_values(layout):
    x = matrix().requires_grad_()
    weight = facula.arange(8.0).reshape(2, 4)
    (made(x, layout).to_dense() * weight).sum().backward()
    listed = made(matrix(), layout)

    assert facula.equal(x.grad, weight * (listed._with(facula.ones_like(listed.values())).to_dense() != 0))


@pytest.mark.parametrize("build,fact", [
    (lambda: facula.sparse_bsr_tensor([0, 2], [1], [[[2.0]]], (1, 2)), "rise"),
    (lambda: facula.sparse_bsr_tensor([0, 1], [-1], [[[2.0]]], (1, 2)), "outside"),
    (lambda: facula.sparse_bsr_tensor([0, 1], [2], [[[2.0]]], (1, 2)), "outside"),
    (lambda: facula.sparse_bsr_tensor([0, 1], [1], [[[2.0]]], (2, 2)), "size"),
    (lambda: facula.sparse_bsr_tensor([0, 1], [1, 0], [[[2.0]]], (1, 2)), "common"),
    (lambda: facula.sparse_bsr_tensor([], [], facula.zeros(0, 1, 1)), "int32"),
    (lambda: facula.sparse_csr_tensor([[0, 1], [0, 2]], [[0], [0]], [[1.0], [2.0]], (2, 1, 2)), "rise"),
    (lambda: matrix().to_sparse_bsr((3, 3)), "divisible"),
    (lambda: matrix().to_sparse_bsr((0, 1)), "divisible"),
])  # fmt: skip
def test_parts_that_do_not_fit_are_refused(build, fact):
    with pytest.raises(RuntimeError, match=fact):
        build()


@pytest.mark.parametrize("convert", [lambda x: x.to_sparse_csr(), lambda x: x.to_sparse_csc(), lambda x: x.to_sparse_bsr((1, 2)), lambda x: x.to_sparse_bsc((1, 2))])
def test_written_in_place_it_lists_what_is_there_then(convert):
    """Pointers, indices and values fit each other, whatever the other operand lists."""
    x, y = facula.tensor([[0.0, 2, 0, 0], [3, 0, 4, 0]]), facula.tensor([[1.0, 5, 0, 0], [0, 0, 6, 7]])
    for write in (lambda a, b: a.add_(b), lambda a, b: a.sub_(b), lambda a, b: a.mul_(b)):
        for other in (convert(y), y.to_sparse()):
            dense, sparse = write(x.clone(), y), write(convert(x), other)
            assert sparse.layout is convert(x).layout and facula.equal(sparse.to_dense(), dense)
            again = facula.sparse_compressed_tensor(sparse._p, sparse._q, sparse.values(), sparse.shape, layout=sparse.layout, check_invariants=True)
            assert facula.equal(again.to_dense(), dense)


def test_a_gradient_of_other_blocks_is_looked_up_by_place():
    values = facula.ones(1, 1, 2).requires_grad_()
    x = facula.sparse_bsr_tensor(facula.tensor([0, 1]), facula.tensor([1]), values, (1, 4))
    (x * 3).backward(facula.tensor([[7.0, 0, 5, 6]]).to_sparse_bsr((1, 2)))
    assert values.grad.tolist() == [[[15.0, 18.0]]]
