#!/usr/bin/env python3
"""How small: bytes of the wheels, seconds and memory of `import facula`, seconds of a clean build.

    tools/bench sizes                     all of it; the build is from nothing, objects in a folder of its own
    tools/bench sizes --quick             without the build
    benchmarks/bench_sizes.py --installed --wheels build/wheels --quick      of the Facula that this Python has

Start-up is the median of fresh processes, less the same for an empty program; memory is the resident set after the import.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _harness import ROOT, environ, machine

LIMITS = {"import seconds": 0.1, "import MB": 30.0, "wheels MB": 5.0, "build seconds": 90.0, "facula.torch with torch, nn, optim, data, seconds": 0.2}
MEMORY = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
# the process's own peak: ru_maxrss is inherited from the parent that forked it
PEAK = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')][0])"
SHIM = "import facula.torch\nwith facula.torch.enabled(shadow=True):\n    import torch, torch.nn, torch.optim, torch.utils.data"
IMPORTS = {
    "empty": "pass",
    "facula": "import facula",
    "facula, nn, optim, data": "import facula, facula.nn, facula.optim, facula.utils.data",
    "facula.torch": SHIM,
}


def started(code, env, rounds):
    """(seconds, MB) of a fresh process, medians."""
    seconds, memory = [], []
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    peak = PEAK if os.path.exists("/proc/self/status") else MEMORY
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], env=env, check=True)
        seconds.append(time.perf_counter() - start)
        out = subprocess.run([sys.executable, "-c", f"{code}\n{peak}"], env=env, check=True, capture_output=True, text=True)
        memory.append(int(out.stdout) / 1024)
    return statistics.median(seconds), statistics.median(memory)


def clean_build():
    """Seconds that tools/build takes where nothing was built before."""
    sys.path[:0] = [str(ROOT / "packages/tensor-core")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        import build_native

        start = time.perf_counter()
        package = ROOT / "packages/tensor-core/src/facula/tensor_core"
        build_native.build(ROOT, package, Path(folder, "native"), strip=True, say=lambda *_: None)
        return time.perf_counter() - start


def wheels(folder):
    if folder is None:
        folder = Path(subprocess.run([sys.executable, ROOT / "tools/wheels"], check=True, capture_output=True, text=True).stdout.rsplit(" ", 1)[0])
    return {w.name.split("-")[0]: w.stat().st_size for w in sorted(folder.glob("*.whl"))}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="no build, fewer processes")
    p.add_argument("--installed", action="store_true", help="measure the Facula that is installed, not the tree")
    p.add_argument("--wheels", type=Path, help="their folder (default: they are built)")
    p.add_argument("--out", type=Path)
    options = p.parse_args()

    sizes = wheels(options.wheels)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} if options.installed else environ(1)
    start = {name: started(code, env, 5 if options.quick else 21) for name, code in IMPORTS.items()}
    figures = {
        "import seconds": start["facula"][0] - start["empty"][0],
        "import MB": start["facula"][1],
        "empty Python MB": start["empty"][1],
        "import of nn, optim, data too, seconds": start["facula, nn, optim, data"][0] - start["empty"][0],
        "import of nn, optim, data too, MB": start["facula, nn, optim, data"][1],
        "facula.torch with torch, nn, optim, data, seconds": start["facula.torch"][0],
        "wheels MB": sum(sizes.values()) / 1e6,
    }
    if not options.quick:
        figures["build seconds"] = clean_build()
    for name, size in sizes.items():
        print(f"{size:>9,} bytes  {name}")
    for name, value in figures.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"   {'ok' if value <= limit else 'above'} {limit:g}"
        print(f"{value:9.3f}  {name}{verdict}")
    out = options.out or (None if options.quick else ROOT / "benchmarks/results/sizes.json")
    if out:
        rows = [{"case": name, "value": value, "limit": LIMITS.get(name)} for name, value in figures.items()]
        out.write_text(json.dumps({"benchmark": "sizes", "machine": machine(), "wheels": sizes, "rows": rows}, indent=1) + "\n")
        print(f"written to {os.path.relpath(out)}")


if __name__ == "__main__":
    main()
