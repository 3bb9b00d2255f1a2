"""From a function and what it is called with to the kernel that does it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import facula

from ... import tv_tensors
from .. import _picture as P

_KERNELS: dict[Callable, dict[object, Callable]] = {}


def is_pure_tensor(inpt) -> bool:
    """Is it a tensor that does not say what it is?

    >>> facula.vision.transforms.v2.functional.is_pure_tensor(facula.zeros(2))
    True
    """
    return isinstance(inpt, facula.Tensor) and not isinstance(inpt, tv_tensors.TVTensor)


def _rewrapping(kernel):
    """A kernel of plain tensors, for tensors that know what they are. A tuple of results: each."""

    def call(inpt, *args, **kwargs):
        out = kernel(inpt.as_subclass(facula.Tensor), *args, **kwargs)
        rewrap = lambda t: tv_tensors.wrap(t, like=inpt) if isinstance(t, facula.Tensor) else t
        return tuple(rewrap(t) for t in out) if isinstance(out, tuple) else rewrap(out)

    return call


def kernels(picture=None, mask=None, boxes=None, video=None):
    """The function of that name asks these; its own body says the arguments. video: where it is not the picture's; False: none."""

    def named(stated):
        table = {}
        if picture is not None:
            table = {facula.Tensor: picture, "PIL": picture, tv_tensors.Image: _rewrapping(picture)}
        if video is not False:
            table[tv_tensors.Video] = _rewrapping(video or picture)
            table.setdefault(facula.Tensor, video)
        if mask is not None:
            table[tv_tensors.Mask] = _rewrapping(mask)
        if boxes is not None:
            table[tv_tensors.BoundingBoxes] = boxes

        @functools.wraps(stated)
        def ask(inpt, *args, **kwargs):
            return kernel_of(ask, inpt)(inpt, *args, **kwargs)

        _KERNELS[ask] = table
        return ask

    return named


def kernel_of(function, inpt, passthrough: bool = False):
    """The kernel of a function here for what it is to be called with."""
    table = _KERNELS.get(function)
    if table is None:
        raise ValueError(f"No kernel registered for functional {function.__name__}.")
    if "PIL" in table and P.is_pil(inpt):
        return table["PIL"]
    for kind in type(inpt).__mro__:
        if kind in table:
            return table[kind]
        if kind is tv_tensors.TVTensor:  # a program's own kind is no plain tensor
            break
    if passthrough:
        return lambda inpt, *args, **kwargs: inpt
    kinds = [k if isinstance(k, str) else k.__name__ for k in table]
    raise TypeError(f"Functional F.{function.__name__} supports inputs of type {kinds}, but got {type(inpt)} instead.")


def register_kernel(functional, tv_tensor_cls):
    """A decorator: the function below is what `functional` does to that class of tv_tensors.

    >>> Heat = type("Heat", (facula.vision.tv_tensors.TVTensor,), {})
    >>> kernel = facula.vision.transforms.v2.functional.register_kernel("hflip", Heat)(lambda heat: -heat)
    >>> facula.vision.transforms.v2.functional.hflip(facula.ones(1).as_subclass(Heat))
    tensor([-1.])
    """
    from . import functional as all_of_them

    function = getattr(all_of_them, functional, None) if isinstance(functional, str) else functional
    if function not in _KERNELS:
        raise ValueError(f"register_kernel: no functional {functional} in transforms.v2.functional. Give one of its functions.")
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, tv_tensors.TVTensor)):
        raise ValueError(f"Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, but got {tv_tensor_cls}.")
    if tv_tensor_cls.__module__ == tv_tensors.__name__:
        raise ValueError(f"Kernels cannot be registered for the builtin tv_tensor classes, but got {tv_tensor_cls}")
    if tv_tensor_cls in _KERNELS[function]:
        raise ValueError(f"Functional {function.__name__} already has a kernel registered for type {tv_tensor_cls}.")

    def register(kernel):
        _KERNELS[function][tv_tensor_cls] = kernel
        return kernel

    return register
