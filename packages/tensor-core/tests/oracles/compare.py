"""How far a result is from the exact one, in units of the last place of its dtype."""

import numpy as np

from .dtypes import PRECISION, is_complex, is_floating, result_dtype, widened


def values(tensor):
    """(dtype name, array): what a tensor holds; bfloat16 as float32."""
    name = str(tensor.dtype).removeprefix("facula.").removeprefix("torch.")
    if name == "bfloat16":
        import facula

        tensor = tensor.to(facula.float32)
    return name, np.asarray(tensor.numpy(force=True))


def spacing(size, precision):
    """The distance of neighbouring numbers of a dtype at `size`."""
    _, exponent = np.frexp(size)
    exponent = np.where(np.isfinite(size) & (size > 0), exponent - 1, precision.emin)
    return np.ldexp(np.longdouble(1), np.maximum(exponent, precision.emin) - (precision.bits - 1))


def ulp_errors(exact, actual, dtype, scale=0.0):
    """Elementwise error in ulps; 0 where both are the same nan or infinity, inf where only one is."""
    p = PRECISION[dtype]
    exact, actual = np.asarray(exact), np.asarray(actual)
    if is_complex(dtype):
        size = np.maximum(np.abs(exact), scale)
        parts = [(exact.real, actual.real), (exact.imag, actual.imag)]
    else:
        size = np.maximum(np.abs(exact), scale)
        parts = [(exact, actual)]
    unit = spacing(size, p)
    worst = np.zeros(exact.shape, np.longdouble)
    for e, a in parts:
        e, a = widened(np.asarray(e)), widened(np.asarray(a))
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(e - a) / unit
        overflow = np.isinf(a) & (np.abs(e) >= p.max) & (np.sign(e) == np.sign(a))
        same = (e == a) | (np.isnan(e) & np.isnan(a)) | overflow
        worst = np.maximum(worst, np.where(same, 0, np.where(np.isnan(error), np.inf, error)))
    return worst


def describe(where, exact, actual, error):
    return f"at {tuple(map(int, where))}: exact {exact[where]!r}, got {actual[where]!r}, {float(error[where]):.3g} ulp off"


def check(expected, result, word, dtype, ulp, scale, what):
    """Asserts dtype, shape and values of one result tensor."""
    name, actual = values(result)
    wanted = result_dtype(word, dtype)

    assert wanted == name, f"{what}: dtype {name}, expected {wanted}"
    expected = np.asarray(expected)
    assert expected.shape == tuple(result.shape), f"{what}: shape {tuple(result.shape)}, expected {expected.shape}"
    if is_floating(name) or is_complex(name):
        wide = np.clongdouble if is_complex(name) else np.longdouble
        error = ulp_errors(expected.astype(wide), actual, name, scale)
        if error.size:
            where = np.unravel_index(np.argmax(error), error.shape)
            assert error[where] <= ulp, f"{what}: {describe(where, expected, actual, error)}; {ulp} allowed"
    else:
        np.testing.assert_array_equal(expected.astype(actual.dtype), actual, err_msg=what)
