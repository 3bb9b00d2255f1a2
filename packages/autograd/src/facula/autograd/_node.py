"""The nodes of the graph: what an operation keeps, and where its gradients go.

    Node      one recorded operation; each rule has a subclass, named as PyTorch names it (MulBackward0)
    Leaf      where a leaf's gradient is accumulated (PyTorch's AccumulateGrad)
    Output    one result of an operation that has several; it leads to that operation's node

A tensor's `origin` is one of these. The graph points from results to inputs, `_seq` falls along every edge, and no node
refers to a tensor whose origin leads back to it: a saved result is an alias without origin, a leaf is held weakly.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NoReturn

from facula.utils.hooks import RemovableHandle

from ._core import GradError, Tensor, TensorHandle, alias, lib, ops, tensor_of, tensor_version
from ._names import begun, lined_up, of_whole, renamed

tick = lib.tick
_LAST = 1 << 62  # a leaf's place in the order: newer than any operation


class Extra:
    """What few nodes have: hooks, retained gradients, the user's metadata, the forward stack of anomaly mode. Of its own it has what was set."""

    hooks = before = after = accumulated = None  # dicts: handle id -> function
    retain = None  # weak reference to the tensor whose .grad is kept
    metadata = stack = parent = owner = None
    outputs = None  # of a node with several results: index -> the hooks on that result, which are called without a gradient too
    dtype = None  # of a leaf's gradients, where it is not the leaf's


