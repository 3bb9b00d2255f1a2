"""Selective checkpointing: a policy says which operations' results the second run gets from the first instead of computing them."""

from __future__ import annotations

import enum
from typing import Any

from . import _core
from ._core import GradError, Tensor, extend
from ._support import relined
from .profiler import lines

__all__ = ["CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]


class CheckpointPolicy(enum.Enum):
    """Whether an operation's result is kept or computed again. Nothing here overrides a preference, so PREFER acts as MUST.

    >>> [policy.name for policy in facula.utils.checkpoint.CheckpointPolicy]
    ['MUST_SAVE', 'PREFER_SAVE', 'MUST_RECOMPUTE', 'PREFER_RECOMPUTE']
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class Log:
    """An interpreter that writes down the operators of one run, each with what it gave and the line that called it: what debug=True shows."""

    def __init__(self) -> None:
        self.rows = []

    def __call__(self, op, args, kwargs) -> Any:
        called = f"  {len(self.rows) + 1}: {op.name}" + "".join(f"  at {line}" for line in lines()[:1])
        self.rows.append(called)  # before it runs: the second run may end inside
        out = relined(extend.call(op, *args, **kwargs))
        gave = ", ".join(f"{t.dtype}{list(t.shape)}" for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, Tensor))
        self.rows[-1] = f"{called}  -> {gave}"
        return out


class SelectiveCheckpointContext:
    """What a policy is called with first: which run it is asked for.

    >>> facula.utils.checkpoint.SelectiveCheckpointContext(is_recompute=True).is_recompute
    True
    """

    def __init__(self, *, is_recompute) -> None:
        self.is_recompute = is_recompute


class _Run:
    """One run of the checkpointed function, listening at the interpret door."""

    def __init__(self, policy, kept, again, mutation) -> None:
        self.policy, self.kept, self.mutation = policy, kept, mutation
        self.about = SelectiveCheckpointContext(is_recompute=again)
        self.heard = self.second if again else self.first

    def __enter__(self) -> None:
        self.door = extend.interpreter(self.heard)
        self.door.__enter__()

    def __exit__(self, *exc) -> None:
        self.door.__exit__(None, None, None)

    def saves(self, op, args, kwargs) -> bool:
        if kwargs or op.writes or op.kind in ("view", "random"):
            return False  # a view costs nothing, and a write has to happen
        answer = self.policy(self.about, op, *args)
        if isinstance(answer, bool):
            answer = CheckpointPolicy.MUST_SAVE if answer else CheckpointPolicy.PREFER_RECOMPUTE
        if not isinstance(answer, CheckpointPolicy):
            raise TypeError(f"create_selective_checkpoint_contexts: the policy must return a CheckpointPolicy or a bool, not {type(answer).__name__}.")
        return answer in SAVES

    def first(self, op, args, kwargs) -> Any:
        out = extend.call(op, *args, **kwargs)
        if self.saves(op, args, kwargs):
            outs = out if isinstance(out, (tuple, list)) else (out,)
            kept = [t.detach() for t in outs]
            self.kept.setdefault(op.name, []).append((type(out), kept, [_core.tensor_version(t) for t in kept]))
        return out

    def second(self, op, args, kwargs) -> Any:
        if not self.saves(op, args, kwargs):
            return extend.call(op, *args, **kwargs)
        if not self.kept.get(op.name):
            if op.name in self.kept:
                raise GradError(f"checkpoint: Trying to backward an extra time: what was kept of {op.name} is gone. Go backward once through what a selective checkpoint computed.")
            raise GradError(f"checkpoint: {op.name} was not kept in the first run, but the policy asks for it in the second. The policy must answer the same each time.")
        kind, kept, versions = self.kept[op.name].pop(0)
        if not self.mutation and any(_core.tensor_version(t) != v for t, v in zip(kept, versions)):
            raise GradError(f"checkpoint: the kept result of {op.name} has been mutated: it was modified in place. Clone it first, or set allow_cache_entry_mutation=True.")
        outs = [t.detach() for t in kept]
        out = outs[0] if issubclass(kind, Tensor) else tuple(outs)
        if any(isinstance(t, Tensor) and t._origin is not None for a in args for t in (a if isinstance(a, (tuple, list)) else (a,))):
            _core.record[op.id](out, *args)
        return out


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False) -> tuple:
    """Two contexts for checkpoint(context_fn=...): results that the policy wants kept are not computed again.

    The policy is called as policy(context, op, *args), where op is a row of facula.tensor_core.extend.ops, and returns a
    CheckpointPolicy; a list of rows or of their names keeps those.

    >>> from facula.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> y = checkpoint(facula.exp, x, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts([]))
    >>> y.backward()
    >>> x.grad
    tensor([7.3891])
    """
    if callable(policy_fn_or_list):
        policy = policy_fn_or_list
    elif isinstance(policy_fn_or_list, list):
        names = {name for op in policy_fn_or_list for name in getattr(op, "rows", None) or (getattr(op, "name", op),)}
        unknown = sorted(map(str, names - set(_core.ops)))
        if unknown:
            raise ValueError(f"create_selective_checkpoint_contexts: {', '.join(unknown)} is no operation. Expected op in `op_list` to be an OpOverload, or a row or its name, of facula.tensor_core.extend.ops.")

        def policy(context, op, *args) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op.name in names else CheckpointPolicy.PREFER_RECOMPUTE
    else:
        raise TypeError(f"create_selective_checkpoint_contexts: expected a function or a list of operations, not {type(policy_fn_or_list).__name__}.")
    kept = {}
    return _Run(policy, kept, False, allow_cache_entry_mutation), _Run(policy, kept, True, allow_cache_entry_mutation)
