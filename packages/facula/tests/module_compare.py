"""One module through both libraries: what differs, as (kind, text).

Built after the same seed: its class, state, attributes, text. Called: results, gradients of inputs and parameters, of gradients too, state left behind.
Then the same after load_state_dict (from PyTorch's state, and PyTorch's from ours), pickle, deepcopy, to(dtype), channels last and from inputs that
are not contiguous. Kinds are operator_compare's behind the name of the way.
"""

import copy
import pickle

import facula
import facula.autograd
import torch
from operator_compare import outcome, unlike, unlike_outcomes
from operator_samples import DTYPES, Unserved, forget, mirrored, spelt, tensors
from torch.testing._internal.common_utils import noncontiguous_like

HALVES = (torch.float16, torch.bfloat16)
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def _seeded(call):
    torch.manual_seed(3)
    facula.manual_seed(3)
    return outcome(call)


PRIVATE = ("_reversed_padding_repeated_twice", "_flat_weights_names", "_non_persistent_buffers_set", "_qkv_same_embed_dim")  # read by programs all the same


def _text(value):
    """An attribute's value, comparable: functions by their name, no tensors, no modules."""
    if isinstance(value, (torch.Tensor, facula.Tensor, torch.nn.Module, facula.nn.Module)):
        return None
    return getattr(value, "__name__", None) or str(value)


def _attributes(theirs, mine):
    for n, v in vars(theirs).items():
        if (not n.startswith("_") or n in PRIVATE) and not (hasattr(mine, n) and _text(v) == _text(getattr(mine, n))):
            yield "attributes", f"{n}: {_text(getattr(mine, n, 'absent'))} for {_text(v)}"
    yield from (("attributes", f"{n}: not PyTorch's") for n in vars(mine) if not n.startswith("_") and not hasattr(theirs, n))


def of_state(theirs, mine):
    """What the states, texts and attributes of two modules differ in."""
    e, a = theirs.state_dict(), mine.state_dict()
    if list(e) != list(a):
        yield "names", f"{list(a)} for {list(e)}"
        return
    if dict(e._metadata) != dict(a._metadata):
        yield "metadata", f"{a._metadata} for {e._metadata}"
    for k in e:
        yield from ((kind, f"{k}: {text}") for kind, text in _unlike_state(e[k], a[k]))
    for what in ("named_parameters", "named_buffers", "named_modules"):
        names = [n for n, _ in getattr(theirs, what)()], [n for n, _ in getattr(mine, what)()]
        if names[0] != names[1]:
            yield what, f"{names[1]} for {names[0]}"
    for what in (repr, lambda m: m.extra_repr()):
        if what(theirs) != what(mine):
            yield "text", f"{what(mine)} for {what(theirs)}"
    yield from _attributes(theirs, mine)
    if [p.requires_grad for p in theirs.parameters()] != [p.requires_grad for p in mine.parameters()]:
        yield "requires_grad", "of parameters"


def _unlike_state(e, a):
    if isinstance(e, torch.nn.parameter.UninitializedTensorMixin):
        if type(e).__name__ != type(a).__name__:
            yield "type", f"{type(a).__name__} for {type(e).__name__}"
    else:
        yield from unlike(e, a)


def _linspaces(like, start):
    return [torch.linspace(start, start + 3, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype) * (1 + 0.5j if t.is_complex() else 1) for t in like]


def _differentiated(lib, outs, leaves, first, then):
    """Gradients for leaves, and with `then` those of their weighted sum."""
    found = lib.autograd.grad(outs, leaves, first, allow_unused=True, create_graph=then is not None)
    if then is None:
        return found
    kept = [(g, w) for g, w in zip(found, then) if g is not None and g.requires_grad]
    return found + (lib.autograd.grad([g for g, _ in kept], leaves, [w for _, w in kept], allow_unused=True) if kept else ())


