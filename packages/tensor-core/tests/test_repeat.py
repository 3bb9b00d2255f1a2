"""repeat copies, in new contiguous memory, whatever is repeated."""

import facula
import pytest


@pytest.mark.parametrize(
    "shape,repeats", [((5, 1, 3), (1, 4, 1)), ((1, 3), (2, 1)), ((2, 3), (1, 1)), ((2, 3), (2, 2)), ((3,), (1, 1)), ((2, 3), (0, 1)), ((), (3,))]
)
def test_the_result_has_memory_of_its_own(shape, repeats):
    x = facula.randn(shape)
    y = x.repeat(*repeats)

    assert y.is_contiguous()
    if y.numel():
        assert y.data_ptr() != x.data_ptr()
    y.fill_(7.0)  # no element lies on another's place


def test_a_transposed_tensor_repeats_in_the_order_of_its_dims():
    y = facula.arange(6).reshape(2, 3).t().repeat(1, 1)

    assert (2, 1) == y.stride()
    assert [[0, 3], [1, 4], [2, 5]] == y.tolist()
