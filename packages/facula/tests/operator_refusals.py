"""python operator_refusals.py REGEX: PyTorch's samples with one thing made wrong in each: who refuses it, with which class of exception.

What is made wrong: a tensor's dtype, dims or sizes, or something else in its place; a number, tuple, string or flag of another kind or out of range; one argument
more or less, an unknown keyword; `out=` of another dtype, that requires grad, or no tensor; a leaf written in place. What both accept is compared as well.
"""

import torch
from operator_compare import TOLERANCE, Call, in_place, outcomes, processed, unlike, unlike_outcomes
from operator_differences import KNOWN
from operator_samples import Unserved, counterpart, samples, spelt, tensors
from operator_survey import survey

UNSET = ("empty", "new_empty", "resize")  # memory as it was found
SLIPS = ("INTERNAL ASSERT FAILED", "MKL FFT error")  # an exception of PyTorch's that says this is no refusal: something broke there
ABSENT = object()


def of_tensor(t):
    """label -> something for a tensor."""
    for dtype in (torch.bool, torch.int64, torch.uint8, torch.float32, torch.float64, torch.float16, torch.complex64):
        if dtype is not t.dtype:
            yield str(dtype)[6:], (t.real if t.is_complex() and not dtype.is_complex else t).to(dtype)
    yield "one dim more", t.unsqueeze(0)
    yield "one dim more behind", t.unsqueeze(-1)
    if t.dim():
        yield "of no size", t.narrow(-1, 0, 0).clone()
        yield "last doubled", torch.cat([t, t], -1)
        yield "first longer", torch.cat([t, t[-1:]], 0)
    if t.dim() and t.shape[0]:
        yield "one dim less", t[0].clone()
    if t.numel():
        yield "of no dims", t.reshape(-1)[0].clone()
    yield "None", None
    yield "number", 2.5
    yield "str", "x"
    yield "list", t.tolist()


def of_number(n):
    if isinstance(n, bool):
        yield from {"None": None, "int": 2, "float": 0.5, "str": "x", "tensor": torch.tensor(True)}.items()
        return
    yield from {"None": None, "str": "x", "list": [n], "negative": -n if n else -1, "far": 99, "far below": -99, "zero": 0, "bool": True, "tensor": torch.tensor(n)}.items()
    yield ("float", n + 0.5) if isinstance(n, int) else ("int", 1)
    yield "complex", 1 + 2j
    yield "larger", 2**70
    yield "nan", float("nan")


def of_sequence(items):
    """label -> something for a list or tuple, of numbers or of tensors."""
    kind = type(items) if type(items) in (list, tuple) else tuple
    yield "None", None
    yield "number", 1
    yield "str", "x"
    yield "empty", kind()
    yield "longer", kind([*items, *items[-1:]])
    yield "shorter", kind(items[:-1])
    yield "repeated", kind([*items[:1], *items[:1], *items[2:]])
    if items and isinstance(items[0], int):
        yield "negative", kind([-n - 1 for n in items])
        yield "far", kind([99, *items[1:]])
        yield "float", kind([n + 0.5 for n in items])
        yield "of None", kind([None, *items[1:]])
        yield "of str", kind(["x", *items[1:]])
    elif items and isinstance(items[0], torch.Tensor):
        yield "as tensor", items[0]
        for label, t in of_tensor(items[0]):
            yield f"first {label}", kind([t, *items[1:]])


def wrong(value):
    """label -> a wrong thing for an argument."""
    if isinstance(value, torch.Tensor):
        yield from of_tensor(value)
    elif isinstance(value, (bool, int, float)):
        yield from of_number(value)
    elif isinstance(value, (list, tuple)):
        yield from of_sequence(value)
    elif isinstance(value, str):
        yield from {"None": None, "number": 1, "unknown": value + "x"}.items()
    elif isinstance(value, torch.dtype):
        yield from {"None": None, "str": "float32", "number": 1, "bool": torch.bool, "complex": torch.complex64, "int": torch.int32, "half": torch.float16}.items()
    elif value is None:
        yield from {"number": 1, "str": "x", "tensor": torch.ones(2)}.items()


