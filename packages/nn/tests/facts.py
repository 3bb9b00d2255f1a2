"""Results as plain numbers and text, and their comparison."""

from __future__ import annotations

import math

from module_cases import _fingerprint


def plain(value, T):
    """value with every tensor as a fingerprint: what JSON can hold."""
    if isinstance(value, T.Tensor):
        return _fingerprint(value)
    if isinstance(value, dict):
        return {str(k): plain(v, T) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, T) for v in value]
    return value


def difference(expected, actual, tolerance, path=""):
    """Where two plain values differ first, with both; None where nowhere."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(expected) != set(actual):
            return f"{path}: {sorted(expected)} and {sorted(actual)}"
        pairs = [(k, expected[k], actual[k]) for k in expected]
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{path}: {len(expected)} and {len(actual)} elements"
        pairs = [(k, *both) for k, both in enumerate(zip(expected, actual))]
    elif isinstance(expected, float) and isinstance(actual, float):
        close = math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(expected) and math.isnan(actual))
        return None if close else f"{path}: {expected} and {actual}"
    else:
        return None if expected == actual else f"{path}: {expected!r} and {actual!r}"
    for key, e, a in pairs:
        found = difference(e, a, tolerance, f"{path}/{key}")
        if found:
            return found
    return None
