"""torch.utils.flop_counter: multiplications and additions of matrix products and convolutions, two for each product."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import facula
from facula.tensor_core import extend
from facula.utils._pytree import tree_map

from . import _library
from ._operators import _Operator

__all__ = ["FlopCounterMode", "flop_registry", "register_flop_formula"]

flop_registry: dict[Any, Any] = {}  # operator -> formula of tensors


def _flops(op: Any, args: tuple, result: Any) -> int:
    """2 * (elements of the result) * (length of the sum behind each)."""
    if not isinstance(result, facula.Tensor):
        return 0
    if op.kind == "dot":
        tensors = [a for a in args if isinstance(a, facula.Tensor)]
        left = tensors[1] if op.name in ("addmm", "addmv", "addbmm", "baddbmm", "addr") else tensors[0]
        return 2 * result.numel() * (left.shape[-1] if left.dim() else 1)
    if op.name.startswith("conv") and len(args) > 1 and isinstance(args[1], facula.Tensor) and args[1].dim() > 2:
        x, weight = args[0], args[1]
        if dict(zip((p.name for p in op.params), args)).get("transposed", "transpose" in op.name):
            return 2 * x.numel() * math.prod(weight.shape[1:])
        return 2 * result.numel() * math.prod(weight.shape[1:])
    return 0


def _of_shapes(formula: Any) -> Any:
    """The formula of shapes as one of tensors."""

    def count(*args: Any, out_val: Any = None, **options: Any) -> Any:
        args, options, out_shape = tree_map(lambda x: x.shape if isinstance(x, facula.Tensor) else x, (args, options, out_val))
        return formula(*args, out_shape=out_shape, **options)

    return count


def register_flop_formula(targets: Any, get_raw: bool = False) -> Any:
    """A decorator: how many flops the operators `targets` (one, or a list of torch.ops.LIBRARY.NAME) take.

    The formula is given the shapes of the arguments and out_shape=; with get_raw the tensors themselves, and out_val=.
    ValueError for what is no operator, RuntimeError for one that has a formula.
    """

    def register(formula: Any) -> Any:
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, _Operator):
                raise ValueError(f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), got {target} which is of type {type(target).__name__}.")
            if target in flop_registry:
                raise RuntimeError(f"register_flop_formula: duplicate registrations for {target}. Register one formula.")
            flop_registry[target] = formula if get_raw else _of_shapes(formula)
        return formula

    return register


class FlopCounterMode:
    """A block whose operations are counted: get_total_flops(), get_flop_counts()["Global"] by the operation's name.

    mods and depth choose what a table would show of modules; only the whole is counted. display prints it at the end.
    custom_mapping: {operator: formula(*shapes of the arguments, out_shape=shape of the result)}; a formula whose attribute
    _get_raw is true is given the tensors themselves, and out_val=.
    """

    def __init__(self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict | None = None) -> None:
        self.mods, self.depth, self.display = mods, depth, display
        self.custom = {getattr(f, "__name__", str(f)): count for f, count in (custom_mapping or {}).items()}
        self.custom = {name: count if getattr(count, "_get_raw", False) else _of_shapes(count) for name, count in self.custom.items()}
        self.custom = {**{op.__name__: count for op, count in flop_registry.items()}, **self.custom}
        self.within = 0  # how many of a program's own operators are running: what they call is not counted
        self.flop_counts: dict[str, dict[str, int]] = {"Global": defaultdict(int)}

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts = {"Global": defaultdict(int)}
        self._door = extend.interpreter(self._heard)
        self._door.__enter__()
        _library.doors.append(self._operator)
        return self

    def __exit__(self, *error: Any) -> None:
        _library.doors.remove(self._operator)
        self._door.__exit__(*error)
        if self.display:
            print(self.get_table(self.depth))

    def _heard(self, op: Any, args: tuple, kwargs: dict) -> Any:
        result = extend.call(op, *args, **kwargs)
        if self.within:
            return result
        count = self.custom[op.name](*args, **kwargs, out_val=result) if op.name in self.custom else _flops(op, args, result)
        if count:
            self.flop_counts["Global"][op.name] += count
        return result

    def _operator(self, op: Any, args: tuple, kwargs: dict) -> Any:
        """One of a program's own operators, by its formula where it has one."""
        self.within += 1
        at = _library.doors.index(self._operator)
        outer, _library.doors[at:] = _library.doors[at:], []
        try:
            result = op._run(args, kwargs)
        finally:
            _library.doors[at:] = outer
            self.within -= 1
        if op.__name__ in self.custom and not self.within:
            self.flop_counts["Global"][op.__name__] += self.custom[op.__name__](*args, **kwargs, out_val=result)
        return result

    def get_total_flops(self) -> int:
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[str, int]]:
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A line for each operation, and the total."""
        rows = [*self.flop_counts["Global"].items(), ("total", self.get_total_flops())]
        return "\n".join(f"{name:<24}{count:>16,}" for name, count in rows)
