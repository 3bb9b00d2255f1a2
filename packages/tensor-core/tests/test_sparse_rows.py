"""Sparse tensors chosen from and joined, and those whose rows or columns are compressed, beside the dense ones they stand for."""

import io

import facula
import pytest

DENSE = [[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]


def dense():
    return facula.tensor(DENSE)


def plain(x):
    return x.tolist() if x.layout is facula.strided else x.to_dense().tolist()


CASES = {
    "row": lambda x: x[1], "from the end": lambda x: x[-1], "element": lambda x: x[1, 2], "column": lambda x: x[:, 1], "ellipsis": lambda x: x[..., 0],
    "new dim": lambda x: x[None], "rows": lambda x: x.index_select(0, facula.tensor([1, 1, 0])), "columns": lambda x: x.index_select(1, facula.tensor([2, 0])),
    "cat": lambda x: facula.cat([x, x]), "cat columns": lambda x: facula.cat([x, x], 1), "stack": lambda x: facula.stack([x, x]), "sum rows": lambda x: x.sum(0),
    "sum columns": lambda x: x.sum(1), "kept": lambda x: x.sum(0, keepdim=True), "permuted": lambda x: x.permute(1, 0), "zeros": lambda x: facula.zeros_like(x),
    "spmm": lambda x: facula.spmm(x, facula.ones(3, 2)), "asin": lambda x: (x / 9).asin(), "in place": lambda x: x.clone().neg_(),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_choice_is_what_it_is_of_the_dense_tensor(case):
    assert plain(CASES[case](dense())) == plain(CASES[case](dense().to_sparse()))


COMPRESSED = {
    "times a number": lambda x: x * 2, "sum": lambda x: x + x, "neg": lambda x: -x, "matmul": lambda x: x @ facula.ones(3, 2), "vector": lambda x: x @ facula.ones(3),
    "from the right": lambda x: facula.ones(4, 2) @ x, "transposed": lambda x: x.t(), "both": lambda x: x @ x.t(), "abs": lambda x: x.abs(), "total": lambda x: x.sum(),
    "float64": lambda x: x.double(), "clone": lambda x: x.clone(),
}  # fmt: skip


@pytest.mark.parametrize("layout", ["to_sparse_csr", "to_sparse_csc"])
@pytest.mark.parametrize("case", COMPRESSED)
def test_an_op_on_a_compressed_matrix_gives_what_it_gives_on_the_dense_one(case, layout):
    assert plain(COMPRESSED[case](dense())) == plain(COMPRESSED[case](getattr(dense(), layout)()))


def test_a_compressed_matrix_describes_itself():
    c = dense().to_sparse_csr()

    assert (facula.sparse_csr, False, True, 3, (2, 3)) == (c.layout, c.is_sparse, c.is_sparse_csr, c._nnz(), tuple(c.shape))
    assert ([0, 1, 3], [1, 0, 2], [2.0, 3.0, 4.0]) == (c.crow_indices().tolist(), c.col_indices().tolist(), c.values().tolist())
    assert ([0, 1, 3], facula.sparse_csc) == (c.t().ccol_indices().tolist(), c.t().layout)
    assert DENSE == c.to_sparse().to_dense().tolist() == c.to_sparse_csc().to_dense().tolist()
    assert "crow_indices=tensor([0, 1, 3])" in repr(c) and c.to_sparse_csr() is c


def test_both_kinds_go_through_files():
    file = io.BytesIO()
    facula.save([dense().to_sparse(), dense().to_sparse_csr(), dense().to_sparse_csc()], file)
    file.seek(0)

    assert [(facula.sparse_coo, DENSE), (facula.sparse_csr, DENSE), (facula.sparse_csc, DENSE)] == [(t.layout, t.to_dense().tolist()) for t in facula.load(file)]


REFUSED = [
    (lambda: facula.sparse_csr_tensor([0, 1, 2], [1, 0, 2], [2.0, 3.0, 4.0]), "rise"),
    (lambda: facula.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [2.0, 3.0]), "values"),
    (lambda: facula.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [2.0, 3.0, 4.0], (2, 2)), "outside"),
    (lambda: dense().to_sparse_csr().indices(), "SparseCsr"),
    (lambda: dense().to_sparse_csr().ccol_indices(), "SparseCsr"),
    (lambda: dense().to_sparse_csr().stride(), "strides"),
    (lambda: facula.tensor([[[1, 0]], [[1, 1]]]).to_sparse_csr(), "same number"),
    (lambda: facula.cat([dense().to_sparse(), dense()]), "dense"),
    (lambda: facula.ones_like(dense().to_sparse()), "sparse_coo"),
    (lambda: dense().to_sparse()[0:1], "slice"),
    (lambda: dense().to_sparse().exp_(), "exp_"),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_has_no_meaning_is_refused(k):
    call, fact = REFUSED[k]
    with pytest.raises(RuntimeError) as error:  # NotImplementedError is one
        call()

    assert fact in str(error.value)
