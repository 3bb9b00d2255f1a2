"""Every optimizer beside PyTorch over 50 steps: its stored numbers, and PyTorch itself where it is installed."""

import json
from pathlib import Path

import pytest
from backend import BACKEND, torch
from cases import OPTIMIZERS, advance, difference, lines, make, parameters, plain, steps

STORED = json.loads((Path(__file__).parent / "stored.json").read_text())
OURS = pytest.mark.skipif(BACKEND == "torch", reason="concerns Facula's own form")
DIFFERENTIABLE = [line for line in lines(OPTIMIZERS) if "Adafactor" not in line]


@pytest.mark.parametrize("line", lines(OPTIMIZERS))
def test_fifty_steps_give_the_stored_numbers(line):
    assert difference(STORED[line], steps(torch, line, torch.float64), 1e-11) is None


@pytest.mark.parametrize("line", lines(OPTIMIZERS))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fifty_steps_agree_with_pytorch(line, dtype):
    other = pytest.importorskip("torch")
    expected = steps(other, line, getattr(other, dtype))
    actual = steps(torch, line, getattr(torch, dtype))

    assert difference(expected, actual, {"float32": 1e-4 if "Adafactor" in line else 5e-6, "float64": 1e-12}[dtype]) is None


def loose(line):
    """Loading casts all floating state but the step count to the parameter's dtype: these keep their numbers in float32 until then."""
    return 1e-6 if "NAdam" in line or "ASGD" in line else 0


@OURS
@pytest.mark.parametrize("line", DIFFERENTIABLE)
def test_the_differentiable_step_is_the_fused_one(line):
    expected = steps(torch, line, torch.float64)
    actual = steps(torch, line, torch.float64, differentiable=True)

    assert difference(expected, actual, 1e-12) is None


@pytest.mark.parametrize("line", lines(OPTIMIZERS))
def test_a_loaded_state_goes_on_where_it_was(line):
    params, targets = parameters(torch, line, torch.float64)
    optimizer = make(torch, line, params)
    advance(torch, optimizer, params, targets, 0, 5)
    saved = json.loads(json.dumps(plain(torch, optimizer.state_dict()["param_groups"])))
    state = {k: {n: v.clone() if isinstance(v, torch.Tensor) else v for n, v in s.items()} for k, s in optimizer.state_dict()["state"].items()}
    twins = [p.detach().clone().requires_grad_() for p in params]
    other = make(torch, line, twins)
    other.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    advance(torch, optimizer, params, targets, 5, 12)
    advance(torch, other, twins, targets, 5, 12)

    assert difference(plain(torch, params), plain(torch, twins), loose(line) or 1e-300) is None
    assert saved[0]["params"] == list(range(len(params)))


@pytest.mark.parametrize("line", lines(OPTIMIZERS))
@pytest.mark.parametrize("there", [True, False], ids=["from PyTorch", "to PyTorch"])
def test_state_goes_to_pytorch_and_back(line, there):
    other = pytest.importorskip("torch")
    source, sink = (other, torch) if there else (torch, other)
    params, targets = parameters(source, line, source.float64)
    optimizer = make(source, line, params)
    advance(source, optimizer, params, targets, 0, 5)
    carried = carry(source, sink, optimizer.state_dict())
    twins = [carry(source, sink, p.detach()).requires_grad_() for p in params]
    second = make(sink, line, twins)
    second.load_state_dict(carried)
    advance(source, optimizer, params, targets, 5, 12)
    advance(sink, second, twins, [carry(source, sink, t) for t in targets], 5, 12)

    assert difference(plain(source, params), plain(sink, twins), loose(line) or 1e-12) is None
    if not loose(line):
        assert difference(plain(source, optimizer.state_dict()), plain(sink, second.state_dict()), 1e-12) is None


def carry(source, sink, value):
    """value with the tensors of one library as the other's."""
    if isinstance(value, source.Tensor):
        return sink.tensor(value.tolist(), dtype=getattr(sink, str(value.dtype).rpartition(".")[2]))
    if isinstance(value, dict):
        return {k: carry(source, sink, v) for k, v in value.items()}
    return [carry(source, sink, v) for v in value] if isinstance(value, list) else value


@OURS
@pytest.mark.parametrize("line, tol", [("Adafactor(weight_decay=0.1, eps=(None, 1e-2), maximize=True)", 1e-12), ("Muon()", 1e-2), ("Muon(nesterov=False)", 1e-2)])
def test_the_step_as_a_composition_is_the_row(line, tol):
    def end(kernel):
        p = (torch.arange(48, dtype=torch.float64) * 0.7 + 1).sin().reshape(8, 6).requires_grad_()
        optimizer = make(torch, line, [p])
        optimizer._kernel = optimizer._kernel if kernel else ""
        for _ in range(4):
            p.grad = p.detach().cos()
            optimizer.step()
        return p.detach().tolist()

    assert difference(end(True), end(False), tol) is None


@OURS
@pytest.mark.parametrize("line", lines(OPTIMIZERS))
def test_a_step_is_one_call(line):
    from facula.tensor_core import extend

    params, targets = parameters(torch, line, torch.float32)
    params, targets = zip(*[(p, t) for p, t in zip(params, targets) if not p.is_complex()])
    optimizer = make(torch, line, list(params))
    advance(torch, optimizer, params, targets, 0, 9)
    for p, t in zip(params, targets):
        p.grad = t
    called = []

    def listen(op, args, kwargs):
        called.append(op.name)
        return extend.call(op, *args)

    with extend.interpreter(listen):
        optimizer.step()

    assert called == [optimizer._kernel]


@OURS
def test_half_parameters_round_once():
    p = torch.tensor([1.0, 2.0], dtype=torch.bfloat16).requires_grad_()
    optimizer = torch.optim.Adam([p], lr=0.5)
    p.grad = torch.tensor([1.0, -1.0], dtype=torch.bfloat16)
    optimizer.step()

    assert p.detach().float().tolist() == [0.5, 2.5]


def test_a_strided_parameter_is_written_through():
    base = torch.arange(6.0).reshape(2, 3)
    p = base.t().detach().requires_grad_()
    p.grad = torch.ones(3, 2)
    torch.optim.SGD([p], lr=1.0).step()

    assert base.tolist() == [[-1, 0, 1], [2, 3, 4]]


def test_an_infinite_parameter_stays_out_of_no_decay():
    p = torch.tensor([float("inf"), 1.0]).requires_grad_()
    p.grad = torch.tensor([1.0, 1.0])
    torch.optim.Adagrad([p], lr=1.0).step()

    assert p.detach().tolist() == [float("inf"), 0.0]


@OURS
def test_a_subclass_may_have_members_of_any_name():
    """Only PyTorch's names are taken."""

    def nothing(self):
        raise AssertionError("not for us")

    names = ("kernel", "fresh", "columns", "settings", "update", "run", "lists", "refuse", "state_of", "step_one", "step_group", "reset")
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.Adadelta, torch.optim.Rprop):
        assert not [n for n in dir(kind) if n in names]
        moved = []
        for cls in (kind, type("Mine", (kind,), dict.fromkeys(names, nothing))):
            p = torch.tensor([1.0, 2.0], requires_grad=True)
            optimizer = cls([p], lr=0.1)
            for _ in range(3):
                (p**2).sum().backward()
                optimizer.step()
            moved.append(p.detach())
        assert moved[0].equal(moved[1])
