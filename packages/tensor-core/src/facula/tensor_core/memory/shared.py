"""Memory that other processes share: share_memory_ moves a tensor into a mapping of a file without a name.

Forked processes have it at once. Processes that multiprocessing starts afresh, or that get the tensor through a queue, are handed
the file; where the system has no such files (memfd), the mapping is anonymous and tensors travel to them by value.
"""

import ctypes
import mmap
import os
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd, ForkingPickler
from weakref import WeakValueDictionary, finalize

from facula.tensor_core.functions.conjugate import turned
from facula.tensor_core.memory.interop import borrow, borrow_ids
from facula.tensor_core._lib import buffer, lib, pointer
from facula.tensor_core.memory.resize import set_data
from facula.tensor_core._tensor import Tensor, _owners


class Block(mmap.mmap):
    """A mapping that outlives a fork in both processes. fd: its file, -1 where it has none."""

    fd = -1


def _block(nbytes, fd=None):
    """A new mapping, or one of a file that another process made."""
    if fd is None:
        fd = os.memfd_create("facula") if hasattr(os, "memfd_create") else -1
        if fd >= 0:
            os.ftruncate(fd, nbytes)
    block = Block(fd, nbytes)
    block.fd = fd
    if fd >= 0:
        finalize(block, os.close, fd)
    return block


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
    block, size = _block(nbytes), self.dtype.itemsize
    where = ctypes.addressof(ctypes.c_char.from_buffer(block))
    if lib.fc_storage_owner(h):
        block[:] = buffer(lib.fc_storage_data(h), nbytes)[:]
        whole = borrow(block, where, nbytes, True, self.dtype, (nbytes // size,), (1,))
        set_data(self, turned(whole.as_strided(self.shape, self.stride(), self.storage_offset()), lib.fc_lazy(h)))
    else:
        id = next(borrow_ids)
        _owners[id] = block
        lib.fc_storage_adopt(h, pointer(where), id)
    _blocks[lib.fc_storage_id(self._h)] = block
    return self


def handed_over(t, queued=False):
    """What a pickle for another process says of a tensor in shared memory: its file. None where it travels by value."""
    block = _blocks.get(lib.fc_storage_id(t._h))
    if block is None or block.fd < 0 or not (queued or get_spawning_popen() is not None):
        return None
    from facula.tensor_core.memory.copying import state_of

    place = t.dtype._name, t.storage_offset(), tuple(t.shape), tuple(t.stride())
    return _attached, (type(t), DupFd(block.fd), len(block), *place, t.requires_grad, state_of(t), lib.fc_lazy(t._h))


def _attached(cls, file, nbytes, name, offset, shape, stride, requires_grad, extra, lazy):
    """A tensor in memory that another process shares."""
    from facula.tensor_core.memory.copying import finished
    from facula.tensor_core._types import BY_NAME

    block, dtype = _block(nbytes, file.detach()), BY_NAME[name]
    where = ctypes.addressof(ctypes.c_char.from_buffer(block))
    whole = borrow(block, where, nbytes, True, dtype, (nbytes // dtype.itemsize,), (1,))
    _blocks[lib.fc_storage_id(whole._h)] = block
    return finished(cls, turned(whole.as_strided(shape, stride, offset), lazy), requires_grad, extra, None)


def _queued(t):
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "pickle: Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing process boundaries. "
            "If you just want to transfer the data, call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    return handed_over(t, True) or t.__reduce_ex__(2)


ForkingPickler.register(Tensor, _queued)
