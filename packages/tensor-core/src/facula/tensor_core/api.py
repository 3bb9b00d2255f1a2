"""Everything that `facula` itself offers: the rows' functions and, over them, the hand-written ones, which win by name."""

from facula.tensor_core import _einops, _limits, _ops, _types
from facula.tensor_core.functions import create as _create, dims as _dims, einsum as _einsum, ranges as _ranges, shape as _shape, joining as _joining, splitting as _splitting, rearranging as _rearranging
from facula.tensor_core.memory import data as _data, dlpack as _dlpack, legacy as _legacy, storage as _storage
from facula.tensor_core.functions import bins as _bins, conjugate as _conjugate, settings as _settings
from facula.tensor_core.dispatch import guard as _guard
from facula.tensor_core import _methods, _print, _state
from facula.tensor_core.functions import index as _index, index_key as _index_key, fills as _fills, math as _math, matrix as _matrix, order as _order, overloads as _overloads, pointwise as _pointwise, products as _products, put as _put, reductions as _reductions, statistics as _statistics
from facula.tensor_core.memory import interop as _interop
from facula.tensor_core.random import generator as _generator
from facula.tensor_core.random import draws as _random
from facula.tensor_core.files import serialization as _serialization
from facula.tensor_core.sparse import making as _sparse
from facula.tensor_core._errors import AcceleratorError, DeviceError, DTypeError, GradError, OutOfMemoryError, ShapeError
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import Size, device, dtype, layout, memory_format

# rows that exist to be composed: their public face is hand-written or a method
PRIVATE = {"copy", "alias", "slice", "where_rows", "arange_of", "linspace_of", "max_index", "min_index", "norm_p", "clamp_tensor", "clamp_numbers", "unfold", "expand", "view", "view_dtype"}
PRIVATE |= {"draw_bernoulli_", "draw_poisson_", "draw_gamma_", "draw_binomial_", "complex_view", "real_view", "trunc_divide"}
PRIVATE |= {"avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad", "adaptive_avg_pool", "adaptive_avg_pool_grad", "adaptive_max_pool", "convolution_grad_input", "convolution_grad_weight"}
_guard.guard_all()
_public = {n: getattr(_ops, n) for n in _ops.FUNCTIONS if n not in PRIVATE and not n.startswith("_")}
for _module in (_create, _ranges, _data, _shape, _dims, _joining, _splitting, _rearranging, _index, _index_key, _matrix, _math, _fills, _pointwise, _conjugate, _overloads, _reductions, _order, _interop, _state, _print, _generator, _random, _serialization, _dlpack, _storage, _legacy, _limits, _settings, _einsum, _products, _put, _sparse, _statistics, _bins):
    _public.update({n: getattr(_module, n) for n in _module.__all__})
_public["_standard_gamma"], _public["_sample_dirichlet"] = _random._standard_gamma, _random._sample_dirichlet
_public.update(_types.BY_NAME)
_public.update(_types.ALIASES)
_public.update({n: getattr(_types, n) for n in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d")})
_public.update(inf=float("inf"), nan=float("nan"), pi=3.141592653589793, e=2.718281828459045, newaxis=None)
_methods.attach(_public)
_einops.arrange()
globals().update({n: f for n, f in _public.items() if not n.endswith("_") or n.startswith("__")})
# PyTorch has the in-place forms of functions of one tensor as functions too, torch.relu_(x), and a few of others
_inplace = {op.name + "_" for op in _ops.OPS if op.kind == "map1" and not op.name.startswith(("_", "is")) and op.name not in PRIVATE}
_inplace |= {n + "_" for n in _ops.FUNCTIONS if n + "_" in _ops.FUNCTIONS and getattr(_ops, n).__name__ + "_" in _inplace}
_inplace = {n: getattr(_ops, n) for n in _inplace | {"gcd_", "lcm_", "xlogy_"} if hasattr(_ops, n)}
_inplace |= {n: getattr(Tensor, n) for n in ("abs_", "round_", "clamp_", "clamp_min_", "clamp_max_", "clip_", "logit_", "nan_to_num_", "ldexp_")}
globals().update(_inplace)

__all__ = sorted({*(n for n in _public if not n.endswith("_")), *_inplace} | {
    "AcceleratorError", "DTypeError", "DeviceError", "GradError", "OutOfMemoryError", "ShapeError", "Size", "Tensor", "device", "dtype", "layout", "memory_format",
})  # fmt: skip
