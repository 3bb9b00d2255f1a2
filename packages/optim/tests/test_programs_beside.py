"""Small programs over optimizers, schedules and averaged models: what they give beside PyTorch, where it is installed."""

import importlib
import copy
import pickle

import pytest
from backend import torch
from cases import difference

pytest.importorskip("facula.nn")
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def error(f, *args, **kwargs):
    """The class of the exception: the nearest one that is built in."""
    try:
        f(*args, **kwargs)
    except Exception as e:
        return next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
    return "nothing raised"


def rows(T, *shape):
    return (T.arange(shape[0] * shape[1], dtype=T.float64) * 0.7 + 1).sin().reshape(shape)


def plain(value, T):
    if isinstance(value, T.Tensor):
        return [list(value.shape), value.detach().double().reshape(-1).tolist()]
    if isinstance(value, dict):
        return {str(k): plain(v, T) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, T) for v in value]
    return repr(value) if value in (float("inf"), float("-inf")) else float(value) if type(value) is int else value


@program
def closed_forms(T):
    S = T.optim.lr_scheduler
    out = []
    for mk in (
        lambda o: S.StepLR(o, 3, 0.5),
        lambda o: S.MultiStepLR(o, [2, 5]),
        lambda o: S.ExponentialLR(o, 0.9),
        lambda o: S.CosineAnnealingLR(o, 7),
        lambda o: S.LambdaLR(o, lambda e: 0.9**e),
        lambda o: S.ConstantLR(o),
        lambda o: S.LinearLR(o),
        lambda o: S.PolynomialLR(o, 5),
        lambda o: S.CosineAnnealingWarmRestarts(o, 3),
        lambda o: S.CyclicLR(o, 0.1, 0.2, cycle_momentum=False),
        lambda o: S.OneCycleLR(o, 0.5, total_steps=20),
    ):
        o = T.optim.SGD([T.ones(1, requires_grad=True)], 0.3)
        s = mk(o)
        r = []
        for e in (4, 5, 2, None, None, 9):
            o.step()
            s.step(e) if e is not None else s.step()
            r.append(s.get_last_lr()[0])
        out.append(r)
        out.append(s.last_epoch)
    return out


@program
def plateau(T):
    S = T.optim.lr_scheduler
    o = T.optim.SGD([{"params": [T.ones(1, requires_grad=True)], "lr": 0.3}, {"params": [T.ones(1, requires_grad=True)]}], 0.1)
    s = S.ReduceLROnPlateau(o, "max", factor=0.5, patience=1, threshold=0.1, threshold_mode="abs", cooldown=1, min_lr=[0.05, 0.01], eps=1e-4)
    r = []
    for m in (1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1):
        s.step(m)
        r.append([g["lr"] for g in o.param_groups])
    sd = {k: v for k, v in s.state_dict().items()}
    t = S.ReduceLROnPlateau(o)
    t.load_state_dict(sd)
    return [
        r,
        {k: (v if not callable(v) else "f") for k, v in sd.items()},
        t.num_bad_epochs,
        t.best,
        error(S.ReduceLROnPlateau, o, factor=1.0),
        error(S.ReduceLROnPlateau, o, min_lr=[1]),
        error(S.ReduceLROnPlateau, o, mode="x"),
        s.get_last_lr(),
    ]


@program
def schedule_states(T):
    S = T.optim.lr_scheduler
    out = []
    for mk in (
        lambda o: S.StepLR(o, 3, 0.5),
        lambda o: S.CosineAnnealingWarmRestarts(o, 3),
        lambda o: S.CyclicLR(o, 0.1, 0.2, cycle_momentum=False),
        lambda o: S.OneCycleLR(o, 0.5, total_steps=20),
        lambda o: S.SequentialLR(o, [S.ConstantLR(o), S.ExponentialLR(o, 0.9)], [2]),
        lambda o: S.ChainedScheduler([S.ConstantLR(o), S.ExponentialLR(o, 0.9)]),
        lambda o: S.LambdaLR(o, lambda e: 0.5**e),
        lambda o: S.ReduceLROnPlateau(o),
    ):
        o = T.optim.SGD([T.ones(1, requires_grad=True)], 0.3, momentum=0.9)
        s = mk(o)
        for e in range(4):
            o.step()
            s.step(*([1.0] if "Plateau" in type(s).__name__ else []))
        sd = s.state_dict()
        out.append(
            {
                k: (
                    v
                    if isinstance(v, (int, float, list, dict, str, bool, type(None))) and k not in ("_schedulers", "lr_lambdas")
                    else str(type(v).__name__)
                )
                for k, v in sd.items()
            }
        )
        o2 = T.optim.SGD([T.ones(1, requires_grad=True)], 0.3, momentum=0.9)
        s2 = mk(o2)
        s2.load_state_dict(sd)
        o2.load_state_dict(o.state_dict())
        o2.step()
        s2.step(*([1.0] if "Plateau" in type(s).__name__ else []))
        out.append(o2.param_groups[0]["lr"])
    return out


