"""Everything this package takes from the core, by one import: nothing else here imports facula.tensor_core."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import facula
from facula import contiguous_format  # noqa: F401
from facula.tensor_core import extend
from facula.tensor_core.extend import (  # noqa: F401  (re-exported)
    GOES_ON,
    Begun,
    GradError,
    ShapeError,
    Tensor,
    attach,
    epoch_advance,
    epoch_refresh,
    epoch_stale,
    grad_mode,
    lib,
    ops,
    record,
    set_grad_mode,
    set_tape,
    shares_storage,
    steps,
    want_tensor,
)
from facula.tensor_core.extend import version as tensor_version  # noqa: F401

facula_path = facula.__path__  # the folders of all parts



class NoDerivative(GradError):
    """An operation whose derivative is refused."""


_new = object.__new__
_alias = lib.fc_alias


def alias(t) -> Tensor:
    """The same memory and version under a new Tensor without origin or base."""
    if type(t) is Batched:
        return t.again()
    return tensor_of(_alias(t._h, 0))


tensor_of = lib.tensor_of  # a Tensor around a handle, without origin or base

# A recorder keeps the handle of a result alone: the Tensor around it is made in backward, which may never come.
TensorHandle = lib.Handle


class Batched(Tensor):
    """A tensor inside vmap: it shows one example's shape, and stands for `_whole`, which has the examples along its first dim.

    Its handle is the first example's, so whatever only looks (shape, dtype, strides) is right; operations go to the interpreter
    of `_level`, and what would read values is refused there.
    """

    __slots__ = ()

    @staticmethod
    def of(whole, level) -> Tensor:
        first = row("select")(whole, 0, 0) if whole.shape[0] else zeros(tuple(whole.shape[1:]), whole.dtype, whole.device)
        b = _new(Batched)
        b._h = _alias(first._h, 0)
        b._origin = b._viewed = b._shape = None
        b.__dict__.update(_whole=whole, _level=level)
        return b

    def again(self) -> Tensor:
        """The same without origin or base."""
        b = _new(Batched)
        b._h = _alias(self._h, 0)
        b._origin = b._viewed = b._shape = None
        b.__dict__.update(_whole=self._whole, _level=self._level)
        return b

    def detach(self) -> Tensor:
        return Batched.of(self._whole.detach(), self._level)

    # What is made like a tensor with examples, or from one, has examples too: it can be written to.

    def made_like(self, make, values, memory_format, **options) -> Tensor:
        """make(what stands behind this tensor, *values, **options), for empty_like and full_like."""
        if memory_format not in (None, facula.preserve_format, facula.contiguous_format):
            raise RuntimeError(f"vmap: {make.__name__} is only supported with memory_format torch.preserve_format or torch.contiguous_format, not {memory_format}.")
        return Batched.of(make(self._whole, *values, memory_format=memory_format, **options), self._level)

    def new_empty(self, *size, **options) -> Tensor:
        return self.made("new_empty", size, options)

    def new_zeros(self, *size, **options) -> Tensor:
        return self.made("new_zeros", size, options)

    def new_ones(self, *size, **options) -> Tensor:
        return self.made("new_ones", size, options)

    def new_full(self, size, fill_value, **options) -> Tensor:
        return self.made("new_full", (size,), {"fill_value": fill_value, **options})

    def made(self, method, size, options) -> Tensor:
        size = options.pop("size", size)
        size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
        requires_grad = options.pop("requires_grad", False)
        made = Batched.of(getattr(self._whole, method)((len(self._whole), *size), **options), self._level)
        return made.requires_grad_() if requires_grad else made

    @property
    def data(self) -> NoReturn:
        raise RuntimeError("data: accessing `data` under vmap transform is not allowed. Use detach().")

    @data.setter
    def data(self, value) -> NoReturn:
        raise RuntimeError("data: mutating directly with `.data` under vmap transform is not allowed. Write with copy_().")

    def __repr__(self, *, tensor_contents=None) -> str:
        whole, level = self._whole, 1
        while type(whole) is Batched:
            whole, level = whole._whole, level + 1
        text = repr(self._whole).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={level}, bdim=0, value=\n    {text}\n)"

    __str__ = __repr__

    def __format__(self, spec) -> str:
        return format(repr(self), spec)

    def _values_of_all(self) -> Tensor:
        return self._whole._values_of_all()

    def data_ptr(self) -> NoReturn:
        raise RuntimeError("data_ptr: a tensor inside vmap has no memory of its own. Call it outside.")

    def __deepcopy__(self, memo) -> NoReturn:
        raise RuntimeError("deepcopy: a tensor inside vmap cannot leave it. Return it, or copy it with clone().")

    def __reduce_ex__(self, protocol) -> NoReturn:
        raise RuntimeError("pickle: a tensor inside vmap cannot leave it. Return it first.")


is_complex = Tensor.is_complex  # C's own: no Python frame
_FIRST_FLOAT = facula.float16._id


def is_float(t) -> bool:
    """Of a dtype that has gradients, complex ones too."""
    return lib.fc_dtype(t._h) >= _FIRST_FLOAT


dual_levels = [0]  # forward mode's open levels, of all threads
dual = extend.ThreadState()  # .level: this thread's


def composing() -> bool:
    """Whether what a rule computes will be differentiated: then rules use operations that have rules, not kernels."""
    return grad_mode() or (dual_levels[0] > 0 and getattr(dual, "level", None) is not None)


class no_recording:
    """A block in which this thread records nothing."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = set_grad_mode(False)

    def __exit__(self, *exc) -> None:
        set_grad_mode(self.before)


