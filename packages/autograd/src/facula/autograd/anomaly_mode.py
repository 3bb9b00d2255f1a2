"""Anomaly mode: each operation keeps its whole forward stack, and backward stops at the first NaN."""

import warnings

from ._record import switch
from ._support import NAMES, anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"]
users = [0]  # who needs recorders to look at what is special: anomaly mode, blocks with hooks on saved tensors


def special(change) -> None:
    users[0] += change
    if bool(users[0]) != NAMES["special"]:
        switch("special", bool(users[0]))


def is_anomaly_enabled() -> bool:
    """Whether a failing backward shows the forward line.

    >>> with facula.autograd.detect_anomaly():
    ...     facula.is_anomaly_enabled()
    True
    """
    return anomaly["enabled"]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a NaN among the gradients is an error in anomaly mode.

    >>> facula.is_anomaly_check_nan_enabled()
    True
    """
    return anomaly["check_nan"]


def set_anomaly(enabled, check_nan) -> None:
    special(int(enabled) - int(anomaly["enabled"]))
    anomaly.update(enabled=bool(enabled), check_nan=bool(check_nan))


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once, and until the end of the block where it is used as one.

    >>> with facula.autograd.set_detect_anomaly(True):
    ...     facula.is_anomaly_enabled()
    True
    """

    def __init__(self, mode, check_nan=True) -> None:
        self._before = dict(anomaly)
        set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        set_anomaly(**self._before)


class detect_anomaly:
    """A block in which backward shows the forward stack of what fails, and refuses NaN gradients.

    >>> with facula.autograd.detect_anomaly():
    ...     facula.is_anomaly_enabled()
    True
    """

    def __init__(self, check_nan=True) -> None:
        self.check_nan = check_nan

    def __enter__(self) -> None:
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", UserWarning, stacklevel=2)
        self._before = dict(anomaly)
        set_anomaly(True, self.check_nan)

    def __exit__(self, *exc) -> None:
        set_anomaly(**self._before)
