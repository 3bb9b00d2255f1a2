"""python operator_drawn.py [--seed N] [--most CASES] [--under MODE] REGEX: calls drawn from PyTorch's samples beside PyTorch, one process an entry.

A case is a sample with none to three changes, which may meet: another dtype, 0-d, a number of any sort, a size of 1 or 0, other strides, a view that
conjugates or negates, odd values, another argument, another name for it, one more; called as function, method, in place (on a leaf, a result or a view)
or with some output, the arguments' memory included; in another default dtype; with or without requires_grad, and then backward.
Or, with --under: on the meta device, under vmap, with tangents, and twice backward.
Kinds are operator_compare's, operator_layouts' and "requires_grad", "is_leaf", "version", ".grad ..." (of leaves), "after ..." (an argument after the call).
PyTorch itself writes beyond its memory in a few of these (lu_unpack, segment_reduce, avg_pool3d with overlapping outputs): "crash".
"""

import contextlib
import random
import resource
import zlib

import facula
import facula.autograd
import facula.func
import numpy as np
import operator_forward
import operator_second
import torch
from operator_compare import GRADIENT, UNSET, Call, _method, outcome, outcomes, processed, said, unlike, unlike_outcomes
from operator_differences import KNOWN
from operator_extremes import alike, numbers
from operator_layouts import LAYOUTS, bases
from operator_meta import on_meta as moved
from operator_samples import DTYPES, Unserved, counterpart, forget, mirrored, samples, spelt, tensors, turned
from operator_survey import survey

ALL = list(DTYPES)
HUGE = [2**40, 2**63, 2**64, -(2**63) - 1]
NUMBERS = [True, False, 2, -1, 0.5, 1j, float("inf"), float("nan"), *HUGE, np.float32(1.5), np.float64(0.25), np.int64(3), np.bool_(True), np.complex64(1j)]
NAMED = {"dim": "axis", "axis": "dim", "keepdim": "keepdims", "input": "self", "other": "input", "size": "shape"}
MORE = {  # options that many functions have
    "dtype": ALL, "dim": [0, -1, 1, 5, (0, 1), (), None], "keepdim": [True, False], "alpha": [2, 0.5, True], "correction": [0, 2], "unbiased": [True, False],
    "stable": [True, False], "descending": [True, False], "rounding_mode": ["floor", "trunc", "x"], "device": ["cpu", "x"], "axis": [0, -1], "inplace": [True],
}  # fmt: skip
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # which have arithmetic here
SLIPS = ("INTERNAL ASSERT FAILED", "MKL")  # no refusal: something broke there


# --- changes ----------------------------------------------------------------------------------------------------------


def cast(r, t):
    dtype = r.choice(ALL)
    return (t.real if t.is_complex() and not dtype.is_complex else t).to(dtype)


def one_number(r, t):
    return t.reshape(-1)[0].clone() if t.numel() else t.new_zeros(())


def some_number(r, t):
    """A number where a tensor stood, of some sort."""
    return r.choice([one_number(r, t).item()] * 8 + NUMBERS)


def shorter(r, t):
    d = r.randrange(t.dim())
    return t.narrow(d, 0, min(t.shape[d], r.choice([0, 1, 1]))).clone()


def laid_out(r, t):
    found = r.choice(list(LAYOUTS.values()))(t)
    return t if found is None else found


def permuted(r, t):
    dims = r.sample(range(t.dim()), t.dim())
    return t.permute(dims).contiguous().permute([dims.index(d) for d in range(t.dim())])


def with_extremes(r, t):
    t = t.contiguous().clone()
    for _ in range(r.randrange(1, 4)):
        t.view(-1)[r.randrange(t.numel())] = r.choice(numbers(t.dtype))
    return t


def turned_view(r, t):
    """A view that says of its memory: conjugated, negated, or both."""
    if not t.is_complex():
        return t if t.dtype in (torch.bool, *UNSIGNED) else torch._neg_view(t.clone())  # PyTorch cannot read those views
    return r.choice([lambda: t.clone().conj(), lambda: torch._neg_view(t.clone()), lambda: t.clone().conj().imag, lambda: torch._neg_view(t.clone().conj())])()


def overlapping(r, t):
    """Windows over one memory."""
    return t.reshape(-1)[: sum(t.shape)].clone().as_strided(t.shape, [1] * t.dim())


CHANGES = [
    (cast, 5), (one_number, 3), (some_number, 3), (shorter, 5), (laid_out, 5), (permuted, 4), (with_extremes, 3), (turned_view, 3), (overlapping, 1),
    (lambda r, t: t.unsqueeze(0).clone(), 1), (lambda r, t: t[0].clone(), 1), (lambda r, t: cast(r, one_number(r, t)), 2),
]  # fmt: skip


