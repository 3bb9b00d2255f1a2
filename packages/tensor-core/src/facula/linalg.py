"""Linear algebra: factorisations, systems, norms and functions of matrices and batches of them. Names and behaviour are torch.linalg's.

LU, Cholesky and triangular systems are our own C (docs/decisions/050-linear-systems-are-ours.md), the rest is LAPACK through NumPy; derivatives
come with facula-autograd.
"""

from facula.tensor_core.linalg import names as _linalg  # noqa: F401 - which guards the functions below
from facula.tensor_core.linalg.factor import (
    cholesky,
    cholesky_ex,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
)
from facula.tensor_core.linalg.norm import (
    cond,
    cross,
    det,
    diagonal,
    matmul,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    norm,
    slogdet,
    vander,
    vecdot,
    vector_norm,
)
from facula.tensor_core.linalg.solve import (
    inv,
    inv_ex,
    ldl_solve,
    lstsq,
    lu_solve,
    pinv,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from facula.tensor_core.linalg.spectral import (
    eig,
    eigh,
    eigvals,
    eigvalsh,
    svd,
    svdvals,
)
from facula.tensor_core.linalg.tools import LinAlgError

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "householder_product",
    "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_exp",
    "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd",
    "svdvals", "tensorinv", "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip
