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
    if not n:
        raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
    columns = [first]
    for other in others:
        if isinstance(other, (list, tuple)):
            if len(other) != n:
                raise RuntimeError(f"{name}: Tensor lists must have the same number of tensors, got {n} and {len(other)}")
            columns.append(other)
        elif isinstance(other, Tensor) and other.dim() == 1 and name.startswith("_foreach_addc"):
            columns.append(other.tolist())
        else:
            columns.append([other] * n)
    return list(zip(*columns))


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
    from facula.tensor_core._overloads import norm

    return tuple(norm(row[0], ord, dtype=dtype) for row in _lists("_foreach_norm", self))


def _foreach_pow(self, exponent):
    """pow of every tensor of a list; or of a number to every exponent of a list."""
    from facula.tensor_core._overloads import pow

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
