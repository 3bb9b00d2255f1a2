"""Hooks on what is saved, and anomaly mode."""

import sys

import pytest
from backend import leaf, near, node, plain, torch

graph = torch.autograd.graph


def test_saved_tensors_pass_through_pack_and_unpack():
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.tolist())
        return t.detach().clone()

    def unpack(t):
        unpacked.append(t.tolist())
        return t

    x, w = leaf(1, 2), leaf(3, 4)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x * w
    y.sum().backward()

    assert sorted(packed) == sorted(unpacked) == [[1.0, 2.0], [3.0, 4.0]]
    assert near([3, 4], x.grad) and near([1, 2], w.grad)


def test_pack_may_return_anything():
    x = leaf(1, 2)
    with graph.saved_tensors_hooks(lambda t: t.tolist(), lambda data: torch.tensor(data, dtype=torch.float64)):
        y = x.exp()
    y.sum().backward()

    assert near(y.tolist(), x.grad)


def test_what_was_packed_goes_with_the_graph():
    import gc
    import weakref

    class Packed:
        def __init__(self, t):
            self.t = t.detach()

    made = []

    def pack(t):
        made.append(weakref.ref(box := Packed(t)))
        return box

    x = leaf(1, 2)
    with graph.saved_tensors_hooks(pack, lambda box: box.t):
        y = x.exp()
    gc.disable()  # nothing may wait for the collector
    try:
        y.sum().backward()

        assert made and not [box for box in made if box() is not None]
    finally:
        gc.enable()


def test_hooks_apply_only_inside_the_block_and_nest():
    seen = []

    def hooks(name):
        return graph.saved_tensors_hooks(lambda t: seen.append(name) or t, lambda t: t)

    x = leaf(1)
    with hooks("outer"):
        x.exp()
        with hooks("inner"):
            x.exp()
        x.exp()
    x.exp()

    assert ["outer", "inner", "outer"] == seen


def test_packed_tensors_survive_an_in_place_change():
    x, w = leaf(1, 2), plain(3, 4)
    with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * w
    w.zero_()
    y.sum().backward()

    assert near([3, 4], x.grad)


def test_functions_saved_tensors_are_packed_too():
    seen = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    x = leaf(3)
    with graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("unpack") or t):
        y = Square.apply(x)
    y.sum().backward()

    assert ["pack", "unpack"] == seen and near([6], x.grad)


def test_second_order_through_packed_tensors():
    x = leaf(2, 3)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * x * x
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)

    assert near([12, 18], h)


def test_save_on_cpu():
    x = leaf(1, 2)
    with graph.save_on_cpu():
        y = x.exp()
    y.sum().backward()

    assert near(y.tolist(), x.grad)


def test_disable_saved_tensors_hooks():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                leaf(1).exp()


def test_anomaly_mode_finds_nan():
    x = leaf(0)
    with torch.autograd.detect_anomaly(check_nan=True):
        y = (x.sqrt() * 0).sum()
        with pytest.raises(RuntimeError, match="(?i)nan"):
            y.backward()


def test_anomaly_mode_without_nan_check():
    x = leaf(0)
    with torch.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()

    assert x.grad.isnan().all()


def test_set_detect_anomaly():
    assert not torch.is_anomaly_enabled()
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()

    assert not torch.is_anomaly_enabled()


@pytest.mark.facula_only
def test_anomaly_error_shows_the_forward_stack():
    x = leaf(0)
    with torch.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()  # forward line
        with pytest.raises(RuntimeError) as caught:
            y.backward()

    assert "test_saved.py" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))


@pytest.mark.facula_only
@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_a_failing_backward_shows_the_forward_line():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    y = Bad.apply(leaf(1))  # the line
    with pytest.raises(KeyError) as caught:
        y.sum().backward()

    assert "test_saved.py" in "".join(caught.value.__notes__)


@pytest.mark.facula_only
@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_a_line_of_the_library_is_said_to_be_one():
    x, y = node(1, 2)
    z = y.std()
    y.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        z.backward()

    assert "detect_anomaly" in caught.value.__notes__[0] and "StdBackward0" in caught.value.__notes__[0]


def product(x):
    return x * 2  # the line that the notes name


@pytest.mark.facula_only
@pytest.mark.parametrize("around", ["autocast", "profile", "forward mode", "vmap", "two"])
def test_the_forward_line_under_an_interpreter_is_the_callers(around):
    from facula.autograd import forward_ad, profiler

    x, seen = leaf(1, 2, shape=(1, 2)), []
    if around == "autocast":
        with torch.autocast("cpu", dtype=torch.bfloat16):
            seen.append(product(x).grad_fn)
    elif around == "profile":
        with profiler.profile():
            seen.append(product(x).grad_fn)
    elif around == "forward mode":
        with forward_ad.dual_level():
            seen.append(product(forward_ad.make_dual(x, x.detach())).grad_fn)
    elif around == "vmap":
        torch.func.vmap(torch.func.grad(lambda a: (seen.append(product(a).grad_fn), product(a).sum())[1]))(x)
    else:
        with profiler.profile(), torch.autocast("cpu", dtype=torch.bfloat16):
            seen.append(product(x).grad_fn)

    assert f"line {product.__code__.co_firstlineno + 1}, in product" in seen[0]._where()
