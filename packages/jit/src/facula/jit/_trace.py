"""trace(): run a function once under the tracer, then check what was recorded."""

import inspect
import warnings

import facula
from facula.tensor_core import extend
from facula.tensor_core.extend import Tensor

from ._errors import TracerWarning, TracingCheckError
from ._traced import Trace, TracedFunction, flatten, outputs_of, shape_of, traced_module
from ._tracer import Tracer

_tracing = extend.ThreadState()


def is_tracing():
    """Is this thread inside facula.jit.trace?

    >>> facula.jit.is_tracing()
    False
    """
    return getattr(_tracing, "depth", 0) > 0


def trace(
    func,
    example_inputs=None,
    optimize=None,
    check_trace=True,
    check_inputs=None,
    check_tolerance=1e-5,
    strict=True,
    *,
    example_kwarg_inputs=None,
):
    """func recorded on example inputs: something to call with tensors.

    func: a function of tensors, or a module. Its rows are recorded as they run, those of a backward pass within it included; Python's
    control flow is what it was for the example. A module's parameters and buffers stay the module's; tensors that a function finds outside
    are kept and written as the original writes them.
    Inputs of other shapes or dtypes are recorded when they first come; a trace loaded from a file serves those of its example alone.
    example_inputs: a tensor, or a tuple of arguments: tensors, and tuples, lists and dicts of them.
    check_trace: run original and trace once more on the example inputs (and each of check_inputs) and compare, to check_tolerance.
    strict: False allows a dict as output, which a trace gives with the same keys always, and is silent about a list.

    Raises RuntimeError for inputs or outputs that are no tensors, for shapes that depend on data, and, at a call of a loaded trace, for other shapes;
    TracingCheckError where the check fails. Warns with TracerWarning where a number leaves the tensors (item(), if) and, where
    strict, of a list as output.

    >>> traced = facula.jit.trace(lambda x: (x * 2).relu(), facula.ones(2))
    >>> traced(facula.tensor([-1.0, 3.0]))
    tensor([0., 6.])
    """
    if optimize is not None:
        warnings.warn("trace: `optimize` is deprecated and has no effect. Leave it out.", FutureWarning, stacklevel=2)
    inputs, names, nested = _arguments(func, example_inputs, example_kwarg_inputs)
    module = hasattr(func, "named_parameters") and hasattr(func, "forward")
    memory = _Memory(func if module else None, inputs)
    recorded = _record(func, inputs, names, module, strict)

    def again(others):
        return _record(func, others, names, module, strict)

    made = Trace(recorded, nested, names, again)
    result = (
        traced_module(made, func, _module_base(func))
        if module
        else TracedFunction(made, getattr(func, "__name__", type(func).__name__))
    )
    if check_trace:
        for check in [inputs, *_several(check_inputs)]:
            _check(func, result, check, check_tolerance, memory, recorded)
    return result


