"""Optimizers and learning rate schedules through both libraries, over PyTorch's own inputs (OptimizerInfo): what differs, as (kind, text).

The same parameters get the same gradients; after each step parameters and state_dict (names, order, types, values) must agree. Then each loads
the other's state_dict and goes on. Kinds are operator_compare's behind "parameter", "state", "loaded ..." and "back ...".
"""

import copy
import itertools
import pickle
import warnings

import facula
import facula.optim
import torch
from operator_compare import outcome, unlike, unlike_outcomes
from operator_samples import DTYPES, forget, mirrored
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

STEPS = 6
SHAPES = ((3, 4), (5,), (), (2, 3, 2), (0,))
IMPLS = ({}, {"foreach": False}, {"foreach": True}, {"fused": True}, {"fused": False}, {"foreach": True, "fused": True}, {"capturable": True})


def entries():
    return {info.name: info for info in optim_db}


def counterpart(cls):
    return getattr(facula.optim, cls.__name__)


def inputs(info):
    """Options of every kind that PyTorch tests, those for GPUs too."""
    found = {}
    for device in ("cpu", "cuda"):
        for made in info.optim_inputs_func(device=device):
            found.setdefault(str(made.kwargs), made.kwargs)
    return list(found.values())


# --- what both are given ----------------------------------------------------------------------------------------------


def parameters(info, dtype):
    torch.manual_seed(5)
    shapes = ((3, 4), (5, 2)) if info.name == "Muon" else SHAPES[:-1] if info.name == "Adafactor" else SHAPES  # which PyTorch's divides by
    made = [torch.nn.Parameter(torch.randn(s, dtype=dtype)) for s in shapes]
    return [*made, torch.nn.Parameter(torch.ones(2, 2, dtype=dtype))]  # the last gets no gradient


def gradient(p, step, sparse):
    torch.manual_seed(100 * step + p.numel())
    g = torch.randn_like(p.detach()) if step != 2 else torch.zeros_like(p.detach())
    if sparse and p.dim():
        g[..., 0] = 0
        return g.to_sparse()
    return g


def ours_of(params):
    return [facula.nn.Parameter(mirrored(p.detach())) for p in params]


def sparse_of(g):
    if g.layout is torch.strided:
        return mirrored(g)
    g = g.coalesce()
    return facula.sparse_coo_tensor(mirrored(g.indices()), mirrored(g.values()), tuple(g.shape))


# --- comparison -------------------------------------------------------------------------------------------------------


def unlike_states(expected, actual, at="", times=1):
    """As unlike, and the names and types of what is no tensor."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or list(expected) != list(actual):
            yield "names", f"{at}: {list(actual) if isinstance(actual, dict) else actual} for {list(expected)}"
            return
        for k in expected:
            yield from unlike_states(expected[k], actual[k], f"{at}.{k}", times)
    elif isinstance(expected, (list, tuple)) and not isinstance(expected, torch.Tensor):
        if not isinstance(actual, type(expected)) or len(actual) != len(expected):
            yield "type", f"{at}: {actual} for {expected}"
            return
        for k, (e, a) in enumerate(zip(expected, actual)):
            yield from unlike_states(e, a, f"{at}.{k}", times)
    elif isinstance(expected, torch.Tensor):
        dense = (expected.to_dense(), actual.to_dense()) if expected.layout is not torch.strided else (expected, actual)
        yield from ((kind, f"{at}: {text}") for kind, text in unlike(*dense, times))
    elif isinstance(expected, float) and type(actual) is float:
        if abs(expected - actual) > 1e-6 * abs(expected) + 1e-7 and expected == expected:
            yield "value", f"{at}: {actual} for {expected}"
    elif type(actual) is not type(expected) and type(expected).__module__ == "builtins":
        yield "type", f"{at}: {type(actual).__name__} for {type(expected).__name__}"
    elif isinstance(expected, (bool, int, str, type(None))) and actual != expected:
        yield "value", f"{at}: {actual} for {expected}"


def carried(state):
    """A state_dict of PyTorch's as ours."""
    forget()
    return copy.deepcopy(_carried(state))


def _carried(value):
    if isinstance(value, torch.Tensor):
        return sparse_of(value)
    if isinstance(value, dict):
        return {k: _carried(v) for k, v in value.items()}
    return type(value)(map(_carried, value)) if isinstance(value, (list, tuple)) else mirrored(value)


def carried_back(value):
    if isinstance(value, facula.Tensor):
        if value.is_sparse:
            value = value.coalesce()
            return torch.sparse_coo_tensor(carried_back(value.indices()), carried_back(value.values()), tuple(value.shape))
        if value.dtype is facula.bfloat16:
            return torch.from_numpy(value.detach().float().numpy().copy()).bfloat16()
        return torch.from_numpy(value.detach().numpy().copy())
    if isinstance(value, dict):
        return {k: carried_back(v) for k, v in value.items()}
    return type(value)(map(carried_back, value)) if isinstance(value, (list, tuple)) else value


class Run:
    """One library's optimizer over its parameters."""

    def __init__(self, lib, cls, params, options, closure=False):
        self.lib, self.params, self.closure = lib, params, closure
        half = len(params) // 2
        self.optimizer = cls(params, **options) if closure or half == 0 else cls([{"params": params[:half]}, {"params": params[half:]}], **options)

    def step(self, gradients):
        for p, g in zip(self.params, gradients):
            p.grad = g
        if not self.closure:
            return self.optimizer.step()

        def closure():
            self.optimizer.zero_grad()
            loss = sum((p - k).abs().pow(2).sum() for k, p in enumerate(self.params))
            loss.backward()
            return loss

        return self.optimizer.step(closure)


