"""The random streams are PyTorch's: values bit by bit where arithmetic decides, to the last place where libm does.

random_streams.json was written by tools/make_random_streams.py from PyTorch. Rows held here: uniform_ normal_ bernoulli_scalar_
random_range_ random_full_ randperm_ exponential_ geometric_ cauchy_ log_normal_ draw_bernoulli_ draw_poisson_
draw_gamma_.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from oracles.compare import ulp_errors, values

import facula

ENTRIES = json.loads((Path(__file__).parent / "random_streams.json").read_text())["entries"]

PARAMETERS = {
    "bernoulli": lambda n: [k % 101 / 100 for k in range(n)],
    "poisson": lambda n: [k % 41 * 0.75 for k in range(n)],
    "_standard_gamma": lambda n: [0.125 + k % 31 * 0.375 for k in range(n)],
}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def draw(entry, n):
    facula.manual_seed(2**33 * 3 + 40 + n)
    name, dtype = entry["name"], getattr(facula, entry["dtype"])
    if name == "randperm":
        return facula.randperm(n, dtype=dtype)
    if name in PARAMETERS:
        return getattr(facula, name)(facula.tensor(PARAMETERS[name](n), dtype=dtype))
    return getattr(facula.empty(n, dtype=dtype), name)(*entry["args"])


def raw(tensor):
    """The bytes in memory; NumPy has no bfloat16."""
    tensor = tensor.view(facula.int16) if tensor.dtype is facula.bfloat16 else tensor
    return tensor.numpy().tobytes()


def title(entry):
    return f"{entry['name']}{tuple(entry['args'])}-{entry['dtype']}"


@pytest.mark.parametrize("entry", ENTRIES, ids=title)
def test_stream_is_pytorchs(entry):
    if entry["name"] in PARAMETERS and not hasattr(facula, entry["name"]):
        pytest.skip(f"facula.{entry['name']} is not there yet")
    for n, state in entry["state"].items():
        result = draw(entry, int(n))
        if entry["exact"]:
            assert entry["data"][n] == digest(raw(result)), f"{title(entry)}, {n} elements: other values"
        elif int(n) == len(entry.get("values", ())) or int(n) == 33:
            name, actual = values(result)
            if actual.dtype.kind == "c":
                actual = np.stack([actual.real, actual.imag], -1).reshape(-1)
            expected = np.array(entry["values"], np.longdouble)
            if actual.dtype.kind == "f":
                assert ulp_errors(expected, actual, name).max() <= 1.01
            else:
                np.testing.assert_array_equal(expected, actual)
        assert state == digest(facula.get_rng_state().numpy().tobytes()), f"{title(entry)}, {n} elements: another state afterwards"
