"""facula.nn.functional: the functions behind the modules, by family."""

from __future__ import annotations

from ._activation import (
    celu, celu_, elu, elu_, gelu, glu, gumbel_softmax, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu,
    leaky_relu_, log_softmax, logsigmoid, mish, prelu, relu, relu6, relu_, rrelu, rrelu_, selu, selu_, sigmoid, silu, softmax,
    softmin, softplus, softshrink, softsign, tanh, tanhshrink, threshold, threshold_,
)  # fmt: skip
from ._distance import cosine_similarity, normalize, pairwise_distance, pdist
from ._dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from ._linear import bilinear, linear
from ._loss_class import cross_entropy, multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss, nll_loss
from ._loss_ctc import ctc_loss
from ._loss_metric import (
    cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss, triplet_margin_loss, triplet_margin_with_distance_loss,
)  # fmt: skip
from ._loss_regression import (
    binary_cross_entropy, binary_cross_entropy_with_logits, gaussian_nll_loss, huber_loss, kl_div, l1_loss, mse_loss,
    poisson_nll_loss, smooth_l1_loss, soft_margin_loss,
)  # fmt: skip

__all__ = [
    "alpha_dropout", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "celu_",
    "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "elu", "elu_", "feature_alpha_dropout", "gaussian_nll_loss", "gelu", "glu", "gumbel_softmax",
    "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss", "kl_div",
    "l1_loss", "leaky_relu", "leaky_relu_", "linear", "log_softmax", "logsigmoid", "margin_ranking_loss", "mish",
    "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "normalize",
    "pairwise_distance", "pdist", "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu",
    "selu_", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold", "threshold_", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip
