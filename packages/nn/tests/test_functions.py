"""Functions and layers with every option, and their refusals, are PyTorch's."""

import expectations
import function_cases
import pytest
from backend import torch
from facts import difference

EXPECTED = expectations.read()["functions"]


def test_every_line_has_its_expected_facts():
    assert set(function_cases.lines()) == set(EXPECTED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", function_cases.lines())
def test_a_call_does_what_it_does_in_pytorch(line):
    actual = function_cases.facts(line, torch)

    assert difference(EXPECTED[line], actual, 1e-6 if "float32" in str(EXPECTED[line]) else 1e-9) is None
