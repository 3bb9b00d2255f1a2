"""Jacobians, Hessians and their products with vectors, by reverse mode."""

from __future__ import annotations

from . import _core
from ._api import as_tuple, grad
from ._core import GradError, Tensor

__all__ = ["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"]


def _inputs(inputs, create_graph, name) -> tuple:
    """(tuple of tensors that require grad, whether it was a tuple): new ones, connected to the caller's if create_graph."""
    was_tuple = isinstance(inputs, tuple)
    found = []
    for i, x in enumerate(inputs if was_tuple else (inputs,)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: The inputs given to {name} must be either a Tensor or a tuple of Tensors, but input {i} is {type(x).__name__}. Convert it with facula.tensor().")
        found.append(x.view(tuple(x.shape)) if create_graph and x.requires_grad else x.detach().requires_grad_())
    return tuple(found), was_tuple


def _outputs(out, name) -> tuple:
    was_tuple = isinstance(out, tuple)
    outs = out if was_tuple else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{name}: The outputs of the user-provided function given to {name} must be either a Tensor or a tuple of Tensors, but it returned {type(o).__name__}.")
    return outs, was_tuple


def _vectors(v, like, name) -> tuple:
    """v as a tuple of tensors shaped as `like`; None stands for 1 where `like` is one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            what = "input to the user-provided function has" if name != "vjp" else "user-provided function returns"
            raise GradError(f"{name}: The vector v can only be None if the {what} a single Tensor with a single element. Give v.")
        return (_core.ones_like(like[0]),)
    v = as_tuple(v)
    for i, a in enumerate(v):
        if not isinstance(a, Tensor):
            raise TypeError(f"{name}: The v given to {name} must be either a Tensor or a tuple of Tensors, but v[{i}] is {type(a).__name__}.")
    if len(v) != len(like):
        many = f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}" if len(like) > 1 else "The given v should contain a single Tensor"
        raise GradError(f"{name}: {many}. Give one for each.")
    for i, (a, b) in enumerate(zip(v, like)):
        if a.shape != b.shape:
            raise GradError(f"{name}: v has invalid size: should be {b.shape} but got {a.shape} at index {i}. Make them equal.")
    return v


def _done(tensors, was_tuple, create_graph) -> Tensor | tuple:
    if not create_graph:
        tensors = tuple(t.detach() for t in tensors)
    return tensors if was_tuple else tensors[0]


def _grads(outs, inputs, v, create_graph, strict, name, retain=None, whole="The output") -> tuple:
    """grad() with zeros where an input is unused, or an error if strict. whole: what is said to be independent of it."""
    live = [(o, w) for o, w in zip(outs, v) if o.requires_grad]
    if strict and len(live) < len(outs):
        at = next(i for i, o in enumerate(outs) if not o.requires_grad)
        raise GradError(f"{name}: Output {at} of the user-provided function does not require gradients. The outputs must be computed from the inputs when strict=True.")
    found = [None] * len(inputs)
    if live:
        found = grad([o for o, _ in live], inputs, [w for _, w in live], retain, create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        raise GradError(f"{name}: {whole} of the user-provided function is independent of input {[g is None for g in found].index(True)}. This is not allowed in strict mode.")
    return tuple(_core.zeros(tuple(x.shape), x.dtype, x.device) if g is None else g for g, x in zip(found, inputs))


def _depend(found, name, said) -> None:
    """strict: derivatives that are to be differentiated must depend on the inputs."""
    for i, g in enumerate(found):
        if not g.requires_grad:
            raise GradError(f"{name}: {said.format(i)} This is not allowed in strict mode.")


AGAIN = "With create_graph=True: The {} of the user-provided function is independent of input {{}}."
JACOBIAN = "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is independent of the input."


def vjp(func, inputs, v=None, create_graph=False, strict=False) -> tuple:
    """(func(inputs), v^T J): a vector times the Jacobian of func.

    >>> facula.autograd.functional.vjp(lambda x: x ** 2, facula.tensor([3.0]), facula.ones(1))
    (tensor([9.]), tensor([6.]))
    """
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, "vjp")
        outs, out_tuple = _outputs(func(*xs), "vjp")
        v = _vectors(v, outs, "vjp")
        found = _grads(outs, xs, v, create_graph, strict, "vjp")
        if strict and create_graph:
            _depend(found, "vjp", AGAIN.format("jacobian"))
    return _done(outs, out_tuple, create_graph), _done(found, was_tuple, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False) -> tuple:
    """(func(inputs), J v): the Jacobian of func times a vector, by differentiating u -> u^T J twice.

    >>> facula.autograd.functional.jvp(lambda x: x ** 2, facula.tensor([3.0]), facula.ones(1))
    (tensor([9.]), tensor([6.]))
    """
    with _core_recording():
        xs, _ = _inputs(inputs, create_graph, "jvp")
        v = _vectors(v, xs, "jvp")
        outs, out_tuple = _outputs(func(*xs), "jvp")
        us = tuple(_core.zeros(tuple(o.shape), o.dtype, o.device).requires_grad_() for o in outs)
        back = _grads(outs, xs, us, True, strict, "jvp")
        found = _grads(back, us, v, create_graph, False, "jvp")
        if strict and create_graph:
            _depend(found, "jvp", AGAIN.format("jacobian"))
    return _done(outs, out_tuple, create_graph), _done(found, out_tuple, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode") -> Tensor | tuple:
    """d func / d inputs: for output o and input x a tensor of shape o.shape + x.shape.

    A tuple for a tuple of inputs, a tuple of those for a tuple of outputs. strategy "reverse-mode" goes backward once per element
    of the outputs, "forward-mode" pushes one tangent per element of the inputs. strict: an output that does not depend on an input is
    an error. vectorize goes backward (or forward) for all elements at once, by vmap, instead of one after the other.

    >>> facula.autograd.functional.jacobian(lambda x: x ** 2, facula.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(f"jacobian: Expected strategy to be either 'forward-mode' or 'reverse-mode', not {strategy!r}.")
    if strict and (vectorize or strategy == "forward-mode"):
        raise GradError("jacobian: `strict=True` and `vectorize=True` or strategy=\"forward-mode\" are not supported together. Leave one out.")
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, "jacobian")
        outs, out_tuple = _outputs(func(*xs), "jacobian")
        if strategy == "forward-mode":
            found = [_done(block, was_tuple, create_graph) for block in _pushed(outs, xs, vectorize)]
            return tuple(found) if out_tuple else found[0]
        found = []
        for k, o in enumerate(outs):
            if vectorize and o.numel():
                rows = _at_once(lambda e, o=o: _grads([o], xs, [e], create_graph, False, "jacobian", True), o)
                found.append(_done(tuple(r.reshape(tuple(o.shape) + tuple(x.shape)) for r, x in zip(rows, xs)), was_tuple, create_graph))
                continue
            rows = [_grads([e], xs, [None], create_graph, strict, "jacobian", True, f"Output {k}") for e in (o.reshape(-1).unbind() if o.ndim else [o])]
            for row in rows if strict and create_graph else ():
                _depend(row, "jacobian", AGAIN.format("jacobian"))
            columns = [_core.stack(list(c)).view(tuple(o.shape) + tuple(x.shape)) for c, x in zip(zip(*rows), xs)] if rows else _empty(o, xs)
            found.append(_done(tuple(columns), was_tuple, create_graph))
    return tuple(found) if out_tuple else found[0]


def _empty(o, xs) -> list:
    return [_core.zeros(tuple(o.shape) + tuple(x.shape), x.dtype, x.device) for x in xs]


def _at_once(f, x) -> tuple:
    """f of every unit tensor of x's shape, side by side along a first dim."""
    from .func._grads import at_once

    return at_once(f, x)


def _pushed(outs, xs, vectorize) -> list:
    """For each output the blocks of its Jacobian, a column for each element of each input: u -> u^T J is differentiated at a unit tangent."""
    found = []
    for o in outs:
        u = _core.zeros(tuple(o.shape), o.dtype, o.device).requires_grad_()
        back = _grads([o], xs, [u], True, False, "jacobian")
        block = []
        for x, g in zip(xs, back):
            if vectorize and x.numel():
                (rows,) = _at_once(lambda e, g=g, u=u: _grads([g], [u], [e], True, False, "jacobian", True), x)
                block.append(rows.movedim(0, -1).reshape(tuple(o.shape) + tuple(x.shape)))
                continue
            columns = []
            for k in range(x.numel()):
                unit = _core.zeros((x.numel(),), x.dtype, x.device)
                unit[k] = 1
                columns += _grads([g], [u], [unit.view(tuple(x.shape))], True, False, "jacobian", True)
            shape = tuple(o.shape) + tuple(x.shape)
            block.append(_core.stack([c.reshape(-1) for c in columns], 1).view(shape) if columns else _core.zeros(shape, x.dtype, x.device))
        found.append(tuple(block))
    return found


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode") -> Tensor | tuple:
    """The second derivatives of a function of one number: for inputs x and y a tensor of shape x.shape + y.shape.

    >>> facula.autograd.functional.hessian(lambda x: (x ** 3).sum(), facula.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    was_tuple = isinstance(inputs, tuple)
    _inputs(inputs, create_graph, "hessian")

    def gradient(*xs) -> Tensor | tuple:
        out = _scalar(func(*xs), "hessian")
        g = _grads([out], xs, [None], True, strict and not out.requires_grad, "hessian")
        if strict:
            _depend(g, "hessian", JACOBIAN)
        return g if was_tuple else g[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _scalar(out, name) -> Tensor:
    if _outputs(out, name)[1]:
        raise GradError(f"{name}: The function given to {name} should return a single Tensor, but it returned {len(out)}.")
    if out.numel() != 1:
        raise GradError(f"{name}: The Tensor returned by the function given to {name} should contain a single element, but it has {out.numel()}. Sum it.")
    return out.reshape(())


def vhp(func, inputs, v=None, create_graph=False, strict=False) -> tuple:
    """(func(inputs), v^T H): a vector times the Hessian of func.

    >>> facula.autograd.functional.vhp(lambda x: (x ** 3).sum(), facula.tensor([1.0, 2.0]), facula.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _through_hessian("vhp", func, inputs, v, create_graph, strict)


def hvp(func, inputs, v=None, create_graph=False, strict=False) -> tuple:
    """(func(inputs), H v): the Hessian is symmetric, so this is vhp.

    >>> facula.autograd.functional.hvp(lambda x: (x ** 3).sum(), facula.tensor([1.0, 2.0]), facula.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _through_hessian("hvp", func, inputs, v, create_graph, strict)


def _through_hessian(name, func, inputs, v, create_graph, strict) -> tuple:
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, name)
        v = _vectors(v, xs, name)
        out = func(*xs)
        first = _grads([_scalar(out, name)], xs, [None], True, strict, name)
        if strict:
            _depend(first, name, JACOBIAN)
        found = _grads(first, xs, v, create_graph, strict, name)
        if strict and create_graph:
            _depend(found, name, AGAIN.format("hessian"))
    return _done((out,), False, create_graph), _done(found, was_tuple, create_graph)


def _core_recording() -> object:
    from .grad_mode import enable_grad

    return enable_grad()
