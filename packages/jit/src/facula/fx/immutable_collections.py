"""Lists and dicts that cannot be changed: the arguments of nodes, whose users must stay known."""

from __future__ import annotations

from typing import Any

from facula.utils._pytree import register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]


def _refusing(kind: type, *names: str) -> dict[str, Any]:
    def refusal(name: str) -> Any:
        def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
            raise TypeError(
                f"{name}: {type(self).__name__} cannot be changed: arguments of a node are set as a whole. "
                "Assign node.args or node.kwargs anew, or copy it first."
            )

        return refuse

    return {name: refusal(f"{kind.__name__}.{name}") for name in names}


class immutable_list(list):
    """A list that hashes and cannot be changed.

    >>> from facula.fx.immutable_collections import immutable_list
    >>> try:
    ...     immutable_list([1, 2]).append(3)
    ... except (TypeError, NotImplementedError):
    ...     print("refused")
    refused
    """

    vars().update(_refusing(list, "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict that hashes and cannot be changed.

    >>> from facula.fx.immutable_collections import immutable_dict
    >>> try:
    ...     immutable_dict(a=1)["a"] = 2
    ... except (TypeError, NotImplementedError):
    ...     print("refused")
    refused
    """

    vars().update(_refusing(dict, "__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return immutable_dict, (tuple(self.items()),)


register_pytree_node(immutable_list, lambda a: (list(a), None), lambda values, _: immutable_list(values))
register_pytree_node(immutable_dict, lambda a: (list(a.values()), list(a)), lambda values, keys: immutable_dict(zip(keys, values)))
