"""backward() and grad(), as functions and as what Tensor gets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal, overload

import facula
from facula.tensor_core.extend import warn_once
from facula.utils.hooks import RemovableHandle

from . import _core, _engine
from ._core import GradError, Tensor, is_complex, lib, ones_like, want_tensor
from ._engine import run
from ._node import Leaf, Node, Nowhere, Output, add_hook
from ._views import Lost, lost, refreshed
from .grad_mode import is_inference

_FIRST_COMPLEX = facula.complex64._id  # every dtype before it is real


class NoInputsError(GradError, ValueError):
    """grad() of nothing: a RuntimeError in PyTorch 2.13, a ValueError in others."""


def as_tuple(x) -> tuple:
    """(x,) of one tensor or edge; what else can be gone through (dict.values(), a generator) as a tuple."""
    if isinstance(x, Tensor) or not hasattr(type(x), "__iter__"):
        return (x,)
    return tuple(x)


def with_origin(x) -> Tensor:
    """The tensor that has x's history: of a sparse one its values."""
    return x._v if type(x) is not Tensor and x.layout is not facula.strided else x


def origin_of(x) -> Node | Leaf | None:
    """The node behind a tensor, or behind a GradientEdge."""
    if isinstance(x, Tensor):
        x = with_origin(x)
        if _core.epoch_stale(x):
            x._origin = refreshed(x)
            _core.epoch_refresh(x)
        return x._origin
    return getattr(x, "_origin", None)


def known(origin) -> Node | Leaf | None:
    """An origin that somebody asks for; an error where it is lost."""
    if type(origin) is Lost:
        raise lost(origin._saved[0])
    return origin


def roots(outputs, grads) -> list:
    """[(origin, gradient)] of the tensors to start from."""
    if len(outputs) == len(grads) == 1 and grads[0] is None and type(outputs[0]) is Tensor:  # loss.backward()
        out = outputs[0]
        h, origin = out._h, out._origin
        if origin is not None and lib.fc_numel(h) == 1 and lib.fc_dtype(h) < _FIRST_COMPLEX and not lib.fc_epoch_stale(h) and type(origin) is not Nowhere:
            return [(origin, ones_like(out))]
    if len(grads) != len(outputs):
        raise GradError(f"backward: got {len(outputs)} tensors and {len(grads)} gradients. Give one gradient for each, or None.")
    found = []
    for i, (out, g) in enumerate(zip(outputs, grads)):
        if not isinstance(out, Tensor) and not hasattr(out, "_origin"):
            raise TypeError(f"backward: element {i} must be a tensor or an edge of the graph, but it is {type(out).__name__}.")
        if type(out) is not Tensor and hasattr(out, "_v"):  # a sparse tensor's history is that of its values
            out, g = out._v, listed_values(i, out, g)
        origin = origin_of(out)
        if origin is None or type(origin) is Nowhere:
            raise GradError(f"backward: element {i} of tensors does not require grad and does not have a grad_fn. Call requires_grad_() on what it is computed from.")
        if g is None:
            if not isinstance(out, Tensor) and (g := getattr(out, "one", None)) is not None:
                found.append((origin, g))
                continue
            if not isinstance(out, Tensor):
                raise GradError(f"backward: grad can be implicitly created only for scalar outputs, and element {i} is an edge of the graph. Give a gradient.")
            if out.numel() != 1:
                raise GradError(f"backward: grad can be implicitly created only for scalar outputs, but element {i} has shape {tuple(out.shape)}. Sum it, or give a gradient.")
            if is_complex(out):
                raise GradError(f"backward: grad can be implicitly created only for real scalar outputs, but element {i} is {out.dtype}. Give a gradient.")
            g = ones_like(out)
        elif not isinstance(g, Tensor):
            raise TypeError(f"backward: gradients can be tensors or None, but gradient {i} is {type(g).__name__}. Convert it with facula.tensor().")
        elif not isinstance(out, Tensor):
            if getattr(out, "shape", None) not in (None, g.shape):
                raise GradError(f"backward: Mismatch in shape: grad_output[{i}] has a shape of {list(g.shape)} and output[{i}], an edge of the graph, has a shape of {list(out.shape)}. Make them equal.")
            g = in_dtype_of(i, g, getattr(out, "dtype", None))
        else:
            if g.shape != out.shape:
                raise GradError(f"backward: Mismatch in shape: grad_output[{i}] has a shape of {list(g.shape)} and output[{i}] has a shape of {list(out.shape)}. Make them equal.")
            g = in_dtype_of(i, g, out.dtype)
        found.append((origin, g))
    return found


