#!/usr/bin/env python3
"""Every row of the ops table, and families of functions over them, beside PyTorch: 10 to 1e7 elements, contiguous, transposed, broadcast.

    tools/bench ops [--quick] [--only exp,sum] [--sizes 10,1000] [--families map1,fold,indexing] [--layouts contiguous] [--threads 1,2] [--add] [--avx2]

Rows: their arguments come from the oracles of packages/tensor-core/tests, so a row without a benchmark does not exist. Maps, folds,
scans and fills have every size, other rows their oracle's first case. Families: op_families.py. Both libraries are called in turn in one
process (_pairs.py), on one thread by processor time. The summary gives, by family, the median and the worst ratio.
A run that is stopped writes what it has; --add goes on from the rows in the file, whose commits it keeps as `earlier`.
--avx2: both libraries as on a processor without AVX-512.
--quick: 10 and 1e5 elements, contiguous, rows only unless --families names one.
"""

import json
import os
import signal
import statistics
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "packages/tensor-core/tests")]

import op_families  # noqa: E402
from _harness import OURS, THEIRS, Case, geometric_mean, machine, out_of, parser, report, shown, torch_version  # noqa: E402
from _pairs import rows_of  # noqa: E402
from op_inputs import LAYOUTS, SHAPES, copied  # noqa: E402
from oracles import ORACLES  # noqa: E402
from oracles.dtypes import WORDS, numpy_dtype  # noqa: E402
from oracles.samples import Draw, Sample, bound, cases_of, mapped, tensors  # noqa: E402

from facula.backends import cpu  # noqa: E402
from facula.tensor_core import extend  # noqa: E402
from facula.tensor_core._lib import lib  # noqa: E402

# the dtype to begin with, if not float32: of a real tensor PyTorch's function, and ours, is the tensor itself
FIRST = {"conj_physical": "complex64"}
WITHOUT_AVX512 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}  # which PyTorch's parts read as they load
FILLS = {"normal_": (), "uniform_": (), "bernoulli_scalar_": (0.3,), "exponential_": (), "random_": ()}
# a row whose PyTorch function has another name: max(x, dim) is our max_dim(x, dim)
PEERS = {"max_dim": "max", "min_dim": "min", "where_rows": "where", "copy": "clone", "bernoulli_scalar_": "bernoulli_"}


@cache
def values(dtype, shape, kind):
    """Ordinary numbers, drawn once for all rows."""
    rng = np.random.default_rng(len(shape) * shape[0])
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(1, 9, shape).astype(dtype) if kind in "iu" else rng.uniform(0.1, 0.9, shape).astype(dtype)


def sample(oracle, dtype, shape, second):
    array = values(numpy_dtype(dtype), shape, np.dtype(numpy_dtype(dtype)).kind)
    domain = oracle.second if second and oracle.second else oracle.domain
    return Sample(np.asarray(domain(array)).astype(array.dtype) if domain else array, dtype)


def arguments(op, oracle, dtype, shape):
    """In the signature's order: tensors of this shape for maps, folds and scans, else the oracle's first case."""
    if shape and op.kind.startswith("map"):
        return bound(op, tuple(sample(oracle, dtype, shape, k > 0) for k in range(len(tensors(op)))))
    if shape and op.kind in ("fold", "scan"):
        return bound(op, (sample(oracle, dtype, shape, False), {"dim": 1}))
    return bound(op, oracle.cases(Draw(oracle, dtype, specials=False))[0]) if oracle.cases else cases_of(op, oracle, dtype)[0][1]


