"""Methods that work in place though no row of theirs does: name_ for compositions, for rows whose in-place form asks for more, and for views."""

from collections.abc import Callable
from typing import NamedTuple

from facula.tensor_core import _ops
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._lib import lib
from facula.tensor_core._state import can_cast
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import float64, int32
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.guard import look
from facula.tensor_core.dispatch.kinds import want_tensor
from facula.tensor_core.dispatch.out import apart, into, kept, partly_apart, written as taken
from facula.tensor_core.dispatch.run import fitting_result, number_for
from facula.tensor_core.functions import fills as _fills, matrix as _matrix, overloads as _overloads, pointwise as _pointwise


def attach():
    """Called once, when Tensor has its other methods."""
    for name, form in FORMS.items():
        setattr(Tensor, name + "_", _written(name, getattr(Tensor, name), form))
    for op in _ops.OPS:
        if op.name in ("index_add", "index_copy", "scatter_add", "scatter"):
            setattr(Tensor, op.name + "_", _index_writer(op, getattr(Tensor, op.name + "_")))
    for name, (given, shape) in VIEWS.items():
        setattr(Tensor, name + "_", _reshaped(name + "_", getattr(Tensor, name), given, shape))
    Tensor.round_, Tensor.lerp_ = round_, lerp_
    Tensor.clamp_min_, Tensor.clamp_max_ = clamp_min_, clamp_max_
    Tensor.abs_ = Tensor.absolute_ = abs_
    Tensor.div_ = Tensor.divide_ = Tensor.true_divide_ = div_


# --- compositions: computed, then copied in, which is recorded as one write -------------------------------------------

# What a row does in place, of operands that it takes as they are, where nobody has to hear of the write: is it done?


def _ldexp_row(x, args, options):
    if options or len(args) != 1 or type(x) is not Tensor or not _dispatch.unheard(x):
        return False
    other = args[0]
    if type(other) is not Tensor or other.dtype._kind != 1 or x.dtype._kind != 2 or x.dtype.itemsize < 4 or other.shape != x.shape:
        return False
    return _ops._ldexp_(x, other if other.dtype.itemsize <= 4 else lib.to(other._h, int32._id, 1, 1)) is x


def _finite_row(x, args, options):
    if args or options or type(x) is not Tensor or not _dispatch.unheard(x) or x.dtype._kind != 2:
        return False
    largest = _pointwise.LARGEST.get(x.dtype._name, 1.7976931348623157e308)
    return _ops._nan_to_num_(x, nan=0.0, posinf=largest, neginf=-largest) is x


def _row_of_two(row):
    """A row that takes its operands as they are where they are floats of one dtype and shape; what halves need is composed."""

    def done(x, args, options):
        if options or len(args) != 1 or type(x) is not Tensor or type(args[0]) is not Tensor or not _dispatch.unheard(x, args[0]):
            return False
        other = args[0]
        return other.dtype is x.dtype and x.dtype._kind == 2 and x.dtype.itemsize >= 4 and other.shape == x.shape and row(x, other) is x

    return done


def _polygamma_row(x, args, options):
    if options or len(args) != 1 or type(x) is not Tensor or not _dispatch.unheard(x):
        return False
    return type(args[0]) is int and 0 <= args[0] < 2**63 and x.dtype._kind == 2 and _ops._polygamma_(x, n=args[0]) is x


def _power_row(x, args, options):
    if options or len(args) != 1 or type(x) is not Tensor or not _dispatch.unheard(x) or x.dtype is not float64:
        return False
    exponent = args[0]
    if type(exponent) is not float and type(exponent) is not int:
        if type(exponent) is not Tensor or exponent.dtype._kind != 2 or exponent.shape != x.shape:
            return False
        exponent = exponent if exponent.dtype is float64 else _ops.copy(exponent, float64)
    return _ops.pow_(x, exponent) is x


