#!/usr/bin/env python3
"""Functions over lists of 100 small tensors (8x8), beside PyTorch's: `_foreach_*`, clipping, zeroing, averages, loading.

    tools/bench lists [--quick] [--only clip]
"""

import copy

from _harness import Case, geometric_mean, main

COUNT = 100
ONE = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt "
    "tan tanh trunc clone norm max"
).split()
TWO = "add sub mul div pow maximum minimum clamp_max clamp_min".split()


def lists(t, count=1):
    return [[t.rand(8, 8) * 0.5 + 0.25 for _ in range(COUNT)] for _ in range(count)]


def over(t, name, operands=1, *more, **options):
    """The function over so many lists; what it writes hardly changes, so every call does the same."""
    columns = lists(t, operands)
    if name.endswith("_") and operands == 1 and not more:
        columns[0] = [x.zero_() for x in columns[0]]
    function = getattr(t, name)
    return lambda: function(*columns, *more, **options)


def by_list(t, name, number):
    function, columns = getattr(t, name), lists(t)
    return lambda: function(*columns, [number] * COUNT)


def number_first(t):
    exponents = lists(t)[0]
    return lambda: t._foreach_pow(2.0, exponents)


def module(t):
    t.manual_seed(0)
    model = t.nn.ModuleList([t.nn.Linear(8, 8) for _ in range(COUNT // 2)])
    for p in model.parameters():
        p.grad = t.full_like(p, 0.01)
    return model


def norms(t):
    grads = lists(t)[0]
    return lambda: t.nn.utils.get_total_norm(grads)


def clipped(t, name, bound):
    parameters = list(module(t).parameters())
    function = getattr(t.nn.utils, name)
    return lambda: (function(parameters, bound), parameters[0].grad)[1]


def to_vector(t, recorded):
    model = module(t).requires_grad_(recorded)
    return lambda: t.nn.utils.parameters_to_vector(model.parameters())


def from_vector(t):
    model = module(t)
    vector = t.nn.utils.parameters_to_vector(model.parameters()).detach()
    return lambda: (t.nn.utils.vector_to_parameters(vector, model.parameters()), vector)[1]


def zeroed(t, kind, to_none):
    model = module(t)
    owner = model if kind == "module" else t.optim.SGD(model.parameters(), lr=0.1)
    grads = [(p, p.grad) for p in model.parameters()]

    def call():
        if to_none:
            for p, g in grads:
                p.grad = g
        owner.zero_grad(set_to_none=to_none)
        return grads[0][1]

    return call


def averaged(t, ema, use_buffers):
    swa, model = t.optim.swa_utils, module(t)
    options = {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)} if ema else {}
    average = swa.AveragedModel(model, use_buffers=use_buffers, **options)
    average.update_parameters(model)
    return lambda: (average.update_parameters(model), average.module[0].weight)[1]


def loaded(t, kind):
    model = module(t)
    if kind == "module":
        state = copy.deepcopy(model.state_dict())
        return lambda: (model.load_state_dict(state), model[0].weight)[1]
    optimizer = t.optim.Adam(model.parameters())
    optimizer.step()
    state = optimizer.state_dict()
    return lambda: optimizer.load_state_dict(state)


def saved(t, kind):
    model = module(t)
    optimizer = t.optim.Adam(model.parameters())
    optimizer.step()
    owner = model if kind == "module" else optimizer
    return lambda: len(owner.state_dict())


CASES = []


def case(name, make, *arguments, **options):
    CASES.append(Case(name, lambda t: make(t, *arguments, **options), 1.0))


for _name in ONE:
    case(_name, over, f"_foreach_{_name}")
    if _name not in ("clone", "norm", "max"):
        case(_name + "_", over, f"_foreach_{_name}_")
for _name in TWO:
    _number = 0.5 if _name.startswith("clamp") or _name.endswith("imum") else 1.0 if _name in ("mul", "div", "pow") else 0.0
    case(f"{_name} list", over, f"_foreach_{_name}", 2)
    case(f"{_name} number", over, f"_foreach_{_name}", 1, _number)
    case(f"{_name} numbers", by_list, f"_foreach_{_name}", _number)
    if _name != "pow":
        case(f"{_name}_ number", over, f"_foreach_{_name}_", 1, _number)
        case(f"{_name}_ numbers", by_list, f"_foreach_{_name}_", _number)
case("mul_ list", over, "_foreach_mul_", 2)
case("add_ list", over, "_foreach_add_", 2)
case("add list alpha", over, "_foreach_add", 2, alpha=0.1)
case("add_ list alpha", over, "_foreach_add_", 2, alpha=1e-9)
case("sub_ list alpha", over, "_foreach_sub_", 2, alpha=1e-9)
case("mul_ tensor", lambda t: over(t, "_foreach_mul_", 1, t.ones(())))
case("add_ tensor", lambda t: over(t, "_foreach_add_", 1, t.zeros(())))
case("pow of a number", number_first)
case("addcmul number", over, "_foreach_addcmul", 3, value=0.5)
case("addcmul_ number", over, "_foreach_addcmul_", 3, value=1e-9)
case("addcmul numbers", over, "_foreach_addcmul", 3, [0.5] * COUNT)
case("addcdiv number", over, "_foreach_addcdiv", 3, value=0.5)
case("addcdiv_ number", over, "_foreach_addcdiv_", 3, value=1e-9)
case("addcdiv numbers", over, "_foreach_addcdiv", 3, [0.5] * COUNT)
case("lerp number", over, "_foreach_lerp", 2, 0.3)
case("lerp_ number", over, "_foreach_lerp_", 2, 0.3)
case("lerp list", over, "_foreach_lerp", 3)
case("copy_", over, "_foreach_copy_", 2)
case("zero_", over, "_foreach_zero_")
case("norm inf", lambda t: over(t, "_foreach_norm", 1, float("inf")))
case("mm", over, "_foreach_mm", 2)
case("get_total_norm", norms)
case("clip_grad_norm_", clipped, "clip_grad_norm_", 1e3)
case("clip_grad_value_", clipped, "clip_grad_value_", 1e3)
case("parameters_to_vector", to_vector, True)
case("parameters_to_vector, no history", to_vector, False)
case("vector_to_parameters", from_vector)
case("Module.zero_grad", zeroed, "module", True)
case("Module.zero_grad(False)", zeroed, "module", False)
case("Optimizer.zero_grad", zeroed, "optimizer", True)
case("Optimizer.zero_grad(False)", zeroed, "optimizer", False)
case("update_parameters", averaged, False, False)
case("update_parameters, buffers", averaged, False, True)
case("update_parameters, EMA", averaged, True, False)
case("Module.load_state_dict", loaded, "module")
case("Optimizer.load_state_dict", loaded, "optimizer")
case("Module.state_dict", saved, "module")
case("Optimizer.state_dict", saved, "optimizer")


def summary(rows):
    ratios = [r["ratio"] for r in rows if "ratio" in r]
    return f"\ngeometric mean {geometric_mean(ratios):.2f}, worst {max(ratios, default=float('nan')):.2f}"


if __name__ == "__main__":
    main("lists", __doc__, CASES, summary=summary)
