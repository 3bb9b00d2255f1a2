"""One virtual environment for the tools, made at first need and kept in .venv-tools."""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv-tools"


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(folder, requirements):
    """The interpreter of `folder`, a virtual environment that has the requirements; made or completed if need be."""
    python, stamp = python_of(folder), folder / "requirements.txt"
    wanted = "\n".join([sys.version, *sorted(requirements)])
    if not python.exists():
        venv.create(folder, with_pip=True)
    have = stamp.read_text() if stamp.exists() else ""
    if not set(wanted.splitlines()) <= set(have.splitlines()):
        pip(python, "install", *requirements)
        stamp.write_text("\n".join(sorted({*wanted.splitlines(), *have.splitlines()})))
    return python


def pip(python, *arguments):
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-qq", *map(str, arguments)], check=True)
