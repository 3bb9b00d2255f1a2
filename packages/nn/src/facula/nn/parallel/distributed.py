"""DistributedDataParallel: one copy of a module in each process, each with its part of the batch, all with the mean gradient."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterator, Sequence

import facula
from facula import Tensor

from ..module import Module

__all__ = ["DistributedDataParallel"]


class _Reducer:
    """What averages a model's gradients, as trainers address it."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self._model = model

    def prepare_for_backward(self, outputs: list[Tensor]) -> None:
        """Lets the next backward average, whatever the forward before it was told. outputs: those it begins at; none are needed."""
        self._model._averages = True


class DistributedDataParallel(Module):
    """`module`, whose gradients become their mean over the group's processes as soon as each is known.

    Rank 0's parameters and buffers are everybody's from the start, its buffers again before each forward (broadcast_buffers).
    In a group of one process all of that changes nothing. The mean is taken gradient by gradient, in the order in which backward
    finishes them: every process has to run the same graph.
    find_unused_parameters: processes may use different parameters. The means are taken at the end of backward, of those that any process
    has used since the last time; a process that has no gradient of one counts as zeros there, and gets the mean.
    bucket_cap_mb, gradient_as_bucket_view and static_graph tell PyTorch how to pack messages and have no part in the numbers.

    Raises ValueError where facula.distributed has no process group, RuntimeError where nothing in module can be trained.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = facula.nn.parallel.DistributedDataParallel(facula.nn.Linear(2, 1))
    >>> model(facula.ones(3, 2)).shape
    torch.Size([3, 1])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        facula.distributed.get_world_size(process_group)  # ValueError where there is no group
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with GPU modules, "
                f"but got device_ids {device_ids}, output_device {output_device}. Leave both out: the module is on the CPU."
            )
        self.module = module
        self.device_ids = None
        self.output_device = None
        self.dim, self.process_group = dim, process_group
        self.broadcast_buffers, self.find_unused_parameters, self.static_graph = broadcast_buffers, find_unused_parameters, static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True  # whether the next forward sends buffers: those behind a backward without averages do not
        self._averages = False  # whether the latest forward's backward is to be averaged
        if init_sync:
            self._send_first([*module.parameters(), *module.buffers()])
        self._trained = trained if find_unused_parameters else []
        self._used: set[int] = set()  # places in _trained that a backward has reached since the last means
        self._ends = False  # whether the backward under way takes means at its end
        for k, p in enumerate(trained):
            p.register_post_accumulate_grad_hook(functools.partial(self._note, k) if find_unused_parameters else self._average)

    def _send_first(self, tensors: list[Tensor]) -> None:
        for t in tensors:
            facula.distributed.broadcast(t, 0, group=self.process_group)

    def _average(self, parameter: Tensor) -> None:
        if self._averages:
            dist = facula.distributed
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG, group=self.process_group)

    def _note(self, place: int, parameter: Tensor) -> None:
        self._used.add(place)
        if self._averages and not self._ends:
            self._ends = True
            facula.autograd.Variable._execution_engine.queue_callback(self._average_used)

    def _average_used(self) -> None:
        """The means of what any process has used, in the same order everywhere."""
        dist, self._ends = facula.distributed, False
        used = facula.tensor([k in self._used for k in range(len(self._trained))], dtype=facula.int32)
        self._used.clear()
        dist.all_reduce(used, group=self.process_group)
        for count, parameter in zip(used.tolist(), self._trained):
            if count:
                if parameter.grad is None:
                    parameter.grad = facula.zeros_like(parameter, requires_grad=False)
                self._average(parameter)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Forwards inside leave their gradients to this process; the next one outside averages what has accumulated."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @property
    def reducer(self) -> _Reducer:
        return _Reducer(self)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        if facula.is_grad_enabled():
            self._averages = self.require_backward_grad_sync
        if self.broadcast_buffers and self.require_forward_param_sync:
            self._send_first(list(self.module.buffers()))
        out = self.module(*inputs, **kwargs)
        if self.find_unused_parameters and facula.is_grad_enabled() and self._averages and not self._leads_to_parameters(out):
            self._average_used()  # no backward will come here, and the others wait
        self.require_forward_param_sync = facula.is_grad_enabled() and self.require_backward_grad_sync
        return out

    def _leads_to_parameters(self, out: Any) -> bool:
        """Does the history of a forward's results begin at a parameter?"""
        wanted = {id(p) for p in self._trained}
        stack = [t if t.grad_fn is None else t.grad_fn for t in _tensors(out) if t.requires_grad]
        seen = set()
        while stack:
            node = stack.pop()
            if id(node if isinstance(node, Tensor) else getattr(node, "variable", None)) in wanted:
                return True
            if not isinstance(node, Tensor) and node not in seen:
                seen.add(node)
                stack.extend(n for n, _ in node.next_functions if n is not None)
        return False


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in what a forward gives: lists, tuples, dicts and dataclasses of them."""
    if isinstance(value, Tensor):
        yield value
    elif hasattr(type(value), "__dataclass_fields__"):  # without the module, which costs every program 4 ms
        for field in value.__dataclass_fields__.values():
            yield from _tensors(getattr(value, field.name))
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)
