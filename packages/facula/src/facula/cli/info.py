"""facula info: what is installed and what this machine offers."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys

PARTS = ("tensor-core", "autograd", "nn", "optim", "data", "jit", "dist", "vision", "distributions")
EXTRAS = ("numpy", "matplotlib", "tqdm", "pillow", "mpi4py", "torch")


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def facts() -> dict[str, str]:
    import facula

    found = {
        "facula": facula.__version__,
        "python": f"{platform.python_version()} at {sys.executable}",
        "machine": f"{platform.machine()}, {platform.system()} {platform.release()}, {os.cpu_count()} CPUs",
        "threads": str(facula.get_num_threads()),
        "default dtype": str(facula.get_default_dtype()),
    }
    found.update({f"facula-{part}": _version(f"facula-{part}") for part in PARTS})
    found.update({name: _version(name) for name in EXTRAS})
    return found


def main(arguments: list[str], prog: str = "facula info") -> int:
    argparse.ArgumentParser(prog=prog, description=__doc__).parse_args(arguments)
    lines = facts()
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:<{width}}  {value}")
    return 0
