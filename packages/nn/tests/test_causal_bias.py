"""attn_mask that knows that it is causal."""

import facula
import pytest
from facula.nn.attention.bias import causal_lower_right, causal_upper_left
from facula.nn.functional import scaled_dot_product_attention


def test_a_square_causal_bias_is_is_causal():
    x = facula.randn(2, 3, 4)

    assert scaled_dot_product_attention(x, x, x, is_causal=True).equal(scaled_dot_product_attention(x, x, x, attn_mask=causal_upper_left(3, 3)))
    assert scaled_dot_product_attention(x, x, x, is_causal=True).equal(scaled_dot_product_attention(x, x, x, attn_mask=causal_lower_right(3, 3)))


def test_a_mask_beside_is_causal_is_refused():
    x = facula.randn(2, 3, 4)

    with pytest.raises(ValueError, match="is_causal"):
        scaled_dot_product_attention(x, x, x, attn_mask=causal_upper_left(3, 3), is_causal=True)
    with pytest.raises(RuntimeError, match="is_causal"):
        scaled_dot_product_attention(x, x, x, attn_mask=facula.zeros(3, 3), is_causal=True)
