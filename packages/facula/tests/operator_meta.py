"""python operator_meta.py [--dtypes a,b] REGEX: PyTorch's samples of its operators on the meta device, which has no memory: shapes, dtypes, strides, one process an entry.

Kinds are operator_compare's, and "device". Strides count where PyTorch's meta device agrees with its CPU; what PyTorch refuses there is left out.
"""

import contextlib

import torch
from operator_compare import outcome, outcomes, plain, unlike_outcomes
from operator_layouts import LAYOUTS
from operator_samples import Unserved, samples, spelt, tensors
from operator_survey import survey

DTYPES = [torch.float32, torch.int64, torch.bool, torch.complex64, torch.uint8]


def on_meta(v):
    if not isinstance(v, torch.Tensor):
        return torch.device("meta") if isinstance(v, torch.device) else v
    return torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device="meta")


def of_sample(op, s, label):
    torch.manual_seed(1)
    dense = outcome(plain(op, s)[0])
    if isinstance(dense, Exception):
        return
    moved = s.transform(on_meta)
    if "device" in moved.kwargs:
        moved.kwargs["device"] = "meta"
    theirs, mine = plain(op, moved)
    expected, actual = outcomes(theirs, mine)
    if isinstance(expected, Exception):
        return
    same = [d.stride() == e.stride() and d.dtype == e.dtype for d, e in zip(tensors(dense), tensors(expected))]
    what = f"{label}{spelt(moved.input)}, {spelt(moved.args)}, {spelt(moved.kwargs)}"
    for kind, text in unlike_outcomes(expected, actual, unset=True):
        if kind != "stride" or all(same):
            yield kind, f"{what}: {text}"
    if not isinstance(actual, Exception):
        for e, a in zip(tensors(expected), tensors(actual)):
            if str(e.device) != str(a.device):
                yield "device", f"{what}: {a.device} for {e.device}"


def of_entry(op, given):
    for dtype in given.dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for s in samples(op, dtype, False, given.most):
            for label, changed in [("", s), *((f"{name}: ", s.transform(lambda v, f=f: _laid(f, v))) for name, f in LAYOUTS.items())]:
                try:
                    yield from of_sample(op, changed, label)
                except Unserved:
                    continue


def quick(op):
    """What test_operator_meta.py holds: one sample, as it is."""
    for s in samples(op, torch.float32, False, 1) if torch.float32 in op.supported_dtypes("cpu") else ():
        with contextlib.suppress(Unserved):
            yield from of_sample(op, s, "")


def _laid(f, v):
    made = f(v) if isinstance(v, torch.Tensor) else None
    return v if made is None else made


if __name__ == "__main__":
    survey(__doc__, of_entry, most=8, dtypes=DTYPES)
