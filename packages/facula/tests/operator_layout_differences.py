"""Where an operator is known to differ from PyTorch's when its arguments, or what comes in from above, lie otherwise in memory: entry -> {kind: why},
held exactly by test_operator_layouts.py and test_operator_incoming.py. One line an entry; a kind that no longer differs must go. Kinds: operator_layouts.py.
"""

from operator_differences import FINER, OVERWRITTEN

GRADIENT_STRIDE = "the gradient lies in other strides (a leaf's .grad does not); its values are the same"
ANSWERS = "PyTorch refuses what is not contiguous"
YET = "not equal yet"

KNOWN = {
    "as_strided_scatter": {"answers": ANSWERS, "gradient": OVERWRITTEN},
    "block_diag": {"gradient stride": GRADIENT_STRIDE},
    "chalf": {"raises": YET},
    "combinations": {"gradient stride": GRADIENT_STRIDE},
    "nn.functional.linear_cross_entropy.chunked_none": {"gradient stride": GRADIENT_STRIDE},
    "nn.functional.normalize": {"gradient stride": GRADIENT_STRIDE},
    "nn.functional.pad.replicate_negative": {"gradient stride": GRADIENT_STRIDE},
    "special.bessel_j0": {"value": FINER},
    "special.bessel_y1": {"value": FINER},
    "stft": {"gradient stride": GRADIENT_STRIDE},
    "take_along_dim": {"answers": ANSWERS},
}

CONJUGATE = "a gradient is conjugated at once, where PyTorch's is a view with the gaps of what came in (docs/decisions/047)"
STEPS = "composed of other rows than PyTorch's: the same numbers in other strides"
ZERO_NORM = "0, where PyTorch's is NaN (docs/autograd.md)"

INCOMING = {
    "as_strided_scatter": {"gradient": OVERWRITTEN},
    "block_diag": {"gradient stride": "of one element"},
    "conj": {"gradient stride": CONJUGATE},
    "dist": {"twice stride": STEPS},
    "H": {"gradient stride": CONJUGATE},
    "ldexp": {"twice stride": STEPS},
    "linalg.lstsq": {"twice stride": STEPS},
    "linalg.lstsq.grad_oriented": {"twice stride": STEPS},
    "linalg.norm.subgradients_at_zero": {"twice value": ZERO_NORM},
    "linalg.solve_triangular": {"gradient stride": "of dims of size 1", "twice stride": "of dims of size 1"},
    "logaddexp": {"twice stride": STEPS},
    "logcumsumexp": {"twice stride": STEPS},
    "mH": {"gradient stride": CONJUGATE},
    "native_group_norm": {"gradient stride": "the gradients of mean and rstd, which PyTorch's has, are none here"},
    "nn.functional.linear_cross_entropy.chunked_none": {"twice absent": "PyTorch's second gradient is None"},
    "nn.functional.multilabel_soft_margin_loss": {"twice stride": STEPS},
    "nn.functional.normalize": {"twice stride": STEPS},
    "nn.functional.rms_norm": {"gradient stride": "of dims of size 1"},
    "ormqr": {"twice stride": STEPS},
    "renorm": {"twice stride": STEPS},
}
