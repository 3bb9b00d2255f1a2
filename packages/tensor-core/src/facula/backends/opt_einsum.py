"""The package opt_einsum: not used; einsum finds its own order."""

enabled, strategy = False, None


def is_available():
    """Is it used?"""
    return False


def get_opt_einsum():
    """The package, None where it is not used."""
    return None
