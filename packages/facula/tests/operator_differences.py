"""Where an operator is known to differ from PyTorch's: entry -> {kind: why}, held exactly by test_operator_samples.py.

One line an entry; a kind that no longer differs must go. Kinds: operator_compare.py.
"""

GRADIENT_STRIDE = "the gradient lies in other strides (a leaf's .grad does not); its values are the same"
BELOW = "a row below PyTorch's public API"
YET = "not equal yet"
TIES = "of equal elements PyTorch names another one, as its partial sort leaves them; here it is the first"
FINER = "PyTorch computes in float32 where this is float64 rounded once, or is off near roots: test_special.py has 20 digits"
OVERWRITTEN = "PyTorch gives a gradient to elements that were overwritten"
COMPLEX32 = "complex32 is not a dtype here"

KNOWN = {
    "_batch_norm_with_update": {"missing": BELOW},
    "_chunk_cat": {"error missing": BELOW, "missing": BELOW},
    "_native_batch_norm_legit": {"missing": BELOW},
    "_softmax_backward_data": {"missing": BELOW},
    "_unsafe_masked_index": {"missing": BELOW},
    "_unsafe_masked_index_put_accumulate": {"missing": BELOW},
    "_upsample_bilinear2d_aa": {"missing": BELOW},
    "argsort": {"value": TIES},
    "as_strided_scatter": {"gradient": OVERWRITTEN},
    "block_diag": {"gradient stride": GRADIENT_STRIDE},
    "chalf": {"raises": COMPLEX32},
    "linalg.solve_triangular": {"gradient stride": GRADIENT_STRIDE},
    "matrix_exp": {"value": FINER},
    "max_pool2d_with_indices_backward": {"missing": BELOW},
    "native_dropout_backward": {"missing": BELOW},
    "polygamma.polygamma_n_0": {"value": FINER},
    "polygamma.polygamma_n_1": {"value": FINER},
    "polygamma.polygamma_n_2": {"value": FINER},
    "polygamma.polygamma_n_3": {"value": FINER},
    "polygamma.polygamma_n_4": {"value": FINER},
    "slice": {"missing": BELOW},
    "sort": {"value": TIES},
    "special.bessel_j0": {"value": FINER},
    "special.bessel_y1": {"value": FINER},
    "special.polygamma.special_polygamma_n_0": {"value": FINER},
    "topk": {"value": TIES},
}
