"""torch.sparse.FloatTensor and its like: the old constructors of sparse tensors."""

from __future__ import annotations

from typing import Any

import facula


class _SparseType(type):
    def __call__(cls, indices: Any = None, values: Any = None, size: Any = None) -> Any:
        if indices is None:
            indices, values, size = facula.empty(1, 0, dtype=facula.int64), facula.empty(0, dtype=cls.dtype), (0,)
        elif values is None:  # an empty tensor of that size
            size, indices = indices, facula.empty(len(indices), 0, dtype=facula.int64)
            values = facula.empty(0, dtype=cls.dtype)
        return facula.sparse_coo_tensor(indices, values, *(() if size is None else (tuple(size),)), dtype=cls.dtype)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, facula.Tensor) and thing.is_sparse and thing.dtype is cls.dtype


def _made(name: str, dtype: Any) -> type:
    return _SparseType(name, (), {"dtype": dtype, "__module__": "torch.sparse", "__doc__": f"Sparse tensors of {dtype}: (indices, values, size) or (size)."})


FloatTensor = _made("FloatTensor", facula.float32)
DoubleTensor = _made("DoubleTensor", facula.float64)
HalfTensor = _made("HalfTensor", facula.float16)
IntTensor = _made("IntTensor", facula.int32)
LongTensor = _made("LongTensor", facula.int64)
