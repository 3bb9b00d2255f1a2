"""Gradients of every operator beside PyTorch's, and gradients of gradients, where what comes in is transposed or has a step between elements.

`python operator_incoming.py REGEX` shows everything about some entries, in more layouts. What differs stands in operator_layout_differences.py.
"""

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations")

from operator_incoming import quick  # noqa: E402 - without PyTorch there is nothing to import it for
from operator_layout_differences import INCOMING  # noqa: E402
from operator_samples import entries  # noqa: E402

ENTRIES = entries()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_gradients_are_like_pytorchs_whatever_comes_in(name):
    known, found = INCOMING.get(name, {}), {}
    for kind, text in quick(ENTRIES[name]):
        found.setdefault(kind, text)
    surprising = [f"{kind}: {text}" for kind, text in found.items() if kind not in known]

    assert not surprising, "\n".join(surprising)
    assert not known.keys() - found.keys(), f"no longer different in {', '.join(known.keys() - found.keys())}: take that out of operator_layout_differences.py"


def test_every_known_difference_of_gradients_is_of_an_entry():
    assert not INCOMING.keys() - ENTRIES.keys()
