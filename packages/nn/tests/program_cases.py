"""Small programs over a backend T. What each returns (tensors, numbers, text, exception classes) must be what PyTorch's does."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict
from importlib import import_module

PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def error(f, *args, **kwargs):
    """The exception class by name: the nearest one that is built in."""
    try:
        f(*args, **kwargs)
    except Exception as e:
        return next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins")
    return "nothing raised"


def data(T, *shape, grad=False):
    n = 1
    for k in shape:
        n *= k
    t = (T.arange(n, dtype=T.float64) * 0.7 + 1).sin().reshape(shape)
    return t.requires_grad_() if grad else t


def net(T):
    T.manual_seed(1)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4), T.nn.Sequential(T.nn.ReLU(), T.nn.Linear(4, 2, bias=False))).double()


# -- Module: registration and attributes


@program
def attributes_go_where_their_type_says(T):
    m = T.nn.Module()
    m.p, m.b, m.c, m.plain = T.nn.Parameter(T.ones(2)), T.nn.Buffer(T.zeros(1)), T.nn.ReLU(), 3
    m.n = T.nn.Buffer(T.zeros(2), persistent=False)
    seen = [list(m._parameters), list(m._buffers), list(m._modules), m.plain, list(m.state_dict())]
    m.p, m.b, m.c = None, None, None
    seen += [m.p, m.b, m.c, list(m.state_dict())]
    m.b = T.ones(3)
    del m.c
    return seen + [list(m.state_dict()), hasattr(m, "c"), list(dict(m.named_buffers()))]


@program
def a_name_changes_its_home(T):
    m = T.nn.Module()
    m.x = 1
    m.x = T.nn.Parameter(T.ones(1))
    m.x = T.nn.ReLU() if False else T.nn.Parameter(T.zeros(1))
    seen = [list(m._parameters), "x" in m.__dict__]
    del m.x
    m.x = T.nn.Linear(1, 1)
    m.x = T.nn.Parameter(T.ones(1))
    return seen + [list(m._parameters), list(m._modules)]


@program
def what_cannot_be_registered(T):
    m = T.nn.Linear(2, 3)

    class Bare(T.nn.Module):
        def __init__(self, what):
            self.x = what

    return [
        error(lambda: m.foo),
        error(m.add_module, "a.b", T.nn.ReLU()),
        error(m.add_module, "", T.nn.ReLU()),
        error(m.add_module, "weight", T.nn.ReLU()),
        error(m.add_module, "x", 3),
        error(m.add_module, 3, T.nn.ReLU()),
        error(m.register_parameter, "x", 3),
        error(m.register_parameter, "x", T.ones(2)),
        error(m.register_parameter, "in_features", None),
        error(m.register_buffer, "x", 3),
        error(m.register_buffer, "weight", T.ones(1)),
        error(setattr, m, "weight", T.ones(2)),
        error(setattr, T.nn.Sequential(m), "0", 3),
        error(setattr, T.nn.BatchNorm1d(2), "running_mean", 3),
        error(Bare, T.nn.ReLU()),
        error(Bare, T.nn.Parameter(T.ones(1))),
        error(T.nn.Module, 3),
        error(T.nn.Module(), 1),
        error(m.get_submodule, "a.b"),
        error(m.get_parameter, "in_features"),
        error(m.get_buffer, "weight"),
        error(m.train, 3),
        error(m.to, T.int32),
        error(m.requires_grad_, 3) if False else "",
        error(T.nn.Linear, 2, 3, dtype=T.int32),
        error(T.nn.Dropout, 3),
        error(T.nn.Parameter, 3) if False else "",
    ]


@program
def names_and_members_in_order(T):
    m = net(T)
    m.tied = m[0]
    return [
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(prefix="p", remove_duplicate=False)],
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_parameters(recurse=False)],
        [n for n, _ in m.named_buffers("p")],
        [n for n, _ in m.named_children()],
        len(list(m.modules())),
        [type(c).__name__ for c in m.children()],
        list(m.state_dict(prefix="q.")),
        m.get_submodule("2.1").in_features,
        tuple(m.get_parameter("2.1.weight").shape),
        sorted(set(dir(m)) & {"tied", "forward", "training"}),
    ]


@program
def submodules_can_be_replaced_by_path(T):
    m = net(T)
    m.set_submodule("2.0", T.nn.Tanh())
    return [repr(m), error(m.set_submodule, "", T.nn.ReLU()), error(m.set_submodule, "2.7", T.nn.ReLU(), strict=True)]


@program
def repr_nests_and_groups(T):
    inner = T.nn.ModuleDict({"a": T.nn.Linear(1, 2), "b": T.nn.ModuleList([T.nn.ReLU(), T.nn.ReLU(), net(T), net(T)])})
    lists = T.nn.ParameterList([T.nn.Parameter(T.ones(2)), T.ones(2, 3), 3])
    dicts = T.nn.ParameterDict({"a": T.nn.Parameter(T.ones(2)), "b": 3})
    return [repr(inner), repr(T.nn.ModuleList()), repr(lists), repr(dicts), repr(T.nn.Parameter(T.ones(2)))]


@program
def training_mode_and_requires_grad_reach_all(T):
    m = net(T).eval()
    seen = [k.training for k in m.modules()]
    m.train().requires_grad_(False)
    return seen + [k.training for k in m.modules()] + [p.requires_grad for p in m.parameters()]


@program
def apply_runs_children_first(T):
    order = []
    m = net(T)
    same = m.apply(lambda k: order.append(type(k).__name__)) is m
    return order + [same]


@program
def conversions_keep_parameters_and_skip_integers(T):
    m = net(T)
    before = list(m.parameters())
    seen = []
    for convert in (lambda: m.half(), lambda: m.bfloat16(), lambda: m.float(), lambda: m.to(T.float64), lambda: m.to("cpu", T.float32), lambda: m.to(T.ones(1).double()), lambda: m.type(T.float32)):
        convert()
        seen.append([str(v.dtype).split(".")[-1] for v in m.state_dict().values()])
    return seen + [all(a is b for a, b in zip(before, m.parameters()))]


@program
def zero_grad_drops_or_fills(T):
    m = net(T)
    m(data(T, 5, 3)).sum().backward()
    m.zero_grad(set_to_none=False)
    seen = [float(p.grad.abs().sum()) for p in m.parameters()]
    m.zero_grad()
    return seen + [p.grad for p in m.parameters()]


@program
def copies_are_deep_and_pickles_whole(T):
    m = net(T)
    m[0].weight.requires_grad_(False)
    c, p = copy.deepcopy(m), pickle.loads(pickle.dumps(m))
    x = data(T, 5, 3)
    c[0].bias.data.add_(1.0)
    return [m(x), c(x), p(x), [q.requires_grad for q in c.parameters()], [q.requires_grad for q in p.parameters()], type(c[0].weight).__name__]


# -- state


@program
def state_loads_strictly_or_not(T):
    m, other = net(T), T.nn.Linear(2, 3)
    s = m.state_dict()
    result = m.load_state_dict(s)
    missing = other.load_state_dict({"weight": T.zeros(3, 2), "q": T.ones(1)}, strict=False)
    return [
        repr(result), repr(missing), other.weight, s._metadata, type(s).__name__,
        error(other.load_state_dict, {"weight": T.zeros(3, 2)}),
        error(other.load_state_dict, {"weight": T.zeros(3, 3), "bias": T.zeros(3)}, strict=False),
        error(other.load_state_dict, {"weight": 3, "bias": T.zeros(3)}),
        error(other.load_state_dict, 3),
    ]  # fmt: skip


@program
def state_can_be_assigned(T):
    m = T.nn.Linear(2, 1)
    given = {"weight": T.ones(1, 2, dtype=T.float64), "bias": T.nn.Parameter(T.ones(1))}
    m.bias.requires_grad_(False)
    m.load_state_dict(given, assign=True)
    return [m.weight, str(m.weight.dtype).split(".")[-1], m.bias is given["bias"], m.weight.requires_grad, m.bias.requires_grad]


@program
def state_is_detached_unless_kept(T):
    m = T.nn.Linear(2, 1)
    s, kept = m.state_dict(), m.state_dict(keep_vars=True)
    return [s["weight"].requires_grad, kept["weight"] is m.weight, error(lambda: m.state_dict(T.nn.Linear)) if False else ""]


@program
def state_hooks_run(T):
    m, seen = net(T), []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: seen.append(("pre", prefix, keep)))
    m[0].register_state_dict_post_hook(lambda mod, s, prefix, meta: s.__delitem__(prefix + "bias"))
    handle = m[1].register_load_state_dict_pre_hook(lambda mod, s, prefix, *rest: seen.append(("load", type(mod).__name__, prefix)))
    m.register_load_state_dict_post_hook(lambda mod, keys: keys.missing_keys.clear())
    s = m.state_dict()
    seen += [list(s), repr(m.load_state_dict(s))]
    handle.remove()
    m.load_state_dict(s)
    c = copy.deepcopy(m)
    c.load_state_dict(s)
    return seen


@program
def extra_state_travels(T):
    class Counter(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    a, b = T.nn.Sequential(Counter(), T.nn.Linear(1, 1)), T.nn.Sequential(Counter(), T.nn.Linear(1, 1))
    a[0].count = 5
    b.load_state_dict(a.state_dict())
    return [list(a.state_dict()), b[0].count, error(b.load_state_dict, b[1].state_dict())]


# -- hooks


@program
def forward_hooks_see_and_replace(T):
    m, x, seen = T.nn.Linear(2, 2).double(), data(T, 1, 2), []
    T.nn.init.constant_(m.weight, 0.5)
    T.nn.init.zeros_(m.bias)
    h1 = m.register_forward_pre_hook(lambda mod, args: (args[0] * 2,))
    m.register_forward_pre_hook(lambda mod, args, kwargs: seen.append(len(args)), with_kwargs=True, prepend=True)
    m.register_forward_hook(lambda mod, args, out: out + 1)
    with m.register_forward_hook(lambda mod, args, kwargs, out: seen.append(sorted(kwargs)), with_kwargs=True):
        seen.append(m(x))
    h1.remove()
    return seen + [m(x), len(m._forward_hooks), len(m._forward_pre_hooks)]


@program
def a_forward_hook_can_be_called_always(T):
    class Broken(T.nn.Module):
        def forward(self, x):
            raise RuntimeError("no")

    seen, m = [], Broken()
    m.register_forward_hook(lambda mod, args, out: seen.append(("always", out)), always_call=True)
    m.register_forward_hook(lambda mod, args, out: seen.append("never"))
    return [error(m, 1), seen]


@program
def global_hooks_see_every_module(T):
    module = import_module(T.nn.Module.__module__)
    seen, m = [], net(T)
    handles = [
        module.register_module_forward_pre_hook(lambda mod, args: seen.append("pre " + type(mod).__name__)),
        module.register_module_forward_hook(lambda mod, args, out: seen.append("post " + type(mod).__name__)),
        module.register_module_parameter_registration_hook(lambda mod, name, p: seen.append(name)),
        module.register_module_module_registration_hook(lambda mod, name, k: seen.append(name)),
        module.register_module_buffer_registration_hook(lambda mod, name, b: seen.append(name)),
    ]
    m(data(T, 5, 3))
    m.x, m.y = T.nn.Parameter(T.ones(1)), T.nn.ReLU()
    m.register_buffer("z", T.ones(1))
    for h in handles:
        h.remove()
    m(data(T, 5, 3))
    return seen


@program
def backward_hooks_see_and_replace(T):
    m, x, seen = net(T), data(T, 5, 3, grad=True), []
    m[0].register_full_backward_hook(lambda mod, gi, go: seen.extend([len(gi), gi[0], go[0]]))
    m[2].register_full_backward_hook(lambda mod, gi, go: (gi[0] * 2,))
    m[2].register_full_backward_pre_hook(lambda mod, go: (go[0] * 3,))
    m(x).square().sum().backward()
    return seen + [x.grad, m[2][1].weight.grad]


@program
def backward_hooks_without_input_gradients(T):
    m, seen = T.nn.Linear(3, 2).double(), []
    m.register_full_backward_hook(lambda mod, gi, go: seen.append([gi[0], go[0]]))
    T.nn.init.ones_(m.weight)
    m(data(T, 2, 3)).sum().backward()
    with T.no_grad():
        m(data(T, 2, 3))
    return seen


# -- containers


@program
def sequential_is_a_list(T):
    s = T.nn.Sequential(T.nn.ReLU(), T.nn.Tanh(), T.nn.Sigmoid())
    names = OrderedDict([("a", T.nn.ReLU()), ("b", T.nn.Tanh())])
    seen = [repr(s[1:]), repr(s[-1]), len(s), repr(T.nn.Sequential(names)[0]), list(T.nn.Sequential(names)._modules)]
    s.append(T.nn.ELU()).insert(0, T.nn.CELU())
    s.extend([T.nn.GELU()])
    s[1] = T.nn.SELU()
    del s[2]
    seen += [repr(s), repr(s.pop(0)), repr(s + T.nn.Sequential(T.nn.ReLU())), repr(T.nn.Sequential(T.nn.ReLU()) * 2), T.nn.ReLU() in s]
    return seen + [error(lambda: s[9]), error(T.nn.Sequential, 3), error(lambda: s + 3), error(s.insert, 99, T.nn.ReLU())]


@program
def module_list_is_a_list(T):
    s = T.nn.ModuleList([T.nn.ReLU(), T.nn.Tanh()])
    s.append(T.nn.ELU())
    s.insert(1, T.nn.CELU())
    s += [T.nn.GELU()]
    seen = [repr(s), repr(s[1:3]), len(s), [type(m).__name__ for m in s], repr(s.pop(-1)), repr(s + [T.nn.ReLU()])]
    del s[0:2]
    return seen + [repr(s), error(lambda: s[5]), error(T.nn.ModuleList, [3]), error(s.extend, 3), error(s, 1)]


@program
def module_dict_is_a_dict(T):
    d = T.nn.ModuleDict([["a", T.nn.ReLU()], ["b", T.nn.Tanh()]])
    d["c"] = T.nn.ELU()
    d.update({"a": T.nn.GELU()})
    seen = [repr(d), list(d), len(d), "a" in d, [k for k, _ in d.items()], repr(d.pop("b"))]
    d.clear()
    return seen + [len(d), error(T.nn.ModuleDict, {"a": 3}), error(T.nn.ModuleDict, {3: T.nn.ReLU()}), error(T.nn.ModuleDict, 3), error(lambda: d["q"])]


@program
def parameter_lists_and_dicts(T):
    p = T.nn.ParameterList([T.ones(1), T.nn.Parameter(T.zeros(2))])
    p.append(T.ones(3))
    p[0] = T.zeros(4)
    p += [T.ones(5)]
    d = T.nn.ParameterDict({"a": T.ones(1), "b": T.nn.Parameter(T.zeros(2))})
    d["c"] = T.ones(3)
    e = d | T.nn.ParameterDict({"a": T.zeros(7)})
    seen = [len(p), [tuple(v.shape) for v in p], [type(v).__name__ for v in p[1:3]], list(p.state_dict()), error(lambda: p[9]), error(p, 1)]
    seen += [list(d), tuple(d.pop("a").shape), list(d.state_dict()), list(e.keys()), tuple(e["a"].shape), tuple(d.setdefault("z", T.ones(2)).shape), d.get("nope"), len(d)]
    return seen + [[k for k, _ in d.items()], list(reversed(d)), d.popitem()[0], error(lambda: d["q"])]


# -- init


@program
def initial_values_for_a_seed(T):
    I, seen = T.nn.init, []
    fills = [
        lambda t: I.uniform_(t, -1, 2), lambda t: I.normal_(t, 1, 2), lambda t: I.trunc_normal_(t), lambda t: I.trunc_normal_(t, 1.0, 2.0, 3.0, 4.0),
        lambda t: I.constant_(t, 3), I.ones_, I.zeros_, I.eye_, I.xavier_uniform_, lambda t: I.xavier_normal_(t, 2.0), I.kaiming_uniform_,
        lambda t: I.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), lambda t: I.kaiming_uniform_(t, a=0.3), lambda t: I.sparse_(t, 0.4),
    ]  # fmt: skip
    for fill in fills:
        T.manual_seed(5)
        t = T.empty(5, 7)
        seen.append(fill(t) is t)
        seen.append(t)
    return seen


@program
def initial_values_of_convolution_weights(T):
    I = T.nn.init
    T.manual_seed(5)
    t = T.nn.Parameter(T.empty(4, 3, 3))
    return [I.dirac_(t), I.dirac_(T.empty(4, 2, 2, 3), 2), I.kaiming_normal_(t), t.requires_grad, [I.calculate_gain(n) for n in ("linear", "tanh", "relu", "selu", "leaky_relu", "sigmoid", "conv2d")], I.calculate_gain("leaky_relu", 0.3)]


@program
def orthogonal_rows_or_columns(T):
    T.manual_seed(5)
    a, b = T.nn.init.orthogonal_(T.empty(5, 3, dtype=T.float64)), T.nn.init.orthogonal_(T.empty(2, 3, 2, dtype=T.float64), 2.0).reshape(2, 6)
    return [a.t() @ a, b @ b.t()]


@program
def what_cannot_be_initialised(T):
    I = T.nn.init
    return [
        error(I.eye_, T.empty(3)), error(I.dirac_, T.empty(3, 3)), error(I.xavier_uniform_, T.empty(3)), error(I.kaiming_uniform_, T.empty(3, 3), mode="x"),
        error(I.calculate_gain, "nope"), error(I.orthogonal_, T.empty(3)), error(I.sparse_, T.empty(3), 0.1), error(I.calculate_gain, "leaky_relu", "x"),
    ]  # fmt: skip


# -- functions


@program
def in_place_activations_give_the_same(T):
    F, seen = T.nn.functional, []
    for f in (F.relu, F.relu6, F.elu, F.selu, F.celu, F.leaky_relu, F.silu, F.mish, F.hardswish, F.hardtanh):
        x = data(T, 3, 4, grad=True)
        y = x * 3
        z = f(y, inplace=True)
        z.sum().backward()
        seen += [z is y, z, x.grad]
    y = data(T, 2, 3)
    seen.append(F.hardsigmoid(y.clone(), inplace=True))  # without gradient: PyTorch's is by a float32 sixth in float64
    return seen + [F.threshold_(y.clone(), 0.1, 7.0), F.relu_(y.clone()), F.elu_(y.clone()), F.hardtanh_(y.clone()), F.leaky_relu_(y.clone())]


@program
def activations_at_special_values(T):
    F, inf, nan = T.nn.functional, float("inf"), float("nan")
    x = T.tensor([nan, inf, -inf, 0.0, -0.0, 1e30, -1e30, 3.0, -3.0, 6.0, 0.5, -0.5], dtype=T.float64)
    names = "relu relu6 elu selu celu leaky_relu hardtanh hardsigmoid hardswish hardshrink softshrink softplus logsigmoid softsign tanhshrink threshold gelu".split()
    seen = []
    for name in names:
        z = x.clone().requires_grad_()
        y = getattr(F, name)(z) if name != "threshold" else F.threshold(z, 0.5, 2.0)
        y.sum().backward()
        seen += [y] + ([z.grad] if name in "relu relu6 leaky_relu hardtanh hardshrink softshrink softplus".split() else [])
    return seen


@program
def gumbel_softmax_draws(T):
    T.manual_seed(6)
    x = data(T, 3, 4)
    return [T.nn.functional.gumbel_softmax(x, 0.7), T.nn.functional.gumbel_softmax(x, 1.0, hard=True)]


@program
def padding_modes(T):
    F, x = T.nn.functional, data(T, 2, 3, 4)
    return [
        F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 1), value=3.0), F.pad(x, (-1, 2, 0, -1)), F.pad(x, (1, 1), mode="reflect"), F.pad(x, (2, 1), mode="circular"),
        F.pad(x, (2, 1), mode="replicate"), error(F.pad, x, (4, 0), mode="reflect"), error(F.pad, x, (1,)), error(F.pad, x, (5, 0), mode="circular"), error(F.pad, x, (-3, -3)),
    ]  # fmt: skip


@program
def one_hot_and_its_refusals(T):
    F, t = T.nn.functional, T.tensor
    return [F.one_hot(t([0, 2, 1])), F.one_hot(t([[0, 2]]), 4), error(F.one_hot, t([0.5])), error(F.one_hot, t([-1])), error(F.one_hot, t([3]), 2)]


@program
def attention_with_masks(T):
    f = T.nn.functional.scaled_dot_product_attention
    q, k, v = data(T, 2, 4, 3, 5, grad=True), data(T, 2, 4, 6, 5) * 2, data(T, 2, 4, 6, 2) + 1
    mask = (T.arange(18).reshape(3, 6) % 4) != 0
    empty = mask & (T.arange(3) != 1).reshape(3, 1)
    outs = [f(q, k, v), f(q, k, v, is_causal=True), f(q, k, v, mask), f(q, k, v, mask.double()), f(q, k, v, empty), f(q, k, v, scale=0.3), f(q, k[:, :2], v[:, :2], enable_gqa=True)]
    sum(o.square().sum() for o in outs).backward()
    return outs + [q.grad, error(f, q, k, v, mask, is_causal=True)]


@program
def grid_sampling(T):
    F = T.nn.functional
    x, theta = data(T, 1, 2, 4, 5, grad=True), T.tensor([[[0.9, 0.3, 0.2], [-0.4, 1.1, 0.1]]], dtype=T.float64, requires_grad=True)
    outs = []
    for align in (False, True):
        grid = F.affine_grid(theta, (1, 2, 3, 4), align_corners=align)
        outs.append(grid)
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                outs.append(F.grid_sample(x, grid * 1.3, mode, padding, align))
    sum(o.square().sum() for o in outs).backward()
    t3 = T.tensor([[[1.0, 0.1, 0, 0.2], [0, 0.8, 0.1, 0], [0.1, 0, 1.0, -0.3]]], dtype=T.float64)
    g3 = F.affine_grid(t3, (1, 1, 2, 3, 2), align_corners=False)
    y = data(T, 1, 1, 3, 2, 4)
    return outs + [x.grad, theta.grad, g3, F.grid_sample(y, g3, align_corners=True), F.grid_sample(y, g3, "nearest", "border", False)]


@program
def antialiased_resampling(T):
    F, x = T.nn.functional, data(T, 1, 2, 7, 9)
    return [F.interpolate(x, size=(3, 12), mode=mode, antialias=True, align_corners=False) for mode in ("bilinear", "bicubic")] + [
        F.interpolate(x, scale_factor=0.4, mode="bilinear", antialias=True), F.interpolate(x, scale_factor=(0.5, 2.0), mode="area"), error(F.interpolate, x), error(F.interpolate, x, size=3, mode="linear"), error(F.interpolate, x, size=(1, 2, 3)),
    ]  # fmt: skip


@program
def distances(T):
    F, x, y = T.nn.functional, data(T, 4, 3, grad=True), data(T, 4, 3) + 1
    outs = [F.pdist(x), F.pdist(x, 1.0), F.cosine_similarity(x, y, dim=0), F.normalize(x), F.normalize(x, p=1.0, dim=0), F.pairwise_distance(x, y, p=3.0)]
    sum(o.sum() for o in outs).backward()
    return outs + [x.grad]


@program
def losses_refuse(T):
    F, x, t = T.nn.functional, data(T, 3, 4), T.tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            error(F.nll_loss, x, t([0, 5, 1])), error(F.nll_loss, x, t([0, 1])), error(F.nll_loss, x, t([0.0, 1, 2])), error(F.cross_entropy, x, t([0, 1, -1])),
            error(F.cross_entropy, x, t([0, 1, 2]), weight=T.ones(3)), error(F.cross_entropy, x, t([0, 1, 2]), label_smoothing=2.0), error(F.binary_cross_entropy, x, x),
            error(F.binary_cross_entropy, x.abs(), x[0]), error(F.binary_cross_entropy_with_logits, x, x[0]), error(F.mse_loss, x, T.ones(3)), error(F.mse_loss, x, x, reduction="foo"),
            error(F.smooth_l1_loss, x, x, beta=-1.0), error(F.huber_loss, x, x, delta=-1.0), error(F.multi_margin_loss, x, t([0, 1, 9])), error(F.triplet_margin_loss, x, x, x, margin=-1.0),
            error(F.gaussian_nll_loss, x, x, -x.abs()), error(F.cosine_embedding_loss, x, x, T.ones(3, 4)), error(F.kl_div, x, T.ones(5)), error(F.embedding, t([9]), x), error(F.glu, x[:, :3]),
        ]  # fmt: skip


@program
def weighted_losses(T):
    F, x, y, w = T.nn.functional, data(T, 3, 4), data(T, 3, 4) * 2, data(T, 3, 4).abs()
    return [f(x, y, weight=w, reduction=r) for f in (F.mse_loss, F.l1_loss, F.huber_loss) for r in ("mean", "sum", "none")]


# -- utils


@program
def gradients_are_clipped(T):
    U, m = T.nn.utils, net(T)
    m(data(T, 5, 3)).square().sum().backward()
    total = U.clip_grad_norm_(m.parameters(), 0.5)
    seen = [total] + [p.grad.clone() for p in m.parameters()] + [U.get_total_norm([p.grad for p in m.parameters()], float("inf"))]
    U.clip_grad_value_(m.parameters(), 0.01)
    seen += [p.grad for p in m.parameters()]
    m[0].weight.grad[0, 0] = float("nan")
    return seen + [error(U.clip_grad_norm_, m.parameters(), 1.0, error_if_nonfinite=True)]


@program
def parameters_become_a_vector_and_back(T):
    U, m = T.nn.utils, net(T)
    v = U.parameters_to_vector(m.parameters())
    U.vector_to_parameters(v * 2, m.parameters())
    return [v, U.parameters_to_vector(m.parameters()), error(U.vector_to_parameters, [1], m.parameters())]


@program
def sequences_are_packed_and_padded(T):
    R = T.nn.utils.rnn
    seqs = [data(T, n, 2) + n for n in (2, 4, 1)]
    padded = R.pad_sequence(seqs, batch_first=True, padding_value=-1.0)
    packed = R.pack_sequence(seqs, enforce_sorted=False)
    back, lengths = R.pad_packed_sequence(packed, padding_value=7.0, total_length=5)
    again = R.pack_padded_sequence(padded, T.tensor([2, 4, 1]), batch_first=True, enforce_sorted=False)
    return [
        padded, R.pad_sequence(seqs, padding_side="left"), packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, back, lengths,
        again.data, R.unpack_sequence(packed), R.unpad_sequence(padded, T.tensor([2, 4, 1]), batch_first=True), R.invert_permutation(T.tensor([2, 0, 1])),
        error(R.pack_sequence, seqs), error(R.pad_packed_sequence, packed, total_length=2), packed.double().data,
    ]  # fmt: skip


@program
def recurrences_run_on_packed_sequences(T):
    R, seen = T.nn.utils.rnn, []
    for make in (T.nn.RNN, T.nn.LSTM, T.nn.GRU):
        T.manual_seed(2)
        m = make(2, 3, 2, bidirectional=True).double()
        packed = R.pack_sequence([data(T, n, 2) for n in (2, 4, 1)], enforce_sorted=False)
        out, state = m(packed)
        seen += [out.data, *(state if isinstance(state, tuple) else [state])]
        out.data.square().sum().backward()
        seen += [p.grad for p in m.parameters()]
        start = data(T, 4, 3, 3)
        seen.append(m(packed, (start, start) if make is T.nn.LSTM else start)[0].data)
    return seen


@program
def weights_are_normalised_by_hook(T):
    U = T.nn.utils
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = U.weight_norm(net(T)[0])
        seen = [list(m.state_dict()), m.weight_g, m(data(T, 2, 3))]
        m.weight_g.data.mul_(2)
        seen += [m(data(T, 2, 3)), repr(m), error(U.weight_norm, m)]
        U.remove_weight_norm(m)
    return seen + [list(m.state_dict()), m.weight, error(U.remove_weight_norm, m)]


@program
def weights_are_normalised_spectrally_by_hook(T):
    U = T.nn.utils
    T.manual_seed(3)
    m = U.spectral_norm(T.nn.Linear(3, 4).double(), n_power_iterations=2)
    seen = [sorted(m.state_dict()), m(data(T, 2, 3)), m.weight_u]
    m.eval()
    m(data(T, 2, 3)).sum().backward()
    seen += [m.weight_orig.grad]
    U.remove_spectral_norm(m)
    return seen + [sorted(m.state_dict()), m.weight]


@program
def weights_are_parametrized(T):
    P = T.nn.utils.parametrize

    class Symmetric(T.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    class Double(T.nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, x):
            return x / 2

    T.manual_seed(4)
    m = T.nn.Linear(3, 3).double()
    P.register_parametrization(m, "weight", Symmetric())
    P.register_parametrization(m, "weight", Double())
    seen = [repr(m), list(m.state_dict()), m.weight, m(data(T, 2, 3)), P.is_parametrized(m), P.is_parametrized(m, "bias"), type(m).__name__]
    m.weight = T.eye(3, dtype=T.float64)
    seen += [m.weight, m.parametrizations.weight.original]
    with P.cached():
        seen.append(m.weight is m.weight)
    c = copy.deepcopy(m)
    m(data(T, 2, 3)).sum().backward()
    seen += [m.parametrizations.weight.original.grad, c.weight, P.type_before_parametrizations(m).__name__, error(pickle.dumps, m)]
    P.remove_parametrizations(m, "weight")
    seen += [repr(m), m.weight, type(m.weight).__name__]
    return seen + [error(P.register_parametrization, m, "nope", Double()), error(P.remove_parametrizations, m, "weight"), error(P.register_parametrization, m, "bias", T.nn.Linear(3, 2).double())]


@program
def parametrizations_of_weights(T):
    N, seen = T.nn.utils.parametrizations, []
    T.manual_seed(4)
    m = N.weight_norm(T.nn.Linear(3, 4).double())
    seen += [list(m.state_dict()), m.parametrizations.weight.original0, m(data(T, 2, 3))]
    s = N.spectral_norm(T.nn.Conv2d(2, 3, 2).double(), n_power_iterations=3)
    seen += [sorted(s.state_dict()), s.weight, s(data(T, 1, 2, 3, 3))]
    for shape in ((3, 3), (4, 2), (2, 5)):
        for kind in ("matrix_exp", "cayley", "householder"):
            o = N.orthogonal(T.nn.Linear(*shape).double(), orthogonal_map=kind)
            o.parametrizations.weight.original.data.add_(data(T, *o.weight.shape).tril(-1) if kind == "householder" else data(T, *o.weight.shape))
            w = o.weight
            seen.append((w.t() @ w if w.size(0) > w.size(1) else w @ w.t()) * 1.0)
    return seen


@program
def weights_are_pruned(T):
    P, m = import_module(T.__name__ + ".nn.utils.prune"), net(T)
    P.l1_unstructured(m[0], "weight", 4)
    seen = [sorted(m.state_dict()), m[0].weight_mask, m[0].weight, m(data(T, 5, 3))]
    P.ln_structured(m[0], "weight", 0.25, n=2, dim=0)
    seen += [m[0].weight_mask, P.is_pruned(m)]
    P.remove(m[0], "weight")
    P.custom_from_mask(m[2][1], "weight", T.tensor([[1, 0, 1, 0], [0, 0, 1, 1]]))
    seen += [m[0].weight, m[2][1].weight, sorted(m.state_dict())]
    P.remove(m[2][1], "weight")
    P.global_unstructured([(m[0], "weight"), (m[2][1], "weight")], P.L1Unstructured, amount=0.6)
    T.manual_seed(9)
    P.random_unstructured(m[0], "bias", 0.5)
    P.random_structured(m[0], "weight", 1, dim=1)
    seen += [m[0].weight, m[2][1].weight, m[0].bias_mask]
    return seen + [error(P.l1_unstructured, m[0], "bias", 1.5), error(P.l1_unstructured, m[0], "bias", "x"), error(P.remove, m[1], "weight")]


@program
def batch_norms_are_fused(T):
    U, x = T.nn.utils, data(T, 2, 3, 5, 5)
    T.manual_seed(3)
    c, b = T.nn.Conv2d(3, 4, 3).double(), T.nn.BatchNorm2d(4).double()
    for _ in range(3):
        b(c(x))
    c.eval(), b.eval()
    lin, b1 = T.nn.Linear(3, 4).double().eval(), T.nn.BatchNorm1d(4).double().eval()
    b1.running_mean.add_(0.3)
    return [U.fuse_conv_bn_eval(c, b)(x), U.fuse_linear_bn_eval(lin, b1)(data(T, 2, 3)), error(U.fuse_conv_bn_eval, c.train(), b)]


@program
def forward_runs_with_other_parameters(T):
    call = T.nn.utils.stateless.functional_call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = net(T)
        given = {"0.weight": data(T, 4, 3, grad=True), "1.running_mean": T.ones(4, dtype=T.float64)}
        out = call(m, given, (data(T, 5, 3),))
        out.square().sum().backward()
        tied = T.nn.Sequential(T.nn.Linear(2, 2, bias=False), T.nn.Linear(2, 2, bias=False)).double()
        tied[1].weight = tied[0].weight
        one = T.ones(2, 2, dtype=T.float64)
        return [
            out, given["0.weight"].grad, m[0].weight.grad, m[1].running_mean, call(tied, {"0.weight": one}, data(T, 1, 2)),
            call(tied, {"0.weight": one}, data(T, 1, 2), tie_weights=False) * 0 + 1, error(call, m, {"nope": one}, data(T, 5, 3)), error(call, m, {"0.weight": one}, data(T, 5, 3), strict=True),
        ]  # fmt: skip


@program
def skipped_initial_values(T):
    m = T.nn.utils.skip_init(T.nn.Linear, 3, 4)
    return [tuple(m.weight.shape), str(m.weight.device), type(m.weight).__name__, error(T.nn.utils.skip_init, T.nn.ReLU)]


@program
def lazy_modules_take_shape(T):
    m = T.nn.LazyLinear(3)
    seen = [T.nn.parameter.is_lazy(m.weight), repr(m), repr(m.weight), error(lambda: m.weight.shape), m.has_uninitialized_params()]
    m.load_state_dict({"weight": T.ones(3, 2), "bias": T.zeros(3)})
    seen += [m(T.ones(1, 2)), repr(m), type(m).__name__]
    n = T.nn.LazyLinear(3)
    n.load_state_dict(T.nn.LazyLinear(3).state_dict())
    c = copy.deepcopy(T.nn.LazyLinear(3))
    return seen + [T.nn.parameter.is_lazy(n.weight), type(c.weight).__name__, tuple(c(T.ones(1, 5)).shape)]
