"""More programs, about Module itself: hooks, state, conversion, containers."""

from __future__ import annotations

import copy
import pickle

from programs import data, error, net, program


@program
def old_backward_hooks(T):
    T.manual_seed(2)
    m = T.nn.Linear(3, 2).double()
    seen = []
    m.register_backward_hook(lambda mod, gi, go: seen.append([type(mod).__name__, [None if g is None else g.clone() for g in go]]))
    x = data(T, 4, 3, grad=True)
    m(x).square().sum().backward()
    return seen + [error(m.register_full_backward_hook, lambda *a: None), x.grad]


@program
def global_hooks(T):
    M = T.nn.modules.module
    seen = []
    hs = [
        M.register_module_forward_pre_hook(lambda m, a: seen.append(("pre", type(m).__name__, len(a)))),
        M.register_module_forward_hook(lambda m, a, o: seen.append(("post", type(m).__name__, tuple(o.shape)))),
        M.register_module_full_backward_pre_hook(lambda m, g: seen.append(("bpre", type(m).__name__, g[0].sum()))),
        M.register_module_full_backward_hook(lambda m, gi, go: seen.append(("b", type(m).__name__, [None if g is None else g.clone() for g in gi]))),
        M.register_module_parameter_registration_hook(lambda m, n, p: seen.append(("p", n))),
        M.register_module_module_registration_hook(lambda m, n, p: seen.append(("m", n))),
        M.register_module_buffer_registration_hook(lambda m, n, p: seen.append(("b", n))),
    ]
    m = net(T)
    x = data(T, 5, 3, grad=True)
    m(x).square().sum().backward()
    for h in hs:
        h.remove()
    n = len(seen)
    m(x)
    return [list(map(str, s[:2])) + list(s[2:]) for s in seen] + [n == len(seen)]


@program
def hooks_with_kwargs(T):
    class K(T.nn.Module):
        def forward(self, x, scale=1.0):
            return x * scale

    m = K()
    seen = []
    m.register_forward_pre_hook(lambda mod, a, k: (a, {**k, "scale": k.get("scale", 1) * 2}), with_kwargs=True)
    m.register_forward_hook(lambda mod, a, k, o: seen.append(str(sorted(k))) or o + 1, with_kwargs=True)
    h = m.register_forward_hook(lambda mod, a, o: seen.append(o.sum()), prepend=True)
    r = [m(data(T, 2, 2)), m(data(T, 2, 2), scale=3)]
    h.remove()
    r.append(m(data(T, 2, 2)))
    with m.register_forward_hook(lambda mod, a, o: o * 0):
        r.append(m(data(T, 2, 2)))
    return r + seen + [m(data(T, 2, 2))]


@program
def always_called(T):
    class B(T.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    m = B()
    seen = []
    m.register_forward_hook(lambda *a: seen.append("always"), always_call=True)
    m.register_forward_hook(lambda *a: seen.append("never"))
    return [error(m, 1), seen]


@program
def state_dict_hooks(T):
    m = net(T)
    seen = []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: seen.append([prefix, keep]))
    m[0].register_state_dict_post_hook(lambda mod, sd, prefix, meta: sd.__setitem__(prefix + "extra", 1))
    m._register_state_dict_hook(lambda mod, sd, prefix, meta: seen.append(sorted(meta)))
    m[0].register_load_state_dict_pre_hook(lambda mod, sd, prefix, meta, strict, mk, uk, em: sd.pop(prefix + "extra", None))
    m.register_load_state_dict_post_hook(lambda mod, inc: seen.append([list(inc.missing_keys), list(inc.unexpected_keys)]))
    sd = m.state_dict(prefix="a.")
    seen.append(list(sd))
    seen.append([[k, dict(v)] for k, v in sd._metadata.items()])
    sd = m.state_dict()
    r = m.load_state_dict(sd)
    seen.append(str(r))
    bad = dict(sd)
    bad.pop("0.weight")
    bad["zzz"] = T.ones(1)
    seen.append(error(m.load_state_dict, bad))
    r = m.load_state_dict(bad, strict=False)
    seen += [list(r.missing_keys), list(r.unexpected_keys)]
    try:
        m.load_state_dict(bad)
    except RuntimeError as e:
        seen.append("Missing key(s)" in str(e) and "Unexpected key(s)" in str(e))
    bad = dict(sd)
    bad["0.weight"] = T.ones(2, 2)
    seen.append(error(m.load_state_dict, bad, strict=False))
    bad["0.weight"] = 3
    seen.append(error(m.load_state_dict, bad, strict=False))
    seen.append(error(m.load_state_dict, [1]))
    return seen


