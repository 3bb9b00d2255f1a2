"""Gives Tensor its methods: every row and composition whose first argument is the tensor, operators, conversions, new_*."""

from types import FunctionType

from facula.tensor_core import _in_place, _ops, _ownership, _print
from facula.tensor_core.functions import create as _create, dims as _dims, index as _index, index_key as _index_key, fills as _fills, math as _math, matrix as _matrix, order as _order, overloads as _overloads, pointwise as _pointwise, reductions as _reductions, shape as _shape, joining as _joining, splitting as _splitting, rearranging as _rearranging
from facula.tensor_core.memory import copying as _copying, data as _data, dlpack as _dlpack, interop as _interop, legacy as _legacy, pack as _pack, resize as _resize, storage as _storage
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.random import draws as _random
from facula.tensor_core.functions import bins as _bins, conjugate as _conjugate, products as _products, put as _put, statistics as _statistics
from facula.tensor_core.sparse import making as _sparse
from facula.tensor_core.functions import settings as _settings
from facula.tensor_core.dispatch.arguments import LACKING, listed
from facula.tensor_core.dispatch.kinds import check, want_ints, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core.dispatch.run import is_array, is_operand
from facula.tensor_core._tensor import Tensor

# functions that are not methods in PyTorch
_NOT = {
    "cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "row_stack", "column_stack", "meshgrid", "broadcast_tensors",
    "broadcast_shapes", "constant_pad_nd", "polar", "atleast_1d", "atleast_2d", "atleast_3d", "convolution", "linear", "rsub", "celu", "selu", "threshold",
}  # fmt: skip


def attach(public):
    """Called once, when every public name is known."""
    for name in _ops.FUNCTIONS:
        if name not in _NOT and name in public or name.endswith("_") and not name.startswith("_"):
            if name not in _HIDDEN:
                setattr(Tensor, name, getattr(_ops, name))
    for module in (_shape, _dims, _joining, _splitting, _rearranging, _matrix, _math, _fills, _pointwise, _conjugate, _index, _index_key, _overloads, _reductions, _order, _products, _put, _statistics, _bins, _interop, _dlpack, _storage, _copying, _legacy, _settings):
        for name in module.METHODS:
            if name not in _NOT:
                setattr(Tensor, name, getattr(module, name))
    for name, function in _ops.OPERATORS.items():
        setattr(Tensor, name, function)
    for name, function in _interop.CONVERTERS.items():
        setattr(Tensor, name, function)
    for name, function in {**_EXTRA, "where": _where, "norm": _norm, "polygamma": _polygamma, "split": _splitting._split_method, **_sparse.METHODS, **_random.METHODS, **_reflected(), **_power_operators()}.items():
        setattr(Tensor, name, function)
    for name in _ownership.TENSOR:
        setattr(Tensor, name, _ownership.Brought(name))
    _in_place.attach()
    known = set()
    for name, function in list(vars(Tensor).items()):
        if isinstance(function, FunctionType) and (public.get(name) is function or function in known):
            setattr(Tensor, name, namesake(name, function))
        elif isinstance(function, FunctionType) and function.__name__ != name and not name.startswith("__"):  # written under another name, where its own is a function's
            function.__name__, function.__qualname__ = name, f"Tensor.{name}"
        known.add(function)


def namesake(name, function, method=True):
    """A function that does the same under a name of its own: another object, because a `__torch_function__` tells torch.unbind from Tensor.unbind."""
    function = (function.__kwdefaults__ or {}).get("_facula_", (function,))[0]  # it may ask already
    made = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    made.__module__, made.__qualname__ = (Tensor.__module__, f"Tensor.{name}") if method else ("facula", name)
    if wrapped := vars(function).get("__wrapped__"):  # a guard
        made.__wrapped__ = wrapped
        function.__globals__["_namesakes"].append(made)
    return made


