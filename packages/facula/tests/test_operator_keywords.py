"""Every operator called as PyTorch documents it: all arguments by their names, in their order, defaults written out, `axis` for `dim`."""

import pytest

pytest.importorskip("torch.testing._internal.common_methods_invocations")

import torch  # noqa: E402 - without PyTorch there is nothing to import it for
from known_differences import assert_only_known_differ  # noqa: E402
from operator_keywords import of_entry  # noqa: E402
from operator_samples import entries  # noqa: E402

ENTRIES = entries()
DTYPES = (torch.float32, torch.int64)


def kinds(names, ways, what, why):
    """The same difference in several ways of calling several functions."""
    return {f"{name} {way} {what}": why for name in names for way in ways}


FIRST = "of two operands PyTorch calls the first self where it may be a number"
SELF = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor bucketize float_power pow remainder xlogy".split()
KNOWN = {name: kinds([name], ("keywords", "defaults"), "raises", FIRST) for name in SELF}


@pytest.mark.usefixtures("one_thread_of_pytorch")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_operator_takes_pytorchs_keywords(name):
    found = {}
    for kind, text in of_entry(ENTRIES[name], DTYPES, 1):
        found.setdefault(kind, text)

    assert_only_known_differ(found, KNOWN.get(name, {}))


def test_every_known_difference_is_of_an_entry():
    assert not KNOWN.keys() - ENTRIES.keys()
