"""What module hooks are made of: the process-wide registries, and the gates that see gradients."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any, Callable

import facula
from facula.utils.hooks import RemovableHandle

ever: list[bool] = []  # not empty once any module of this process had a hook: until then a call looks no further


def register(hooks: OrderedDict, hook: Callable, *flags: dict, prepend: bool = False) -> RemovableHandle:
    """Put `hook` into `hooks` under a new id; each dict of `flags` gets the id too."""
    if not ever:
        ever.append(True)
    handle = RemovableHandle(hooks, extra_dict=flags)
    hooks[handle.id] = hook
    for flag in flags:
        flag[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


# process-wide hooks: every module's call looks here once
forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
forward_hooks: OrderedDict[int, Callable] = OrderedDict()
forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
backward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
backward_hooks: OrderedDict[int, Callable] = OrderedDict()
backward_hooks_are_full: bool | None = None  # None until the first is registered
buffer_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
module_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
parameter_registration_hooks: OrderedDict[int, Callable] = OrderedDict()


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, args)` before the forward of every module.

    >>> handle = facula.nn.module.register_module_forward_pre_hook(lambda module, args: print(args))
    >>> facula.nn.ReLU()(facula.tensor([1.0]))
    (tensor([1.]),)
    tensor([1.])
    >>> handle.remove()
    """
    return register(forward_pre_hooks, hook)


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    """Run `hook(module, args, output)` after the forward of every module.

    >>> handle = facula.nn.module.register_module_forward_hook(lambda module, args, output: 10 * output)
    >>> facula.nn.ReLU()(facula.tensor([1.0]))
    tensor([10.])
    >>> handle.remove()
    """
    flags = [f for f, on in ((forward_hooks_with_kwargs, with_kwargs), (forward_hooks_always_called, always_call)) if on]
    return register(forward_hooks, hook, *flags)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, grad_output)` before the backward of every module.

    >>> handle = facula.nn.module.register_module_full_backward_pre_hook(lambda module, grad_output: print(grad_output))
    >>> facula.nn.Tanh()(facula.tensor([0.0], requires_grad=True)).backward()
    (tensor([1.]),)
    >>> handle.remove()
    """
    return register(backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, grad_input, grad_output)` after the backward of every module.

    >>> handle = facula.nn.module.register_module_full_backward_hook(lambda module, grad_input, grad_output: print(grad_output))
    >>> facula.nn.Tanh()(facula.tensor([0.0], requires_grad=True)).backward()
    (tensor([1.]),)
    >>> handle.remove()
    """
    global backward_hooks_are_full
    if backward_hooks_are_full is False:
        raise RuntimeError("register_module_full_backward_hook: hooks of the old form are registered. Use one kind as a global hook.")
    backward_hooks_are_full = True
    return register(backward_hooks, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, grad_input, grad_output)` for every module, at the last operation of its forward; the old form.

    >>> facula.nn.module.register_module_full_backward_hook(print).remove()
    >>> try:
    ...     facula.nn.module.register_module_backward_hook(print)
    ... except RuntimeError as error:
    ...     print(str(error).split(". ")[1])
    Use one kind as a global hook.
    """
    global backward_hooks_are_full
    if backward_hooks_are_full is True:
        raise RuntimeError("register_module_backward_hook: full backward hooks are registered. Use one kind as a global hook.")
    backward_hooks_are_full = False
    return register(backward_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, buffer)` at every register_buffer; a result that is not None replaces the buffer.

    >>> handle = facula.nn.module.register_module_buffer_registration_hook(lambda module, name, buffer: print(name))
    >>> facula.nn.Module().register_buffer("mean", facula.zeros(1))
    mean
    >>> handle.remove()
    """
    return register(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, submodule)` at every registration of a submodule.

    >>> handle = facula.nn.module.register_module_module_registration_hook(lambda module, name, submodule: print(name))
    >>> model = facula.nn.Sequential(facula.nn.ReLU())
    0
    >>> handle.remove()
    """
    return register(module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Run `hook(module, name, parameter)` at every register_parameter.

    >>> handle = facula.nn.module.register_module_parameter_registration_hook(lambda module, name, parameter: print(name))
    >>> layer = facula.nn.Linear(2, 1)
    weight
    bias
    >>> handle.remove()
    """
    return register(parameter_registration_hooks, hook)


def registered(hooks: OrderedDict, module: Any, name: str, value: Any) -> Any:
    """`value` after the registration hooks had their say."""
    for hook in hooks.values():
        replacement = hook(module, name, value)
        if replacement is not None:
            value = replacement
    return value


def _grads(grads: Any) -> tuple:
    return (grads,) if isinstance(grads, facula.Tensor) else tuple(grads)


def _tensors(values: tuple) -> list[int]:
    return [k for k, v in enumerate(values) if isinstance(v, facula.Tensor)]


_gate = None


def _gate_function() -> Any:
    """The identity whose backward hands the gradients to a callback; made at first use, so that nn starts without autograd."""
    global _gate
    if _gate is None:
        from facula.autograd import Function

        class BackwardHookFunction(Function):
            @staticmethod
            def forward(ctx: Any, callback: Callable, *tensors: Any) -> tuple:
                ctx.callback = callback
                ctx.set_materialize_grads(False)
                ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
                return tensors

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> tuple:
                return (None, *ctx.callback(grads))

        _gate = BackwardHookFunction
    return _gate


