"""flex_attention beside scaled_dot_product_attention, which is the same with a mask or bias."""

import facula
import facula.nn.functional as F
import pytest
from facula.nn.attention.flex_attention import AuxRequest, BlockMask, and_masks, create_block_mask, create_mask, flex_attention, or_masks


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


def test_full_blocks_are_told_apart():
    mask = create_block_mask(causal, None, 2, 10, 10, BLOCK_SIZE=4)
    together = create_block_mask(causal, None, 2, 10, 10, BLOCK_SIZE=4, separate_full_blocks=False)

    assert [1, 1, 3] == mask.kv_num_blocks[0, 0].tolist()  # the last row of blocks goes beyond the queries
    assert [0, 1, 0] == mask.full_kv_num_blocks[0, 0].tolist()
    assert [1, 0, 0] == mask.full_q_num_blocks[0, 1].tolist()
    assert (10, 10, mask.kv_num_blocks) == mask.as_tuple()[:3] and (4, 4, causal) == mask.as_tuple()[-3:]
    assert [1, 2, 3] == together.kv_num_blocks[0, 0].tolist() and together.full_kv_num_blocks is None
    assert facula.equal(mask.to_dense(), together.to_dense()) and mask.sparsity() == together.sparsity()


def test_the_function_is_not_asked_of_full_blocks(qkv):
    counts, columns = facula.ones(1, 1, 3, dtype=facula.int32), facula.arange(3).expand(1, 1, 3, 3).int()
    mask = BlockMask.from_kv_blocks(counts * 0, columns, counts * 2, columns, 4, lambda b, h, q, k: q < 0, (10, 10))
    seen = facula.arange(10) < 8

    close(F.scaled_dot_product_attention(*qkv, attn_mask=seen), flex_attention(*qkv, block_mask=mask))


def test_a_part_of_a_mask_needs_a_function_of_its_own(qkv):
    mask = create_block_mask(causal, 2, 4, 10, 10, BLOCK_SIZE=4)
    part = mask[:, -1]

    assert (2, 1, 10, 10) == part.shape
    with pytest.raises(RuntimeError, match="sliced"):
        flex_attention(*qkv, block_mask=part)
    part.mask_mod = causal
    close(F.scaled_dot_product_attention(*qkv, is_causal=True), flex_attention(*qkv, block_mask=part))


def test_a_mask_is_cropped_to_its_corner(qkv):
    mask = create_block_mask(causal, None, None, 20, 24, BLOCK_SIZE=4)
    with pytest.raises(ValueError, match="_adjust"):
        flex_attention(*qkv, block_mask=mask)

    close(F.scaled_dot_product_attention(*qkv, is_causal=True), flex_attention(*qkv, block_mask=mask._adjust(10, 10)))


def test_a_mask_draws_itself():
    mask = create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=4)

    assert "BlockMask(shape=(1, 1, 8, 8), sparsity=25.00%, \n(0, 0)\n██  \n████\n)" == str(mask)
    assert "q_indices=torch.Size([1, 1, 2, 2])" in repr(mask) and "mask_mod=causal" in repr(mask)
    assert "(0, 0)\n░░\n" == mask.to_string(1)


def test_a_score_mod_makes_a_mask():
    assert [[[[True, False], [True, True]]]] == create_mask(lambda s, b, h, q, k: facula.where(q >= k, s, -facula.inf), 1, 1, 2, 2).tolist()
    with pytest.raises(AssertionError, match="4"):
        create_block_mask(lambda s, b, h, q, k: s, 1, 1, 2, 2)
