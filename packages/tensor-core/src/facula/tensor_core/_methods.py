"""Gives Tensor its methods: every row and composition whose first argument is the tensor, operators, conversions, new_*."""

from types import FunctionType

from facula.tensor_core import _ops, _ownership, _print
from facula.tensor_core.functions import create as _create, dims as _dims, index as _index, index_key as _index_key, fills as _fills, math as _math, matrix as _matrix, order as _order, overloads as _overloads, pointwise as _pointwise, reductions as _reductions, shape as _shape, joining as _joining, splitting as _splitting, rearranging as _rearranging
from facula.tensor_core.memory import copying as _copying, data as _data, dlpack as _dlpack, interop as _interop, legacy as _legacy, pack as _pack, resize as _resize, storage as _storage
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.random import draws as _random
from facula.tensor_core.functions import bins as _bins, conjugate as _conjugate, products as _products, put as _put, statistics as _statistics
from facula.tensor_core.sparse import making as _sparse
from facula.tensor_core.functions import settings as _settings
from facula.tensor_core.dispatch.arguments import listed
from facula.tensor_core._errors import DTypeError
from facula.tensor_core.dispatch.guard import look
from facula.tensor_core.dispatch.kinds import check, want_ints, want_tensor
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import apart, into, kept, partly_apart, written as taken
from facula.tensor_core.dispatch.foreign import ask_method, overriding
from facula.tensor_core.dispatch.run import is_array, is_operand, number_for
from facula.tensor_core._state import can_cast
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import float64, int32

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
    _inplace_compositions()
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


# compositions that are in place as methods: name -> how such a method is called, and what it gives
_WRITTEN = {
    "clamp": "tensor([1.0, 5.0]).clamp_(max=2) -> [1., 2.]", "clip": "tensor([1.0, 5.0]).clip_(max=2) -> [1., 2.]",
    "scatter": "zeros(3).scatter_(0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0])) -> [5., 0., 1.]",
    "scatter_add": "ones(3).scatter_add_(0, facula.tensor([2, 2]), facula.tensor([1.0, 5.0])) -> [1., 1., 7.]",
    "index_add": "ones(3).index_add_(0, facula.tensor([2, 2]), facula.tensor([1.0, 5.0])) -> [1., 1., 7.]",
    "index_copy": "zeros(3).index_copy_(0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0])) -> [5., 0., 1.]",
    "index_fill": "zeros(3).index_fill_(0, facula.tensor([2, 0]), 7) -> [7., 0., 7.]",
    "cumsum": "tensor([1.0, 2.0, 3.0]).cumsum_(0) -> [1., 3., 6.]", "cumprod": "tensor([1.0, 2.0, 3.0]).cumprod_(0) -> [1., 2., 6.]",
    "addmm": "ones(1, 1).addmm_(facula.tensor([[2.0]]), facula.tensor([[3.0]]), beta=10) -> [[16.]]",
    "addmv": "ones(2).addmv_(facula.eye(2), facula.tensor([2.0, 3.0])) -> [3., 4.]",
    "addr": "zeros(1, 2).addr_(facula.tensor([2.0]), facula.tensor([3.0, 4.0])) -> [[6., 8.]]",
    "baddbmm": "ones(1, 1, 1).baddbmm_(facula.ones(1, 1, 3), facula.ones(1, 3, 1)) -> [[[4.]]]",
    "addbmm": "ones(1, 1).addbmm_(facula.ones(2, 1, 3), facula.ones(2, 3, 1)) -> [[7.]]",
    "logit": "tensor([0.5]).logit_() -> [0.]", "nan_to_num": "tensor([1.0, facula.nan]).nan_to_num_() -> [1., 0.]",
    "mvlgamma": "tensor([3.0]).mvlgamma_(1) -> [0.6931]", "polygamma": "tensor([1.0]).polygamma_(1) -> [1.6449]",
    "float_power": "tensor([3.0], dtype=facula.float64).float_power_(2) -> [9.], dtype=torch.float64",
    "ldexp": "tensor([3.0]).ldexp_(facula.tensor([2])) -> [12.]",
    "nextafter": "tensor([0.0]).nextafter_(facula.tensor([1.0])) -> [1.4013e-45]",
    "heaviside": "tensor([-1.0, 2.0]).heaviside_(facula.tensor([0.5])) -> [0., 1.]",
}  # fmt: skip


def _ldexp_over(x, other=None, *more):
    if more or type(other) is not Tensor or other.dtype._kind != 1 or x.dtype._kind != 2 or x.dtype.itemsize < 4 or other.shape != x.shape:
        return False
    return _ops._ldexp_(x, other if other.dtype.itemsize <= 4 else lib.to(other._h, int32._id, 1, 1)) is x


def _polygamma_over(x, n=None, *more):
    return not more and type(n) is int and n >= 0 and x.dtype._kind == 2 and _ops._polygamma_(x, n=n) is x


def _power_over(x, exponent=None, *more):
    if more or x.dtype is not float64:
        return False
    if type(exponent) is not float and type(exponent) is not int:
        if type(exponent) is not Tensor or exponent.dtype._kind != 2 or exponent.shape != x.shape:
            return False
        exponent = exponent if exponent.dtype is float64 else _ops.copy(exponent, float64)
    return _ops.pow_(x, exponent) is x


