"""One sample through both libraries, in every way that the entry can be called: what differs, as (kind, text).

A kind is a word or two: "value", "dtype", "shape", "stride", "is_conj", "is_neg", "type", "raises" (ours raises, PyTorch answers), "answers" (the reverse),
"error" (another class), "missing", and for gradients "gradient" and "gradient stride". Behind "method", "in place", "out" and
"strided" (non-contiguous arguments) stands the same about that way of calling.
"""

import contextlib
import functools
import types
import warnings
from collections.abc import Callable
from typing import NamedTuple

import facula
import facula.autograd
import numpy as np
import torch
from operator_samples import PATHS, Unserved, at, counterpart, forget, mirrored, retargeted, samples, spelt, tensors

TOLERANCE = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-5, "complex64": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
GRADIENT = 10  # a gradient may be off by so many times more
RECORDED = (torch.float64, torch.complex128)
UNSET = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted", "resize_", "resize_as_"}  # memory as it was found


def near(expected, actual, times=1):
    """None, or where two tensors of one dtype and shape differ."""
    if expected._is_zerotensor():
        expected = torch.zeros(expected.shape, dtype=expected.dtype)
    x, y = (t.detach().resolve_conj().resolve_neg() for t in (expected, actual))
    name = str(x.dtype).removeprefix("torch.")
    if name == "bfloat16":
        x, y = x.float(), y.float()
    tolerance = TOLERANCE.get(name, 0) * times
    largest = float(x[x.isfinite()].abs().max()) if x.isfinite().any() and name in ("float16", "bfloat16") else 1  # PyTorch rounds halves between the steps of an op
    try:
        np.testing.assert_allclose(y.contiguous().numpy(), x.contiguous().numpy(), rtol=tolerance, atol=tolerance * max(1, largest), equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())[:220]
    return None


def unlike(expected, actual, times=1, unset=False):
    """What differs between PyTorch's result and ours: (kind, text) each."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, facula.Tensor):
            yield "type", f"{type(actual).__name__} for a Tensor"
        elif str(expected.dtype) != str(actual.dtype):
            yield "dtype", f"{actual.dtype} for {expected.dtype}"
        elif tuple(expected.shape) != tuple(actual.shape):
            yield "shape", f"{tuple(actual.shape)} for {tuple(expected.shape)}"
        else:
            if expected.numel() and expected.stride() != tuple(actual.stride()):
                yield "stride", f"{tuple(actual.stride())} for {expected.stride()} of shape {tuple(expected.shape)}"
            for name in ("is_conj", "is_neg"):
                if getattr(expected, name)() != getattr(actual, name)():
                    yield name, f"{not getattr(expected, name)()} for {getattr(expected, name)()}"
            if not unset and (found := near(expected, actual, times)):
                yield "value", f"{expected.dtype} {tuple(expected.shape)}: {found}"
    elif isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            yield "type", f"{type(actual).__name__} for {type(expected).__name__} of {len(expected)}"
        elif isinstance(expected, list) != isinstance(actual, list) or hasattr(expected, "_fields") and not hasattr(actual, "_fields"):
            yield "type", f"{type(actual).__name__} for {type(expected).__name__}"
        else:
            for e, a in zip(expected, actual):
                yield from unlike(e, a, times, unset)
    elif isinstance(expected, dict):
        for k in expected:
            yield from unlike(expected[k], actual[k], times, unset)
    elif isinstance(expected, (torch.dtype, str)):
        if str(expected) != str(actual):
            yield "value", f"{actual} for {expected}"
    elif isinstance(expected, (bool, int, float, complex)):
        if type(actual) is not type(expected):
            yield "type", f"{type(actual).__name__} for {type(expected).__name__}"
        elif actual != expected and not np.allclose(actual, expected, rtol=1e-5, equal_nan=True):
            yield "value", f"{actual} for {expected}"


def outcome(call):
    """What a call returns, or the exception that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Unserved:
            raise
        except Exception as error:
            return error


