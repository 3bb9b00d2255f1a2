"""Small programs over modules, hooks, state and utilities give what they give on PyTorch."""

import expectations
import module_program_cases  # noqa: F401 - adds its programs
import program_cases
import pytest
from backend import torch, wait_for
from facts import difference, plain

NEEDS = {
    "orthogonal_rows_or_columns": "linalg.qr",
    "activations_at_special_values": "softplus",
    "losses_refuse": "xlogy",
    "parametrizations_of_weights": "linalg.matrix_exp",
}
EXPECTED = expectations.read()["programs"]


def test_every_program_has_its_expected_result():
    assert {p.__name__ for p in program_cases.PROGRAMS} == set(EXPECTED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", program_cases.PROGRAMS, ids=lambda p: p.__name__)
def test_program_gives_what_it_gives_on_pytorch(program):
    wait_for(*NEEDS.get(program.__name__, "").split())
    actual = plain(program(torch), torch)

    assert difference(EXPECTED[program.__name__], actual, 1e-9) is None
