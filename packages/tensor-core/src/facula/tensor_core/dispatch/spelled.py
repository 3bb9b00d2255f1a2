"""How PyTorch spells a call for a __torch_function__, and which types it names.

Its functions in C pass on what they were given. Those in Python pass on their parameters: by position what has to be given, by name what has a default;
and to a mode they name the type of plain tensors too, as do C methods without parameters and properties.
"""

import functools
import inspect
import types

from facula.tensor_core._tensor import Tensor

# functions in Python, by where they are; of nn.functional those in C
PYTHON = {
    "facula": "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum lobpcg lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot "
    "unique unique_consecutive unravel_index",
    "Tensor": "__array__ __contains__ __deepcopy__ __dlpack__ __dlpack_device__ __floordiv__ __format__ __ipow__ __iter__ __len__ __pow__ __reduce_ex__ __repr__ __reversed__ "
    "__rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rpow__ __rrshift__ __rsub__ __rdiv__ __rtruediv__ __setstate__ backward dim_order is_shared istft lu norm register_hook "
    "register_post_accumulate_grad_hook share_memory_ split stft storage unflatten unique unique_consecutive __array_wrap__ index resize resize_as",
    "facula.autograd": "backward grad",
    "facula.nn.init": "constant_ kaiming_uniform_ normal_ uniform_",
}
C_OF_NN = {
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear", "logsigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_", "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_",
}  # fmt: skip
_INIT = ("tensor", "val", "mean", "std", "a", "b")
BY_NAME = {"unravel_index": ("shape",), "tensordot": ("dims",), **dict.fromkeys(("constant_", "normal_", "uniform_", "kaiming_uniform_"), _INIT)}  # named, default or none
BY_POSITION = {"unflatten": ("dim", "sizes"), "__array_wrap__": ()}  # and the other way
_FURTHER = {"axis", "axes", "keepdims", "grad_variables", "return_scalar", "context", "copy"}  # names that PyTorch's Python functions do not have, or do not pass on


@functools.cache
def python():
    """{function: its signature} of those that are in Python there."""
    from facula.tensor_core.dispatch.override import homes

    found = {}
    for home in (Tensor, *homes()):
        if home.__name__ == "facula.nn.functional":
            names = [n for n in vars(home) if n not in C_OF_NN and not n.startswith("_")]
        else:
            names = PYTHON.get(home.__name__, "").split()
        for f in (getattr(home, n, None) for n in names):
            row = home is not Tensor and getattr(f, "__globals__", {}).get("__name__") == "facula.tensor_core._ops"
            if isinstance(f, types.FunctionType) and f.__globals__["__name__"].startswith("facula") and not row:
                found[f] = signature(f)
    return found


def signature(f):
    """That of what f does: f itself may be asking at the moment."""
    asking = (f.__kwdefaults__ or {}).get("_facula_")
    return inspect.signature(f if asking is None else asking[0])


def spelled(func, args, kwargs):
    """(args, kwargs) as PyTorch passes them on."""
    of = python().get(func) if isinstance(func, types.FunctionType) else None
    if of is None or func.__name__.startswith("__r") or func.__name__ in ("__floordiv__", "pow", "pow_"):
        return args, kwargs
    try:
        bound = of.bind(*args, **kwargs)
    except TypeError:  # it will say so itself
        return args, kwargs
    bound.apply_defaults()
    given, named = [], {}
    for name, p in of.parameters.items():
        value = bound.arguments[name]
        if p.kind is p.VAR_POSITIONAL:
            given += value
        elif p.kind is p.VAR_KEYWORD:
            named.update(value)
        elif name in BY_POSITION.get(func.__name__, ()) or p.default is p.empty and name not in BY_NAME.get(func.__name__, ()):
            given.append(value)
        elif name not in _FURTHER:
            named[name] = value
    return tuple(given), named


def kinds_of(func, args, kwargs):
    """The types that a mode is told of."""
    from facula.tensor_core.dispatch.override import overriding

    kinds = [type(x) for x in overriding(args, kwargs)]
    if names_plain(func):
        kinds += dict.fromkeys(type(x) for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and type(x) not in kinds)
    return tuple(kinds)


def named_kinds(func, relevant, args, kwargs):
    """The types that the objects which answer for themselves are told of: a function in Python names that of plain tensors as well."""
    from facula.tensor_core.dispatch.override import overriding

    if isinstance(func, types.FunctionType) and func in python():
        relevant = overriding(args, kwargs, True)
    return tuple(type(x) for x in relevant)


def names_plain(func):
    if not isinstance(func, types.FunctionType):
        return getattr(func, "__name__", "") not in ("size", "stride")  # of properties and C methods
    return func in python() or alone(func)


_ALSO = {"apply_", "dense_dim", "new", "new_tensor", "positive", "sparse_dim", "t_"}  # methods with parameters that name it


@functools.cache
def alone(func):
    """Is it a method that takes nothing besides the tensor?"""
    if vars(Tensor).get(func.__name__) is not func:
        return False
    parameters = signature(func).parameters.values()
    return func.__name__ in _ALSO or all(p.name == "out" for p in list(parameters)[1:])
