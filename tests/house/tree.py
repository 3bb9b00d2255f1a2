"""Where things are in the checkout, read from the checkout: no list of parts is written down here."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = sorted(p.parent.name for p in ROOT.glob("packages/*/pyproject.toml"))

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "packages/tensor-core")]
sys.dont_write_bytecode = True


def modules(part):
    """Every Python file that the part ships, with its dotted name."""
    source = ROOT / "packages" / part / "src"
    for path in sorted(source.rglob("*.py")):
        names = list(path.relative_to(source).with_suffix("").parts)
        yield path, ".".join(names[:-1] if names[-1] == "__init__" else names)


def owner_of():
    """Dotted module or package -> the part that ships it."""
    owner = {}
    for part in PARTS:
        for _, name in modules(part):
            owner[name] = part
    return owner
