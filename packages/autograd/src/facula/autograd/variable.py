"""Variable: the name that tensors with gradients had before PyTorch 0.4. It makes a tensor, and every tensor is one."""

from __future__ import annotations

from . import _engine
from ._core import Tensor


class VariableMeta(type):
    """type(Variable): every tensor is an instance of Variable.

    >>> isinstance(facula.ones(1), facula.autograd.Variable)
    True
    """
    def __instancecheck__(cls, other) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """Variable(data, requires_grad=False) is data as a tensor of its own; `isinstance(t, Variable)` is true of every tensor.

    >>> import facula
    >>> facula.autograd.Variable(facula.ones(2), requires_grad=True).requires_grad
    True
    """

    _execution_engine = _engine  # libraries ask it for queue_callback

    def __new__(cls, data=None, requires_grad=False, volatile=None) -> Tensor:
        if volatile is not None:
            import warnings

            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning, stacklevel=2)
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = data.detach()
        if requires_grad:
            made.requires_grad = True
        return made
