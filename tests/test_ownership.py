"""With all parts installed, every name that the ownership table promises is there or plainly absent: none says \"not installed\"."""

import facula
import facula.utils
import pytest


@pytest.mark.parametrize("name", sorted({*facula.__all__, "onnx"}))
def test_a_public_name_is_there_or_absent(name):
    try:
        getattr(facula, name)
    except AttributeError as error:
        assert "does not have it yet" in str(error)


@pytest.mark.parametrize("name", ["data", "checkpoint", "bottleneck", "trainer", "tensorboard", "dlpack"])
def test_a_utility_is_there_or_absent(name):
    try:
        getattr(facula.utils, name)
    except AttributeError as error:
        assert "does not have it yet" in str(error)