def as_tensor(t, layout, s, last):
    """The sample in the library `t`. Broadcast: the last tensor is one row, shown by stride 0 where it is the only one."""
    array = np.array(s.array, numpy_dtype(s.dtype), order="C")

    def wrapped(a):
        made = t.from_numpy(copied(np.ascontiguousarray(a))) if a.ndim else t.from_numpy(a.reshape(1)).reshape(())
        return made.to(t.bfloat16) if s.dtype == "bfloat16" else made

    if layout == "transposed" and array.ndim > 1:
        return wrapped(array.swapaxes(0, -1)).transpose(0, -1)
    if layout == "broadcast" and array.ndim > 1 and last != "no":
        row = wrapped(array[:1])
        return row.expand(*array.shape) if last == "only" else row
    return wrapped(array)


def spread(op, values_):
    """The arguments as a user gives them: leading tensors by position, the rest by name if not at its default."""
    pairs = [(p, v) for p, v in zip(op.params, values_) if p.name != "out"]
    count = next((k for k, (p, _) in enumerate(pairs) if "Tensor" not in p.type), len(pairs))
    named = {p.name: v for p, v in pairs[count:] if "Tensor" in p.type or v != p.default}
    return [v for _, v in pairs[:count]], named


def function(t, name):
    """Facula's row, or PyTorch's function of that name."""
    if t.__name__ == OURS:
        from facula.tensor_core import _ops

        return getattr(_ops, name)
    name = PEERS.get(name, name)
    places = (t, t.nn.functional, t.special, t.linalg)
    return next((getattr(p, name) for p in places if callable(getattr(p, name, None))), None) or getattr(t, name)


def prepared(t, op, oracle, dtype, shape, layout):
    given = arguments(op, oracle, dtype, shape)
    count = sum(isinstance(a, Sample) for a in given)
    made = []
    for k, a in enumerate(given):
        last = "only" if count == 1 else "yes" if k == count - 1 else "no"
        made.append(mapped(a, partial(as_tensor, t, layout, last=last)))
    positional, named = spread(op, made)
    return partial(function(t, op.name), *positional, **named)


def filled(name, shape, t):
    x = t.empty(*shape)
    return partial(getattr(x, PEERS.get(name, name)), *FILLS[name])


def dtype_of(op, oracle):
    allowed = [d for d in WORDS[op.types] if not oracle.only or d in oracle.only]
    return next(d for d in (FIRST.get(op.name, "float32"), *allowed) if d in allowed)


def row_cases(sizes, layouts, families, only):
    for name, op in sorted(extend.ops.items(), key=lambda pair: pair[1].kind):
        oracle = ORACLES.get(name)
        if families and op.kind not in families or only and name not in only:
            continue
        if name in FILLS:
            yield from (Case(f"{name} {size:g}", partial(filled, name, SHAPES[size]), family=op.kind, tol=None) for size in sizes)
        if oracle is None or oracle.by:
            continue
        dtype = dtype_of(op, oracle)
        tol = None if any("!" in p.type for p in op.params) else 1e-3
        sized = not oracle.cases and (op.kind.startswith("map") or op.kind in ("fold", "scan"))
        for size in sizes if sized else (None,):
            for layout in layouts if sized else ("contiguous",):
                if layout == "broadcast" and not op.kind.startswith("map"):
                    continue
                title = f"{name}{f' {size:g}' if size else ''}{'' if layout == 'contiguous' else ' ' + layout}"
                make = partial(prepared, op=op, oracle=oracle, dtype=dtype, shape=SHAPES.get(size), layout=layout)
                yield Case(title if dtype == "float32" else f"{title} {dtype}", make, family=op.kind, tol=tol)


