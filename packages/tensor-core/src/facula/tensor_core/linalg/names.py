"""What linear algebra gives `facula` itself and Tensor: older names of facula.linalg's functions, and those that have no other."""

from facula.tensor_core.linalg import factor as _factor
from facula.tensor_core.linalg import lobpcg as _lobpcg
from facula.tensor_core.linalg import norm as _norm
from facula.tensor_core.linalg import solve as _solve
from facula.tensor_core.linalg import spectral as _spectral
from facula.tensor_core import _ownership
from facula.tensor_core.dispatch import guard as _guard

for _module in (_factor, _lobpcg, _norm, _solve, _spectral):
    _guard.guard(_module)

PUBLIC = {
    "cholesky": _factor.cholesky_, "cholesky_inverse": _solve.cholesky_inverse, "cholesky_solve": _solve.cholesky_solve, "det": _norm.det_,
    "geqrf": _factor.geqrf, "inverse": _solve.inverse, "lobpcg": _lobpcg.lobpcg, "logdet": _norm.logdet, "lu": _factor.lu_, "lu_solve": _solve.lu_solve_, "lu_unpack": _factor.lu_unpack,
    "matrix_exp": _norm.matrix_exp_, "matrix_power": _norm.matrix_power_, "orgqr": _factor.orgqr, "ormqr": _factor.ormqr, "pca_lowrank": _spectral.pca_lowrank,
    "pinverse": _solve.pinverse, "qr": _factor.qr_, "slogdet": _norm.slogdet_, "svd": _spectral.svd_, "svd_lowrank": _spectral.svd_lowrank,
    "triangular_solve": _solve.triangular_solve,
}  # fmt: skip
globals().update(PUBLIC)
__all__ = list(PUBLIC)
_ownership.attach(PUBLIC)
