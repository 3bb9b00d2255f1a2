"""Ways for the same values to lie in memory. Each: (name, does it change values, array -> (array, how to make the tensor))."""

import numpy as np

import facula

from .dtypes import numpy_dtype


def tensor(sample):
    """A contiguous tensor with the sample's values."""
    array = np.array(sample.array, numpy_dtype(sample.dtype), order="C")  # a copy: from_numpy would share
    made = facula.from_numpy(array) if array.ndim else facula.from_numpy(array.reshape(1)).reshape(())
    return made.to(facula.bfloat16) if sample.dtype == "bfloat16" else made


def contiguous(sample):
    return sample, tensor(sample)


def transposed(sample):
    array = sample.array
    if array.ndim < 2:
        return contiguous(sample)
    return sample, tensor(with_(sample, array.swapaxes(0, -1))).transpose(0, -1)


def sliced(sample):
    """Every second element of a larger block, starting inside it."""
    array = sample.array
    if not array.ndim:
        return contiguous(sample)
    block = np.ones([2 * n + 3 for n in array.shape], array.dtype)
    window = tuple(slice(1, 1 + 2 * n, 2) for n in array.shape)
    block[window] = array
    return sample, tensor(with_(sample, block))[window]


def negative(sample):
    """The last dim runs backward through memory."""
    array = sample.array
    if not array.ndim:
        return contiguous(sample)
    backward = (*[slice(None)] * (array.ndim - 1), slice(None, None, -1))
    return sample, tensor(with_(sample, array[backward]))[backward]


def expanded(sample):
    """One row shown many times (stride 0): the values change, so the oracle sees these."""
    array = sample.array
    if not array.ndim or array.shape[0] < 2:
        return contiguous(sample)
    row = array[:1]
    shown = np.ascontiguousarray(np.broadcast_to(row, array.shape))
    return with_(sample, shown), tensor(with_(sample, row)).expand(*array.shape)


def with_(sample, array):
    return type(sample)(array, sample.dtype)


LAYOUTS = {f.__name__: f for f in (contiguous, transposed, sliced, negative, expanded)}
