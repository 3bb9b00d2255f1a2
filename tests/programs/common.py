"""What the programs share: --steps, --dtype, and one number a line."""

import argparse

import torch


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full", action="store_true", help="the sizes of the benchmarks, where a program has them")
    chosen = parser.parse_args()
    torch.set_default_dtype(getattr(torch, chosen.dtype))
    torch.manual_seed(chosen.seed)
    return chosen


def report(value):
    """All digits, so that two libraries can be compared."""
    print(repr(float(value)))
