"""Functions of the top-level namespace with arguments by position: the same numbers as nn.functional and as PyTorch."""

import facula
import pytest

CALLS = (
    "batch_norm(X.ones(3, 2).cumsum(0), None, None, None, None, True, 0.1, 1e-5, False)",
    "instance_norm(X.arange(24.0).view(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False)",
    "native_layer_norm(X.arange(6.0).view(2, 3), (3,), None, None, 1e-5)",
    "native_group_norm(X.arange(24.0).view(2, 4, 3), None, None, 2, 4, 3, 2, 1e-5)",
    "native_batch_norm(X.arange(6.0).view(3, 2), None, None, None, None, True, 0.1, 1e-5)",
    "native_dropout(X.ones(50), 0.5, True)", "feature_dropout(X.ones(4, 5, 2), 0.5, True)", "dropout_(X.ones(20), 0.5, True)", "alpha_dropout_(X.ones(20), 0.5, True)",
    "embedding(X.eye(4), X.tensor([[1, 3], [0, 0]]))", "embedding_renorm_(X.ones(3, 4), X.tensor([0, 2]), 1.0, 2.0)",
    "binary_cross_entropy_with_logits(X.arange(4.0), X.ones(4), None, None, 2)", "cosine_embedding_loss(X.ones(2, 3), X.eye(3)[:2], X.tensor([1, -1]), 0.1)",
    "hinge_embedding_loss(X.arange(4.0), X.tensor([1.0, -1, 1, -1]), 2.0, 0)", "margin_ranking_loss(X.arange(3.0), X.ones(3), X.tensor([1.0, -1, 1]))",
    "triplet_margin_loss(X.ones(2, 3), X.eye(3)[:2], X.zeros(2, 3))", "poisson_nll_loss(X.arange(3.0), X.ones(3), True, False, 1e-8, 1)",
    "ctc_loss(X.arange(24.0).view(4, 2, 3).log_softmax(2), X.tensor([[1, 2], [2, 1]]), [4, 4], [2, 1], 0, 2)",
    "grid_sampler(X.arange(16.0).view(1, 1, 4, 4), X.linspace(-1, 1, 8).view(1, 2, 2, 2), 0, 1, True)",
    "grid_sampler_2d(X.arange(16.0).view(1, 1, 4, 4), X.linspace(-1, 1, 8).view(1, 2, 2, 2), 1, 0, False)", "affine_grid_generator(X.eye(3)[:2].unsqueeze(0), (1, 1, 2, 2), True)",
    "adaptive_max_pool1d(X.arange(10.0).view(1, 10), 3)", "constant_pad_nd(X.ones(2, 2), (1, 0), 7)", "norm_except_dim(X.arange(6.0).view(2, 3), 2, 0)",
    "lstm_cell(X.ones(2, 3), (X.ones(2, 1), X.ones(2, 1)), X.ones(4, 3) / 9, X.ones(4, 1) / 9, X.ones(4), X.ones(4))",
    "gru_cell(X.ones(2, 3), X.ones(2, 1), X.ones(3, 3) / 9, X.ones(3, 1) / 9)", "rnn_tanh_cell(X.ones(2, 3), X.ones(2, 1), X.ones(1, 3) / 9, X.ones(1, 1))",
    "rnn_relu_cell(X.ones(2, 3), X.ones(2, 1), X.ones(1, 3) / 9, X.ones(1, 1))",
    "gru(X.arange(12.0).view(2, 2, 3) / 9, X.zeros(2, 2, 1), [X.ones(3, 3), X.ones(3, 1), X.ones(3), X.ones(3)] * 2, True, 1, 0.0, False, True, True)",
    "lstm(X.arange(9.0).view(3, 3) / 9, X.tensor([2, 1]), [X.zeros(1, 2, 1), X.zeros(1, 2, 1)], [X.ones(4, 3), X.ones(4, 1)], False, 1, 0.0, False, False)",
)  # fmt: skip


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("text", CALLS, ids=[c.partition("(")[0] for c in CALLS])
def test_values_are_pytorchs(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    facula.manual_seed(1), torch.manual_seed(1)
    actual, expected = flat(eval("facula." + text.replace("X", "facula"))), flat(eval("torch." + text.replace("X", "torch")))

    assert len(expected) == len(actual)
    for e, a in zip(expected, actual):
        assert tuple(e.reshape(-1).shape) == tuple(a.reshape(-1).shape)
        assert torch.allclose(e.reshape(-1).double(), torch.from_numpy(a.detach().double().numpy()).reshape(-1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", [7, -1])
def test_a_reduction_that_is_neither_mean_nor_sum_is_none(reduction):
    assert facula.kl_div(facula.zeros(3), facula.ones(3), 0).tolist() == facula.kl_div(facula.zeros(3), facula.ones(3), reduction).tolist()


@pytest.mark.parametrize("expanded", [(3,), (2, 3)], ids=str)
def test_threshold_writes_to_expanded_tensors(expanded):
    x = facula.zeros(1).expand(expanded)

    assert x is facula.nn.functional.threshold_(x, 1.0, 2.0) and {2.0} == set(x.flatten().tolist())
    assert {3.0} == set(facula.nn.functional.threshold(x, 2.5, 3.0, inplace=True).flatten().tolist())
