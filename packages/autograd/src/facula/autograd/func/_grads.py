"""Functions from functions: gradients, products with Jacobians, Jacobians, linear approximations.

Each call differentiates with respect to tensors of its own: aliases of inputs that require grad already, so that transforms
nest, and fresh leaves for the others. What a transform returns keeps a history only if it leads to something besides those leaves.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import facula as F

from .. import _core
from .._api import grad as graph_grad
from .._core import Batched, GradError, Tensor, extend
from .._node import Leaf
from ..grad_mode import inference_mode, is_inference
from ._tangents import pushing
from ._tree import flatten, like
from ._vmap import settled, vmap


class Own:
    """The tensors that one call differentiates with respect to."""

    def __init__(self) -> None:
        self.outside = _core.grad_mode()
        self.leaves = set()

    def of(self, x, name) -> Tensor:
        if not isinstance(x, Tensor):
            raise ValueError(f"{name}: what is differentiated with respect to must be a tensor, not {type(x).__name__}. Choose argnums, or convert it.")
        if not _core.is_float(x):
            raise GradError(f"{name}: Only Tensors of floating point and complex dtype can require gradients, this one is {x.dtype}. Convert it first.")
        if x.requires_grad and self.outside:
            return _core.row("alias")(x)
        return self.leaf(x)

    def leaf(self, x) -> Tensor:
        x = bare(recordable(x)).requires_grad_()
        self.leaves.add(x._origin)
        return x

    def public(self, t) -> Any:
        """t as the caller may see it: without the history that leads only to this call's leaves."""
        if t.__class__ is _core.Batched:
            return self.public_batch(t)
        if not isinstance(t, Tensor) or t._origin is None:
            return t
        return t if self.outside and self.leads_outside(t) else bare(t, self.public)

    def public_batch(self, t) -> Tensor:
        """The same inside vmap, where the examples may have a history besides."""
        shown = t.again()
        shown.__dict__["_whole"] = self.public(t._whole)
        if t._origin is not None and self.outside and self.leads_outside(t):
            shown._origin, shown._viewed = t._origin, t._viewed
        return shown

    def leads_outside(self, t) -> bool:
        stack, seen = [t._origin], set()
        while stack:
            node = stack.pop()
            if isinstance(node, Leaf):
                if node not in self.leaves:
                    return True
            elif node not in seen:
                seen.add(node)
                stack.extend(n for n in node._inputs if n is not None)
        return False

    def tree(self, tree) -> Any:
        leaves, build = flatten(tree)
        return build([self.public(t) for t in leaves])


def bare(t, shown=None) -> Tensor:
    """An alias of t without history, with its tangent, or with shown(its tangent)."""
    a = _core.alias(t)
    if _core.dual_levels[0] and "_forward" in t.__dict__:
        level, tangent = t.__dict__["_forward"]
        a.__dict__["_forward"] = level, tangent if shown is None else shown(tangent)
    return a


def recordable(x) -> Tensor:
    """x, or a copy where it is an inference tensor: those may not be saved for backward."""
    return x.clone() if is_inference(x) else x


def chosen(args, argnums, name) -> list[int]:
    """The positions that argnums names, none negative; all of them where it is None."""
    if argnums is None:
        return list(range(len(args)))
    if not isinstance(argnums, (int, tuple)):
        raise GradError(f"{name}: argnums must be int or Tuple[int, ...], not {type(argnums).__name__}.")
    places = [argnums] if isinstance(argnums, int) else list(argnums)
    if not places:
        raise GradError(f"{name}: argnums must be non-empty. Name the argument to differentiate with respect to.")
    for k, n in enumerate(places):
        if not isinstance(n, int):
            raise GradError(f"{name}: argnums must be int or tuple of ints, not {type(n).__name__}.")
        if not -len(args) <= n < len(args):
            raise GradError(f"{name}: got argnum={n}, but only {len(args)} positional inputs.")
        places[k] = n % len(args)
    if len(set(places)) < len(places):
        raise GradError(f"{name}: argnums elements must be unique, but they are {argnums}. Name each argument once.")
    return places


def replaced(args, argnums, own, name) -> tuple:
    """(args with own tensors at argnums, those as a flat list, a function that builds their tree)."""
    places = chosen(args, argnums, name)
    leaves, build = flatten(args[places[0]] if isinstance(argnums, int) else tuple(args[k] for k in places))
    mine = [own.of(t, name) for t in leaves]
    tree = build(mine)
    args = list(args)
    for k, value in zip(places, [tree] if isinstance(argnums, int) else tree):
        args[k] = value
    return args, mine, build