def summary(rows):
    lines = [f"\n{'family':10}{'thr':>4}{'rows':>6}{'median':>8}{'geomean':>9}{'worst':>8}   where; above 1.5: how many"]
    for family in sorted({r["family"] for r in rows}):
        for threads in sorted({r["threads"] for r in rows}):
            some = [r for r in rows if r["family"] == family and r["threads"] == threads and "ratio" in r]
            if some:
                ratios, worst = [r["ratio"] for r in some], max(some, key=lambda r: r["ratio"])
                lines.append(f"{family:10}{threads:>4}{len(some):>6}{statistics.median(ratios):8.2f}{geometric_mean(ratios):9.2f}"
                             f"{worst['ratio']:8.2f}   {worst['case']}; {sum(x > 1.5 for x in ratios)}")  # fmt: skip
    alone = sorted({r["case"].split()[0] for r in rows if "ratio" not in r and f"{OURS}_error" not in r})
    broken = sorted({r["case"] for r in rows if f"{OURS}_error" in r})
    lines += [f"no {THEIRS} function of that name: {', '.join(alone)}"] * bool(alone)
    return "\n".join(lines + [f"did not run: {', '.join(broken)}"] * bool(broken))


def line(row):
    text = f"{row['family']:11}{row['case']:44}{row['threads']:>2}"
    text += "".join(f"{shown(row[f'{n}_s']) if f'{n}_s' in row else '-':>11}" for n in (OURS, THEIRS))
    if "ratio" in row:
        text += f"{row['ratio']:7.2f}  {row['low']:.2f}-{row['high']:.2f} in {row['pairs']}"
        text += " and " + " ".join(f"{x:.2f}" for x in row["again"]) if "again" in row else ""
    text += "".join(f"   {n}: {row[f'{n}_error']}" for n in (OURS, THEIRS) if f"{n}_error" in row)
    return text + (f"   DIFFERS {row['differs']}" if "differs" in row else "")


def options_of():
    p = parser(__doc__)
    p.add_argument("--sizes", help="by comma (default 10,1000,100000,10000000)")
    p.add_argument("--layouts", help=f"by comma (default {','.join(LAYOUTS)})")
    p.add_argument("--families", default="", help=f"by comma: kinds of rows (map1,map2,map3,fold,scan,own,...), {', '.join(op_families.FAMILIES)}")
    p.add_argument("--avx2", action="store_true", help="no AVX-512 in either library")
    p.add_argument("--add", action="store_true", help="keep the rows that the file has, measure the others")
    options = p.parse_args()
    options.seconds = options.seconds or (0.01 if options.quick else 0.15)
    options.rounds, options.median, options.threads = 1, True, options.threads or ([1] if options.quick else [1, 2])
    options.sizes = [int(float(n)) for n in (options.sizes or ("10,1e5" if options.quick else "10,1e3,1e5,1e7")).split(",")]
    options.layouts = (options.layouts or ("contiguous" if options.quick else ",".join(LAYOUTS))).split(",")
    options.families = [f for f in options.families.split(",") if f]
    options.only = [n for n in options.only.split(",") if n]
    return options


def chosen(options):
    asked = options.sizes, options.layouts, options.families
    yield from row_cases(*asked, {n.split()[0] for n in options.only})
    if not options.quick or options.families:
        yield from op_families.cases(*asked, options.only)


def run():
    options = options_of()
    if options.torch_python and Path(options.torch_python).resolve() != Path(sys.executable).resolve():
        os.execv(options.torch_python, [options.torch_python, *sys.argv])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.avx2:
        os.environ.update(WITHOUT_AVX512)
        lib.fc_set_isa_level(3)
    options.machine, options.cpu = {**machine(), "instructions": cpu.get_cpu_capability()}, options.threads == [1]
    before = json.loads(out_of(options, "ops").read_text()) if options.add else {"rows": []}
    rows, commits = before["rows"], [*before.get("earlier", []), before["machine"]["commit"]] if options.add else []
    try:
        for threads in options.threads:
            there = {r["case"] for r in rows if r["threads"] == threads}
            rows_of((c for c in chosen(options) if c.name not in there), options, threads, lambda row: print(line(row), flush=True), rows)
    except KeyboardInterrupt:
        print("stopped")
    print(summary(rows))
    report("ops", rows, options, torch_version(sys.executable), **{"earlier": commits} if commits else {})


if __name__ == "__main__":
    run()
