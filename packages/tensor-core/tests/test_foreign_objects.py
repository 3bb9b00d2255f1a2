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


class Everything(Diagonal):
    """Has every attribute, and neither truth nor order: so are the values that a tracer stands in for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Everything()

    def __bool__(self):
        raise ValueError("what stands for a value is neither true nor false")

    def __eq__(self, other):
        return Everything()

    __hash__ = None


LEFT = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "__floordiv__", "%": "remainder", "**": "pow", "@": "matmul", "&": "bitwise_and",
        "|": "bitwise_or", "^": "bitwise_xor", "<<": "__lshift__", ">>": "__rshift__", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
RIGHT = {"+": "add", "-": "__rsub__", "*": "mul", "/": "__rdiv__", "//": "__rfloordiv__", "%": "__rmod__", "**": "__rpow__", "@": "__rmatmul__", "&": "bitwise_and",
         "|": "bitwise_or", "^": "bitwise_xor", "<<": "__rlshift__", ">>": "__rrshift__"}  # fmt: skip
ONTO = {"+": "add_", "-": "sub_", "*": "mul_", "/": "div_", "//": "floor_divide_", "%": "remainder_", "**": "pow_", "&": "bitwise_and_", "|": "bitwise_or_",
        "^": "bitwise_xor_", "<<": "bitwise_left_shift_", ">>": "bitwise_right_shift_"}
METHODS = {
    "to": [lambda x, d: x.to(d), lambda x, d: x.to(dtype=d), lambda x, d: x.to(device=d)], "add_": [lambda x, d: x.add_(d)], "copy_": [lambda x, d: x.copy_(d)],
    "expand": [lambda x, d: x.expand(d), lambda x, d: x.expand(d, -1)], "view": [lambda x, d: x.view(d), lambda x, d: x.view(d, 1)],
    "repeat": [lambda x, d: x.repeat(d), lambda x, d: x.repeat(d, 1)], "unfold": [lambda x, d: x.unfold(0, d, 1)],
    "view_as": [lambda x, d: x.view_as(d)], "expand_as": [lambda x, d: x.expand_as(d)], "reshape_as": [lambda x, d: x.reshape_as(d)], "type_as": [lambda x, d: x.type_as(d)],
}  # fmt: skip


@pytest.mark.parametrize("kind", [Diagonal, Everything])
@pytest.mark.parametrize("program, name", [(f"x {op} d", name) for op, name in LEFT.items()] + [(f"d {op} x", name) for op, name in RIGHT.items()])
def test_operators_ask_on_both_sides(kind, program, name):
    assert (name, 2, []) == eval(program, {"x": facula.ones(2, dtype=facula.int64), "d": kind()})


@pytest.mark.parametrize("kind", [Diagonal, Everything])
@pytest.mark.parametrize("op", ONTO)
def test_operators_in_place_ask(kind, op):
    names = {"x": facula.ones(2), "d": kind()}
    exec(f"x {op}= d", names)

    assert (ONTO[op], 2, []) == names["x"]


@pytest.mark.parametrize("kind", [Diagonal, Everything])
@pytest.mark.parametrize("name, call", [(name, call) for name, calls in METHODS.items() for call in calls])
def test_methods_ask(kind, name, call):
    assert name == call(facula.ones(2), kind())[0]


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
