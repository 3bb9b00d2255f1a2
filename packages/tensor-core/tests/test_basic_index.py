"""x[key] for ints, slices, None and an Ellipsis, by one call of C: NumPy's values, and the strides of the same view taken step by step."""

import random

import facula
import numpy as np
import pytest
from facula.tensor_core.functions.index_key import basic


def drawn(rng):
    """A key, some of which do not fit."""
    parts, ellipsis = [], False
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.3:
            parts.append(rng.randint(-4, 4))
        elif kind < 0.6:
            parts.append(slice(*(rng.choice([None, rng.randint(-5, 5)]) for _ in range(2)), rng.choice([None, 1, 2, 3])))
        elif kind < 0.8 or ellipsis:
            parts.append(None)
        else:
            parts.append(...)
            ellipsis = True
    return tuple(parts)


@pytest.mark.parametrize("seed", range(8))
def test_keys_of_all_kinds(seed):
    rng, taken = random.Random(seed), 0
    for _ in range(300):
        shape = tuple(rng.randint(0, 4) for _ in range(rng.randint(0, 4)))
        array = np.arange(int(np.prod(shape))).reshape(shape)
        x = facula.arange(array.size).reshape(shape)
        if len(shape) > 1 and rng.random() < 0.5:
            array, x = array.swapaxes(0, 1), x.transpose(0, 1)
        key = drawn(rng)
        try:
            expected = array[key]
        except IndexError:
            with pytest.raises(IndexError):
                x[key]
            continue
        view, steps = x[key], basic(x, key)
        assert view.tolist() == expected.tolist(), (shape, key)
        assert (view.shape, view.stride(), view.storage_offset()) == (steps.shape, steps.stride(), steps.storage_offset()), (shape, key)
        assert view.data_ptr() == steps.data_ptr() and view._is_view()
        taken += 1
    assert taken > 100


@pytest.mark.parametrize("key", [2**70, -(2**70), (0, 2**63), slice(0, 2, 0), (slice("a"),)])
def test_keys_that_cannot_be(key):
    with pytest.raises((IndexError, TypeError, ValueError)):
        facula.zeros(2, 3)[key]
