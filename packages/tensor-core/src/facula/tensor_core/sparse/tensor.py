"""Sparse tensors in coordinate form: a tensor of indices and a tensor of values.

    indices: (sparse_dim, nnz) int64; values: (nnz, *dense sizes). The element at an index listed twice is the sum of its values;
    a coalesced tensor lists each index once, in order.

A Sparse has no strided memory, so `_h` is not there: every op's fast path fails on it and ends in _dispatch, which asks the
table of ops.py. Gradients go through the values: what is made of a Sparse is recorded as ops on them.
"""

import copy

from facula.tensor_core import _print
from facula.tensor_core.functions import create as _create
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.sparse import ops as _sparse_ops
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import ALIASES, BY_NAME, Size, sparse_coo


class NoMemory(AttributeError, NotImplementedError):
    """What a fast path meets at a sparse tensor; to who called what is not defined for one, PyTorch's error."""


class Sparse(Tensor):
    """A sparse COO tensor; facula.sparse_coo_tensor makes one."""

    is_sparse, layout = True, sparse_coo
    is_leaf = property(lambda self: self._v.is_leaf)
    grad_fn = property(lambda self: self._v.grad_fn)
    shape = property(lambda self: self._size)
    dtype = property(lambda self: self._v.dtype)
    device = property(lambda self: self._v.device)
    requires_grad = property(lambda self: self._v.requires_grad, lambda self, flag: setattr(self._v, "requires_grad", flag))
    is_meta = property(lambda self: self._v.is_meta)
    is_cpu = property(lambda self: self._v.is_cpu)
    _version = property(lambda self: self._v._version)

    @property
    def _h(self):
        raise NoMemory("a sparse tensor has no strided memory. Convert with to_dense().")

    # --- description

    def numel(self):
        n = 1
        for size in self._size:
            n *= size
        return n

    nelement = numel

    def stride(self, dim=None):
        return (0,) * len(self._size) if dim is None else 0

    def storage_offset(self):
        return 0

    def is_contiguous(self, *, memory_format=None):
        return False

    def data_ptr(self):
        raise RuntimeError("data_ptr: a sparse tensor has no storage of its own. Ask its values().")

    def item(self):
        return self.to_dense().item()

    def tolist(self):
        return self.to_dense().tolist()

    def numpy(self, *, force=False):
        raise TypeError("numpy: can't convert a tensor of Sparse layout. Use Tensor.to_dense() first.")

    def __array__(self, dtype=None, copy=None):
        return self.numpy()

    def _parts(self):
        """The tensors it is made of, by the names that its repr gives them."""
        return {"indices": self._i, "values": self._v}

    @property
    def __array_interface__(self):
        raise AttributeError("__array_interface__: a sparse tensor has none. Use Tensor.to_dense() first.")

    def __repr__(self, *, tensor_contents=None):
        if tensor_contents is None:
            tensor_contents = ",\n       ".join(_part(name, t) for name, t in self._parts().items())
        return _print._add_suffixes("tensor(" + tensor_contents, self._facts(), 7, force_newline=self.layout is sparse_coo)

    def __rich_repr__(self):
        yield from self._parts().items()
        yield from _print.rich_facts(self._facts())

    def _facts(self):
        size, listed = f"size={tuple(self._size)}", f"nnz={self._nnz()}"
        facts = [f"device='{self.device}'", size] if self.is_meta else [size, listed]
        if not _print.usual(self.dtype):
            facts.append(f"dtype={self.dtype}")
        facts.append(f"layout={self.layout}")
        if self.requires_grad:
            facts.append("requires_grad=True" if self.is_leaf else f"grad_fn=<{type(self.grad_fn).__name__}>")
        return facts

    def __format__(self, spec):
        return super().__format__(spec) if self._size or self.is_meta or type(self).__module__ != __name__ else self.item().__format__(spec)

    # --- parts

    def _nnz(self):
        return self._i.size(1)

    def _indices(self):
        return self._i

    def _values(self):
        return self._v.detach()

    def indices(self):
        """(sparse_dim, nnz) int64. The tensor must be coalesced."""
        self._check_coalesced("indices")
        return self._i

    def values(self):
        """(nnz, *dense sizes). The tensor must be coalesced."""
        self._check_coalesced("values")
        return self._v

    def _check_coalesced(self, what):
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def is_coalesced(self):
        return self._coalesced

    def _coalesced_(self, flag):
        self._coalesced = bool(flag)
        return self

    def sparse_dim(self):
        return self._i.size(0)

    def dense_dim(self):
        return self._v.dim() - 1

    def coalesce(self):
        """The same tensor with each index once, in order."""
        if self._coalesced:
            return self
        sizes = self._size[: self.sparse_dim()]
        flat, places = _ops_unique(_flat(self._i, sizes))
        summed = _create.zeros((flat.numel(), *self._v.shape[1:]), dtype=self.dtype).index_add(0, places, self._v)
        return make(_unravelled(flat, sizes), summed, self._size, True)

    # --- what every layout answers: the ops ask these, and read indices of what coo() gives alone

    def coo(self):
        """The same tensor in coordinate form, its values in this order."""
        return self

    def distinct(self):
        """The same tensor with each index once, in this layout."""
        return self.coalesce()

    def same_places(self, other):
        """Do the values of both stand at the same indices, as far as one sees at a glance?"""
        return other.is_sparse and self._i is other._i

    def _lies_as(self, other):
        """Takes over where another's values stand, who is of this layout."""
        self._i, self._size, self._coalesced = other._i, other._size, other._coalesced

    def blank(self, dtype=None):
        """A tensor of this shape and layout that lists nothing."""
        values = _create.zeros((0, *self._v.shape[1:]), dtype=dtype or self.dtype)
        return make(_create.zeros((self.sparse_dim(), 0), dtype=self._i.dtype), values, self.shape, True)

    def filled(self, value, dtype=None):
        """A tensor that lists what this one does, all of one value."""
        return self._with(_create.full_like(self._v, value, dtype=dtype))

    def everywhere(self):
        """Ones of this shape and layout, of which each is listed."""
        return _create.ones(tuple(self._size), dtype=self.dtype).to_sparse(self.sparse_dim())

    # --- conversion

    def to_dense(self, dtype=None, *, masked_grad=None):
        """The strided tensor."""
        sizes = self._size[: self.sparse_dim()]
        n = 1
        for size in sizes:
            n *= size
        dense = _create.zeros((n, *self._v.shape[1:]), dtype=self.dtype).index_add(0, _flat(self._i, sizes), self._v).reshape(self._size)
        _dispatch.one_node(dense, "ToDenseBackward0", self._v)
        return dense if dtype is None else dense.to(dtype)

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        from facula.tensor_core.sparse.making import in_layout

        if layout not in (None, self.layout):
            return in_layout(self, layout, blocksize, dense_dim)
        if blocksize is not None:
            raise RuntimeError(f"to_sparse: conversion from Sparse to Sparse with blocksize argument given is not supported, got {blocksize}. Give a layout of blocks.")
        if dense_dim is not None:
            raise RuntimeError(f"to_sparse: conversion from Sparse to Sparse with dense_dim argument given is not supported, got {dense_dim}. Convert with to_dense() first.")
        if sparse_dim not in (None, self.sparse_dim()):
            raise RuntimeError(f"to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported, got {sparse_dim} for {self.sparse_dim()}. Convert with to_dense() first.")
        return self

    def _with(self, values, indices=None):
        return make(self._i if indices is None else indices, values, self._size, self._coalesced)

    def index_dtype(self):
        """Of the indices, which a sum keeps."""
        return self._i.dtype

    def _as_me(self, result, index=None):
        """A result of the table in this tensor's layout. index: the dtype of its indices, int64 by default."""
        return result

    def _become(self, other, values):
        """This tensor with the indices, the size and these values of another, for out=."""
        self._i, self._v, self._size, self._coalesced = other._i.clone(), values, other._size, other._coalesced
        return self

    def __getitem__(self, key):
        from facula.tensor_core.sparse.shapes import getitem

        return getitem(self, key)

    def __setitem__(self, key, value):
        raise TypeError("Cannot assign to a sparse tensor. Make another one, or convert with to_dense().")

    def new_zeros(self, *size, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
        """A tensor of zeros, as sparse as this one is."""
        return _create.zeros(*size, dtype=dtype or self.dtype, layout=layout or self.layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)

    new_empty = new_zeros

    def detach(self):
        return self._with(self._v.detach())

    @property
    def data(self):
        """The same without history."""
        return self.detach()

    @data.setter
    def data(self, value):
        if not isinstance(value, Sparse):
            error = RuntimeError if isinstance(value, Tensor) else TypeError
            raise error(f"data: a sparse tensor is set to a sparse one only, got {getattr(value, 'layout', type(value).__name__)}. Convert with to_sparse().")
        _sparse_ops.hold(self, value._v.detach())
        self._size, self._i, self._coalesced = value._size, value._i, value._coalesced

    def detach_(self):
        self._v = self._v.detach()
        return self

    def clone(self, *, memory_format=None):
        if memory_format is not None and memory_format._number > 1:
            raise RuntimeError(f"clone: a sparse tensor has no memory format {memory_format}. Leave it out.")
        return self._copied()

    def _copied(self):
        return self._with(self._v.clone(), self._i.clone())

    def to(self, *args, **kwargs):
        values = self._v.to(*args, **kwargs)
        if values.is_meta and not self.is_meta:
            return self._listing_none(_dispatch.one_node(values.narrow(self._along, 0, 0), "ToCopyBackward0", self._v))
        return self if values is self._v else self._with(values)

    _along = 0  # the dim of the values along which they are listed

    def _listing_none(self, values):
        """This tensor on the device of its values, of which there are none: what meta has instead of indices."""
        return make(self._i[:, :0].to(values.device), values, self._size, True)

    def placed(self, device):
        """This tensor there; where there is none, itself."""
        return self if device is None else self.to(device)

    def add_(self, other, *, alpha=1):
        return _sparse_ops.INPLACE["add"](self, other, alpha)

    def sub_(self, other, *, alpha=1):
        return _sparse_ops.INPLACE["sub"](self, other, alpha)

    def mul_(self, other):
        return _sparse_ops.INPLACE["mul"](self, other)

    def div_(self, other, *, rounding_mode=None):
        if rounding_mode is None:
            return _sparse_ops.INPLACE["div"](self, other)
        return _sparse_ops.become("div_", self, self.div(other, rounding_mode=rounding_mode))

    def floor_divide_(self, other):
        return _sparse_ops.become("floor_divide_", self, self.floor_divide(other))

    def transpose_(self, dim0, dim1):
        made = self.transpose(dim0, dim1)
        self._i, self._v, self._size, self._coalesced = made._i, made._v, made._size, made._coalesced
        return self

    def t_(self):
        return self.transpose_(0, self.dim() - 1) if self.dim() > 1 else self

    def nan_to_num_(self, nan=None, posinf=None, neginf=None):
        _sparse_ops.want_coalesced("nan_to_num", self)
        return _sparse_ops.become("nan_to_num_", self, self._with(self._v.nan_to_num(nan, posinf, neginf)))

    def is_nonzero(self):
        if self.numel() != 1:
            raise RuntimeError(f"Boolean value of Tensor with {'more than one value' if self.numel() else 'no values'} is ambiguous, got shape {tuple(self._size)}. Use any() or all().")
        return bool(self.to_dense())

    __bool__ = is_nonzero

    _kept, _holds_gradient = None, False  # the last .grad; is this one such?
    _behind = None  # of a gradient that lists once what its tensor lists twice: the values that the tape adds to, where each stands here, their version

    @property
    def grad(self):
        """The gradient of the values, at the same indices: one object as long as it is one gradient.

        Values that are listed for one index have one gradient, for they add up; such a tensor's gradient lists it once.
        """
        values = self._v.grad
        if values is not None and (self._kept is None or not self._kept._is_of(values)):
            self._kept = self._once(values)
            self._kept._holds_gradient = True
        return None if values is None else self._kept

    def _is_of(self, values):
        """Is this gradient still what these values of one say?"""
        return self._v is values or self._behind is not None and self._behind[0] is values and self._behind[2] == values._version

    def _once(self, values):
        """The tensor of a gradient's values at self's indices, each of which it lists once."""
        if not self.is_sparse or self._coalesced:
            return self._with(values)
        sizes = self._size[: self.sparse_dim()]
        flat, places = _ops_unique(_flat(self._i, sizes))
        if flat.numel() == self._nnz():
            return self._with(values)
        made = make(_unravelled(flat, sizes), _create.zeros((flat.numel(), *values.shape[1:]), dtype=self.dtype).index_copy(0, places, values), self._size, True)
        made._behind = values, places, values._version
        return made

    @grad.setter
    def grad(self, value):
        if isinstance(value, Tensor) and value.layout is not self.layout:
            raise RuntimeError(f"attempting to assign a gradient to a tensor that has data of a different type: one of {value.layout} to one of {self.layout}. Convert it.")
        self._v.grad = value._v if isinstance(value, Sparse) else value

    def cpu(self):
        return self

    def element_size(self):
        return self.dtype.itemsize

    def is_same_size(self, other):
        return self.shape == other.shape

    def type(self, dtype=None, **options):
        if dtype is not None:
            return self.to(dtype)
        return self._v.type().replace("torch.", "torch.sparse.")

    def new(self, *data, device=None):
        """An empty sparse tensor, one of that size, or one of (indices, values, size)."""
        from facula.tensor_core.sparse.making import sparse_coo_tensor

        if not data:
            return sparse_coo_tensor((0,), dtype=self.dtype)
        if isinstance(data[0], Tensor):
            return sparse_coo_tensor(*data, dtype=self.dtype)
        return sparse_coo_tensor(data[0] if len(data) == 1 and not isinstance(data[0], int) else data, dtype=self.dtype)

    def resize_as_(self, the_template, *, memory_format=None):
        from facula.tensor_core.sparse.products import sparse_resize_

        return sparse_resize_(self, the_template.shape, the_template.sparse_dim(), the_template.dense_dim())

    def share_memory_(self):
        self._i.share_memory_()
        self._v.share_memory_()
        return self

    def requires_grad_(self, requires_grad=True):
        self._v.requires_grad_(requires_grad)
        return self

    def zero_(self):
        return _sparse_ops.become("zero_", self, self.filled(0) if self._holds_gradient else self.blank())  # to a gradient the tape goes on adding

    def copy_(self, src, non_blocking=False):
        if not isinstance(src, Sparse) or src.shape != self.shape:
            raise RuntimeError("copy_: a sparse tensor copies from a sparse one of its shape only. Convert with to_sparse().")
        return _sparse_ops.become("copy_", self, make(src._i.clone(), src._v.clone(), src._size, src._coalesced))

    def _attributes(self):
        """What a user gave it: all that an alias has not."""
        parts = vars(self.detach())
        return {name: value for name, value in vars(self).items() if name not in parts}

    def __copy__(self):
        copied = self.detach().requires_grad_(self.requires_grad)
        vars(copied).update(self._attributes())
        return copied

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            copied = memo[id(self)] = self.clone().detach().requires_grad_(self.requires_grad)
            vars(copied).update(copy.deepcopy(self._attributes(), memo))
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return *self._rebuilt_from(), self._attributes() or None

    def _rebuilt_from(self):
        return _rebuild, (self._i, self._v.detach(), tuple(self._size), self._coalesced, self.requires_grad)


def _part(name, t):
    """A tensor of which a sparse one is made, as its repr shows it."""
    head = f"{name}=tensor("
    size = "" if t.numel() and not t.is_meta else f", size={tuple(t.shape)}"
    return f"{head}{_print._tensor_str(t.detach(), len('tensor(' + head))}{size})"


def _converter(dtype):
    return lambda self, *_, **__: self.to(dtype)


for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "cfloat", "cdouble", "bool"):
    setattr(Sparse, _name, _converter({**BY_NAME, **ALIASES}[_name]))


