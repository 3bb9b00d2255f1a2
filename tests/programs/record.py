"""Writes expected.json: what each program prints on PyTorch, 20 steps in float32 and 100 in float64."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUNS = {"float32": 20, "float64": 100}
NOT_PROGRAMS = {"common", "compare", "models", "record"}


def programs():
    return sorted(path for path in HERE.glob("*.py") if path.stem not in NOT_PROGRAMS)


def numbers(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return [float(line) for line in done.stdout.split()]


def arguments(dtype):
    return ["--dtype", dtype, "--steps", str(RUNS[dtype])]


if __name__ == "__main__":
    chosen = [p for p in programs() if not sys.argv[1:] or p.stem in sys.argv[1:]]
    path = HERE / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    for program in chosen:
        expected[program.stem] = {dtype: numbers([sys.executable, program, *arguments(dtype)]) for dtype in RUNS}
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(expected[name])}" for name in sorted(expected))
        path.write_text("{\n" + lines + "\n}\n")
        print(program.stem, *(f"{d}: {len(v)} numbers, last {v[-1]:.6g}" for d, v in expected[program.stem].items()))
