"""For tests: assert_close and make_tensor, as in torch.testing."""

import cmath
import math
import warnings
from collections.abc import Mapping, Sequence

import facula
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import dtype as Dtype

# relative and absolute tolerance of a dtype, unless given; exact for the others
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True, check_layout=True,
    check_stride=False, msg=None,
):  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Numbers, tensors, what facula.as_tensor takes, and sequences and mappings of these, whose lengths and keys must agree.
    rtol, atol: both or neither; by default those of the dtype (float32: 1.3e-6 and 1e-5; integers are compared exactly).
    msg: a text instead of the message, or a function of it.

    >>> facula.testing.assert_close(facula.ones(2), facula.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got rtol={rtol} and atol={atol}")
    how = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, subclasses=allow_subclasses, device=check_device, dtype=check_dtype, layout=check_layout, stride=check_stride, coalesced=True)
    wrong = _difference(actual, expected, how)
    if wrong is not None:
        raise AssertionError(wrong if msg is None else msg(wrong) if callable(msg) else msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close as it was called before, with dtypes left out of the comparison.

    >>> facula.testing.assert_allclose(facula.ones(2), [1.0, 1.0])
    """
    import warnings

    warnings.warn("assert_allclose is deprecated. Use assert_close, which compares dtypes too.", FutureWarning, stacklevel=2)
    expected = expected if isinstance(expected, Tensor) else facula.tensor(expected)
    actual = actual if isinstance(actual, Tensor) else facula.tensor(actual)
    if rtol is None and atol is None:
        rtol, atol = (max(pair) for pair in zip(*(_ALLCLOSE.get(t.dtype._name, (0.0, 0.0)) for t in (actual, expected))))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False, msg=msg or None)


_ALLCLOSE = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}  # its own tolerances


def _difference(actual, expected, how, where=""):
    """What is different, in words, or None."""
    text = (str, bytes)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, extra = sorted(map(str, expected.keys() - actual.keys())), sorted(map(str, actual.keys() - expected.keys()))
        if missing or extra:
            return f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {extra}{_item(where)}"
        return _first(((f"[{key!r}]", actual[key], expected[key]) for key in expected), how, where)
    if isinstance(actual, Sequence) and isinstance(expected, Sequence) and not isinstance(actual, text) and not isinstance(expected, text):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{_item(where)}"
        return _first(((f"[{k}]", a, e) for k, (a, e) in enumerate(zip(actual, expected))), how, where)
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{_item(where)}"
    if isinstance(actual, bool) and isinstance(expected, bool):
        return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}"
    if isinstance(actual, (int, float, complex)) and isinstance(expected, (int, float, complex)):
        return _of_numbers(actual, expected, how, where)
    if type(actual) is not type(expected) and not (how["subclasses"] and (isinstance(actual, type(expected)) or isinstance(expected, type(actual)))):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.{_item(where)}")
    try:
        return _of_tensors(*(t if isinstance(t, Tensor) else facula.as_tensor(t, device="cpu") for t in (actual, expected)), how, where)
    except (TypeError, RuntimeError) as error:
        if isinstance(actual, Tensor):
            raise
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.{_item(where)}") from error


def _first(pairs, how, where):
    for key, actual, expected in pairs:
        wrong = _difference(actual, expected, how, where + key)
        if wrong is not None:
            return wrong
    return None


def _tolerance(names, how):
    if how["rtol"] is not None:
        return how["rtol"], how["atol"]
    found = [_TOLERANCES.get(name, (0.0, 0.0)) for name in names]
    return max(r for r, _ in found), max(a for _, a in found)


def _of_numbers(actual, expected, how, where):
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    if how["dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}.{_item(where)}"
    rtol, atol = _tolerance([names[type(v)] for v in (actual, expected)], how)
    if actual == expected or how["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected):
        return None
    far = abs(actual - expected)
    if math.isfinite(far) and cmath.isfinite(expected) and far <= atol + rtol * abs(expected):
        return None
    return _scalars(actual, expected, rtol, atol, where)


def _scalars(actual, expected, rtol, atol, where):
    far = abs(actual - expected)
    ratio = far / abs(expected) if expected else math.inf
    word, up_to = ("equal", ("", "")) if rtol == atol == 0 else ("close", (f" (up to {atol} allowed)", f" (up to {rtol} allowed)"))
    told = f"Absolute difference: {far}{up_to[0]}\nRelative difference: {ratio}{up_to[1]}"
    return f"Scalars are not {word}!\n\nExpected {expected!r} but got {actual!r}.\n{told}{_item(where)}"


def _item(where):
    """Where in nested sequences and mappings, as the end of a message."""
    return f"\n\nThe failure occurred for item {where}" if where else ""


def _of_tensors(actual, expected, how, where):
    for word, name in (("shape", "shape"), ("device", "device"), ("dtype", "dtype"), ("layout", "layout"), ("stride", "stride()")):
        if word != "shape" and not how[word]:
            continue
        a, e = getattr(actual, word), getattr(expected, word)
        a, e = (a(), e()) if word == "stride" else (a, e)
        if a != e:
            return f"The values for attribute '{name}' do not match: {a} != {e}.{_item(where)}"
    if actual.is_meta or expected.is_meta:
        return None  # no elements
    if actual.layout is not facula.strided or expected.layout is not facula.strided:
        return _of_sparse(actual, expected, how, where)
    rtol, atol = _tolerance((actual.dtype._name, expected.dtype._name), how)
    actual, expected = actual.detach(), expected.detach()
    if actual.dtype is not expected.dtype:
        common = facula.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    close = facula.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=how["equal_nan"])
    if bool(close.all()):
        return None
    bad, total = int((~close).sum()), close.numel()
    if actual.dtype._kind < 2:
        actual, expected = actual.long(), expected.long()
    far = (actual - expected).abs()
    ratio = far / expected.abs()
    far, ratio = (x.masked_fill(close, 0) for x in (far, ratio))
    if not actual.dim():
        return _scalars(actual.item(), expected.item(), rtol, atol, where)
    head = "Tensor-likes are not equal!" if rtol == atol == 0 else "Tensor-likes are not close!"
    lines = [f"{head}\n", f"Mismatched elements: {bad} / {total} ({bad / total:.1%})"]
    for word, x, limit in (("absolute", far, atol), ("relative", ratio, rtol)):
        at = int(facula.where(x.isnan(), math.inf, x).argmax())
        index, rest = [], at
        for size in reversed(tuple(actual.shape)):
            rest, k = divmod(rest, size)
            index.append(k)
        allowed = f" (up to {limit} allowed)" if rtol or atol else ""
        lines.append(f"Greatest {word} difference: {x.reshape(-1)[at].item()} at index {tuple(index[::-1])}{allowed}")
    return "\n".join(lines) + _item(where)


# what a sparse tensor stores beside its values
_STORED = {
    "sparse_coo": ("_indices",), "sparse_csr": ("crow_indices", "col_indices"), "sparse_bsr": ("crow_indices", "col_indices"),
    "sparse_csc": ("ccol_indices", "row_indices"), "sparse_bsc": ("ccol_indices", "row_indices"),
}  # fmt: skip


def _of_sparse(actual, expected, how, where):
    """Sparse tensors by what they store: where elements are exactly, the elements closely; of two layouts by their numbers."""
    if actual.layout is not expected.layout:
        return _of_tensors(*(t if t.layout is facula.strided else t.to_dense() for t in (actual, expected)), {**how, "layout": False, "stride": False}, where)
    name = str(actual.layout).removeprefix("torch.")
    if name == "sparse_coo" and how["coalesced"] and actual.is_coalesced() != expected.is_coalesced():
        return f"The values for attribute 'is_coalesced()' do not match: {actual.is_coalesced()} != {expected.is_coalesced()}.{_item(where)}"
    if actual._nnz() != expected._nnz():
        return f"The number of specified values in sparse tensors does not match: {actual._nnz()} != {expected._nnz()}{_item(where)}"
    inside = {**how, "layout": False, "stride": False}
    for part in _STORED[name]:
        wrong = _of_tensors(getattr(actual, part)(), getattr(expected, part)(), {**inside, "rtol": 0.0, "atol": 0.0, "dtype": False}, where)
        if wrong is not None:
            return f"{part.strip('_')}: {wrong}"
    values = "_values" if name == "sparse_coo" else "values"
    return _of_tensors(getattr(actual, values)(), getattr(expected, values)(), inside, where)


def make_tensor(
    *shape, dtype, device="cpu", low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None
):
    """A tensor of numbers uniform in [low, high): by default [-9, 10) of integers, [0, 10) of unsigned ones, [-9, 9) of floats.

    noncontiguous: every second element of a larger one. exclude_zero: the smallest positive number (1 of integers) stands for 0.

    >>> facula.testing.make_tensor((2, 3), dtype=facula.int64, device="cpu", low=0, high=2).shape
    torch.Size([2, 3])
    """
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    if not isinstance(dtype, Dtype):
        raise TypeError(f"make_tensor: dtype must be a facula.dtype, got {dtype!r}.")
    if noncontiguous and memory_format is not None:
        raise ValueError(f"make_tensor: `noncontiguous` and `memory_format` are mutually exclusive, got {memory_format}. Give one of them.")
    if requires_grad and dtype._kind < 2:
        raise ValueError(f"make_tensor: `requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype}. Give a floating one.")
    low, high = _bounds(dtype, low, high)
    noncontiguous = noncontiguous and math.prod(shape) > 1
    wide = (*shape[:-1], 2 * shape[-1]) if noncontiguous else shape
    if dtype._kind < 2:
        made = facula.randint(low, high, wide, dtype=dtype)
    else:
        made = facula.empty(wide, dtype=dtype)
        numbers = facula.view_as_real(made) if dtype._kind == 3 else made
        if high - low >= facula.finfo(dtype).max:  # wider than uniform_ can draw from
            numbers.uniform_(low / 2, high / 2).mul_(2)
        else:
            numbers.uniform_(low, high)
    if noncontiguous:
        made = made[..., ::2]
    if exclude_zero:
        tiny = 1 if dtype._kind < 2 else facula.finfo(dtype).tiny
        made[made == 0] = complex(tiny, tiny) if dtype._kind == 3 else tiny
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    made = made.to(device)
    return made.requires_grad_() if requires_grad else made


def _bounds(dtype, low, high):
    """[low, high) of make_tensor within what the dtype holds; of integers whole. Raises ValueError where nothing is between."""
    if dtype._kind < 2:
        info = facula.iinfo(dtype) if dtype._kind else None
        # of int64 the last number is not drawn, for randint takes no bound above it
        least, end = (0, 2) if info is None else (info.min, info.max + (dtype is not facula.int64))
        default_low, default_high = (0, 2) if info is None else (-9, 10)
    else:
        least, end, default_low, default_high = facula.finfo(dtype).min, facula.finfo(dtype).max, -9.0, 9.0
    low, high = default_low if low is None else low, default_high if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"make_tensor: `low` and `high` cannot be NaN, but got low={low} and high={high}. Give numbers.")
    if low == high and dtype._kind >= 2:
        warnings.warn(f"make_tensor: low == high ({low}) is deprecated for floating and complex dtypes. Use facula.full.", FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {low} >= {high}. Swap them.")
    elif high < least or low >= end:
        raise ValueError(f"make_tensor: the value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {end}). Give another dtype.")
    low, high = (min(max(value, least), end) for value in (low, high))
    return (math.ceil(low), math.ceil(high)) if dtype._kind < 2 else (low, high)


__all__ = ["assert_allclose", "assert_close", "make_tensor"]
