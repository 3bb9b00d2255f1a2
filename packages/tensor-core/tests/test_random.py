"""Random streams: PyTorch's, from stored digests (tools/make_random_streams.py) and from PyTorch itself where it is installed.

Rows held here: uniform_ normal_ bernoulli_scalar_ random_range_ random_full_ randperm_ exponential_ geometric_ cauchy_ log_normal_
draw_bernoulli_ draw_poisson_ draw_gamma_.
"""

import hashlib
import json
import math
import pickle
import threading
from pathlib import Path

import facula
import pytest
from facula.tensor_core import extend
from facula.tensor_core.files.checkpoint import storage_bytes

STORED = json.loads(Path(__file__).with_name("random_streams.json").read_text())["entries"]
PARAMETERS = {
    "bernoulli": lambda n: [k % 101 / 100 for k in range(n)],
    "poisson": lambda n: [k % 41 * 0.75 for k in range(n)],
    "_standard_gamma": lambda n: [0.125 + k % 31 * 0.375 for k in range(n)],
    "_sample_dirichlet": lambda n: [0.125 + k % 31 * 0.375 for k in range(n)],
    "binomial": lambda n: [k % 101 / 100 for k in range(n)],
}

# row -> the public name whose stored stream holds it to account
ROWS = {
    "uniform_": "uniform_", "normal_": "normal_", "exponential_": "exponential_", "geometric_": "geometric_", "cauchy_": "cauchy_",
    "log_normal_": "log_normal_", "bernoulli_scalar_": "bernoulli_", "random_range_": "random_", "random_full_": "random_", "randperm_": "randperm",
    "draw_bernoulli_": "bernoulli", "draw_poisson_": "poisson", "draw_gamma_": "_standard_gamma", "draw_binomial_": "binomial",
}  # fmt: skip


@pytest.mark.parametrize("row", [op.name for op in extend.ops.values() if op.kind == "random"])
def test_every_random_row_has_a_stored_stream(row):
    assert ROWS[row] in {entry["name"] for entry in STORED}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def bytes_of(tensor):
    return bytes(storage_bytes(tensor)[: tensor.nbytes])


def state():
    return bytes(facula.get_rng_state().tolist())


def call(name, args, dtype, n):
    dtype = getattr(facula, dtype)
    if name == "randperm":
        return facula.randperm(n, dtype=dtype)
    if name == "binomial":
        p = facula.tensor(PARAMETERS[name](n), dtype=dtype)
        return facula.binomial((p * 60).floor(), p)
    if name in PARAMETERS:
        return getattr(facula, name)(facula.tensor(PARAMETERS[name](n), dtype=dtype))
    return getattr(facula.empty(n, dtype=dtype), name)(*args)


@pytest.mark.parametrize("entry", STORED, ids=lambda e: f"{e['name']}{tuple(e['args'])}-{e['dtype']}")
def test_stream_equals_the_stored_one(entry):
    for n in map(int, entry["state"]):
        facula.manual_seed(2**33 * 3 + 40 + n)
        result = call(entry["name"], entry["args"], entry["dtype"], n)

        assert entry["state"][str(n)] == digest(state()), f"n = {n}: another number of draws"
        if entry["exact"]:
            assert entry["data"][str(n)] == digest(bytes_of(result)), f"n = {n}"
        elif n == 33:
            actual = (facula.view_as_real(result) if result.is_complex() else result).double().flatten().tolist()
            assert all(math.isclose(a, e, rel_tol=1e-15) for a, e in zip(actual, entry["values"], strict=True))


def test_states_travel():
    facula.manual_seed(5)
    facula.randn(3)  # leaves a cached normal
    kept = facula.get_rng_state()
    expected = facula.randn(5).tolist()
    facula.set_rng_state(kept)

    assert expected == facula.randn(5).tolist()
    assert (5056,) == tuple(kept.shape)
    assert 5 == facula.initial_seed()


def test_fork_rng_leaves_the_stream_where_it_was():
    facula.manual_seed(1)
    expected = facula.rand(2).tolist()
    facula.manual_seed(1)
    with facula.random.fork_rng():
        facula.manual_seed(7)
        facula.rand(100)

    assert expected == facula.rand(2).tolist()


