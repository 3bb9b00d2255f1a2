"""The engine at scale: long chains of every kind of node, many steps, several threads, backward inside backward."""

import gc
import threading

import pytest
from backend import leaf, near, torch

F64 = torch.float64
LONG = 10_000  # recursion would end at a thousand


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g


def hooked(x):
    y = x * 1
    y.register_hook(lambda g: g)
    return y


STEPS = {
    "operations": lambda x: x * 1,
    "writes": lambda x: x.mul_(1),
    "writes through views": lambda x: (x[:1].mul_(1), x)[1],
    "functions": Same.apply,
    "several results": lambda x: x.unsqueeze(0).split(1)[0].squeeze(0),
    "hooks": hooked,
    "saved results": lambda x: x.exp() * 0 + 1,
}


@pytest.mark.parametrize("name", STEPS)
def test_a_long_chain_needs_no_recursion(name):
    x = leaf(1.0)
    y = x * 1
    for _ in range(LONG):
        y = STEPS[name](y)
    y.sum().backward()

    assert x.grad is not None
    del y


@pytest.mark.parametrize("name", STEPS)
def test_a_long_chain_that_is_never_run_is_freed(name):
    y = leaf(1.0) * 1
    for _ in range(LONG):
        y = STEPS[name](y)
    del y


@pytest.mark.facula_only
@pytest.mark.parametrize("optimizer", ["plain", "momentum"])
def test_memory_stays_flat_over_ten_thousand_steps_without_collection(optimizer):
    from facula.tensor_core.extend import lib

    w1, w2 = torch.randn(4, 8).requires_grad_(), torch.randn(8, 1).requires_grad_()
    moments = [torch.zeros(4, 8), torch.zeros(8, 1)]
    x, target = torch.randn(16, 4), torch.randn(16, 1)

    def step():
        loss = ((torch.tanh(x @ w1) @ w2 - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for w, m in zip((w1, w2), moments):
                if optimizer == "momentum":
                    m.mul_(0.9).add_(w.grad)
                    w.sub_(m, alpha=1e-3)
                else:
                    w -= 1e-3 * w.grad
                w.grad = None

    for _ in range(100):
        step()
    gc.collect()
    gc.disable()
    try:
        before = lib.fc_alloc_stat(0), len(gc.get_objects())
        for _ in range(10_000):
            step()
        after = lib.fc_alloc_stat(0), len(gc.get_objects())
    finally:
        gc.enable()

    assert before[0] == after[0]
    assert abs(before[1] - after[1]) < 20


@pytest.mark.facula_only
@pytest.mark.parametrize("name", [n for n in STEPS if n != "functions"])
def test_a_graph_leaves_nothing_for_the_collector(name):
    from facula.tensor_core.extend import lib

    def once():
        x = leaf(1.0, 2.0)
        y = x * 1
        for _ in range(3):
            y = STEPS[name](y)
        torch.autograd.grad(y.sum(), x, create_graph=True)

    once()
    gc.collect()
    gc.disable()
    try:
        before = lib.fc_alloc_stat(0)
        once()
        once()

        assert before == lib.fc_alloc_stat(0)
    finally:
        gc.enable()


# ---- threads ----------------------------------------------------------------------------------------------------------


def together(count, work):
    """Run work(k) in `count` threads that start as one; raises what any of them raised."""
    start, errors = threading.Barrier(count), []

    def run(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_threads_go_backward_independently():
    found = [None] * 4

    def work(k):
        for _ in range(50):
            x = leaf(1.0 + k, 2.0)
            (x * x * x).sum().backward()
            found[k] = x.grad.tolist()

    together(4, work)

    assert [[3 * (1.0 + k) ** 2, 12.0] for k in range(4)] == found


def test_threads_add_to_one_leaf():
    w = leaf(1.0, 1.0)

    def work(k):
        for _ in range(200):
            (w * (k + 1)).sum().backward()

    together(4, work)

    assert near([2000.0, 2000.0], w.grad)


def test_threads_share_a_part_of_a_graph():
    x = leaf(2.0)
    shared = x * x
    found = []

    def work(k):
        y = shared * (k + 1)
        found.append((k, torch.autograd.grad(y.sum(), x, retain_graph=True)[0].item()))

    together(4, work)

    assert [(k, 4.0 * (k + 1)) for k in range(4)] == sorted(found)


def test_a_graph_may_be_run_in_another_thread():
    x = leaf(3.0)
    y = (x * x).sum()
    together(1, lambda k: y.backward())

    assert near([6.0], x.grad)


def test_modes_are_each_threads_own():
    seen = {}

    def work(k):
        with torch.set_grad_enabled(k % 2 == 0):
            for _ in range(200):
                y = leaf(1.0) * 2
                assert y.requires_grad == (k % 2 == 0)
        seen[k] = torch.is_grad_enabled()

    together(4, work)

    assert {k: True for k in range(4)} == seen and torch.is_grad_enabled()


def test_hooks_of_several_threads_are_all_called():
    w = leaf(1.0)
    calls = []
    w.register_hook(lambda g: calls.append(1))
    together(4, lambda k: [(w * 2).sum().backward() for _ in range(50)])

    assert 200 == len(calls) and near([400.0], w.grad)


# ---- backward inside backward -----------------------------------------------------------------------------------------


class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.save_for_backward(x)
        ctx.depth = depth
        return x * 2

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            z = ctx.saved_tensors[0].detach().requires_grad_()
            y = Inner.apply(z, ctx.depth - 1) if ctx.depth else z * 2
            (inner,) = torch.autograd.grad(y.sum(), z)
        return g * inner, None


@pytest.mark.parametrize("depth", [0, 1, 20])
def test_backward_inside_backward(depth):
    x = leaf(1.0)
    Inner.apply(x, depth).sum().backward()

    assert near([2.0], x.grad)


def recorded(f):
    with torch.enable_grad():
        f().sum().backward()


def test_backward_in_a_hook_fills_other_leaves_and_the_same():
    x, w = leaf(1.0), leaf(3.0)
    y = x * 2
    y.register_hook(lambda g: recorded(lambda: w * w + x.detach()))
    z = x * 5
    z.register_hook(lambda g: recorded(lambda: x * 10))
    (y + z).sum().backward()

    assert near([6.0], w.grad) and near([17.0], x.grad)


def test_an_error_in_backward_leaves_the_engine_usable():
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("mine")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="mine"):
        (Broken.apply(x) * x).sum().backward()
    x.grad = None
    (x * 3).sum().backward()

    assert near([3.0], x.grad) and torch.is_grad_enabled()


def test_the_same_graph_twice_in_one_call():
    x = leaf(1.0)
    y = (x * x).sum()
    torch.autograd.backward([y, y, x.sum()])

    assert near([5.0], x.grad)


def test_a_node_can_be_called():
    x = leaf(2, 3)
    y = (x * x).sum()

    assert [1.0, 1.0] == y.grad_fn(torch.tensor(1.0, dtype=torch.float64)).tolist()
    assert [[2.0, 3.0], [2.0, 3.0]] == [g.tolist() for g in (x * x).grad_fn(torch.ones(2, dtype=torch.float64))]
    for grads in ((), (torch.ones(2), torch.ones(2))):
        with pytest.raises(TypeError):
            y.grad_fn(*grads)
    y.backward()


class Fixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gradient):
        ctx.save_for_backward(gradient)
        return x

    @staticmethod
    def backward(ctx, g):
        return ctx.saved_tensors[0], None


@pytest.mark.parametrize("order", ["sds", "dss", "ssd", "ss"])
def test_sparse_and_dense_gradients_add_up(order):
    places = torch.tensor([[0, 1], [0, 1]])
    gradients = {"s": torch.sparse_coo_tensor(places, torch.tensor([1.0, 2.0]), (2, 2)), "d": torch.full((2, 2), 3.0)}
    x = torch.zeros(2, 2, requires_grad=True)
    sum(Fixed.apply(x, gradients[kind]) for kind in order).sum().backward()

    expected = sum(gradients[kind].to_dense() for kind in order)
    assert expected.tolist() == x.grad.to_dense().tolist() and ("d" not in order) == x.grad.is_sparse


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "cumsum", "cumprod", "nansum"])
def test_a_reduction_in_another_dtype_gives_gradients_in_the_old_one(name):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    wide = getattr(torch, name)(x, dim=0, dtype=torch.float64)
    (g,) = torch.autograd.grad(wide.sum(), x)
    (expected,) = torch.autograd.grad(getattr(torch, name)(x, dim=0).sum(), x)

    assert (torch.float64, torch.float32) == (wide.dtype, g.dtype) and pytest.approx(expected.tolist()) == g.tolist()


