"""autograd.Function: a user's own forward and backward. The context is the node, as in PyTorch."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import MethodType
from typing import Any, NoReturn

from . import _core, _support
from ._core import GradError, Tensor, alias, epoch_advance, epoch_refresh, epoch_stale, grad_mode, is_float, set_grad_mode, tensor_version
from ._node import Leaf, Node, Output, SavedTensor, tick
from ._support import Packed, pack_hooks, sum_to
from ._views import fixed, keep_retained, rebase
from .grad_mode import is_inference


INSTEAD = []  # functions (Function, args) -> result, or NotImplemented


class FunctionCtx:
    """What a Function's forward and backward get as `ctx`; take any attributes you like.

    >>> class Scale(facula.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, by):
    ...         ctx.by = by
    ...         return by * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return ctx.by * g, None
    ...
    >>> x = facula.tensor([1.0], requires_grad=True)
    >>> Scale.apply(x, 3.0).backward()
    >>> x.grad
    tensor([3.])
    """

    def save_for_backward(self, *tensors) -> None:
        """Keep tensors (or None) for backward, checked against in-place changes and freed with the graph.

        Raises TypeError for anything else once forward has returned, where there will be a backward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors) -> None:
        """Keep tensors (or None) for jvp, which sees them as saved_tensors while it runs."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_forward: can only save tensors, but got {type(t).__name__}. Put other things on ctx as attributes.")
        self._to_save_forward = tensors

    def mark_dirty(self, *tensors) -> None:
        """Say which inputs forward changed in place; they must be among its results."""
        self.dirty_tensors = tensors
        if self._marked is not None:
            self._marked = tensors

    def mark_non_differentiable(self, *tensors) -> None:
        """Say which results have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value) -> None:
        """Whether backward gets zeros (the default) or None for results that nothing depends on."""
        self.materialize_grads = bool(value)

    to_save = _to_save_forward = dirty_tensors = non_differentiable = ()
    _in_jvp = None  # what saved_tensors is while jvp runs
    _marked = None  # in forward mode: the dirty tensors, until jvp has run
    materialize_grads = True
    _materialize_non_diff_grads = True  # with materialize_grads: of results without derivative, too


