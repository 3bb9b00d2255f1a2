"""cuDNN: absent. The switches are kept as set; convolutions here are deterministic whatever they say."""

import contextlib

enabled, benchmark, deterministic, allow_tf32, benchmark_limit = True, False, False, True, 10


def is_available():
    """Is it there?

    >>> facula.backends.cudnn.is_available()
    False
    """
    return False


def version():
    """Its version, None where it is absent.

    >>> facula.backends.cudnn.version() is None
    True
    """
    return None


def is_acceptable(tensor):
    """Could it compute on this tensor?

    >>> facula.backends.cudnn.is_acceptable(facula.ones(1))
    False
    """
    return False


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True, fp32_precision="none"):
    """Other settings of the switches within the block.

    >>> with facula.backends.cudnn.flags(benchmark=True):
    ...     facula.backends.cudnn.benchmark
    True
    """
    here = globals()
    before = {name: here[name] for name in ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")}
    here.update(enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic, allow_tf32=allow_tf32)
    try:
        yield
    finally:
        here.update(before)
