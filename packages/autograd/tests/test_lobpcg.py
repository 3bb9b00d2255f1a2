"""The derivative of lobpcg: that of the same eigenpairs of eigh."""

import facula
import pytest
from facula.autograd import gradcheck


def matrix(n=8):
    facula.manual_seed(0)
    a = facula.randn(n, n, dtype=facula.float64)
    return a @ a.mT + n * facula.eye(n, dtype=facula.float64)


@pytest.mark.parametrize("largest", [True, False])
def test_gradients_of_values_and_vectors(largest):
    start = facula.ones(8, 2, dtype=facula.float64).tril()

    def f(a):
        values, vectors = facula.lobpcg((a + a.mT) / 2, 2, X=start, tol=1e-13, largest=largest)
        return values, vectors.abs()  # the sign of a vector means nothing

    assert gradcheck(f, matrix().requires_grad_(), eps=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["B", "X", "iK"])
def test_only_the_matrix_has_a_derivative(name):
    other = facula.eye(8, dtype=facula.float64)[:, : 1 if name == "X" else 8].clone().requires_grad_()
    with pytest.raises(ValueError, match="no derivative"):
        facula.lobpcg(matrix(), 1, **{name: other})


def test_of_first_guesses_there_are_as_many_as_they_are():
    start = facula.ones(12, 3, dtype=facula.float64).tril()
    values, vectors = facula.lobpcg(matrix(12), 2, X=start, n=1)

    assert values.shape == (2,) and vectors.shape == (12, 2)
