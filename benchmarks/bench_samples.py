#!/usr/bin/env python3
"""What calls cost over PyTorch's own samples of its operators (OpInfo): small tensors, every keyword, beside PyTorch itself.

    tools/bench samples [--quick] [--only pad,conv2d] [--modes forward,out,backward] [--worst 60]

Of each operator's float32 samples the first, the middle one and the last with more than one element. Modes: forward, the call; out, the
call into `out=`; backward, the call and the gradients of all that requires one. Both libraries are called in turn in one process
(_pairs.py), on one thread by processor time. Families: the operators' namespaces, and "factors", which NumPy's linalg and fft compute.
The summary gives, by mode and family, the median ratio and how many are above 1 and 1.5; then the worst.
--quick: short batches.
"""

import re
import statistics
import time
import warnings
from functools import partial
from operator import attrgetter, itemgetter

from _harness import OURS, THEIRS, Case, machine, parser, report, shown
from _pairs import libraries, one

MODES = ("forward", "out", "backward")
FACTORS = re.compile(r"linalg|fft|lu\b|lu_|qr|ldl|chol|triangular|geqrf|ormqr|svd|householder|matrix_exp|inverse|logdet|slogdet|det\b|pinverse|orgqr|pca|norm nuc|stft|istft")


def family(name):
    return "factors" if FACTORS.match(name) else name.rpartition(".")[0] or "torch"


def ours(value, t):
    """A sample's argument, with everything of PyTorch's in it as the library `t` has it."""
    import torch

    if t is torch:
        return value
    if isinstance(value, torch.Tensor):
        return t.from_dlpack(value.detach().clone()).clone().requires_grad_(value.requires_grad)
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return getattr(t, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return t.device(str(value))
    if isinstance(value, dict):
        return {k: ours(v, t) for k, v in value.items()}
    return type(value)(ours(v, t) for v in value) if type(value) in (list, tuple) else value


def flat(value):
    """The tensors in a tensor, a list of them, or a list of such."""
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flat(v)]
    return [value] if hasattr(value, "requires_grad") else []


def function_of(name, t):
    """The function of the library `t`, or the tensors' method or attribute where there is none."""
    try:
        found = attrgetter(name)(t)
    except AttributeError:
        found = None
    if callable(found):
        return found
    found = getattr(t.Tensor, name)
    return found if callable(found) else attrgetter(name)


def made(op, sample, mode, t):
    """What is timed: the sample's call in the library `t`."""
    function = function_of(op.name, t) if t.__name__ == OURS else op.op
    args, named = (ours(a, t) for a in ((sample.input, *sample.args), sample.kwargs))
    call = partial(function, *args, **named)
    if mode == "out":
        return partial(call, out=t.empty_like(call()))
    if mode == "forward":
        return call
    leaves = [x for x in flat((args, list(named.values()))) if x.requires_grad]
    grads = [t.ones_like(y) for y in flat(call()) if y.requires_grad]

    def both():
        return t.autograd.grad([y for y in flat(call()) if y.requires_grad], leaves, grads, allow_unused=True)

    return both


def samples(op, grad):
    import torch

    torch.manual_seed(0)
    found = list(op.sample_inputs("cpu", torch.float32, requires_grad=grad))
    found = [s for s in found if not isinstance(s.input, torch.Tensor) or s.input.numel() > 1] or found
    return [(k, found[k]) for k in sorted({0, len(found) // 2, len(found) - 1}) if 0 <= k < len(found)]


def cases(modes, only):
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for mode in modes:
        for op in op_db:
            has = {"forward": True, "out": op.supports_out, "backward": op.supports_autograd}[mode]
            name = f"{op.name} {op.variant_test_name}".strip()
            if torch.float32 not in op.dtypes or not has or op.name.endswith("_") or only and not any(n in name for n in only):
                continue
            for k, sample in samples(op, mode == "backward"):
                yield Case(f"{name} {k}", partial(made, op, sample, mode), family=f"{mode} {family(name)}", tol=None)


def line(row):
    return f"{row['family']:28} {row['case']:44}{shown(row[f'{OURS}_s']):>10}{shown(row[f'{THEIRS}_s']):>10}{row['ratio']:7.2f}  {row['low']:.2f}-{row['high']:.2f} in {row['pairs']}"


def summary(rows, worst):
    rows = [r for r in rows if "ratio" in r]
    lines = [f"\n{'':36}{'calls':>6}{'median':>8}{'above 1':>9}{'1.5':>5}   worst"]
    plain = [r for r in rows if not r["family"].endswith("factors")]
    groups = {f: [r for r in rows if r["family"] == f] for f in sorted({r["family"] for r in rows})}
    groups |= {f"{m}, all but factors": [r for r in plain if r["family"].startswith(m)] for m in MODES}
    for title, some in groups.items():
        if some:
            ratios, most = [r["ratio"] for r in some], max(some, key=itemgetter("ratio"))
            counts = "".join(f"{sum(x > limit for x in ratios):>{width}}" for limit, width in ((1, 9), (1.5, 5)))
            lines.append(f"{title:36}{len(some):>6}{statistics.median(ratios):8.2f}{counts}   {most['ratio']:.2f} {most['case']}")
    slow = sorted(plain, key=itemgetter("ratio"), reverse=True)[:worst]
    return "\n".join(lines + [""] + [line(r) for r in slow])


def run():
    p = parser(__doc__)
    p.add_argument("--modes", default=",".join(MODES), help="by comma (default all)")
    p.add_argument("--worst", type=int, default=60, help="how many to list, except of factors")
    options = p.parse_args()
    options.seconds = options.seconds or (0.01 if options.quick else 0.05)
    options.rounds, options.median, options.cpu, options.only = 1, True, True, [n for n in options.only.split(",") if n]
    warnings.simplefilter("ignore")
    options.machine, found, rows = machine(), libraries(1), []
    if len(found) < 2:
        raise SystemExit("samples: the samples are PyTorch's, which is not installed here. Run it with a Python that has it.")
    for case in cases(options.modes.split(","), options.only):
        rows.append(one(case, found, 1, options.seconds, time.process_time))
    print(summary(rows, options.worst))
    if broken := [f"{r['family']} {r['case']}: {r[f'{OURS}_error']}" for r in rows if f"{OURS}_error" in r]:
        print("\ndid not run:", *broken, sep="\n")
    report("samples", rows, options, found[-1].__version__)


if __name__ == "__main__":
    run()
