"""What the surveys of tangents and of second derivatives share: weights, how two lists of derivatives differ, and the walk over an entry's samples."""

import torch
from operator_compare import unlike
from operator_samples import Unserved, samples, spelt
from operator_survey import survey


def weights(like, start):
    return [torch.linspace(start, start + 2, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype) * (1 + 0.5j if t.is_complex() else 1) for t in like]


def apart(wanted, found, counts):
    """(kind, text) of what differs between PyTorch's derivatives and ours; an absent one is one of zeros. counts: which kinds do."""
    for k, (w, f) in enumerate(zip(wanted, found)):
        if w is not None and f is not None:
            yield from ((kind, text) for kind, text in unlike(w.detach(), f.detach(), 100) if counts(kind))
        elif any(t is not None and bool((t != 0).any()) for t in (w, f)):
            yield "absent", f"{'not None' if w is None else 'None'} for number {k} of {tuple((f if w is None else w).shape)}"


def survey_of(doc, differences, able, most):
    """A survey's program: differences(op, sample) of every differentiable sample of the entries that are able."""

    def of_entry(op, given):
        for dtype in given.dtypes:
            if dtype in op.supported_backward_dtypes("cpu"):
                for s in samples(op, dtype, True, given.most):
                    what = f"{spelt(s.input)}, {spelt(s.args)}, {spelt(s.kwargs)}"
                    try:
                        yield from ((kind, f"{what}: {text}") for kind, text in differences(op, s))
                    except Unserved:
                        continue

    survey(doc, of_entry, most=most, dtypes=[torch.float64, torch.complex128], wanted=able)
