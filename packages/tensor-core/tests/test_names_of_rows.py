"""Refusals name a row as it was called."""

import pytest

import facula


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda x: facula.where(x > 0, None, x), "where"), (lambda x: facula.where(x > 0, x, facula.ones(4)), "where"), (lambda x: x.fill_(None), "fill_"),
        (lambda x: x.index_put_((facula.tensor([5]),), x[0].clone()), "index_put_"), (lambda x: x.half().index_put_((facula.tensor([0]),), x[:1]), "index_put_"),
    ],
)  # fmt: skip
def test_a_row_is_named_as_it_was_called(call, name):
    with pytest.raises((TypeError, RuntimeError, IndexError), match=rf"^{name}\b"):
        call(facula.ones(3))