class Node(lib.NodeSlots):
    """A recorded operation: `_inputs` are the origins of its differentiable operands (None: needs no gradient).

    >>> x = facula.ones(2, requires_grad=True)
    >>> isinstance((x * 2).grad_fn, facula.autograd.graph.Node), (x * 2).grad_fn.name()
    (True, 'MulBackward0')
    """

    # Names are private, for a Function's node is its ctx, which takes any attribute. The slots are lib.NodeSlots's: _inputs, _saved, _seq, _code, _at, _extra,
    # and _step: of a composition's last node, the name of the one node that PyTorch has and the origins of its arguments, as one_node told.
    __slots__ = ("__weakref__",)

    _rule = None  # of the subclass
    _keeps = False  # whether `_saved` holds tensors, to be freed after backward
    _layout = ()  # names of what `_saved` holds
    _numbered = None  # of some subclasses: the function of _names.NAMES that tells the overload
    _called_so = False  # of subclasses that _called() made
    requires_grad = True  # what is recorded is recorded for that
    _numbers = ()  # operands that were Python numbers

    # ---- what the engine calls

    def _backward(self, g, inputs) -> NoReturn:
        """The gradients of `inputs`, None where an input is None, from the result's gradient."""
        raise AssertionError("each subclass has its own")

    def _thawed(self) -> tuple:
        """The plain tuple of saved values, where `_saved` is something else: freed, or packed by hooks."""
        if self._saved is None:
            raise GradError(
                f"{self.name()}: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
                "Specify retain_graph=True at the first backward() or grad()."
            )
        return self._saved.unpack()

    def _changed(self, name, tensor, saved_at) -> GradError:
        """The error for a saved tensor that was written to since."""
        return GradError(
            f"{self._rule.op_name if self._rule else self.name()}: one of the variables needed for gradient computation has been modified by an inplace operation: {name} {tuple(tensor.shape)}, "
            f"saved at version {saved_at}, is now {tensor_version(tensor)}; expected version {saved_at} instead. Clone it before the in-place operation."
        )

    def _of_result(self, saved) -> Tensor:
        """A saved result with its history, for gradients of gradients."""
        out = alias(saved)
        out.__dict__.update(saved.__dict__)  # a tangent
        owner = self._extra and self._extra.owner
        out._origin = owner(self) if owner else self
        return out

    def _of_one_result(self, saved, index, flat, count) -> Tensor:
        """The same where the operation has `count`; indices and the like have no history. As _support.place does it."""
        if index in flat:
            return saved
        out = alias(saved)
        out.__dict__.update(saved.__dict__)  # a tangent
        out._origin = self if count - len(flat) == 1 and index == 0 else Output(self, index, count)
        return out

    # ---- what users see

    def name(self) -> str:
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in ("CopyBackwards", "CopySlices", "NotImplemented") else name

    @property
    def next_functions(self) -> tuple:
        self._shown()
        if self._step is not None:
            return tuple([(None, 0) if n is None else n._edge() for n in self._step[1]])
        edges = list(self._edges(None if of_whole(self) is None else self._code))
        if type(self).__name__ == "NotImplemented":
            edges = [e for e in edges if e[0] is not None]
        return lined_up(type(self).__name__, self._rule and self._rule.op_name, edges)

    def _is_part(self, whole) -> bool:
        return getattr(self, "_code", None) is whole and not self._called_so and of_whole(self) is None

    def _edges(self, whole) -> Iterator:
        """What next_functions has. whole: the code of a function whose rows are one node; its inner nodes are passed over."""
        for n in self._inputs:
            if n is None:
                yield None, 0
            elif whole is not None and n._is_part(whole):
                yield from n._edges(whole)
            elif n is self._inputs[0] and begun(self) is not None:
                yield from n._edges(n._code)
            else:
                yield n._edge()

    def _edge(self) -> tuple:
        return self._shown(), 0

    def _shown(self) -> Node:
        """This node, under the name that it has in PyTorch."""
        if self._step is not None:
            self._called(self._step[0])
            return self
        name = of_whole(self)
        if name is None and self._numbered is not None and type(self._saved) is tuple:
            name = self._numbered(dict(zip(self._layout, self._saved)), self._numbers)
        if name is not None and name != type(self).__name__:
            self.__class__ = renamed(type(self), name)
        return self

    def _called(self, name: str) -> None:
        """From now on this node, the last of a composed function, goes under the name that PyTorch's one node has."""
        self.__class__ = renamed(type(self), name, True)

    @property
    def metadata(self) -> dict:
        extra = self._extended()
        if extra.metadata is None:
            extra.metadata = {}
        return extra.metadata

    def _sequence_nr(self) -> int:
        return self._seq

    def register_hook(self, fn) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) after this node ran; what it returns replaces grad_inputs."""
        return add_hook(self._extended(), "after", fn)

    def register_prehook(self, fn) -> RemovableHandle:
        """Call fn(grad_outputs) before this node runs; what it returns replaces grad_outputs."""
        return add_hook(self._extended(), "before", fn)

    def __call__(self, *grads) -> Any:
        """The gradients of the inputs from those of the results, by this node alone: nothing is accumulated or freed."""
        wanted = self._result_count()
        if len(grads) != wanted:
            raise TypeError(f"{self.name()}: expected {wanted} arguments, got {len(grads)} arguments instead. Give a gradient for each result.")
        found = tuple(self._backward(grads[0] if len(grads) == 1 else list(grads), self._inputs))
        return found[0] if len(found) == 1 else found

    def _result_count(self) -> int:
        """How many results the operation has."""
        return len(ops[self._rule.op_name].results or (0,)) if self._rule is not None and self._rule.op_name in ops else 1

    def _extended(self) -> Extra:
        if self._extra is None:
            self._extra = Extra()
        return self._extra

    def _where(self) -> str | None:
        """The forward line, as in a traceback, or None."""
        code = getattr(self, "_code", None)
        if code is None:
            return None
        line = next((line for start, end, line in code.co_lines() if start <= self._at < end), code.co_firstlineno)
        return f'File "{code.co_filename}", line {line}, in {code.co_name}'

    def _kept(self, wanted) -> Any:
        """One of the saved values, by its name in the layout: what `_saved_self` and its kind read."""
        saved = self._saved if type(self._saved) is tuple else self._thawed()
        at = self._layout.index(wanted)
        value = tensor_of(saved[at]) if type(saved[at]) is TensorHandle else saved[at]
        if wanted == "p_dim" and type(value) is int and ops[self._rule.op_name].kind == "fold":
            return (value,)  # PyTorch keeps dims as a tuple
        if wanted == "out":
            return None if value is None else self._of_result(value)
        if at + 1 < len(self._layout) and self._layout[at + 1] == wanted + "_version" and saved[at + 1] is not None:
            one = type(value) not in (tuple, list)  # lists of tensors keep a version for each
            for tensor, version in ((value, saved[at + 1]),) if one else zip(value, saved[at + 1]):
                if version is not None and tensor_version(tensor) != version:
                    raise self._changed(wanted, tensor, version)
        return value

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def saved_properties(layout, parameters) -> dict:
    """{"_saved_self": property, ...} for a node class, under PyTorch's names. Not a `__getattr__`: that would slow every access down."""
    names = {"x": "self", "y": parameters.get("y", "other"), "z": parameters.get("z", "z"), "out": "result", "x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes"}
    kept = [n for n in layout if not n.endswith(("_version", "_cast", "_small"))]
    end = {"_saved_end": property(_end)} if {"x_shape", "p_dim", "p_start", "p_length", "p_step"} <= set(kept) else {}
    found = {f"_saved_{names.get(n, n.removeprefix('p_'))}": property(lambda node, n=n: node._kept(n)) for n in kept}
    return found | end | {f"_raw{name}": property(lambda node, n=n: SavedTensor(node, n)) for name, n in zip(found, kept)}


