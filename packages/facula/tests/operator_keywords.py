"""PyTorch's samples of its operators, called in each form that it documents: by names, in order, with every default written out, by NumPy's names.

What differs, as (kind, text): operator_compare's kinds behind the way of calling.
"""

import torch
from operator_compare import UNSET, Call, _method, outcome, outcomes, plain, unlike_outcomes
from operator_samples import PATHS, Unserved, at, samples, spelt
from signature_forms import REQUIRED, UNSAID, forms

NUMPY = {"dim": "axis", "keepdim": "keepdims"}
LEFT_OUT = {"out", "generator", "pin_memory"}  # of the defaults that are written out


def places(op):
    """(prefix, name, PyTorch's function, ours) of every way to an entry: functions, methods, in place."""
    for function in (_named(op), getattr(torch, getattr(op.inplace_variant, "__name__", ""), None)):
        path = PATHS.get(id(function))
        if path:
            prefix, _, name = path.rpartition(".")
            yield prefix + "." if prefix else "", name, function, lambda path=path: at(path)
    for variant in (op.method_variant, op.inplace_variant):
        name = getattr(variant, "__name__", "")
        if name and getattr(torch.Tensor, name, None) is variant:
            yield "Tensor.", name, variant, lambda variant=variant: _method(variant)


def _named(op):
    """What an entry calls, or the function of its name where that is a wrapper."""
    if id(op.op) in PATHS:
        return op.op
    found = torch
    for part in op.name.split("."):
        found = getattr(found, part, None)
    return found


def bound(form, s):
    """The sample's arguments by the form's names; None if it is of another form."""
    given, plain = {}, [p for p in form if not p.keyword]
    args = [s.input, *s.args]
    for k, p in enumerate(plain):
        if p.many:
            return None  # *sizes: there is no name to give them
        if k < len(args):
            given[p.name] = args[k]
    names = {p.name for p in form}
    if len(args) > len(plain) or not s.kwargs.keys() <= names - given.keys():
        return None
    given |= s.kwargs
    return given if all(p.name in given for p in form if p.default is REQUIRED) else None


def ways(form, given, method):
    """(label, args, options) of calls that mean the same. A method's own tensor comes first."""
    first = [form[0].name] if method else []
    args = [given[n] for n in first]
    yield "keywords", args, {k: v for k, v in given.items() if k not in first}
    whole = {p.name: given[p.name] if p.name in given else p.default for p in form if p.name in given or p.default is not UNSAID and p.name not in LEFT_OUT}
    yield "defaults", args, {k: v for k, v in whole.items() if k not in first}
    plain = []
    for p in form:
        if p.keyword or p.name not in whole:
            break
        plain.append(p.name)
    yield "order", [whole[n] for n in plain], {k: v for k, v in given.items() if k not in plain}
    if given.keys() & NUMPY.keys():
        yield "numpy", args, {NUMPY.get(k, k): v for k, v in given.items() if k not in first}


def copied(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) and value.layout is torch.strided else value


def of_entry(op, dtypes, most):
    """(kind, text) of all differences of an entry; one sample of each form, way, and set of names given."""
    seen = set()
    for dtype in dtypes:
        for s in samples(op, dtype, False, most) if dtype in op.supported_dtypes("cpu") else ():
            for label, key, theirs, ours, args, options in calls(op, s):
                if key not in seen and (found := differences(op, s, theirs, ours, args, options)) is not None:
                    seen.add(key)
                    yield from ((f"{label} {kind}", f"{spelt(args)}, {spelt(options)}: {text}") for kind, text in found)


def calls(op, s):
    """(label, key, PyTorch's function, ours, args, options) for each place, form and way; calls of one key are alike."""
    for prefix, name, theirs, ours in places(op):
        if prefix != "Tensor." or isinstance(s.input, torch.Tensor):
            for number, form in enumerate(forms(prefix, name, theirs)):
                given = bound(form, s)
                for label, args, options in ways(form, given, prefix == "Tensor.") if given is not None else ():
                    yield f"{prefix}{name} {label}", (prefix, name, number, label, len(args), *options), theirs, ours, args, options


def differences(op, s, theirs, ours, args, options):
    """(kind, text) of one call; None where PyTorch refuses it."""
    fresh = lambda: Call(theirs, tuple(map(copied, args)), {k: copied(v) for k, v in options.items()})
    if isinstance(outcome(fresh()), Exception):
        return None
    try:
        call = fresh()
        found = list(unlike_outcomes(*outcomes(call, call.mirrored(ours()))))
    except Unserved:
        return None
    if any(kind == "value" for kind, _ in found):  # that of the sample as it stands is test_operator_samples.py's business
        known = op.name.split(".")[-1] in UNSET or any(kind == "value" for kind, _ in unlike_outcomes(*outcomes(*plain(op, s))))
        found = [f for f in found if f[0] != "value" or not known]
    return found
