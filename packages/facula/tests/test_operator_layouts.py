"""Every operator beside PyTorch's where its arguments are transposed, have their channels last or a step between elements.

Strides, offsets, bases and shared memory of results, gradients and their strides, writes in place and what they leave in gaps.
`python operator_layouts.py REGEX` shows everything about some entries, in more layouts. What differs stands in operator_layout_differences.py.
"""

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations")

from operator_layout_differences import KNOWN  # noqa: E402 - without PyTorch there is nothing to import it for
from operator_layouts import quick  # noqa: E402
from operator_samples import entries  # noqa: E402

ENTRIES = entries()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_operator_is_like_pytorchs_in_any_layout(name):
    known, found = KNOWN.get(name, {}), {}
    for kind, text in quick(ENTRIES[name]):
        found.setdefault(kind, text)
    surprising = [f"{kind}: {text}" for kind, text in found.items() if kind not in known]

    assert not surprising, "\n".join(surprising)
    assert not known.keys() - found.keys(), f"no longer different in {', '.join(known.keys() - found.keys())}: take that out of operator_layout_differences.py"


def test_every_known_difference_is_of_an_entry():
    assert not KNOWN.keys() - ENTRIES.keys()
