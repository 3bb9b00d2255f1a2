"""`<view>_copy`: each view function with its result copied, and a few functions whose result is a fixed layout or a filled copy."""

import builtins
import math

from facula.tensor_core import _ops
from facula.tensor_core.functions import shape as _shape, splitting as _splitting
from facula.tensor_core.functions.create import _finish, _of_strides, empty_like, empty_strided, full, plain
from facula.tensor_core.dispatch.arguments import LACKING, as_dtype, by_axis, ints, renamed
from facula.tensor_core.dispatch.slow import by_examples, one_node
from facula.tensor_core._errors import IndexRangeError
from facula.tensor_core.functions.index_key import nonzero
from facula.tensor_core.dispatch.guard import guarded
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_ints, want_tensor, want_tensors
from facula.tensor_core._lib import lib
from facula.tensor_core.dispatch.out import a_tensor, copied as written, into
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import dtype as _dtype, float64, int64, strided


def _narrowed(input, dim=None, start=None, length=None, *, axis=None):
    """narrow; a dim that is not there is refused as PyTorch's narrow_copy does."""
    dim = by_axis("narrow_copy", dim, axis)
    if start is None or length is None:
        raise TypeError(f"narrow_copy() missing required positional arguments: start and length, got {start} and {length}. Give both.")
    if type(dim) is not int or not -(2**63) <= dim < 2**63:
        check("narrow_copy", "dim", 1, "int", dim)
    if not -input.dim() <= dim < max(input.dim(), 1):
        raise IndexRangeError(f"narrow_copy: Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim}).")
    if type(start) is int and input.dim() and not -(n := input.shape[dim]) <= start <= n:  # before a length that is none
        kinds_first("narrow_copy", start=start, length=length)
        raise IndexError(f"narrow_copy: start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    return _shape.narrow(input, dim, start, length)


def _expanded(input, size, implicit):
    check("expand_copy", "implicit", None, "bool", implicit)
    return input.expand(_listed("expand_copy", "size", size))


# PyTorch's copying functions: name -> the view it copies
_VIEWS = {
    "alias_copy": lambda input: input,
    "as_strided_copy": _shape.as_strided,
    "detach_copy": lambda input: input,  # of PyTorch's, too, the copy has a history
    "diagonal_copy": _ops.diagonal,
    "expand_copy": lambda input, size, *, implicit=False: _expanded(input, size, implicit),
    "narrow_copy": _narrowed,
    "permute_copy": lambda input, dims: input.permute(_listed("permute_copy", "dims", dims)),
    "select_copy": _ops.select,
    "slice_copy": lambda input, dim=0, start=None, end=None, step=1: _sliced(input, dim, start, end, step),
    "squeeze_copy": _shape.squeeze,
    "t_copy": lambda input: input.t(),
    "transpose_copy": _ops.transpose,
    "unfold_copy": lambda input, dimension, size, step: input.unfold(dimension, size, step),
    "unsqueeze_copy": _ops.unsqueeze,
    "view_as_complex_copy": lambda input: _complex("view_as_complex", input),
    "view_as_real_copy": lambda input: _complex("view_as_real", input),
    "view_copy": lambda input, size=None, *, dtype=None: input.view(dtype or size) if dtype or isinstance(size, _dtype) else input.reshape(_listed("view_copy", "size", size)),
}
_SEVERAL = {
    "split_copy": lambda input, split_size, dim=0, *, axis=LACKING: input.split(split_size, dim if axis is LACKING else renamed("split_copy", "axis", axis, dim, 0)),
    "split_with_sizes_copy": lambda input, split_sizes, dim=0, **axis: _splitting.split_with_sizes(input, list(split_sizes), dim, **axis),
    "unbind_copy": lambda input, dim=0, **axis: input.unbind(dim, **axis),
}


_CALLS = {
    "alias_copy": "facula.alias_copy(x)", "as_strided_copy": "facula.as_strided_copy(x, (2,), (1,))", "detach_copy": "facula.detach_copy(x)",
    "diagonal_copy": "facula.diagonal_copy(x)", "expand_copy": "facula.expand_copy(x, (3, 2, 2))", "narrow_copy": "x.narrow_copy(0, 0, 1)",
    "permute_copy": "facula.permute_copy(x, (1, 0))", "select_copy": "facula.select_copy(x, 0, 0)", "slice_copy": "facula.slice_copy(x, 0, 0, 1)",
    "squeeze_copy": "facula.squeeze_copy(x)", "t_copy": "facula.t_copy(x)", "transpose_copy": "facula.transpose_copy(x, 0, 1)",
    "unfold_copy": "facula.unfold_copy(x, 0, 2, 1)", "unsqueeze_copy": "facula.unsqueeze_copy(x, 0)",
    "view_as_complex_copy": "facula.view_as_complex_copy(x)", "view_as_real_copy": "facula.view_as_real_copy(x.to(facula.complex64))",
    "view_copy": "facula.view_copy(x, (4,))", "split_copy": "facula.split_copy(x, 1)[0]",
    "split_with_sizes_copy": "facula.split_with_sizes_copy(x, [1, 1])[0]", "unbind_copy": "facula.unbind_copy(x)[0]",
}  # fmt: skip


def _listed(name, parameter, sizes):
    """Sizes, which stand alone nowhere here."""
    want_ints(name, parameter, 1, sizes)
    return sizes


def _complex(name, input):
    import facula

    return getattr(facula, name)(input)


def _viewed(name, view, args, named):
    """The view, or views. Where the call fails, an argument of a wrong kind is refused first."""
    try:
        return view(*args, **named)
    except Exception:
        code = view.__code__
        kinds_first(name, **dict(zip(code.co_varnames[: code.co_argcount], args)), **named)
        raise


def _sliced(input, dim=0, start=None, end=None, step=1):
    at = _shape.wrap_dim("slice_copy", dim, input.dim())
    if type(step) is int and step < 1:
        if not input.dim():
            raise IndexError("slice_copy: slice() cannot be applied to a 0-dim tensor. Give it a dim with unsqueeze.")
        raise RuntimeError(f"slice_copy: slice step must be positive, got {step}. Flip the dim for the other order.")
    return input[(slice(None),) * at + (slice(start, end, step),)]


def _copying(name, view):
    words = name.removesuffix("_copy").title().replace("_", "")
    node = {"narrow_copy": "NarrowCopyBackward0", "detach_copy": "NotImplemented"}.get(name, f"{words}Backward0_copy")

    def copied(*args, out=None, **named):
        want_tensor(name, "input", 0, args[0] if args else named.get("input"))
        if out is not None:
            a_tensor(name, out)
        if name == "narrow_copy" and isinstance(out, Tensor) and out.dtype is not (x := args[0] if args else named["input"]).dtype:
            kinds_first(name, **dict(zip(("input", "dim", "start", "length"), args)), **named)
            raise RuntimeError(f"narrow_copy: Expected self.dtype() == output.dtype() to be true, but got {x.dtype._name} and {out.dtype._name}. Give an output of that dtype.")
        x = _viewed(name, view, args, named)
        if out is not None and written(x, out):
            return out
        result = _ops.copy(x, None, 0)
        return one_node(result, node, args[0] if args else named.get("input")) if out is None else into(name, result, out)

    return _named(copied, name, "copied, so that writes to one leave the other alone.")


def _copying_several(name, view):
    def copied(*args, out=None, **named):
        want_tensor(name, "input", 0, args[0] if args else named.get("input"))
        if out is not None and not isinstance(out, (tuple, list)):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}. Give one for each piece.")
        if out is not None:
            want_tensors(name, out)
        pieces = _viewed(name, view, args, named)
        if out is None:
            return tuple(_ops.copy(x, None, 0) for x in pieces)
        into(name, tuple(pieces), out)
        return None

    return _named(copied, name, "each piece copied.")