@program
def resumed(T):
    S = T.optim.lr_scheduler
    o = T.optim.SGD([{"params": [T.ones(1, requires_grad=True)], "initial_lr": 0.3}], 0.1)
    s = S.StepLR(o, 3, last_epoch=4)
    return [
        s.get_last_lr(),
        s.base_lrs,
        error(S.StepLR, T.optim.SGD([T.ones(1)], 0.1), 3, last_epoch=4),
        error(S.StepLR, 3, 3),
        error(S.OneCycleLR, o, 0.1),
        error(S.OneCycleLR, o, 0.1, total_steps=-1),
        error(S.CyclicLR, T.optim.Adam([T.ones(1)]), 0.1, 0.2),
        error(S.SequentialLR, o, [s], [1]),
        error(S.ChainedScheduler, []),
        error(S.CosineAnnealingWarmRestarts, o, 0),
        error(S.LambdaLR, o, [lambda e: 1, lambda e: 2]),
        error(S.LinearLR, o, start_factor=2),
        error(S.ConstantLR, o, factor=2),
    ]


@program
def tensor_lr(T):
    S = T.optim.lr_scheduler
    o = T.optim.Adam([T.ones(1, requires_grad=True)], T.tensor(0.3))
    s = S.ExponentialLR(o, 0.9)
    o.step()
    s.step()
    return [isinstance(o.param_groups[0]["lr"], T.Tensor), float(o.param_groups[0]["lr"])]


@program
def swa(T):
    U = T.optim.swa_utils
    T.manual_seed(1)
    m = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Linear(4, 2)).double()
    out = []
    for kw in (
        {},
        {"use_buffers": True},
        {"avg_fn": U.get_ema_avg_fn(0.9)},
        {"multi_avg_fn": U.get_ema_multi_avg_fn(0.9)},
        {"multi_avg_fn": U.get_swa_multi_avg_fn()},
        {"avg_fn": U.get_swa_avg_fn()},
    ):
        a = U.AveragedModel(m, **kw)
        for k in range(3):
            with T.no_grad():
                for p in m.parameters():
                    p.add_(0.1 * (k + 1))
            m(rows(T, 5, 3))
            a.update_parameters(m)
        out += [a.n_averaged, list(a.state_dict()), a.module[0].weight, a(rows(T, 5, 3))]
    U.update_bn([rows(T, 5, 3), (rows(T, 4, 3), 1)], a)
    out += [a.module[1].running_mean, a.module[1].momentum]
    o = T.optim.SGD(m.parameters(), 0.5)
    s = U.SWALR(o, 0.05, anneal_epochs=4)
    r = []
    for _ in range(6):
        o.step()
        s.step()
        r.append(s.get_last_lr()[0])
    o = T.optim.SGD(m.parameters(), 0.5)
    s = U.SWALR(o, [0.05], anneal_epochs=4, anneal_strategy="linear")
    for _ in range(6):
        o.step()
        s.step()
        r.append(s.get_last_lr()[0])
    return out + [
        r,
        error(U.SWALR, o, 0.1, anneal_strategy="x"),
        error(U.get_ema_avg_fn, 2.0),
        {k: v for k, v in s.state_dict().items() if not callable(v)},
    ]


