"""What was saved and then written to is found when it is used."""

import pytest
from backend import leaf, near, node, plain


def test_modifying_a_saved_result_is_found_at_backward():
    x = leaf(1, 2)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"(?s)version 1.*0|version 0.*1"):
        y.sum().backward()


WRITES = {"itself": lambda w: w.add_(1), "a view": lambda w: w.__setitem__(0, 1.0), "a detached alias": lambda w: w.detach().zero_()}


@pytest.mark.parametrize("through", WRITES)
def test_modifying_a_saved_input_is_found_at_backward(through):
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    WRITES[through](w)
    with pytest.raises(RuntimeError, match=r"version"):
        y.sum().backward()


def test_modifying_through_data_is_not_seen():
    x, w = leaf(1, 2), plain(3, 4)
    y = x * w
    w.data.add_(1)
    y.sum().backward()

    assert near([4, 5], x.grad)


def test_modifying_a_tensor_that_was_not_saved_is_harmless():
    x = leaf(1, 2)
    y = x + 1
    y.mul_(3)
    y.sum().backward()

    assert near([3, 3], x.grad)


def test_multiplying_a_tensor_by_itself_in_place_is_found():
    _, y = node(2, 3)
    y.mul_(y)
    with pytest.raises(RuntimeError, match="version"):
        y.sum().backward()


def test_version_counts_writes_and_is_shared_by_views():
    x = plain(1, 2)
    v = x[0:1]
    v.add_(1)
    x.mul_(2)

    assert (2, 2) == (x._version, v._version)


@pytest.mark.facula_only
def test_version_error_names_both_versions_and_the_forward_line():
    x = leaf(1, 2)
    y = x.exp()  # the line that the message shows
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()

    assert "version 0" in str(caught.value) and "now 1" in str(caught.value)
    notes = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "test_versions.py" in notes and "exp" in notes