def _clamp_row(x, args, options):
    if options or len(args) != 2 or type(x) is not Tensor or not _dispatch.unheard(x) or x.dtype._kind != 2:
        return False
    low, high = args
    if type(low) is type(high) is Tensor:
        return low.dtype is high.dtype is x.dtype and low.shape == high.shape == x.shape and _ops.clamp_tensor_(x, low, high) is x
    return type(low) in (int, float) and type(high) in (int, float) and low == low and high == high and _ops.clamp_numbers_(x, min=low, max=high) is x


def _index_fill_row(x, args, options):
    if not isinstance(x, Tensor) or x.is_sparse:
        return False
    if not options and len(args) == 3 and _fills.filled_slices(x, *args):
        return True
    if dims := _fills.expanded_dims(x):
        _fills.index_fill_expanded(x, dims, *args, **options)
        return True
    return False


class Form(NamedTuple):
    """How a composition works in place.

    shown  how such a method is called, and what it gives
    words  OVER: each element is written when what it needs of the tensor was read. SUM: with beta and alpha, which PyTorch once had first.
           TYPED: it takes a dtype, which must be the tensor's. EXACT: its result must have the tensor's dtype, not one that casts to it.
           GROWS: the tensor takes the result's shape. READ: it may be a part of what it meets, all of which is read before any is written.
    row    tried first; of a SUM its own
    apart  how many of the arguments may not lie where it writes: what comes after them is read first
    """

    shown: str = ""
    words: str = ""
    row: Callable | None = None
    apart: int = 0


FORMS = {
    "clamp": Form("tensor([1.0, 5.0]).clamp_(max=2) -> [1., 2.]", "OVER", _clamp_row), "clip": Form("tensor([1.0, 5.0]).clip_(max=2) -> [1., 2.]", "OVER", _clamp_row),
    "scatter": Form("zeros(3).scatter_(0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0])) -> [5., 0., 1.]", apart=3),
    "scatter_add": Form("ones(3).scatter_add_(0, facula.tensor([2, 2]), facula.tensor([1.0, 5.0])) -> [1., 1., 7.]"),
    "index_add": Form("ones(3).index_add_(0, facula.tensor([2, 2]), facula.tensor([1.0, 5.0])) -> [1., 1., 7.]"),
    "index_copy": Form("zeros(3).index_copy_(0, facula.tensor([2, 0]), facula.tensor([1.0, 5.0])) -> [5., 0., 1.]"),
    "index_fill": Form("zeros(3).index_fill_(0, facula.tensor([2, 0]), 7) -> [7., 0., 7.]", row=_index_fill_row, apart=2),
    "cumsum": Form("tensor([1.0, 2.0, 3.0]).cumsum_(0) -> [1., 3., 6.]", "OVER TYPED"), "cumprod": Form("tensor([1.0, 2.0, 3.0]).cumprod_(0) -> [1., 2., 6.]", "OVER TYPED"),
    "addmm": Form("ones(1, 1).addmm_(facula.tensor([[2.0]]), facula.tensor([[3.0]]), beta=10) -> [[16.]]", "SUM READ"),
    "addmv": Form("ones(2).addmv_(facula.eye(2), facula.tensor([2.0, 3.0])) -> [3., 4.]", "SUM READ"),
    "addr": Form("zeros(1, 2).addr_(facula.tensor([2.0]), facula.tensor([3.0, 4.0])) -> [[6., 8.]]", "SUM"),
    "baddbmm": Form("ones(1, 1, 1).baddbmm_(facula.ones(1, 1, 3), facula.ones(1, 3, 1)) -> [[[4.]]]", "SUM"),
    "addbmm": Form("ones(1, 1).addbmm_(facula.ones(2, 1, 3), facula.ones(2, 3, 1)) -> [[7.]]", "SUM GROWS READ"),
    "logit": Form("tensor([0.5]).logit_() -> [0.]", "OVER"), "nan_to_num": Form("tensor([1.0, facula.nan]).nan_to_num_() -> [1., 0.]", "OVER", _finite_row),
    "mvlgamma": Form("tensor([3.0]).mvlgamma_(1) -> [0.6931]"), "polygamma": Form("tensor([1.0]).polygamma_(1) -> [1.6449]", row=_polygamma_row),
    "float_power": Form("tensor([3.0], dtype=facula.float64).float_power_(2) -> [9.], dtype=torch.float64", "EXACT", _power_row),
    "ldexp": Form("tensor([3.0]).ldexp_(facula.tensor([2])) -> [12.]", "READ", row=_ldexp_row),
    "heaviside": Form("tensor([-1.0, 2.0]).heaviside_(facula.tensor([0.5])) -> [0., 1.]", "OVER", _row_of_two(_ops._heaviside_)),
}  # fmt: skip