@program
def optimizer_api(T):
    p = [T.nn.Parameter(T.ones(2)), T.nn.Parameter(T.ones(3))]
    seen = []
    O = T.optim
    M = importlib.import_module(T.__name__ + ".optim.optimizer")
    o = O.SGD([("a", p[0])], 0.1)
    o.add_param_group({"params": [("b", p[1])], "lr": 0.5})
    seen += [repr(o), [g["param_names"] for g in o.param_groups]]
    h = [
        o.register_step_pre_hook(lambda o, a, k: seen.append("pre")),
        o.register_step_post_hook(lambda o, a, k: seen.append("post")),
        o.register_state_dict_pre_hook(lambda o: seen.append("sdpre")),
        o.register_state_dict_post_hook(lambda o, sd: seen.append(sorted(sd))),
        o.register_load_state_dict_pre_hook(lambda o, sd: seen.append("lpre")),
        o.register_load_state_dict_post_hook(lambda o: seen.append("lpost")),
    ]
    g = [
        M.register_optimizer_step_pre_hook(lambda o, a, k: seen.append("gpre")),
        M.register_optimizer_step_post_hook(lambda o, a, k: seen.append("gpost")),
    ]
    o.step()
    o.load_state_dict(o.state_dict())
    [x.remove() for x in h + g]
    o.step()
    sd = o.state_dict()
    seen.append({k: v for k, v in sd["param_groups"][0].items()})
    seen += [
        error(o.add_param_group, {"params": [p[0]]}),
        error(o.add_param_group, {"params": [("c", p[0])]}),
        error(o.add_param_group, 3),
        error(O.SGD, [], 0.1),
        error(O.SGD, T.ones(1), 0.1),
        error(O.SGD, [1], 0.1),
        error(O.SGD, [p[0] * 2], 0.1),
        error(O.SGD, {p[0]}, 0.1),
        error(O.SGD, [{"params": {p[0]}}], 0.1),
        error(O.SGD, [p[0], ("x", p[1])], 0.1),
        error(O.SGD, [("x", p[0]), ("x", p[1])], 0.1),
        error(O.SGD, p, -1),
        error(O.Adam, p, betas=(1.0, 0.9)),
        error(O.Adam, p, eps=-1),
        error(O.Adam, p, foreach=True, fused=True),
        error(O.SGD, p, 0.1, nesterov=True),
        error(O.LBFGS, [{"params": p}, {"params": []}]),
        error(O.RMSprop, p, alpha=-1),
        error(O.Rprop, p, etas=(2, 0.5)),
        error(O.Adam, p, lr=T.tensor([1.0, 2.0])),
        error(O.ASGD, p, lr=-1),
        error(O.Adadelta, p, rho=2),
        error(O.Adagrad, p, lr_decay=-1),
        error(O.Adam, p, T.tensor(0.1), foreach=True),
        error(O.Adam, p, 0.1, fused=True, differentiable=True),
        error(O.Muon, p),
    ]
    seen.append(error(o.load_state_dict, O.SGD([p[0]], 0.1).state_dict()))
    seen.append(error(O.Optimizer(p, {}).step))
    o = O.Adam(p)
    seen.append(error(O.SGD(p, 0.1).load_state_dict, {"param_groups": [{"params": [0]}], "state": {}}))
    seen.append(error(O.Optimizer, [{"params": p}], {"lr": M.required}))
    return seen


@program
def zero_and_pickle(T):

    p = T.nn.Parameter(T.ones(2))
    o = T.optim.Adam([p], 0.1)
    p.grad = T.ones(2)
    o.step()
    c = copy.deepcopy(o)
    q = pickle.loads(pickle.dumps(o))
    o.zero_grad(set_to_none=False)
    r = [p.grad]
    o.zero_grad()
    r.append(p.grad is None)
    return r + [repr(c), q.state_dict()["param_groups"], list(q.state.values())[0]["exp_avg"], len(c.state)]


@program
def schedules_keep_their_functions(T):
    S = T.optim.lr_scheduler
    out = []
    for options in ({"mode": "triangular"}, {"mode": "triangular2"}, {"mode": "exp_range", "gamma": 0.9}, {"scale_fn": lambda x: 0.5**x}):
        make = lambda: S.CyclicLR(T.optim.SGD([T.ones(1, requires_grad=True)], 0.1), 0.1, 0.2, 3, cycle_momentum=False, **options)  # noqa: E731, B023
        one, other = make(), make()
        [one.step() for _ in range(4)]
        state = pickle.loads(pickle.dumps(one.state_dict()))
        other.load_state_dict(dict(state))
        out += [sorted(set(state) - {"_is_initial"}), hasattr(one, "_scale_fn_ref"), [other.scale_fn(x) for x in (1, 2, 3.5)], other.scale_mode]
    one = S.OneCycleLR(T.optim.SGD([T.ones(1, requires_grad=True)], 0.1), 0.1, 9, cycle_momentum=False)
    del one._anneal_func_type
    one.load_state_dict({"anneal_func": S.OneCycleLR._annealing_linear})  # as before PyTorch 2.3
    for _ in range(4):
        one.step()
    return out + [one.get_last_lr(), S.OneCycleLR._annealing_cos(1, 2, 0.3)]