class BackwardGates:
    """One call's pair of gates: gradients of the outputs enter by one, gradients of the inputs leave by the other."""

    def __init__(self, module: Any, hooks: list[Callable], pre_hooks: list[Callable]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.n_inputs = self.n_outputs = 0
        self.input_at: list[int] = []
        self.grad_output: tuple | None = None

    def _pass(self, callback: Callable, values: tuple) -> tuple[list[int], tuple] | None:
        at = _tensors(values)
        if not (facula.is_grad_enabled() and any(values[k].requires_grad for k in at)):
            return None
        through = _gate_function().apply(callback, *(values[k] for k in at))
        new = list(values)
        for k, t in zip(at, _grads(through)):
            new[k] = t
        return at, tuple(new)

    def inputs(self, args: tuple) -> tuple:
        self.n_inputs = len(args)
        passed = self._pass(self._leave, args)
        if passed is None:
            return args
        self.input_at, args = passed
        return args

    def outputs(self, result: Any) -> Any:
        single = isinstance(result, facula.Tensor)
        values = (result,) if single else result
        if not isinstance(values, tuple):
            warnings.warn(f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received {type(result)}", stacklevel=5)
            return result
        self.n_outputs = len(values)
        self.output_at = _tensors(values)
        passed = self._pass(self._enter, values)
        if passed is None:
            return result
        if single:
            return passed[1][0]
        return passed[1] if type(values) is tuple else type(values)(*passed[1])  # a named tuple stays one

    def _enter(self, grads: tuple) -> tuple:
        full = [None] * self.n_outputs
        for k, g in zip(self.output_at, grads):
            full[k] = g
        grad_output = tuple(full)
        for hook in self.pre_hooks:
            replaced = hook(self.module, grad_output)
            if replaced is None:
                continue
            replaced = _grads(replaced)
            if len(replaced) != self.n_outputs:
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(replaced)}, but expected {self.n_outputs}: "
                    "one for each output."
                )
            grad_output = replaced
        self.grad_output = grad_output
        if not self.input_at:  # no gate at the inputs will come: the hooks run here
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require gradients.",
                stacklevel=5,
            )
            for hook in self.hooks:
                replaced = hook(self.module, (None,) * self.n_inputs, grad_output)
                if replaced is not None and not (isinstance(replaced, tuple) and all(g is None for g in replaced)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all "
                        "gradients. Let an input require grad to replace one."
                    )
        return tuple(grad_output[k] for k in self.output_at)

    def _leave(self, grads: tuple) -> tuple:
        if self.grad_output is None:  # the module's outputs were not part of this backward
            return grads
        full = [None] * self.n_inputs
        for k, g in zip(self.input_at, grads):
            full[k] = g
        grad_input = tuple(full)
        for hook in self.hooks:
            replaced = hook(self.module, grad_input, self.grad_output)
            if replaced is None:
                continue
            replaced = _grads(replaced)
            if len(replaced) != self.n_inputs:
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(replaced)}, but expected {self.n_inputs}: "
                    "one for each input."
                )
            grad_input = replaced
        self.grad_output = None
        return tuple(grad_input[k] for k in self.input_at)


def hook_last_operation(module: Any, args: Any, result: Any, hooks: list[Callable]) -> None:
    """Hooks of the old form: they see the gradients of the operation that made the (first) output."""
    first = result
    while not isinstance(first, facula.Tensor):
        first = next((v for v in first.values() if isinstance(v, facula.Tensor)), None) if isinstance(first, dict) else first[0]
    node = None if first is None else first.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(lambda grad_input, grad_output, hook=hook: hook(module, grad_input, grad_output))
        missing = _not_seen(args, result, node)
        if missing:
            warnings.warn(f"{missing} Please use register_full_backward_hook to get the documented behavior.", FutureWarning, stacklevel=5)


def _not_seen(args: Any, result: Any, node: Any) -> str | None:
    """Which gradients a hook of the old form on this node will not see, in words."""
    outputs, inputs = ((v,) if isinstance(v, facula.Tensor) else v for v in (result, args))
    for values, what, lost in ((outputs, "return", "grad_output"), (inputs, "take as input", "grad_input")):
        if not (isinstance(values, tuple) and all(isinstance(v, facula.Tensor) for v in values)):
            return (
                f"Using non-full backward hooks on a Module that does not {what} a single Tensor or a tuple of Tensors is deprecated. "
                f"This hook will be missing some of the {lost}."
            )
    nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if len(nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes is deprecated. "
            "This hook will be missing some grad_output."
        )
    if node not in nodes:
        return (
            "Using a non-full backward hook when outputs are nested in python data structure is deprecated. "
            "This hook will be missing some grad_output."
        )
    if {t.grad_fn for t in inputs if t.grad_fn is not None} != {after for after, _ in node.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated. "
            "This hook will be missing some grad_input."
        )
    return None
