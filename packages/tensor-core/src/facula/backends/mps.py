"""Apple's Metal: not built."""


def is_available():
    """Is there a device?

    >>> facula.backends.mps.is_available()
    False
    """
    return False


def is_built():
    """Was it compiled in?

    >>> facula.backends.mps.is_built()
    False
    """
    return False


def is_macos13_or_newer(minor=0):
    """Is the system new enough?

    >>> facula.backends.mps.is_macos13_or_newer()
    False
    """
    return False