def said(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def unlike_outcomes(expected, actual, **options):
    if isinstance(actual, Exception):
        if not isinstance(expected, Exception):
            yield "raises", said(actual)
        elif not isinstance(actual, type(expected)) and type(expected).__name__.lstrip("_") != type(actual).__name__:
            yield "error", f"{said(actual)}; PyTorch: {said(expected)}"
    elif isinstance(expected, Exception):
        yield "answers", f"PyTorch raises {said(expected)}"
    else:
        yield from unlike(expected, actual, **options)


# --- the ways of calling ----------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """A function with its arguments, of one library."""

    function: Callable
    args: tuple
    options: dict

    def __call__(self):
        return self.function(*self.args, **self.options)

    def mirrored(self, function):
        forget()
        return Call(function, mirrored(self.args), mirrored(self.options))


def _call(function, s):
    return Call(function, (s.input, *s.args), s.kwargs)


def outcomes(theirs, mine):
    """What the two calls give, each after the same seed."""
    torch.manual_seed(1)
    expected = outcome(theirs)
    facula.manual_seed(1)
    return expected, outcome(mine)


def plain(op, s):
    theirs = _call(op.op, s)
    return theirs, theirs.mirrored(counterpart(op))


def _method(variant):
    if isinstance(variant, functools.partial):
        return functools.partial(at(PATHS[id(variant.func)]), *variant.args, **variant.keywords)
    if isinstance(variant, types.FunctionType) and variant.__module__ != "torch._tensor":
        return retargeted(variant)
    if not hasattr(facula.Tensor, variant.__name__):
        raise Unserved("Tensor." + variant.__name__)
    return getattr(facula.Tensor, variant.__name__)


def method(op, s):
    if op.method_variant is None or not isinstance(s.input, torch.Tensor):
        return None
    theirs = _call(op.method_variant, s)
    return theirs, theirs.mirrored(_method(op.method_variant))


def in_place(op, s):
    """The method with an underscore, on a copy: a leaf that requires grad may not be written."""
    if op.inplace_variant is None or not isinstance(s.input, torch.Tensor):
        return None
    variants = op.inplace_variant, _method(op.inplace_variant)
    on_copy = [lambda x, *args, f=f, **options: f(x.clone(), *args, **options) for f in variants]
    theirs = _call(on_copy[0], s)
    return theirs, theirs.mirrored(on_copy[1])


def into(make):
    """The call with out=, whose tensors `make` derives from PyTorch's result."""

    def way(op, s):
        if not op.supports_out or "out" in s.kwargs:
            return None
        s = s.transform(lambda v: v.detach() if isinstance(v, torch.Tensor) else v)
        result = outcome(_call(op.op, s))
        whole = isinstance(result, torch.Tensor)
        if not whole and not (isinstance(result, (tuple, list)) and all(isinstance(r, torch.Tensor) for r in result)):
            return None
        theirs = _call(op.op, s)
        theirs = theirs._replace(options={**s.kwargs, "out": make(result) if whole else tuple(map(make, result))})
        return theirs, theirs.mirrored(counterpart(op))

    return way


def _other_dtype(t):
    """Of a dtype that results of t's cannot be cast to, where there is one."""
    return torch.empty(t.shape, dtype=torch.int64 if t.dtype.is_floating_point or t.dtype.is_complex else torch.bool if t.dtype is torch.bool else t.dtype)


PLAIN = {"": plain}
OTHERS = {
    "method": method,
    "in place": in_place,
    "out": into(torch.zeros_like),
    "out of no size": into(lambda t: t.new_empty(0)),
    "out of another size": into(lambda t: t.new_zeros((2, *t.shape))),
    "out strided": into(lambda t: t.new_zeros((*t.shape, 2))[..., 1]),
    "out of another dtype": into(_other_dtype),
}


def processed(s, expected, actual):
    """Both results as the entry makes them comparable, and differentiable, where an operator leaves something open."""
    return s.output_process_fn_grad(expected), retargeted(s.output_process_fn_grad)(actual)


def gradients(theirs, mine, expected, actual, lay=lambda t: t, graph=False):
    """Gradients of weighted sums of all results, for every argument that requires one.

    lay: the weights, which go backward, as they are to lie in memory. graph: the gradients are to have a history.
    """
    leaves, ours = ([t for t in tensors((c.args, c.options)) if t.requires_grad] for c in (theirs, mine))
    outs = [(e, a) for e, a in zip(tensors(expected), tensors(actual)) if e.requires_grad and (e.numel() or a.requires_grad)]
    if not outs or not leaves:
        return
    weights = [lay(torch.linspace(-1, 2, e.numel(), dtype=torch.float64).reshape(e.shape).to(e.dtype) * (1 + 0.5j if e.is_complex() else 1)) for e, _ in outs]
    wanted = outcome(lambda: torch.autograd.grad([e for e, _ in outs], leaves, weights, allow_unused=True, create_graph=graph))
    if isinstance(wanted, Exception) and ("is not implemented" not in str(wanted) or "'inplace version of" in str(wanted)):
        return
    forget()
    found = outcome(lambda: facula.autograd.grad([a for _, a in outs], ours, mirrored(weights), allow_unused=True, create_graph=graph))
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        yield from (("gradient", f"{kind}: {text}") for kind, text in unlike_outcomes(wanted, found))
        return
    for w, f in zip(wanted, found):
        if w is not None and f is not None:
            kinds = {"stride": "gradient stride", "is_conj": None, "is_neg": None}  # backward computes conjugates at once: docs/decisions/047
            yield from ((kinds.get(kind, "gradient"), text) for kind, text in unlike(w, f, GRADIENT) if kinds.get(kind, kind))
            continue
        present = f if w is None else w  # an absent gradient is one of zeros
        if present is not None and bool((present != 0).any()):
            yield "gradient", f"{'not None' if w is None else 'None'} for {tuple(present.shape)}"


def differences(op, s, ways=PLAIN, prefix=""):
    """(kind, text) for one sample called in every way."""
    what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
    for name, way in ways.items():
        label = f"{prefix} {name}".strip()
        try:
            calls = way(op, s)
            if calls is None:
                continue
            torch.manual_seed(1)
            expected = outcome(calls[0])
            if isinstance(expected, Exception) and way is plain and not prefix:
                continue
            facula.manual_seed(1)
            actual = outcome(calls[1])
            found = list(unlike_outcomes(expected, actual, unset=op.name.split(".")[-1] in UNSET))
            if any(kind == "value" for kind, _ in found) and not list(unlike(*processed(s, expected, actual))):
                found = [f for f in found if f[0] != "value"]  # equal but for what is free: the signs of vectors
            if not isinstance(expected, Exception) and {kind for kind, _ in found} <= {"stride", "value", "is_conj", "is_neg"}:
                found += gradients(*calls, *processed(s, expected, actual))
        except Unserved as missing:
            if not str(missing).startswith("torch."):
                yield f"{label} missing".strip(), str(missing)
            continue
        for kind, text in found:
            yield f"{label} {kind}".strip(), f"{what}: {text}"


def error_samples(op):
    """Samples that PyTorch refuses, as SampleInputs."""
    with contextlib.suppress(Exception):
        for e in op.error_inputs("cpu") if op.error_inputs_func else ():
            yield e.sample_input


def of_entry(op, dtypes, most, ways=PLAIN, wide=False):
    """All differences of an entry, over dtypes that it supports, up to `most` samples of each."""
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        recorded = dtype in RECORDED and op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for s in samples(op, dtype, recorded, most):
            yield from differences(op, s, ways)
            if wide:
                with contextlib.suppress(RuntimeError, AttributeError):
                    yield from differences(op, s.noncontiguous(), PLAIN, "strided")
        if wide:
            for s in samples(op, dtype, False, most, reference=True):
                yield from differences(op, s, PLAIN)
    for s in error_samples(op):
        yield from differences(op, s, PLAIN, "error")
