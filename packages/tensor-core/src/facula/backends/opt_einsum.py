"""The package opt_einsum: not used; einsum finds its own order."""

enabled, strategy = False, None


def is_available():
    """Is it used?

    >>> facula.backends.opt_einsum.is_available()
    False
    """
    return False


def get_opt_einsum():
    """The package, None where it is not used.

    >>> facula.backends.opt_einsum.get_opt_einsum() is None
    True
    """
    return None
