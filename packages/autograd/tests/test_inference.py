"""Inference mode: what it makes is neither saved for backward nor written to outside of it."""

import threading

import pytest
from backend import BACKEND, leaf, torch


@pytest.fixture
def made():
    with torch.inference_mode():
        return torch.ones(3, dtype=torch.float64)


INFERENCE = {
    "itself": lambda x: x, "view": lambda x: x.view(3), "slice": lambda x: x[1:], "detach": lambda x: x.detach(), "data": lambda x: x.data,
}  # fmt: skip
NORMAL = {"clone": lambda x: x.clone(), "sum": lambda x: x + 1, "cast": lambda x: x.float(), "new": lambda x: torch.ones(2), "deep copy": lambda x: __import__("copy").deepcopy(x)}


@pytest.mark.parametrize("name", INFERENCE)
def test_views_of_an_inference_tensor_are_ones(made, name):
    assert INFERENCE[name](made).is_inference() and torch.is_inference(INFERENCE[name](made))


@pytest.mark.parametrize("name", NORMAL)
def test_what_is_made_outside_is_normal(made, name):
    assert not NORMAL[name](made).is_inference()


def test_views_of_a_normal_tensor_are_normal():
    x, w = torch.ones(2), leaf(1, 2)
    with torch.inference_mode():
        view, result, of_leaf = x.view(2, 1), x + 1, w.view(2, 1)
        x.add_(1)
        assert (False, True, True, False) == (view.is_inference(), result.is_inference(), of_leaf.requires_grad, (w * 2).requires_grad)
    view.add_(1)

    assert [3.0, 3.0] == x.tolist() and not x.is_inference()


def test_inside_an_inference_tensor_is_like_any_other():
    with torch.inference_mode():
        x = torch.zeros(3)
        x += 2
        x[0] = 5
        x.mul_(2).copy_(x + 1)
        torch.add(x, 1, out=x)
        x.uniform_(0, 1).fill_(3)

    assert [3.0, 3.0, 3.0] == x.tolist() and x.is_inference()


WRITES = {
    "add_": lambda x: x.add_(1), "zero_": lambda x: x.zero_(), "fill_": lambda x: x.fill_(2), "copy_": lambda x: x.copy_(torch.ones(3)), "setitem": lambda x: x.__setitem__(0, 1),
    "index_put": lambda x: x.__setitem__(torch.tensor([0]), 1.0), "random": lambda x: x.normal_(), "out": lambda x: torch.add(torch.ones(3, dtype=torch.float64), 1, out=x),
    "view": lambda x: x[1:].mul_(2),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_outside_an_inference_tensor_is_not_written_to(made, name):
    with pytest.raises(RuntimeError, match="(?i)inplace update to inference tensor"):
        WRITES[name](made)
    with torch.no_grad(), pytest.raises(RuntimeError):
        WRITES[name](made)

    assert BACKEND == "torch" or [1.0, 1.0, 1.0] == made.tolist()  # PyTorch refuses when it has written


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x + y

    @staticmethod
    def backward(ctx, g):
        return g, g


SAVES = {
    "mul": lambda w, x: w * x, "on the left": lambda w, x: x * w, "function": lambda w, x: torch.nn.functional.linear(x, w.reshape(1, 3)) if hasattr(torch, "nn") else w * x,
    "matmul": lambda w, x: w @ x, "where": lambda w, x: torch.where(x > 0, w, x) * x, "Function": lambda w, x: Keeps.apply(w, x), "view": lambda w, x: w * x.view(3),
}  # fmt: skip


@pytest.mark.parametrize("name", SAVES)
def test_an_inference_tensor_is_not_saved_for_backward(made, name):
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        SAVES[name](leaf(1, 2, 3), made)


def test_it_may_be_an_operand_where_nothing_is_saved(made):
    w = leaf(1, 2, 3)
    (w + made).sum().backward()
    with torch.no_grad():
        w * made

    assert [1.0, 1.0, 1.0] == w.grad.tolist() and [2.0, 2.0, 2.0] == (made * 2).tolist()
    (w * made.clone()).sum().backward()


def test_it_wants_no_gradient_outside(made):
    with pytest.raises(RuntimeError):
        made.requires_grad_()
    with pytest.raises(RuntimeError):
        made.requires_grad = True
    with torch.inference_mode():
        assert torch.ones(2, requires_grad=True).requires_grad


def test_its_version_is_not_counted(made):
    with pytest.raises(RuntimeError):
        made._version


def test_the_mode_ends_inside_and_out():
    with torch.inference_mode():
        with torch.inference_mode(False):
            x = torch.ones(2)
        y = torch.ones(2)
    with torch.inference_mode(False):
        z = torch.ones(2)

    assert (False, True, False) == (x.is_inference(), y.is_inference(), z.is_inference())
    assert torch.inference_mode()(lambda: torch.ones(1))().is_inference()


def test_the_mode_is_the_threads_own():
    found = []
    with torch.inference_mode():
        t = threading.Thread(target=lambda: found.append(torch.ones(1).is_inference()))
        t.start()
        t.join()

    assert [False] == found
    with pytest.raises(TypeError):
        torch.is_inference(3)


@pytest.mark.parametrize("view", [lambda a: a.view(-1), lambda a: a.unbind()[0], lambda a: a.split(1)[0]])
@pytest.mark.parametrize(("mode", "words"), [(torch.inference_mode, "in inference mode and {} modified inplace.*in normal mode"), (torch.no_grad, "in no_grad mode and {} modified inplace.*with grad mode enabled")])
def test_a_view_says_in_which_mode_it_was_made(view, mode, words):
    def made():
        a = torch.ones(2, 3, requires_grad=True).clone()
        with mode():
            return a, view(a)

    with pytest.raises(RuntimeError, match=words.format("is being")):
        made()[1].add_(2)
    a, seen = made()
    a.add_(2)
    with pytest.raises(RuntimeError, match=words.split(" and ")[0] + " and its base or another view of its base has been modified inplace"):
        seen.sum()
