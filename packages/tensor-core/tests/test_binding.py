"""The objects that C makes for Python: they die when nothing refers to them, cycles included, and wrong arguments are refused."""

import gc
import re
import weakref
from pathlib import Path

import facula
import pytest
from facula.tensor_core import _errors, _types, extend
from facula.tensor_core._lib import lib

HEADER = Path(__file__).resolve().parents[3] / "csrc/include/facula_numbers.h"


class Kind(facula.Tensor):
    pass


@pytest.mark.parametrize("make", [lambda: facula.ones(3), lambda: facula.ones(3).as_subclass(Kind)], ids=["plain", "subclass"])
def test_a_tensor_that_refers_to_itself_is_collected(make):
    t = make()
    t.me = [t]
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


def test_a_tensor_dies_with_its_last_reference():
    t = facula.ones(3)
    view = t[1:]
    gone = weakref.ref(t)
    del t
    assert gone() is not None  # the view's base
    del view
    assert gone() is None


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: lib.fc_map1(0, None), TypeError), (lambda: lib.fc_map1(0, None, 3), TypeError), (lambda: lib.fc_numel("x"), TypeError),
        (lambda: lib.fc_size(facula.ones(1)._h, 2**40), OverflowError), (lambda: lib.fc_empty(11, 0, 1, [2**70]), OverflowError),
        (lambda: lib.fc_empty(11, 0, 1, 3), TypeError), (lambda: lib.fc_own_n(0, None, 1, [1], 0, [], 0, []), TypeError),
        (lambda: lib.fc_numel(None), TypeError), (lambda: lib.fc_fill(None, 1, 1, 1.0, 0.0), TypeError), (lambda: lib.fc_copy(facula.ones(1)._h, None), TypeError),
        (lambda: lib.fc_from_scalar(11, 2, 0, "x", 0.0), TypeError), (lambda: lib.tensor_of(3), TypeError), (lambda: lib.node(int, 1), TypeError),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_what_would_be_done_with_no_tensor_gives_none():
    alias, view = extend.ops["alias"].id, extend.ops["view"].id
    assert [lib.fc_view_list(view, None, 1, (-1,)), lib.fc_view_op(alias, None, 0, 0, 0, 0), lib.fc_to(None, 11, 0, 1), lib.view_list(view, None, 1, (-1,)), lib.fc_nonzero(None)] == [None] * 5


def test_what_is_no_operand_leaves_the_fast_way():
    x = facula.ones(2)
    assert [lib.binary(0, *pair) for pair in ((1, x), (x, "a"), (x, None), (x, 2**70), (x, True), (x, 1j))] == [None] * 6
    assert lib.binary(extend.ops["mul"].id, x, 3).tolist() == [3.0, 3.0]
    with pytest.raises(AttributeError):
        object.__new__(facula.Tensor)._h


def test_python_counts_as_the_header_does():
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    numbers = {name: [w.split("=")[0].strip() for w in words.split(",")] for words, name in re.findall(r"enum \{(.*?)\} (\w+);", header, re.S)}

    assert numbers["fc_code"] == ["FC_" + s.upper() for s in _errors.STATUS]
    assert numbers["fc_dt"] == [*("FC_BOOL" if d is _types.bool_ else "FC_" + d.abbr.upper() for d in _types.DTYPES), "FC_NDTYPES"]
    assert numbers["fc_dev"] == ["FC_" + d.upper() for d in _types._DEVICE_TYPES]
