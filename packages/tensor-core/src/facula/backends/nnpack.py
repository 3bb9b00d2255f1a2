"""NNPACK: absent; convolutions are our own. The switch is kept as set."""

import contextlib

_enabled = True


def is_available():
    """Is it there?

    >>> facula.backends.nnpack.is_available()
    False
    """
    return False


def set_flags(_enabled):
    """Allow it or not; what was set before, in a tuple.

    >>> before = facula.backends.nnpack.set_flags(False)
    >>> facula.backends.nnpack.set_flags(*before)
    (False,)
    """
    here = globals()
    before, here["_enabled"] = here["_enabled"], bool(_enabled)
    return (before,)


@contextlib.contextmanager
def flags(enabled=False):
    """Another setting of the switch within the block.

    >>> with facula.backends.nnpack.flags(enabled=False):
    ...     print("within")
    within
    """
    (before,) = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(before)
