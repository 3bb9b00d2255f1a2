"""torch.autograd.functional's helpers, which libraries with derivatives of their own import."""

from __future__ import annotations

from typing import Any

from facula import Tensor


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> tuple:
    """(was it a tuple, the tuple), each item being a tensor, else TypeError; without names the tuple alone, of anything."""
    if arg_name is None and fn_name is None:
        return tuple(inp) if isinstance(inp, (tuple, list)) else (inp,)
    was_tuple = isinstance(inp, tuple)
    items = inp if was_tuple else (inp,)
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            which = f"the value at index {i}" if was_tuple else f"the given {arg_name}"
            raise TypeError(f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but {which} has type {type(item)}.")
    return was_tuple, items


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """res, taken out of the tuples that _as_tuple made: to_unpack says of each level whether it was one before."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    if not inner:
        res = tuple(item[0] for item in res)
    return res if outer else res[0]


def _grad_postprocess(inputs: tuple, create_graph: bool) -> tuple:
    """Tensors, nested or not, without history unless it was asked for."""
    if isinstance(inputs[0], Tensor):
        return inputs if create_graph else tuple(x.detach() for x in inputs)
    return tuple(_grad_postprocess(x, create_graph) for x in inputs)


def _construct_standard_basis_for(tensors: tuple[Tensor, ...], tensor_numels: tuple[int, ...]) -> tuple[Tensor, ...]:
    """The columns of an identity matrix divided among tensors: (N, tensor_numels[i]) each, N their sum, in the tensor's dtype."""
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError(f"_construct_standard_basis_for: {len(tensors)} tensors and {len(tensor_numels)} sizes. Give as many, and at least one.")
    parts, begin, total = [], 0, sum(tensor_numels)
    for tensor, columns in zip(tensors, tensor_numels):
        part = tensor.new_zeros(total, columns)
        part.diagonal(-begin).fill_(1)
        parts.append(part)
        begin += columns
    return tuple(parts)


