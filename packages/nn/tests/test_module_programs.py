"""Small programs over modules, hooks, state and utilities give what they give on PyTorch."""

import expectations
import pytest
from backend import torch
from facts import difference, plain
from programs import all_programs

EXPECTED = expectations.read()["programs"]


def test_every_program_has_its_expected_result():
    assert {p.__name__ for p in all_programs()} == set(EXPECTED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", all_programs(), ids=lambda p: p.__name__)
def test_program_gives_what_it_gives_on_pytorch(program):
    actual = plain(program(torch), torch)

    assert difference(EXPECTED[program.__name__], actual, 1e-9) is None