CALLED = {"grad": "grad_and_value(f)(*args)", "vjp": "vjp(f, *primals)", "jvp": "jvp(f, primals, tangents)", "jacrev": "vjp(f, *primals)", "jacfwd": "jvp(f, primals, tangents)"}


def called(name) -> str:
    """How a refusal shows the call, as PyTorch does: Jacobians go by products."""
    return CALLED.get(name, name)


def split_aux(out, has_aux, name) -> tuple:
    if not has_aux:
        return out, None
    if not (isinstance(out, tuple) and len(out) == 2):
        raise GradError(f"{called(name)}: output of function f should be a tuple: (output, aux) if has_aux is True, not {type(out).__name__}.")
    for a in flatten(out[1])[0]:
        if not isinstance(a, Tensor):
            raise GradError(f"{name}: aux: Expected tensors, got unsupported type {type(a).__name__}. Return what is no tensor another way.")
    return out


def tensors_of(out, name) -> tuple:
    leaves, build = flatten(out)
    if not leaves or leaves == [None]:
        raise GradError(f"{called(name)}: Expected f to be a function that has non-empty output (got output = {leaves}). Return at least one tensor.")
    for o in leaves:
        if not isinstance(o, Tensor):
            raise GradError(f"{called(name)}: expected f(*primals) to return only tensors, got unsupported type {type(o).__name__}. The function must return tensors.")
    return leaves, build


