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

        class SparseRows(Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(ctx: Any, weight: Tensor, index: Tensor, padding: int | None) -> Tensor:
                ctx.size, ctx.padding = tuple(weight.shape), padding
                ctx.save_for_backward(index)
                return weight.index_select(0, index.reshape(-1)).reshape(*index.shape, weight.size(1))

            @staticmethod
            def backward(ctx: Any, grad: Tensor) -> tuple:
                index = ctx.saved_tensors[0].reshape(-1)
                values = grad.reshape(index.numel(), ctx.size[1])
                if ctx.padding is None:
                    index = index.clone()  # the gradient outlives what was looked up
                else:
                    kept = (index != ctx.padding).nonzero().reshape(-1)
                    index, values = index[kept], values[kept]
                return facula.sparse_coo_tensor(index.unsqueeze(0), values, ctx.size), None, None

        _function = SparseRows
    return _function
