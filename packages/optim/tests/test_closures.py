"""Optimizers driven by a closure, with groups and names: losses, state and text are PyTorch's where it is installed."""

import pytest
from backend import torch
from cases import difference

LINES = """
LBFGS(p)
LBFGS(p, 0.5, max_iter=4, history_size=3)
LBFGS(p, 1, max_iter=6, line_search_fn='strong_wolfe')
LBFGS(p, 1, max_iter=6, max_eval=5, tolerance_grad=1e-3, tolerance_change=1e-4, line_search_fn='strong_wolfe')
SGD([{'params': p[:1], 'lr': 0.2}, {'params': p[1:], 'momentum': 0.5}], 0.1)
Adam([('first', p[0]), ('second', p[1])], 0.1)
AdamW([{'params': [('first', p[0])], 'lr': 0.2}, {'params': [('second', p[1])]}], 0.1)
Adafactor(p, 0.1, beta2_decay=-0.5, eps=(None, 1e-2), d=1.5, weight_decay=0.1)
Rprop(p, 0.1, etas=(0.4, 1.3), step_sizes=(0.01, 0.2), maximize=True, foreach=True)
NAdam(p, 0.1, capturable=False, foreach=False)
RMSprop(p, T.tensor(0.25), centered=True)
""".strip().splitlines()


def plain(T, value):
    if isinstance(value, T.Tensor):
        return [str(value.dtype).split(".")[-1], list(value.shape), value.detach().double().reshape(-1).tolist()]
    if isinstance(value, dict):
        return {str(k): plain(T, v) for k, v in value.items()}
    return [plain(T, v) for v in value] if isinstance(value, (list, tuple)) else value


def run(T, line):
    a = (T.arange(12, dtype=T.float64) * 0.7 + 1).sin().reshape(4, 3)
    p = [a.clone().requires_grad_(), (T.arange(3, dtype=T.float64) + 1).cos().requires_grad_()]
    optimizer = eval("T.optim." + line, {"T": T, "p": p})

    def closure():
        optimizer.zero_grad()
        loss = ((p[0] @ p[1]).sin() * 2 + p[0].square().sum(1) * 0.5).sum() + (p[1] ** 4).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(3)]
    return [losses, plain(T, p), plain(T, optimizer.state_dict()), repr(optimizer)]


@pytest.mark.parametrize("line", LINES)
def test_steps_with_a_closure_agree_with_pytorch(line):
    other = pytest.importorskip("torch")

    assert difference(run(other, line), run(torch, line), 1e-6 if "LBFGS" in line else 1e-9) is None  # it multiplies rounding near the minimum


def test_muon_is_pytorchs_up_to_the_rounding_of_bfloat16():
    other = pytest.importorskip("torch")

    def end(T):
        p = (T.arange(96, dtype=T.float32) * 0.7 + 1).sin().reshape(8, 12).requires_grad_()
        optimizer = T.optim.Muon([p], 0.1, adjust_lr_fn="match_rms_adamw")
        for _ in range(3):
            optimizer.zero_grad()
            (p.sin() * p.cos()).sum().backward()
            optimizer.step()
        return p.detach().tolist()

    assert difference(end(other), end(torch), 1e-4) is None


def scalar(T):
    return T.tensor(0.5, dtype=T.float64, requires_grad=True)


KINDS = {
    "matrices and a scalar": lambda T: [T.ones(2, 3, dtype=T.float64, requires_grad=True), scalar(T)],
    "columns": lambda T: [T.arange(12.0, dtype=T.float64).reshape(3, 4)[:, 1:3].requires_grad_(), scalar(T)],
    "every other": lambda T: [T.arange(12.0, dtype=T.float64)[::2].requires_grad_(), scalar(T)],
    "empty": lambda T: [T.ones(0, 3, dtype=T.float64, requires_grad=True), scalar(T)],
    "one frozen": lambda T: [T.ones(3, dtype=T.float64), scalar(T)],
    "complex": lambda T: [T.tensor([1 + 2j, -1j], dtype=T.complex128, requires_grad=True), scalar(T)],
    "complex alone": lambda T: [T.tensor([[1 + 2j, -1j]], dtype=T.complex128).t().requires_grad_()],
    "two dtypes": lambda T: [T.ones(3, dtype=T.float32, requires_grad=True), scalar(T)],
    "bfloat16": lambda T: [T.tensor([1.0, 0.5, -3.0], dtype=T.bfloat16, requires_grad=True)],
    "rows of a table": lambda T: [T.nn.Embedding.from_pretrained(T.ones(4, 2, dtype=T.float64), freeze=False, sparse=True).weight, scalar(T)],
}


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("kind", KINDS)
def test_lbfgs_moves_parameters_of_every_kind_as_pytorch(kind, search):
    other = pytest.importorskip("torch")

    def end(T):
        parameters = KINDS[kind](T)
        optimizer = T.optim.LBFGS(parameters, lr=0.25, max_iter=3, line_search_fn=search)

        def loss_of(p):
            if kind == "rows of a table" and p.dim() == 2:
                p = T.nn.functional.embedding(T.tensor([0, 2, 2]), p, sparse=True)
            return ((p * p.conj()).real if p.is_complex() else p * p).sum() + (p.real if p.is_complex() else p).sum().cos()

        def closure():
            optimizer.zero_grad()
            loss = sum(loss_of(p).double() for p in parameters if p.requires_grad)
            loss.backward()
            return loss

        losses = [float(optimizer.step(closure)) for _ in range(3)]
        values = [T.view_as_real(p.detach()) if p.is_complex() else p for p in parameters]
        return [losses, plain(T, values), [p.stride() for p in parameters]]

    assert difference(end(other), end(torch), 2e-2 if kind == "bfloat16" else 1e-6) is None