_HIDDEN = {"copy_into_", "place_into_", "fill_number_", "index_put_rows_", "where_rows_", "clamp_tensor_", "randperm_", "random_range_", "random_full_", "bernoulli_scalar_"}
_HIDDEN |= {"celu_", "selu_", "threshold_", "hardshrink_", "clamp_numbers_", "isnan_", "isinf_", "isfinite_", "isposinf_", "isneginf_", "signbit_"}
_HIDDEN |= {"fmax_", "fmin_", "maximum_", "minimum_", "logaddexp_", "logaddexp2_", "rsub_", "trunc_divide_"}
_HIDDEN |= {"draw_bernoulli_", "draw_poisson_", "draw_gamma_", "draw_binomial_"}


def _where(self, condition, other):
    """self where condition, else other (a tensor or a number).

    >>> x = facula.tensor([-1.0, 2.0])
    >>> x.where(x > 0, 0.0)
    tensor([0., 2.])
    """
    return _overloads.where(condition, self, other)


def _norm(self, p="fro", dim=None, keepdim=False, dtype=None, **numpy):
    """facula.norm, without a place for its result.

    >>> facula.tensor([3.0, 4.0]).norm()
    tensor(5.)
    """
    return _reductions.norm(self, p, dim, keepdim, None, dtype, **numpy)


def _polygamma(self, n):
    """The n-th derivative of digamma.

    >>> facula.tensor([1.0]).polygamma(1)
    tensor([1.6449])
    """
    return _pointwise.polygamma(n, self)


def _own(x):
    """The tensor whose reflected operator was called, by name perhaps."""
    if not isinstance(x, Tensor):
        raise TypeError(f"a reflected operator belongs to a Tensor, not to {type(x).__name__} {x!r}")
    return x


def _divided_by(x, other):
    """other / x in PyTorch's order of roundings; NotImplemented for what no tensor is multiplied by."""
    if not isinstance(other, (Tensor, float, int)) and (relevant := overriding((other,))):
        return ask_method("__rdiv__", relevant, x, other)
    try:
        return _ops.reciprocal(x) * other
    except TypeError as error:
        if type(error) is not TypeError:  # a dtype that is refused
            raise
        return NotImplemented


def _reflected():
    """Operators with a number on the left. What is no operand gives NotImplemented, so that Python asks the other side, and so does a call by name
    with too few or too many arguments."""

    def guarded(name, f, strict=False):
        def reflected(self, other=None, *more):
            if is_operand(other) and not more:
                try:
                    return f(self, other)
                except TypeError:
                    if strict or isinstance(self, Tensor) and (f is not product or isinstance(other, Tensor)):
                        raise
                    return NotImplemented
            if is_array(other) and not more:
                return f(*_interop.beside_array(self, other))
            if not more and (relevant := overriding((other,))):
                return ask_method(_COMMUTING.get(name, name), relevant, self, other)
            return NotImplemented

        reflected.__name__ = reflected.__qualname__ = name
        return reflected

    product = lambda x, n: _ops.matmul(n, x)  # which has no numbers
    rows = {
        "__radd__": (lambda x, n: _ops.add(_own(x), n), True),
        "__rsub__": (lambda x, n: _ops.rsub(x, n),),
        "__rmul__": (lambda x, n: _ops.mul(_own(x), n), True),
        "__rdiv__": (lambda x, other: x.reciprocal() * other,),
        "__rfloordiv__": (lambda x, n: _ops.floor_divide(n, x),),
        "__rmod__": (lambda x, n: _ops.remainder(n, x),),
        "__rpow__": (lambda x, n: _ops.pow(n, x),),
        "__rmatmul__": (product,),
        "__rand__": (lambda x, n: _ops.bitwise_and(_own(x), n), True),
        "__ror__": (lambda x, n: _ops.bitwise_or(_own(x), n), True),
        "__rxor__": (lambda x, n: _ops.bitwise_xor(_own(x), n), True),
        "__lshift__": (lambda x, n: _ops.bitwise_left_shift(x, n),),
        "__rshift__": (lambda x, n: _ops.bitwise_right_shift(x, n),),
        "__rlshift__": (lambda x, n: _ops.bitwise_left_shift(n, x),),
        "__rrshift__": (lambda x, n: _ops.bitwise_right_shift(n, x),),
    }
    return {"__rtruediv__": _divided_by, **{name: guarded(name, *row) for name, row in rows.items()}}