def _clamp_over(x, low=None, high=None, *more):
    if more or x.dtype._kind != 2:
        return False
    if type(low) is type(high) is Tensor:
        return low.dtype is high.dtype is x.dtype and low.shape == high.shape == x.shape and _ops.clamp_tensor_(x, low, high) is x
    return type(low) in (int, float) and type(high) in (int, float) and low == low and high == high and _ops.clamp_numbers_(x, min=low, max=high) is x


# compositions that are a row, of operands that it takes as they are, where nobody has to hear of the write: is it done?
_DIRECT = {"clamp": _clamp_over, "clip": _clamp_over, "ldexp": _ldexp_over, "polygamma": _polygamma_over, "float_power": _power_over}


def _inplace_compositions():
    """name_ for compositions that PyTorch has in place: computed, then copied in (recorded as one write)."""

    def writer(name, function, shown=""):
        alone = name in ("scatter", "index_fill")  # what is read may not lie where they write
        scaled = name in ("addmm", "addmv", "addr", "addbmm", "baddbmm")
        summed = name in ("cumsum", "cumprod")
        elementwise = summed or name in ("clamp", "clip", "heaviside", "logit", "nan_to_num", "nextafter")
        direct = _DIRECT.get(name)

        def in_place(input, *args, **options):
            try:
                if direct is not None and type(input) is Tensor and not options and _dispatch.unheard(input) and direct(input, *args):
                    return input
                if elementwise and not _ops.interpreting and lib.over(input, args, options) and input.dtype._kind == 2:
                    return function(input, *args, **options, out=input)
                if type(input) is not Tensor:
                    want_tensor(name + "_", "input", 0, input)
                if scaled and len(args) == 2 and not _ops.interpreting and _matrix.added(name, input, *args, options):
                    return input
                if name == "index_fill" and not input.is_sparse:
                    if not options and len(args) == 3 and _fills.filled_slices(input, *args):
                        return input
                    if dims := _fills.expanded_dims(input):
                        return _fills.index_fill_expanded(input, dims, *args, **options)
                if alone:  # index_fill's value is read first
                    apart(name + "_", input, [a for a in args[: 2 if name == "index_fill" else 3] if isinstance(a, Tensor) and not a.is_sparse])
                if scaled and len(args) > 2:
                    _, *args, beta, alpha = _matrix.older_order(name + "_", (input, *args), options.get("beta", 1), options.get("alpha", 1))
                    options = {**options, "beta": beta, "alpha": alpha}
                if summed and (wanted := options.get("dtype")) is not None and wanted is not input.dtype:
                    raise RuntimeError(f"{name}_: Bad in-place call: input tensor dtype {input.dtype} and output tensor dtype {wanted} should match. Use {name}.")
                result = function(kept(input, *args, *options.values()), *args, **options)
                if name == "addbmm" and result._origin is None and result.shape != input.shape:  # which takes the result's shape
                    return into("addbmm", result, input)
                if name == "float_power" and result.dtype is not input.dtype:
                    raise DTypeError(f"float_power_: the base has dtype {input.dtype._scalar_type} but the operation's result requires dtype {result.dtype._scalar_type}. Use float_power.")
                if result.dtype is not input.dtype and not can_cast(result.dtype, input.dtype):
                    raise DTypeError(f"{name}_: result type {result.dtype._scalar_type} can't be cast to the desired output type {input.dtype._scalar_type}. Use {name}.")
                if not alone:
                    partly_apart(name + "_", input, args)
                if input.is_sparse:
                    return input.copy_(result)
                return taken(input, result)
            except Exception:
                look(function, (input, *args), options)
                raise

        in_place.__name__ = in_place.__qualname__ = name + "_"
        call, _, printed = shown.partition(" -> ")
        in_place.__doc__ = f"{name}, written into the tensor itself.\n\n    >>> facula.{call}\n    tensor({printed})\n    "
        return in_place

    for name, shown in _WRITTEN.items():
        setattr(Tensor, name + "_", writer(name, getattr(Tensor, name), shown))
    for op in _ops.OPS:
        if op.name in ("index_add", "index_copy", "scatter_add", "scatter"):
            setattr(Tensor, op.name + "_", _index_writer(op, getattr(Tensor, op.name + "_")))
    divide, rounded = writer("div", _overloads.div), writer("round", _overloads.round)

    def div_(self, other, *, rounding_mode=None):
        """self / other, in place.

        >>> facula.tensor([6.0, 9.0]).div_(3)
        tensor([2., 3.])
        >>> facula.tensor([7.0]).div_(2, rounding_mode="floor")
        tensor([3.])
        """
        return _ops.div_(self, other) if rounding_mode is None else divide(self, other, rounding_mode=rounding_mode)

    def abs_(input):
        """abs, in place.

        >>> facula.tensor([-1.0, 2.0]).abs_()
        tensor([1., 2.])
        """
        if type(input) is not Tensor:
            want_tensor("abs_", "input", 0, input)
        if input.dtype._kind == 3:
            raise RuntimeError("abs_: in-place abs is not supported for complex tensors. Use abs, whose result is real.")
        return _ops.abs_(input)

    def round_(input, *, decimals=0):
        """round, in place.

        >>> facula.tensor([0.5, 1.5]).round_()
        tensor([0., 2.])
        """
        return _ops.round_(input) if decimals == 0 else rounded(input, decimals=decimals)

    def lerp_(self, end, weight):
        """lerp, in place.

        >>> facula.zeros(2).lerp_(facula.ones(2), 0.25)
        tensor([0.2500, 0.2500])
        """
        if not (type(self) is type(end) is Tensor and end.dtype is self.dtype):
            if not (isinstance(self, Tensor) and isinstance(end, Tensor) and end.dtype is self.dtype):
                _pointwise.lerp(self, end, weight)  # refuses
        return _ops.lerp_(self, end, weight)

    Tensor.round_ = round_
    Tensor.lerp_ = lerp_
    Tensor.abs_ = Tensor.absolute_ = abs_
    Tensor.div_ = Tensor.divide_ = Tensor.true_divide_ = div_

    def reshaper(name, view, given, shape):
        def in_place(input, *args, **options):
            if type(input) is not Tensor:
                want_tensor(name, "input", 0, input)
            if input._origin is None and not _ops.interpreting and lib.look(input, view(input, *args, **options)):
                return input
            return _restride(input, lambda x: view(x, *args, **options), name)

        in_place.__name__ = in_place.__qualname__ = name
        in_place.__doc__ = f"{name[:-1]} of the tensor itself, whose memory stays. In place.\n\n    >>> facula.zeros(1, 3).{name}({given}).shape\n    torch.Size({shape})\n    "
        return in_place

    reshaped = {"unsqueeze": ("0", [1, 1, 3]), "squeeze": ("", [3]), "transpose": ("0, 1", [3, 1]), "t": ("", [3, 1]), "swapaxes": ("0, 1", [3, 1]), "swapdims": ("0, 1", [3, 1]), "as_strided": ("(2,), (1,)", [2])}
    for name, (given, shape) in reshaped.items():
        setattr(Tensor, name + "_", reshaper(name + "_", getattr(Tensor, name), given, shape))


