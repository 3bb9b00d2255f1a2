"""What all optimizers share: groups, closures, hooks, refusals, pickles, L-BFGS."""

import copy
import pickle
from collections import OrderedDict

import pytest
from backend import torch

REFUSED = [
    ("SGD([p], lr=-1)", ValueError, "Invalid learning rate: -1"),
    ("SGD([p], lr=0.1, momentum=-1)", ValueError, "Invalid momentum value: -1"),
    ("SGD([p], lr=0.1, nesterov=True)", ValueError, "Nesterov momentum requires a momentum and zero dampening"),
    ("Adam([p], betas=(1.0, 0.9))", ValueError, "Invalid beta parameter at index 0: 1.0"),
    ("Adam([p], eps=-1)", ValueError, "Invalid epsilon value: -1"),
    ("Adam([p], weight_decay=-1)", ValueError, "Invalid weight_decay value: -1"),
    ("Adadelta([p], rho=2.0)", ValueError, "Invalid rho value: 2.0"),
    ("Rprop([p], etas=(1.5, 1.2))", ValueError, "Invalid eta values: 1.5, 1.2"),
    ("Adam([])", ValueError, "empty parameter list"),
    ("Adam(p)", TypeError, "iterable of Tensors"),
    ("Adam([p, 3])", TypeError, "can only optimize Tensors"),
    ("Adam([p * 2])", ValueError, "non-leaf"),
    ("Adam([{'params': [p]}, {'params': [p]}])", ValueError, "more than one parameter group"),
]


@pytest.mark.parametrize("text, kind, message", REFUSED, ids=[r[0] for r in REFUSED])
def test_bad_arguments_are_refused(text, kind, message):
    with pytest.raises(kind, match=message):
        eval(text, {**vars(torch.optim), "p": torch.ones(2, requires_grad=True)})


def test_a_closure_is_called_with_gradients_on():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)

    assert float(loss) == 2.0
    assert p.tolist() == [0.5, 0.5]


def test_groups_have_their_own_options():
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.25)
    a.grad, b.grad = torch.ones(1), torch.ones(1)
    optimizer.step()

    assert (a.item(), b.item()) == (0.75, 0.5)


def test_zero_grad_drops_or_fills():
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks_run_around_a_step():
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    optimizer = torch.optim.SGD([p], lr=0.5)
    heard = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: heard.append(("before", p.item())))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: heard.append(("after", p.item())))
    optimizer.step()
    handle.remove()
    optimizer.step()

    assert heard == [("before", 1.0), ("after", 0.5), ("before", 0.5)]


def test_a_rate_may_be_a_tensor():
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    torch.optim.Adam([p], lr=torch.tensor(0.5)).step()

    assert p.item() == pytest.approx(0.5)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_a_copy_goes_on_alone(how):
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.Adam([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.step()
    twin = how(optimizer)
    q = twin.param_groups[0]["params"][0]
    q.grad = torch.ones(2)
    twin.step()
    optimizer.step()

    assert q is not p
    assert q.tolist() == p.tolist()


def test_old_checkpoints_count_in_python_numbers():
    p = torch.ones(2, requires_grad=True)
    p.grad = torch.ones(2)
    optimizer = torch.optim.Adam([p], lr=0.1)
    optimizer.step()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 1
    del saved["param_groups"][0]["maximize"]
    optimizer.load_state_dict(saved)
    optimizer.step()

    assert optimizer.state[p]["step"].item() == 2


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum_of_rosenbrock(search):
    p = torch.tensor([-0.5, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([p], lr=1.0 if search else 0.002, max_iter=100 if search else 3000, max_eval=10000, line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        loss.backward()
        return loss

    first = optimizer.step(closure)

    assert float(first) > 1
    assert float(closure()) < (1e-9 if search else 0.3)


def test_a_wrapper_without_init_gets_its_hooks():
    class Around(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner
            self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = OrderedDict(), OrderedDict()
            self._patch_step_function()

        def step(self, closure=None):
            return self.inner.step(closure)

    seen = []
    around = Around(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1))
    around.register_step_pre_hook(lambda *a: seen.append("before"))
    around.register_step_post_hook(lambda *a: seen.append("after"))
    around.step()

    assert ["before", "after"] == seen