def _end(node) -> int:
    """Where a slice ends: PyTorch keeps that where we keep how many there are."""
    dim, start, length, step = map(node._kept, ("p_dim", "p_start", "p_length", "p_step"))
    return min(start + length * step, node._kept("x_shape")[dim])


class SavedTensor:
    """One tensor that a node keeps, or the None in its place: what `_raw_saved_self` and its kind read, and a Function's `_raw_saved_tensors`."""

    __slots__ = ("node", "name")

    def __init__(self, node, name) -> None:
        saved = node._saved if type(node._saved) is tuple else node._thawed()
        value = saved[node._layout.index(name)]
        if not isinstance(value, (Tensor, TensorHandle)) and (value is not None or name + "_version" not in node._layout):
            raise AttributeError(f"{node.name()}: {name} is saved as {type(value).__name__}, not as a tensor.")
        self.node, self.name = node, name

    def unpack(self) -> Any:
        """The tensor."""
        return self.node._kept(self.name)

    def register_hooks(self, pack_hook, unpack_hook) -> None:
        """Keep pack_hook(tensor) in its place, and use unpack_hook of that. Once."""
        from ._support import hooked

        self.node._saved = hooked(self.node, self.name, pack_hook, unpack_hook)


class Leaf(Node):
    """Accumulates into a leaf's .grad. Held by the leaf, and holds it weakly, so that neither keeps the other."""

    __slots__ = ("_ref",)

    def __init__(self, tensor) -> None:
        self._ref = weakref.ref(tensor)
        self._inputs = self._saved = ()
        self._seq = _LAST
        self._extra = None

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Tensor | None:
        return self._ref()


Leaf.__name__ = Leaf.__qualname__ = "AccumulateGrad"


class Nowhere(Leaf):
    """The origin of a view made under no_grad or inference_mode: it requires grad, and its gradient goes nowhere."""

    __slots__ = ("_mode",)

    def __init__(self) -> None:
        self._mode = "inference" if lib.fc_inference_mode() else "no_grad"
        self._ref = nothing
        self._inputs = self._saved = ()
        self._seq = tick()
        self._extra = None

    def _backward(self, g, inputs) -> tuple:
        return ()


def nothing() -> None:
    return None


class Swapped(Leaf):
    """What a graph leads to where a leaf was: swap_tensors made another tensor of it since."""

    __slots__ = ()

    def _backward(self, g, inputs) -> NoReturn:
        raise GradError(
            "backward: Trying to execute AccumulateGrad node that was poisoned by swap_tensors: a leaf of this graph has become another tensor since. "
            "Swap tensors, and convert modules under set_swap_module_params_on_conversion(True), before forward or after backward, not between them."
        )


Swapped.__name__ = Swapped.__qualname__ = Leaf.__name__


class Output(Node):
    """Result `index` of `count` of an operation with several."""

    __slots__ = ("index", "count")

    def __init__(self, node, index, count) -> None:
        self._inputs = (node,)
        self.index, self.count = index, count
        self._saved = ()
        self._seq = tick()
        self._extra = None

    def _edge(self) -> tuple:
        return self._inputs[0]._shown(), self.index

    def name(self) -> str:
        return self._inputs[0].name()


def add_hook(extra, which, fn) -> RemovableHandle:
    if not callable(fn):
        raise TypeError(f"register_hook: a hook is called with the gradient, but {fn!r} is not callable. Give a function.")
    hooks = getattr(extra, which)
    if hooks is None:
        hooks = OrderedDict()  # which, unlike a dict, can be referred to weakly
        setattr(extra, which, hooks)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = fn
    return handle