def changed(r, value):
    """Something else in an argument's place."""
    if isinstance(value, torch.Tensor):
        change = r.choices(*zip(*CHANGES))[0]
        with torch.no_grad(), contextlib.suppress(RuntimeError, IndexError, ValueError):
            return change(r, value.detach())
    elif isinstance(value, bool) or value is None:
        return r.choice([True, False, None])
    elif isinstance(value, int) and value not in HUGE:
        return r.choice([value + 1, -value, -1, 0, 1, 2, -2, float(value), torch.tensor(value), (value,), None, 100, -100, True, np.int64(value), *r.sample(HUGE, 1)])
    elif isinstance(value, float):
        return r.choice([0.0, 1.0, -value, value * 10, 0.5, float("inf"), float("nan"), 2, True, torch.tensor(value), None, complex(value, 1), np.float32(value), np.float64(value), *r.sample(HUGE, 1)])
    elif type(value) in (list, tuple) and value:
        k = r.randrange(len(value))
        return r.choice([value[::-1], value[:1], value[0], (*value, value[k]), (*value[:k], changed(r, value[k]), *value[k + 1 :])])
    elif isinstance(value, torch.dtype):
        return r.choice(ALL)
    return value


def apart(value, made):
    """The value with tensors of their own memory, strides kept; one that comes twice stays one. made: id -> copy."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided:
        if id(value) not in made:
            memory = torch.empty(0, dtype=torch.uint8).set_(value.detach().untyped_storage()).clone()
            plain = torch.empty(0, dtype=value.dtype).set_(memory.untyped_storage(), value.storage_offset(), value.shape, value.stride())
            made[id(value)] = turned(torch, plain, value)
        return made[id(value)]
    if type(value) in (list, tuple):
        return type(value)(apart(v, made) for v in value)
    return {k: apart(v, made) for k, v in value.items()} if isinstance(value, dict) else value


def drawn(r, s):
    """(args, options): the sample with its changes."""
    args, options = [s.input, *s.args], dict(s.kwargs)
    for _ in range(r.choice([0, 1, 1, 1, 2, 2, 3])):
        if options and r.random() < 0.25:
            k = r.choice(list(options))
            options[k] = changed(r, options[k])
        else:
            k = r.randrange(len(args))
            args[k] = changed(r, args[k])
    if options and r.random() < 0.1 and (known := NAMED.keys() & options.keys()):
        options |= {NAMED[k]: options.pop(k) for k in known}
    if r.random() < 0.15:
        k = r.choice(list(MORE))
        options[k] = r.choice(MORE[k])
    made = {}
    return apart(args, made), apart(options, made)


def output(r, t, given):
    """Something for a result to go into: of its shape or not, expanded, or in an argument's memory."""
    new, x = t.new_zeros, r.choice([v for v in given if v.dtype is t.dtype] or [t])
    return r.choice([
        lambda: x, lambda: x.t() if x.dim() == 2 else x[...], lambda: new(()).expand(t.shape), lambda: x.reshape(-1)[1:], lambda: new(t.shape, device="meta"),
        lambda: new(t.shape), lambda: new(0), lambda: new((2, *t.shape)), lambda: new((*t.shape, 2))[..., 1], lambda: new(t.shape, dtype=r.choice(ALL)),
        lambda: new(t.numel()), lambda: new(t.shape[::-1]).permute(tuple(range(t.dim() - 1, -1, -1))),
    ])()  # fmt: skip


# --- cases ------------------------------------------------------------------------------------------------------------


def called(r, op, args, options, grad):
    """(the way's name, PyTorch's function, ours, options), or None where the entry has no such way."""
    way = r.choice(["", "", "method", "in place", "out"])
    if way == "method" and op.method_variant is not None and isinstance(args[0], torch.Tensor):
        return way, op.method_variant, _method(op.method_variant), options
    if way == "in place" and op.inplace_variant is not None and isinstance(args[0], torch.Tensor):
        before = r.choice([lambda x: x, lambda x: x.clone(), lambda x: x.clone().unsqueeze(0)[0]]) if grad else lambda x: x
        return way, *(lambda x, *a, f=f, **o: f(before(x), *a, **o) for f in (op.inplace_variant, _method(op.inplace_variant))), options
    if way == "out" and op.supports_out and not grad:
        made = {}
        result = outcome(Call(op.op, tuple(apart(args, made)), apart(options, made)))
        if isinstance(result, torch.Tensor) or isinstance(result, tuple) and all(isinstance(t, torch.Tensor) for t in result):
            given = [t for t in tensors((args, options)) if t.layout is torch.strided]
            return way, op.op, counterpart(op), {**options, "out": output(r, result, given) if isinstance(result, torch.Tensor) else tuple(output(r, t, given) for t in result)}
    return "", op.op, counterpart(op), options


