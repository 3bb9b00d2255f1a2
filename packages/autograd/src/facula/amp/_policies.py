"""What autocast does to which functions: PyTorch's lists for the CPU.

Rows are met where they run (autocast's interpreter asks `ROWS`). A function of several rows is told to ask first, from the first autocast
of the process on: its operands are cast once, and within it nothing is.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import facula
from facula.tensor_core import extend

# --- rows -------------------------------------------------------------------------------------------------------------

ROWS = {
    **dict.fromkeys(("matmul", "linear", "convolution", "_attention"), "lower"),
    **dict.fromkeys(("_nll_loss", "_cross_entropy", "_ctc_loss", "_grid_sample", "prod", "_cdist", "_histogram"), "full"),
    **dict.fromkeys(("cat", "stack", "index_copy"), "widest"),
    "_rnn": "recurrent",
}
ROW_PREFIXES = ("_linalg_", "_fft_")  # NumPy's routines have no halves


def of_row(name) -> str:
    """The policy of a row, or None."""
    return ROWS.get(name) or ("full" if name.startswith(ROW_PREFIXES) else None)


# --- functions of several rows ------------------------------------------------------------------------------------------

LOWER = "addmm addbmm baddbmm conv_tbc prelu nn.functional.prelu linalg.vecdot"
ALONE = "mv dot vdot bilinear nn.functional.bilinear"  # products all the same, but PyTorch leaves them alone
FULL = """
    polar view_as_complex quantile nanquantile trace cdist stft
    cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse geqrf qr svd triangular_solve
    linalg.cholesky linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.householder_product linalg.inv
    linalg.inv_ex linalg.lstsq linalg.matrix_rank linalg.qr linalg.solve linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve
    fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfft2 fft.irfft2 fft.rfftn fft.irfftn fft.hfft fft.ihfft
    nn.functional.avg_pool3d nn.functional.max_pool3d nn.functional.max_pool3d_with_indices nn.functional.max_unpool2d nn.functional.max_unpool3d
    nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool3d nn.functional.adaptive_max_pool3d_with_indices
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool2d_with_indices nn.functional.fractional_max_pool3d
    nn.functional.fractional_max_pool3d_with_indices nn.functional.local_response_norm
    nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.huber_loss nn.functional.kl_div nn.functional.nll_loss
    nn.functional.cross_entropy nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits nn.functional.poisson_nll_loss
    nn.functional.cosine_embedding_loss nn.functional.hinge_embedding_loss nn.functional.margin_ranking_loss nn.functional.triplet_margin_loss
    nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss nn.functional.soft_margin_loss nn.functional.ctc_loss
"""
# ... where a mode of theirs says so
PADDED = ("reflect", "replicate")

_met = set()  # homes whose functions ask


def meet(cast) -> None:
    """Have the functions that are there by now ask `cast(policy, function, args, kwargs)`, those of a home once."""
    importlib.import_module("facula.linalg"), importlib.import_module("facula.fft")  # may be met within the block for the first time
    for path in ("", "linalg", "fft", "nn.functional"):
        home = sys.modules.get(f"facula.{path}" if path else "facula")
        if home is None or path in _met:
            continue
        _met.add(path)
        for policy, names in (("lower", LOWER), ("alone", ALONE), ("full", FULL), ("padded", "nn.functional.pad")):
            for name in names.split():
                where, _, last = name.rpartition(".")
                if where != path:
                    continue
                for f in {id(f): f for f in (getattr(home, last, None), None if path else getattr(facula.Tensor, last, None))}.values():
                    if isinstance(f, types.FunctionType):
                        extend.around(f, _asking(policy, cast))


def _asking(policy, cast) -> Callable:
    def how(original, args, kwargs) -> Any:
        mode = args[2] if len(args) > 2 else kwargs.get("mode")
        if policy == "padded" and mode not in PADDED:
            return original(*args, **kwargs)
        return cast("full" if policy == "padded" else policy, original, args, kwargs)

    return how