def gradients(outs, inputs, weights, retain=None) -> list:
    """grad() that may be differentiated again, with zeros where an input is unused."""
    live = [(o, w) for o, w in zip(outs, weights) if o.requires_grad]
    found = [None] * len(inputs)
    if live and inputs:
        found = graph_grad([o for o, _ in live], inputs, [w if w is None else recordable(w) for _, w in live], retain, True, allow_unused=True)
    return [F.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def grad_and_value(func, argnums=0, has_aux=False) -> Callable:
    """A function that returns (gradient of func with respect to its arguments argnums, value of func).

    func returns one number as a tensor; with has_aux (that, anything else), which then stands beside the value.

    >>> import facula
    >>> facula.func.grad_and_value(lambda x: (x * x).sum())(facula.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def inside(*args, **kwargs) -> Any:
        own = Own()
        with inference_mode(False):
            args, mine, build = replaced(args, argnums, own, "grad")
            out, aux = split_aux(func(*args, **kwargs), has_aux, "grad")
            if not isinstance(out, Tensor):
                raise GradError(f"grad: expected the function to return a tensor, but it returned {type(out).__name__}.")
            if out.ndim:
                raise GradError(f"grad: expected the function to return a scalar tensor, but it returned one of shape {tuple(out.shape)}. Sum it, or use vjp or jacrev.")
            one = F.ones_like(out) if isinstance(out, Batched) else None  # for each example, so that each has a gradient that may be written to
            found = build([own.public(g) for g in gradients([out], mine, [one])])
        return (found, (own.public(out), own.tree(aux))) if has_aux else (found, own.public(out))

    return inside


def grad(func, argnums=0, has_aux=False) -> Callable:
    """A function that returns the gradient of func with respect to its arguments argnums; with has_aux (gradient, aux).

    >>> import facula
    >>> facula.func.grad(facula.func.grad(lambda x: x**3))(facula.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def inside(*args, **kwargs) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return inside


def vjp(func, *primals, has_aux=False) -> tuple:
    """(func(*primals), f), where f(cotangents) is the tuple of v^T J for each primal; with has_aux also aux.

    >>> y, pull = facula.func.vjp(lambda x: x ** 2, facula.tensor([3.0]))
    >>> y, pull(facula.tensor([10.0]))
    (tensor([9.]), (tensor([60.]),))
    """
    own = Own()
    with inference_mode(False):
        args, mine, build = replaced(primals, None, own, "vjp")
        out, aux = split_aux(func(*args), has_aux, "vjp")
        outs, rebuild = tensors_of(out, "vjp")
    shown = rebuild([own.public(o) for o in outs])

    def pull(cotangents, retain_graph=True, create_graph=None) -> Any:
        inner = Own() if create_graph is None else own
        inner.leaves = own.leaves
        if not like(cotangents, out):
            raise GradError("vjp: Expected pytree structure of cotangents to be the same as that of the function's results.")
        vs = flatten(cotangents)[0]
        check_like(vs, outs, "vjp: cotangent")
        with inference_mode(False):
            found = gradients(outs, mine, vs, retain_graph)
        found = build([inner.public(g) for g in found])
        return found

    return (shown, pull, own.tree(aux)) if has_aux else (shown, pull)


def check_like(vs, xs, name) -> None:
    for i, (v, x) in enumerate(zip(vs, xs)):
        if not isinstance(v, Tensor):
            raise GradError(f"{name} {i} must be a tensor, not {type(v).__name__}.")
        if v.shape != x.shape:
            raise GradError(f"{name} {i} has shape {tuple(v.shape)} and must have shape {tuple(x.shape)}. Make them equal.")


def differentiable(name, what, tensors) -> None:
    for t in tensors:
        if not _core.is_float(t):
            raise ValueError(f"{name}: Expected {what} to be floating point or complex, but got: {t.dtype}. Convert it first.")


def pushed(func, primals, own, name, has_aux=False) -> tuple:
    """(results, aux, push, structure): push(tangents) is J times them, by differentiating u -> u^T J, which is linear in u."""
    differentiable(name, "primal", [t for t in flatten(primals)[0] if isinstance(t, Tensor)])
    _, mine, build = replaced(primals, None, own, name)
    with pushing():
        out, aux = split_aux(func(*build([writable(t, own) for t in mine])), has_aux, name)
    outs, build = tensors_of(out, name)
    us = [own.leaf(F.zeros_like(o)) if _core.is_float(o) else None for o in outs]
    back = gradients([o for o, u in zip(outs, us) if u is not None], mine, [u for u in us if u is not None])

    def push(tangents) -> Any:
        rows = gradients(back, [u for u in us if u is not None], tangents, True)
        rows = iter(rows)
        return build([F.zeros_like(o) if u is None else next(rows) for o, u in zip(outs, us)])

    return build(outs), aux, push, mine


def writable(t, own) -> Tensor:
    """t, which may be written to in place if it is a leaf of this call: a tangent follows a write."""
    if t._origin not in own.leaves:
        return t
    t = _core.row("alias")(t)
    t._viewed = None
    return t


def jvp(func, primals, tangents, *, strict=False, has_aux=False) -> tuple:
    """(func(*primals), J times the tangents); with has_aux also aux. strict: a result that ignores the primals is an error.

    >>> facula.func.jvp(lambda x: x ** 2, (facula.tensor([3.0]),), (facula.tensor([1.0]),))
    (tensor([9.]), tensor([6.]))
    """
    own = Own()
    if not isinstance(primals, tuple):
        raise GradError(f"jvp: Expected primals to be a tuple, so that func(*primals) can be called, not {type(primals).__name__}.")
    if not like(primals, tangents):
        raise GradError("jvp: Expected primals and tangents to have the same python structure.")
    if not flatten(primals)[0]:
        raise GradError("jvp: expected at least one Tensor among the primals. Give what is differentiated with respect to.")
    for name, tree in (("primals", primals), ("tangents", tangents)):
        for t in flatten(tree)[0]:
            if not isinstance(t, Tensor):
                raise GradError(f"jvp: Expected {name} to only contain Tensors, but got {type(t).__name__}. Convert it.")
    with inference_mode(False):
        out, aux, push, mine = pushed(func, primals, own, "jvp", has_aux)
        vs = flatten(tangents)[0]
        differentiable("jvp", "tangent", vs)
        check_like(vs, mine, "jvp: tangent")
        if strict and not all(o.requires_grad for o in flatten(out)[0]):
            raise GradError("jvp: a result does not depend on the primals, which strict=True forbids.")
        found = push(vs)
    return (own.tree(out), own.tree(found), own.tree(aux)) if has_aux else (own.tree(out), own.tree(found))


def linearize(func, *primals) -> tuple:
    """(func(*primals), f), where f(*tangents) is J times them: func is computed once.

    >>> y, push = facula.func.linearize(lambda x: x ** 2, facula.tensor([3.0]))
    >>> y, push(facula.tensor([10.0]))
    (tensor([9.]), tensor([60.]))
    """
    own = Own()
    with inference_mode(False):
        out, _, push, mine = pushed(func, primals, own, "linearize")

    def linear(*tangents) -> Any:
        if not like(tangents, primals):
            raise GradError("linearize: the tangents must have the structure of the primals.")
        vs = flatten(tangents)[0]
        check_like(vs, mine, "linearize: tangent")
        for i, (v, x) in enumerate(zip(vs, mine)):
            if v.dtype is not x.dtype:
                raise GradError(f"linearize: tangent {i} is {v.dtype} and must be {x.dtype}. Convert it.")
        with inference_mode(False):
            return own.tree(push(vs))

    return own.tree(out), linear


def real_and_there(name, what, tensors) -> None:
    """Refuse Jacobians of nothing, and of complex numbers: which of the two derivatives is meant, only the caller knows."""
    if not tensors:
        raise GradError(f"{name}: Expected {what} to be non-empty: the function has none. Return at least one tensor.")
    for k, t in enumerate(tensors):
        if t.is_complex():
            raise GradError(f"{name}: Expected all {what} to be real but received complex tensor at flattened index {k}. Use view_as_real.")


def at_once(f, x, chunk_size=None) -> F.Tensor | tuple | None:
    """f of every unit tensor of x's shape, side by side along a first dim; None where x has no elements."""
    n = x.numel()
    return vmap(f, chunk_size=chunk_size)(F.eye(n, dtype=x.dtype, device=x.device).reshape(n, *x.shape)) if n else None


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None) -> Callable:
    """A function that returns the Jacobian of func, of shape output.shape + input.shape, by going backward for many rows at once.

    chunk_size: how many rows (default: all of an output), which bounds the memory of what lies between.

    >>> facula.func.jacrev(lambda x: x ** 2)(facula.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"jacrev: chunk_size must be None or at least 1, not {chunk_size}.")

    @functools.wraps(func)
    def inside(*args, **kwargs) -> Any:
        own = Own()
        with inference_mode(False):
            args, mine, build = replaced(args, argnums, own, "jacrev")
            out, aux = split_aux(func(*args, **kwargs), has_aux, "jacrev")
            real_and_there("jacrev", "inputs", mine)
            outs, rebuild = tensors_of(out, "jacrev")
            real_and_there("jacrev", "outputs", outs)
            blocks = []
            for o in outs:
                rows = at_once(lambda e, o=o: tuple(gradients([o], mine, [e], True)), o, chunk_size)
                shapes = [tuple(o.shape) + tuple(x.shape) for x in mine]
                found = [F.zeros(s, dtype=x.dtype) for s, x in zip(shapes, mine)] if rows is None else [r.reshape(s) for r, s in zip(rows, shapes)]
                blocks.append(build([own.public(t) for t in found]))
            found = rebuild(blocks)
        return (found, own.tree(aux)) if has_aux else found

    return inside


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error") -> Callable:
    """A function that returns the Jacobian of func, of shape output.shape + input.shape, by pushing all unit tangents at once.

    randomness: of what func draws, "error" refuses it, "same" gives all columns the same numbers, "different" runs func for each column.

    >>> facula.func.jacfwd(lambda x: x ** 2)(facula.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(f"jacfwd: randomness must be 'error', 'same' or 'different', not {randomness!r}.")

    @functools.wraps(func)
    def inside(*args, **kwargs) -> Any:
        own = Own()
        places = chosen(args, argnums, "jacfwd")
        leaves, build = flatten(args[places[0]] if isinstance(argnums, int) else tuple(args[k] for k in places))

        def of_chosen(*values) -> Any:
            given, tree = list(args), build(values)
            for k, value in zip(places, [tree] if isinstance(argnums, int) else tree):
                given[k] = value
            return func(*given, **kwargs)

        with inference_mode(False):
            with extend.interpreter(settled) if randomness == "error" else contextlib.nullcontext():
                out, aux, push, mine = pushed(of_chosen, tuple(leaves), own, "jacfwd", has_aux)
            real_and_there("jacfwd", "inputs", mine)
            outs, rebuild = flatten(out)
            real_and_there("jacfwd", "outputs", outs)
            blocks = [[] for _ in outs]
            for k, x in enumerate(mine):
                still = [F.zeros_like(t) for t in mine]
                if randomness == "different" and x.numel():
                    units = F.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape)
                    columns = [pushed(of_chosen, tuple(leaves), own, "jacfwd", has_aux)[2]([*still[:k], e, *still[k + 1 :]]) for e in units]
                    passes = [F.stack(column) for column in zip(*[flatten(column)[0] for column in columns])]
                else:
                    passes = at_once(lambda e, k=k, still=still: tuple(flatten(push([*still[:k], e, *still[k + 1 :]]))[0]), x)
                for i, (block, o) in enumerate(zip(blocks, outs)):
                    shape = tuple(o.shape) + tuple(x.shape)
                    found = F.zeros(shape, dtype=o.dtype) if passes is None else passes[i].movedim(0, -1).reshape(shape)
                    block.append(own.public(found))
            found = rebuild([build(block) for block in blocks])
        return (found, own.tree(aux)) if has_aux else found

    return inside


def hessian(func, argnums=0) -> Callable:
    """A function that returns the second derivatives of func, a function of one number: jacfwd(jacrev(func)).

    >>> facula.func.hessian(lambda x: (x ** 3).sum())(facula.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
