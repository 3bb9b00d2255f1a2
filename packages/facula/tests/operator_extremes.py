"""The same samples with other contents: numbers that are not finite, subnormal ones, the largest integers; dims of size 0; one number for a tensor.

`python operator_extremes.py [--dtypes a,b] REGEX` prints what differs, one process an entry. Kinds are operator_compare's behind a form's name.
"""

import re

import facula
import torch
from operator_compare import near, outcomes, plain, unlike_outcomes
from operator_samples import Unserved, samples, spelt, tensors
from operator_survey import survey

inf, nan = float("inf"), float("nan")
UNSET = ("empty", "new_empty", "resize")  # memory as it was found
TURN = 7  # the second tensor's numbers begin so much later: pairs of all kinds meet


def numbers(dtype):
    """What is extreme in a dtype, its largest numbers excepted: with them, order and rounding decide between a number and inf, or inf and NaN."""
    if dtype is torch.bool:
        return [True, False, False]
    if dtype.is_complex:
        tiny = torch.finfo(dtype).tiny * 1024
        parts = [0.0, -0.0, 1.0, -1.5, inf, -inf, nan, 3e-3, tiny]
        return [complex(parts[i], parts[(i * 4 + k) % len(parts)]) for k in range(len(parts)) for i in range(len(parts))]
    if dtype.is_floating_point:
        f = torch.finfo(dtype)
        return [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, inf, -inf, nan, f.tiny, f.tiny / 4, -f.tiny / 2, f.eps, 1e-3, 7.0, 88.0, -104.0, 1 - f.eps, -0.5]
    i = torch.iinfo(dtype)
    return [0, 1, i.max, i.min, i.max - 1, i.min + 1, 2, 3, 7, 8, 31, 32, 63, 64] + ([-1, -2, -7] if i.min else [])


def largest(dtype):
    """Where results overflow."""
    f = torch.finfo(dtype)
    reals = [f.max, 1.0, f.min, 0.5, f.max / 2, -f.max / 4, f.max**0.5, -2 * f.max**0.5, f.max**0.25, 2.0]
    return [complex(r, reals[(i * 3 + k) % len(reals)]) for k in (0, 1) for i, r in enumerate(reals)] if dtype.is_complex else reals


def filled(dtype, values, only_first=False):
    """A change: tensors of the dtype hold these numbers in turn."""
    met = []

    def change(t):
        if t.dtype is not dtype or only_first and met or not t.numel():
            return t
        start, n = TURN * len(met), t.numel()
        met.append(t)
        return torch.tensor([values[(start + k * (1 + 2 * (len(met) > 1))) % len(values)] for k in range(n)], dtype=dtype).reshape(t.shape)

    return change


def emptied(dim, only_first=False):
    """A change: that dim has size 0."""
    met = []

    def change(t):
        if only_first and met or not -t.dim() <= dim < t.dim():
            return t
        met.append(t)
        return t.narrow(dim, 0, 0).clone()

    return change


def single(only_first=False):
    """A change: a tensor is one number."""
    met = []

    def change(t):
        if only_first and met or not t.numel() or not t.dim():
            return t
        met.append(t)
        return t.reshape(-1)[0].clone()

    return change


def forms(dtype):
    """name -> a new change of one tensor after the other."""
    yield "extreme", filled(dtype, numbers(dtype))
    yield "extreme first", filled(dtype, numbers(dtype), True)
    if dtype.is_floating_point or dtype.is_complex:
        yield "largest", filled(dtype, largest(dtype))
        yield "largest first", filled(dtype, largest(dtype), True)
    for dim in (0, 1, -1):
        yield f"empty {dim}", emptied(dim)
        yield f"empty {dim} first", emptied(dim, True)
    yield "single", single()
    yield "single first", single(True)


def changed(s, change):
    """The sample with its tensors changed, or None where none is."""
    touched = []

    def each(t):
        if not isinstance(t, torch.Tensor) or t.layout is not torch.strided:
            return t
        new = change(t.detach())
        touched.append(new.shape != t.shape or new.dtype is t.dtype and new is not t and not torch.equal(new, t))
        return new

    s = s.transform(each)
    return s if any(touched) else None


def differences(op, s, label):
    """(kind, text): what the plain call gives."""
    try:
        theirs, mine = plain(op, s)
        expected, actual = outcomes(theirs, mine)
        found = list(unlike_outcomes(expected, actual, unset=op.name.startswith(UNSET)))
    except Unserved:
        return
    what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
    for kind, text in found:
        if kind == "value" and ("extreme" in label or "largest" in label):
            if alike(expected, actual, "largest" in label):
                continue
            text = worst(expected, actual, s) or text
        yield f"{label} {kind}", f"{what}: {text}"


def alike(expected, actual, overflown):
    """Do they differ only between numbers that are not finite, where that means little: complex ones, and those beyond the largest?"""
    for e, a in zip(tensors(expected), tensors(actual)):
        if not (e.is_complex() or overflown and e.is_floating_point()):
            if near(e, a):
                return False
            continue
        e, a = e.detach().resolve_conj(), a.detach()
        seen = e.isfinite() | torch.from_numpy(a.isfinite().numpy())
        shown = [torch.where(seen, t, torch.zeros((), dtype=e.dtype)) for t in (e, torch.from_numpy(a.numpy()) if e.dtype is not torch.bfloat16 else torch.from_numpy(a.float().numpy()).bfloat16())]
        if near(shown[0], facula.from_numpy(shown[1].float().numpy() if e.dtype is torch.bfloat16 else shown[1].numpy()).to(a.dtype)):
            return False
    return True


def worst(expected, actual, s):
    """Of a pointwise op, the first numbers that differ and what made them."""
    e, a = next(tensors(expected), None), next(tensors(actual), None)
    if e is None or not e.numel() or not isinstance(s.input, torch.Tensor) or any(t.shape != e.shape for t in tensors((s.input, s.args)) if t.dim()):
        return None
    e, a = e.detach().resolve_conj().reshape(-1), a.detach().reshape(-1)
    told = []
    for k in range(e.numel()):
        if near(e[k], a[k]) and len(told) < 8:
            told.append(f"({', '.join(str(t.reshape(-1)[k if t.dim() else 0].item()) for t in tensors((s.input, s.args)))}) -> {a[k].item()} for {e[k].item()}")
    return f"{e.dtype} " + "; ".join(told) if told else None


def of_entry(op, dtypes, most, wanted=""):
    """All differences of an entry over dtypes that it supports."""
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for s in samples(op, dtype, False, most):
            for label, change in forms(dtype):
                if re.search(wanted, label) and (new := changed(s, change)) is not None:
                    yield from differences(op, new, label)


if __name__ == "__main__":
    FORM = {"--form": dict(default="", help="a regular expression over the forms' names")}
    survey(__doc__, lambda op, given: of_entry(op, given.dtypes, given.most, given.form), FORM, most=6)
