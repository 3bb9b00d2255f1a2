"""What dir() shows of the values that describe a tensor."""

import pytest

import facula


@pytest.mark.parametrize("value", (facula.float32, facula.float8_e5m2, facula.strided, facula.preserve_format, facula.device("cpu")), ids=str)
def test_what_describes_a_tensor_shows_no_names_but_pytorchs(value):
    theirs = {"abbr", "is_complex", "is_floating_point", "is_signed", "itemsize", "to_complex", "to_real"} if isinstance(value, facula.dtype) else set()
    theirs |= {"type", "index"} if isinstance(value, facula.device) else set()

    assert theirs == {name for name in dir(value) if not name.startswith("_")}


@pytest.mark.parametrize("kind", "dtype device Size layout memory_format finfo iinfo FloatTensor LongTensor".split())
def test_no_class_is_made_of_a_kind_that_is_pytorchs_own(kind):
    with pytest.raises(TypeError, match=f"torch.{kind}"):
        type("Mine", (getattr(facula, kind),), {})


@pytest.mark.parametrize("dtype,text", [("int8", "min=-128, max=127"), ("uint32", "min=0, max=4.29497e+09"), ("int64", "min=-9.22337e+18, max=9.22337e+18")])
def test_limits_of_integers_print_as_in_pytorch(dtype, text):
    assert f"iinfo({text}, dtype={dtype})" == repr(facula.iinfo(getattr(facula, dtype)))
