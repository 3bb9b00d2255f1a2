"""Whether a thread records gradients."""

import threading


class _Mode(threading.local):
    grad = True  # of a thread that never said otherwise


_local = _Mode()  # no ThreadState: _unusual counts the threads
_unusual = 0  # threads in a mode other than the default; the thread-local is read only when it is not 0
_lock = threading.Lock()


def grad_mode():
    """Does this thread record gradients?"""
    return _unusual == 0 or _local.grad


def set_grad_mode(flag):
    """Set it for this thread; answers the previous value."""
    global _unusual
    before = _local.grad
    if flag != before:
        with _lock:
            _unusual += 1 if before else -1
        _local.grad = flag
    return before
