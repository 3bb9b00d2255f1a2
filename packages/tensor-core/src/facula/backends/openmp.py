"""OpenMP: absent; the thread pool is our own."""


def is_available():
    """Is it there?

    >>> facula.backends.openmp.is_available()
    False
    """
    return False
