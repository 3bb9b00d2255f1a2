"""python operator_drawn.py [--seed N] [--most CASES] REGEX: calls drawn from PyTorch's samples beside PyTorch, one process an entry.

A case is a sample with none to three changes, which may meet: another dtype, 0-d, a number, a size of 1 or 0, other strides, odd values, another
argument; called as function, method, in place (on a leaf, a result or a view) or with some output; with or without requires_grad, and then backward.
Kinds are operator_compare's, operator_layouts' and "requires_grad", "is_leaf", ".grad ..." (of leaves), "after ..." (an argument after the call).
PyTorch itself writes beyond its memory in a few of these (lu_unpack, segment_reduce, avg_pool3d with overlapping outputs): "crash".
"""

import contextlib
import random
import zlib

import facula
import facula.autograd
import torch
from operator_compare import GRADIENT, UNSET, Call, _method, outcome, outcomes, processed, said, unlike, unlike_outcomes
from operator_differences import KNOWN
from operator_extremes import alike, numbers
from operator_layouts import LAYOUTS, bases
from operator_samples import DTYPES, Unserved, counterpart, forget, mirrored, samples, spelt, tensors
from operator_survey import survey

ALL = list(DTYPES)
UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # which have arithmetic here
SLIPS = ("INTERNAL ASSERT FAILED", "MKL")  # no refusal: something broke there


# --- changes ----------------------------------------------------------------------------------------------------------


def cast(r, t):
    dtype = r.choice(ALL)
    return (t.real if t.is_complex() and not dtype.is_complex else t).to(dtype)


def one_number(r, t):
    return t.reshape(-1)[0].clone() if t.numel() else t.new_zeros(())


def python_number(r, t):
    return one_number(r, t).item()


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


CHANGES = [(cast, 5), (one_number, 3), (python_number, 2), (shorter, 5), (laid_out, 5), (permuted, 4), (with_extremes, 3), (lambda r, t: t.unsqueeze(0).clone(), 1), (lambda r, t: t[0].clone(), 1)]


def changed(r, value):
    """Something else in an argument's place."""
    if isinstance(value, torch.Tensor):
        change = r.choices(*zip(*CHANGES))[0]
        with torch.no_grad(), contextlib.suppress(RuntimeError, IndexError, ValueError):
            return change(r, value.detach())
    elif isinstance(value, bool) or value is None:
        return r.choice([True, False, None])
    elif isinstance(value, int):
        return r.choice([value + 1, -value, -1, 0, 1, 2, -2, float(value), torch.tensor(value), (value,), None, 100])
    elif isinstance(value, float):
        return r.choice([0.0, 1.0, -value, value * 10, 0.5, float("inf"), float("nan"), 2, True, torch.tensor(value), None, complex(value, 1)])
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
            made[id(value)] = torch.empty(0, dtype=value.dtype).set_(memory.untyped_storage(), value.storage_offset(), value.shape, value.stride())
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
    made = {}
    return apart(args, made), apart(options, made)


def output(r, t):
    new = t.new_zeros
    return r.choice([
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
            return way, op.op, counterpart(op), {**options, "out": output(r, result) if isinstance(result, torch.Tensor) else tuple(output(r, t) for t in result)}
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
    expected, actual = outcomes(theirs, mine)
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
        if grad:
            found += of_leaves(theirs, mine, expected, actual)
    yield from ((kind, f"{text}: {more}") for kind, more in found)


def of_entry(op, given):
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
            yield from ((kind, text) for kind, text in differences(r, op, r.choice(made[dtype])) if kind not in KNOWN.get(name, ()))


if __name__ == "__main__":
    survey(__doc__, of_entry, {"--seed": dict(type=int, default=0)}, most=100, dtypes=ALL)
