"""RNN, LSTM, GRU and their cells."""

from __future__ import annotations

import math
import warnings
from typing import Any

import facula
from facula import Tensor
from facula.tensor_core.extend import one_step

from . import functional as F
from . import init
from ._recurrent import GATES, run_cell, run_layer
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]


class RNNBase(Module):
    """Layers of a recurrence in one or two directions; mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".

    >>> isinstance(facula.nn.LSTM(3, 5), facula.nn.RNNBase), facula.nn.RNNBase("GRU", 3, 5)(facula.ones(7, 2, 3))[0].shape
    (True, torch.Size([7, 2, 5]))
    """

    _younger = {"proj_size": 0}

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                f"dropout should be a number in range [0, 1] representing the probability of an element being zeroed, got {dropout!r}"
            )
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=2,
            )
        if not isinstance(input_size, int):
            raise TypeError(f"input_size should be of type int, got: {type(input_size).__name__}")
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        if input_size <= 0:
            raise ValueError(f"input_size must be greater than zero, got {input_size}")
        if hidden_size <= 0:
            raise ValueError(f"hidden_size must be greater than zero, got {hidden_size}")
        if num_layers <= 0:
            raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
        if proj_size < 0:
            raise ValueError(f"proj_size should be a positive integer or zero to disable projections, got {proj_size}")
        if proj_size >= hidden_size:
            raise ValueError(f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        gates, out = GATES[mode] * hidden_size, proj_size or hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                inputs = input_size if layer == 0 else out * (2 if bidirectional else 1)
                shapes = [("weight_ih", (gates, inputs)), ("weight_hh", (gates, out))]
                if bias:
                    shapes += [("bias_ih", (gates,)), ("bias_hh", (gates,))]
                if proj_size:
                    shapes.append(("weight_hr", (proj_size, hidden_size)))
                names = [f"{name}_l{layer}{suffix}" for name, _ in shapes]
                for name, (_, shape) in zip(names, shapes):
                    setattr(self, name, Parameter(facula.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial values again: uniform on +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: weights need not lie side by side here."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [w for weights in self.all_weights for w in weights]

    def __getstate__(self) -> dict:
        # Pickled whole, the layer is read by PyTorch too, which keeps these as attributes.
        return super().__getstate__() | {"_flat_weights_names": self._flat_weights_names, "_flat_weights": self._flat_weights}

    def __setstate__(self, state: dict) -> None:
        state = {key: value for key, value in state.items() if key not in ("_flat_weights_names", "_flat_weights", "_flat_weight_refs")}
        if "all_weights" in state:  # its name before PyTorch 0.2
            state["_all_weights"] = state.pop("all_weights")
        super().__setstate__(state)

    def _weights(self, k: int) -> list:
        """w_ih, w_hh, b_ih, b_hh, w_hr of the k-th layer and direction."""
        given = dict(zip((name.split("_l")[0] for name in self._all_weights[k]), self.all_weights[k]))
        return [given.get(name) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0), ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text

    # -- what subclasses with a forward of their own ask

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse elements of another dtype than the weights', and an input that is not (steps, rows, input_size), or packed (rows, input_size)."""
        held, dims = getattr(self, self._all_weights[0][0]).dtype, 3 if batch_sizes is None else 2
        if input.dtype is not held and not facula.is_autocast_enabled("cpu"):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({held}). Convert input: input.to({held}), or convert model: model.to({input.dtype})"
            )
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _expected(self, input: Tensor, batch_sizes: Tensor | None, width: int) -> tuple[int, int, int]:
        rows = input.size(0 if self.batch_first else 1) if batch_sizes is None else int(batch_sizes[0])
        return self.num_layers * (2 if self.bidirectional else 1), rows, width

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of h for an input: (layers times directions, rows, width)."""
        return self._expected(input, batch_sizes, self._state_sizes()[0])

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}") -> None:
        """Refuse a part of the state of another shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input, or a state for it, that forward cannot take."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its rows in another order; None: in this one."""
        return _permuted(hx, permutation)

    # -- forward

    def _state_sizes(self) -> tuple[int, ...]:
        """The widths of the state's parts: h, and for LSTM c."""
        out = self.proj_size or self.hidden_size
        return (out, self.hidden_size) if self.mode == "LSTM" else (out,)

    @one_step(view="StackBackward0")
    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        packed = input if isinstance(input, PackedSequence) else None
        batched = True
        if packed is not None:
            x, rows = packed.data, int(packed.batch_sizes[0])
            sizes = packed.batch_sizes.to(x.device)
        else:
            if input.dim() not in (2, 3):
                raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
            batched = input.dim() == 3
            x = input if batched else input.unsqueeze(0 if self.batch_first else 1)
            x = x.transpose(0, 1) if self.batch_first else x
            steps, rows = x.shape[:2]
            if not steps:
                raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
            sizes = facula.full((steps,), rows, dtype=facula.int64, device=x.device)
        self.check_input(x, None if packed is None else sizes)
        state = self._initial_state(hx, x, rows, batched, packed)
        if self.mode == "LSTM" and facula.is_autocast_enabled("cpu"):  # a cell's or a GRU's state stays what it is, as PyTorch's does
            state = tuple(s.to(facula.get_autocast_dtype("cpu")) for s in state)
        plain = self.mode == "LSTM" and not self.proj_size and x.dtype in (facula.float32, facula.bfloat16) and (packed is None or rows == int(packed.batch_sizes[-1]))
        x = x.reshape(-1, x.size(-1))
        if plain:  # PyTorch has a faster road here, whose gradients are contiguous
            x = x.contiguous()
        out, state = self._run(x, state, sizes, plain)
        if packed is not None:
            state = tuple(_permuted(s, packed.unsorted_indices) for s in state)
            result: Any = PackedSequence(out, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        else:
            out = out.reshape(steps, rows, out.size(-1))
            result = out.transpose(0, 1) if self.batch_first else out
            if not batched:
                result = result.squeeze(0 if self.batch_first else 1)
                state = tuple(s.squeeze(1) for s in state)
        return result, state if self.mode == "LSTM" else state[0]

    def _initial_state(self, hx: Any, x: Tensor, rows: int, batched: bool, packed: Any) -> tuple:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        if hx is None:
            return tuple(facula.zeros((layers, rows, n), dtype=x.dtype, device=x.device) for n in self._state_sizes())
        if self.mode == "LSTM":
            given = (hx[0], hx[1])
        else:
            given = (hx,)
        wanted_dim = 3 if batched else 2
        if any(s.dim() != wanted_dim for s in given):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            if self.mode == "LSTM":
                got = ", ".join(f"{s.dim()}-D" for s in given)
                raise RuntimeError(f"For {kind} input, hx and cx should also be {wanted_dim}-D but got ({got}) tensors")
            raise RuntimeError(f"For {kind} input, hx should also be {wanted_dim}-D but got {hx.dim()}-D tensor")
        given = tuple(s if batched else s.unsqueeze(1) for s in given)
        for s, n, name in zip(given, self._state_sizes(), ("hidden[0]", "hidden[1]") if self.mode == "LSTM" else ("hidden",)):
            self.check_hidden_size(s, (layers, rows, n), f"Expected {name} size {{}}, got {{}}")
        return given if packed is None else tuple(_permuted(s, packed.sorted_indices) for s in given)

    def _run(self, x: Tensor, state: tuple, sizes: Any, plain: bool) -> tuple[Tensor, tuple]:
        directions = 2 if self.bidirectional else 1
        last: list[tuple] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                k = layer * directions + direction
                w_ih, w_hh, *others = self._weights(k)
                if plain:
                    w_ih, w_hh = w_ih.contiguous(), w_hh.contiguous()
                out, end = run_layer(self.mode, x, tuple(s[k] for s in state), [w_ih, w_hh, *others], sizes, bool(direction))
                outputs.append(out)
                last.append(end)
            x = outputs[0] if directions == 1 else facula.cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, True)
        return x, tuple(facula.stack(parts, 0) for parts in zip(*last))


def _permuted(s: Tensor, order: Tensor | None) -> Tensor:
    return s if order is None else s.index_select(1, order)


def _refuse(name: str, others: dict[str, Any]) -> None:
    """The error for keywords that only LSTM, or nobody, takes."""
    if "proj_size" in others:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if others:
        raise TypeError(f"{name}.__init__() got an unexpected keyword argument {next(iter(others))!r}")


class RNN(RNNBase):
    """Elman's recurrence: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    >>> import facula
    >>> from facula import nn
    >>> nn.RNN(3, 4)(facula.zeros(5, 2, 3))[0].shape
    torch.Size([5, 2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        **others: Any,
    ) -> None:
        _refuse("RNN", others)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(
            "RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )


class LSTM(RNNBase):
    """Long short-term memory; the state is (h, c), and proj_size projects h.

    >>> import facula
    >>> from facula import nn
    >>> out, (h, c) = nn.LSTM(3, 4, num_layers=2)(facula.zeros(5, 2, 3))
    >>> out.shape, h.shape, c.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 2, 4]), torch.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        )

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of c for an input."""
        return self._expected(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input, or a state (h, c) for it, that forward cannot take."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state (h, c) with its rows in another order; None: in this one."""
        return hx if permutation is None else tuple(_permuted(s, permutation) for s in hx)


