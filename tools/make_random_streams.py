#!/usr/bin/env python3
"""Writes packages/tensor-core/tests/random_streams.json: PyTorch's CPU random streams, as digests. Needs PyTorch.

    python tools/make_random_streams.py

CASES is the table; the tests replay each entry, and hold the bytes of the result and the generator's state afterwards
against the digests. Transforms through libm in float64 may differ in the last bit on another system: for those a few
values are stored instead of the digest of the data.
"""

import hashlib
import json
from pathlib import Path

SIZES = (0, 1, 15, 16, 17, 31, 32, 33, 1000, 4097)
VALUES_OF = 33
HALVES, REALS = ("float16", "bfloat16"), ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTS = ("uint8", "int8", "int16", "int32", "int64")
EVERY = ("bool", *INTS, *REALS)

# name: of a method with arguments, or of a function of one tensor whose values are PARAMETERS[name](n)
CASES = (
    # name            arguments                                     dtypes               exact
    ("uniform_",      ((), (-3.0, 5.0), (0.1, 0.7), (5e4, 5e4 + 1)), (*REALS, *COMPLEX), True),
    ("uniform_",      ((-0.1, 1e-9), (2.0, 2.0), (-1e30, 3e33)),    ("bfloat16", "float32", "float64"), True),
    ("normal_",       ((), (1.0, 2.0), (0.1, 0.3), (2.0, 0.0)),     (*HALVES, "float32", "complex64"), True),
    ("normal_",       ((), (1.0, 2.0), (0.1, 0.3), (2.0, 0.0)),     ("float64", "complex128"), False),
    ("bernoulli_",    ((0.3,), (0.0,), (1.0,), (0.5,)),             EVERY,               True),
    ("random_",       ((), (0, 100), (100,), (0, 1), (5, 127)),     INTS + REALS,        True),
    ("random_",       ((), (0, 2), (0, 1)),                         ("bool",),           True),
    ("random_",       ((-128, 128), (-5, 7)),                       ("int8", "int16", "int32", "int64", "float32", "float64"), True),
    ("random_",       ((0, 2**28 - 1), (0, 2**28), (-2**28, 2**28)), ("int32", "int64", "float64"), True),
    ("random_",       ((0, 2**33), (-2**63, 2**63 - 1), (-2**63, None), (7, None)), ("int64",), True),
    ("exponential_",  ((), (2.5,)),                                 REALS,               False),
    ("geometric_",    ((0.3,), (0.011,), (0.9,)),                   INTS + REALS,        False),
    ("cauchy_",       ((), (1.0, 2.0), (0.1, 0.3)),                 REALS,               False),
    ("log_normal_",   ((), (0.5, 0.25), (0.1, 0.3)),                REALS,               False),
    ("randperm",      ((),),                                        ("int16", "int32", "int64", "float32", "float64"), True),
    ("bernoulli",     ((),),                                        REALS,               True),
    ("poisson",       ((),),                                        REALS,               False),
    ("_standard_gamma", ((),),                                      ("float32", "float64"), False),
    ("_sample_dirichlet", ((),),                                    ("float32", "float64"), False),
    ("binomial",      ((),),                                        ("float32", "float64"), True),
)  # fmt: skip

PARAMETERS = {
    "bernoulli": lambda n: [k % 101 / 100 for k in range(n)],
    "poisson": lambda n: [k % 41 * 0.75 for k in range(n)],
    "_standard_gamma": lambda n: [0.125 + k % 31 * 0.375 for k in range(n)],
    "_sample_dirichlet": lambda n: [0.125 + k % 31 * 0.375 for k in range(n)],
    "binomial": lambda n: [k % 101 / 100 for k in range(n)],
}


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def seed_of(n):
    return 2**33 * 3 + 40 + n


def entries():
    for name, arguments, dtypes, exact in CASES:
        for args in arguments:
            for dtype in dtypes:
                yield name, args, dtype, exact


def call(torch, name, args, dtype, n):
    """The result of one entry; torch is PyTorch or whatever has its names."""
    dtype = getattr(torch, dtype)
    if name == "randperm":
        return torch.randperm(n, dtype=dtype)
    if name == "binomial":
        p = torch.tensor(PARAMETERS[name](n), dtype=dtype)
        return torch.binomial((p * 60).floor(), p)
    if name in PARAMETERS:
        return getattr(torch, name)(torch.tensor(PARAMETERS[name](n), dtype=dtype))
    return getattr(torch.empty(n, dtype=dtype), name)(*args)


def data_of(torch, tensor):
    if tensor.numel() == 0:
        return b""
    return tensor.view(torch.uint8).numpy().tobytes()


def measured(torch):
    for name, args, dtype, exact in entries():
        entry = {"name": name, "args": args, "dtype": dtype, "exact": exact, "data": {}, "state": {}}
        for n in SIZES:
            torch.manual_seed(seed_of(n))
            result = call(torch, name, args, dtype, n)
            entry["state"][n] = digest(torch.get_rng_state().numpy().tobytes())
            if exact:
                entry["data"][n] = digest(data_of(torch, result))
            elif n == VALUES_OF:
                result = torch.view_as_real(result).flatten() if result.is_complex() else result
                entry["values"] = result.double().tolist()
        yield entry


def main():
    import torch

    target = Path(__file__).resolve().parent.parent / "packages/tensor-core/tests/random_streams.json"
    rows = [json.dumps(entry, separators=(",", ":")) for entry in measured(torch)]
    target.write_text('{"made_with":"PyTorch %s","entries":[\n%s\n]}\n' % (torch.__version__, ",\n".join(rows)))
    print(f"{target.name}: {len(rows)} entries, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
