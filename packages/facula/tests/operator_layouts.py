"""The same samples in other layouts of memory: transposed, channels last, stepped, expanded, at an offset, dims of size 1 with odd strides.

`python operator_layouts.py REGEX` prints what differs, one process an entry. Kinds are operator_compare's, and "same" (which argument
a result is), "base" (which one it is a view of), "shares" (with which it shares memory), "offset", and "in place memory" (other bytes, in gaps too).
"""

import facula
import torch
from operator_compare import Call, gradients, outcomes, plain, processed, unlike, unlike_outcomes
from operator_samples import Unserved, forget, mirrored, samples, spelt, tensors
from operator_survey import survey


def _like(t, empty):
    """`empty` filled with t, as t is otherwise."""
    with torch.no_grad():
        empty.copy_(t)
    return empty.requires_grad_(t.requires_grad)


def turned(t):
    dims = range(t.ndim - 1, -1, -1)
    return _like(t, torch.empty([t.shape[d] for d in dims], dtype=t.dtype).permute(*dims)) if t.ndim > 1 else None


def rolled(t):
    """The first dim is the fastest."""
    return _like(t, torch.empty([*t.shape[1:], t.shape[0]], dtype=t.dtype).movedim(-1, 0)) if t.ndim > 2 else None


def channels_last(t):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return _like(t, torch.empty(t.shape, dtype=t.dtype, memory_format=formats[t.ndim])) if t.ndim in formats else None


def stepped(t):
    return _like(t, torch.zeros([*t.shape[:-1], 2 * t.shape[-1] + 1], dtype=t.dtype)[..., 1::2]) if t.ndim else None


def gapped(t):
    """Rows that lie apart, behind an offset."""
    return _like(t, torch.zeros([2 * t.shape[0] + 1, *t.shape[1:]], dtype=t.dtype)[1::2]) if t.ndim else None


def expanded(t):
    return t.detach()[:1].clone().expand(t.shape).requires_grad_(t.requires_grad) if t.ndim and t.shape[0] > 1 else None


def expanded_last(t):
    return t.detach()[..., :1].clone().expand(t.shape).requires_grad_(t.requires_grad) if t.ndim > 1 and t.shape[-1] > 1 else None


def odd(t):
    """Strides of dims of size 1 say nothing."""
    if 1 not in t.shape or not t.numel():
        return None
    whole = t.detach().contiguous().clone()
    return whole.as_strided(t.shape, [7 if n == 1 else s for n, s in zip(t.shape, whole.stride())]).requires_grad_(t.requires_grad)


LAYOUTS = {f.__name__: f for f in (turned, rolled, channels_last, stepped, gapped, expanded, expanded_last, odd)}


def laid_out(s, layout, first):
    """A sample with its tensors in a layout (the first one alone, or all), or None where no tensor changes."""
    changed = []

    def change(t):
        if not isinstance(t, torch.Tensor) or (first and changed) or t.layout is not torch.strided:
            return t
        found = layout(t)
        changed.append(found is not None)
        return t if found is None else found

    s = s.transform(change)
    return s if any(changed) else None


def bases(expected, actual, theirs, mine):
    """Of each result: which argument it is, which it is a view of, with which it shares memory, and where it begins."""
    given = [list(tensors((c.args, c.options))) for c in (theirs, mine)]
    for pair in zip(tensors(expected), tensors(actual)):
        same, base, shared = ([_number(t, known, related) for t, known in zip(pair, given)] for related in (_is, _views, _shares))
        if same[0] != same[1]:
            yield "same", f"{same[1]} for {same[0]}"
        elif base[0] != base[1] and same[0] is None:
            yield "base", f"{base[1]} for {base[0]}"
        if shared[0] != shared[1]:
            yield "shares", f"{shared[1]} for {shared[0]}"
        elif pair[0].storage_offset() != pair[1].storage_offset():
            yield "offset", f"{pair[1].storage_offset()} for {pair[0].storage_offset()}"


def _number(t, known, related):
    return next((k for k, g in enumerate(known) if related(t, g)), None)


def _is(t, g):
    return t is g


def _views(t, g):
    return t._base is not None and (t._base is g or t._base is g._base)


def _shares(t, g):
    return t.numel() > 0 and t.device.type == "cpu" and t.untyped_storage().data_ptr() == g.untyped_storage().data_ptr()


def differences(op, s, label):
    what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
    try:
        theirs, mine = plain(op, s)
        expected, actual = outcomes(theirs, mine)
        found = list(unlike_outcomes(expected, actual, unset=op.name.startswith(("empty", "new_empty", "resize"))))
        if any(kind == "value" for kind, _ in found) and not list(unlike(*processed(s, expected, actual))):
            found = [f for f in found if f[0] != "value"]
        if not isinstance(expected, Exception) and {kind for kind, _ in found} <= {"stride", "value", "is_conj", "is_neg"}:
            found += bases(expected, actual, theirs, mine)
            found += gradients(theirs, mine, *processed(s, expected, actual))
        found += in_place(op, s)
    except Unserved:
        return
    for kind, text in found:
        yield kind, f"{label}: {what}: {text}"


def in_place(op, s):
    """The method with an underscore, on the laid out tensor itself."""
    if op.inplace_variant is None or not isinstance(s.input, torch.Tensor) or not hasattr(facula.Tensor, getattr(op.inplace_variant, "__name__", "")):
        return
    s = s.transform(lambda v: v.detach() if isinstance(v, torch.Tensor) else v)
    theirs = Call(op.inplace_variant, (s.input, *s.args), s.kwargs)
    forget()
    mine = Call(getattr(facula.Tensor, op.inplace_variant.__name__), mirrored(theirs.args), mirrored(theirs.options))
    expected, actual = outcomes(theirs, mine)
    yield from (("in place " + kind, text) for kind, text in unlike_outcomes(expected, actual))
    if not isinstance(expected, Exception) and not isinstance(actual, Exception):
        x, y = (torch.empty(0, dtype=theirs.args[0].dtype).set_(theirs.args[0].untyped_storage()), facula.empty(0, dtype=mine.args[0].dtype).set_(mine.args[0].untyped_storage()))
        if x.shape == tuple(y.shape):
            yield from (("in place memory", text) for kind, text in unlike(x, y) if kind != "stride")


def of_entry(op, dtypes, most, layouts=LAYOUTS, alone=True):
    """All differences of an entry; alone: with its first tensor laid out and the others as they are, too."""
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        recorded = dtype in (torch.float64, torch.complex128) and op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for s in samples(op, dtype, recorded, most):
            for name, layout in layouts.items():
                for first in (True, False) if alone else (False,):
                    if first and len(list(tensors((s.input, s.args, s.kwargs)))) < 2:
                        continue
                    laid = laid_out(s, layout, first)
                    if laid is not None:
                        yield from differences(op, laid, name + (" first" if first else ""))


def quick(op):
    return of_entry(op, [torch.float64], 2, {f.__name__: f for f in (turned, channels_last, stepped)}, alone=False)


if __name__ == "__main__":
    QUICK = {"--quick": dict(action="store_true", help="what test_operator_layouts.py looks at")}
    survey(__doc__, lambda op, given: quick(op) if given.quick else of_entry(op, given.dtypes, given.most), QUICK, most=8, dtypes=[torch.float64])
