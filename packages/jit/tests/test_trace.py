"""Tracing with the core alone: what is recorded, what a replay gives, what is refused."""

import importlib.util

import facula
import pytest
from facula.jit import TracerWarning, TracingCheckError
from facula.jit._replay import steps_of
from facula.tensor_core import extend

HAS_AUTOGRAD = importlib.util.find_spec("facula.autograd") is not None
x0 = facula.arange(6, dtype=facula.float32).reshape(2, 3) - 2.5


def same(a, b):
    return a.dtype is b.dtype and facula.equal(a, b)


def inplace(x):
    y = x.clone()
    y[0] += 1
    y.mul_(2)
    return y


def made_inside(x):
    total = facula.zeros(3)
    for row in x:
        total += row
    return total


def filled_inside(x):
    y = facula.empty(2, 3)
    y[:, 0] = x[:, 0]
    y[:, 1:] = 7
    return y


PROGRAMS = {
    "chain": lambda x: (x * 2 + 1).sigmoid().sum(1),
    "views": lambda x: x.t().reshape(-1)[1:4].unsqueeze(0).expand(2, 3),
    "joined": lambda x: facula.cat([x, x.flip(0)], dim=1),
    "indexed": lambda x: x[:, facula.tensor([2, 0])],
    "scalars": lambda x: 1 - x / 3 + x**2,
    "inplace": inplace,
    "made inside": made_inside,
    "filled inside": filled_inside,
    "detached": lambda x: x.exp().detach() + x.data,
    "softmax": lambda x: facula.softmax(x, 1).log(),
    "several": lambda x: tuple(facula.max(x, 1)),
    "kept dtype": lambda x: x.to(facula.float64).cumsum(0).to(facula.int64),
    "the input": lambda x: x,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_trace_gives_the_functions_bits_on_other_values(name):
    f = PROGRAMS[name]
    traced = facula.jit.trace(f, x0.clone())
    other = x0.flip(1) * 1.7

    expected, actual = f(other.clone()), traced(other.clone())

    if isinstance(expected, tuple):
        assert all(same(e, a) for e, a in zip(expected, actual))
    else:
        assert same(expected, actual)


def test_runs_do_not_see_each_other():
    traced = facula.jit.trace(made_inside, x0)

    assert same(traced(x0), traced(x0))


def test_graph_and_code_can_be_read():
    traced = facula.jit.trace(lambda x, y: facula.relu(x).add_(y), (x0, facula.ones(3)))

    assert str(traced.graph) == (
        "graph(%x : float32[2, 3],\n"
        "      %y : float32[3]):\n"
        "  %v0 : float32[2, 3] = relu(%x)\n"
        "  add_(%v0, %y, 1)\n"
        "  return (%v0)\n"
    )
    assert traced.code == "def forward(x, y):\n    v0 = relu(x)\n    add_(v0, y, 1)\n    return v0"


def test_nested_inputs_and_outputs_keep_their_form():
    def f(pair, table):
        return {"sum": pair[0] + table["b"], "all": [pair[1], table["b"] * 2]}

    inputs = ((x0, x0 + 1), {"b": x0 * 3})
    traced = facula.jit.trace(f, inputs, strict=False)

    answer = traced(*inputs)

    assert same(f(*inputs)["sum"], answer["sum"])
    assert same(f(*inputs)["all"][1], answer["all"][1])


def test_a_list_as_output_is_warned_of():
    with pytest.warns(facula.jit.TracerWarning, match="list at the output"):
        traced = facula.jit.trace(lambda x: [x + 1, x * 2], x0)

    assert same(x0 * 2, traced(x0)[1])


def test_arguments_may_be_named():
    traced = facula.jit.trace(lambda a, b: a - b, example_kwarg_inputs={"a": x0, "b": x0 * 2})

    assert same(-x0, traced(b=x0 * 2, a=x0))
    with pytest.raises(TypeError, match="'c'"):
        traced(x0, c=x0)


def test_tensors_found_outside_are_kept_and_written():
    count = facula.zeros(())

    def f(x):
        count.add_(1)
        return x + count

    traced = facula.jit.trace(f, x0)
    before = count.item()
    traced(x0)
    traced(x0)

    assert before + 2 == count.item()


def test_tensors_without_memory_of_their_own_may_be_alive():
    sparse = x0.to_sparse(), x0.to_sparse_csr()
    if importlib.util.find_spec("facula.nn"):
        sparse += (importlib.import_module("facula.nn").LazyLinear(3).weight,)

    assert same(x0 + 1, facula.jit.trace(lambda x: x + 1, x0)(x0)) and sparse


def test_random_rows_draw_from_the_generator():
    def f(x):
        return x + facula.rand(2, 3)

    traced = facula.jit.trace(f, x0)
    facula.manual_seed(3)
    expected = f(x0)
    facula.manual_seed(3)

    assert same(expected, traced(x0))
    assert not same(expected, traced(x0))


REFUSED = {
    "a mask's shape depends on data": (lambda x: x[x > 0], x0, "nonzero"),
    "output is no tensor": (lambda x: 3, x0, "int"),
    "no output": (lambda x: None, x0, "None"),
    "input is no tensor": (lambda x: x, ([1, 2],), "int"),
    "a dict is no fixed output": (lambda x: {"a": x + 1}, x0, "dict at the output"),
}


@pytest.mark.parametrize("title", REFUSED)
def test_trace_refuses(title):
    f, inputs, word = REFUSED[title]

    with pytest.raises(RuntimeError, match=word):
        facula.jit.trace(f, inputs)


@pytest.mark.parametrize("wrong", [facula.zeros(3, 3), facula.zeros(2, 3, dtype=facula.float64)])
def test_a_file_serves_the_shapes_and_dtypes_of_its_example(wrong, tmp_path):
    facula.jit.save(facula.jit.trace(lambda x: x + 1, x0), tmp_path / "traced")
    traced = facula.jit.load(tmp_path / "traced")

    with pytest.raises(RuntimeError, match=r"(?s)(\(3, 3\)|float64).*\(2, 3\).*float32"):
        traced(wrong)


def test_other_shapes_are_recorded_when_they_come():
    def f(x):
        return x.view(x.size(0), -1).sum(1) * 2

    traced = facula.jit.trace(f, x0)

    for x in (facula.ones(4, 2, 2), facula.zeros(5, 3, dtype=facula.float64), x0, facula.ones(4, 2, 2)):
        assert same(f(x), traced(x))
    assert 2 == len(traced._trace.others)


def test_a_number_that_leaves_is_a_warning():
    with pytest.warns(TracerWarning, match="item"):
        traced = facula.jit.trace(lambda x: x * float(x.sum()), x0)

    assert same(x0 * x0.sum(), traced(x0))


def test_check_finds_a_function_that_is_not_one():
    calls = []

    def f(x):
        calls.append(None)
        return x * len(calls)

    with pytest.raises(TracingCheckError, match="output 0"):
        facula.jit.trace(f, x0)
    facula.jit.trace(f, x0, check_trace=False)


def test_check_leaves_the_random_state_alone():
    def f(x):
        return x + facula.rand(3)

    facula.manual_seed(5)
    facula.jit.trace(f, x0, check_trace=False)
    expected = facula.rand(2)
    facula.manual_seed(5)
    facula.jit.trace(f, x0)

    assert same(expected, facula.rand(2))


def test_is_tracing_says_so():
    seen = []
    facula.jit.trace(lambda x: seen.append(facula.jit.is_tracing()) or x + 1, x0, check_trace=False)

    assert seen == [True]
    assert not facula.jit.is_tracing()


def test_absent_names_are_absent():
    assert not hasattr(facula.jit, "script")


@pytest.mark.skipif(not HAS_AUTOGRAD, reason="facula-autograd is not installed")
def test_backward_is_recorded_and_replayed():
    w = facula.ones(3, requires_grad=True)

    def step(x):
        w.grad = None
        loss = ((x * w).tanh() ** 2).sum()
        loss.backward()
        return loss

    traced = facula.jit.trace(step, x0)
    other = x0 * 0.3
    loss, gradient = step(other), w.grad
    w.grad = None

    again = traced(other)

    assert same(loss.detach(), again.detach())
    assert same(gradient, w.grad)


@pytest.mark.skipif(not HAS_AUTOGRAD, reason="facula-autograd is not installed")
def test_gradients_flow_through_a_replay():
    traced = facula.jit.trace(lambda x: (x.exp() * 2).sum(), x0)
    x = x0.clone().requires_grad_()
    traced(x).backward()

    assert same(x0.exp() * 2, x.grad)


CHAINS = {
    "activations of a product": (lambda x: facula.relu(x @ x + 1).sigmoid().mul(2), 4),
    "a view of what went in": (lambda x: (lambda y: (y.t(), facula.relu(y)))(x @ x), 0),
    "used again": (lambda x: (lambda y: facula.relu(y) + y.exp())(x @ x), 2),
    "given back": (lambda x: (lambda y: (y, facula.relu(y)))(x @ x), 0),
    "the input": (lambda x: facula.relu(x), 0),
    "another dtype": (lambda x: (x @ x).isnan(), 0),
    "an expanded operand": (lambda x: facula.relu((x @ x).sum(1, keepdim=True).expand(300, 300)), 0),
}


@pytest.mark.parametrize("mode", [False, True])
@pytest.mark.parametrize("name", CHAINS)
def test_a_replay_writes_over_what_nobody_needs(name, mode):
    f, expected_reuse = CHAINS[name]
    x = facula.arange(90_000, dtype=facula.float32).reshape(300, 300).sin()
    given = x.clone()
    before = extend.set_grad_mode(mode)
    try:
        traced = facula.jit.trace(f, x)
        found, expected = traced(x), f(x)
    finally:
        extend.set_grad_mode(before)

    assert all(same(a, b) for a, b in zip(found if type(found) is tuple else (found,), expected if type(expected) is tuple else (expected,)))
    assert facula.equal(given, x)
    assert expected_reuse == sum(over is not None for *_, over in steps_of(traced.graph))
