"""Rows of a table whose gradient is a sparse tensor: as large as what was looked up, not as the table."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

_function = None


def sparse_rows(weight: Tensor, index: Tensor, padding: int | None) -> Tensor:
    """weight[index]. The gradient lists each index that is not `padding`."""
    return _made().apply(weight, index, padding)


def _made() -> Any:
    """The autograd Function, made at first use so that nn starts without autograd."""
    global _function
    if _function is None:
        from facula.autograd import Function
        from facula.autograd.function import once_differentiable

        class SparseRows(Function):
            @staticmethod
            def forward(ctx: Any, weight: Tensor, index: Tensor, padding: int | None) -> Tensor:
                ctx.index, ctx.size, ctx.padding = index.reshape(-1), tuple(weight.shape), padding
                return weight.index_select(0, ctx.index).reshape(*index.shape, weight.size(1))

            @staticmethod
            @once_differentiable
            def backward(ctx: Any, grad: Tensor) -> tuple:
                index, values = ctx.index, grad.reshape(-1, ctx.size[1])
                if ctx.padding is not None:
                    kept = (index != ctx.padding).nonzero().reshape(-1)
                    index, values = index[kept], values[kept]
                return facula.sparse_coo_tensor(index.unsqueeze(0), values, ctx.size), None, None

        _function = SparseRows
    return _function
