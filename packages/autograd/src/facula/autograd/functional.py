"""Jacobians, Hessians and their products with vectors, by reverse mode."""

from . import _core
from ._api import as_tuple, grad
from ._core import GradError, Tensor

__all__ = ["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"]


def _inputs(inputs, create_graph, name):
    """(tuple of tensors that require grad, whether it was a tuple): new ones, connected to the caller's if create_graph."""
    was_tuple = isinstance(inputs, (tuple, list))
    found = []
    for i, x in enumerate(as_tuple(inputs)):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: input {i} must be a tensor, not {type(x).__name__}. Convert it with facula.tensor().")
        found.append(x.view(tuple(x.shape)) if create_graph and x.requires_grad else x.detach().requires_grad_())
    return tuple(found), was_tuple


def _outputs(out, name):
    was_tuple = isinstance(out, (tuple, list))
    outs = as_tuple(out)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{name}: the function must return tensors, but returned {type(o).__name__}.")
    return outs, was_tuple


def _vectors(v, like, name):
    """v as a tuple of tensors shaped as `like`; None stands for 1 where `like` is one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(f"{name}: v may be left out only where there is one tensor of one element. Give v.")
        return (_core.ones_like(like[0]),)
    v = as_tuple(v)
    if len(v) != len(like):
        raise GradError(f"{name}: v has {len(v)} tensors and must have {len(like)}. Give one for each.")
    for i, (a, b) in enumerate(zip(v, like)):
        if a.shape != b.shape:
            raise GradError(f"{name}: v[{i}] has shape {tuple(a.shape)} and must have shape {tuple(b.shape)}. Make them equal.")
    return v


def _done(tensors, was_tuple, create_graph):
    if not create_graph:
        tensors = tuple(t.detach() for t in tensors)
    return tensors if was_tuple else tensors[0]


def _grads(outs, inputs, v, create_graph, strict, name, retain=None):
    """grad() with zeros where an input is unused, or an error if strict."""
    live = [(o, w) for o, w in zip(outs, v) if o.requires_grad]
    if strict and len(live) < len(outs):
        raise GradError(f"{name}: an output does not depend on the inputs, which strict=True forbids.")
    found = [None] * len(inputs)
    if live:
        found = grad([o for o, _ in live], inputs, [w for _, w in live], retain, create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        raise GradError(f"{name}: the outputs do not depend on input {[g is None for g in found].index(True)}, which strict=True forbids.")
    return tuple(_core.zeros(tuple(x.shape), x.dtype, x.device) if g is None else g for g, x in zip(found, inputs))


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), v^T J): a vector times the Jacobian of func."""
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, "vjp")
        outs, out_tuple = _outputs(func(*xs), "vjp")
        v = _vectors(v, outs, "vjp")
        found = _grads(outs, xs, v, create_graph, strict, "vjp")
    return _done(outs, out_tuple, create_graph), _done(found, was_tuple, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), J v): the Jacobian of func times a vector, by differentiating u -> u^T J twice."""
    with _core_recording():
        xs, _ = _inputs(inputs, create_graph, "jvp")
        v = _vectors(v, xs, "jvp")
        outs, out_tuple = _outputs(func(*xs), "jvp")
        us = tuple(_core.zeros(tuple(o.shape), o.dtype, o.device).requires_grad_() for o in outs)
        back = _grads(outs, xs, us, True, strict, "jvp")
        found = _grads(back, us, v, create_graph, False, "jvp")
    return _done(outs, out_tuple, create_graph), _done(found, out_tuple, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d func / d inputs: for output o and input x a tensor of shape o.shape + x.shape.

    A tuple for a tuple of inputs, a tuple of those for a tuple of outputs. strategy "reverse-mode" goes backward once per element
    of the outputs, "forward-mode" pushes one tangent per element of the inputs. strict: an output that does not depend on an input is
    an error. vectorize goes backward (or forward) for all elements at once, by vmap, instead of one after the other.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"jacobian: strategy {strategy!r} is not known. Use 'reverse-mode' or 'forward-mode'.")
    if strict and (vectorize or strategy == "forward-mode"):
        raise GradError("jacobian: strict=True goes with neither vectorize=True nor strategy='forward-mode'. Leave one out.")
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, "jacobian")
        outs, out_tuple = _outputs(func(*xs), "jacobian")
        if strategy == "forward-mode":
            found = [_done(block, was_tuple, create_graph) for block in _pushed(outs, xs, vectorize)]
            return tuple(found) if out_tuple else found[0]
        found = []
        for o in outs:
            if vectorize and o.numel():
                rows = _at_once(lambda e, o=o: _grads([o], xs, [e], create_graph, False, "jacobian", True), o)
                found.append(_done(tuple(r.reshape(tuple(o.shape) + tuple(x.shape)) for r, x in zip(rows, xs)), was_tuple, create_graph))
                continue
            rows = [_grads([e], xs, [None], create_graph, strict, "jacobian", True) for e in (o.reshape(-1).unbind() if o.ndim else [o])]
            columns = [_core.stack(list(c)).view(tuple(o.shape) + tuple(x.shape)) for c, x in zip(zip(*rows), xs)] if rows else _empty(o, xs)
            found.append(_done(tuple(columns), was_tuple, create_graph))
    return tuple(found) if out_tuple else found[0]


def _empty(o, xs):
    return [_core.zeros(tuple(o.shape) + tuple(x.shape), x.dtype, x.device) for x in xs]


def _at_once(f, x):
    """f of every unit tensor of x's shape, side by side along a first dim."""
    from .func._grads import at_once

    return at_once(f, x)


def _pushed(outs, xs, vectorize):
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


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function of one number: for inputs x and y a tensor of shape x.shape + y.shape."""
    was_tuple = isinstance(inputs, (tuple, list))

    def gradient(*xs):
        out = _scalar(func(*xs), "hessian")
        g = _grads([out], xs, [None], True, strict, "hessian")
        return g if was_tuple else g[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _scalar(out, name):
    if not isinstance(out, Tensor) or out.numel() != 1:
        raise GradError(f"{name}: the function must return one tensor with one element. Sum it.")
    return out.reshape(())


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), v^T H): a vector times the Hessian of func."""
    with _core_recording():
        xs, was_tuple = _inputs(inputs, create_graph, "vhp")
        v = _vectors(v, xs, "vhp")
        out = func(*xs)
        first = _grads([_scalar(out, "vhp")], xs, [None], True, strict, "vhp")
        found = _grads(first, xs, v, create_graph, strict, "vhp")
    return _done((out,), False, create_graph), _done(found, was_tuple, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), H v): the Hessian is symmetric, so this is vhp."""
    return vhp(func, inputs, v, create_graph, strict)


def _core_recording():
    from .grad_mode import enable_grad

    return enable_grad()