def test_generators_are_apart_from_the_default_one():
    facula.manual_seed(1)
    expected = facula.rand(2).tolist()
    facula.manual_seed(1)
    g = facula.Generator().manual_seed(1)
    facula.rand(2, generator=g)
    copied = pickle.loads(pickle.dumps(g))

    assert expected == facula.rand(2).tolist()
    assert facula.rand(3, generator=g).tolist() == facula.rand(3, generator=copied).tolist()
    assert 67280421310721 == facula.Generator().initial_seed()


def test_threads_share_a_generator_without_sharing_draws():
    g = facula.Generator().manual_seed(3)
    drawn = []
    threads = [threading.Thread(target=lambda: drawn.extend(facula.rand(1000, dtype=facula.float64, generator=g).tolist())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

    assert sorted(drawn) == sorted(facula.rand(8000, dtype=facula.float64, generator=facula.Generator().manual_seed(3)).tolist())


def test_negative_seeds_count_back_from_the_top():
    assert 2**64 - 1 == facula.manual_seed(-1).initial_seed()


def test_meta_tensors_draw_nothing():
    before = state()
    facula.rand(1000, device="meta")

    assert before == state()


REFUSED = (
    ("empty(3).uniform_(2, 1)", RuntimeError, "from=2 > to=1"),
    ("empty(3).uniform_(float('nan'), 1)", RuntimeError, "from is out of bounds"),
    ("empty(3).uniform_(-3e38, 3e38)", RuntimeError, "to-from"),
    ("empty(3, dtype=facula.float16).uniform_(-1e6, 1)", RuntimeError, "out of bounds"),
    ("empty(3, dtype=facula.int64).uniform_()", RuntimeError, "Long"),
    ("empty(0).normal_(0, -1)", RuntimeError, "std -1"),
    ("empty(3).bernoulli_(2)", RuntimeError, "p=2"),
    ("empty(3).exponential_(0)", RuntimeError, "lambda=0"),
    ("empty(3, dtype=facula.int32).exponential_()", RuntimeError, "Int"),
    ("empty(3).geometric_(1)", RuntimeError, "p=1"),
    ("empty(3).cauchy_(0, 0)", RuntimeError, "sigma=0"),
    ("empty(3).log_normal_(0, 0)", RuntimeError, "std=0"),
    ("empty(3).random_(3, 3)", RuntimeError, "from=3 >= to=3"),
    ("empty(3, dtype=facula.uint8).random_(0, 300)", RuntimeError, "to - 1 is out of bounds"),
    ("empty(3, dtype=facula.uint8).random_(-1, 3)", RuntimeError, "from is out of bounds"),
    ("empty(3).random_(2.5)", TypeError, "2.5"),
    ("empty(3, dtype=facula.complex64).random_()", RuntimeError, "ComplexFloat"),
    ("empty(3)[None].expand(2, 3).normal_()", RuntimeError, "memory"),
    ("empty(3).normal_(generator=3)", TypeError, "generator"),
    ("randperm(-1)", RuntimeError, "-1"),
    ("randperm(300, dtype=facula.int8)", RuntimeError, "300"),
    ("randint(5, 5, (2,))", RuntimeError, "from=5 >= to=5"),
    ("randint(10)", TypeError, "10"),
    ("rand(2, out=facula.empty(2), dtype=facula.float64)", RuntimeError, "float64"),
    ("bernoulli(facula.tensor([2.0]))", RuntimeError, "p_in"),
    ("bernoulli(facula.tensor([1]))", RuntimeError, "Long"),
    ("poisson(facula.tensor([-1.0]))", RuntimeError, "rate"),
    ("normal(facula.zeros(3), -facula.ones(3))", RuntimeError, "std >= 0"),
    ("normal(0.0, 1.0)", TypeError, "size"),
    ("binomial(facula.tensor([3]), facula.tensor([0.5]))", ValueError, "int64"),
    ("binomial(facula.ones(1), facula.ones(1).double())", RuntimeError, "float64"),
    ("multinomial(facula.zeros(2), 1)", RuntimeError, "<= 0"),
    ("multinomial(facula.tensor([1.0, -1.0]), 1)", RuntimeError, "< 0"),
    ("multinomial(facula.tensor([1, 1]), 1)", RuntimeError, "int64"),
    ("multinomial(facula.ones(2, 2, 2), 1)", RuntimeError, "3"),
    ("multinomial(facula.ones(2), 3)", RuntimeError, "3 of 2"),
    ("multinomial(facula.ones(2), 0)", RuntimeError, "0"),
    ("manual_seed(2**64)", ValueError, str(2**64)),
    ("manual_seed('a')", ValueError, "a"),
    ("Generator('meta')", RuntimeError, "meta"),
    ("Generator().set_state(1)", TypeError, "int"),
    ("set_rng_state(facula.zeros(5056, dtype=facula.uint8))", RuntimeError, "mt19937"),
    ("set_rng_state(facula.zeros(5055, dtype=facula.uint8))", RuntimeError, "5055"),
    ("random.fork_rng(devices=[0]).__enter__()", RuntimeError, "0"),
)


@pytest.mark.parametrize("text,error,fact", REFUSED, ids=[r[0] for r in REFUSED])
def test_bad_arguments_are_refused_and_draw_nothing(text, error, fact):
    before = state()
    with pytest.raises(error) as caught:
        eval("facula." + text)

    assert fact in str(caught.value)
    assert before == state()


SAME_AS_PYTORCH = (
    "rand(n)", "rand(2, n, dtype=X.float64)", "rand(size=(n,))", "randn(n)", "randn(n, n).t()", "randn(n, dtype=X.bfloat16)", "randn(n, dtype=X.complex128)",
    "randint(0, 10, (n,))", "randint(5, (n, 2))", "randint(low=2, high=7, size=(n,))", "randint(0, high=4, size=(n,))", "randint(3, (n,), dtype=X.float32)",
    "randperm(n)", "rand_like(X.empty(n, 3).t())", "randn_like(X.empty(3), dtype=X.float64)", "randint_like(X.empty(n), 5)", "randint_like(X.empty(n), 2, 5)",
    "empty(n, n).t().normal_()", "empty(n, 9)[:, ::2].normal_(1, 2)", "empty(n, 9)[:, ::2].t().normal_(1, 2)", "empty(4, n, 6)[:, ::2].permute(2, 0, 1).uniform_()",
    "empty(n, 3, dtype=X.complex64).t().normal_()", "empty(2, 3, n, 5).contiguous(memory_format=X.channels_last).exponential_()", "empty(n)[::2].log_normal_()",
    "bernoulli(X.rand(n, 3))", "bernoulli(X.rand(n, 3).t())", "bernoulli(X.rand(3), 0.3)", "empty(n, 2).bernoulli_(X.rand(2))",
    "empty(n, 2).t().bernoulli_(X.rand(2, n))", "empty(n, dtype=X.int32).bernoulli_(X.rand(n))",
    "empty(n, dtype=X.int32).random_(5, None)", "empty(n, dtype=X.float32).random_(5, None)", "empty(n, dtype=X.uint8).random_(to=5)",
    "multinomial(X.rand(n), 2)", "multinomial(X.rand(4, n), 1)", "multinomial(X.rand(4, n), 3, True)", "multinomial(X.rand(n).double(), 3, replacement=True)",
    "multinomial(X.rand(9, n), 700, True)", "multinomial(X.rand(6, 1000).double(), n, True)",
    "normal(X.rand(n), X.rand(n))", "normal(X.rand(n, 1), X.rand(n))", "normal(1.5, X.rand(n))", "normal(X.rand(n), 2.0)", "normal(1.0, 2.0, (n, 3))",
    "poisson(X.rand(n, 2).t() * 20)", "binomial(X.rand(n, 1).mul(500).floor(), X.rand(3))", "binomial(X.full((n,), 1000.0).double(), X.rand(n).double())", "binomial(X.tensor([-1.0, 0.0, 3.0, 3.0, 3.0]), X.tensor([0.5, 0.5, -1.0, 0.0, 2.0]))", "_standard_gamma(X.rand(n) * 3)",
)  # fmt: skip


@pytest.mark.parametrize("text", SAME_AS_PYTORCH)
def test_calls_draw_what_pytorch_draws(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for n in (3, 16, 50):
        facula.manual_seed(n), torch.manual_seed(n)
        actual, expected = eval("facula." + text.replace("X", "facula")), eval("torch." + text.replace("X", "torch"))

        assert (expected.tolist(), tuple(expected.shape), expected.stride()) == (actual.tolist(), tuple(actual.shape), actual.stride())
        assert str(expected.dtype) == str(actual.dtype)
        assert torch.get_rng_state().tolist() == facula.get_rng_state().tolist()
