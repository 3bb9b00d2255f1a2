"""Checkpointing: keep no intermediate values of a part of the model, and compute that part again in backward.

    use_reentrant=False   what the part saves for backward is replaced by a place number; the first use of one runs the part
                          again, stops when everything is there, and hands the values out
    use_reentrant=True    the part runs without recording, as a Function whose backward records and differentiates it
"""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import facula
from facula.autograd import Function, _core, _engine, backward, enable_grad, graph
from facula.autograd.grad_mode import is_inference
from facula.autograd._selective import CheckpointPolicy, Log, SelectiveCheckpointContext, create_selective_checkpoint_contexts

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup", "SelectiveCheckpointContext", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """The second run did not save what the first one did.

    >>> issubclass(facula.utils.checkpoint.CheckpointError, RuntimeError)
    True
    """


def noop_context_fn() -> tuple:
    """The default of context_fn: nothing around either run.

    >>> first, second = facula.utils.checkpoint.noop_context_fn()
    >>> with first, second:
    ...     print("nothing around")
    nothing around
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False, early_stop=True, **kwargs) -> Any:
    """function(*args), which will run again in backward instead of keeping what it saves.

    preserve_rng_state (default True) gives the second run the random numbers of the first. context_fn returns two context
    managers, for the first and the second run. determinism_check "none" skips comparing what the two runs save.
    debug=True adds to the error the operators of both runs, with the lines that called them.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> facula.utils.checkpoint.checkpoint(lambda x: x.exp().log() ** 2, x, use_reentrant=False).backward()
    >>> x.grad
    tensor([4.])
    """
    if use_reentrant is None:
        warnings.warn("checkpoint: the use_reentrant parameter should be passed explicitly; use_reentrant=False is recommended.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(f"checkpoint: unexpected keyword arguments {', '.join(kwargs)} with use_reentrant=True. Use use_reentrant=False.")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("checkpoint: context_fn and debug need use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: determinism_check must be 'default' or 'none', not {determinism_check!r}.")
    if _debug and _debug[0] is not None:
        debug = _debug[0]
    before, again = context_fn()
    run = Run(function, args, kwargs, preserve, again, determinism_check == "default", debug, _early_stop[0] if _early_stop else early_stop)
    if not _core.grad_mode():
        with before:
            return function(*args, **kwargs)
    with graph.saved_tensors_hooks(run.pack, run.explained if debug else run.unpack), run.logged(), before:
        out = function(*args, **kwargs)
    run.complete = True
    return out


_early_stop, _debug = [], []


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled) -> Iterator[None]:
    """A block that decides for all checkpoints whether an error shows the operators of both runs; None leaves it to their `debug`.

    >>> with facula.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     y = facula.utils.checkpoint.checkpoint(facula.exp, facula.zeros(1), use_reentrant=False)
    >>> y
    tensor([1.])
    """
    _debug.insert(0, enabled)
    try:
        yield
    finally:
        _debug.pop(0)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable) -> Iterator[None]:
    """A block that decides for all checkpoints whether the second run stops when everything needed is there.

    >>> with facula.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = facula.utils.checkpoint.checkpoint(facula.exp, facula.zeros(1), use_reentrant=False)
    >>> y
    tensor([1.])
    """
    _early_stop.insert(0, enable)
    try:
        yield
    finally:
        _early_stop.pop(0)


