"""Every module: repr, state names, first values for a seed, outputs, gradients and buffers are PyTorch's."""

import expectations
import module_cases
import pytest
from backend import torch
from facts import difference

EXPECTED = expectations.read()["modules"]


def test_every_module_has_its_expected_facts():
    assert {expectations.text(case) for case in module_cases.cases()} == set(EXPECTED)


def test_every_module_class_has_a_case():
    named = {line.split("(")[0] for line in EXPECTED}
    abstract = {"Module", "Container", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "NLLLoss2d", "RNNBase", "RNNCellBase"}
    classes = {n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type) and issubclass(getattr(torch.nn, n), torch.nn.Module)}

    assert not {n for n in classes - abstract if not any(n in line for line in named)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", module_cases.cases(), ids=expectations.text)
def test_module_does_what_pytorchs_does(case):
    actual = module_cases.facts(case, torch)

    assert difference(EXPECTED[expectations.text(case)], actual, 1e-9) is None
