"""Views and their bases: where an in-place write through one of them leaves the histories of the others.

A write with history to a view v of a base b makes b's value "b with that window replaced". So b gets a CopySlices node
over its old origin and the write's node, and v (and every other view of b, when it is next used) gets an AsStrided
node over b's new one. The window is kept as sizes, strides and offset relative to b.
"""

from __future__ import annotations

import weakref
from typing import NoReturn

from . import _core
from ._core import GradError, as_strided, is_complex, ops
from ._node import Leaf, Node, Nowhere, Output, tick


class Window:
    """Where a view lies in its base."""

    __slots__ = ("shape", "stride", "offset", "base_shape", "base_stride", "real", "paired", "lazy")

    def __init__(self, base, view) -> None:
        self.real = is_complex(base) and not is_complex(view)  # a view of the real and imaginary parts
        self.paired = is_complex(view) and not is_complex(base)  # a complex view of pairs of numbers
        whole = self.seen(base)
        self.lazy = _core.lazy(view) ^ _core.lazy(whole)  # conjugated or negated beside what as_strided would show
        self.shape, self.stride = tuple(view.shape), tuple(view.stride())
        self.offset = view.storage_offset() - whole.storage_offset()
        self.base_shape, self.base_stride = tuple(base.shape), tuple(base.stride())

    @classmethod
    def at(cls, geometry, size, stride, offset) -> Window:
        """The window that as_strided shows of a tensor with this geometry (shape, strides, offset)."""
        w = cls.__new__(cls)
        w.real, w.paired, w.lazy = False, False, 0
        w.base_shape, w.base_stride, start = geometry
        w.shape, w.stride = tuple(size), tuple(stride)
        w.offset = 0 if offset is None else offset - start
        return w

    def of(self, base) -> _core.Tensor:
        """The view of `base`, which lies in memory as the window's base did."""
        whole = self.seen(base)
        return _core.turned(as_strided(whole, self.shape, self.stride, whole.storage_offset() + self.offset), self.lazy)

    def of_alone(self, base) -> _core.Tensor:
        """The same where base's memory may be other than the window's base had: zeros beyond base's own elements, unless it is a view itself."""
        within = self.offset >= 0 and self.offset + self.reach(self.shape, self.stride) <= self.extent
        if tuple(base.stride()) == tuple(self.base_stride) and (within or base._viewed is not None):
            return self.of(base)
        start = max(0, -self.offset)
        flat = _core.zeros((start + max(self.extent, self.offset + self.reach(self.shape, self.stride)),), base.dtype, base.device)
        as_strided(flat, self.base_shape, self.base_stride, start).copy_(base)
        return as_strided(flat, self.shape, self.stride, start + self.offset)

    def seen(self, base) -> _core.Tensor:
        """The base in elements of the view's kind."""
        if self.paired:
            pairs = self.reach(tuple(base.shape), base.stride()) // 2
            return _core.row("complex_view")(as_strided(base, (pairs, 2), (2, 1), base.storage_offset()))
        return base if not self.real else _core.view_as_real(_core.turned(base, _core.lazy(base) & 1))

    def laid_out(self, g, copy) -> _core.Tensor:
        """g with the strides of the base, so that the window fits it; a copy that may be written if `copy`."""
        if tuple(g.stride()) == self.base_stride and g.storage_offset() == 0 and not _core.lazy(g):
            return g.clone() if copy and contiguous(self.base_shape, self.base_stride) else self.copied(g) if copy else g
        return self.copied(g)

    def copied(self, g) -> _core.Tensor:
        out = _core.beside(g, _core.empty_strided(self.base_shape, self.base_stride, dtype=g.dtype, device=g.device))
        out.copy_(g)
        return out

    def of_many(self, n) -> Window | None:
        """The window of n bases side by side; None where it shows memory beyond its base."""
        if self.paired:
            return None
        extent, start = self.reach(self.base_shape, self.base_stride), self.offset // 2 if self.real else self.offset
        if start < 0 or self.offset + self.reach(self.shape, self.stride) > extent * (1 + self.real):
            return None
        w = Window.__new__(Window)
        w.real, w.paired, w.lazy, w.offset = self.real, False, self.lazy, self.offset
        w.base_shape, w.base_stride = (n, *self.base_shape), (extent, *self.base_stride)
        w.shape, w.stride = (n, *self.shape), (extent * (1 + self.real), *self.stride)
        return w

    def roomy(self, g) -> _core.Tensor:
        """A copy of g with the strides of the base, in memory that reaches as far as the window does, zeros beyond g's own elements."""
        start = max(0, -self.offset)
        start += start % 2 if self.real else 0
        extent = start + max(self.extent, self.offset + self.reach(self.shape, self.stride))
        flat = _core.beside(g, _core.zeros((-(-extent // 2) if self.real else extent,), g.dtype, g.device))
        return as_strided(flat, self.base_shape, self.base_stride, start // 2 if self.real else start).copy_(g)

    @property
    def overlaps(self) -> bool:
        """Whether two of the view's elements may be one element of the base."""
        reach = 0
        for stride, size in sorted((abs(s), n) for s, n in zip(self.stride, self.shape) if n > 1):
            if stride <= reach:
                return True
            reach += stride * (size - 1)
        return False

    def spread(self, g) -> _core.Tensor:
        """Zeros of the base with g in the window: the derivative of `of`."""
        for n, s in zip(self.base_shape, self.base_stride):
            if s == 0 and n > 1:  # an expanded base: its elements share what their memory gets
                g = g / n
        if self.offset < 0 or self.offset + self.reach(self.shape, self.stride) > self.extent:
            return self.spread_beyond(g)
        zeros = _core.beside(g, _core.zeros_strided(self.base_shape, self.base_stride, self.base_dtype(g), g.device))
        if not self.overlaps:
            self.of(zeros).copy_(g)
            return zeros
        g = self.done(g)
        flat = as_strided(self.seen(zeros), (self.extent,), (1,), 0)
        self.add_to(flat, g, self.offset)
        return zeros

    def base_dtype(self, g) -> _core.facula.dtype:
        """Of the base, where the view's is g's."""
        return _core.complex_of(g.dtype) if self.real else _core.real_of(g.dtype) if self.paired else g.dtype

    def spread_beyond(self, g) -> _core.Tensor:
        """The same where the window shows memory outside of its base (as_strided on a view may)."""
        start = max(0, -self.offset)  # of the base, in what both cover
        start += start % 2 if self.real else 0
        extent = start + max(self.extent, self.offset + self.reach(self.shape, self.stride))
        g = self.done(g)
        flat = _core.beside(g, _core.zeros((extent,), g.dtype, g.device))
        self.add_to(flat, g, start + self.offset)
        if self.real:
            pairs = as_strided(flat, (*self.base_shape, 2), (*[2 * s for s in self.base_stride], 1), start)
            return _core.row("complex_view")(pairs).clone()
        return as_strided(flat, self.base_shape, self.base_stride, start)

    def done(self, g) -> _core.Tensor:
        g = _core.conj(g) if self.lazy & 1 else g
        return -g if self.lazy & 2 else g

    def add_to(self, flat, g, offset) -> None:
        """Add g to where the window's elements lie in a flat memory."""
        for d, s in enumerate(self.stride):
            if s == 0 and self.shape[d] != 1:
                g = g.sum(d, True)
        shape = [1 if s == 0 else n for n, s in zip(self.shape, self.stride)]
        places = as_strided(_core.arange(flat.numel()), shape, self.stride, offset)
        flat.index_add_(0, places.reshape(-1), g.reshape(-1))

    @property
    def extent(self) -> int:
        """How much memory the base spans, in elements of the view's dtype."""
        return self.reach(self.base_shape, self.base_stride) * (1 + self.real) // (1 + self.paired)

    @staticmethod
    def reach(shape, stride) -> int:
        """How many elements of memory a layout spans."""
        return 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if 0 not in shape else 0


class Part:
    """What a view op shows of a tensor of `shape`."""

    __slots__ = ("name", "shape", "args", "overlaps")

    def __init__(self, name, shape, *args, overlaps=False) -> None:
        self.name, self.shape, self.args, self.overlaps = name, shape, args, overlaps

    def of(self, t) -> _core.Tensor:
        return _core.row(self.name)(t, *self.args)

    def of_many(self, n) -> Part:
        """The same of n tensors side by side."""
        if not self.shape:  # a number's only window is itself
            return Part("unsqueeze", (n,), 1)
        dims = {"diagonal": (1, 2)}.get(self.name, (0,))
        args = [a + 1 if k in dims and a >= 0 else a for k, a in enumerate(self.args)]
        return Part(self.name, (n, *self.shape), *args, overlaps=self.overlaps)

    def laid_out(self, g, copy) -> _core.Tensor:
        return g

    def spread(self, g) -> _core.Tensor:
        zeros = _core.beside(g, _core.zeros(tuple(self.shape), g.dtype, g.device))
        if not self.overlaps:
            self.of(zeros).copy_(g)
            return zeros
        if self.name == "unfold" and g.dtype.itemsize > 2 and self.add_windows(zeros, g):
            return zeros
        places = self.of(_core.arange(zeros.numel()).view(tuple(self.shape)))
        zeros.view(-1).index_add_(0, places.reshape(-1), g.reshape(-1))
        return zeros


    def add_windows(self, zeros, g) -> bool:
        """Add overlapping windows whole, or place by place where those are fewer: an element gets its windows' in their order either way. Done, unless many are short."""
        dim, size, step = self.args
        dim %= len(self.shape)
        count = g.shape[dim]
        if min(count, size) * 500 > g.numel():  # so many elements go one by one in the time of a call
            return False
        if count <= size:
            for w in range(count):
                zeros.narrow(dim, w * step, size).add_(g.select(dim, w).movedim(-1, dim))
        else:
            for place in range(size - 1, -1, -1):
                _core.row("slice")(zeros, dim, place, count, step).add_(g.select(-1, place))
        return True


def contiguous(shape, stride) -> bool:
    expected = 1
    for n, s in zip(reversed(shape), reversed(stride)):
        if n != 1 and s != expected:
            return False
        expected *= n
    return True


class AsStridedBackward0(Node):
    """The window of a base whose history changed: stale views get this origin."""

    __slots__ = ()
    _layout = ("window",)

    def _backward(self, g, inputs) -> tuple:
        return (embed(g, self._saved[0]),)


class EmbedBackward(Node):
    """The derivative of embed(): the window of the gradient."""

    __slots__ = ()
    _layout = ("window",)

    def _backward(self, g, inputs) -> tuple:
        window = self._saved[0]
        return (window.of(window.laid_out(g, False)).clone(),)


class Pieces(Node):
    """Pieces of a tensor along a dim; saved: the dim and the pieces' shapes. What they tell goes under PyTorch's names: libraries that prune channels follow it."""

    __slots__ = ()
    _layout = ("dim", "shapes")
    _views = True  # whether the pieces look at the tensor's memory as far as its history knows

    def _backward(self, gs, inputs) -> tuple:
        dim, shapes = self._saved
        like = next(g for g in gs if g is not None)
        gs = gs + [None] * (len(shapes) - len(gs))
        gs = [_core.zeros(tuple(s), like.dtype, like.device) if g is None else g for g, s in zip(gs, shapes)]
        return (self._joined(gs, dim),)

    _joined = staticmethod(lambda gs, dim: _core.cat(gs, dim))

    @property
    def _saved_dim(self) -> int:
        return self._kept("dim")

    def _sizes(self) -> tuple:
        """How much of the dim each piece has."""
        dim = self._kept("dim")
        return tuple(s[dim] for s in self._kept("shapes"))

    def _whole(self) -> tuple:
        """The shape of what was cut."""
        dim, shape = self._kept("dim"), self._kept("shapes")[0]
        return (*shape[:dim], sum(self._sizes()), *shape[dim + 1 :])


class SplitBackward0(Pieces):
    __slots__ = ()
    _saved_self_sym_sizes = property(Pieces._whole)
    _saved_split_size = property(lambda self: self._sizes()[0])


class SplitWithSizesBackward0(Pieces):
    __slots__ = ()
    _saved_self_sym_sizes = property(Pieces._whole)
    _saved_split_sizes = property(Pieces._sizes)


class UnsafeSplitBackward0(SplitBackward0):
    """Pieces that are tensors of their own."""

    __slots__ = ()
    _views = False


class UnbindBackward0(Pieces):
    """Slices of a tensor along a dim."""

    __slots__ = ()
    _joined = staticmethod(lambda gs, dim: _core.stack(gs, dim))


PIECES = {"split": SplitBackward0, "split_with_sizes": SplitWithSizesBackward0, "unsafe_split": UnsafeSplitBackward0, "unbind": UnbindBackward0}


def made(kind, inputs, saved) -> Node:
    n = kind()
    n._code = None
    n._seq = tick()
    n._extra = None
    n._inputs, n._saved = inputs, saved
    return n


def embed(g, window) -> _core.Tensor:
    """Zeros of the window's base with g inside."""
    origin = g._origin
    if type(g) is _core.Batched and (wide := window.of_many(len(g._whole))) is not None:  # the examples' own history is their whole's
        out = _core.Batched.of(embed(g._whole, wide), g._level)
        if origin is not None and _core.grad_mode():
            out._origin = made(EmbedBackward, (origin,), (window,))
        return out
    if origin is None or not _core.grad_mode():
        with _core.no_recording():
            return window.spread(g)
    with _core.no_recording():
        out = window.spread(g.detach())
    out._origin = made(EmbedBackward, (origin,), (window,))
    dual = g.__dict__.get("_forward") if _core.dual_levels[0] else None
    if dual is not None and dual[0].open:  # forward over reverse: the tangent goes along
        out.__dict__["_forward"] = dual[0], embed(dual[1], window)
    return out


class CopySlices(Node):
    """A base after a write through a view of it. saved: the window and the write's own node."""

    __slots__ = ()
    _keeps = True
    _layout = ("window", "write", "at")  # at: which input of the write's node is the view as it was; of this one it is the first

    @property
    def next_functions(self) -> tuple:
        shown = super().next_functions
        if type(self._saved) is not tuple or self._step is not None:
            return shown
        return (shown[0], *self._saved[1].next_functions[1:])

    def _backward(self, g, inputs) -> tuple:
        window, write, at = self._thawed() if self._saved is None else self._saved
        placed = write._rule is not None and write._rule.op_name == "place_into_"  # the source's gradient is a view of g
        alone = not placed and inputs[0] is not None
        whole = window.laid_out(g, alone)
        try:
            place = window.of(whole)
        except _core.ShapeError:  # as_strided may have written beyond its base
            whole, alone = window.roomy(g), True
            place = window.of(whole)
        kept = write._backward(place if placed else place.clone(), moved(inputs, 0, at))
        kept = moved(kept, at, 0)
        if inputs[0] is None:
            return kept
        if not alone:
            whole = window.laid_out(g, True)
            place = window.of(whole)
        if kept[0] is None:
            place.zero_()
        else:
            place.copy_(kept[0])
        return (whole, *kept[1:])


def rebase(view, base, write) -> Node:
    """After `write` (its node) changed `view`, a view of `base`: give both their new origins."""
    window = Window(base, view)
    at = write._inputs.index(view._origin) if write._inputs[0] is not view._origin and view._origin in write._inputs else 0
    n = made(CopySlices, (base._origin, *moved(write._inputs, at, 0)[1:]), (window, write, at))
    n._code, n._at = write._code, write._at
    ref = weakref.ref(n)
    write._extended().owner = lambda _: made(AsStridedBackward0, (ref(),), (window,))
    keep_retained(base, n)
    base._origin = n
    shown = made(AsStridedBackward0, (n,), (window,))
    keep_retained(view, shown)
    view._origin = shown
    return n


def moved(values, start, end) -> tuple:
    """The values with the one at `start` moved to `end`."""
    if start == end:
        return values
    values = list(values)
    values.insert(end, values.pop(start))
    return tuple(values)


def keep_retained(tensor, new) -> None:
    """A tensor's retain_grad() follows it to its new origin; its hooks stay with the value they were put on."""
    old = tensor._origin
    if old is not None and old._extra is not None and old._extra.retain is not None and old._extra.retain() is tensor:
        new._extended().retain = old._extra.retain
        old._extra.retain = None


class Lost(Node):
    """The origin of a stale view whose history cannot be rebuilt, after it was read where nothing is recorded."""

    __slots__ = ()
    _layout = ("why",)

    def _backward(self, g, inputs) -> tuple:
        raise lost(self._saved[0])


class Without(Node):
    """What an operation without derivative gave: it requires grad, and has none."""

    __slots__ = ()
    _layout = ("name",)

    def _backward(self, g, inputs) -> NoReturn:
        raise GradError(f"derivative for {self._saved[0]} is not implemented. Call it under no_grad(), or on detached tensors.")


def lost(why) -> GradError:
    return GradError(
        f"{why} and its base or another view of its base has been modified inplace since. Its history cannot be rebuilt: "
        "make the in-place operation out of place, or take the view after it."
    )


def refreshed(view) -> Node | None:
    """The origin of a view whose base was written to since it was made."""
    base = view._viewed
    if base is None:
        return view._origin
    why = fixed(view)
    if why:
        if _core.grad_mode():
            raise lost(why)
        return view._origin if type(view._origin) is Lost else made(Lost, (), (why,))
    if base._origin is None:
        return view._origin if isinstance(view._origin, Leaf) else None
    if not _core.is_float(view):
        return None
    shown = made(AsStridedBackward0, (base._origin,), (Window(base, view),))
    keep_retained(view, shown)
    return shown


def fixed(view) -> str | None:
    """What kind of view has a history that cannot be rebased, in words; None for the others."""
    origin = view._origin
    if origin is None:
        return None
    if type(origin) is Lost:
        return origin._saved[0]
    whole = origin  # of which this is a view; a view of one that was made in such a mode, or of one of several pieces, is refused as that is
    while whole._rule is not None and ops[whole._rule.op_name].kind == "view" and whole._inputs[0] is not None:
        whole = whole._inputs[0]
    if type(whole) is Nowhere:
        return f"A view was created in {whole._mode} mode"
    from ._function import FunctionNode

    if isinstance(whole, Output) and isinstance(whole._inputs[0], Pieces) and whole._inputs[0]._views:
        index, name = origin._edge()[1], origin.name()
        return f"Output {index} of {name} is a view and is being modified inplace. This view is the output of a function that returns multiple views"
    if isinstance(origin._inputs[0] if isinstance(origin, Output) else origin, FunctionNode):
        index = origin.index if isinstance(origin, Output) else 0
        return f"Output {index} of {origin.name()} is a view and is being modified inplace. This view was created inside a custom Function"
    return None
