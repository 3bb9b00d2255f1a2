"""NumPy's OpenBLAS on one thread while our rows run.

It splits even small matrices over all CPUs whatever facula.set_num_threads says, and its threads wait by spinning: where they share
the CPUs with anything else, eigh of 60 x 60 takes 90 ms instead of 0.3. One thread also gives the same bits on machines of any size.
Another LAPACK below NumPy (MKL, Accelerate) is left as it is.
"""

import functools
import threading

_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")
_lock = threading.Lock()
_inside, _before = 0, 1  # calls that run now; threads when the first of them began: the setting is the process's, not the thread's


@functools.cache
def openblas():
    """OpenBLAS's (get, set) of its number of threads, or None."""
    import ctypes

    from numpy.linalg import _umath_linalg

    library = ctypes.PyDLL(_umath_linalg.__file__)  # its symbols include those of the libraries it is linked to
    for name in _NAMES:
        if hasattr(library, name.format("set")):
            return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


def one_thread(compute):
    """compute, called with OpenBLAS on one thread."""

    @functools.wraps(compute)
    def called(*args):
        global _inside, _before
        threads = openblas()
        if threads is None:
            return compute(*args)
        get, put = threads
        with _lock:
            if not _inside and (_before := get()) > 1:
                put(1)
            _inside += 1
        try:
            return compute(*args)
        finally:
            with _lock:
                _inside -= 1
                if not _inside and _before > 1:
                    put(_before)

    return called
