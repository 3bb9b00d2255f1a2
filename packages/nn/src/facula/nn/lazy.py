"""LazyModuleMixin, and the lazy layers: sizes that come with the first input."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from . import conv, normalization
from .linear import Linear
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyModuleMixin", "LazyLinear", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyInstanceNorm1d",
    "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class LazyModuleMixin:
    """For a Module with uninitialised parameters: the first call runs `initialize_parameters(*args)`, then it is `cls_to_become`.

    >>> layer = facula.nn.LazyLinear(3)
    >>> layer.has_uninitialized_params()
    True
    >>> _ = layer(facula.ones(2, 5))
    >>> type(layer).__name__
    'Linear'
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(_initialise, with_kwargs=True)
        self._load_hook = self._register_load_state_dict_pre_hook(self._take_shapes)

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer still waits for its shape."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialise the parameters for these arguments of forward."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def _take_shapes(self, state_dict: dict, prefix: str, *_: Any) -> None:
        """Before loading: what is lazy here and has a shape there takes that shape."""
        for name, t in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if t is not None and is_lazy(t) and isinstance(given, Tensor) and not is_lazy(given):
                t.materialize(given.shape)


def _initialise(module: Any, args: tuple, kwargs: dict) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized by initialize_parameters. Materialise all of them.")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose in_features comes with the first input.

    >>> layer = facula.nn.LazyLinear(3)
    >>> layer(facula.ones(2, 5)).shape
    torch.Size([2, 3])
    >>> layer.weight.shape
    torch.Size([3, 5])
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give weight and bias the number of features of `input`."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class _LazyConv(LazyModuleMixin):
    def _defer(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *_: Any, **__: Any) -> None:
        """Give weight and bias the number of channels of `input`."""
        ndim = len(self.kernel_size)
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-ndim - 1]
        if self.in_channels % self.groups:
            raise ValueError(f"in_channels {self.in_channels} must be divisible by groups {self.groups}")
        first, second = self.out_channels, self.in_channels // self.groups
        if self.transposed:
            first, second = self.in_channels, self.out_channels // self.groups
        self.weight.materialize((first, second, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


def _shown(final: type, arguments: str) -> str:
    """An example for the docstring of a lazy class: its first input has 3 channels."""
    name, sizes = final.__name__, ", 5" * int(final.__name__[-2])
    return f"\n\n>>> layer = facula.nn.Lazy{name}({arguments})\n>>> layer(facula.ones(2, 3{sizes})).shape[:2], type(layer).__name__\n(torch.Size([2, {arguments[:1] or 3}]), '{name}')\n"


def _lazy_conv(final: type, transposed: bool) -> type:
    class Lazy(_LazyConv, final):
        __doc__ = f"{final.__name__} whose in_channels comes with the first input." + _shown(final, "4, 1")
        cls_to_become = final

        if transposed:

            def __init__(
                self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
                dtype: Any = None,
            ) -> None:  # fmt: skip
                super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
                self._defer(out_channels, bias, device, dtype)
        else:

            def __init__(
                self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
            ) -> None:  # fmt: skip
                super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
                self._defer(out_channels, bias, device, dtype)

    Lazy.__name__ = Lazy.__qualname__ = "Lazy" + final.__name__
    return Lazy


class _LazyNorm(LazyModuleMixin, normalization._NormBase):
    """num_features comes with the first input."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self.__dict__["_lazy_options"] = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _make(self, n: int, weight: bool, bias: bool, track: bool, device: Any, dtype: Any) -> None:
        options = self.__dict__.pop("_lazy_options")
        self.register_parameter("weight", UninitializedParameter(**options) if weight else None)
        self.register_parameter("bias", UninitializedParameter(**options) if bias else None)
        self.register_buffer("running_mean", UninitializedBuffer(**options) if track else None)
        self.register_buffer("running_var", UninitializedBuffer(**options) if track else None)
        self.register_buffer("num_batches_tracked", facula.tensor(0, dtype=facula.int64, device=device) if track else None)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Give every parameter and buffer the number of channels of `input`."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for t in (self.weight, self.bias, self.running_mean, self.running_var):
                if t is not None and is_lazy(t):
                    t.materialize((self.num_features,))
            self.reset_parameters()


def _lazy_norm(final: type) -> type:
    class Lazy(_LazyNorm, final):
        __doc__ = f"{final.__name__} whose num_features comes with the first input." + _shown(final, "")
        cls_to_become = final

    Lazy.__name__ = Lazy.__qualname__ = "Lazy" + final.__name__
    return Lazy


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy_conv(c, False) for c in (conv.Conv1d, conv.Conv2d, conv.Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy_conv(c, True) for c in (conv.ConvTranspose1d, conv.ConvTranspose2d, conv.ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy_norm(c) for c in (normalization.BatchNorm1d, normalization.BatchNorm2d, normalization.BatchNorm3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy_norm(c) for c in (normalization.InstanceNorm1d, normalization.InstanceNorm2d, normalization.InstanceNorm3d)
)

