"""Warnings that PyTorch gives once in a program, however often the reason comes back."""

import warnings

always = False  # what set_warn_always was told
_given = set()


def once(said, stacklevel=2, of=None):
    """A UserWarning of the caller's caller, the first time that this is said; `of` names what is said once where the text tells numbers."""
    if always or (of or said) not in _given:
        _given.add(of or said)
        warnings.warn(said, UserWarning, stacklevel=stacklevel + 1)


def superseded(name, successor):
    """`name` was called, which has a successor."""
    once(f"{name} is deprecated and will be removed in a future PyTorch release. Use {successor} instead.", stacklevel=3)


def discarded(x, dtype):
    """The complex x becomes of dtype."""
    if 0 < dtype._kind < 3 and x.numel() and not x.is_meta:
        once("Casting complex values to real discards the imaginary part. Take .real, or .abs(), to say which part you want.", stacklevel=3)


def has_history():
    """A number is taken out of a tensor that requires grad."""
    once("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using tensor.detach() first.", stacklevel=3)


def typed_storage():
    """A storage was made that knows its dtype."""
    once("TypedStorage is deprecated: UntypedStorage will be the only storage class. Ask tensor.untyped_storage() instead of tensor.storage().", stacklevel=3)
