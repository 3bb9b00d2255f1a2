"""Every operator beside PyTorch's, over PyTorch's own samples of it (OpInfo): values, dtypes, shapes, strides, gradients, refusals.

A few samples of a few dtypes each, so that all entries take minutes; FACULA_OPERATOR_SAMPLES=24 looks at that many of every dtype.
`python operator_survey.py --wide REGEX` shows everything about some entries. What differs stands in operator_differences.py, held exactly.
"""

import os

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations")

from operator_compare import of_entry  # noqa: E402 - without PyTorch there is nothing to import it for
from operator_differences import KNOWN  # noqa: E402
from operator_samples import DTYPES, entries  # noqa: E402

ENTRIES = entries()
MOST = int(os.environ.get("FACULA_OPERATOR_SAMPLES", 0))
BY_NAME = {str(d).removeprefix("torch."): d for d in DTYPES}
QUICK = [BY_NAME[n] for n in ("float64", "complex128", "float32", "int64", "bool")]
SIGNED = [d for n, d in BY_NAME.items() if n not in ("uint16", "uint32", "uint64")]


def kinds(op, wanted=None):
    """kind -> its first text; stops early once all wanted kinds have been met."""
    found = {}
    for kind, text in of_entry(op, SIGNED if wanted or MOST else QUICK, MOST or (24 if wanted else 3)):
        found.setdefault(kind, text)
        if wanted and wanted <= found.keys():
            break
    return found


@pytest.mark.parametrize("name", ENTRIES)
def test_operator_is_like_pytorchs(name):
    known = KNOWN.get(name, {})
    found = kinds(ENTRIES[name])
    surprising = [f"{kind}: {text}" for kind, text in found.items() if kind not in known]

    assert not surprising, "\n".join(surprising)

    gone = known.keys() - found.keys()
    gone = gone and gone - kinds(ENTRIES[name], gone).keys()

    assert not gone, f"no longer different in {', '.join(gone)}: take that out of operator_differences.py"


def test_every_known_difference_is_of_an_entry():
    assert not KNOWN.keys() - ENTRIES.keys()
