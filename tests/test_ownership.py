"""With all parts installed, every name that the ownership table promises is there or plainly absent: none says \"not installed\"."""

import facula
import facula.utils
import pytest


@pytest.mark.parametrize("name", sorted({*dir(facula), "onnx"}))
def test_a_public_name_is_there_or_absent(name):
    try:
        getattr(facula, name)
    except AttributeError as error:
        assert "does not have it yet" in str(error)


def test_a_star_imports_what_is_there():
    space = {}
    exec("from facula import *", space)

    assert {"tensor", "Tensor", "no_grad", "save", "float32"} <= set(space)
    assert not {"nn", "optim", "onnx"} & set(space)  # as PyTorch's star


@pytest.mark.parametrize("name", ["data", "checkpoint", "bottleneck", "trainer", "tensorboard", "dlpack"])
def test_a_utility_is_there_or_absent(name):
    try:
        getattr(facula.utils, name)
    except AttributeError as error:
        assert "does not have it yet" in str(error)
