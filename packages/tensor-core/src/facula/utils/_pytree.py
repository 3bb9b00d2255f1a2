"""Trees of containers: lists, tuples, named tuples, dicts and what is registered; anything else is a leaf.

    >>> from facula.utils._pytree import tree_map
    >>> tree_map(lambda x: x + 1, {"a": [1, (2, 3)]})
    {'a': [2, (3, 4)]}
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any, Callable, NamedTuple

from facula import Size


class NodeDef(NamedTuple):
    flatten: Callable  # container -> (children, context)
    unflatten: Callable  # (children, context) -> container
    with_keys: Callable | None = None  # container -> ([(key, child), ...], context)


class ConstantNode(NamedTuple):
    """What a constant leaves in a tree's description."""

    value: Any


class SequenceKey(NamedTuple):
    """A child's place in a list or tuple, in a key path."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A child's key in a dict, in a key path."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A child's name in a named tuple or object, in a key path."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


def _dict_flatten(d: dict) -> tuple[list, list]:
    return list(d.values()), list(d)


def _dict_unflatten(values: Any, context: Any) -> dict:
    return dict(zip(context, values))


def _dict_flatten_with_keys(d: dict) -> tuple[list, list]:
    return [(MappingKey(k), v) for k, v in d.items()], list(d)


def _list_flatten(d: list) -> tuple[list, None]:
    return d, None


def _list_unflatten(values: Any, context: Any) -> list:
    return list(values)


def _list_flatten_with_keys(d: list) -> tuple[list, None]:
    return [(SequenceKey(i), v) for i, v in enumerate(d)], None


def _tuple_flatten(d: tuple) -> tuple[list, None]:
    return list(d), None


def _tuple_unflatten(values: Any, context: Any) -> tuple:
    return tuple(values)


NODES: dict[type, NodeDef] = {
    list: NodeDef(_list_flatten, _list_unflatten),
    tuple: NodeDef(_tuple_flatten, _tuple_unflatten),
    Size: NodeDef(_tuple_flatten, _tuple_unflatten),
    dict: NodeDef(_dict_flatten, _dict_unflatten),
    OrderedDict: NodeDef(lambda x: (list(x.values()), list(x)), lambda values, keys: OrderedDict(zip(keys, values))),
    defaultdict: NodeDef(
        lambda x: (list(x.values()), (x.default_factory, list(x))), lambda values, context: defaultdict(context[0], zip(context[1], values))
    ),
    deque: NodeDef(lambda x: (list(x), x.maxlen), lambda values, length: deque(values, maxlen=length)),
}
SUPPORTED_NODES = NODES
Context = Any


def _named_flatten(d: Any) -> tuple[list, type]:
    return list(d), type(d)


def _named_unflatten(values: Any, context: type) -> Any:
    return context(*values)


_NAMED = NODES[namedtuple] = NodeDef(_named_flatten, _named_unflatten)  # a kind of type, whose context says which


def register_pytree_node(
    cls: type, flatten_fn: Callable, unflatten_fn: Callable, *, flatten_with_keys_fn: Callable | None = None, **_names: Any
) -> None:
    """Let instances of cls be containers. flatten_fn(x) -> (children, context), unflatten_fn(children, context) -> x.

    flatten_with_keys_fn(x) -> ([(key, child), ...], context), for functions of key paths."""
    if cls in NODES:
        raise ValueError(f"{cls.__name__} is already registered as pytree node.")
    NODES[cls] = NodeDef(flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None, **_names: Any
) -> None:
    """Let instances of a dataclass be containers of their fields, but of drop_field_names, which take their defaults when one is made again."""
    import dataclasses

    dropped = list(drop_field_names or ())
    if field_names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(f"register_dataclass: field_names must be specified with all fields that {cls} is made of, as it is not a dataclass.")
        field_names = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in dropped]
    elif dataclasses.is_dataclass(cls) and (needed := {f.name for f in dataclasses.fields(cls) if f.init} - {*dropped}) != set(field_names):
        raise ValueError(f"register_dataclass: field_names {field_names} are not those that {cls} is made of, {sorted(needed)}. Name the others in drop_field_names.")
    names = list(field_names)

    def flatten(x: Any) -> tuple[list, list]:
        return [getattr(x, name) for name in names], [names, []]

    def with_keys(x: Any) -> tuple[list, list]:
        return [(GetAttrKey(name), getattr(x, name)) for name in names], [names, []]

    NODES.pop(cls, None)
    register_pytree_node(cls, flatten, lambda values, _: cls(**dict(zip(names, values))), flatten_with_keys_fn=with_keys)


def register_constant(cls: type) -> None:
    """Let instances of cls be containers of nothing, which are compared when trees are."""
    for word in ("__eq__", "__hash__"):
        if getattr(cls, word) in (None, getattr(object, word)):
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{word}` implementation. {cls.__name__} has none.")
    register_pytree_node(cls, lambda x: ([], ConstantNode(x)), lambda _, context: context.value, flatten_with_keys_fn=lambda x: ([], ConstantNode(x)))


def _node(x: Any) -> NodeDef | None:
    found = NODES.get(type(x))
    return _NAMED if found is None and isinstance(x, tuple) and hasattr(x, "_fields") else found


def _get_node_type(tree: Any) -> Any:
    """The type under which a tree's root is registered; named tuples are one kind."""
    return namedtuple if _node(tree) is _NAMED else type(tree)


def _is_leaf(tree: Any, is_leaf: Callable | None = None) -> bool:
    return (is_leaf is not None and is_leaf(tree)) or _node(tree) is None


tree_is_leaf = _is_leaf


