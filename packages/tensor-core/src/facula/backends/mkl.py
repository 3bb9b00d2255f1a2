"""Intel's MKL: absent; products are our own."""


def is_available():
    """Is it there?

    >>> facula.backends.mkl.is_available()
    False
    """
    return False