def _written(name, function, form):
    over, sums, typed, exact, grows, read = (word in form.words.split() for word in ("OVER", "SUM", "TYPED", "EXACT", "GROWS", "READ"))
    row, alone = _matrix.adder(name) if sums else form.row, form.apart

    def in_place(input, *args, **options):
        try:
            if row is not None and row(input, args, options):
                return input
            if over and not _ops.interpreting and lib.over(input, args, options) and input.dtype._kind == 2:
                return function(input, *args, **options, out=input)
            if type(input) is not Tensor:
                want_tensor(name + "_", "input", 0, input)
            if alone:
                apart(name + "_", input, [a for a in args[:alone] if isinstance(a, Tensor) and not a.is_sparse])
            if sums and len(args) > 2:
                _, *args, beta, alpha = _matrix.older_order(name + "_", (input, *args), options.get("beta", 1), options.get("alpha", 1))
                options = {**options, "beta": beta, "alpha": alpha}
            if typed and (wanted := options.get("dtype")) is not None and wanted is not input.dtype:
                raise RuntimeError(f"{name}_: Bad in-place call: input tensor dtype {input.dtype} and output tensor dtype {wanted} should match. Use {name}.")
            result = function(kept(input, *args, *options.values()), *args, **options)
            if grows and result._origin is None and result.shape != input.shape:
                return into(name, result, input)
            if exact and result.dtype is not input.dtype:
                raise DTypeError(f"{name}_: the base has dtype {input.dtype._scalar_type} but the operation's result requires dtype {result.dtype._scalar_type}. Use {name}.")
            if result.dtype is not input.dtype and not can_cast(result.dtype, input.dtype):
                raise DTypeError(f"{name}_: result type {result.dtype._scalar_type} can't be cast to the desired output type {input.dtype._scalar_type}. Use {name}.")
            if not (alone or read):
                partly_apart(name + "_", input, (*args, *options.values()))
            if input.is_sparse:
                return input.copy_(result)
            return taken(input, result)
        except Exception:
            look(function, (input, *args), options)
            raise

    in_place.__name__ = in_place.__qualname__ = name + "_"
    call, _, printed = form.shown.partition(" -> ")
    in_place.__doc__ = f"{name}, written into the tensor itself.\n\n    >>> facula.{call}\n    tensor({printed})\n    "
    return in_place


# --- rows whose form in place asks for more ---------------------------------------------------------------------------

_divided, _rounded = _written("div", _overloads.div, Form()), _written("round", _overloads.round, Form())


def div_(self, other, *, rounding_mode=None):
    """self / other, in place.

    >>> facula.tensor([6.0, 9.0]).div_(3)
    tensor([2., 3.])
    >>> facula.tensor([7.0]).div_(2, rounding_mode="floor")
    tensor([3.])
    """
    return _ops.div_(self, other) if rounding_mode is None else _divided(self, other, rounding_mode=rounding_mode)


def abs_(input):
    """abs, in place.

    >>> facula.tensor([-1.0, 2.0]).abs_()
    tensor([1., 2.])
    """
    if type(input) is not Tensor:
        want_tensor("abs_", "input", 0, input)
    if input.dtype._kind == 3:
        raise RuntimeError("In-place abs is not supported for complex tensors. Use abs, whose result is real.")
    return _ops.abs_(input)


