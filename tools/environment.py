"""One virtual environment for the tools, made at first need and kept in .venv-tools."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv-tools"


def declared(name):
    """A list in tensor-core's project file: `requires`, what it is built with, or `dependencies`."""
    text = (ROOT / "packages/tensor-core/pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)\]", text, re.M | re.S)[1])


def python_of(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(folder, requirements):
    """The interpreter of `folder`, a virtual environment that has the requirements; made or completed if need be."""
    python, stamp = python_of(folder), folder / "requirements.txt"
    wanted = "\n".join([sys.version, *sorted(requirements)])
    if not python.exists():
        try:
            venv.create(folder, with_pip=True)
        except OSError as error:
            sys.exit(f"{folder} cannot be made: {error.strerror}. Copy the clone to where you may write; pip installs the folders of packages/ from where they are.")
    have = stamp.read_text() if stamp.exists() else ""
    if not set(wanted.splitlines()) <= set(have.splitlines()):
        pip(python, "install", *requirements)
        stamp.write_text("\n".join(sorted({*wanted.splitlines(), *have.splitlines()})))
    return python


def pip(python, *arguments):
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-qq", *map(str, arguments)], check=True)
