"""Control flow as functions of functions: what runs is Python's own if and while."""

from facula.tensor_core.dispatch.foreign import ask, overriding
from facula.tensor_core._tensor import Tensor


def _leaves(tree):
    from facula.utils._pytree import tree_leaves

    return tree_leaves(tree)


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) where pred is true, else false_fn(*operands).

    pred: a bool, a number or a tensor of one element. operands: a tuple or list whose leaves are tensors or integers.

    >>> import facula
    >>> facula.cond(facula.tensor(True), lambda x: x + 1, lambda x: x - 1, (facula.ones(2),))
    tensor([2., 2.])
    """
    if not isinstance(pred, (bool, int, float, Tensor)):
        raise RuntimeError(f"cond: Expected pred to be bool or tensor, but got {pred!r}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"cond: Expected pred to be bool or single-element tensor, but got a tensor of shape {tuple(pred.shape)}.")
    for name, f in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(f):
            raise RuntimeError(f"cond: Expect {name} to be callable, but got {f!r}.")
    if not isinstance(operands, (tuple, list)) or not all(isinstance(x, (Tensor, int)) for x in _leaves(operands)):
        raise RuntimeError(f"cond: Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands!r}.")
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """carried_inputs, replaced by body_fn(*carried_inputs) as long as cond_fn(*carried_inputs) is true: a tuple.

    body_fn returns a tuple of as many values, with the shapes and dtypes of those that it was given.

    >>> import facula
    >>> facula.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (facula.tensor(0), facula.ones(1)))
    (tensor(3), tensor([8.]))
    """
    for name, f in (("cond_fn", cond_fn), ("body_fn", body_fn)):
        if not callable(f):
            raise RuntimeError(f"while_loop: Expect {name} to be callable, but got {f!r}.")
    if not isinstance(carried_inputs, (tuple, list)) or not all(isinstance(x, (Tensor, int, float)) for x in _leaves(carried_inputs)):
        raise RuntimeError(f"while_loop: Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of tensor or int leaves, but got {carried_inputs!r}.")
    carried = tuple(carried_inputs)
    while _answer(cond_fn(*carried)):
        following = body_fn(*carried)
        following = (following,) if isinstance(following, Tensor) else following
        if not isinstance(following, (tuple, list)) or len(following) != len(carried):
            raise RuntimeError(f"while_loop: body_fn should return a tuple of {len(carried)} values like its inputs, but got {following!r}.")
        for k, (new, old) in enumerate(zip(_leaves(following), _leaves(carried))):
            if isinstance(new, Tensor) and isinstance(old, Tensor) and (new.shape != old.shape or new.dtype is not old.dtype):
                raise RuntimeError(f"while_loop: body_fn changed value {k} from {tuple(old.shape)}, {old.dtype._name} to {tuple(new.shape)}, {new.dtype._name}. Keep both.")
        carried = tuple(following)
    return carried


def _answer(said):
    if isinstance(said, Tensor) and said.numel() == 1 or isinstance(said, (bool, int)):
        return bool(said)
    raise RuntimeError(f"while_loop: cond_fn should return a boolean scalar tensor or a boolean, but got {said!r}.")


__all__ = ["cond", "while_loop"]


def _assert(condition, message):
    """assert, as a function: a tracer sees it."""
    if type(condition) is not Tensor and (relevant := overriding((condition,))):
        return ask(_assert, relevant, (condition, message), {})
    if not condition:
        raise AssertionError(message)