def _named(function, name, what):
    function.__name__ = function.__qualname__ = name
    shown = f">>> x = facula.zeros(2, 2)\n    >>> y = {_CALLS[name]}.fill_(1)\n    >>> x.sum()\n    tensor(0.)\n    "
    function.__doc__ = f"The result of {name.removesuffix('_copy')}, {what}\n\n    {shown}"
    return function


globals().update({name: _copying(name, view) for name, view in _VIEWS.items()})
globals().update({name: _copying_several(name, view) for name, view in _SEVERAL.items()})


def fill(input, value):
    """A tensor of input's shape and dtype filled with value, a number or a 0-d tensor (through which gradients flow).

    >>> facula.fill(facula.zeros(2), 3)
    tensor([3., 3.])
    """
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        return one_node((input.clone() if input.requires_grad else empty_like(input)).fill_(value), "FillBackward1", input, value)
    if type(input) is Tensor and input._origin is None and not _ops.interpreting and (t := lib.full_like(input, -1, value)) is not None:
        return t
    return input.clone().fill_(value)


_MOST = 1 << 62


def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An unset tensor whose memory has the dims in the order physical_layout.

    >>> facula.empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    order = list(physical_layout)
    if layout is not None or pin_memory is not False:
        kinds_first("empty_permuted", size=size, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad, pin_memory=pin_memory)
    plain(layout, pin_memory)
    if type(size) is not tuple:
        want_ints("empty_permuted", "size", 0, size)
        size = ints((size,))
    for v in (*size, *order):
        if type(v) is not int or not -_MOST < v < _MOST:
            want_ints("empty_permuted", "size", 0, size)
            want_ints("empty_permuted", "physical_layout", 1, order)
    if sorted(order) != [*builtins.range(len(size))]:
        kinds_first("empty_permuted", dtype=dtype, device=device, requires_grad=requires_grad)
        raise RuntimeError(f"empty_permuted: physical_layout {order} must name each of the {len(size)} dims once")
    stride, run = [0] * len(size), 1
    for d in reversed(order):
        stride[d] = run
        run *= size[d] or 1
    return _of_strides(size, stride, dtype, device, requires_grad)


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """nonzero with exactly `size` rows: cut, or filled with fill_value. Shape (size, ndim).

    >>> x = facula.tensor([0, 5, 7])
    >>> facula.nonzero_static(x, size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    >>> x.nonzero_static(size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    if type(size) is not int or type(fill_value) is not int:
        check("nonzero_static", "size", None, "size", size)
        check("nonzero_static", "fill_value", None, "int", fill_value)
        size, fill_value = size.__index__(), fill_value.__index__()
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    if input.is_meta:
        return into("nonzero_static", empty_strided((size, input.dim()), (1, size), dtype=int64, device="meta"), out)  # PyTorch's strides there
    if _ops.interpreting and out is None and (each := by_examples(lambda one: nonzero_static(one, size=size, fill_value=fill_value), input)) is not None:
        return each
    found = nonzero(input)[:size]
    short = size - found.shape[0]
    if short:
        found = _ops.cat([found, full((short, found.shape[1]), fill_value, dtype=found.dtype)], 0)
    return into("nonzero_static", _ops.copy(found, None, 0), out)


def range(start, end, step=1, *, out=None, dtype=None, layout=strided, device=None, requires_grad=False):
    """start, start + step, ... up to and including end. Deprecated in PyTorch: arange leaves end out, as Python does.

    >>> facula.arange(1, 4), facula.range(1, 4)
    (tensor([1, 2, 3]), tensor([1., 2., 3., 4.]))
    """
    import warnings

    from facula.tensor_core.functions.ranges import arange

    kinds_first("range", out=out, dtype=dtype, layout=layout, device=device)
    plain(layout)
    warnings.warn("range is deprecated because its behavior is inconsistent with Python's range builtin. Use arange, which produces values in [start, end).", UserWarning, stacklevel=2)
    for position, (name, bound) in enumerate((("start", start), ("end", end), ("step", step))):
        check("range", name, position, "real", bound)
    dtype = as_dtype(dtype)
    if out is not None:
        a_tensor("range", out)
    made = out.dtype if dtype is None and out is not None else dtype or float64
    if made._kind in (0, 3):
        raise NotImplementedError(f'range: "range_cpu" not implemented for {made._name!r}. Convert what it gives for float32.')
    if step and (end - start) / step < 0:
        raise RuntimeError(f"range: upper bound and lower bound inconsistent with step sign: {start}, {end}, {step}")
    if made._kind == 1:  # counted in integers
        start, end, step = (int(v) if math.isfinite(v) else v for v in (start, end, step))
    if not step or step != step:
        raise RuntimeError(f"range: step must be nonzero, got {step}")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"range: unsupported range: {start} -> {end}. Both ends must be finite.")
    from facula.tensor_core._state import get_default_dtype

    count = int((end - start) / step) + 1
    w = (arange(count, dtype=dtype or get_default_dtype(), device=device or "cpu") * step + start).to(dtype or get_default_dtype())
    if out is not None:
        from facula.tensor_core.functions.ranges import _delivered

        return _delivered("range", w, out, requires_grad)
    return _finish(w, requires_grad)


fill, nonzero_static = guarded(fill), guarded(nonzero_static)
METHODS = {name: globals()[name] for name in ("narrow_copy", "nonzero_static")}

from facula.tensor_core._ownership import attach  # noqa: E402

attach(METHODS)