def detach_variable(inputs) -> tuple:
    """A tuple's tensors without history, as leaves that require grad where they did; anything else as it is."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"detach_variable: Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, facula.Tensor) else x for x in inputs)


def check_backward_validity(inputs) -> None:
    """Warn where no tensor among them requires grad."""
    if not any(x.requires_grad for x in inputs if isinstance(x, facula.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def get_device_states(*args) -> tuple:
    """(devices, their random states) of the tensors among args that lie on devices: none do."""
    return [], []


class GraphExecGroup:
    """A block whose backward calls, over parts of the graph that do not overlap, run each checkpointed part again at most once.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> with facula.utils.checkpoint.GraphExecGroup():
    ...     facula.utils.checkpoint.checkpoint(facula.square, x, use_reentrant=False).backward()
    >>> x.grad
    tensor([4.])
    """

    _local = _core.extend.ThreadState()

    def __enter__(self) -> GraphExecGroup:
        if self._get_current_group() is not None:
            raise RuntimeError(f"GraphExecGroup: contexts cannot be nested. Already inside group {self._get_current_group()!r}: leave it first.")
        self._local.group = self
        return self

    def __exit__(self, *error) -> None:
        self._local.group = None

    @classmethod
    def _get_current_group(cls) -> Any:
        return getattr(cls._local, "group", None)


class DefaultDeviceType:
    """The kind of device whose random state a checkpoint keeps beside the CPU's, where no argument lies on one: here "cpu".

    >>> facula.utils.checkpoint.DefaultDeviceType.get_device_type()
    'cpu'
    """

    _said = None

    @staticmethod
    def set_device_type(device="cuda") -> None:
        """Say which."""
        DefaultDeviceType._said = device

    @staticmethod
    def get_device_type() -> str:
        """What was said, else "cpu"."""
        return DefaultDeviceType._said or "cpu"


def set_device_states(devices, states, *, device_type=None) -> None:
    """Set the random states of devices. Raises AssertionError where there are states to set and no such device.

    >>> facula.utils.checkpoint.set_device_states([], [])
    """
    kind = DefaultDeviceType.get_device_type() if device_type is None else device_type
    if kind == "meta":
        return
    for device, state in zip(devices, states):
        if kind == "cpu":
            facula.set_rng_state(state)
        else:
            facula.get_device_module(kind).set_rng_state(state, device)


class Place:
    """What the graph keeps instead of a saved tensor."""

    __slots__ = ("number", "about", "value", "taken", "task", "__weakref__")

    def __init__(self, number, about) -> None:
        self.number, self.about, self.value = number, about, None
        self.taken = None  # the GraphExecGroup in which the value was handed out
        self.task = -1  # the backward in which it was


class Enough(Exception):
    """Ends the second run: everything that is needed has been saved again."""


def versions(args) -> list:
    """Of each argument the version, None where it is no tensor or an inference tensor."""
    return [_core.tensor_version(a._v if a.is_sparse else a) if isinstance(a, facula.Tensor) and not is_inference(a) else None for a in args]


class Run:
    """One checkpointed call."""

    def __init__(self, function, args, kwargs, preserve, again, check, debug, early_stop) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.versions = versions(args)
        self.state = facula.get_rng_state() if preserve else None
        self.again, self.check, self.early_stop = again, check, early_stop
        self.logs = [] if debug else None  # of the first run and the latest again
        self.casts = casts_now()
        self.places = []  # weak: a place that the graph dropped needs no value
        self.complete = False  # whether the first run has ended: the function itself may go backward, and so run again, before

    def logged(self) -> contextlib.AbstractContextManager:
        """A block whose operators are written down, if that is asked for."""
        if self.logs is None:
            return contextlib.nullcontext()
        del self.logs[1:]
        self.logs.append(Log())
        return _core.extend.interpreter(self.logs[-1])

    def explained(self, place) -> facula.Tensor:
        """unpack, whose error shows what both runs did."""
        try:
            return self.unpack(place)
        except CheckpointError as error:
            first, again = ("\n".join(log.rows) for log in (*self.logs, Log())[:2])
            raise CheckpointError(
                f"{error}\nYou are seeing this error because you passed `debug=True` to checkpoint and the two runs did not save the same. Find where their operators part:\n"
                f"Operations executed during the original forward:\n{first}\nOperations executed during recomputation:\n{again}"
            ) from None

    def pack(self, tensor) -> Any:
        place = Place(len(self.places), (tuple(tensor.shape), tensor.dtype, tensor.device))
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place) -> facula.Tensor:
        group = GraphExecGroup._get_current_group()
        if group is not None and place.taken is group:
            raise CheckpointError(
                f"checkpoint: value {place.number} is asked for twice within one GraphExecGroup: backward calls there must run over parts of the graph "
                "that do not overlap. Leave the block before the second one."
            )
        place.taken = group
        task = _engine.task_number()
        if place.value is None:
            if task >= 0 and place.task == task:
                raise CheckpointError(
                    f"checkpoint: Unpack is being triggered for a tensor that was already unpacked once: value {place.number}. If you are calling ctx.saved_tensors in backward, "
                    "make sure to do so only once. Otherwise, one backward runs the function again at most once."
                )
            self.run_again()
        place.task = task
        if place.value is None:
            raise CheckpointError(f"checkpoint: A different number of tensors was saved during the original forward and recomputation: value {place.number} of {len(self.places)} is missing.")
        value, place.value = place.value, None
        return value

    def run_again(self) -> None:
        for k, (saved_at, now) in enumerate(zip(self.versions, versions(self.args))):
            if saved_at != now:
                raise _core.GradError(
                    f"checkpoint: one of the variables needed for gradient computation has been modified by an inplace operation: argument {k} {tuple(self.args[k].shape)}, "
                    f"given at version {saved_at}, is now {now}; expected version {saved_at} instead. Clone it before the in-place operation."
                )
        count = 0
        different = []

        def keep(tensor) -> facula.Tensor:
            nonlocal count
            if count >= len(self.places) and self.complete and self.check:
                raise CheckpointError(f"checkpoint: trying to save more tensors during recomputation than during the original forward pass, which saved {len(self.places)}. The function must do the same each time.")
            place = self.places[count]() if count < len(self.places) else None
            if place is not None:
                about = (tuple(tensor.shape), tensor.dtype, tensor.device)
                if self.check and about != place.about:
                    different.append((count, place.about, about))
                place.value = tensor if tensor._origin is None else tensor.detach()
            count += 1
            if self.early_stop and count == len(self.places):
                raise Enough
            return tensor

        with contextlib.ExitStack() as stack:
            if self.state is not None:
                stack.enter_context(random_state(self.state))
            stack.enter_context(enable_grad())
            stack.enter_context(casting(self.casts))
            stack.enter_context(graph.saved_tensors_hooks(keep, lambda tensor: tensor))
            stack.enter_context(self.logged())
            stack.enter_context(self.again)
            try:
                self.function(*self.args, **self.kwargs)
            except Enough:
                pass
        if count != len(self.places) and self.check and (self.complete or count < len(self.places)):
            raise CheckpointError(f"checkpoint: A different number of tensors was saved during the original forward and recomputation: {len(self.places)} and {count}. The function must do the same each time.")
        if different:
            values = ", ".join(f"value {k} was {first} and is {second}" for k, first, second in different)
            raise CheckpointError(f"checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass: {values}. The function must do the same each time.")


@contextlib.contextmanager
def random_state(state) -> Iterator[None]:
    """A block whose random numbers follow `state`; afterwards the stream goes on as if it had not been."""
    outside = facula.get_rng_state()
    facula.set_rng_state(state)
    try:
        yield
    finally:
        facula.set_rng_state(outside)


def casts_now() -> dict | None:
    """How autocast is set for the CPU: the arguments of the innermost one, or None."""
    module = sys.modules.get("facula.amp.autocast_mode")  # who never imported it is not in one
    a = module and module._current("cpu")
    return a and {"dtype": a.fast_dtype, "enabled": a._enabled, "cache_enabled": a._cache_enabled}


def casting(casts) -> contextlib.AbstractContextManager:
    """A block in which autocast is as `casts` says: the second run is to compute what the first one did."""
    if casts is None and casts_now() is None:
        return contextlib.nullcontext()
    from facula.amp.autocast_mode import autocast

    return autocast("cpu", **(casts or {"enabled": False}))


class CheckpointFunction(Function):
    """The reentrant form.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> facula.utils.checkpoint.checkpoint(facula.exp, x, use_reentrant=True).grad_fn.name()
    'CheckpointFunctionBackward'
    """

    @staticmethod
    def forward(ctx, function, preserve, *args) -> Any:
        ctx.function_again, ctx.state, ctx.casts = function, facula.get_rng_state() if preserve else None, casts_now()
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, facula.Tensor)]
        ctx.rest = [None if isinstance(a, facula.Tensor) else a for a in args]
        ctx.wanted = [args[i].requires_grad for i in ctx.places]  # as asked now: one that function returns as it is will require it
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        if not any(ctx.wanted):
            warnings.warn("checkpoint: none of the inputs have requires_grad=True. Gradients will be None.", stacklevel=5)
        return function(*args)

    @staticmethod
    def backward(ctx, *grads) -> tuple:
        if _engine.capturing():
            raise RuntimeError("checkpoint: torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward() when use_reentrant=True. Use use_reentrant=False.")
        args = list(ctx.rest)
        for i, t, wanted in zip(ctx.places, ctx.saved_tensors, ctx.wanted):
            args[i] = t.detach().requires_grad_(wanted)
        with contextlib.ExitStack() as stack:
            if ctx.state is not None:
                stack.enter_context(random_state(ctx.state))
            stack.enter_context(enable_grad())
            stack.enter_context(casting(ctx.casts))
            out = ctx.function_again(*args)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        live = [(o, g) for o, g in zip(outs, grads) if isinstance(o, facula.Tensor) and o.requires_grad]
        if not live:
            raise RuntimeError("checkpoint: none of output has requires_grad=True, this checkpoint() is not necessary. Call the function itself.")
        backward([o for o, _ in live], [g for _, g in live])
        return (None, None, *[a.grad if isinstance(a, facula.Tensor) else None for a in args])


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs) -> Any:
    """input through `functions` one after the other, in `segments` checkpointed parts; the last part keeps its values.

    >>> x = facula.tensor([2.0], requires_grad=True)
    >>> facula.utils.checkpoint.checkpoint_sequential([facula.exp, facula.log, facula.square], 2, x, use_reentrant=False).backward()
    >>> x.grad
    tensor([4.])
    """
    if use_reentrant is None:
        warnings.warn("checkpoint_sequential: the use_reentrant parameter should be passed explicitly; use_reentrant=False is recommended.", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"checkpoint_sequential: unexpected keyword arguments {', '.join(kwargs)}.")
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    if not 1 <= segments <= len(steps):
        raise ValueError(f"checkpoint_sequential: cannot make {segments} segments of {len(steps)} functions. Choose between 1 and {len(steps)}.")
    size = len(steps) // segments
    starts = [k * size for k in range(segments) if k * size < len(steps)]

    def part(start, end) -> Callable:
        def run(x) -> Any:
            for step in steps[start:end]:
                x = step(x)
            return x

        return run

    for start, end in zip(starts[:-1], starts[1:]):
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(starts[-1], len(steps))(input)