def of_results(theirs, mine, expected, actual):
    for e, a in zip(tensors(expected), tensors(actual)):
        for name in ("requires_grad", "is_leaf"):
            if getattr(e, name) != getattr(a, name):
                yield name, f"{getattr(a, name)} for {getattr(e, name)}"
    yield from bases(expected, actual, theirs, mine)


def of_leaves(theirs, mine, expected, actual):
    """What the gradients of the leaves differ in, after backward."""
    pairs = [(e, a) for e, a in zip(tensors(expected), tensors(actual)) if e.requires_grad and a.requires_grad]
    if not pairs:
        return
    weights = [torch.linspace(-1, 2, e.numel(), dtype=torch.float64).reshape(e.shape).to(e.dtype) for e, _ in pairs]
    wanted = outcome(lambda: torch.autograd.backward([e for e, _ in pairs], weights))
    forget()
    found = outcome(lambda: facula.autograd.backward([a for _, a in pairs], mirrored(weights)))
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        if (wanted is None) != (found is None):
            yield ".grad " + ("answers" if found is None else "raises"), said(found or wanted)
        return
    for leaf, ours in zip(*(list(tensors((c.args, c.options))) for c in (theirs, mine))):
        if leaf.is_leaf and leaf.requires_grad and leaf.grad is not None and ours.grad is not None:
            yield from ((".grad " + kind, text) for kind, text in unlike(leaf.grad, ours.grad, GRADIENT) if not kind.startswith("is_"))


def differences(r, op, s):
    """(kind, text) of one case."""
    args, options = drawn(r, s)
    grad = r.random() < 0.4
    for t in tensors((args, options)):
        if grad and (t.is_floating_point() or t.is_complex()) and r.random() < 0.8:
            t.requires_grad_()
    way, function, ours, options = called(r, op, args, options, grad)
    theirs = Call(function, tuple(args), options)
    text = f"{way} {spelt(args)}, {spelt(options)}{' with gradients' if grad else ''}".strip()
    mine = theirs.mirrored(ours)
    unsigned = any(t.dtype in UNSIGNED for t in tensors((args, options))) or any(v in UNSIGNED for v in options.values() if isinstance(v, torch.dtype))
    versions = [[t._version for t in tensors((c.args, c.options))] for c in (theirs, mine)]
    with default_dtype(r.choice([torch.float32] * 6 + [torch.float64, torch.float16, torch.bfloat16])) as name:
        expected, actual = outcomes(theirs, mine)
    text = f"{name} {text}".strip()
    if isinstance(expected, Exception) and (unsigned or any(slip in str(expected) for slip in SLIPS)):
        return
    found = list(unlike_outcomes(expected, actual, unset=op.name.split(".")[-1] in UNSET))
    if {kind for kind, _ in found} == {"value"}:
        with contextlib.suppress(Exception):  # what the entry does with its results is made for unchanged samples
            if alike(expected, actual, True) or not list(unlike(*processed(s, expected, actual))):
                found = []
    if not found and not isinstance(expected, Exception):
        found += of_results(theirs, mine, expected, actual)
        if way in ("in place", "out"):
            pairs = zip(*(tensors((c.args, c.options)) for c in (theirs, mine)))
            found += [("after " + kind, more) for e, a in pairs for kind, more in unlike(e.detach(), a.detach()) if kind != "value"]
            written = [[t._version > v for t, v in zip(tensors((c.args, c.options)), old)] for c, old in zip((theirs, mine), versions)]
            if written[0] != written[1] and way == "in place":  # an output may be a view of an argument in PyTorch alone, by mirrored()
                found += [("version", f"{written[1]} for {written[0]}")]
        if grad:
            found += of_leaves(theirs, mine, expected, actual)
    yield from ((kind, f"{text}: {more}") for kind, more in found)


@contextlib.contextmanager
def default_dtype(dtype):
    """Both libraries' default dtype; its name where it is not float32."""
    torch.set_default_dtype(dtype)
    facula.set_default_dtype(DTYPES[dtype])
    try:
        yield "" if dtype is torch.float32 else f"default {dtype}"
    finally:
        torch.set_default_dtype(torch.float32)
        facula.set_default_dtype(facula.float32)


# --- under transforms -------------------------------------------------------------------------------------------------