def in_dtype_of(i, g, dtype) -> Tensor:
    """Gradient i in the dtype of what it is the gradient of; None: that is not known."""
    if dtype is None or g.dtype is dtype:
        return g
    if is_complex(g) != dtype.is_complex:
        raise GradError(f"backward: For complex Tensors, both grad_output and output are required to have the same dtype: gradient {i} is {g.dtype} and its tensor {dtype}. Convert it.")
    return g.to(dtype)


def listed_values(i, out, g) -> Tensor:
    """The gradient of a sparse tensor's values: that of their places."""
    if not isinstance(g, Tensor):
        return g
    if g.shape != out.shape:
        raise GradError(f"backward: Mismatch in shape: grad_output[{i}] has a shape of {list(g.shape)} and output[{i}] has a shape of {list(out.shape)}. Make them equal.")
    if hasattr(g, "_v"):
        if out.same_places(g):
            return g._v
        g = g.to_dense()
    return g.sparse_mask(out)._v


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None) -> None:
    """Add to the leaves' .grad the gradients of `tensors`, weighted by `grad_tensors`.

    A scalar needs no weight. retain_graph keeps what was saved for a further call (default: as create_graph);
    create_graph makes gradients that can be differentiated; `inputs`, if given, are the only tensors to fill.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> facula.autograd.backward(x ** 2)
    >>> x.grad
    tensor([4.])
    """
    if grad_variables is not None:
        warnings.warn("backward: `grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise GradError("backward: got both grad_tensors and grad_variables (deprecated). Give grad_tensors only.")
        grad_tensors = grad_variables
    if not isinstance(tensors, (tuple, list)):
        if grad_tensors is None and inputs is None and isinstance(tensors, Tensor):
            grad_tensors = (None,)
        tensors = as_tuple(tensors)
    grads = (None,) * len(tensors) if grad_tensors is None else as_tuple(grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_once(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient, which keeps memory "
            "until it is collected. Use autograd.grad where a graph of gradients is wanted, or set .grad to None after use."
        )
    start = roots(tensors, grads)
    if inputs is None:
        run(start, keep, create_graph)
        return
    inputs = as_tuple(inputs)
    if not inputs:
        raise GradError("backward: `inputs` argument to `backward` cannot be empty. Leave it out to fill all leaves.")
    ends = set()
    for t, origin in zip(inputs, wanted_origins(inputs)):
        ends.add(origin)
        if isinstance(t, Tensor):
            tensor_retain_grad(t)
    run(start, keep, create_graph, only=ends)


def wanted_origins(inputs) -> Iterator:
    for t in inputs:
        origin = origin_of(t)
        if origin is None:
            raise GradError("grad: one of the differentiated tensors does not require grad. Call requires_grad_() before it is used.")
        yield origin


@overload
def grad(
    outputs, inputs, grad_outputs=..., retain_graph=..., create_graph=..., only_inputs=..., allow_unused: Literal[False] | None = ...,
    is_grads_batched=..., materialize_grads=...,
) -> tuple[Tensor, ...]: ...  # fmt: skip


@overload
def grad(
    outputs, inputs, grad_outputs=..., retain_graph=..., create_graph=..., only_inputs=..., allow_unused: bool | None = ...,
    is_grads_batched=..., materialize_grads=...,
) -> tuple[Tensor | None, ...]: ...  # fmt: skip


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
    is_grads_batched=False, materialize_grads=False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of `outputs`, weighted by `grad_outputs`, with respect to each of `inputs`; no .grad is touched.

    An input that outputs do not depend on is an error, unless allow_unused (then None) or materialize_grads (then zeros).
    is_grads_batched: grad_outputs have one more first dim, and so have the results.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> facula.autograd.grad(x ** 2, x)
    (tensor([4.]),)
    >>> x.grad is None
    True
    """
    if not only_inputs:
        raise ValueError("grad: only_inputs=False is not supported any more. Use backward() to fill all leaves.")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False. Leave it out.")
    outputs, inputs = as_tuple(outputs), as_tuple(inputs)
    sparse = [type(t) is not Tensor and isinstance(t, Tensor) and hasattr(t, "_v") for t in inputs]
    if any(sparse):  # the gradient of a sparse tensor is that of its values, at its indices
        values = [t._v if is_sparse else t for t, is_sparse in zip(inputs, sparse)]
        found = grad(outputs, values, grad_outputs, retain_graph, create_graph, True, allow_unused, is_grads_batched, materialize_grads)
        return tuple(t._with(g) if is_sparse and g is not None else g for t, g, is_sparse in zip(inputs, found, sparse))
    if not inputs:
        raise NoInputsError("grad: grad requires non-empty inputs: `inputs` argument to `grad()` cannot be empty. Name at least one tensor.")
    grads = (None,) * len(outputs) if grad_outputs is None else as_tuple(grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return batched(outputs, inputs, grads, keep, create_graph, allow_unused, materialize_grads)
    captures = dict.fromkeys(wanted_origins(inputs))
    run(roots(outputs, grads), keep, create_graph, captures)
    found = []
    for i, t in enumerate(inputs):
        origin = origin_of(t)
        g = None if type(origin) is Nowhere else captures[origin]
        if g is None and materialize_grads:
            if not isinstance(t, Tensor):
                raise GradError(f"grad: materialize_grads cannot be used when the given input is a GradientEdge, as input {i} is. Give the tensor.")
            g = _core.zeros(tuple(t.shape), t.dtype, t.device)
            if create_graph:
                g.requires_grad_()
        elif g is None and not allow_unused:
            raise GradError(f"grad: the differentiated tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this is what you want.")
        found.append(g if g is None or create_graph or g._origin is None else g.detach())
    return tuple(found)


def batched(outputs, inputs, grads, keep, create_graph, allow_unused, materialize_grads) -> tuple:
    """One backward pass for a batch of weights, by vmap."""
    from .func import vmap

    count = {g.shape[0] if g.ndim else None for g in grads if g is not None}
    if len(count) != 1 or None in count:
        raise ValueError(f"grad: is_grads_batched needs one batch size, but grad_outputs have {sorted(count, key=str)}. Make their first dims equal.")
    for i, (out, g) in enumerate(zip(outputs, grads)):
        if g is not None and isinstance(out, Tensor) and g.shape[1:] != out.shape:
            raise GradError(
                f"grad: If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension: those behind it are {list(g.shape[1:])} in "
                f"grad_output[{i}] and {list(out.shape)} in output[{i}]. Make them equal, or stack what should be a batch."
            )
    used = []

    def one(*weights) -> tuple:
        weights = iter(weights)
        found = grad(
            outputs, inputs, [None if g is None else next(weights) for g in grads], keep, create_graph,
            allow_unused=allow_unused, materialize_grads=materialize_grads,
        )  # fmt: skip
        used[:] = [g is not None for g in found]
        return tuple(g for g in found if g is not None)

    found = iter(vmap(one)(*[g for g in grads if g is not None]))
    return tuple(next(found) if there else None for there in used)


# ---- Tensor methods ---------------------------------------------------------------------------------------------------

def tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Add the gradients of this tensor to the leaves it was computed from. See facula.autograd.backward.

    gradient: a tensor, or a list of one.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> (x ** 3).backward()
    >>> x.grad
    tensor([12.])
    """
    backward(self, gradient if gradient is None or isinstance(gradient, (list, tuple)) else (gradient,), retain_graph, create_graph, inputs=inputs)


def tensor_register_hook(self, hook) -> RemovableHandle:
    """Call hook(gradient) when this tensor's gradient is known; what it returns replaces it.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> _ = x.register_hook(lambda gradient: 10 * gradient)
    >>> (3 * x).backward()
    >>> x.grad
    tensor([30.])
    """
    if with_origin(self) is not self:  # a sparse tensor's gradient is that of its values, at their places
        places = self.detach()

        def hook_on_values(g) -> Tensor | None:
            new = hook(None if g is None else places._with(g))
            return None if new is None else listed_values(0, places, new)

        return tensor_register_hook(self._v, hook_on_values)
    origin = origin_of(self)
    if origin is None:
        raise GradError("register_hook: cannot register a hook on a tensor that doesn't require gradient. Call requires_grad_() first.")
    if isinstance(origin, Leaf):
        _engine.watched[0] += 1
    handle = add_hook(origin._extended(), "hooks", hook)
    if type(origin) is Output:
        extra = origin._inputs[0]._extended()
        extra.outputs = {**(extra.outputs or {}), origin.index: origin._extra.hooks}
    return handle


def tensor_register_post_accumulate_grad_hook(self, hook) -> RemovableHandle:
    """Call hook(tensor) when this leaf's .grad has been filled.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> _ = x.register_post_accumulate_grad_hook(lambda x: print(x.grad))
    >>> (3 * x).backward()
    tensor([3.])
    """
    origin = origin_of(self)
    if origin is None:
        raise GradError("register_post_accumulate_grad_hook: cannot register a hook on a tensor that doesn't require gradient. Call requires_grad_() first.")
    if not isinstance(origin, Leaf):
        raise GradError("register_post_accumulate_grad_hook: post accumulate grad hooks cannot be registered on non-leaf tensors. Use register_hook().")
    _engine.watched[0] += 1
    return add_hook(origin._extended(), "accumulated", hook)


def tensor_retain_grad(self) -> None:
    """Keep the gradient of this result in .grad, as for a leaf.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> y = 3 * x
    >>> y.retain_grad()
    >>> (y ** 2).backward()
    >>> y.grad
    tensor([12.])
    """
    import weakref

    origin = origin_of(self)
    if origin is None:
        raise GradError("retain_grad: can't retain_grad on a tensor that has requires_grad=False. Call requires_grad_() first.")
    if not isinstance(origin, Leaf):
        origin._extended().retain = weakref.ref(with_origin(self))


def tensor_retains_grad(self) -> bool:
    """Is it a result whose gradient retain_grad() asked for?

    >>> y = 3 * facula.tensor([2.0], requires_grad=True)
    >>> y.retain_grad()
    >>> y.retains_grad
    True
    """
    tensor = with_origin(self)
    origin = tensor._origin
    return origin is not None and origin._extra is not None and origin._extra.retain is not None and origin._extra.retain() is tensor


def tensor_grad_fn(self) -> Node | None:
    """The node that computed this tensor; None for a leaf.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> x.grad_fn
    >>> (x * 3).grad_fn.name()
    'MulBackward0'
    """
    origin = known(origin_of(self))
    if origin is None or isinstance(origin, Leaf):
        return None
    return origin._edge()[0]


def tensor_output_nr(self) -> int:
    """Which result of its grad_fn this tensor is.

    >>> x = facula.arange(4.0, requires_grad=True)
    >>> x.split(2)[1].output_nr
    1
    """
    origin = origin_of(self)
    return 0 if origin is None else origin._edge()[1]


def tensor_backward_hooks(self) -> dict | None:
    """The functions that register_hook registered, by their handles' ids; None where there never were any."""
    origin = origin_of(self)
    return None if origin is None or origin._extra is None else origin._extra.hooks


def tensor_set_backward_hooks(self, hooks) -> None:
    """Other functions in the place of those that were registered: an ordered dictionary, or None for none."""
    origin = origin_of(self)
    if origin is None:
        if hooks:
            raise GradError("_backward_hooks: cannot register a hook on a tensor that doesn't require gradient. Call requires_grad_() first.")
    elif hooks is not None or origin._extra is not None:
        origin._extended().hooks = hooks


def tensor_is_leaf(self) -> bool:
    """Was it made by nobody's recorded operation? Tensors that want no gradient are leaves, too.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> x.is_leaf, (3 * x).is_leaf
    (True, False)
    """
    origin = known(origin_of(self))
    return origin is None or isinstance(origin, Leaf)


def tensor_detach_(self) -> Tensor:
    """Cut this tensor from its history, in place.

    >>> x = facula.tensor([2.0], requires_grad=True) * 3
    >>> x.detach_().requires_grad
    False
    """
    want_tensor("detach_", "input", 0, self)
    if self._viewed is not None:
        raise GradError("detach_: can't detach views in place. Use detach() instead.")
    self._origin = None
    self.__dict__.pop("_forward", None)
    return self


def tensor_requires_grad_(self, requires_grad=True) -> Tensor:
    """Say whether gradients are wanted for this leaf; returns it.

    >>> facula.tensor([2.0]).requires_grad_().requires_grad
    True
    """
    if requires_grad is not True and requires_grad is not False:
        raise TypeError(f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {type(requires_grad).__name__}. Write True or False.")
    if not requires_grad or self.is_leaf:  # a result that requires grad already may be asked to
        self.requires_grad = requires_grad
    return self


def attach_all() -> None:
    for name, what in {
        "backward": tensor_backward,
        "register_hook": tensor_register_hook,
        "register_post_accumulate_grad_hook": tensor_register_post_accumulate_grad_hook,
        "retain_grad": tensor_retain_grad,
        "detach_": tensor_detach_,
        "retains_grad": property(tensor_retains_grad),
        "grad_fn": property(tensor_grad_fn),
        "output_nr": property(tensor_output_nr),
        "is_leaf": property(tensor_is_leaf),
        "_backward_hooks": property(tensor_backward_hooks, tensor_set_backward_hooks),
        "requires_grad_": tensor_requires_grad_,
        "is_inference": is_inference,
    }.items():
        if not isinstance(what, property):
            what.__name__ = name
        _core.attach(name, what)
