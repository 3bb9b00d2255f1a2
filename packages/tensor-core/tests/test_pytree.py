"""Trees of containers, held against PyTorch's where it is installed."""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple

import pytest
from facula.utils import _pytree as tree

Point = namedtuple("Point", "x y")
TREES = (
    3, [1, [2, 3]], (1, (2,), []), {"b": 1, "a": [2, {"c": 3}]}, OrderedDict(z=1, y=(2, 3)), Point(1, [2, 3]), defaultdict(list, a=1), [None, "s", {}],
)  # fmt: skip


@pytest.mark.parametrize("x", TREES, ids=repr)
def test_leaves_and_back(x):
    leaves, spec = tree.tree_flatten(x)

    assert x == tree.tree_unflatten(leaves, spec) and type(x) is type(tree.tree_unflatten(leaves, spec))
    assert spec == tree.tree_structure(x) and len(leaves) == spec.num_leaves
    theirs = pytest.importorskip("torch.utils._pytree", reason="compares with PyTorch, which is not installed")
    assert theirs.tree_leaves(x) == leaves


def test_maps():
    assert [2, (3, {"a": 4})] == tree.tree_map(lambda x: x + 1, [1, (2, {"a": 3})])
    assert [3, 5] == tree.tree_map(lambda x, y: x + y, [1, 2], [2, 3])
    assert [1, "bc"] == tree.tree_map_only(str, lambda s: s + "c", [1, "b"])
    assert tree.tree_any(lambda x: x > 2, [1, [3]]) and not tree.tree_all(lambda x: x > 2, [1, [3]])
    assert [[1], [2]] == tree.tree_leaves([[1], [2]], is_leaf=lambda x: x in ([1], [2]))


def test_registered_types_and_bad_calls():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda values, _: Pair(*values))
    doubled = tree.tree_map(lambda x: 2 * x, Pair(1, [2]))

    assert (2, [4]) == (doubled.a, doubled.b)
    with pytest.raises(ValueError, match="already"):
        tree.register_pytree_node(Pair, None, None)
    with pytest.raises(ValueError, match="3"):
        tree.tree_unflatten([1, 2, 3], tree.tree_structure([1]))
    with pytest.raises(ValueError, match="expected 2, but got 1"):
        tree.tree_map(max, [1, 2], [1])


def test_dataclasses_and_constants():
    @dataclasses.dataclass
    class Pair:
        a: object
        b: object = 3

    class Fixed:
        def __eq__(self, other):
            return isinstance(other, Fixed)

        def __hash__(self):
            return 1

    tree.register_dataclass(Pair)
    fixed = Fixed()
    tree.register_constant(Fixed)

    assert Pair(2, [3]) == tree.tree_map(lambda v: v + 1, Pair(1, [2]))
    assert ["a", "b"] == [path[0].name for path, _ in tree.tree_flatten_with_path(Pair(1, 2))[0]]
    assert [fixed, 2] == tree.tree_map(lambda v: v + 1, [fixed, 1]) and tree.tree_structure(fixed) == tree.tree_structure(Fixed())
    tree.register_dataclass(Pair, field_names=["a"], drop_field_names=["b"])
    assert Pair(2) == tree.tree_map(lambda v: v + 1, Pair(1, 9))
    for bad in (lambda: tree.register_dataclass(int), lambda: tree.register_dataclass(Pair, field_names=["a"])):
        with pytest.raises(ValueError, match="field_names"):
            bad()
    for kind in (type("Plain", (), {}), Pair):
        with pytest.raises(TypeError, match="non-default"):
            tree.register_constant(kind)