def _keyed(tree: Any, node: NodeDef) -> list:
    """(key, child) for every child of a container."""
    if node.with_keys is not None:
        return node.with_keys(tree)[0]
    children, context = node.flatten(tree)
    if node is _NAMED:
        keys: Any = map(GetAttrKey, tree._fields)
    elif isinstance(tree, dict):
        keys = map(MappingKey, tree)
    else:
        keys = map(SequenceKey, range(len(children)))
    return list(zip(keys, children))


_DICTS = (dict, OrderedDict, defaultdict)  # which may stand for one another where shapes are compared


class TreeSpec:
    """The shape of a tree: container type, its context, and the specs of its children. A leaf has no type."""

    def __init__(self, type: Any, context: Any, children_specs: list["TreeSpec"]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def children(self) -> list["TreeSpec"]:
        """The specs of the root's children."""
        return list(self.children_specs)

    def child(self, index: int) -> "TreeSpec":
        """The spec of one child of the root."""
        return self.children_specs[index]

    def unflatten(self, leaves: Any) -> Any:
        """The tree of this shape with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree: Any) -> list:
        """The parts of tree that stand where this shape has leaves. Raises ValueError where tree has another shape above them.

        >>> tree_structure([0, 0]).flatten_up_to([{"a": 1}, (2, 3)])
        [{'a': 1}, (2, 3)]
        """
        found: list = []
        self._walk_up_to(tree, found)
        return found

    def _walk_up_to(self, tree: Any, found: list) -> None:
        if self.type is None:
            found.append(tree)
            return
        node = _node(tree)
        root = None if node is None else _get_node_type(tree)
        if root is not self.type and not (root in _DICTS and self.type in _DICTS):
            raise ValueError(f"flatten_up_to: Node type mismatch; expected {self.type.__name__}, but got {type(tree).__name__}. Give a tree of this shape.")
        children, context = node.flatten(tree)
        if len(children) != self.num_children:
            raise ValueError(f"flatten_up_to: Node arity mismatch; expected {self.num_children}, but got {len(children)}. Give a tree of this shape.")
        if self.type in _DICTS:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"flatten_up_to: Node keys mismatch; expected {keys}, but got {list(tree)}. Give a tree of this shape.")
            children = [tree[k] for k in keys]
        elif self.type is not deque and context != self.context:
            raise ValueError(f"flatten_up_to: Node context mismatch; expected {self.context}, but got {context}. Give a tree of this shape.")
        for spec, child in zip(self.children_specs, children):
            spec._walk_up_to(child, found)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec) and self.type is other.type and self.context == other.context and self.children_specs == other.children_specs
        )

    __hash__ = None  # contexts may be lists

    def __repr__(self) -> str:
        return "*" if self.type is None else f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


PyTree = Any
_LEAF = LeafSpec()


def _flatten(tree: Any, leaves: list, is_leaf: Callable | None) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF
    children, context = node.flatten(tree)
    return TreeSpec(namedtuple if node is _NAMED else type(tree), context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """(leaves, spec), from which tree_unflatten makes the tree again."""
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    values = [_build(leaves, c) for c in spec.children_specs]
    return NODES[spec.type].unflatten(values, spec.context)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The tree of this shape with these leaves. Raises ValueError where their number does not fit."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds {treespec.num_leaves} items.")
    return _build(iter(leaves), treespec)


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves, in order."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list:
    """The leaves of a call's arguments, the positional ones first.

    >>> arg_tree_leaves([1, 2], scale=3)
    [1, 2, 3]
    """
    return tree_leaves((args, kwargs))


def tree_iter(tree: Any, is_leaf: Callable | None = None) -> Any:
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The shape alone."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """The tree with func applied to each leaf (and to the leaves of `rests` at its place)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten([func(*values) for values in zip(leaves, *map(spec.flatten_up_to, rests))], spec)


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map for its effects: returns the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _only(kinds: Any, func: Callable) -> Callable:
    test = kinds if callable(kinds) and not isinstance(kinds, type) else lambda x: isinstance(x, kinds)
    return lambda x: func(x) if test(x) else x


def tree_map_only(type_or_types_or_pred: Any, func: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map for leaves of the given types (or for which the predicate holds); others stay."""
    return tree_map(_only(type_or_types_or_pred, func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Does pred hold for every leaf?"""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Does pred hold for a leaf?"""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(kind: Any, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Does pred hold for every leaf of the type?"""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind: Any, pred: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Does pred hold for a leaf of the type?"""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def tree_flatten_with_path(tree: Any, is_leaf: Callable | None = None) -> tuple[list, TreeSpec]:
    """([(key path, leaf), ...], spec): a key path is a tuple of SequenceKey, MappingKey and GetAttrKey."""
    found: list = []

    def walk(part: Any, path: tuple) -> None:
        node = None if is_leaf is not None and is_leaf(part) else _node(part)
        if node is None:
            found.append((path, part))
            return
        for key, child in _keyed(part, node):
            walk(child, (*path, key))

    walk(tree, ())
    return found, tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Callable | None = None) -> list:
    """The leaves with their key paths."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_map_with_path(func: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """tree_map of a function (key path, leaf, ...)."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    return tree_unflatten([func(*pair, *values) for pair, *values in zip(pairs, *map(spec.flatten_up_to, rests))], spec)


def keystr(kp: tuple) -> str:
    """A key path as Python would write it."""
    return "".join(map(str, kp))


def is_namedtuple_instance(obj: Any) -> bool:
    """Is it a named tuple?"""
    return _node(obj) is _NAMED and not is_structseq_instance(obj)


def is_structseq_instance(obj: Any) -> bool:
    """Is it a named tuple of those that functions return, such as max's (values, indices)?"""
    return isinstance(obj, tuple) and type(obj).__module__.endswith("return_types") or hasattr(type(obj), "n_sequence_fields")