def conj(t) -> Tensor:
    """Computed at once, for gradients are read more than once; of what was expanded before that, so that it still says nothing about how products lie."""
    shape, stride = t.shape, t.stride()
    if 0 in stride and t._origin is None:
        for d, s in enumerate(stride):
            t = t if s else t.narrow(d, 0, min(t.shape[d], 1))
        return t.conj_physical().expand(shape)
    return t.conj_physical()


def real(t) -> Tensor:
    return t.real


def view_as_real(t) -> Tensor:
    return facula.view_as_real(t)


def as_strided(t, size, stride, offset) -> Tensor:
    return t.as_strided(size, stride, offset)


def empty_strided(shape, stride, dtype, device) -> Tensor:
    return facula.empty_strided(shape, stride, dtype=dtype, device=device)


def zeros_strided(shape, stride, dtype, device) -> Tensor:
    return empty_strided(shape, stride, dtype, device).zero_()


def lazy(t) -> int:
    """What is still to be done to t's elements: 1 conjugate, 2 negate."""
    return lib.fc_lazy(t._h)


def turned(t, bits) -> Tensor:
    """A view of t with these bits the other way round."""
    t = row("_conj")(t) if bits & 1 else t
    return row("_neg_view")(t) if bits & 2 else t


def real_of(dtype) -> facula.dtype:
    return facula.float64 if dtype is facula.complex128 else facula.float32


def arange(n) -> Tensor:
    return facula.arange(n)


def complex_of(dtype) -> facula.dtype:
    return facula.complex128 if dtype is facula.float64 else facula.complex64


def ones_like(t) -> Tensor:
    """The gradient of a scalar of any rank with respect to itself: one call, for every backward() begins with it."""
    g = extend.wrap(lib.fc_from_scalar(lib.fc_dtype(t._h), 1, 1, 1.0, 0.0))
    return g if not t.shape else g.reshape(t.shape)


def zeros(shape, dtype, device) -> Tensor:
    return facula.zeros(shape, dtype=dtype, device=device)


def beside(g, t) -> Tensor:
    """t, fresh memory that g is about to be written into: with examples of its own where g has some."""
    if g.__class__ is not Batched:
        return t
    n, shape, stride = len(g._whole), tuple(t.shape), t.stride()
    whole = row("expand")(t, (n, *shape))
    if 0 in stride or t.is_contiguous():
        return Batched.of(beside(g._whole, whole.clone()), g._level)
    reach = 1 + sum((k - 1) * s for k, s in zip(shape, stride))  # a window counts on the strides
    return Batched.of(beside(g._whole, empty_strided((n, *shape), (reach, *stride), t.dtype, t.device).copy_(whole)), g._level)


def met_by(t, indices) -> Tensor:
    """t, fresh memory that is about to be written to where the indices say: with examples of its own where they have some."""
    for i in indices:
        if i.__class__ is Batched:
            t = t + (i.sum() * 0).to(t.dtype)
    return t


def stack(tensors, dim=0) -> Tensor:
    return facula.stack(tensors, dim)


def cat(tensors, dim) -> Tensor:
    return facula.cat(tensors, dim)


def row(name) -> Callable:
    """The function of a row."""
    return extend.function(ops[name])


def zeros_like(g) -> Tensor:
    return facula.zeros_like(g)
