"""Objects that are no tensors and have __torch_function__ answer for themselves."""

import facula
import pytest


class Diagonal:
    """Answers with the function's name, how many arguments it got, and which keywords."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        assert cls in types
        return func.__name__, len(args), sorted(kwargs or {})


CALLS = {
    "matmul": (lambda x, d: facula.matmul(x, d), 2, []),
    "matmul, first": (lambda x, d: facula.matmul(d, x), 2, []),
    "add": (lambda x, d: x + d, 2, []),
    "mul": (lambda x, d: x.mul(d), 2, []),
    "sum": (lambda x, d: facula.sum(d), 1, []),
    "sum, with a dim": (lambda x, d: facula.sum(d, -1), 2, []),
    "sub": (lambda x, d: facula.sub(x, d, alpha=2), 2, ["alpha"]),
    "cat": (lambda x, d: facula.cat([x, d]), 1, []),
    "clone": (lambda x, d: facula.clone(d), 1, []),
    "cholesky": (lambda x, d: facula.linalg.cholesky(d), 1, []),
    "solve": (lambda x, d: facula.linalg.solve(d, x, left=False), 2, ["left"]),
    "isclose": (lambda x, d: facula.isclose(x, d), 2, []),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_object_is_asked_with_the_call_as_it_was(call):
    function, count, keywords = CALLS[call]

    assert (call.partition(",")[0], count, keywords) == function(facula.ones(2, 2), Diagonal())


def test_an_object_that_does_not_answer_is_a_type_error():
    class Shy:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="Shy"):
        facula.exp(Shy())


def test_other_objects_are_refused_as_before():
    with pytest.raises(TypeError, match="object"):
        facula.add(facula.ones(2), object())
    with pytest.raises(TypeError):
        facula.ones(2) + object()
