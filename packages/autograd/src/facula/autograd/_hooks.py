"""Hooks that a backward calls: on tensors, before and after nodes, on leaves that are filled."""

from __future__ import annotations

from ._core import GradError, Tensor


def hooks_before(node, extra, g, runs=True) -> Tensor:
    """Tensor hooks, retained gradients and node prehooks, in PyTorch's order."""
    if extra.hooks:
        for hook in list(extra.hooks.values()):
            new = hook(g)
            if new is not None:
                g = checked(hook, new, g)
    if extra.retain is not None and type(g) is not list:
        tensor = extra.retain()
        if tensor is not None:
            tensor._grad = g.clone() if tensor.grad is None else tensor.grad + g
    several = type(g) is list
    if several and extra.outputs and runs:
        hear_of_nothing(extra.outputs, g)
    if extra.before and runs:
        for hook in list(extra.before.values()):
            given = tuple(g) if several else (g,)
            new = hook(given)
            if new is not None:
                if not isinstance(new, tuple):
                    raise TypeError(f"{node.name()}: expected tuple, but hook returned {type(new).__name__!r}. Return (gradient,).")
                if len(new) != len(given):
                    raise GradError(f"{node.name()}: a prehook returned {len(new)} gradients for {len(given)}. Return one for each.")
                g = list(new) if several else new[0]
    return g


def hear_of_nothing(outputs, gs) -> None:
    """The hooks on those of a node's results that have no gradient get None. outputs: index -> hooks."""
    for index, hooks in outputs.items():
        if index >= len(gs) or gs[index] is None:
            tell_of_nothing(hooks)


def tell_of_nothing(hooks) -> None:
    for hook in list(hooks.values()):
        if hook(None) is not None:
            raise GradError("register_hook: a hook answered a gradient where there is none: can't replace a None gradient with a non-None value. Return None.")


def hear_of_no_gradient(node, extra, runs, tensor=None) -> None:
    """The hooks of a node that no gradient reaches get None; tensor: of a leaf, whose later hooks are called here too."""
    if extra.hooks:
        tell_of_nothing(extra.hooks)
    if runs and extra.before:
        for hook in list(extra.before.values()):
            hook((None,))
    if runs and tensor is not None:
        if extra.accumulated:
            told_after(extra, tensor)
        hooks_after(node, extra, (), None)


def hooks_after(node, extra, outs, g) -> tuple:
    if not extra.after:
        return outs
    given = tuple(g) if type(g) is list else (g,)
    outs = tuple(outs)
    for hook in list(extra.after.values()):
        new = hook(outs, given)
        if new is not None:
            new = tuple(new) if isinstance(new, (tuple, list)) else (new,)
            if len(new) != len(outs):
                raise GradError(f"{node.name()}: a hook has returned an incorrect number of gradients (got {len(new)}, but expected {len(outs)}). Return one for each input.")
            outs = new
    return outs


def checked(hook, new, g) -> Tensor:
    name = getattr(hook, "__name__", repr(hook))
    if not isinstance(new, Tensor):
        raise TypeError(f"hook {name}: expected a tensor or None, but it returned {type(new).__name__}. Return the new gradient.")
    if new.shape != g.shape:
        raise GradError(f"hook {name}: has changed the shape of the gradient from {tuple(g.shape)} to {tuple(new.shape)}. Return one of the same shape.")
    if new.dtype is not g.dtype:
        raise GradError(f"hook {name}: has changed the dtype of the gradient from {g.dtype} to {new.dtype}. Return one of the same dtype.")
    return new


def told_after(extra, tensor) -> None:
    """Call the hooks of a leaf whose .grad has been filled."""
    for hook in list(extra.accumulated.values()):
        answer = hook(tensor)
        if answer is not None and answer is not tensor:  # which a method in place returns
            raise (RuntimeError if isinstance(answer, Tensor) else TypeError)("Tensor post accumulate grad hooks should return None. Change tensor.grad in place, or set it.")
