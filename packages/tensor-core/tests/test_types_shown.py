"""What dir() shows of the values that describe a tensor."""

import pytest

import facula


@pytest.mark.parametrize("value", (facula.float32, facula.float8_e5m2, facula.strided, facula.preserve_format, facula.device("cpu")), ids=str)
def test_what_describes_a_tensor_shows_no_names_but_pytorchs(value):
    theirs = {"abbr", "is_complex", "is_floating_point", "is_signed", "itemsize", "to_complex", "to_real"} if isinstance(value, facula.dtype) else set()
    theirs |= {"type", "index"} if isinstance(value, facula.device) else set()

    assert theirs == {name for name in dir(value) if not name.startswith("_")}
