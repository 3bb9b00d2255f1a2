"""Rows of networks and of matrices under vmap: all examples at once, with what each of them gives alone."""

import math

import facula
import facula.nn.functional as F
import pytest

F64 = facula.float64


def same(a, b):
    return facula.testing.assert_close(a, b, rtol=1e-9, atol=1e-12) is None


X, W = (3, 2, 4, 6, 6), (4, 2, 3, 3)  # of three examples: a batch of two with four channels; weights of two groups
ROWS = {
    "conv": (lambda x: F.conv2d(x, one(*W), groups=2, padding=1), X), "conv of many weights": (lambda x, w, b: F.conv2d(x, w, b, 2, groups=2), X, (3, *W), (3, 4)),
    "conv of one input": (lambda w: F.conv2d(one(2, 4, 6, 6), w, dilation=2, groups=2), (3, *W)), "conv of many biases": (lambda b: F.conv2d(one(2, 4, 6, 6), one(*W), b, groups=2), (3, 4)),
    "conv1d": (lambda x, w: F.conv1d(x, w), (3, 2, 4, 6), (3, 5, 4, 3)), "conv3d": (lambda x: F.conv3d(x, one(2, 4, 2, 2, 2)), (3, 1, 4, 3, 3, 3)),
    "transposed": (lambda x: F.conv_transpose2d(x, one(4, 3, 2, 2), stride=2, output_padding=1, groups=2), X),
    "transposed with many weights": (lambda x, w: F.conv_transpose2d(x, w, stride=2, groups=2), X, (3, 4, 3, 2, 2)),
    "max_pool": (lambda x: F.max_pool2d(x, 2, padding=1), X), "max_pool of one": (lambda x: F.max_pool2d(x, 3, 1), X[:1] + X[2:]), "avg_pool": (lambda x: F.avg_pool2d(x, 2, 1, ceil_mode=True), X),
    "adaptive_avg_pool": (lambda x: F.adaptive_avg_pool2d(x, (2, 4)), X), "adaptive_max_pool": (lambda x: F.adaptive_max_pool2d(x, 4), X),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), X), "group_norm": (lambda x: F.group_norm(x, 2), X),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (3, 2, 2, 5, 4), (3, 2, 2, 6, 4), (3, 2, 2, 6, 4)),
    "one key": (lambda q: F.scaled_dot_product_attention(q, one(2, 2, 5, 4), one(2, 2, 5, 4), is_causal=True), (3, 2, 2, 5, 4)),
    "cross_entropy": (lambda x: F.cross_entropy(x, TARGET, ignore_index=1, label_smoothing=0.1), (3, 4, 5)),
    "weights": (lambda x: F.cross_entropy(x, TARGET, one(5).abs(), ignore_index=1), (3, 4, 5)), "sum": (lambda x: F.cross_entropy(x, TARGET, reduction="sum"), (3, 4, 5)),
    "each": (lambda x: F.cross_entropy(x, TARGET, reduction="none", ignore_index=1), (3, 4, 5)), "places": (lambda x: F.cross_entropy(x, TARGET.view(2, 2)), (3, 2, 5, 2)),
    "nll": (lambda x: F.nll_loss(x.log_softmax(-1), TARGET, one(5).abs(), ignore_index=1), (3, 4, 5)), "nll of each": (lambda x: F.nll_loss(x, TARGET, reduction="none"), (3, 4, 5)),
    "inverse": (lambda x: facula.linalg.inv(x + 5 * facula.eye(4, dtype=F64)), (3, 4, 4)), "cholesky": (lambda x: facula.linalg.cholesky(x @ x.mT + facula.eye(4, dtype=F64)), (3, 2, 4, 4)),
    "svdvals": (lambda x: facula.linalg.svdvals(x), (3, 4, 5)), "eigvalsh": (lambda x: facula.linalg.eigvalsh(x @ x.mT), (3, 4, 4)), "det": (lambda x: facula.linalg.det(x), (3, 4, 4)),
    "solve": (lambda x, y: facula.linalg.solve(x + 5 * facula.eye(4, dtype=F64), y), (3, 4, 4), (3, 4, 2)), "one right side": (lambda x: facula.linalg.solve(x + 5 * facula.eye(4, dtype=F64), one(4, 2)), (3, 4, 4)),
    "triangular": (lambda x, y: facula.linalg.solve_triangular(x.tril() + 5 * facula.eye(4, dtype=F64), y, upper=False), (3, 4, 4), (3, 4, 2)),
    "slogdet": (lambda x: facula.linalg.slogdet(x)[1], (3, 4, 4)), "qr": (lambda x: facula.linalg.qr(x)[1], (3, 4, 3)), "lu": (lambda x: facula.linalg.lu_factor(x)[0], (3, 4, 4)),
    "rows": (lambda x: x[[2, 0, 2]], (3, 4, 5)), "columns": (lambda x: x[:, [1, 1], facula.tensor([[0], [2]])], (3, 4, 3, 5)), "places of one": (lambda x: one(5, 5)[TARGET] * x, (3, 1)),
    "tril": (lambda x: x.tril(1), (3, 4, 5)), "cdist": (lambda x, y: facula.cdist(x, y), (3, 4, 5), (3, 6, 5)), "rfft": (lambda x: facula.fft.rfft(x, dim=0).abs(), (3, 5, 4)),
}  # fmt: skip
TARGET = facula.tensor([0, 4, 1, 2])


def one(*shape):
    """The same numbers for each example."""
    return (facula.arange(math.prod(shape), dtype=F64) * 1.7).sin().view(shape)


