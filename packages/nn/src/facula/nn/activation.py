"""Activation modules: the functions of functional._activation with their parameters kept."""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula import Tensor

from . import functional as F
from . import init as initialise
from .module import Module
from .parameter import Parameter

__all__ = [
    "Threshold", "ReLU", "RReLU", "Hardtanh", "ReLU6", "Sigmoid", "Hardsigmoid", "Tanh", "SiLU", "Mish", "Hardswish",
    "ELU", "CELU", "SELU", "GLU", "GELU", "Hardshrink", "LeakyReLU", "LogSigmoid", "Softplus", "Softshrink", "PReLU",
    "Softsign", "Tanhshrink",
]  # fmt: skip


def _with_inplace(text: str, inplace: bool) -> str:
    return ", ".join(part for part in (text, "inplace=True" if inplace else "") if part)


class Threshold(Module):
    """x where x > threshold, else value.

    >>> import facula
    >>> from facula import nn
    >>> nn.Threshold(0.5, 9.0)(facula.tensor([-1.0, 2.0]))
    tensor([9., 2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"threshold={self.threshold}, value={self.value}", self.inplace)


class ReLU(Module):
    """max(0, x).

    >>> import facula
    >>> from facula import nn
    >>> nn.ReLU()(facula.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace("", self.inplace)


class RReLU(Module):
    """leaky_relu with random slopes in training.

    >>> import facula
    >>> from facula import nn
    >>> nn.RReLU().eval()(facula.tensor([-2.4, 2.0]))
    tensor([-0.5500,  2.0000])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"lower={self.lower}, upper={self.upper}", self.inplace)


class Hardtanh(Module):
    """x kept within [min_val, max_val].

    >>> import facula
    >>> from facula import nn
    >>> nn.Hardtanh()(facula.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, value in (("min", min_value), ("max", max_value)):
            if value is not None:
                warnings.warn(f"keyword argument `{old}_value` is deprecated and rename to `{old}_val`", FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"Hardtanh: max_val {self.max_val} must be larger than min_val {self.min_val}.")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


class ReLU6(Hardtanh):
    """min(max(0, x), 6).

    >>> import facula
    >>> from facula import nn
    >>> nn.ReLU6()(facula.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return _with_inplace("", self.inplace)


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> import facula
    >>> from facula import nn
    >>> nn.Sigmoid()(facula.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return facula.sigmoid(input)


class Tanh(Module):
    """tanh(x).

    >>> import facula
    >>> from facula import nn
    >>> nn.Tanh()(facula.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return facula.tanh(input)


class Hardsigmoid(Module):
    """0 below -3, 1 above 3, x / 6 + 1 / 2 between.

    >>> import facula
    >>> from facula import nn
    >>> nn.Hardsigmoid()(facula.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """0 below -3, x above 3, x (x + 3) / 6 between.

    >>> import facula
    >>> from facula import nn
    >>> nn.Hardswish()(facula.tensor([-4.0, 1.0]))
    tensor([-0.0000, 0.6667])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class SiLU(Module):
    """x sigmoid(x).

    >>> import facula
    >>> from facula import nn
    >>> nn.SiLU()(facula.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace("", self.inplace)


class Mish(Module):
    """x tanh(softplus(x)).

    >>> import facula
    >>> from facula import nn
    >>> nn.Mish()(facula.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace("", self.inplace)


class ELU(Module):
    """x where x > 0, else alpha (exp(x) - 1).

    >>> import facula
    >>> from facula import nn
    >>> nn.ELU()(facula.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class CELU(Module):
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1)).

    >>> import facula
    >>> from facula import nn
    >>> nn.CELU(2.0)(facula.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class SELU(Module):
    """The self-normalising elu.

    >>> import facula
    >>> from facula import nn
    >>> nn.SELU()(facula.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace("", self.inplace)


class GLU(Module):
    """a * sigmoid(b), where a and b are the halves along `dim`.

    >>> import facula
    >>> from facula import nn
    >>> nn.GLU()(facula.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """x Phi(x), or its tanh approximation.

    >>> import facula
    >>> from facula import nn
    >>> nn.GELU()(facula.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """x where |x| > lambd, else 0.

    >>> import facula
    >>> from facula import nn
    >>> nn.Hardshrink()(facula.tensor([-1.0, 0.3]))
    tensor([-1.,  0.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(Module):
    """x where x > 0, else negative_slope * x.

    >>> import facula
    >>> from facula import nn
    >>> nn.LeakyReLU(0.1)(facula.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"negative_slope={self.negative_slope}", self.inplace)


class LogSigmoid(Module):
    """log(sigmoid(x)).

    >>> import facula
    >>> from facula import nn
    >>> nn.LogSigmoid()(facula.tensor([-1.0, 2.0]))
    tensor([-1.3133, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta.

    >>> import facula
    >>> from facula import nn
    >>> nn.Softplus()(facula.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """x moved by lambd towards 0.

    >>> import facula
    >>> from facula import nn
    >>> nn.Softshrink()(facula.tensor([-1.0, 0.3]))
    tensor([-0.5000,  0.0000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """x where x > 0, else a learnt slope (one, or one for each channel) times x.

    >>> import facula
    >>> from facula import nn
    >>> nn.PReLU()(facula.tensor([-1.0, 2.0])).tolist()
    [-0.25, 2.0]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(facula.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init` again."""
        initialise.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """x / (1 + |x|).

    >>> import facula
    >>> from facula import nn
    >>> nn.Softsign()(facula.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    >>> import facula
    >>> from facula import nn
    >>> nn.Tanhshrink()(facula.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)
