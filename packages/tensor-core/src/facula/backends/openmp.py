"""OpenMP: absent; the thread pool is our own."""


def is_available():
    """Is it there?"""
    return False
