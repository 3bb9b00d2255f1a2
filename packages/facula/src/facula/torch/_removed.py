"""torch.symeig and others that PyTorch keeps as names only: calling one says what took its place."""

from __future__ import annotations

from typing import Any, Callable

_INSTEAD = {
    "eig": "torch.linalg.eig(A), or torch.linalg.eigvals(A)",
    "lstsq": "torch.linalg.lstsq(A, B), whose operands are in the other order",
    "matrix_rank": "torch.linalg.matrix_rank(A, hermitian=symmetric)",
    "solve": "torch.linalg.solve(A, B), whose operands are in the other order",
    "symeig": "torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh",
}


def _removed(name: str) -> Callable:
    def refuse(*args: Any, **options: Any) -> None:
        raise RuntimeError(f"torch.{name}: This function was deprecated since version 1.9 and is now removed. Use {_INSTEAD[name]}.")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


eig, lstsq, matrix_rank, solve, symeig = (_removed(name) for name in _INSTEAD)
