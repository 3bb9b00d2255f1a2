"""Random layers and initialisations draw what PyTorch draws, bit for bit, and leave the generator where PyTorch leaves it."""

import importlib

import facula
import pytest

SAME = (
    "F.dropout(x, 0.3)", "F.dropout(x.t(), 0.3)", "F.dropout(x.half(), 0.5)", "F.dropout(x, 0.0)", "F.dropout(x, 1.0)", "F.dropout1d(y, 0.4)", "F.dropout2d(z, 0.4)", "F.dropout3d(z.unsqueeze(0), 0.4)",
    "F.alpha_dropout(x, 0.3, training=True)", "F.feature_alpha_dropout(z, 0.3, training=True)", "F.rrelu(x - 0.5, 0.1, 0.4, training=True)", "F.rrelu(x.double() - 0.5, 0.1, 0.4, training=True)", "F.gumbel_softmax(x, hard=True)",
    "F.fractional_max_pool2d(z, 2, output_size=3)", "X.nn.init.kaiming_uniform_(X.empty(5, 7))", "X.nn.init.xavier_normal_(X.empty(5, 7))", "X.nn.init.trunc_normal_(X.empty(50, 7))", "X.nn.init.sparse_(X.empty(5, 7), 0.3)",
    "X.nn.Linear(5, 7).weight.detach()", "X.nn.Conv2d(3, 4, 3).weight.detach()", "X.nn.LSTM(3, 4).weight_hh_l0.detach()", "X.nn.Embedding(5, 4).weight.detach()", "X.nn.MultiheadAttention(8, 2).in_proj_weight.detach()",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", SAME)
def test_it_draws_what_pytorch_draws(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    seen = []
    for X in (torch, facula):
        F = importlib.import_module(f"{X.__name__}.nn.functional")
        X.manual_seed(7)
        given = {"X": X, "F": F, "x": X.rand(40, 50), "y": X.rand(3, 4, 5), "z": X.rand(2, 3, 8, 8)}
        seen.append((eval(text, given).tolist(), X.get_rng_state().tolist()))

    assert seen[0] == seen[1]
