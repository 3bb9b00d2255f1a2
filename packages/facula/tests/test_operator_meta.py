"""Every operator beside PyTorch's on the meta device: shapes, dtypes, strides and devices of results, without memory.

`python operator_meta.py REGEX` shows everything about some entries, in more layouts.
"""

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations")

from operator_meta import quick  # noqa: E402 - without PyTorch there is nothing to import it for
from operator_samples import entries  # noqa: E402

ENTRIES = entries()
KNOWN = {"chalf": "complex32 is not a dtype here"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_operator_is_like_pytorchs_without_memory(name):
    found = [f"{kind}: {text}" for kind, text in quick(ENTRIES[name])]

    assert bool(found) == (name in KNOWN), "\n".join(found) or f"no longer different: take {name} out"