def test_logsumexp_of_infinities():
    inf = float("inf")
    for values, expected in (((inf, 1.0), (True, False)), ((-inf, -inf), (True, True))):
        x = leaf(*values)
        x.logsumexp(0).backward()

        assert list(expected) == x.grad.isnan().tolist()


def test_saved_values_go_under_pytorchs_names():
    x = torch.ones(2, 3, requires_grad=True)

    assert (0,) == x.sum(0).grad_fn._saved_dim and 3 == x.pow(3).grad_fn._saved_exponent
    assert [0] == torch.index_select(x, 0, torch.tensor([0])).grad_fn._saved_index.tolist()
    assert (2, 3) == tuple(x.sum(0).grad_fn._saved_self_sym_sizes)


def deep(at_end, steps):
    """A Function's result whose backward runs another's, `steps` deep; at_end(g) is what the last one answers."""

    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, left):
            ctx.left = left
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if not ctx.left:
                return at_end(g), None
            with torch.enable_grad():
                x = leaf(1.0)
                Deep.apply(x, ctx.left - 1).sum().backward()
            return x.grad * g, None

    return Deep.apply(leaf(1.0), steps)


def test_backward_inside_backward_may_go_deeper_than_python():
    seen = []
    deep(lambda g: (seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled())), g * 2)[1], 500).sum().backward()

    assert seen == [(False, False)]


def test_what_fails_far_down_is_raised_above_and_leaves_the_modes_alone():
    def fails(g):
        raise KeyError("far down")

    with pytest.raises(KeyError, match="far down"):
        deep(fails, 100).sum().backward()
    with torch.no_grad(), pytest.raises(KeyError, match="far down"):
        with torch.enable_grad():
            y = deep(fails, 50)
        y.backward()

    assert torch.is_grad_enabled() and threading.active_count() == 1


def test_hooks_on_what_is_saved_are_known_far_down():
    packed = []

    def at_end(g):
        with torch.enable_grad():
            x = leaf(2.0)
            (x * x).sum().backward()
        return x.grad * g

    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(1), t)[1], lambda t: t):
        deep(at_end, 50).sum().backward()

    assert len(packed) >= 2
