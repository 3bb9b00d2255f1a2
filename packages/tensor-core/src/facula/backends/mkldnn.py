"""oneDNN: absent; convolutions are our own. The switches are kept as set."""

import contextlib

enabled, deterministic, allow_tf32, fp32_precision = False, False, True, "none"


def is_available():
    """Is it there?

    >>> facula.backends.mkldnn.is_available()
    False
    """
    return False


@contextlib.contextmanager
def flags(enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """Other settings of the switches within the block.

    >>> with facula.backends.mkldnn.flags(enabled=False):
    ...     print("within")
    within
    """
    here = globals()
    before = {name: here[name] for name in ("enabled", "deterministic", "allow_tf32", "fp32_precision")}
    here.update(enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision)
    try:
        yield
    finally:
        here.update(before)