@pytest.mark.parametrize("which", ROWS)
def test_rows_of_networks_take_all_examples_at_once(which, monkeypatch):
    from facula.autograd.func._vmap import Level

    f, *shapes = ROWS[which]
    inputs = [facula.randn(*shape, dtype=F64) for shape in shapes]
    gradient = facula.func.grad(lambda *a: f(*a).square().sum(), tuple(range(len(inputs))))
    values = [f(*(x[k] for x in inputs)) for k in range(3)]
    slopes = [gradient(*(x[k] for x in inputs)) for k in range(3)]
    taken = []
    monkeypatch.setattr(Level, "one_by_one", lambda self, function, ones, before=Level.one_by_one: (taken.append(function), before(self, function, ones))[1])

    assert same(facula.stack(values), facula.func.vmap(f)(*inputs)) and [] == taken
    assert same([facula.stack(column) for column in zip(*slopes)], list(facula.func.vmap(gradient)(*inputs)))


def test_gradients_of_many_samples_take_all_at_once(monkeypatch):
    from facula.autograd.func._vmap import Level

    monkeypatch.setattr(Level, "one_by_one", lambda self, function, ones: pytest.fail(str(function)))
    p = {"w": one(4, 1, 3, 3), "b": one(4), "v": one(5, 16)}

    def loss(p, x, y):
        return F.cross_entropy(F.linear(F.max_pool2d(F.conv2d(x[None], p["w"], p["b"]), 2).relu().flatten(1), p["v"]), y[None])

    x, y = facula.randn(3, 1, 6, 6, dtype=F64), facula.tensor([0, 4, 2])
    found = facula.func.vmap(facula.func.grad(loss), (None, 0, 0))(p, x, y)

    for k in range(3):
        expected = facula.func.grad(loss)(p, x[k], y[k])
        assert all(same(expected[name], found[name][k]) for name in p)


def test_each_example_has_its_own_indices(monkeypatch):
    from facula.autograd.func._vmap import Level

    before = Level.one_by_one
    monkeypatch.setattr(Level, "one_by_one", lambda self, function, ones: pytest.fail(str(function)))
    x, i, j = facula.randn(3, 4, 5, dtype=F64), facula.tensor([[0, 3], [1, 1], [2, 0]]), facula.tensor([[4], [0], [2]])
    programs = {
        "rows": lambda x, i, j: x[i], "places": lambda x, i, j: x[i, j], "of one table": lambda x, i, j: one(4, 5)[i, j] * x.sum(), "beside one for all": lambda x, i, j: x[i, facula.tensor([[0], [1]])],
        "index_add": lambda x, i, j: facula.zeros(4, 5, dtype=F64).index_add(0, i, x[:2]), "index_add in a dim": lambda x, i, j: x.index_add(1, i, x[:, 1:3]),
        "index_select": lambda x, i, j: x.index_select(-1, i),
    }
    for f in programs.values():
        gradient = facula.func.grad(lambda *a: f(*a).square().sum())
        assert same(facula.stack([f(*a) for a in zip(x, i, j)]), facula.func.vmap(f)(x, i, j))
        assert same(facula.stack([gradient(*a) for a in zip(x, i, j)]), facula.func.vmap(gradient)(x, i, j))
    table = facula.func.grad(lambda t, i: F.embedding(i, t).square().sum())
    assert same(facula.stack([table(x[0], k) for k in i]), facula.func.vmap(table, (None, 0))(x[0], i))

    monkeypatch.setattr(Level, "one_by_one", before)
    with pytest.raises(IndexError):
        facula.func.vmap(lambda x, i: x.index_select(0, i))(x, facula.tensor([[0], [4], [1]]))


BY_INDEX = {
    "index": lambda x, i: x[i], "number": lambda x, i: x[i[0]], "take": lambda x, i: x.take(i), "gather": lambda x, i: x.gather(0, i), "index_select": lambda x, i: x.index_select(0, i),
    "index_put": lambda x, i: x.index_put((i,), x[:2]), "added": lambda x, i: x.index_put((i,), x[:2], accumulate=True), "put": lambda x, i: x.put(i, x[:2]),
    "index_add": lambda x, i: x.index_add(0, i, x[:2]), "index_copy": lambda x, i: x.index_copy(0, i, x[:2]), "scatter": lambda x, i: x.scatter(0, i, x[:2]),
    "embedding": lambda x, i: F.embedding(i, x[:, None]),
}  # fmt: skip


@pytest.mark.parametrize("jacobian", [facula.func.jacrev, facula.func.jacfwd])
@pytest.mark.parametrize("which", BY_INDEX)
def test_jacobians_of_each_example_by_its_own_indices(which, jacobian):
    x, i = facula.randn(3, 4, dtype=F64), facula.tensor([[0, 3], [1, 2], [2, 0]])
    j = jacobian(BY_INDEX[which])

    assert same(facula.stack([j(*a) for a in zip(x, i)]), facula.func.vmap(j)(x, i))


def test_each_example_has_its_own_classes():
    x, y = facula.randn(3, 4, 5, dtype=F64), facula.tensor([[0, 1, 1, 2], [1, 1, 4, 1], [3, 2, 0, 4]])

    for reduction in ("mean", "sum", "none"):
        expected = [F.cross_entropy(a, b, ignore_index=1, reduction=reduction) for a, b in zip(x, y)]
        assert same(facula.stack(expected), facula.func.vmap(lambda a, b: F.cross_entropy(a, b, ignore_index=1, reduction=reduction))(x, y))
        assert same(facula.stack([F.cross_entropy(x[0], b, reduction=reduction) for b in y]), facula.func.vmap(lambda b: F.cross_entropy(x[0], b, reduction=reduction))(y))
