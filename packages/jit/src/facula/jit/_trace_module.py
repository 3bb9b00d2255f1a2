"""trace_module: a module traced by the names of its methods."""

from __future__ import annotations

from typing import Any

from ._trace import trace

__all__ = ["trace_module"]


def trace_module(
    mod: Any, inputs: dict, optimize: Any = None, check_trace: bool = True, check_inputs: list | None = None, check_tolerance: float = 1e-5,
    strict: bool = True, *, example_inputs_is_kwarg: bool = False,
) -> Any:  # fmt: skip
    """trace(mod, inputs["forward"], ...): inputs, and each of check_inputs, holds example arguments by the method's name.

    example_inputs_is_kwarg: they are dicts of named arguments. Raises RuntimeError for methods other than forward: a trace has one way in.

    >>> model = facula.nn.Linear(2, 1)
    >>> traced = facula.jit.trace_module(model, {"forward": facula.ones(1, 2)})
    >>> traced(facula.zeros(1, 2)).equal(model(facula.zeros(1, 2)))
    True
    """
    if not hasattr(mod, "named_parameters"):
        raise AttributeError(f"trace_module: expected a torch.nn.Module as the first argument, got {type(mod).__name__}. Use trace() for functions.")
    if not isinstance(inputs, dict):
        raise AttributeError(f"trace_module: expected a dictionary of (method_name, input) pairs, got {type(inputs).__name__}.")
    if set(inputs) != {"forward"}:
        raise RuntimeError(f"trace_module: traces forward, got inputs for {sorted(inputs)}. Trace another method by itself: trace(module.method, inputs).")
    checks = None if check_inputs is None else [c["forward"] if isinstance(c, dict) else c for c in check_inputs]
    examples = {"example_kwarg_inputs": inputs["forward"]} if example_inputs_is_kwarg else {"example_inputs": inputs["forward"]}
    return trace(mod, optimize=optimize, check_trace=check_trace, check_inputs=checks, check_tolerance=check_tolerance, strict=strict, **examples)
