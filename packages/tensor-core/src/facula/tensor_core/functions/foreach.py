"""`_foreach_add_` and its kind: one op over lists of tensors, as optimizers written for PyTorch call them. One row call per tensor."""

from facula.tensor_core._tensor import Tensor

_ONE = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt "
    "tan tanh trunc"
).split()
_TWO = "add sub mul div pow maximum minimum clamp_max clamp_min".split()
_THREE = ("addcmul", "addcdiv", "lerp")
# Lists know these under clamp's meaning, which takes numbers and writes in place; tensors have no maximum_.
_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}
_ALONE = ("clone", "copy_", "zero_", "max", "mm")


def _lists(name, first, *others):
    """One tuple of operands per tensor; numbers and single tensors serve all of them."""
    if not isinstance(first, (list, tuple)):
        raise TypeError(f"{name}(): argument 'self' (position 1) must be tuple of Tensors, not {type(first).__name__}")
    n = len(first)
    columns = [first]
    for other in others:
        if isinstance(other, (list, tuple)):
            if len(other) != n and (n or isinstance(other[0], Tensor)):
                raise RuntimeError(f"{name}: {_unequal(n, other)}")
            columns.append(other)
        elif isinstance(other, Tensor):
            columns.append(_numbers(name, n, other))
        else:
            columns.append([other] * n)
    if not n:
        raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
    return list(zip(*columns))


def _unequal(n, other):
    if other and isinstance(other[0], Tensor) or not other and not n:
        return f"Tensor lists must have the same number of tensors, got {n} and {len(other)}"
    return f"Tensor list must have same number of elements as scalar list. Got {n} and {len(other)}."


def _numbers(name, n, packed):
    """A single tensor as one number for each of n tensors: addcmul and addcdiv take n of them, others one, without dims."""
    if name.startswith("_foreach_addc"):
        if packed.dim() != 1:
            raise RuntimeError(f"{name}: Expected packed scalar Tensor to be of dimension 1. Got {packed.dim()} instead.")
        if len(packed) != n:
            raise RuntimeError(f"{name}: Expected length of scalars to match input of length {n} but got {len(packed)} instead.")
        return packed.tolist()
    if packed.dim():
        raise RuntimeError(f"{name}: scalar tensor expected to be 0 dim but it has {packed.dim()} dimensions and {packed.numel()} elements.")
    return [packed] * n


# What the further operands are called, by what they are.
_OPERANDS = ("other", "scalar", "scalars", "exponent", "src", "mat2", "tensors1", "weight", "weights")


def _list_op(name, method, in_place):
    def run(self, *others, **named):
        others = [*others, *(named.pop(k) for k in _OPERANDS if k in named)]
        results = [getattr(row[0], method)(*row[1:], **named) for row in _lists(name, self, *others)]
        return self if in_place else tuple(results)

    return run


def _value_op(name, method, in_place):
    def run(self, tensor1, tensor2, value=1, **named):
        value = named.get("scalars", named.get("weights", value))
        results = [getattr(x, method)(a, b, value=v) for x, a, b, v in _lists(name, self, tensor1, tensor2, value)]
        return self if in_place else tuple(results)

    return run


def _foreach_norm(self, ord=2, dtype=None):
    """norm of every tensor of a list."""
    from facula.linalg import vector_norm

    return tuple(vector_norm(row[0], ord, dtype=dtype) for row in _lists("_foreach_norm", self))


def _foreach_pow(self, exponent):
    """pow of every tensor of a list; or of a number to every exponent of a list."""
    from facula.tensor_core.functions.overloads import pow

    if not isinstance(self, (list, tuple)) and isinstance(exponent, (list, tuple)):
        return tuple(pow(self, e) for (e,) in _lists("_foreach_pow", exponent))
    return tuple(pow(x, e) for x, e in _lists("_foreach_pow", self, exponent))


def _make():
    made = {}
    for base in (*_ONE, *_TWO, *_THREE):
        for method in (base, base + "_"):
            maker = _value_op if base.startswith("addc") else _list_op
            made[f"_foreach_{method}"] = maker(f"_foreach_{method}", method.replace(base, _METHODS.get(base, base)), method.endswith("_"))
    for method in _ALONE:
        made[f"_foreach_{method}"] = _list_op(f"_foreach_{method}", method, method.endswith("_"))
    made |= {"_foreach_norm": _foreach_norm, "_foreach_pow": _foreach_pow}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__doc__ = function.__doc__ or f"{name.removeprefix('_foreach_')} of every tensor of a list; other arguments are lists of the same length, or serve all."
    return made


FUNCTIONS = _make()
globals().update(FUNCTIONS)