def _both(theirs, mine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(theirs), outcome(mine)


def of_options(info, options, dtype, sparse=False, steps=STEPS):
    """All differences of one set of options, over several steps, and after each has read the other's state."""
    forget()
    params = parameters(info, dtype)
    if sparse:
        params = params[:1]
    ours = ours_of(params)
    closure = info.step_requires_closure
    theirs, mine = _both(
        lambda: Run(torch, info.optim_cls, params, copy.deepcopy(options), closure),
        lambda: Run(facula, counterpart(info.optim_cls), ours, mirrored(copy.deepcopy(options)), closure),
    )
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        yield from unlike_outcomes(theirs, mine)
        return
    if repr(theirs.optimizer) != repr(mine.optimizer):
        yield "text", f"{mine.optimizer!r} for {theirs.optimizer!r}"
    yield from (("defaults " + k, t) for k, t in unlike_states(theirs.optimizer.defaults, mine.optimizer.defaults))
    ends = []
    for step in range(steps):
        found = list(_stepped(theirs, mine, step, sparse, ends))
        yield from found
        if any(kind != "state type" for kind, _ in found) or ends:
            return
    for (label, *pair), step in itertools.product(_reread(info, theirs, mine, params, ours, options, closure), range(steps, steps + 2)):
        if isinstance(pair[0], Exception) or isinstance(pair[1], Exception):
            yield from ((f"{label} {kind}", text) for kind, text in unlike_outcomes(*pair))
            return
        found = list(_stepped(*pair, step, sparse, ends))
        yield from ((f"{label} {kind}", text) for kind, text in found)
        if any(kind != "state type" for kind, _ in found) or ends:
            return


def _stepped(theirs, mine, step, sparse, ends):
    forget()
    gradients = [gradient(p, step, sparse) for p in theirs.params[: max(1, len(theirs.params) - 1)]]
    expected, actual = _both(lambda: theirs.step(gradients), lambda: mine.step([sparse_of(g) for g in gradients]))
    yield from ((f"step {kind}", f"{step}: {text}") for kind, text in unlike_outcomes(expected, actual))
    if isinstance(expected, Exception):
        ends.append(expected)
        return
    for k, (p, q) in enumerate(zip(theirs.params, mine.params)):
        yield from ((f"parameter {kind}", f"step {step}, {k}: {text}") for kind, text in unlike(p, q, 10))
    yield from ((f"state {kind}", f"step {step}{text}") for kind, text in unlike_states(theirs.optimizer.state_dict(), mine.optimizer.state_dict(), times=10))


def _reread(info, theirs, mine, params, ours, options, closure):
    """Fresh optimizers over copies of the parameters, each with the other's state; and unpickled ones."""
    forget()
    here, there = ours_of(params), [torch.nn.Parameter(p.detach().clone()) for p in params]

    def fresh(lib, cls, parameters, state, carry):
        run = Run(lib, cls, parameters, carry(copy.deepcopy(options)), closure)
        run.optimizer.load_state_dict(state())
        return run

    mirror = outcome(lambda: fresh(facula, counterpart(info.optim_cls), here, lambda: carried(theirs.optimizer.state_dict()), mirrored))
    back = outcome(lambda: fresh(torch, info.optim_cls, there, lambda: carried_back(mine.optimizer.state_dict()), lambda v: v))
    yield "loaded", back, mirror
    copied = outcome(lambda: copy.deepcopy(theirs)), outcome(lambda: copy.deepcopy(mine))
    yield "copied", *copied
    dumped = outcome(lambda: pickle.loads(pickle.dumps(theirs.optimizer))), outcome(lambda: pickle.loads(pickle.dumps(mine.optimizer)))
    if not any(isinstance(d, Exception) for d in dumped):
        yield "pickled", *(_of_optimizer(run, d) for run, d in zip((theirs, mine), dumped))
    elif isinstance(dumped[1], Exception):
        yield "pickled", *dumped


def _of_optimizer(run, optimizer):
    made = object.__new__(Run)
    made.lib, made.closure, made.optimizer = run.lib, run.closure, optimizer
    made.params = [p for group in optimizer.param_groups for p in group["params"]]
    return made


def of_differentiable(info, options, dtype):
    """A step that gradients go through: those of a starting value and of the gradient."""
    forget()
    start = torch.linspace(-1, 2, 12, dtype=dtype).reshape(3, 4).requires_grad_()
    weight = torch.linspace(2, -1, 12, dtype=dtype).reshape(3, 4).requires_grad_()
    starts, weights = mirrored(start), mirrored(weight)

    def work(lib, cls, start, weight, options):
        p, g = start.clone(), weight * 1
        optimizer = cls([p], **{**options, "differentiable": True})
        for k in range(3):
            p.grad = g * (k + 1)
            optimizer.step()
        return (p, *lib.autograd.grad((p * p).sum(), [start, weight]))

    torch.manual_seed(0)
    expected, actual = _both(
        lambda: work(torch, info.optim_cls, start, weight, copy.deepcopy(options)),
        lambda: work(facula, counterpart(info.optim_cls), starts, weights, mirrored(copy.deepcopy(options))),
    )
    # PyTorch counts steps in float32, and powers of the betas with it
    yield from ((f"differentiable {kind}", text) for kind, text in unlike_outcomes(expected, actual, times=100) if kind != "stride")


def of_errors(info):
    for e in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        forget()
        given = e.optimizer_error_input
        plain = [torch.nn.Parameter(torch.ones(2, 2))]

        def work(cls, params, options, step=e.error_on is OptimizerErrorEnum.STEP_ERROR):
            with warnings.catch_warnings():
                warnings.simplefilter("error" if e.error_type is UserWarning else "ignore")
                optimizer = cls(params, **options)
                if step:
                    for group in optimizer.param_groups:
                        for p in group["params"]:
                            p.grad = p.detach() * 0 if p.grad is None else p.grad
                    optimizer.step()

        def carry(value):
            if isinstance(value, torch.Tensor):
                made = sparse_of(value.detach()).requires_grad_(value.requires_grad)
                return MADE.setdefault(id(value), facula.nn.Parameter(made) if isinstance(value, torch.nn.Parameter) else made)
            if isinstance(value, dict):
                return {k: carry(v) for k, v in value.items()}
            return type(value)(map(carry, value)) if isinstance(value, (list, tuple)) else value

        MADE = {}
        theirs = plain if given.params is None else given.params
        expected = outcome(lambda: work(info.optim_cls, copy.copy(theirs), given.kwargs))
        MADE.clear()
        actual = outcome(lambda: work(counterpart(info.optim_cls), carry(theirs), carry(given.kwargs)))
        yield from ((f"error {kind}", f"{given.desc}: {text}") for kind, text in unlike_outcomes(expected, actual))


def of_entry(info, dtypes, impls=IMPLS):
    """(kind, text) of everything about an optimizer."""
    if info.optim_error_inputs_func:
        yield from of_errors(info)
    sparse = info.only_supports_sparse_grads
    for options, impl in itertools.product(inputs(info), impls):
        for dtype in dtypes if not impl or impl == {"foreach": True} else dtypes[:1]:
            if dtype in DTYPES and not (info.step_requires_closure and dtype is not torch.float64):
                what = f"{str(dtype)[6:]} {options | impl}"
                yield from ((kind, f"{what}: {text}") for kind, text in of_options(info, options | impl, dtype, sparse))
    for options in inputs(info):
        yield from ((kind, f"{options}: {text}") for kind, text in of_differentiable(info, options, torch.float64))
        other = not sparse  # sparse gradients where dense ones are meant, and the reverse
        yield from ((f"sparse {kind}" if other else f"dense {kind}", f"{options}: {text}") for kind, text in of_options(info, options, torch.float64, other, 3))