def of_call(theirs, mine, called, twice):
    """What the calls differ in: results, gradients, and the state that they leave."""
    forget()
    args, options = called
    ours = mirrored(called)
    expected, actual = _seeded(lambda: theirs(*args, **options)), _seeded(lambda: mine(*ours[0], **ours[1]))
    found = list(unlike_outcomes(_plain(expected), _plain(actual)))
    yield from found
    if isinstance(expected, Exception) or isinstance(actual, Exception) or {k for k, _ in found} - {"stride", "value"}:
        return
    for k, v in theirs.state_dict().items():
        yield from ((f"state {kind}", f"{k}: {text}") for kind, text in unlike(v, mine.state_dict()[k]))
    pairs = [(e, a) for e, a in zip(tensors(_plain(expected)), tensors(_plain(actual))) if e.requires_grad or a.requires_grad]
    if [e.requires_grad for e, _ in pairs] != [a.requires_grad for _, a in pairs]:
        yield "requires_grad", f"{[a.requires_grad for _, a in pairs]} for {[e.requires_grad for e, _ in pairs]}"
        return
    leaves, mirrors = ([t for t in tensors((*c, list(m.parameters()))) if t.requires_grad] for c, m in ((called, theirs), (ours, mine)))
    if not pairs or not leaves:
        return
    first, then = _linspaces([e for e, _ in pairs], -1), _linspaces(leaves, 0.5) if twice else None
    wanted = outcome(lambda: _differentiated(torch, [e for e, _ in pairs], leaves, first, then))
    if isinstance(wanted, Exception) and twice:
        yield from of_call(theirs, mine, called, False)
        return
    forget()
    got = outcome(lambda: _differentiated(facula, [a for _, a in pairs], mirrors, mirrored(first), then and mirrored(then)))
    if isinstance(wanted, Exception) or isinstance(got, Exception):
        yield from ((f"gradient {kind}", text) for kind, text in unlike_outcomes(wanted, got))
        return
    for k, (w, g) in enumerate(itertools_zip(wanted, got)):
        if w is None or g is None:
            present = g if w is None else w
            if present is not None and bool((present != 0).any()):
                yield "gradient absent", f"{k}: {'not None' if w is None else 'None'} for {tuple(present.shape)}"
        else:
            yield from ((f"gradient {kind}", f"{k}: {text}") for kind, text in unlike(w, g, 10 if k < len(leaves) else 100) if kind != "stride")


def itertools_zip(wanted, got):
    return zip(wanted, got) if len(wanted) == len(got) else [(None, None)]


def _plain(value):
    """Packed sequences and named tuples as tuples."""
    return tuple(value) if hasattr(value, "_fields") else tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _changed(called, change):
    """Forward's arguments with every floating tensor changed."""

    def walk(v):
        if isinstance(v, torch.Tensor) and v.layout is torch.strided and (v.is_floating_point() or v.is_complex()):
            return change(v).detach().requires_grad_(v.requires_grad)
        if hasattr(v, "_fields"):
            return type(v)(*map(walk, v))
        return type(v)(map(walk, v)) if isinstance(v, (list, tuple)) else {k: walk(x) for k, x in v.items()} if isinstance(v, dict) else v

    return walk(called)


def _copies(theirs, mine):
    """Pairs of modules that should do the same as these, each with the name of the way to them, and what it raised otherwise."""
    yield "deepcopy", copy.deepcopy(theirs), outcome(lambda: copy.deepcopy(mine))
    text = outcome(lambda: pickle.dumps(theirs))
    if not isinstance(text, Exception):
        yield "pickle", pickle.loads(text), outcome(lambda: pickle.loads(pickle.dumps(mine)))


def _loaded(theirs, mine):
    """The two after each has read the other's state."""
    forget()
    state = theirs.state_dict()
    carried = type(state)((k, mirrored(v)) for k, v in state.items())
    ours = copy.deepcopy(mine)
    for p in ours.parameters():
        p.detach().zero_()
    yield "loaded", theirs, _then(outcome(lambda: ours.load_state_dict(carried)), ours)
    back = type(state)((k, torch.from_numpy(v.detach().float().numpy()).to(state[k].dtype) if v.dtype == facula.bfloat16 else torch.from_numpy(v.detach().numpy())) for k, v in mine.state_dict().items())
    copied = copy.deepcopy(theirs)
    yield "loaded back", _then(outcome(lambda: copied.load_state_dict(back)), copied), mine