def round_(input, *, decimals=0):
    """round, in place.

    >>> facula.tensor([0.5, 1.5]).round_()
    tensor([0., 2.])
    """
    return _ops.round_(input) if type(decimals) is int and decimals == 0 else _rounded(input, decimals=decimals)


def lerp_(self, end, weight):
    """lerp, in place.

    >>> facula.zeros(2).lerp_(facula.ones(2), 0.25)
    tensor([0.2500, 0.2500])
    """
    if not (type(self) is type(end) is Tensor and end.dtype is self.dtype) or type(weight) is Tensor and weight.dtype is not self.dtype and weight.dim():
        if not (isinstance(self, Tensor) and isinstance(end, Tensor) and end.dtype is self.dtype) or isinstance(weight, Tensor) and weight.dim():
            _pointwise.lerp(self, end, weight)  # refuses
    return _ops.lerp_(self, end, weight)


def clamp_min_(input, min):
    """clamp_min, in place.

    >>> facula.tensor([1.0, 5.0]).clamp_min_(2)
    tensor([2., 5.])
    """
    if type(min) is int or type(min) is float:
        fitting_result("clamp_min", min, input)
        if _held_by_numbers(input, min):
            return _ops.clamp_numbers_(input, min=min, max=_ENDLESS)
    return _ops.clamp_min_(input, min)


def clamp_max_(input, max):
    """clamp_max, in place.

    >>> facula.tensor([1.0, 5.0]).clamp_max_(2)
    tensor([1., 2.])
    """
    if type(max) is int or type(max) is float:
        fitting_result("clamp_max", max, input)
        if _held_by_numbers(input, max):
            return _ops.clamp_numbers_(input, min=-_ENDLESS, max=max)
    return _ops.clamp_max_(input, max)


_ENDLESS = float("inf")
_MANY = 1 << 13


def _held_by_numbers(x, bound):
    """Is it worth the row of two numbers, the other one endless? It reads no second operand: 14 us for 1e5 floats instead of 25."""
    return type(x) is Tensor and x.dtype._kind == 2 and x.numel() > _MANY and bound == bound and _dispatch.unheard(x)


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


# --- views: the tensor becomes one of itself --------------------------------------------------------------------------

# how such a method of zeros(1, 3) is called, and the shape that it gives
VIEWS = {"unsqueeze": ("0", [1, 1, 3]), "squeeze": ("", [3]), "transpose": ("0, 1", [3, 1]), "t": ("", [3, 1]), "swapaxes": ("0, 1", [3, 1]), "swapdims": ("0, 1", [3, 1]), "as_strided": ("(2,), (1,)", [2])}


def _reshaped(name, view, given, shape):
    def in_place(input, *args, **options):
        if type(input) is not Tensor:
            want_tensor(name, "input", 0, input)
        if input._origin is None and not _ops.interpreting and lib.look(input, view(input, *args, **options)):
            return input
        return _restride(input, lambda x: view(x, *args, **options), name)

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"{name[:-1]} of the tensor itself, whose memory stays. In place.\n\n    >>> facula.zeros(1, 3).{name}({given}).shape\n    torch.Size({shape})\n    "
    return in_place


def _restride(self, view, name):
    """Give self the shape and strides of a view of itself."""
    if lib.fc_inference(self._h) and not lib.fc_may_write(self._h):
        raise RuntimeError(f"{name}: Inplace update to inference tensor outside InferenceMode is not allowed. Clone it to get a normal tensor.")
    seen = view(self) if self._origin is None and not _ops.interpreting or _dispatch.tape is None else _dispatch.tape.reshaped(self, view, name)
    h = lib.fc_alias(seen._h, 0)
    self._h, self._shape = h, None
    lib.fc_bump(h)
    return self