@program
def loading_by_assignment(T):
    m = net(T)
    sd = {k: v.clone().float() if v.is_floating_point() else v.clone() for k, v in m.state_dict().items()}
    w = m[0].weight
    m.load_state_dict(sd, assign=True)
    return [
        m[0].weight is w,
        str(m[0].weight.dtype),
        m[0].weight.requires_grad,
        isinstance(m[0].weight, T.nn.Parameter),
        m[1].running_mean is sd["1.running_mean"],
        m[1].num_batches_tracked,
    ]


@program
def conversions_keep_the_parameter_objects(T):
    m = net(T)
    out = []
    for f in ("float", "half", "bfloat16", "double"):
        w = m[0].weight
        getattr(m, f)()
        out.append([str(m[0].weight.dtype), m[0].weight is w, str(m[1].num_batches_tracked.dtype)])
    m.to(T.float32)
    out.append(str(m[1].running_var.dtype))
    m.to("cpu", T.float64)
    m.to(T.ones(1))
    out.append(str(m[2][1].weight.dtype))
    m.to(dtype=T.float64, device="cpu", non_blocking=True)
    out += [
        error(m.to, T.int64),
        error(m.to, 1, 2, 3, 4, 5),
        m.cpu() is m,
        str(m.type(T.float32)[0].weight.dtype),
        m.type("torch.DoubleTensor")[0].weight.dtype == T.float64,
    ]
    m(data(T, 5, 3)).sum().backward()
    m.float()
    out.append(str(m[0].weight.grad.dtype))
    e = T.nn.Linear(2, 2).to("meta")
    out += [str(e.weight.device), tuple(e.to_empty(device="cpu").weight.shape)]
    return out


@program
def memory_format(T):
    m = T.nn.Conv2d(3, 4, 3).to(memory_format=T.channels_last)
    return [list(m.weight.stride()), m.weight.is_contiguous(memory_format=T.channels_last), error(m.to, memory_format=T.channels_last_3d)]


@program
def copies_are_deep_or_shallow(T):
    m = net(T)
    m[0].register_forward_hook(lambda *a: None)
    m.tag = "x"
    c = copy.deepcopy(m)
    c[0].weight.data.zero_()
    s = copy.copy(m)
    return [m[0].weight.abs().sum() > 0, len(c[0]._forward_hooks), c.tag, s[0] is m[0], c[1].running_mean is m[1].running_mean, c.training]


@program
def a_pickled_module_computes_the_same(T):
    m = net(T)
    m.eval()
    c = pickle.loads(pickle.dumps(m))
    x = data(T, 5, 3)
    return [c(x), m(x), c.training, type(c[0].weight).__name__, c[0].weight.requires_grad, list(c.state_dict())]