def calls(op, s):
    """(label, PyTorch's call): the sample with one thing made wrong."""
    given = (s.input, *s.args)
    for k, value in enumerate(given):
        for label, other in wrong(value):
            yield f"argument {k} {label}", Call(op.op, (*given[:k], other, *given[k + 1 :]), s.kwargs)
    for k, value in s.kwargs.items():
        for label, other in wrong(value):
            yield f"{k} {label}", Call(op.op, given, {**s.kwargs, k: other})
    yield "one more", Call(op.op, (*given, 1), s.kwargs)
    yield "three more", Call(op.op, (*given, None, "x", 3.5), s.kwargs)
    yield "one less", Call(op.op, given[:-1], s.kwargs)
    yield "unknown keyword", Call(op.op, given, {**s.kwargs, "unknown": 1})
    if op.supports_out and "out" not in s.kwargs:
        for label, out in {"None": None, "list": [], "str": "x"}.items():  # PyTorch's parser takes a number for a tensor, even as out
            yield f"out {label}", Call(op.op, given, {**s.kwargs, "out": out})
        for dtype in (torch.bool, torch.int32, torch.float16, torch.float64, torch.complex64):
            yield f"out {str(dtype)[6:]}", Call(op.op, given, {**s.kwargs, "out": torch.empty(0, dtype=dtype)})
        yield "out requires grad", Call(op.op, given, {**s.kwargs, "out": torch.empty(0, requires_grad=True)})


def compared(s, label, theirs, mine, said, unset):
    try:
        expected, actual = outcomes(theirs, mine)
    except Unserved:
        return
    if isinstance(expected, Exception) and any(slip in str(expected) for slip in SLIPS):
        return
    times = TOLERANCE["float32"] / TOLERANCE["float64"] if said.startswith("out float64") else 1  # which was computed in float32
    found = list(unlike_outcomes(expected, actual, unset=unset, times=times))
    if {kind for kind, _ in found} == {"value"} and _free(s, expected, actual):
        return
    yield from ((f"{label} {kind}".strip(), f"{said}: {text}") for kind, text in found)


def _free(s, expected, actual):
    """Are the values alike but for what the entry leaves open, as the signs of vectors?"""
    try:
        return not list(unlike(*processed(s, expected, actual)))
    except Exception:  # what the entry does with its results is made for unchanged samples
        return False


def differences(op, s):
    unset = op.name.split(".")[-1].startswith(UNSET)
    for label, theirs in calls(op, s):
        said = f"{label}: {spelt(theirs.args)}, {spelt(theirs.options)}"
        try:
            mine = theirs.mirrored(counterpart(op))
        except Unserved:
            continue
        yield from compared(s, "", theirs, mine, said, unset)


def in_place_differences(op, s):
    """The method with an underscore, each other tensor with a wrong dtype or size, and self of an integer dtype."""
    for k, value in enumerate((s.input, *s.args)):
        if isinstance(value, torch.Tensor):
            for label, other in of_tensor(value):
                given = [s.input, *s.args]
                given[k] = other
                if not isinstance(given[0], torch.Tensor):
                    continue
                changed = type(s)(given[0], args=tuple(given[1:]), kwargs=s.kwargs)
                try:
                    pair = in_place(op, changed)
                except Unserved:
                    return
                if pair is None:
                    return
                yield from compared(s, "in place", *pair, f"argument {k} {label}: {spelt(given)}, {spelt(s.kwargs)}", op.name.startswith(UNSET))


def of_entry(op, dtypes, most):
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for s in samples(op, dtype, False, most):
            if sum(t.numel() for t in tensors((s.input, s.args))) > 5000:
                continue
            known = KNOWN.get(op.name + ("." + op.variant_test_name if op.variant_test_name else ""), ())
            found = (*differences(op, s), *in_place_differences(op, s))
            yield from ((kind, text) for kind, text in found if kind.removeprefix("in place ") not in known)


if __name__ == "__main__":
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most), most=2, dtypes=[torch.float32, torch.int64])
