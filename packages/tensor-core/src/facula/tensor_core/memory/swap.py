"""Two tensors change places: each object gets the other's memory, class and attributes."""

import weakref

from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core._tensor import Tensor

_SLOTS = ("_h", "_shape", "_viewed", "_grad")


def swap_tensors(t1, t2):
    """What t1 was becomes t2, and the other way round, while both stay the objects that they are.

    Raises RuntimeError where somebody refers to one of them weakly, or where a graph or a view keeps one. A graph that only
    leads to one may stay: backward through it is refused.

    >>> import facula
    >>> a, b = facula.ones(2), facula.zeros(3)
    >>> facula.utils.swap_tensors(a, b)
    >>> a.shape, b.shape
    (torch.Size([3]), torch.Size([2]))
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors: {name} must be a Tensor, not {type(t).__name__}.")
    kept = []
    try:
        for name, t in (("t1", t1), ("t2", t2)):
            kept.append(None if t._origin is None else _dispatch.tape.loosen(t, name))
            if weakref.getweakrefs(t):
                raise RuntimeError(f"swap_tensors: cannot swap {name} because it has weakref associated with it. Drop what refers to it.")
    except RuntimeError:
        for t, history in zip((t1, t2), kept):
            _tied(t, history)
        raise
    values = [[getattr(t, slot, None) for slot in _SLOTS] for t in (t2, t1)]  # as their own classes tell them
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for t, its, history in zip((t1, t2), values, reversed(kept)):
        for slot, value in zip(_SLOTS, its):
            setattr(t, slot, value)
        _tied(t, history)


def _tied(tensor, history):
    if history is not None:
        _dispatch.tape.tie(tensor, history)
