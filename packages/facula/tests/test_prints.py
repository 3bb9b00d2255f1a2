"""Printing beside PyTorch's, where it is installed: programs that prints_drawn.py draws. It draws more of them when called by itself."""

import pytest

torch = pytest.importorskip("torch")

import facula.torch  # noqa: E402
from prints_drawn import printed, program  # noqa: E402

with facula.torch.enabled(shadow=True):
    import torch as ours


@pytest.mark.parametrize("start", range(0, 600, 20))
def test_what_is_printed_is_the_same(start):
    differing = []
    for number in range(start, start + 20):
        text = program(number)
        there, here = printed(torch, text), printed(ours, text)
        if None not in (there, here) and there != here:
            differing.append((number, text, there, here))

    assert [] == differing


def test_nearly_all_programs_print():
    texts = [program(number) for number in range(300)]

    assert 0.8 * len(texts) < sum(printed(ours, text) is not None for text in texts)


@pytest.mark.parametrize("where", ["repr(x)", "str(x)", "repr(torch.nn.Parameter(x))", "repr(torch.return_types.max((x, x)))"])
def test_a_difference_would_be_seen(where):
    text = "x = data('float32', (3, 2), 'unit', 1)\n" + where

    assert printed(ours, text) == printed(torch, text) != printed(ours, text.replace("1)", "2)"))
