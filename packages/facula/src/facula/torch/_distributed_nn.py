"""torch.distributed.nn.functional: collectives that gradients go back through.

What a process receives is a sum or a copy of what others send, so the gradient is a collective too, the other way round.
"""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor
from facula import distributed as dist
from facula.autograd import Function
from facula.distributed import ReduceOp

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]


def _group(group: Any) -> Any:
    return dist.group.WORLD if group is None else group


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        out = tensor.clone(memory_format=facula.contiguous_format)
        dist.all_reduce(out, op=op, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        out = tensor.clone()
        dist.reduce(out, dst, op=op, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        out = tensor.clone()
        dist.broadcast(out, src, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        back = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        return None, None, back if dist.get_rank() == ctx.src else facula.zeros_like(back)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> tuple:
        ctx.group = group
        parts = [facula.empty_like(tensor) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, tensor.contiguous(), group=group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        mine = dist.get_rank(ctx.group)
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, facula.empty_like(grads[mine]), *grads)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, out: Tensor, *tensors: Tensor) -> Tensor:
        ctx.group = group
        out = facula.empty_like(out)
        dist.reduce_scatter(out, [t.contiguous() for t in tensors], op=op, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, out: list, *tensors: Tensor) -> tuple:
        ctx.group, ctx.shapes = group, [t.shape for t in tensors]
        made = [facula.empty_like(t) for t in out]
        dist.all_to_all(made, [t.contiguous() for t in tensors], group=group)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple:
        places = [grads[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, places, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, out: Tensor, received: Any, sent: Any, tensor: Tensor) -> Tensor:
        ctx.group, ctx.shape, ctx.received, ctx.sent = group, tensor.shape, received, sent
        made = facula.empty_like(out)
        dist.all_to_all_single(made, tensor.contiguous(), received, sent, group=group)
        return made

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        back = _AllToAllSingle.apply(ctx.group, grad.new_empty(ctx.shape), ctx.sent, ctx.received, grad)
        return None, None, None, None, back


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum (or what op says) of all processes' tensors, in each of them."""
    return _AllReduce.apply(op, _group(group), tensor)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """As all_reduce, in process dst; the others' results mean nothing."""
    return _Reduce.apply(dst, op, _group(group), tensor)


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """Process src's tensor."""
    return _Broadcast.apply(src, _group(group), tensor)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return _AllGather.apply(_group(group), tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes, in process dst; elsewhere zeros."""
    found = _AllGather.apply(_group(group), tensor)
    return found if dist.get_rank() == dst else tuple(part * 0 for part in found)


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """Process k's of the tensors that process src has; the others' give the shape."""
    return all_to_all([facula.empty_like(tensors[0]) for _ in tensors], list(tensors), group)[src]


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum of all processes' k-th tensors, in process k."""
    return _ReduceScatter.apply(op, _group(group), output, *input_list)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None) -> tuple[Tensor, ...]:
    """Tensor j of process i becomes tensor i of process j."""
    return _AllToAll.apply(_group(group), output_tensor_list, *input_tensor_list)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None) -> Tensor:
    """all_to_all of parts of one tensor."""
    return _AllToAllSingle.apply(_group(group), output, output_split_sizes, input_split_sizes, input)
