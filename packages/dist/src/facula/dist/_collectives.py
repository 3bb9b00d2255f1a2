"""Collectives on tensors. Every result is written into tensors that the caller gives."""

from __future__ import annotations

import facula

from ._engines import ReduceOp
from ._group import ProcessGroup, _group_of
from ._work import Work, _array, _check_rank, _done, _seconds, _write

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]


def _tensors(op: str, tensors, count: int, like) -> list:
    tensors = list(tensors)
    if len(tensors) != count:
        raise ValueError(f"{op}: got {len(tensors)} tensors in a world of {count}. Give one for each process.")
    for t in tensors:
        if not isinstance(t, facula.Tensor) or t.dtype != like.dtype or t.numel() != like.numel():
            found = f"{tuple(t.shape)} {t.dtype}" if isinstance(t, facula.Tensor) else type(t).__name__
            raise ValueError(
                f"{op}: tensors should be like {tuple(like.shape)} {like.dtype}, one is {found}. Make them alike."
            )
    return tensors


def _reduction(op_name: str, op: ReduceOp, tensor) -> ReduceOp:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{op_name}: op should be a ReduceOp, got {op!r}. Use ReduceOp.SUM or another one.")
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError(f"{op_name}: Cannot use ReduceOp.{op.name} with {tensor.dtype}. Use integers or bool.")
    if op is ReduceOp.AVG and not (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError(f"{op_name}: Cannot use ReduceOp.AVG with {tensor.dtype}. Convert to a floating dtype.")
    return op


def all_reduce(tensor, op=ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False):
    """Replaces `tensor` everywhere by the reduction over all processes.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = facula.tensor([1.0, 2.0])
    >>> dist.all_reduce(x)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    _write(tensor, engine.all_reduce(_array("all_reduce", tensor), _reduction("all_reduce", op, tensor)))
    return _done(async_op)


def reduce(tensor, dst: int | None = None, op=ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False):
    """Replaces `tensor` on rank `dst` by the reduction over all processes.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = facula.tensor([1.0, 2.0])
    >>> dist.reduce(x, dst=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    dst = _check_rank("reduce", "dst", dst, engine)
    result = engine.all_reduce(_array("reduce", tensor), _reduction("reduce", op, tensor))
    if engine.rank == dst:
        _write(tensor, result)
    return _done(async_op)


def broadcast(tensor, src: int | None = None, group: ProcessGroup | None = None, async_op: bool = False):
    """Replaces `tensor` everywhere by that of rank `src`.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = facula.tensor([1.0, 2.0])
    >>> dist.broadcast(x, src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    src = _check_rank("broadcast", "src", src, engine)
    _write(tensor, engine.broadcast(_array("broadcast", tensor), src))
    return _done(async_op)


def all_gather(tensor_list, tensor, group: ProcessGroup | None = None, async_op: bool = False):
    """Fills tensor_list[r] with the tensor of rank r, everywhere.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [facula.zeros(2)]
    >>> dist.all_gather(found, facula.tensor([1.0, 2.0]))
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    for out, array in zip(
        _tensors("all_gather", tensor_list, engine.size, tensor), engine.all_gather(_array("all_gather", tensor))
    ):
        _write(out, array)
    return _done(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group: ProcessGroup | None = None, async_op: bool = False):
    """Fills `output_tensor`, as large as all inputs, with them one after the other.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = facula.zeros(2)
    >>> dist.all_gather_into_tensor(found, facula.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    if output_tensor.numel() != engine.size * input_tensor.numel():
        raise ValueError(
            f"all_gather_into_tensor: output has {output_tensor.numel()} elements, {engine.size} inputs have "
            f"{input_tensor.numel()} each. Make it {engine.size * input_tensor.numel()}."
        )
    import numpy

    _write(output_tensor, numpy.stack(engine.all_gather(_array("all_gather_into_tensor", input_tensor))))
    return _done(async_op)


def gather(tensor, gather_list=None, dst: int | None = None, group: ProcessGroup | None = None, async_op: bool = False):
    """Fills gather_list[r] on rank `dst` with the tensor of rank r.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [facula.zeros(2)]
    >>> dist.gather(facula.tensor([1.0, 2.0]), found, dst=0)
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    dst = _check_rank("gather", "dst", dst, engine)
    if (gather_list is None) == (engine.rank == dst):
        raise ValueError(
            f"gather: Argument gather_list must be specified on destination rank and only there: rank {engine.rank}, "
            f"dst {dst}. Give it there alone."
        )
    if gather_list is not None:
        gather_list = _tensors("gather", gather_list, engine.size, tensor)
    for out, array in zip(gather_list or [], engine.all_gather(_array("gather", tensor))):
        _write(out, array)
    return _done(async_op)


def scatter(tensor, scatter_list=None, src: int | None = None, group: ProcessGroup | None = None, async_op=False):
    """Fills `tensor` on rank r with scatter_list[r] of rank `src`.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = facula.zeros(2)
    >>> dist.scatter(x, [facula.tensor([1.0, 2.0])], src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    src = _check_rank("scatter", "src", src, engine)
    if (scatter_list is None) == (engine.rank == src):
        raise ValueError(
            f"scatter: Argument scatter_list must be specified on source rank and only there: rank {engine.rank}, "
            f"src {src}. Give it there alone."
        )
    if scatter_list is None:
        arrays = [_array("scatter", tensor)] * engine.size
    else:
        arrays = [_array("scatter", t) for t in _tensors("scatter", scatter_list, engine.size, tensor)]
    _write(tensor, engine.all_to_all(arrays)[src])
    return _done(async_op)


def all_to_all(output_tensor_list, input_tensor_list, group: ProcessGroup | None = None, async_op: bool = False):
    """output_tensor_list[r] becomes what rank r has for this one in its input_tensor_list.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [facula.zeros(2)]
    >>> dist.all_to_all(found, [facula.tensor([1.0, 2.0])])
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    inputs = _tensors("all_to_all", input_tensor_list, engine.size, list(input_tensor_list)[0])
    outputs = _tensors("all_to_all", output_tensor_list, engine.size, inputs[0])
    for out, array in zip(outputs, engine.all_to_all([_array("all_to_all", t) for t in inputs])):
        _write(out, array)
    return _done(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group: ProcessGroup | None = None, async_op: bool = False):
    """`output` becomes, along dim 0, the parts that every rank's `input` has for this one.

    The sizes of the parts: those given, or equal ones. Raises RuntimeError where they do not add up.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = facula.zeros(2)
    >>> dist.all_to_all_single(found, facula.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    parts = list(input.split(_parts("input", input, input_split_sizes, engine.size)))
    sizes = _parts("output", output, output_split_sizes, engine.size)
    arrays = engine.all_to_all([_array("all_to_all_single", t) for t in parts])
    for out, array in zip(output.detach().split(sizes), arrays):
        _write(out, array)
    return _done(async_op)


def _parts(name: str, tensor, sizes, count: int) -> list[int]:
    rows = tensor.shape[0]
    sizes = list(sizes) if sizes else [rows // count] * count
    if len(sizes) != count or sum(sizes) != rows:
        raise RuntimeError(
            f"all_to_all_single: {name} has {rows} rows, for {count} processes in parts of {sizes}. Give one size for each, adding up to {rows}."
        )
    return sizes


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False):
    """`output` on rank r becomes the reduction of every process's input_list[r].

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = facula.zeros(2)
    >>> dist.reduce_scatter(found, [facula.tensor([1.0, 2.0])])
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    import numpy

    engine = _group_of(group).engine
    op = _reduction("reduce_scatter", op, output)
    arrays = [_array("reduce_scatter", t) for t in _tensors("reduce_scatter", input_list, engine.size, output)]
    _write(output, engine.all_reduce(numpy.stack(arrays), op)[engine.rank])
    return _done(async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False):
    """As reduce_scatter, of one tensor cut into equal parts.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = facula.zeros(2)
    >>> dist.reduce_scatter_tensor(found, facula.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    size = _group_of(group).size()
    if input.numel() != size * output.numel():
        raise ValueError(
            f"reduce_scatter_tensor: input has {input.numel()} elements, {size} outputs have {output.numel()} each. "
            f"Make it {size * output.numel()}."
        )
    return reduce_scatter(output, list(input.reshape(size, -1)), op, group, async_op)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: list[int] | None = None):
    """Waits until every process is here. device_ids: those of GPUs, which the engines here have none of. Raises TypeError for what is no list of them.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.barrier()
    >>> dist.destroy_process_group()
    """
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError(f"barrier: device_ids is a list of numbers, got {type(device_ids).__name__} {device_ids!r}.")
    _group_of(group).engine.barrier()
    return _done(async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout=None, wait_all_ranks: bool = False) -> None:
    """barrier(), which says who did not come in time: the first one missed, or all with wait_all_ranks. MPI waits for all.

    >>> import facula.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.monitored_barrier()
    >>> dist.destroy_process_group()
    """
    engine = _group_of(group).engine
    if not hasattr(engine, "missing"):
        engine.barrier()
    elif missing := engine.missing(_seconds(timeout), wait_all_ranks):
        ranks = ", ".join(str(rank) for rank, _ in missing)
        raise RuntimeError(f"monitored_barrier: rank {ranks} did not come to it: {missing[0][1]}")
