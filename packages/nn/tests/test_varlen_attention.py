"""Attention over sequences one after the other is that of each by itself."""

import math

import pytest
from backend import torch

varlen = pytest.importorskip(torch.__name__ + ".nn.attention.varlen")
pytestmark = pytest.mark.skipif(torch.__name__ == "torch", reason="PyTorch's runs on a GPU alone")
LENGTHS = [(3, 3), (0, 2), (2, 5), (4, 0)]  # of queries and keys


def made(heads=4, groups=4):
    torch.manual_seed(0)
    starts = [torch.tensor([sum(p[k] for p in LENGTHS[:n]) for n in range(len(LENGTHS) + 1)], dtype=torch.int32) for k in (0, 1)]
    q = torch.randn(9, heads, 8, dtype=torch.float64, requires_grad=True)
    k, v = (torch.randn(10, groups, 8, dtype=torch.float64, requires_grad=True) for _ in range(2))
    return q, k, v, *starts


def by_hand(q, k, v, window=(-1, -1), used=None):
    """(result, logsumexp), each query and head by itself."""
    out, sums, a, c = [], [], 0, 0
    for n, (length, keys) in enumerate(LENGTHS):
        here = keys if used is None else used[n]
        for r in range(length):
            place = r + here - length
            seen = [j for j in range(here) if (window[0] < 0 or j >= place - window[0]) and (window[1] < 0 or j <= place + window[1])]
            for h in range(q.shape[1]):
                g = h * k.shape[1] // q.shape[1]
                scores = (k[c : c + keys, g][seen] @ q[a + r, h]) / math.sqrt(8)
                out.append((scores.softmax(0).unsqueeze(1) * v[c : c + keys, g][seen]).sum(0))
                sums.append(scores.logsumexp(0))
        a, c = a + length, c + keys
    return torch.stack(out).reshape(9, q.shape[1], 8), torch.stack(sums).reshape(9, -1).t()


@pytest.mark.parametrize("window", [(-1, -1), (-1, 0), (1, 0), (2, 1)])
@pytest.mark.parametrize("groups", [4, 2])
def test_each_sequence_is_by_itself(window, groups):
    q, k, v, at_q, at_k = made(4, groups)
    out, sums = varlen.varlen_attn(q, k, v, at_q, at_k, 4, 5, window_size=window, enable_gqa=groups < 4, return_aux=varlen.AuxRequest(lse=True))
    expected, logs = by_hand(q, k, v, window)
    weights = torch.randn(9, 4, 8, dtype=torch.float64)

    assert torch.allclose(expected, out) and torch.allclose(logs.float(), sums.float(), atol=1e-5)
    for a, b in zip(torch.autograd.grad((out * weights).sum(), (q, k, v)), torch.autograd.grad((expected * weights).sum(), (q, k, v))):
        assert torch.allclose(a, b)


def test_only_keys_in_use_are_seen_wherever_their_pages_lie():
    q, k, v, at_q, at_k = made()
    used = torch.tensor([2, 2, 4, 0], dtype=torch.int32)
    expected = by_hand(q, k, v, used=used.tolist())[0]
    pages = [torch.zeros(8, 2, 4, 8, dtype=torch.float64) for _ in range(2)]
    table = torch.tensor([[7, 0, 1], [2, 0, 0], [6, 3, 4], [0, 0, 0]], dtype=torch.int32)
    for pool, t in zip(pages, (k, v)):
        for n in range(4):
            for j in range(LENGTHS[n][1]):
                pool[int(table[n, j // 2]), j % 2] = t[int(at_k[n]) + j].detach()
    out = torch.empty(9, 4, 8, dtype=torch.float64)
    varlen.varlen_attn_out(out, q.detach(), *pages, at_q, None, 4, 6, seqused_k=used, block_table=table)

    assert torch.allclose(expected, varlen.varlen_attn(q, k, v, at_q, at_k, 4, 5, seqused_k=used)) and torch.allclose(expected, out)


def test_what_does_not_fit_is_refused():
    q, k, v, at_q, at_k = made(4, 2)
    for options in ({}, {"enable_gqa": True, "block_table": at_k}):
        with pytest.raises(ValueError):
            varlen.varlen_attn(q, k, v, at_q, at_k, 4, 5, **options)
    with pytest.raises(ValueError, match="length 5"):
        varlen.varlen_attn(q, k, v, at_q, at_k, 4, 4, enable_gqa=True)
    with pytest.raises(ValueError):
        varlen.varlen_attn(q, k, v, at_q, None, 4, 5, enable_gqa=True)