def _then(result, module):
    return result if isinstance(result, Exception) else module


def of_sample(entry, s, dtype, training, wide):
    """All differences of one sample in one dtype and mode."""
    forget()
    theirs, mine = _seeded(s.construct), _seeded(s.construct_ours)
    lazy = "Lazy" in s.cls.__name__
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        yield from unlike_outcomes(theirs, mine)
        return
    yield from ((f"new {kind}", text) for kind, text in of_state(theirs, mine))
    theirs.to(dtype).train(training), mine.to(DTYPES[dtype]).train(training)
    if lazy:
        yield from of_call(theirs, mine, s.called, False)
        theirs.zero_grad(), mine.zero_grad()
    for k, v in theirs.state_dict().items():
        yield from ((f"to {kind}", f"{k}: {text}") for kind, text in unlike(v, mine.state_dict()[k]))
    if not wide:
        yield from of_call(theirs, mine, s.called, dtype is torch.float64 and entry.twice)
        return
    ways = [("", copy.deepcopy(theirs), outcome(lambda: copy.deepcopy(mine)), s.called)]
    ways += [(*way, s.called) for way in _copies(theirs, mine)]
    if any(True for _ in theirs.state_dict()):
        ways += [(*way, s.called) for way in _loaded(theirs, mine)]
    ways.append(("strided", theirs, mine, _changed(s.called, lambda v: noncontiguous_like(v) if v.numel() > 1 else v)))
    sizes = {t.ndim for t in tensors(s.called)} & set(LAST)
    for n in sizes:
        formats = LAST[n], facula.channels_last if n == 4 else facula.channels_last_3d
        called = _changed(s.called, lambda v: v.contiguous(memory_format=LAST[n]) if v.ndim == n else v)
        ways.append(("channels last input", copy.deepcopy(theirs), copy.deepcopy(mine), called))
        if theirs.state_dict() and sizes == {n}:
            turned = outcome(lambda: copy.deepcopy(theirs).to(memory_format=formats[0])), outcome(lambda: copy.deepcopy(mine).to(memory_format=formats[1]))
            ways += [("channels last", *turned, s.called), ("channels last both", *turned, called)]
    for name, t, m, called in ways:
        if isinstance(t, Exception) or isinstance(m, Exception):
            found = unlike_outcomes(t, m) if isinstance(t, Exception) or isinstance(m, Exception) else ()
        else:
            found = [*of_state(t, m), *of_call(t, m, called, not name and dtype is torch.float64 and entry.twice)]
        yield from ((f"{name} {kind}".strip(), text) for kind, text in found)


def _spelt(s):
    return f"{s.cls.__name__}({spelt(s.made[0])[1:-1]} {spelt(s.made[1])}) on {spelt(s.called)} {s.text}"


def of_entry(entry, dtypes, most, wide=True):
    """(kind, text) of everything about a module."""
    for dtype in dtypes:
        if dtype not in entry.dtypes() or dtype not in DTYPES:
            continue
        for training in entry.modes():
            for s in entry.samples(dtype, training, most):
                try:
                    for kind, text in of_sample(entry, s, dtype, training, wide):
                        yield kind, f"{str(dtype)[6:]}{'' if training else ' eval'} {_spelt(s)}: {text}"
                except Unserved as missing:
                    yield "missing", f"{_spelt(s)}: {missing}"
        for s in entry.errors(dtype):
            forget()
            theirs, mine = _refused(s, lambda: s.construct(), lambda v: v), _refused(s, s.construct_ours, mirrored)
            yield from ((f"error {kind}", f"{_spelt(s)}: {text}") for kind, text in unlike_outcomes(theirs, mine))


def _refused(s, construct, carried):
    def work():
        args, options = carried(s.called)
        module = construct()
        return module(*args, **options) if args or options else None

    return _seeded(work)
