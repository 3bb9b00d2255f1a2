"""`Tensor(...)` called like a function: sizes or data, of the default dtype, as PyTorch's old constructor does."""

from facula.tensor_core import _create, _state
from facula.tensor_core._tensor import Tensor, make_subclass


def construct(cls, *data, dtype=None, device=None):
    """Tensor(2, 3): uninitialised of that size; Tensor([1, 2]): those values; Tensor(other): its memory."""
    dtype = dtype or _state.get_default_dtype()
    if not data:
        t = _create.empty(0, dtype=dtype)
    elif len(data) == 1 and isinstance(data[0], Tensor):
        t = data[0].detach()
    elif len(data) == 1 and not hasattr(data[0], "__index__") and not type(data[0]).__name__ == "Size":
        t = _create.tensor(data[0], dtype=dtype)
    else:
        t = _create.empty(*data, dtype=dtype)
    if cls is Tensor:
        return t
    return make_subclass(cls, t)