@program
def members_by_dotted_name(T):
    m = net(T)
    return [
        type(m.get_submodule("2.1")).__name__,
        m.get_submodule("") is m,
        error(m.get_submodule, "7"),
        error(m.get_submodule, "0.weight"),
        m.get_parameter("2.1.weight"),
        error(m.get_parameter, "1.running_mean"),
        m.get_buffer("1.running_mean"),
        error(m.get_buffer, "0.weight"),
        m.set_submodule("2.0", T.nn.Tanh()),
        repr(m),
        error(m.set_submodule, "", T.nn.Tanh()),
        error(m.set_submodule, "x.y", T.nn.Tanh()),
        error(m.set_submodule, "0", T.ones(1)),
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_children()],
        [n for n, _ in m.named_parameters(prefix="p")],
        [n for n, _ in m.named_buffers()],
        len(list(m.modules())),
        [n for n, _ in m.named_parameters(recurse=False)],
    ]


@program
def share_d_params(T):
    a = T.nn.Linear(2, 2)
    m = T.nn.ModuleDict({"a": a, "b": a, "c": T.nn.Linear(2, 2)})
    m["c"].weight = a.weight
    return [
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        list(m.state_dict()),
        len(list(m.parameters())),
    ]


@program
def modes_and_gradients(T):
    m = net(T)
    seen = []
    m.apply(lambda k: seen.append(type(k).__name__))
    m.requires_grad_(False)
    seen.append([p.requires_grad for p in m.parameters()])
    m.requires_grad_()
    m(data(T, 5, 3)).sum().backward()
    m.zero_grad(set_to_none=False)
    seen.append([float(p.grad.abs().sum()) for p in m.parameters()])
    m.zero_grad()
    seen.append([p.grad is None for p in m.parameters()])
    seen += [
        error(m.train, 3),
        m.eval().training,
        m[2][0].training,
        m.train() is m,
        error(T.nn.Module),
        error(T.nn.Module(), 1),
        error(T.nn.Linear.forward),
        error(lambda: m.nope),
        sorted(x for x in dir(m) if x in ("0", "training", "forward")),
    ]
    return seen


@program
def extra_state(T):
    class E(T.nn.Linear):
        def get_extra_state(self):
            return {"n": 7}

        def set_extra_state(self, s):
            self.got = s

    m = E(2, 2)
    sd = m.state_dict()
    k = E(2, 2)
    k.load_state_dict(sd)
    return [list(sd), k.got, error(T.nn.Linear(2, 2).load_state_dict, sd), error(k.load_state_dict, T.nn.Linear(2, 2).state_dict())]


@program
def containers_edit_like_lists_and_dicts(T):
    N = T.nn
    s = N.Sequential()
    s.append(N.Linear(2, 2))
    s.insert(0, N.ReLU())
    s.extend(N.Sequential(N.Tanh()))
    out = [repr(s), len(s)]
    out.append(repr(s + N.Sequential(N.ReLU())))
    s *= 2
    out.append(repr(s))
    out.append(repr(s.pop(1)))
    del s[0]
    s[0] = N.GELU()
    out += [repr(s), repr(s[-1]), error(lambda: s[9]), error(s.insert, 99, N.ReLU()), error(N.Sequential, 1)]
    l = N.ModuleList([N.ReLU()])
    l.append(N.Tanh())
    l += [N.GELU()]
    l.insert(1, N.SiLU())
    out += [repr(l), repr(l[1:]), len(l), repr(l.pop(0)), error(l.extend, 3), error(l.append, 3)]
    d = N.ModuleDict({"a": N.ReLU()})
    d.update([("b", N.Tanh())])
    d["c"] = N.GELU()
    out += [repr(d), list(d.keys()), "a" in d, repr(d.pop("a")), error(lambda: d["zz"]), [k for k, _ in d.items()], error(d.update, 3)]
    d.clear()
    out.append(len(d))
    p = N.ParameterList([T.ones(2), T.zeros(1)])
    p.append(T.ones(1))
    out += [repr(p), len(p), [n for n, _ in p.named_parameters()], error(lambda: p[9])]
    q = N.ParameterDict({"x": T.ones(2)})
    q["y"] = T.zeros(1)
    out += [
        repr(q),
        sorted(q.keys()),
        q.setdefault("z", T.ones(1)).requires_grad,
        list(q | {"w": T.ones(1)}),
        repr(q.pop("x")),
        q.get("nope") is None,
        list(reversed(q)),
    ]
    return out


@program
def buffers_nonpersistent(T):
    m = T.nn.Module()
    m.register_buffer("a", T.ones(1))
    m.register_buffer("b", T.ones(1), persistent=False)
    m.register_buffer("c", None)
    return [
        list(m.state_dict()),
        error(m.register_buffer, "a.b", T.ones(1)),
        error(m.register_buffer, "", T.ones(1)),
        error(m.register_buffer, "a", 3),
        error(m.register_parameter, "a", T.nn.Parameter(T.ones(1))),
        error(m.register_buffer, "forward", T.ones(1)),
        error(m.register_parameter, "p", T.ones(1)),
        error(m.add_module, "x", 3),
        error(m.register_parameter, "p", T.nn.Parameter(T.ones(1)) * 2),
    ]


@program
def nothing_registers_before_init(T):
    class A(T.nn.Module):
        def __init__(self):
            self.x = T.nn.Linear(1, 1)

    class B(T.nn.Module):
        def __init__(self):
            self.x = T.nn.Parameter(T.ones(1))

    class C(T.nn.Module):
        def __init__(self):
            self.register_buffer("x", T.ones(1))

    return [error(A), error(B), error(C)]


@program
def parameter_things(T):
    p = T.nn.Parameter(T.ones(2))
    q = p * 2
    b = T.nn.Buffer(T.ones(1))
    return [
        repr(p),
        type(q).__name__,
        type(p.data).__name__,
        type(p.detach()).__name__,
        isinstance(p, T.Tensor),
        isinstance(b, T.nn.Buffer),
        type(b).__name__,
        type(copy.deepcopy(p)).__name__,
        p.requires_grad,
        T.nn.Parameter(T.ones(1), requires_grad=False).requires_grad,
        repr(T.nn.Parameter()),
        error(T.nn.Parameter, T.ones(2, dtype=T.int64)),
        T.nn.Parameter(T.ones(1, dtype=T.int64), requires_grad=False).dtype == T.int64,
        isinstance(T.ones(1), T.nn.Parameter),
    ]


@program
def functional_call(T):
    m = net(T)
    sd = {k: v.detach() * 2 for k, v in m.named_parameters()}
    return [T.func.functional_call(m, sd, (data(T, 5, 3),)), T.nn.utils.stateless.functional_call is not None]


@program
def embeddings_give_sparse_gradients(T):
    out, x = [], T.tensor([[1, 2, 2], [0, 1, 4]])
    for options in ({}, {"padding_idx": 1}, {"max_norm": 0.5}):
        T.manual_seed(0)
        e = T.nn.Embedding(5, 2, sparse=True, dtype=T.float64, **options)
        (e(x) ** 2).sum().backward()
        g = e.weight.grad
        out += [g.is_sparse, g.is_coalesced(), g._indices(), g._values(), g.to_dense()]
        (e(x) * 2).sum().backward()
        out.append(e.weight.grad.coalesce().values())
        with T.no_grad():
            out.append(e.weight.add_(e.weight.grad, alpha=-0.1).detach())
    for mode, padding in (("sum", None), ("mean", None), ("sum", 2), ("mean", 1)):
        T.manual_seed(0)
        b = T.nn.EmbeddingBag(5, 2, sparse=True, mode=mode, padding_idx=padding, dtype=T.float64)
        (b(x.reshape(-1), T.tensor([0, 2])) ** 2).sum().backward()
        out += [b.weight.grad.is_sparse, b.weight.grad.to_dense()]
    return out


@program
def modules_share_their_memory(T):
    m = net(T)
    weight = m[0].weight
    return [m.share_memory() is m, m[0].weight is weight, weight.is_shared(), m[1].running_mean.is_shared(), weight.requires_grad, m(data(T, 5, 3))]