def _arguments(func, example, by_name):
    """Example inputs as a tuple in the function's order, the names of its parameters, their nesting."""
    if (example is None) == (by_name is None):
        raise ValueError("trace: give example_inputs or example_kwarg_inputs, one of the two.")
    target = getattr(func, "forward", func)
    try:
        names = [
            p.name
            for p in inspect.signature(target).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # a built-in
        names = []
    if by_name is not None:
        unknown = [n for n in by_name if n not in names]
        if unknown or names[: len(by_name)] != [n for n in names if n in by_name]:
            raise ValueError(
                f"trace: example_kwarg_inputs has {sorted(by_name)}, the function takes {names}. Give the leading parameters."
            )
        example = tuple(by_name[n] for n in names if n in by_name)
    inputs = (example,) if isinstance(example, (Tensor, dict)) else tuple(example)
    names += [f"input{k}" for k in range(len(names), len(inputs))]
    flatten(inputs)
    return inputs, names[: len(inputs)], shape_of(inputs)


def _record(func, inputs, names, module, strict):
    tracer = Tracer()
    given = [entry for name, item in zip(names, inputs) for entry in flatten(item, name)]
    for path, tensor in given:
        tracer.graph.inputs.append(tracer.value(tensor, _identifier(path), "input"))
    watched = [t for _, t in given]
    if module:
        for name, tensor in [*func.named_parameters(), *func.named_buffers()]:
            if id(tensor) not in tracer.known:
                tracer.value(tensor, f"self.{name}", "state")
            watched.append(tensor)
    gradients = {}
    for tensor in watched:
        if tensor.grad is not None and id(tensor) not in gradients:
            owner = tracer.find(tensor)
            tracer.value(tensor.grad, f"{owner.name}.grad", "grad", of=owner)
        gradients[id(tensor)] = tensor.grad
    _tracing.depth = getattr(_tracing, "depth", 0) + 1
    try:
        with extend.interpreter(tracer):
            answer = func(*inputs)
    finally:
        _tracing.depth -= 1
    if answer is None:
        raise RuntimeError("trace: the function returned None. Return a tensor.")
    if strict and isinstance(answer, (list, dict)):
        text = (
            f"Encountering a {type(answer).__name__} at the output of the tracer might cause the trace to be incorrect, this is only valid if the container "
            "structure does not change based on the module's inputs. Return a tuple, or pass strict=False."
        )
        if isinstance(answer, dict):
            raise RuntimeError(text)
        warnings.warn(text, TracerWarning, stacklevel=4)
    tracer.graph.outputs = outputs_of(answer, tracer)
    _effects(tracer, watched, gradients)
    return tracer.graph


def _effects(tracer, watched, gradients):
    """Which .grad the function set: of its inputs, of the module's parameters, and of captured tensors."""
    captured = [t for v, t in tracer.graph.tensors.items() if v.kind == "captured"]
    for tensor in {id(t): t for t in [*watched, *captured]}.values():
        before, after = gradients.get(id(tensor), None), tensor.grad
        if after is before or (id(tensor) not in gradients and (after is None or id(after) not in tracer.known)):
            continue
        tracer.graph.effects.append((tracer.find(tensor), None if after is None else tracer.find(after)))


def _identifier(path):
    return "".join(c if c.isalnum() else "_" for c in path.replace("]", "").replace("'", ""))


def _module_base(module):
    """nn.Module, found from the module itself: this part does not import nn."""
    return next(c for c in type(module).__mro__[::-1] if hasattr(c, "register_parameter"))


def _several(check_inputs):
    for check in check_inputs or ():
        yield (check,) if isinstance(check, Tensor) else tuple(check)


# --- the check ------------------------------------------------------------------------------------------------------


class _Memory:
    """Values and gradients of a module's tensors and of the inputs, and the random state: to run twice from one place."""

    def __init__(self, module, inputs):
        self.tensors = [t for _, t in flatten(inputs)]
        if module is not None:
            self.tensors += [*module.parameters(), *module.buffers()]

    def take(self, more):
        self.held = [
            (t, t.detach().clone(), t.grad, None if t.grad is None else t.grad.detach().clone())
            for t in [*self.tensors, *more]
        ]
        self.random = facula.get_rng_state()

    def restore(self):
        for tensor, value, grad, grad_value in self.held:
            before = extend.version(tensor)
            if not facula.equal(tensor.detach(), value) or extend.version(tensor) != before:
                tensor.data.copy_(value)
            tensor.grad = grad
            if grad is not None:
                grad.data.copy_(grad_value)
        facula.set_rng_state(self.random)


def _check(func, result, inputs, tolerance, memory, graph):
    captured = [t for v, t in graph.tensors.items() if v.kind == "captured"]
    memory.take(captured)
    wanted = _gradients_too(func(*inputs), memory, captured)
    memory.restore()
    got = _gradients_too(result(*inputs), memory, captured)
    memory.restore()
    if len(wanted) != len(got):
        raise TracingCheckError(
            f"trace: the function gave {len(wanted)} tensors, its trace {len(got)}. Its structure depends on more than its inputs."
        )
    for k, (w, g) in enumerate(zip(wanted, got)):
        if w.shape != g.shape or not facula.allclose(w, g, rtol=tolerance, atol=tolerance, equal_nan=True):
            apart = (
                (w - g).abs().max().item()
                if w.shape == g.shape and w.numel() and w.dtype is g.dtype
                else f"shapes {tuple(w.shape)} and {tuple(g.shape)}"
            )
            raise TracingCheckError(
                f"trace: output {k} of the trace differs from the function's on the same inputs (by {apart}). "
                "What is random, or depends on values or on Python state, cannot be traced: pass check_trace=False if that is wanted."
            )


def _gradients_too(answer, memory, captured):
    gradients = [t.grad.detach().clone() for t in [*memory.tensors, *captured] if t.grad is not None]
    return [t.detach().clone() for _, t in flatten(answer)] + gradients
