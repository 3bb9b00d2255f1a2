"""Changing what memory a tensor looks at: resize_, set_, .data; and what a result will be."""

from operator import index

from facula.tensor_core import _types
from facula.tensor_core._errors import MEMORY, IntegerOverflow, OutOfMemoryError, explain  # noqa: F401
from facula.tensor_core.dispatch.arguments import listed
from facula.tensor_core.dispatch.kinds import want_ints, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor, own_tensor
from facula.tensor_core._types import format_id


def on_meta(value):
    """A tensor of the same description without memory, for asking what an op would give."""
    if isinstance(value, Tensor):
        shape, stride = list(value.shape), [abs(s) for s in value.stride()]
        return own_tensor(lib.fc_empty_strided(lib.fc_dtype(value._h), 1, len(shape), shape, stride))
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
        return [on_meta(v) for v in value]
    return value


def result_on_meta(op, args):
    """The op's (first) result as a meta tensor: its shape and dtype."""
    from facula.tensor_core.dispatch.slow import execute

    result = execute(op, tuple(on_meta(a) if p.tensor or p.listed_tensors else a for p, a in zip(op.params, args)))  # a tensor in a number's place is read
    return result[0] if isinstance(result, tuple) else result


def resize_storage(h, nbytes):
    """Give a tensor's storage, by the tensor's handle, another size."""
    if not 0 <= nbytes < 2**63:
        what = f"Storage size calculation overflowed: {nbytes} bytes do not fit 64 bits" if nbytes > 0 else f"the size must not be negative, got {nbytes}"
        raise IntegerOverflow(f"resize_: {what}. Choose another one.")
    if lib.fc_storage_resize(h, nbytes):
        if lib.fc_status() == MEMORY:
            raise OutOfMemoryError(f"resize_: not enough memory: you tried to allocate {nbytes} bytes. Use smaller tensors or free some.")
        held = lib.fc_storage_bytes(h)
        raise RuntimeError(f"resize_: Trying to resize storage that is not resizable: {held} to {nbytes} bytes of memory that is borrowed, or lent to an array. Clone it first.")


def resize_(self, *sizes, size=None, memory_format=None):
    """The same tensor with another shape; memory grows where needed, new elements are not set. In place.

    >>> import facula
    >>> facula.zeros(2).resize_(2, 2).shape
    torch.Size([2, 2])
    """
    if self._origin is not None and not lib.fc_inference(self._h):
        raise RuntimeError("resize_: cannot resize variables that require grad. Detach it first.")
    size = [s if type(s) is int else index(s) for s in listed("resize_", "size", sizes, size)]
    format = 0 if memory_format is None else format_id("resize_", memory_format)
    if tuple(size) == tuple(self.shape) and memory_format is None:
        return self  # as it lies: strides too
    n, run = 1, 1
    for s in reversed(size):
        if not -(2**63) <= s < 2**63:
            want_ints("resize_", "size", 0, size)
        if s < 0:
            raise RuntimeError(f"resize_: sizes may not be negative, got {tuple(size)}: numel: integer multiplication overflow. Give sizes of 0 or more.")
        n, run = n * s, run * max(s, 1)
    wanted, held = (n + lib.fc_offset(self._h)) * self.dtype.itemsize, lib.fc_storage_bytes(self._h)
    if max(run, wanted) >= 2**63:
        what = "numel: integer multiplication overflow" if n >= 2**63 else "Storage size calculation overflowed" if wanted >= 2**63 else "Stride calculation overflowed"
        raise RuntimeError(f"resize_: {what} with sizes={size}. Choose smaller ones.")
    if wanted > held:
        resize_storage(self._h, wanted)
    stride, run = [0] * len(size), 1
    for d in range(len(size) - 1, -1, -1):
        stride[d] = run
        run *= max(size[d], 1)
    if format:
        from facula.tensor_core.memory.interop import channels_last_strides

        if len(size) != format + 2:
            raise RuntimeError(f"resize_: {memory_format} is of tensors of {format + 2 if format > 1 else 'known'} dims, the size is {tuple(size)}.")
        stride = list(channels_last_strides(size))
    plain = self.detach()
    view = own_tensor(lib.fc_as_strided(plain._h, len(size), size, stride, lib.fc_offset(self._h)))
    if wanted > held:
        from facula.tensor_core.functions.create import prepared

        old = held // self.dtype.itemsize
        prepared(own_tensor(lib.fc_as_strided(view._h, 1, [wanted // self.dtype.itemsize - old], [1], old)))
    set_data(self, view)
    lib.fc_bump(self._h)
    return self


def resize_as_(input, the_template, *, memory_format=None):
    """resize_ to the template's shape. In place.

    >>> facula.tensor([1, 2, 3, 4]).resize_as_(facula.zeros(2, 2))
    tensor([[1, 2],
            [3, 4]])
    """
    want_tensor("resize_as_", "input", 0, input)
    want_tensor("resize_as_", "the_template", 1, the_template)
    if memory_format is _types.preserve_format:
        memory_format = {2: _types.channels_last, 3: _types.channels_last_3d}.get(lib.fc_suggested_format(the_template._h))
    return resize_(input, the_template.shape, memory_format=memory_format)


def set_data(self, source):
    """Make self look at source's memory: `self.data = source`."""
    h = lib.fc_with_data(self._h, source._h)
    if h is None:
        raise RuntimeError(f"set_data: no memory for a tensor of shape {tuple(source.shape)}.")
    self._h = h
    self._shape = None
