"""`_foreach_add_` and its kind: one op over lists of tensors, as optimizers written for PyTorch call them.

`lib.each` runs a row over all tensors in one call, up to the first that Python has to look at: one that is recorded, of a dtype that is no real
floating one, or refused. That one goes by the method of its name, and the call goes on behind it.
"""

from facula.tensor_core import _ops
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor
from facula.tensor_core.extend import grad_mode, gradients, ops

_ONE = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt "
    "tan tanh trunc"
).split()
_TWO = "add sub mul div pow maximum minimum clamp_max clamp_min".split()
_THREE = ("addcmul", "addcdiv", "lerp")
# Lists know these under clamp's meaning, which takes numbers and writes in place; tensors have no maximum_.
_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}
_MAP, _FOLD, _DOT, _CLONE, _COPY, _FILL = range(6)  # the verbs of binding/lists.h
_ALONE = ("clone", "copy_", "zero_", "max", "mm")
_NUMBER = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value", "norm": "p"}  # what rows take by name
_VERBS = {"clone": (_CLONE, "copy"), "copy_": (_COPY, "copy_into_"), "zero_": (_FILL, "fill_number_"), "max": (_FOLD, "amax"), "norm": (_FOLD, "norm_p"), "mm": (_DOT, "matmul")}


def _columns(name, first, *others):
    """The operands: a tuple of one for each tensor, or what serves all of them, a number or a single tensor."""
    if not isinstance(first, (list, tuple)):
        raise TypeError(f"{name}(): argument 'self' (position 1) must be tuple of Tensors, not {type(first).__name__}")
    n = len(first)
    columns = [tuple(first)]
    for other in others:
        if isinstance(other, (list, tuple)):
            if len(other) != n and (n or isinstance(other[0], Tensor)):
                raise RuntimeError(f"{name}: {_unequal(n, other)}")
            columns.append(tuple(other))
        else:
            columns.append(_numbers(name, n, other) if isinstance(other, Tensor) else other)
    if not n:
        raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
    return columns


def _over(columns, method, **named):
    """What `method` gives for every place, or, where it ends with _, None when all are written. named: the method's arguments by name; a tuple has one for each place."""
    n, at, base = len(columns[0]), 0, method.rstrip("_")
    verb, row = _VERBS.get(method) or (_MAP, base)
    word, value = next(iter(named.items()), (None, None))
    alone = not named or len(named) == 1 and word == _NUMBER.get(base)
    results = None if method.endswith("_") else []
    operands = (*columns, 0) if verb == _FILL else columns
    while at < n:
        if alone and not _ops.interpreting:
            at = lib.each(verb, ops[row].id, not grad_mode(), results, at, value, *operands)
            if at == n:
                break
        x, *others = [c[at] if type(c) is tuple else c for c in columns]
        result = getattr(x, method)(*others, **{k: v[at] if type(v) is tuple else v for k, v in named.items()})
        if results is not None:
            results.append(result)
        at += 1
    return results


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
        return tuple(packed.tolist())
    if packed.dim():
        if name.strip("_").removeprefix("foreach_") not in ("add", "mul", "div"):  # the others take numbers, of which such a tensor is none
            raise TypeError(f"{name}() received an invalid combination of arguments: a tensor of {packed.dim()} dims, which is no number. Give a list of tensors.")
        raise RuntimeError(f"{name}: scalar tensor expected to be 0 dim but it has {packed.dim()} dimensions and {packed.numel()} elements.")
    return packed


# What the further operands are called, by what they are.
_OPERANDS = ("other", "scalar", "scalars", "exponent", "src", "mat2", "tensors1", "weight", "weights")


def _list_op(name, method, in_place):
    def run(self, *others, **named):
        columns = _columns(name, self, *others, *(named.pop(k) for k in _OPERANDS if k in named))
        results = _over(columns, method, **named)
        return self if in_place else tuple(results)

    return run


def _value_op(name, method, in_place):
    def run(self, tensor1, tensor2, value=1, **named):
        *columns, value = _columns(name, self, tensor1, tensor2, named.get("scalars", named.get("weights", value)))
        results = _over(columns, method, value=value)
        return self if in_place else tuple(results)

    return run


def _foreach_norm(self, ord=2, dtype=None):
    """norm of every tensor of a list."""
    columns = _columns("_foreach_norm", self)
    if dtype is None and type(ord) in (int, float):
        return tuple(_over(columns, "norm", p=ord))
    from facula.linalg import vector_norm

    return tuple(vector_norm(x, ord, dtype=dtype) for x in columns[0])


def _foreach_powsum(self, ord=2, dtype=None):
    """Sum of the sizes to the power ord of every tensor of a list."""
    (xs,) = _columns("_foreach_powsum", self)
    for kind in [dtype or x.dtype for x in xs]:
        if kind._kind < 2:
            raise DTypeError(f"_foreach_powsum: \"powsum_cpu\" not implemented for {kind._scalar_type!r}. Convert with .to(facula.float32).")
    return tuple(_powers_summed(x if dtype is None else x.to(dtype), ord) for x in xs)


def _powers_summed(x, ord):
    half = x.dtype.itemsize == 2  # these are rounded once
    total = (x.float() if half else x).abs().pow(ord).sum()
    return total.to(x.dtype) if half else total


def _foreach_pow(self, exponent):
    """pow of every tensor of a list; or of a number to every exponent of a list."""
    from facula.tensor_core.functions.overloads import pow

    if not isinstance(self, (list, tuple)) and isinstance(exponent, (list, tuple)):
        return tuple(pow(self, e) for e in _columns("_foreach_pow", exponent)[0])
    return tuple(_over(_columns("_foreach_pow", self, exponent), "pow"))


def zero_gradients(parameters):
    """zero_grad(set_to_none=False) of an optimizer and of a module: the gradients stay, zeros, and lose what history they have."""
    grads = [g for g in gradients(list(parameters)) if g is not None]
    for g in grads:
        if g.requires_grad:
            g.detach_() if g.grad_fn is not None else g.requires_grad_(False)
    if grads:
        FUNCTIONS["_foreach_zero_"](grads)


def _make():
    made = {}
    for base in (*_ONE, *_TWO, *_THREE):
        for method in (base, base + "_"):
            maker = _value_op if base.startswith("addc") else _list_op
            made[f"_foreach_{method}"] = maker(f"_foreach_{method}", method.replace(base, _METHODS.get(base, base)), method.endswith("_"))
    for method in _ALONE:
        made[f"_foreach_{method}"] = _list_op(f"_foreach_{method}", method, method.endswith("_"))
    made |= {f.__name__: f for f in (_foreach_norm, _foreach_pow, _foreach_powsum)}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__doc__ = function.__doc__ or f"{name.removeprefix('_foreach_')} of every tensor of a list; other arguments are lists of the same length, or serve all."
    return made


FUNCTIONS = _make()
globals().update(FUNCTIONS)
