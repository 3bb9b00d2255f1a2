"""Runs programs on PyTorch and on Facula and says how far apart their numbers are: 20 steps in float32, 100 in float64.

python tests/programs/compare.py [--full] [NAME ...]; without names, the six models. Needs an installed PyTorch.
"""

import sys
import time

import record

LIMIT = {"float32": 1e-5, "float64": 1e-8}


def distance(expected, actual):
    """The largest relative difference, and the number at which it is."""
    if len(expected) != len(actual):
        raise SystemExit(f"{len(expected)} numbers on PyTorch, {len(actual)} on Facula")
    apart = [abs(e - a) / max(abs(e), 1e-300) if e != a else 0.0 for e, a in zip(expected, actual)]
    return max((d, k) for k, d in enumerate(apart))


def main(arguments):
    extra = ["--full"] if "--full" in arguments else []
    names = [a for a in arguments if not a.startswith("--")]
    chosen = [p for p in record.programs() if p.stem in names or (not names and p.stem.startswith("six_"))]
    failed = 0
    for program in chosen:
        for dtype in record.RUNS:
            start = time.perf_counter()
            theirs = record.numbers([sys.executable, program, *record.arguments(dtype), *extra])
            middle = time.perf_counter()
            ours = record.numbers([sys.executable, "-m", "facula.torch", "--shadow", program, *record.arguments(dtype), *extra])
            worst, at = distance(theirs, ours)
            failed += worst > LIMIT[dtype]
            print(
                f"{program.stem:12} {dtype}  {len(ours):3} losses, largest relative difference {worst:.1e} at {at}, allowed {LIMIT[dtype]:.0e}"
                f"  {'ok' if worst <= LIMIT[dtype] else 'APART'}   ({middle - start:.1f} s, {time.perf_counter() - middle:.1f} s)",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
