"""Small conversions of arguments on their way to C."""

from facula.tensor_core._errors import DimError


def dim_masks(dim):
    """Two bit masks for fc_fold: dims counted from the front, and from the end (bit d means dim -1 - d).

    An empty tuple means every dim, as in PyTorch's reductions.
    """
    if dim is None:
        return 0, 0
    low = high = 0
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        d = d.__index__()
        if not -64 <= d < 64:
            raise DimError(f"Dimension out of range (a tensor has at most 64 dims, but got {d})")
        bit = 1 << (d if d >= 0 else -1 - d)
        if (low if d >= 0 else high) & bit:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims {tuple(dim)}. Name each dim once.")
        if d >= 0:
            low |= bit
        else:
            high |= bit
    return low, high


def dtype_id(dtype):
    """The number of a dtype, -1 for None."""
    return -1 if dtype is None else dtype.id


def spread(value, n):
    """One int for all n dims, or a sequence of n."""
    if isinstance(value, int):
        return (value,) * n
    value = tuple(value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise RuntimeError(f"expected a single integer or {n} of them, got {value}. Give one value per dim.")
    return value


def ints(values):
    """The sizes of `f(*sizes)`: called with separate ints or with one sequence."""
    if len(values) == 1 and not hasattr(values[0], "__index__"):
        return tuple(values[0])
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values
