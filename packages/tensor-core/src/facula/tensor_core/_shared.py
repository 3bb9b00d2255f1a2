"""Memory that a forked process shares: share_memory_ moves a tensor into an anonymous mapping."""

import ctypes
import mmap
from weakref import WeakValueDictionary

from facula.tensor_core._interop import borrow, borrow_ids
from facula.tensor_core._lib import buffer, lib, pointer
from facula.tensor_core._resize import set_data
from facula.tensor_core._tensor import _owners


class Block(mmap.mmap):
    """A mapping that outlives a fork in both processes."""


_blocks = WeakValueDictionary()  # storage number -> its Block, while the storage lives


def is_shared(h):
    """Is the storage of this handle in shared memory?"""
    return lib.fc_storage_id(h) in _blocks


def share_memory_(self):
    """Move the tensor's storage to memory that processes forked from now on share; itself.

    Views of the storage go with it. Memory that another library lent cannot move: then the tensor alone gets a shared copy.
    """
    h, nbytes = self._h, lib.fc_storage_bytes(self._h)
    if not nbytes or is_shared(h):
        return self
    if self.is_meta:
        raise NotImplementedError("share_memory_: a tensor on meta has no memory. Make it on the CPU.")
    block, size = Block(-1, nbytes), self.dtype.itemsize
    where = ctypes.addressof(ctypes.c_char.from_buffer(block))
    if lib.fc_storage_owner(h):
        block[:] = buffer(lib.fc_storage_data(h), nbytes)[:]
        whole = borrow(block, where, nbytes, True, self.dtype, (nbytes // size,), (1,))
        set_data(self, whole.as_strided(self.shape, self.stride(), self.storage_offset()))
    else:
        id = next(borrow_ids)
        _owners[id] = block
        lib.fc_storage_adopt(h, pointer(where), id)
    _blocks[lib.fc_storage_id(self._h)] = block
    return self