def on_meta(r, op, s):
    """Without memory; strides count where PyTorch's meta device agrees with its CPU."""
    args, options = drawn(r, s)
    dense = outcome(Call(op.op, *apart((tuple(args), options), {})))
    move = lambda v: type(v)(map(move, v)) if type(v) in (list, tuple) else {k: move(x) for k, x in v.items()} if isinstance(v, dict) else moved(v)
    theirs = Call(op.op, tuple(move(args)), move(options))
    text = f"{spelt(args)}, {spelt(options)}"
    mine = theirs.mirrored(counterpart(op))
    expected, actual = outcomes(theirs, mine)
    if isinstance(expected, NotImplementedError) or isinstance(expected, Exception) != isinstance(dense, Exception):
        return
    same = isinstance(dense, Exception) or all(d.stride() == e.stride() for d, e in zip(tensors(dense), tensors(expected)))
    yield from ((kind, f"{text}: {more}") for kind, more in unlike_outcomes(expected, actual, unset=True) if kind != "stride" or same)


def under_vmap(r, op, s):
    """Tensors with one dim more, somewhere, over which vmap goes."""
    args, options = drawn(r, s)
    dims, outer = [], r.choice([0, 0, -1])

    def batched(v):
        if isinstance(v, torch.Tensor) and not v.requires_grad and (not dims or r.random() < 0.6):
            at = r.randrange(-v.dim() - 1, v.dim() + 1)
            dims.append(at)
            return torch.stack([v, v.clone().zero_() if v.dtype in UNSIGNED or not v.dim() else v.flip(0)], at)
        dims.append(None)
        return v

    flat = [batched(v) if isinstance(v, torch.Tensor) else v for v in args]
    where = tuple(dims.pop(0) if isinstance(v, torch.Tensor) else None for v in flat)
    if not any(d is not None for d in where):
        return
    level = lambda lib, f: lambda *a: lib.func.vmap(lambda *b: f(*b, **a[-1]), in_dims=where, out_dims=outer)(*a[:-1])
    theirs = Call(level(torch, op.op), (*flat, options), {})
    mine = theirs.mirrored(level(facula, counterpart(op)))
    expected, actual = outcomes(theirs, mine)
    whole, ours = plain_outcomes(op, args, options)
    if isinstance(expected, Exception) or list(unlike_outcomes(whole, ours)) or [t.dtype for t in tensors(expected)] != [t.dtype for t in tensors(whole)]:
        return  # PyTorch's batching rules promote, and decompose, as the call itself does not
    found = list(unlike_outcomes(expected, actual))
    if {kind for kind, _ in found} == {"value"} and alike(expected, actual, True):
        return
    yield from ((kind, f"{spelt(flat)}, {spelt(options)} over {where} to {outer}: {more}") for kind, more in found if kind != "stride")


def plain_outcomes(op, args, options):
    """What the call itself gives in both."""
    theirs = Call(op.op, tuple(args), options)
    return outcomes(theirs, theirs.mirrored(counterpart(op)))


def recorded(r, op, s):
    args, options = drawn(r, s)
    for t in tensors((args, options)):
        if t.dtype in (torch.float64, torch.complex128):
            t.requires_grad_()
    theirs = Call(op.op, tuple(args), options)
    return theirs, theirs.mirrored(counterpart(op)), f"{spelt(args)}, {spelt(options)}"


def twice(r, op, s):
    """Gradients of gradients."""
    theirs, mine, text = recorded(r, op, s)
    yield from ((kind, f"{text}: {more}") for kind, more in operator_second.of_calls(s, theirs, mine))


def with_tangents(r, op, s):
    theirs, mine, text = recorded(r, op, s)
    yield from ((kind, f"{text}: {more}") for kind, more in operator_forward.of_calls(s, theirs, mine))


UNDER = {"": differences, "meta": on_meta, "vmap": under_vmap, "twice": twice, "tangents": with_tangents}


MEMORY = 6 << 30  # bytes: what draws more is refused in both libraries


def of_entry(op, given):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # of this entry's process alone
    name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
    r = random.Random(zlib.crc32(name.encode()) + given.seed)
    made = {}
    for _ in range(given.most):
        dtype = r.choice([d for d in given.dtypes if d in op.supported_dtypes("cpu")] or [None])
        if dtype is not None and dtype not in made:
            made[dtype] = [s for s in samples(op, dtype, False, 40) if sum(t.numel() for t in tensors((s.input, s.args, s.kwargs))) < 3000]
        if not made.get(dtype):
            continue
        with contextlib.suppress(Unserved):
            yield from ((kind, text) for kind, text in UNDER[given.under](r, op, r.choice(made[dtype])) if kind not in KNOWN.get(name, ()))


if __name__ == "__main__":
    OPTIONS = {"--seed": dict(type=int, default=0), "--under": dict(default="", choices=list(UNDER))}
    survey(__doc__, of_entry, OPTIONS, most=100, dtypes=ALL)
