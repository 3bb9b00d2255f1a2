"""Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any, Iterable, Iterator, Mapping

from ._containers_repr import grouped_repr
from .module import Module

__all__ = ["Sequential", "ModuleList", "ModuleDict", "Container"]


class Container(Module):
    """Modules by keyword; kept for old code, use Module.

    >>> model = facula.nn.Container(hidden=facula.nn.Linear(2, 3), out=facula.nn.Linear(3, 1))
    >>> [name for name, child in model.named_children()]
    ['hidden', 'out']
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


def index_within(idx: Any, size: int) -> int:
    """`idx` as a place in 0 .. size-1; IndexError outside."""
    idx = operator.index(idx)
    if not -size <= idx < size:
        raise IndexError(f"index {idx} is out of range")
    return idx % size


class _Numbered(Module):
    """Modules under the names "0", "1", ...: what Sequential and ModuleList have in common."""

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        self.__dict__["_modules"] = {str(k): m for k, m in enumerate(modules)}

    def _key(self, idx: Any) -> str:
        return list(self._modules)[index_within(idx, len(self))]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __contains__(self, item: Any) -> bool:
        return any(item is m for m in self._modules.values())

    def __setitem__(self, idx: Any, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: Any) -> None:
        if isinstance(idx, slice):
            for key in list(self._modules)[idx]:
                delattr(self, key)
        else:
            delattr(self, self._key(idx))
        self._renumber(self._modules.values())

    def append(self, module: Module) -> Any:
        """Add one module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put one module before place `index`."""
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end; returns self."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: Any) -> Module:
        """Remove and return one module."""
        module = self[key]
        del self[key]
        return module

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules called one after the other, each on the result of the last.

    Sequential(module, ...) names them "0", "1", ...; Sequential(OrderedDict) takes the dict's names.

    >>> import facula
    >>> from facula import nn
    >>> nn.Sequential(nn.Flatten(), nn.ReLU())(facula.tensor([[[-1.0, 2.0]]]))
    tensor([[0., 2.]])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for k, module in enumerate(args):
                self.add_module(str(k), module)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def __delitem__(self, idx: Any) -> None:
        keys = list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]
        numbered = list(self._modules) == [str(k) for k in range(len(self))]
        for key in keys:
            delattr(self, key)
        if numbered:  # an OrderedDict's names stay
            self._renumber(self._modules.values())

    def insert(self, index: int, module: Module) -> Sequential:
        """Put one module before place `index`; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}. Got {type(module).__name__}.")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add the modules of `sequential` at the end; returns self."""
        return super().extend(sequential)

    def __add__(self, other: Any) -> Sequential:
        self._check_operand(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        self._check_operand(other)
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        self._check_count(other)
        return Sequential(*(m for _ in range(other) for m in self))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._check_count(other)
        modules = list(self)
        for _ in range(other - 1):
            self.extend(modules)
        return self

    def _check_operand(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def _check_count(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that are registered: their parameters are part of the owner's.

    >>> import facula
    >>> from facula import nn
    >>> len(nn.ModuleList([nn.ReLU(), nn.Tanh()]))
    2
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._key(idx)]

    def insert(self, index: int, module: Module) -> None:
        """Put one module before place `index`, which counts from the front. Raises KeyError for a negative one."""
        if index < 0:
            raise KeyError(f"ModuleList.insert: index {index} is negative. Count from the front: {len(self) + index}.")
        super().insert(index, module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return type(self)([*self, *other])

    def __repr__(self) -> str:
        return grouped_repr(self._get_name(), [repr(m) for m in self])


class ModuleDict(Module):
    """A dict of modules that are registered, in insertion order.

    >>> import facula
    >>> from facula import nn
    >>> list(nn.ModuleDict({"a": nn.ReLU()}))
    ['a']
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: Any) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove and return the module under `key`."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """(name, module) pairs."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add or replace from a mapping or from (name, module) pairs."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules).__name__}"
            )
        if isinstance(modules, (Mapping, ModuleDict)):
            modules = modules.items()
        for k, pair in enumerate(modules):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ModuleDict update sequence element #{k} should be Iterable; is {type(pair).__name__}")
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"ModuleDict update sequence element #{k} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]
