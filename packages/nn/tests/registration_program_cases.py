"""Programs about modules: registration, state, hooks, containers."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from importlib import import_module

from programs import data, error, net, program

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
def a_module_loads_what_is_below_it(T):
    m = T.nn.ModuleDict({"a": T.nn.Linear(2, 1), "ab": T.nn.Sequential(T.nn.Linear(1, 1), T.nn.BatchNorm1d(1)), "none": T.nn.ReLU()})
    seen = []

    def look(module, state, prefix, *rest):
        seen.append((prefix, type(state).__name__, list(state)))
        if prefix == "":
            state["ab.0.weight"] = T.full((1, 1), 7.0)  # children see it
            state["a.c.d"] = state["stray"] = T.ones(1)
        if prefix == "a.":
            state["ab.1.weight"] = T.full((1,), 9.0)  # its siblings do not

    for _, module in m.named_modules():
        module.register_load_state_dict_pre_hook(look)
    given = {**m.state_dict(), "aa.x": T.ones(1), "ab": T.ones(1)}
    del given["ab.1.bias"]
    keys = m.load_state_dict(given, strict=False)
    return [seen, keys.missing_keys, keys.unexpected_keys, m["ab"][0].weight, m["ab"][1].weight]


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
