"""Where an operator is known to differ from PyTorch's when its arguments lie otherwise in memory: entry -> {kind: why}, held exactly by
test_operator_layouts.py. One line an entry; a kind that no longer differs must go. Kinds: operator_layouts.py.
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
