"""Optimizers as functions of lists: `torch.optim.adam.adam(params, grads, exp_avgs, ...)` and its like.

One step of the class's own formula, over state that the caller keeps. It writes to parameters and state, so it is called under no_grad.
"""

from __future__ import annotations

from typing import Any, Callable

import facula
from facula.tensor_core import extend

from ._formula import FormulaOptimizer, check_implementation, want_tensors

_PAIRS = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")}  # as groups name them
_DEFAULTS = {"capturable": False, "differentiable": False, "has_complex": False, "has_sparse_grad": False, "maximize": False, "decoupled_weight_decay": False}

# what the example of a docstring gives
_STATES = {"step": "facula.tensor(0.0)", "mu_product": "facula.ones(1)", "momentum_buffer": "None", "eta": "facula.tensor(0.1)", "mu": "facula.tensor(1.0)", "step_size": "facula.tensor([0.1])"}
_SHOWN = {"lr": 0.1, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0, "momentum_decay": 0.0, "rho": 0.9, "lr_decay": 0.0, "alpha": 0.9, "momentum": 0.0}
_SHOWN |= {"lambd": 0.0, "t0": 1.0, "step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2, "dampening": 0.0}


def by_lists(kind: type[FormulaOptimizer], lists: str, options: str, settings: str, **fixed: Any) -> Callable[..., None]:
    """The function of a class.

    lists: "argument:state" of each list after parameters and gradients. options: arguments that may be left out, by position or by name.
    settings: those of the formula, by name alone; one of the options may be among them in PyTorch's signature. fixed: what the group says besides.
    """
    keys = dict(part.split(":") for part in lists.split())
    first, second = ("params", "d_p_list" if kind.__name__ == "SGD" else "grads")

    def run(arguments: dict[str, Any]) -> None:
        group = {"foreach": None, **arguments, **fixed}
        columns = {key: group.pop(name) for name, key in keys.items()}
        params, grads = group.pop(first), group.pop(second)
        for name, (low, high) in _PAIRS.items():
            if low in group:
                group[name] = group.pop(low), group.pop(high)
        _step(kind, params, grads, columns, group)

    # written out: signature() shows it, and inspect, 8 ms, is not imported for it
    name, made = kind.__name__.lower(), {}
    head = [first, second, *keys, *(f"{n}={_DEFAULTS.get(n)}" for n in options.split()), "*", *settings.split()]
    exec(f"def {name}({', '.join(head)}):\n    _run(locals())\n", {"_run": run, "__name__": kind.__module__}, made)
    step = made[name]
    states = "".join(f", [{_STATES.get(key, 'facula.zeros(1)')}]" for key in keys.values())
    shown = f"facula.optim.{kind.__module__.rpartition('.')[2]}.{name}([w], [facula.ones(1)]{states}, {', '.join(f'{n}={_SHOWN.get(n, False)}' for n in settings.split())})"
    step.__doc__ = (
        f"One step of {kind.__name__} over lists of parameters, gradients and state, in place. foreach, fused, has_complex and has_sparse_grad choose between "
        "equal results. grad_scale: gradients are divided by it; found_inf: where it is not 0 nothing happens.\n\n"
        f"    >>> w = facula.zeros(1)\n    >>> {shown}\n    >>> bool(w < 0)\n    True\n    "
    )
    return step


def _step(kind: type[FormulaOptimizer], params: list, grads: list, columns: dict[str, list], group: dict) -> None:
    check_implementation(group["foreach"], group.get("fused"), group.get("differentiable", False))
    want_tensors(columns.get("step", []))
    if facula.is_grad_enabled() and not group.get("differentiable") and any([p.requires_grad for p in params]):
        raise extend.GradError(f"{kind.__name__.lower()}: a leaf Variable that requires grad is being used in an in-place operation. Call it under no_grad().")
    scale, found = group.get("grad_scale"), group.get("found_inf")
    if found is not None and found.item():
        return
    if scale is not None:
        for g in grads:
            g.div_(scale)
    states = [{key: values[k] for key, values in columns.items() if len(values)} for k in range(len(params))]
    optimizer = kind.__new__(kind)  # the formula alone: no groups, no hooks
    optimizer.state = dict(zip(params, states))
    if group.get("differentiable"):
        for p, g, state in zip(params, grads, states):
            optimizer._refuse(p, g, group)
            optimizer._step_one(p, g, state, group)
    else:
        if group.get("capturable") or any([g.is_sparse for g in grads]):
            params, grads = optimizer._without_sparse(params, grads, group)
        if params:
            optimizer._step_listed(params, grads, group)
    for key, values in columns.items():
        for k, state in enumerate(states[: len(values)]):
            if values[k] is None:  # sgd's first momentum
                values[k] = state.get(key)
