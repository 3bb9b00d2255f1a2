"""flex_attention beside scaled_dot_product_attention, which is the same with a mask or bias."""

import facula
import facula.nn.functional as F
import pytest
from facula.nn.attention.flex_attention import AuxRequest, and_masks, create_block_mask, create_mask, flex_attention, or_masks


def causal(b, h, q, k):
    return q >= k


def near(b, h, q, k):
    return (q - k).abs() <= 3


@pytest.fixture
def qkv():
    facula.manual_seed(0)
    return [facula.randn(2, 4, 10, 8, requires_grad=True) for _ in range(3)]


def close(expected, actual):
    facula.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-6)


def test_without_functions_it_is_attention(qkv):
    close(F.scaled_dot_product_attention(*qkv), flex_attention(*qkv))


def test_a_block_mask_masks(qkv):
    mask = create_block_mask(causal, None, None, 10, 10, BLOCK_SIZE=4)

    close(F.scaled_dot_product_attention(*qkv, is_causal=True), flex_attention(*qkv, block_mask=mask))
    assert [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]] == mask.to_dense()[0].tolist()
    assert (1, 1, 10, 10) == mask.shape


def test_score_mod_changes_scores_and_gets_gradients(qkv):
    slopes = facula.tensor([0.5, 0.25, 0.125, 0.0625], requires_grad=True)
    positions = facula.arange(10)
    bias = slopes[:, None, None] * (positions[None, :] - positions[:, None])
    out = flex_attention(*qkv, score_mod=lambda s, b, h, q, k: s + slopes[h] * (k - q))

    close(F.scaled_dot_product_attention(*qkv, attn_mask=bias), out)
    out.sum().backward()
    assert slopes.grad is not None and qkv[0].grad is not None


def test_masks_join(qkv):
    both = create_mask(and_masks(causal, near), 2, 4, 10, 10)
    either = create_mask(or_masks(causal, near), None, None, 10, 10)
    q, k = facula.meshgrid(facula.arange(10), facula.arange(10), indexing="ij")

    assert (2, 4, 10, 10) == both.shape
    assert facula.equal(both[1, 2], (q >= k) & ((q - k).abs() <= 3))
    assert facula.equal(either[0, 0], (q >= k) | ((q - k).abs() <= 3))


def test_a_query_that_sees_nothing_gives_zeros(qkv):
    mask = create_block_mask(lambda b, h, q, k: q > k, None, None, 10, 10)
    out, aux = flex_attention(*qkv, block_mask=mask, return_aux=AuxRequest(lse=True))

    assert 0 == out[:, :, 0].abs().max()
    assert facula.isinf(aux.lse[:, :, 0]).all()


def test_fewer_heads_of_keys_are_shared(qkv):
    q, k, v = qkv

    close(F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True), flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True))
    with pytest.raises(ValueError, match="enable_gqa"):
        flex_attention(q, k[:, :2], v[:, :2])