def _index_writer(op, in_place):
    """The in-place form of a row that writes through an index: in the tensor's own memory where nobody has to hear of it."""
    scatters = op.name == "scatter"

    def written(self, dim=None, index=None, source=None, **options):  # source may come under its name, in options, and dim as axis
        if scatters:
            if options or type(index) is not Tensor or 0 in index.shape:
                return in_place(self, dim, index, *(() if source is None else (source,)), **options)
            if type(source) is float and type(self) is Tensor and self.dtype._kind == 2:
                source = _ops.expand(number_for("scatter_", source, self), index.shape)
            elif type(source) is not Tensor or len(source.shape) != len(index.shape):
                return in_place(self, dim, index, *(() if source is None else (source,)), **options)
        if isinstance(source, Tensor) and isinstance(index, Tensor) and not source.is_sparse and (lib.fc_same_storage(self._h, source._h) or lib.fc_same_storage(self._h, index._h)):
            apart(op.name + "_", self, (source, index))
        if not options and isinstance(source, Tensor) and _dispatch.unheard(self, source):
            try:
                if lib.fc_gather(op.id, self._h, self._h, dim, index._h, source._h) is not None:
                    _dispatch.unrecorded(self)
                    return self
            except (AttributeError, TypeError, OverflowError):
                pass
        return in_place(self, dim, index, *(() if source is None else (source,)), **options)

    written.__name__, written.__qualname__, written.__doc__ = in_place.__name__, in_place.__qualname__, in_place.__doc__
    return written


def _restride(self, view, name):
    """Give self the shape and strides of a view of itself."""
    if lib.fc_inference(self._h) and not lib.fc_may_write(self._h):
        raise RuntimeError(f"{name}: Inplace update to inference tensor outside InferenceMode is not allowed. Clone it to get a normal tensor.")
    seen = view(self) if self._origin is None and not _ops.interpreting or _dispatch.tape is None else _dispatch.tape.reshaped(self, view, name)
    h = lib.fc_alias(seen._h, 0)
    self._h, self._shape = h, None
    lib.fc_bump(h)
    return self


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
        return make(*args, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad, layout=layout, pin_memory=pin_memory)

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
    return _create.full(size, fill_value, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad, layout=layout, pin_memory=pin_memory)


def _new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """facula.tensor with this tensor's dtype and device.

    >>> facula.ones(1, dtype=facula.float64).new_tensor([1, 2])
    tensor([1., 2.], dtype=torch.float64)
    """
    return _data.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad, pin_memory=pin_memory)


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


def _set(self, source=None, storage_offset=0, size=None, stride=None):
    """Look at a tensor's or a storage's memory. In place.

    >>> x = facula.zeros(2)
    >>> x.set_(facula.tensor([1.0, 2.0, 3.0]))
    tensor([1., 2., 3.])
    """
    source = _create.empty(0, dtype=self.dtype) if source is None else source
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