# as what an object that answers for itself is asked about a reflected operator whose order does not matter
_COMMUTING = {"__radd__": "add", "__rmul__": "mul", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor"}


def _power_operators():
    power = _overloads._pow_operator
    return {"__pow__": power(_ops.OPERATORS["__pow__"]), "__ipow__": power(_ops.OPERATORS["__ipow__"]), "pow_": power(_ops.pow_)}


def _one_by_one(function):
    """The method of a function of a sequence of ints, which takes them one by one too."""

    def method(self, *given, **named):
        return function(self, given, **named) if len(given) > 1 else function(self, *given, **named)

    method.__name__ = method.__qualname__ = function.__name__
    method.__doc__ = function.__doc__
    return method


def _new_factory(name):
    make = getattr(_create, name)
    value = {"zeros": 0, "ones": 1}.get(name)

    def factory(self, *args, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        if size is not None or not args:
            args = (listed("new_" + name, "size", args, size),)
        if value is not None and dtype is device is layout is None and not (requires_grad or pin_memory):
            t = lib.full(lib.fc_dtype(self._h), lib.fc_device(self._h), args, value)
            if t is not None:
                return t
        return make(*args, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, requires_grad=requires_grad, layout=layout, pin_memory=pin_memory)

    factory.__name__ = factory.__qualname__ = "new_" + name
    factory.__doc__ = f"facula.{name} with this tensor's dtype and device.\n\n    >>> facula.ones(1, dtype=facula.int32).new_{name}(2).dtype\n    torch.int32\n    "
    return factory


def _new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """facula.full with this tensor's dtype and device.

    >>> facula.ones(1, dtype=facula.int32).new_full((2,), 7)
    tensor([7, 7], dtype=torch.int32)
    """
    if dtype is device is layout is None and not (requires_grad or pin_memory) and fill_value is not None:
        t = lib.full(lib.fc_dtype(self._h), lib.fc_device(self._h), size, fill_value)
        if t is not None:
            return t
    return _create.full(size, fill_value, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, requires_grad=requires_grad, layout=layout, pin_memory=pin_memory)


def _new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """facula.tensor with this tensor's dtype and device.

    >>> facula.ones(1, dtype=facula.float64).new_tensor([1, 2])
    tensor([1., 2.], dtype=torch.float64)
    """
    return _data.tensor(data, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device, requires_grad=requires_grad, pin_memory=pin_memory)


def _cdata(self):
    """A number that no other tensor has while this one lives; libraries tell tensors apart by it."""
    return id(self)


def _is_same_size(self, other):
    """Same shape?

    >>> facula.zeros(2, 3).is_same_size(facula.ones(2, 3))
    True
    """
    want_tensor("is_same_size", "other", 0, other)
    return self.shape == other.shape


def _grow(source, dtype, storage_offset, size, stride):
    """Enlarge a storage that is too small for a tensor of this size, as PyTorch does."""
    if not all(type(n) is int and n >= 0 for n in (storage_offset, *size)) or 0 in size:
        return
    strides, run = list(stride or ()), 1
    for n in reversed(size if not strides else ()):
        strides.insert(0, run)
        run *= n
    storage = source.untyped_storage() if isinstance(source, Tensor) else source.untyped()
    wanted = (storage_offset + 1 + sum((n - 1) * s for n, s in zip(size, strides))) * dtype.itemsize
    if storage.nbytes() < wanted:
        storage.resize_(wanted)


def _set(self, source=None, storage_offset=LACKING, size=None, stride=None):
    """Look at a tensor's or a storage's memory. In place.

    >>> x = facula.zeros(2)
    >>> x.set_(facula.tensor([1.0, 2.0, 3.0]))
    tensor([1., 2., 3.])
    """
    if source is None and (storage_offset is not LACKING or size is not None or stride is not None):
        raise TypeError("set_() received an invalid combination of arguments: a place, a size or strides without a source. Give a tensor or a storage, too.")
    if isinstance(source, Tensor) and size is None and storage_offset is not LACKING:
        raise TypeError(f"set_() received an invalid combination of arguments - got (Tensor, {type(storage_offset).__name__}). Beside a tensor give a size, too.")
    storage_offset = 0 if storage_offset is LACKING else storage_offset
    source = _create.empty(0, dtype=self.dtype) if source is None else source
    if size is None and type(storage_offset) is not int or not (isinstance(source, Tensor) or hasattr(source, "untyped")):
        raise TypeError(f"set_() received an invalid combination of arguments - got ({type(source).__name__}, {type(storage_offset).__name__}). Give a tensor or a storage, and an int where it begins.")
    if size is not None:
        check("set_", "storage_offset", 1, "int", storage_offset)
        want_ints("set_", "size", 2, size)
        want_ints("set_", "stride", 3, stride or ())
        stride = stride or None  # of a contiguous tensor
        _grow(source, self.dtype, storage_offset, size, stride)
    if not isinstance(source, Tensor):
        source = _storage.over(source, self.dtype, storage_offset, size, stride)
    elif source.dtype is not self.dtype:
        raise RuntimeError(f"set_: could not set tensor of type {source.dtype} to a tensor of type {self.dtype}. Convert it first.")
    elif size is not None:
        if not source.is_contiguous():
            raise RuntimeError(f"set_: passed in tensor to be used as storage must be contiguous, its strides are {source.stride()}. Give its untyped_storage().")
        source = _storage.over(source.untyped_storage(), self.dtype, storage_offset, size, stride)
    shown = _conjugate.turned(source.detach(), lib.fc_lazy(self._h) ^ lib.fc_lazy(source._h))  # its bits stay its own
    if self._origin is not None or source._origin is not None:
        _dispatch.tape.adopts(self, source)
    lib.fc_bump(self._h)  # a write, other than .data =
    _resize.set_data(self, shown)
    return self


def _share_memory_(self):
    """Move the storage to memory that processes forked from now on share; the tensor itself.

    >>> facula.zeros(2).share_memory_().is_shared()
    True
    """
    from facula.tensor_core.memory import shared as _shared

    return _shared.share_memory_(self)


_EXTRA = {
    "share_memory_": _share_memory_,
    "__getitem__": _index.getitem, "__setitem__": _index.setitem, "tolist": _pack.tolist, "resize_": _resize.resize_, "set_": _set,
    "__neg__": _ops.neg, "__pos__": _put.positive, "__abs__": _ops.abs, "__invert__": _ops.bitwise_not,
    "T": property(_dims._reversed_dims), "mT": property(_dims._matrix_transposed), "H": property(_dims._hermitian),
    "mH": property(_dims.adjoint), "real": property(_math.real, _math._set_part(_math.real)), "imag": property(_math.imag, _math._set_part(_math.imag)),
    "__repr__": _print.tensor_repr, "__rich_repr__": _print.tensor_rich_repr, "__format__": _print.tensor_format, "is_same_size": _is_same_size,
    **{f.__name__: _one_by_one(f) for f in (_ops.count_nonzero, _splitting.hsplit, _splitting.vsplit, _splitting.dsplit)},
    "reshape": _shape.reshaped, "permute": _dims.permuted, "broadcast_to": _shape.broadcasted, "tile": _rearranging.tiled, "flip": _rearranging.flipped,
    "new_zeros": _new_factory("zeros"), "new_ones": _new_factory("ones"), "new_empty": _new_factory("empty"), "new_full": _new_full,
    "_cdata": property(_cdata), "new_tensor": _new_tensor, "resize_as_": _resize.resize_as_,
}  # fmt: skip
