"""Small conversions of arguments on their way to C."""

from facula.tensor_core._errors import DimError, IntegerOverflow
from facula.tensor_core._types import BY_NAME, dtype


class _Lacking:
    """What was not given, where None is no way to say so: a dim, of which None is all; NumPy's name of an argument."""

    def __repr__(self):
        return "<all>"


LACKING = _Lacking()


def given_dim(name, dim, keepdim):
    """None for a dim that was not given. Refuses a keepdim, or an output, without one, which PyTorch's signatures have not."""
    if dim is not LACKING:
        return dim
    if keepdim:
        raise TypeError(f"{name}() received an invalid combination of arguments: keepdim or out without dim. Write dim=None for all of them.")
    return None


def dim_masks(dim, single=False):
    """Two bit masks for fc_fold: dims counted from the front, and from the end (bit d means dim -1 - d).

    An empty tuple means every dim, as in PyTorch's reductions. single: the op takes one dim alone.
    """
    several = isinstance(dim, (tuple, list))  # `dim == ()` would ask a number of NumPy's for an array
    if several and single:
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}: {dim!r}. Reduce one dim after the other.")
    if dim is None or several and not dim:
        return 0, 0
    low = high = 0
    for d in dim if several else (dim,):
        try:
            if (d is True or d is False) and not low | high or hasattr(d, "_h"):  # behind the first it is 0 or 1, as to PyTorch's parser; a tensor goes the slow way
                raise AttributeError
            d = d.__index__()
        except AttributeError:
            raise TypeError(f"argument 'dim' must be {'int' if single else 'int or tuple of ints'}, but found {type(d).__name__} {d!r}.") from None
        if not -64 <= d < 64:
            if not -(2**63) <= d < 2**63:
                raise (TypeError if several else IntegerOverflow)(f"dim: Overflow when unpacking long long: {d}. Give one of 64 bits.")
            raise DimError(f"Dimension out of range (a tensor has at most 64 dims, but got {d})")
        bit = 1 << (d if d >= 0 else -1 - d)
        if (low if d >= 0 else high) & bit:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims {tuple(dim)}. Name each dim once.")
        if d >= 0:
            low |= bit
        else:
            high |= bit
    return low, high


def whole(value):
    """Is it one integer: Python's, NumPy's, or a tensor without dims? An array is none."""
    return isinstance(value, int) or hasattr(value, "__index__") and not (value.dim() if hasattr(value, "dim") else hasattr(value, "__len__"))


def no_flag(value):
    """A bool of a row that is neither of Python's two goes the slow way, which refuses it by name or takes NumPy's."""
    raise TypeError(f"expected a bool, got {type(value).__name__}")


def dtype_id(d):
    """The number of a dtype (or of what names one), -1 for None."""
    if d is None:
        return -1
    try:
        return d._id
    except AttributeError:
        return as_dtype(d)._id


def dtype_without_history(input, d):
    """dtype_id, for a call that records nothing. Raises AttributeError, by which the fast road is left, where the conversion has a gradient of its own."""
    if input._origin is not None:
        raise AttributeError("a history")
    return dtype_id(d)


def as_dtype(d):
    """A dtype; Python's float, int, bool and complex name one too. Raises TypeError for anything else."""
    if d is None or isinstance(d, dtype):
        return d
    found = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}.get(d) if isinstance(d, type) else None
    if found is None:
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(d).__name__}: {d!r}. Use facula.float32 or its like.")
    return BY_NAME[found]


def listed(name, keyword, given, named=None):
    """The ints of a method that takes them one by one or in a sequence, or in a sequence under its keyword."""
    if named is None:
        if not given:
            raise TypeError(f'{name}() missing 1 required positional arguments: "{keyword}". Give (), if none are meant.')
        return ints(given)
    if given:
        raise TypeError(f"{name}() got multiple values for argument '{keyword}': {given} and {named!r}. Give one of them.")
    return sequence(name, keyword, named)


def sequence(name, keyword, value):
    """The ints of a tuple or list. Raises TypeError for one that stands alone."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name}(): argument '{keyword}' must be tuple of ints, not {type(value).__name__}. Put it into a tuple.")
    return ints((value,))


def by_axis(name, dim, axis):
    """A dim that has no default, by its name or NumPy's; refuses both and neither."""
    if axis is not None:
        return renamed(name, "axis", axis, dim, None)
    if dim is None:
        raise TypeError(f"{name}() missing 1 required positional argument: 'dim'")
    return dim


def renamed(name, other, value, given, default):
    """value, which came by NumPy's name `other` for an argument. Refuses one that was given by its own name too."""
    if given is not default:
        raise TypeError(f"{name}() got an unexpected keyword argument '{other}': it is {value!r}, and another name of what was given as {given!r}. Give one of them.")
    return value


def spread(value, n):
    """One int for all n dims, or a sequence of n."""
    value = (value.__index__(),) if whole(value) else tuple(value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise RuntimeError(f"expected a single integer or {n} of them, got {value}. Give one value per dim.")
    return value


def ints(values):
    """The sizes of `f(*sizes)`: called with separate ints or with one sequence. As in PyTorch, the first one tells that they are no truth values."""
    if len(values) == 1 and type(values[0]) is not int:
        first = values[0]
        if type(first) is tuple:
            values = first
        elif isinstance(first, (tuple, list)):
            values = tuple(first)
        elif not hasattr(first, "__index__") and not hasattr(type(first), "__torch_function__"):  # what answers for itself may be a size or all of them: who refuses it asks
            raise TypeError(f"sizes must be tuple of ints, not {type(first).__name__}: {first!r}. Make a tuple of it.")
    if values and (values[0] is True or values[0] is False):
        raise TypeError(f"sizes must be ints, but found element of type bool at pos 0: {tuple(values)}. Convert it with int().")
    return values
