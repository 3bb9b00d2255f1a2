"""repr of a tensor, character for character PyTorch's, and the options it follows."""

import math
from contextlib import contextmanager
from typing import NamedTuple

from facula.tensor_core import _state, _types

__all__ = ["get_printoptions", "set_printoptions"]


class Options(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {"default": Options(), "short": Options(precision=2, edgeitems=2), "full": Options(threshold=math.inf)}
_now = Options()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors print, for all threads.

    precision: digits after the point. threshold: tensors of more elements are summarised, edgeitems at each end of a dim.
    linewidth: characters a line. profile: "default", "short" or "full"; the other arguments then change it.
    sci_mode: True or False for scientific notation always or never; None lets every tensor choose.

    >>> facula.set_printoptions(precision=2)
    >>> facula.tensor([facula.pi])
    tensor([3.14])
    >>> facula.set_printoptions(precision=4)
    """
    global _now
    if profile is not None:
        _now = PROFILES.get(profile, _now)._replace(sci_mode=_now.sci_mode)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _now = _now._replace(**{k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)


def get_printoptions():
    """The current options, as a dict that set_printoptions(**options) takes.

    >>> facula.get_printoptions()["precision"]
    4
    """
    return _now._asdict()


@contextmanager
def printoptions(**options):
    """Options for the length of a with block."""
    global _now
    before = _now
    set_printoptions(**options)
    try:
        yield
    finally:
        _now = before


# --- one element -----------------------------------------------------------------------------------------------


def _plain(values):
    """Writer for bools and integers: (text of a value, width)."""
    return str, max((len(str(v)) for v in values), default=1)


def _floats(values, counts=lambda v: v != 0 and math.isfinite(v)):
    """Writer for floats: one notation for all of them, chosen by those that count, the finite nonzero ones."""
    digits = _now.precision
    finite = [v for v in values if counts(v)]
    sizes = [abs(v) for v in finite]
    low, high = min(sizes, default=1.0), max(sizes, default=1.0)
    strange = any(v != v for v in finite)  # a nan that counts: there is no comparing with it
    whole = not strange and all(v == math.ceil(v) for v in finite)
    scientific = not strange and (high / low > 1000 or high > 1e8 or (not whole and low < 1e-4))
    if _now.sci_mode is not None and finite:
        scientific = _now.sci_mode
    if scientific:
        width = max(len(f"{v:.{digits}e}") for v in finite)
    elif whole:
        width = max((len(f"{v:.0f}") + 1 for v in finite), default=1)
    else:
        width = max(len(f"{v:.{digits}f}") for v in finite)

    def text(v):
        if scientific:
            return f"{v:{width}.{digits}e}"
        if whole:
            return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"
        return f"{v:.{digits}f}"

    return text, width


def _powers(values):
    """Writer for float8_e8m0fnu: PyTorch counts its nan as finite, and its smallest power as the zero that it has not."""
    return _floats(values, lambda v: v != 2.0**-127)


def _writer(dtype):
    """The maker of writers for the elements of a dtype that is not complex."""
    return _powers if dtype is _types.BY_NAME["float8_e8m0fnu"] else _floats if dtype.is_floating_point else _plain


class _Writer:
    """Text and width of the elements of one tensor."""

    def __init__(self, dtype, values):
        if dtype.is_complex:
            (self.re, re_width), (self.im, im_width) = _floats([v.real for v in values]), _floats([v.imag for v in values])
            self.widths = re_width, im_width
            self.width = re_width + im_width + 1
            self.text = self.complex
        else:
            self.plain, self.width = _writer(dtype)(values)
            self.text = lambda v: self.plain(v).rjust(self.width)

    def complex(self, v):
        real = self.re(v.real).rjust(self.widths[0])
        imag = (self.im(v.imag).rjust(self.widths[1]) + "j").lstrip()
        return real + ("" if imag[0] in "+-" else "+") + imag


# --- the brackets ----------------------------------------------------------------------------------------------


def _values(x, summarize):
    """Nested lists of the elements to show, an Ellipsis where some are left out."""
    edge = _now.edgeitems
    if x.ndim == 0 or not summarize:
        return x.tolist()
    n = x.shape[0]
    if n <= 2 * edge:
        return x.tolist() if x.ndim == 1 else [_values(x[i], True) for i in range(n)]
    if x.ndim == 1:
        return [*x[:edge].tolist(), ..., *(x[n - edge :].tolist() if edge else [])]
    return [*(_values(x[i], True) for i in range(edge)), ..., *(_values(x[i], True) for i in range(n - edge, n))]


def _flat(values):
    if values is ...:
        return
    if type(values) is not list:
        yield values
        return
    for v in values:
        yield from _flat(v)


def _vector(values, indent, writer):
    per_line = max(1, (_now.linewidth - indent) // (writer.width + 2))
    texts = [" ..." if v is ... and len(values) > 1 else "..." if v is ... else writer.text(v) for v in values]
    lines = [", ".join(texts[k : k + per_line]) for k in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(values, ndim, indent, writer):
    if ndim == 0:
        return writer.text(values)
    if ndim == 1:
        return _vector(values, indent, writer)
    parts = ["..." if v is ... else _nested(v, ndim - 1, indent + 1, writer) for v in values]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _body(x, indent):
    values = _values(x, x.numel() > _now.threshold)
    return _nested(values, x.ndim, indent, _Writer(x.dtype, list(_flat(values))))


# --- the whole -------------------------------------------------------------------------------------------------

def usual(dtype):
    """Does a printed tensor of this dtype leave it out?"""
    default = _state.get_default_dtype()
    return dtype in (default, default.to_complex(), _types.int64, _types.bool_)


def _text(x, indent):
    """What stands first between the parentheses."""
    return "..." if x.device.type == "meta" else "[]" if x.numel() == 0 else _body(x, indent)


FURTHER = []  # of the packages above: tensor -> what its text says behind everything else, or None


def _facts(self):
    """What stands behind the elements, as name=value."""
    bare = self.device.type == "meta" or self.numel() == 0  # no element shows the dtype
    if self.device.type != "cpu":
        yield f"device='{self.device}'"
    if self.device.type == "meta" or not (_now.edgeitems or bare) or bare and self.ndim != 1:  # no element shows the shape
        yield f"size={tuple(self.shape)}"
    if self.dtype != _state.get_default_dtype() if bare else not usual(self.dtype):
        yield f"dtype={self.dtype}"
    if self.requires_grad:
        try:
            name = None if self.is_leaf else type(self.grad_fn).__name__
        except RuntimeError:  # a view whose history cannot be known any more
            name = "Invalid"
        yield "requires_grad=True" if name is None else f"grad_fn=<{name}>"
    yield from (fact for told in FURTHER if (fact := told(self)))


def tensor_repr(self, *, tensor_contents=None):
    """The tensor as PyTorch prints it."""
    from facula.tensor_core._tensor import Tensor

    cls = type(self)
    prefix = "tensor(" if cls is Tensor or cls.__name__ == "Parameter" else cls.__name__ + "("
    text = _text(self.detach(), len(prefix)) if tensor_contents is None else tensor_contents
    told = _add_suffixes(prefix + text, _facts(self), len(prefix))
    return f"Parameter({told})" if cls.__name__ != "Parameter" and getattr(self, "_is_param", False) else told  # of a user's class, by a mark


class _Written:
    """Something of this text, for rich, which asks for reprs."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def rich_facts(facts):
    """What repr says behind the elements, in rich's form."""
    for fact in facts:
        name, _, value = fact.partition("=")
        yield name, _Written(value)


def tensor_rich_repr(self):
    """What rich prints: the rows as repr writes them, in lists that rich lays out, and what repr says behind them.

    >>> list(facula.tensor([[0.5, 2.0]], requires_grad=True).__rich_repr__())
    [[[0.5000, 2.0000]], ('requires_grad', True)]
    """
    x = self.detach()
    if x.device.type == "meta" or x.numel() == 0:
        yield _Written(_text(x, 0))
    else:
        values = _values(x, x.numel() > _now.threshold)
        writer = _Writer(x.dtype, list(_flat(values)))

        def written(v):
            if v is ... or type(v) is not list:
                return _Written("..." if v is ... else writer.text(v))
            parts = [written(u) for u in v]
            return parts if type(v[0]) is list else _Written(f"[{', '.join(map(repr, parts))}]")

        yield written(values)
    yield from rich_facts(_facts(self))


def _add_suffixes(written, suffixes, indent, force_newline=False):
    """The text with what follows it in the brackets, on a new line where it is too long."""
    column = len(written) - written.rfind("\n") + 1  # of the last line, with a margin of two
    for suffix in suffixes:
        if force_newline or column + len(suffix) + 2 > _now.linewidth:
            written += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
            force_newline = False
        else:
            written += ", " + suffix
            column += len(suffix) + 2
    return written + ")"


def tensor_format(self, spec):
    """A tensor of no dims formats as its number; one of another class, a parameter for one, as its text."""
    from facula.tensor_core._tensor import Tensor

    if self.ndim == 0 and self.device.type != "meta" and type(self) is Tensor:
        return self.item().__format__(spec)
    if spec:
        raise TypeError(f"format: {spec!r} given for a {type(self).__name__} of shape {tuple(self.shape)}. Only a plain tensor of no dims formats as a number; use item().")
    return repr(self)


# Names of PyTorch's file, which libraries call to print tensors of their own classes.
def _tensor_str(self, indent):
    """The text between the parentheses."""
    return _text(self.detach(), indent)


_str_intern = tensor_repr


def __getattr__(name):
    if name == "PRINT_OPTS":
        return _now
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