@program
def a_step_has_gradients_in_every_state(T):
    out = []
    for cls, keys in ((T.optim.Adam, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")), (T.optim.NAdam, ("exp_avg", "exp_avg_sq", "mu_product"))):
        p = rows(T, 2, 3).requires_grad_()
        p = p.clone()
        p.grad = rows(T, 2, 3).cos().requires_grad_()
        o = cls([p], 0.1, differentiable=True, **({"amsgrad": True} if cls is T.optim.Adam else {}))
        leaves = [T.tensor(0.9, dtype=T.float64, requires_grad=True) if k == "mu_product" else (rows(T, 2, 3) ** 2 + 0.1).requires_grad_() for k in keys]
        o.state[p].update({"step": T.tensor(3.0, dtype=T.float64), **{k: t.clone() for k, t in zip(keys, leaves)}})
        o.step()
        total = (p * rows(T, 2, 3)).sum() + sum(o.state[p][k].sum() for k in keys)
        out.append(T.autograd.grad(total, [p.grad, *leaves]))
    return out


# name: (lists of state, 0.0 unless a number follows; the formula's numbers)
BY_LISTS = {
    "adam": ("exp_avgs exp_avg_sqs max_exp_avg_sqs=[] state_steps", dict(amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8, maximize=False)),
    "adamw": ("exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps", dict(amsgrad=True, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8, maximize=True)),
    "adamax": ("exp_avgs exp_infs state_steps", dict(eps=1e-8, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01)),
    "nadam": ("exp_avgs exp_avg_sqs mu_products=1 state_steps", dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, momentum_decay=4e-3, eps=1e-8)),
    "radam": ("exp_avgs exp_avg_sqs state_steps", dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8, decoupled_weight_decay=True)),
    "adagrad": ("state_sums state_steps", dict(lr=0.1, weight_decay=0.01, lr_decay=0.1, eps=1e-8, maximize=False)),
    "adadelta": ("square_avgs acc_deltas state_steps", dict(lr=0.1, rho=0.9, eps=1e-6, weight_decay=0.01, maximize=False)),
    "rmsprop": ("square_avgs grad_avgs momentum_buffer_list state_steps", dict(lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.01, momentum=0.9, centered=True)),
    "rprop": ("prevs step_sizes=0.1 state_steps", dict(step_size_min=1e-6, step_size_max=50, etaminus=0.5, etaplus=1.2)),
    "asgd": ("axs mus=1 etas=0.1 state_steps", dict(lambd=1e-4, lr=0.1, t0=1e6, alpha=0.75, weight_decay=0.01)),
    "sgd": ("momentum_buffer_list=None", dict(weight_decay=0.01, momentum=0.9, lr=0.1, dampening=0.1, nesterov=False, maximize=False)),
}


@program
def optimizers_as_functions_of_lists(T):
    out = []
    for name, (lists, numbers) in BY_LISTS.items():
        step = getattr(importlib.import_module(f"{T.__name__}.optim.{name}"), name)
        for dtype in (T.float64, T.complex128):
            params = [(T.arange(3) + k).to(dtype) for k in range(2)]
            state = []
            for part in lists.split():
                what, _, start = part.partition("=")
                one = what in ("state_steps", "mu_products", "mus", "etas")
                fresh = [T.full(() if one else (3,), float(start or 0), dtype=None if one else dtype) for _ in params] if start not in ("[]", "None") else []
                state.append([None, None] if start == "None" else fresh)
            for k in range(3):
                with T.no_grad():
                    step(params, [p * 0.3 + k for p in params], *state, **numbers)
            out.append([T.view_as_real(t) if t.is_complex() else t for column in (params, *state) for t in column])
    p, momentum = T.ones(2, requires_grad=True), [None]
    sgd = importlib.import_module(T.__name__ + ".optim.sgd").sgd
    options = BY_LISTS["sgd"][1]
    out.append([error(sgd, [p], [T.ones(2)], momentum, **options), error(sgd, [p], [T.ones(2)])])
    adam = importlib.import_module(T.__name__ + ".optim.adam").adam
    q, zeros = T.ones(2, dtype=T.float64, requires_grad=True) * 2, lambda: [T.zeros(2, dtype=T.float64)]
    adam([q], zeros(), zeros(), zeros(), [], [T.zeros(())], differentiable=True, **BY_LISTS["adam"][1])
    out.append([q.grad_fn is not None, error(adam, [q], zeros(), zeros(), zeros(), [], [0], **BY_LISTS["adam"][1])])
    return out


@program
def sequences_take_back_their_parts(T):
    S = T.optim.lr_scheduler
    o = T.optim.SGD([T.ones(1, requires_grad=True)], 0.3)
    inner = S.SequentialLR(o, [S.ConstantLR(o), S.StepLR(o, 1)], [2])
    s = S.SequentialLR(o, [inner, S.ExponentialLR(o, 0.5)], [3])
    s.recursive_undo()
    counts = [c.last_epoch for c in (*inner._schedulers, *s._schedulers[1:])]
    s.recursive_undo(inner)
    return [counts, [c.last_epoch for c in inner._schedulers]]


