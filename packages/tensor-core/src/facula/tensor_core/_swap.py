"""Two tensors change places: each object gets the other's memory, class and attributes."""

import weakref

from facula.tensor_core._tensor import Tensor

_SLOTS = ("_h", "_shape", "base", "_grad")


def swap_tensors(t1, t2):
    """What t1 was becomes t2, and the other way round, while both stay the objects that they are.

    Raises RuntimeError where somebody refers to one of them weakly, or where one is part of a graph.

    >>> import facula
    >>> a, b = facula.ones(2), facula.zeros(3)
    >>> facula.utils.swap_tensors(a, b)
    >>> a.shape, b.shape
    (torch.Size([3]), torch.Size([2]))
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors: {name} must be a Tensor, not {type(t).__name__}.")
        if t.origin is not None and not t.is_leaf:
            raise RuntimeError(f"swap_tensors: {name} is a result with history. Detach it first.")
    wanted = t1.requires_grad, t2.requires_grad
    for t in (t1, t2):
        if t.origin is not None:
            t.requires_grad = False  # the leaf's node, which refers to it weakly, goes
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"swap_tensors: cannot swap {name} because it has weakref associated with it. Drop the graphs that were computed from it.")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in _SLOTS:
        values = [getattr(t, slot, None) for t in (t2, t1)]
        for t, value in zip((t1, t2), values):
            setattr(t, slot, value)
    t2.requires_grad, t1.requires_grad = wanted
