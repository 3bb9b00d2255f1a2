"""Optimizers of sparse gradients: SparseAdam, and those that take a sparse gradient too."""

import math

import pytest
from backend import torch

LINES = [
    ("SparseAdam", {}),
    ("SparseAdam", dict(lr=0.1, betas=(0.5, 0.6), eps=1e-3, maximize=True)),
    ("Adagrad", {}),
    ("Adagrad", dict(lr_decay=0.1, initial_accumulator_value=0.3, maximize=True)),
    ("SGD", dict(lr=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True, maximize=True)),
]


def run(T, name, options):
    p = T.nn.Parameter(T.ones(3, 2, dtype=T.float64)) if hasattr(T, "nn") else None
    optimizer = getattr(T.optim, name)([p], **options)
    for index in ([[0, 0]], [[1, 0]], [[2, 1]], [[0, 1]]):
        p.grad = T.sparse_coo_tensor(T.tensor(index), T.tensor([[1.0, 2], [3, 4]], dtype=T.float64), (3, 2))
        optimizer.step()
    state = optimizer.state_dict()["state"].get(0, {})
    state = {k: v.to_dense().tolist() if isinstance(v, T.Tensor) and v.dim() else float(v) for k, v in state.items()}
    return p.detach().reshape(-1).tolist(), state


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name,options", LINES)
def test_steps_agree_with_pytorch(name, options):
    pytest.importorskip("facula.nn")
    other = pytest.importorskip("torch")
    expected, expected_state = run(other, name, options)
    actual, state = run(torch, name, options)

    assert all(math.isclose(e, a, rel_tol=1e-12) for e, a in zip(expected, actual))
    assert list(expected_state) == list(state)


def parameter(grad):
    p = torch.ones(3, 2, requires_grad=True)
    p.grad = grad
    return p


def test_rows_without_a_gradient_stay():
    p = parameter(torch.sparse_coo_tensor(torch.tensor([[1]]), torch.ones(1, 2), (3, 2)))
    torch.optim.SparseAdam([p], 0.1).step()

    assert [1.0, 1.0] == p[0].tolist() and [1.0, 1.0] == p[2].tolist()
    assert abs(p[1, 0].item() - 0.9) < 1e-6


@pytest.mark.parametrize(
    "make,kind",
    [
        (lambda: torch.optim.SparseAdam([parameter(torch.ones(3, 2))]), RuntimeError),
        (lambda: torch.optim.Adam([parameter(torch.ones(3, 2).to_sparse())]), RuntimeError),
        (lambda: torch.optim.Adagrad([parameter(torch.ones(3, 2).to_sparse())], weight_decay=0.1), RuntimeError),
        (lambda: torch.optim.SparseAdam([torch.ones(2)], lr=0), ValueError),
        (lambda: torch.optim.SparseAdam([torch.ones(2, dtype=torch.complex64)]), ValueError),
    ],
)
def test_what_does_not_fit_is_refused(make, kind):
    with pytest.raises(kind):
        make().step()
