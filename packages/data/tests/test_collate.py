from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from backend import data, torch

Point = namedtuple("Point", "x y")


def plain(value):
    """Tensors as (dtype, list), inside containers, which keep their type's name."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype).rpartition(".")[2], value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(v) for v in value]
    return value


BATCHES = [
    ([0, 1, 2], ("int64", [0, 1, 2])),
    ([0.5, 1.5], ("float64", [0.5, 1.5])),
    ([True, False], ("bool", [True, False])),
    (["a", "b"], ("list", ["a", "b"])),
    ([(1, "a"), (2, "b")], ("list", [("int64", [1, 2]), ("tuple", ["a", "b"])])),
    ([[1, 2.0], [3, 4.0]], ("list", [("int64", [1, 3]), ("float64", [2.0, 4.0])])),
    ([Point(1, 2.0), Point(3, 4.0)], ("Point", [("int64", [1, 3]), ("float64", [2.0, 4.0])])),
    ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], ("dict", {"a": ("int64", [1, 2]), "b": ("list", ["x", "y"])})),
    ([OrderedDict(a=1), OrderedDict(a=2)], ("OrderedDict", {"a": ("int64", [1, 2])})),
    ([np.float32(1.5), np.float32(2.5)], ("float32", [1.5, 2.5])),
    ([np.float64(1.5), np.float64(2.5)], ("float64", [1.5, 2.5])),
    ([np.arange(2), np.arange(2)], ("int64", [[0, 1], [0, 1]])),
]


@pytest.mark.parametrize("samples,expected", BATCHES, ids=lambda v: repr(v)[:40])
def test_samples_are_stacked_inside_their_containers(samples, expected):
    assert expected == plain(data.default_collate(samples))


def test_tensors_are_stacked():
    assert ("float32", [[0, 0], [1, 1]]) == plain(data.default_collate([torch.zeros(2), torch.ones(2)]))


CONVERTED = [
    (0, 0),
    ("a", "a"),
    (np.array([0, 1]), ("int64", [0, 1])),
    ((np.array(1.5), 2), ("list", [("float64", 1.5), 2])),
    (Point(np.array(1), 0), ("Point", [("int64", 1), 0])),
    ({"a": [np.array(1)]}, ("dict", {"a": ("list", [("int64", 1)])})),
]


@pytest.mark.parametrize("value,expected", CONVERTED, ids=lambda v: repr(v)[:40])
def test_convert_makes_arrays_tensors_and_leaves_the_rest(value, expected):
    assert expected == plain(data.default_convert(value))


def test_convert_leaves_arrays_of_strings():
    text = np.array(["a", "b"])

    assert text is data.default_convert(text)


@pytest.mark.parametrize(
    "samples,error,text",
    [
        ([[1, 2], [1]], RuntimeError, "equal size"),
        ([object(), object()], TypeError, "object"),
        ([np.array(["a"])], TypeError, "<U1"),
        ([None], TypeError, "NoneType"),
    ],
)
def test_what_cannot_be_a_batch_is_named(samples, error, text):
    with pytest.raises(error, match=text):
        data.default_collate(samples)


@pytest.mark.facula_only
def test_own_types_are_added_to_the_map():
    table = {**data.default_collate_fn_map, complex: lambda batch, *, collate_fn_map=None: sum(batch)}

    assert [3 + 1j] == data.collate([(1 + 1j,), (2 + 0j,)], collate_fn_map=table)