class GRU(RNNBase):
    """Gated recurrent unit.

    >>> import facula
    >>> from facula import nn
    >>> out, h = nn.GRU(3, 4, batch_first=True)(facula.zeros(2, 5, 3))
    >>> out.shape, h.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
        **others: Any,
    ) -> None:
        _refuse("GRU", others)
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)


class RNNCellBase(Module):
    """One step of a recurrence, with num_chunks gates.

    >>> facula.nn.LSTMCell(3, 5).weight_ih.shape, facula.nn.RNNCellBase(3, 5, True, 4).weight_ih.shape
    (torch.Size([20, 3]), torch.Size([20, 3]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(facula.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(facula.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(facula.empty(gates, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the initial values again: uniform on +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _step(self, mode: str, input: Tensor, hx: Any) -> tuple:
        if input.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        parts = 2 if mode == "LSTM" else 1
        if hx is not None:
            if mode != "LSTM":
                hx = (hx,)
            elif isinstance(hx, Tensor) and input.dim() == 2:  # without a batch its two rows are h and c, as in PyTorch
                raise TypeError(f"{self._get_name()}: hx must be a tuple of two tensors, h and c, got one tensor of shape {tuple(hx.shape)}. Give (h, c).")
            elif len(hx) != 2:
                raise RuntimeError(f"{self._get_name()}: expected two hidden states, h and c, got {len(hx)}. Give (h, c).")
            for k, s in enumerate(hx):
                if s.dim() not in (1, 2):
                    name = f"hx[{k}]" if mode == "LSTM" else "hidden"
                    raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {s.dim()}D instead")
                if input.dim() == 2 and s.size(0) != input.size(0):
                    raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{k} batch size {s.size(0)}")
                if s.size(-1 if input.dim() == 1 else 1) != self.hidden_size:
                    raise RuntimeError(f"hidden{k} has inconsistent hidden_size: got {s.size(-1)}, expected {self.hidden_size}")
        single = input.dim() == 1
        x = input.unsqueeze(0) if single else input
        if hx is None:
            hx = (facula.zeros((x.size(0), self.hidden_size), dtype=x.dtype, device=x.device),) * parts
        elif single:
            hx = tuple(s.unsqueeze(0) if s.dim() == 1 else s for s in hx)
        if hx[0].size(0) != x.size(0):
            raise RuntimeError(f"Input batch size {x.size(0)} doesn't match hidden0 batch size {hx[0].size(0)}")
        state = run_cell(mode, x, tuple(hx), self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return tuple(s.squeeze(0) for s in state) if single else state


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    >>> import facula
    >>> from facula import nn
    >>> nn.RNNCell(3, 4)(facula.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step("RNN_" + self.nonlinearity.upper(), input, hx)[0]


class LSTMCell(RNNCellBase):
    """One step of LSTM: (h', c').

    >>> import facula
    >>> from facula import nn
    >>> h, c = nn.LSTMCell(3, 4)(facula.zeros(2, 3))
    >>> h.shape, c.shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        return self._step("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """One step of GRU.

    >>> import facula
    >>> from facula import nn
    >>> nn.GRUCell(3, 4)(facula.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        h = self._step("GRU", input, hx)[0]
        if hx is not None and not hx.is_contiguous() and hx.dim() == 2 and 0 < hx.stride(0) < hx.stride(1):
            h = h.transpose(0, 1).contiguous().transpose(0, 1)  # as hx - n lies
        return h
