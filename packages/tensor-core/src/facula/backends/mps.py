"""Apple's Metal: not built."""


def is_available():
    """Is there a device?"""
    return False


def is_built():
    """Was it compiled in?"""
    return False


def is_macos13_or_newer(minor=0):
    """Is the system new enough?"""
    return False
