"""The fast path of multi-head attention in inference: there is one road here, so the switch is kept as set."""

_fast = True


def get_fastpath_enabled():
    """Is the fast path allowed?

    >>> facula.backends.mha.get_fastpath_enabled()
    True
    """
    return _fast


def set_fastpath_enabled(value):
    """Allow it or not.

    >>> facula.backends.mha.set_fastpath_enabled(False)
    >>> facula.backends.mha.get_fastpath_enabled()
    False
    >>> facula.backends.mha.set_fastpath_enabled(True)
    """
    global _fast
    _fast = bool(value)