@program
def gradients_without_a_value(T):
    O, out = T.optim, []
    strange = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0]
    for line in (
        "SGD(p, 0.1, momentum=0.9)", "Adam(p, 0.1, amsgrad=True)", "Adamax(p, 0.1)", "NAdam(p, 0.1)", "RAdam(p, 0.1)", "Adagrad(p, 0.1)", "Adadelta(p, 0.1)", "ASGD(p, 0.1)",
        "RMSprop(p, 0.1, centered=True, momentum=0.5)", "Rprop(p, 0.1)", "Adafactor(p, 0.1)",
    ):  # fmt: skip
        p = [T.ones(7, requires_grad=True)]
        optimizer = eval(line, {**vars(O), "p": p})
        for grad in (T.ones(7), T.tensor(strange), -T.ones(7), T.tensor(strange)):
            p[0].grad = grad
            optimizer.step()
        values = [p[0], *(v for v in optimizer.state_dict()["state"][0].values() if isinstance(v, T.Tensor))] if optimizer.state else p
        out.append([f"{x:.5g}" for v in values for x in v.flatten().tolist()])
    return out


@program
def what_a_group_says_of_its_own(T):
    def end(kind, group, **options):
        p, q = T.full((2, 3), 0.5, requires_grad=True), T.full((3, 2), -0.5, requires_grad=True)
        optimizer = getattr(T.optim, kind)([{"params": [p], **group}, {"params": [q]}], lr=0.1, **options)
        for _ in range(3):
            p.grad, q.grad = p.detach() + 0.1, q.detach() * 2
            optimizer.step()
        return [p, q, optimizer.state_dict()["state"]]

    return plain([
        end("Adagrad", {"initial_accumulator_value": 0.5}), end("Adagrad", {"lr_decay": 0.5}, initial_accumulator_value=0.25), end("Rprop", {"lr": 0.5, "etas": (0.4, 1.5)}),
        end("ASGD", {"lr": 0.5, "t0": 1.0}), end("RMSprop", {"centered": True}), end("Adam", {"amsgrad": True, "betas": (0.5, 0.6)}), end("NAdam", {"momentum_decay": 0.1}),
    ], T)  # fmt: skip


@program
def gradients_of_another_dtype(T):
    out = []
    for kind in ("SGD", "RMSprop", "Adagrad", "Adadelta", "ASGD", "Rprop", "Adafactor", "Muon"):
        p = T.full((2, 3), 0.5, requires_grad=True)
        p.grad_dtype = None
        p.grad = T.full((2, 3), 0.25, dtype=T.float64)
        optimizer = getattr(T.optim, kind)([p], lr=0.1)
        optimizer.step()
        out.append([kind, plain(p, T), {k: str(v.dtype) for k, v in optimizer.state[p].items()} if optimizer.state else {}])
    return [o if o[0] != "Muon" else o[2] for o in out]


@program
def words_of_other_optimizers_in_a_group(T):
    out = []
    for kind in ("SGD", "Rprop", "Adam", "SparseAdam"):
        p = T.full((2,), 0.5, requires_grad=True)
        optimizer = getattr(T.optim, kind)([p], lr=0.1)
        optimizer.param_groups[0].update({"weight_decay": 0.5, "momentum": 0.0, "eps": 1e-3, "alpha": 0.1, "rho": 0.5})
        for _ in range(2):
            p.grad = T.tensor([0.1, -0.2])
            p.grad = p.grad.to_sparse(1) if kind == "SparseAdam" else p.grad
            optimizer.step()
        out.append(plain(p, T))
    return out


@program
def tensors_where_lists_are_stepped(T):
    def step(kind, change, **options):
        p = T.ones(2, requires_grad=True)
        optimizer = getattr(T.optim, kind)([p], **options)
        optimizer.param_groups[0].update(change)
        p.grad = T.ones(2)
        return error(optimizer.step)

    rate, betas = {"lr": T.tensor(0.1)}, {"betas": (T.tensor(0.5), T.tensor(0.6))}
    return [step(kind, change, foreach=foreach) for kind in ("Adam", "AdamW", "SGD", "NAdam", "Adamax") for change in (rate, betas) for foreach in (True, False, None) if kind in ("Adam", "AdamW") or "lr" in change]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_gives_what_it_gives_on_pytorch(run):
    other = pytest.importorskip("torch")

    assert difference(plain(run(other), other), plain(run(torch), torch), 1e-8) is None