def _rebuild(indices, values, size, coalesced, requires_grad):
    return make(indices, values, size, coalesced).requires_grad_(requires_grad)


def make(indices, values, size, coalesced=None):
    """A Sparse of these parts, which are not checked. coalesced: whether it is known to be; None: as far as one sees, of one element at most."""
    t = object.__new__(Sparse)
    t._origin = t._viewed = None
    t._i, t._v, t._size, t._coalesced = indices, values, Size(size), indices.size(1) <= 1 if coalesced is None else coalesced
    return t


def _flat(indices, sizes):
    """The place of each index in the row-major order of `sizes`."""
    flat = indices[0] if len(sizes) else indices.new_zeros(indices.size(1))
    for k in range(1, len(sizes)):
        flat = flat * sizes[k] + indices[k]
    return flat


def _unravelled(flat, sizes):
    rows = []
    for size in reversed(sizes):
        rows.append(flat % size)
        flat = flat // size
    from facula.tensor_core.functions.joining import stack

    return stack(rows[::-1]) if rows else _create.zeros((0, flat.numel()), dtype=flat.dtype)


def _ops_unique(flat):
    from facula.tensor_core.functions.order import unique

    return unique(flat, sorted=True, return_inverse=True)


def _handle(op, args, out=None):
    """The slow path's question about an op whose arguments may be sparse: NotImplemented where none is."""
    if not any([isinstance(a, Sparse) or type(a) in (list, tuple) and any([isinstance(b, Sparse) for b in a]) for a in args]):
        return NotImplemented
    return _sparse_ops.run(op, args, out)


_dispatch.sparse = _handle
_sparse_ops.Sparse, _sparse_ops.make = Sparse, make