class FunctionNode(FunctionCtx, Node):
    """The node of a Function call. layout and saved follow what was saved: tensor, version, tensor, version, ..."""

    _keeps = True
    _function = None  # the Function, of the subclass
    needs_input_grad = ()
    _result_of: dict[int, int] = {}  # which of what was saved is which result

    def name(self) -> str:
        return type(self).__name__

    @property
    def saved_tensors(self) -> tuple:
        """What save_for_backward kept, after a check that it did not change."""
        if self._in_jvp is not None:
            return self._in_jvp
        saved = self._saved
        if saved is None or (type(saved) is not tuple):
            saved = self._thawed()
        found = []
        for i in range(0, len(saved), 2):
            t, at = saved[i], saved[i + 1]
            if t is None:
                found.append(None)
                continue
            if at is not None and tensor_version(t) != at:
                raise self._changed(f"saved tensor {i // 2}", t, at)
            k = self._result_of.get(i // 2)
            if k is not None:
                t = alias(t)
                t._origin = self._results[k]() if self._results[k] else None
            found.append(t)
        return tuple(found)

    @property
    def _raw_saved_tensors(self) -> tuple:
        """saved_tensors before they are unpacked: each takes a pair of hooks of its own."""
        return tuple([SavedTensor(self, name) for name in self._layout[::2]])

    def _kept(self, wanted) -> Tensor | None:
        return self.saved_tensors[self._layout.index(wanted) // 2]

    @property
    def saved_variables(self) -> tuple:
        """saved_tensors, by its old name."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def _result_count(self) -> int:
        return len(self._metas)

    def _changed(self, name, tensor, saved_at) -> GradError:
        return GradError(
            f"{self.name()}: one of the variables needed for gradient computation has been modified by an inplace operation: {name} {tuple(tensor.shape)}, "
            f"saved at version {saved_at}, is now {tensor_version(tensor)}; expected version {saved_at} instead. Clone it before the in-place operation."
        )

    def _backward(self, g, inputs) -> tuple:
        gs = g if type(g) is list else [g]
        gs += [None] * (len(self._metas) - len(gs))
        if self.materialize_grads:
            quiet = () if self._materialize_non_diff_grads else self._flat
            gs = [zeros(m) if t is None and m is not None and k not in quiet else t for k, (t, m) in enumerate(zip(gs, self._metas))]
        function = self._function
        users = function.backward
        if function.vjp is not Function.vjp:
            if users is not Function.backward:
                raise GradError(f"{self.name()}: Implementing both 'backward' and 'vjp' for a custom Function is not allowed. Keep one of them.")
            users = function.vjp
        block = _core.extend.subclassed()
        if block is None:
            return self._checked(users(self, *gs), inputs)
        with block:
            outs = users(self, *gs)
        return self._checked(outs, inputs)

    def _pushed(self, tangents, count) -> tuple:
        """The tangents of `count` results from those of forward's arguments, by the Function's jvp."""
        self._in_jvp = self._to_save_forward
        try:
            found = self._function.jvp(self, *tangents)
        finally:
            self._in_jvp = None
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != count:
            raise GradError(f"{self.name()}: jvp returned {len(found)} tangents for {count} results. Return one for each.")
        return found

    def _checked(self, outs, inputs) -> tuple:
        """One gradient per tensor input, of its shape and dtype."""
        outs = tuple(outs) if isinstance(outs, (tuple, list)) else (outs,)
        n = len(self.needs_input_grad)
        if len(outs) > n and all(o is None for o in outs[n:]):
            outs = outs[:n]
        if len(outs) != n:
            raise GradError(f"{self.name()}: returned an incorrect number of gradients (expected {n}, got {len(outs)}). Return one for each argument of forward.")
        if n > len(self._places):
            for i, g in enumerate(outs):
                if g is not None and i not in self._places:
                    raise GradError(f"{self.name()}: returned a gradient different than None at position {i + 1}, but the corresponding forward input was no tensor. Return None there.")
        found = []
        for i, (g, place) in enumerate(zip([outs[i] for i in self._places], self._input_metas)):
            if g is not None and self._inputs[i] is not None:
                if not isinstance(g, Tensor):
                    raise GradError(f"{self.name()}: expected a tensor or None as gradient {i}, but got {type(g).__name__}. Return tensors.")
                g = fitted(self, i, g, *place)
            found.append(g)
        return tuple(found)


def fitted(node, i, g, shape, dtype) -> Tensor:
    if g.shape != shape:
        extra = g.ndim - len(shape)
        if extra < 0 or any(n != 1 and n != m for n, m in zip(shape, g.shape[extra:])):
            raise GradError(f"{node.name()}: returned an invalid gradient at index {i}: got {list(g.shape)} but expected shape compatible with {list(shape)}.")
        g = sum_to(g, shape)
    if g.dtype is not dtype:
        from ._support import cast

        if _core.is_complex(g) and not dtype.is_complex:
            raise GradError(f"{node.name()}: returned an invalid gradient at index {i}: got {g.dtype} for an input of {dtype}. Return its real part.")
        g = cast(g, dtype)
    return g


def zeros(meta) -> Tensor:
    return _core.zeros(*meta)


class Function:
    """A differentiable operation of your own.

    >>> import facula
    >>> class Square(facula.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * g * x
    >>> facula.func.grad(Square.apply)(facula.tensor(3.0))
    tensor(6.)

    Call Square.apply(x). Instead of ctx as its first argument, forward may have a setup_context(ctx, inputs, output) beside it.
    """

    def __init__(self, *args, **kwargs) -> None:
        warnings.warn(f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the class itself: {type(self).__name__}.apply(...).", DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs) -> NoReturn:
        raise GradError(f"{type(self).__name__}: Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method: {type(self).__name__}.apply(...).")

    @staticmethod
    def forward(*args, **kwargs) -> Any:
        raise NotImplementedError("Function: You must implement the forward function for custom autograd.Function: a static method forward(ctx, *args).")

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        raise NotImplementedError("Function: has no setup_context.")

    @staticmethod
    def backward(ctx, *grad_outputs) -> Any:
        raise NotImplementedError(f"{ctx.name()}: You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD: a static method backward(ctx, *grad_outputs).")

    @staticmethod
    def vjp(ctx, *grad_outputs) -> Any:
        return Function.backward(ctx, *grad_outputs)

    generate_vmap_rule = False  # whether vmap may run forward and backward on what stands for the examples

    @staticmethod
    def vmap(info, in_dims, *args) -> tuple:
        raise NotImplementedError("Function: has no vmap. Define a static method vmap(info, in_dims, *args), or set generate_vmap_rule = True.")

    @staticmethod
    def jvp(ctx, *tangents) -> Any:
        raise NotImplementedError(f"{ctx.name()}: You must implement the jvp function for custom autograd.Function to use it with forward mode AD: a static method jvp(ctx, *tangents).")

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = cls._node_class = type(cls.__name__ + "Backward", (FunctionNode,), {"_function": cls, "__module__": cls.__module__})

    @classmethod
    def apply(cls, *args, **kwargs) -> Any:
        """Run forward on args, and record it where an argument requires grad. Keyword arguments take their places in forward's list."""
        if kwargs:
            args = placed(cls, args, kwargs)
        elif cls.setup_context is not Function.setup_context:
            defaults = getattr(cls.forward, "__defaults__", None)
            if defaults and 0 < (missing := cls.forward.__code__.co_argcount - (cls.forward.__class__ is MethodType) - len(args)) <= len(defaults):
                args = (*args, *defaults[-missing:])  # setup_context sees every argument
        for takes_over in INSTEAD:  # forward mode, vmap: where they are at work
            found = takes_over(cls, args)
            if found is not NotImplemented:
                return found
        return cls._recorded(cls._node_class(), args, sys._getframe(1))

    @classmethod
    def _recorded(cls, node, args, f, forward=None) -> Any:
        tensors = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor)]
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        recording = grad_mode() and any(node.needs_input_grad)
        before = set_grad_mode(False)
        try:
            if cls.setup_context is not Function.setup_context:
                out = (forward or cls.forward)(*args)
                cls.setup_context(node, args, out)
            else:
                out = cls.forward(node, *args)
        finally:
            set_grad_mode(before)
        single = not isinstance(out, (tuple, list))
        outs = (out,) if single else tuple(out)
        if node.dirty_tensors or node.non_differentiable:
            check_marks(node, outs, [t for _, t in tensors])
        node._flat = [i for i, o in enumerate(outs) if any(o is t for t in node.non_differentiable)]
        if not recording:
            node.to_save = ()
            outs = [unrecorded(node, o, tensors) if isinstance(o, Tensor) else o for o in outs]
            return outs[0] if single else outs if isinstance(out, list) else tuple(outs)
        node._code, node._at = (None, 0) if f is None else (f.f_code, f.f_lasti)
        node._seq = tick()
        node._extra = None
        node._places = [i for i, _ in tensors]
        node._input_metas = [(t.shape, t.dtype) for _, t in tensors]
        node._inputs = tuple(t._origin for _, t in tensors)
        outs = finish(node, outs, [t for _, t in tensors])
        return outs[0] if single else list(outs) if isinstance(out, list) else outs


Function._node_class = type("FunctionBackward", (FunctionNode,), {"_function": Function})


def placed(cls, args, kwargs) -> tuple:
    """The arguments of forward by position: keyword ones at their place, defaults in between."""
    import inspect

    named = list(inspect.signature(cls.forward).parameters.values())
    named = [p for p in named if p.kind is p.POSITIONAL_OR_KEYWORD]
    with_context = cls.setup_context is Function.setup_context
    named = named[1:] if with_context else named
    odd = [name for name in kwargs if name not in [p.name for p in named]]
    if odd:
        raise TypeError(f"{cls.__name__}.apply: forward() got an unexpected keyword argument '{odd[0]}'. It takes {', '.join(p.name for p in named)}.")
    last = len(named) if not with_context else max(k for k, p in enumerate(named) if p.name in kwargs) + 1
    found = list(args)
    for p in named[len(args) : last]:
        if p.name not in kwargs and p.default is p.empty:
            raise TypeError(f"{cls.__name__}.apply: forward() is missing the argument '{p.name}'. Give it.")
        found.append(kwargs.pop(p.name, p.default))
    if kwargs:
        raise TypeError(f"{cls.__name__}.apply: forward() got multiple values for argument '{next(iter(kwargs))}'. Give it once.")
    return tuple(found)


def check_marks(node, outs, inputs) -> None:
    """Refuse marks on what is no tensor, or no result; what is marked as written to was."""
    for t in node.non_differentiable:
        if not isinstance(t, Tensor):
            raise GradError(f"{node.name()}: mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}. Name results that are tensors.")
    for t in node.dirty_tensors:
        if not isinstance(t, Tensor):
            raise GradError(f"{node.name()}: mark_dirty can only accept variables, but got {type(t).__name__}. Name inputs that are tensors.")
        if not is_inference(t):
            _core.extend.bump(t)  # it may have been written to by other means
        if not any(t is o for o in outs):
            raise GradError(f"{node.name()}: Some elements marked as dirty during the forward method were not returned as output. Return what mark_dirty names.")
        if not any(t is x for x in inputs):
            warnings.warn(f"{node.name()}: Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to pass it to mark_dirty().", stacklevel=5)


def unrecorded(node, out, inputs) -> Tensor:
    """A result where nothing is recorded: an input that forward returned as it is is another tensor then, too, and without history."""
    if any(out is t for _, t in inputs):
        return out if any(out is t for t in node.dirty_tensors) else out.detach() if out._origin is not None else view(out)
    if out._viewed is not None:
        _core.lib.fc_mark_piece(out._h)
    return out


def finish(node, outs, inputs) -> tuple:
    """Give the results of a Function their origins, and keep what it saved."""
    dirty = {id(t) for t in node.dirty_tensors}
    plain = {id(t) for t in node.non_differentiable}
    results, metas, live = [], [], []
    given = outs
    for o in outs:
        if not isinstance(o, Tensor):
            results.append(o)
            metas.append(None)
            continue
        metas.append((tuple(o.shape), o.dtype, o.device))
        differentiable = id(o) not in plain and is_float(o)
        if any(o is t for t in inputs) and id(o) not in dirty:
            o = view(o) if differentiable else o.detach()
        elif not differentiable:
            o = o.detach() if o._origin is not None and id(o) not in dirty else o
        results.append(o)
        live.append(differentiable)
    node._metas = metas
    places = [i for i, o in enumerate(results) if isinstance(o, Tensor) and differentiable_at(results, plain, given, i)]
    several = len(results) > 1
    node._results = [None] * len(results)
    for i in places:
        o = results[i]
        origin = Output(node, i, len(results)) if several else node
        if id(given[i]) in dirty:
            wrote(node, o, origin, several)
        else:
            o._origin = origin
        node._results[i] = origin_again(o, node, i, len(results), several)
    keep(node, [None if any(o is t for t in inputs) and id(o) not in dirty else o for o in given])
    return tuple(results)


def view(tensor) -> Tensor:
    """An input that forward returned as it is: a view of it, not to be written to where gradients pass."""
    if tensor.is_sparse:
        return alias(tensor)
    before = set_grad_mode(False)
    try:
        return tensor.view_as(tensor)
    finally:
        set_grad_mode(before)


def differentiable_at(results, plain, given, i) -> bool:
    return id(given[i]) not in plain and is_float(results[i])


def origin_again(out, node, i, count, several) -> object:
    """A function that gives a saved result its origin back, holding nothing that leads to the result."""
    import weakref

    ref = weakref.ref(out._origin)
    me = weakref.ref(node)

    def again() -> Node:
        origin = ref()
        return origin if origin is not None else Output(me(), i, count) if several else me()

    return again


def wrote(node, tensor, origin, several) -> None:
    """A dirty input: as after any in-place op."""
    old, base = tensor._origin, tensor._viewed
    if isinstance(old, Leaf):
        raise GradError(f"{node.name()}: a leaf Variable that requires grad has been used in an in-place operation (mark_dirty). Write to a clone.")
    if base is not None:
        if isinstance(base._origin, Leaf):
            raise GradError(f"{node.name()}: a view of a leaf Variable that requires grad is being used in an in-place operation (mark_dirty). Write to a clone.")
        if why := fixed(tensor):
            raise GradError(f"{node.name()}: {why}. Write to a clone.")
        if several:
            raise GradError(f"{node.name()}: your Function modifies inplace an input that is a view of another Tensor, and has several results. Return one result, or write to a clone.")
        at = next(i for i, n in enumerate(node._inputs) if n is old)
        if at != 0:
            raise GradError(f"{node.name()}: a view modified in place must be the Function's first tensor argument. Reorder the arguments.")
        if epoch_stale(base):
            _record_refresh(base)
        rebase(tensor, base, node)
        epoch_advance(base)
        epoch_refresh(tensor)
        return
    keep_retained(tensor, origin)
    tensor._origin = origin
    epoch_advance(tensor)


def _record_refresh(tensor) -> None:
    tensor.requires_grad


def keep(node, outs) -> None:
    """Turn to_save into saved: inputs as they are, also where forward returned them so, results as aliases without origin. outs: None for what is no result of this node."""
    saved, layout, node._result_of = [], [], {}
    for i, t in enumerate(node.to_save):
        if t is None:
            saved += [None, None]
        elif not isinstance(t, Tensor):
            raise TypeError(f"save_for_backward: can only save tensors, but got {type(t).__name__}. Put other things on ctx as attributes.")
        else:
            k = next((k for k, o in enumerate(outs) if o is t), None)
            if k is not None and node._results[k] is not None:
                node._result_of[i] = k
                t = alias(t)
            saved += [t, _core.lib.saved_version((t._v if t.is_sparse else t)._h)]
        layout += [f"saved_{i}", f"saved_{i}_version"]
    node._layout = layout
    node._saved = tuple(saved)
    node.to_save = node.dirty_tensors = node.non_differentiable = ()
    node._keeps = bool(saved)
    hooks = pack_hooks()
    if _support.NAMES["special"] and hooks and saved:
        node._saved = Packed(node, *hooks[-1])
    if _support.NAMES["special"]:
        _support.remember(node)


def once_differentiable(function) -> Callable:
    """Decorates a backward whose result must not be differentiated again.

    >>> class Double(facula.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @facula.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g
    ...
    >>> x = facula.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """

    @functools.wraps(function)
    def inside(ctx, *grads) -> tuple:
        with _core.no_recording():
            outs = function(ctx, *grads)
        if not grad_mode():
            return outs
        if not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return outs
        single = not isinstance(outs, (tuple, list))
        return_ = []
        for o in (outs,) if single else outs:
            part = getattr(o, "_v", o)  # a sparse tensor's history is its values'
            if isinstance(part, Tensor) and is_float(part):
                part = part.detach()
                n = OnceBackward()
                n._code, n._seq, n._extra, n._inputs, n._saved = None, tick(), None, tuple(g._origin for g in grads if isinstance(g, Tensor)), ()
                part._origin = n
                o = o._with(part) if hasattr(o, "_v") else part
            return_.append(o)
        return return_[0] if single else tuple(return_)

    return inside


class OnceBackward(Node):
    """The end of what once_differentiable allows."""

    __slots__ = ()

    def _backward(self, g, inputs) -> NoReturn:
        raise GradError("once_differentiable: trying to differentiate twice a function that was marked with @once_differentiable. Remove the decorator if its backward is differentiable.")


class InplaceFunction(Function):
    """PyTorch's old name for Functions that can work in place.

    >>> issubclass(facula.autograd.function.InplaceFunction, facula.autograd.Function)
    True
    """
