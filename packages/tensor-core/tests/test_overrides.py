"""Subclasses of Tensor and __torch_function__: what a class's tensors are asked, and what of."""

import copy
import gc
import inspect
import pickle

import facula
import pytest
from facula import overrides

F = facula.Tensor


class Kept(F):
    """Says nothing, so results are of this class."""


class Deeper(Kept):
    pass


class Other(F):
    pass


def kept(*values, cls=Kept):
    return facula.tensor(values or (1.0, 2.0)).as_subclass(cls)


SAME = {
    "operator": lambda x: x + 1, "reflected": lambda x: 1 - x, "plain on the left": lambda x: facula.ones(2) + x, "plain on the right": lambda x: x * facula.ones(2),
    "function": lambda x: facula.add(x, 1), "method": lambda x: x.mul(2), "in place": lambda x: x.add_(1), "row of a list": lambda x: facula.stack([x, x]),
    "mixed list": lambda x: facula.cat([facula.ones(2), x]), "view": lambda x: x[0], "property": lambda x: x.T, "detach": lambda x: x.detach(), "data": lambda x: x.data,
    "like": lambda x: facula.zeros_like(x), "new": lambda x: x.new_ones(3), "where": lambda x: facula.where(x > 0, x, 0), "einsum": lambda x: facula.einsum("i->", x),
    "composition": lambda x: facula.tensordot(x, x, 1), "norm": lambda x: facula.linalg.norm(x), "cast": lambda x: x.double(), "clone": lambda x: x.clone(),
    "out": lambda x: facula.add(x, 1, out=facula.zeros(2)), "compare": lambda x: x == x, "sum over a dim": lambda x: x.sum(0, keepdim=True), "plain's method": lambda x: facula.ones(2).add(x),
    "call of the class": lambda x: Kept([1.0]), "copy": lambda x: copy.copy(x), "deep copy": lambda x: copy.deepcopy(x), "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_results_are_of_the_class(name):
    x = kept()
    result = SAME[name](x)
    if name == "out":
        assert type(result) is Kept or result is not None
        return

    assert type(result) is Kept
    expected = SAME[name](facula.tensor([1.0, 2.0]))
    assert expected.tolist() == result.tolist()


PARTS = {"max": lambda x: x.max(0), "split": lambda x: x.split(1), "list": list, "unbind": lambda x: x.unbind(), "topk": lambda x: x.topk(1), "broadcast": lambda x: facula.broadcast_tensors(x, facula.ones(1))}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_a_result_are_of_the_class(name):
    assert {Kept} == {type(part) for part in PARTS[name](kept())}


def test_values_that_are_no_tensors_stay():
    x = kept()

    assert ((2,), 2, facula.float32, [1.0, 2.0], True) == (tuple(x.shape), len(x), x.dtype, x.tolist(), facula.equal(x, x))
    assert (1.0, 1, True) == (float(x[0]), int(x[0]), bool(x[0])) and x.numpy().tolist() == [1.0, 2.0]
    assert "Kept([1., 2.])" == repr(x)


def test_a_class_can_decline():
    from facula.tensor_core.extend import disabled_torch_function

    class Declines(F):
        __torch_function__ = disabled_torch_function

    x = kept(cls=Declines)

    assert (F, F, Declines, Kept) == (type(x + 1), type(x[0]), type(x.add_(1)), type(x + kept()))


def test_the_deepest_class_decides():
    a, b, c = kept(), kept(cls=Deeper), kept(cls=Other)

    assert Deeper is type(a + b) is type(b + a) is type(facula.add(a, b))
    with pytest.raises(TypeError):
        a + c
    with pytest.raises(TypeError, match="no implementation"):
        facula.add(a, c)


def test_one_memory_and_one_history():
    x = facula.ones(2)
    y = x.as_subclass(Kept)
    y[0] = 5

    assert [5.0, 1.0] == x.tolist() and type(y.as_subclass(F)) is F
    with pytest.raises(RuntimeError):
        x.as_subclass(int)


def test_attributes_belong_to_the_object():
    x = kept()
    x.tag = 3

    assert 3 == copy.copy(x).tag == pickle.loads(pickle.dumps(x)).tag and not hasattr(x + 1, "tag")


def test_gradients_are_plain():
    pytest.importorskip("facula.autograd")
    x = kept().requires_grad_()
    y = (x * x).sum()
    y.backward()

    assert (Kept, F, [2.0, 4.0]) == (type(y), type(x.grad), x.grad.tolist()) and x.is_leaf and x.grad_fn is None
    leaf = facula.ones(2, requires_grad=True)
    view = leaf.as_subclass(Kept)
    (view * 3).sum().backward()
    assert view.grad_fn is not None and [3.0, 3.0] == leaf.grad.tolist()


# --- a class that says what functions mean

seen = []


class Told(F):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


CALLS = {
    "torch.add": (lambda x: facula.add(x, 1), ["add"]), "x.add": (lambda x: x.add(1), ["add"]), "+": (lambda x: x + 1, ["add"]), "1 +": (lambda x: 1 + x, ["add"]),
    "add_": (lambda x: x.add_(1), ["add_"]), "shape": (lambda x: x.shape, ["__get__"]), "[0]": (lambda x: x[0], ["__getitem__"]), "len": (len, ["__len__"]),
    "stack": (lambda x: facula.stack([x, x]), ["stack"]), "split": (lambda x: x.split(1), ["split"]), "max": (lambda x: facula.max(x, 0), ["max"]),
    "norm": (lambda x: facula.linalg.norm(x), ["norm"]), "einsum": (lambda x: facula.einsum("i,i->", x, x), ["einsum"]), "repr": (repr, ["__repr__"]),
    "zeros_like": (facula.zeros_like, ["zeros_like"]), "**": (lambda x: x**2, ["pow"]), "2 **": (lambda x: 2**x, ["__rpow__"]), "-": (lambda x: -x, ["neg"]),
    "float": (lambda x: float(x.sum()), ["sum", "__float__"]), "plain": (lambda x: facula.ones(2) * x, ["mul"]), "tensordot": (lambda x: facula.tensordot(x, x, 1), ["tensordot"]),
    "is_tensor": (facula.is_tensor, []), "hash": (hash, []), "copy_": (lambda x: x.copy_(facula.ones(2)), ["copy_"]), "setitem": (lambda x: x.__setitem__(0, 1.0), ["__setitem__"]),
    # a plain tensor's methods, given one
    "copy_ from": (lambda x: facula.ones(2).copy_(x), ["copy_"]), "fill_ with": (lambda x: facula.ones(2).fill_(x[0]), ["__getitem__", "fill_"]),
    "masked_fill_ with": (lambda x: facula.ones(2).masked_fill_(facula.ones(2) > 0, x[0]), ["__getitem__", "masked_fill_"]),
    "scatter_ from": (lambda x: facula.ones(2).scatter_(0, facula.tensor([0]), x), ["scatter_"]),
    "index_put_ of": (lambda x: facula.ones(2).index_put_((facula.tensor([0, 1]),), x), ["index_put_"]),
    "[mask]": (lambda x: facula.ones(2)[x > 0], ["gt", "__getitem__"]), "[0] = x[0]": (lambda x: facula.ones(2).__setitem__(0, x[0]), ["__getitem__", "__setitem__"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_class_is_told_what_is_called(name):
    call, expected = CALLS[name]
    x = kept(cls=Told)
    seen.clear()
    call(x)

    assert expected == list(seen)


def test_arguments_arrive_as_they_were_given():
    given = []

    class Args(F):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            given.append((len(args), sorted(kwargs or {}), types))
            return super().__torch_function__(func, types, args, kwargs)

    x = kept(cls=Args)
    facula.add(facula.ones(2), x, alpha=2)
    x.sum(0, keepdim=True)

    assert [(2, ["alpha"], (Args,)), (2, ["keepdim"], (Args,))] == given


def test_a_class_may_answer_for_itself():
    class Answers(F):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return {"mul": "a product", "tensordot": "another"}.get(func.__name__, NotImplemented)

    x = kept(cls=Answers)

    assert "a product" == x * 2 == facula.mul(facula.ones(2), x) and "another" == facula.tensordot(x, x, 1)
    with pytest.raises(TypeError):
        x.sum()


def test_methods_of_the_class_itself_come_first():
    class Own(F):
        def sum(self):
            return "mine"

        def mean(self):
            return super().mean() + 1

    class Sister(F):
        pass

    class Both(Sister, Own):
        pass

    assert "mine" == kept(cls=Own).sum() == kept(cls=Both).sum()
    assert (2.5, Own) == (kept(cls=Own).mean().item(), type(kept(cls=Own).mean()))


HANDLED = {}


class Scalar:
    """Stands for a tensor, and is none."""

    def __init__(self, value):
        self.value = value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (F, Scalar)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


HANDLED[facula.mean] = lambda x: x.value
HANDLED[facula.add] = lambda x, y: "sum"
HANDLED.update({f: lambda *_, f=f: f.__name__ for f in (F.copy_, F.fill_, F.index_put_, F.__getitem__)})


def test_other_types_can_stand_for_tensors():
    assert 3.5 == facula.mean(Scalar(3.5)) and "sum" == facula.add(facula.ones(1), Scalar(1)) == facula.add(Scalar(1), 2)
    x = facula.ones(1)
    assert ["copy_", "fill_", "index_put_", "__getitem__"] == [x.copy_(Scalar(1)), x.fill_(Scalar(1)), x.index_put_((facula.tensor([0]),), Scalar(1)), x[Scalar(1)]]
    with pytest.raises(TypeError, match="no implementation"):
        facula.mul(Scalar(1), 2)


def test_plain_tensors_do_not_ask():
    seen.clear()

    assert [2.0] == (facula.ones(1) + 1).tolist() == facula.stack([facula.ones(1) + 1])[0].tolist() and not seen


def test_tensors_die_without_the_collector():
    import weakref

    gc.disable()
    try:
        x = kept()
        ref = weakref.ref(x + 1)

        assert ref() is None
    finally:
        gc.enable()


# --- modes and helpers


class Log(overrides.TorchFunctionMode):
    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_every_function():
    with Log() as outer:
        x = facula.ones(2)
        with Log() as inner:
            y = facula.tensordot(x, x, 1) + 1
    facula.ones(1) + 1

    assert (["tensordot", "add"], ["ones", "tensordot", "add"], 3.0) == (inner.names, outer.names, y.item())


def test_a_mode_sees_methods_under_their_own_names():
    x = facula.ones(2, 2)
    with Log() as log:
        x[0], x.reshape(4), x.split(1)
        x[0] = 2.0

    assert ["__getitem__", "reshape", "split", "__setitem__"] == log.names


def test_functions_that_ask_are_called_as_before():
    with Log():
        pass  # from here on functions ask their arguments first
    x = facula.arange(6.0).reshape(2, 3)

    assert facula.equal(facula.einsum(x, [0, 1], [1, 0]), x.T)
    assert facula.equal(facula.einsum("ij->ji", [x]), x.T)
    with pytest.raises(ValueError, match="subscript in subscript list"):
        facula.einsum(x, [0, 52])
    assert ["input", "spacing", "dim", "edge_order"] == list(inspect.signature(facula.gradient).parameters)


def test_a_mode_that_has_no_answer_is_an_error():
    class Nothing(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Nothing(), pytest.raises(TypeError):
        facula.ones(1)
    with overrides.BaseTorchFunctionMode():
        assert [1.0] == facula.ones(1).tolist()


def test_libraries_can_ask():
    x, plain = kept(), facula.ones(1)

    assert overrides.has_torch_function((plain, x)) and overrides.has_torch_function_unary(x) and overrides.has_torch_function_variadic(1, x)
    assert not overrides.has_torch_function((plain, 1)) and not overrides.has_torch_function_unary(facula.nn.Parameter(plain) if hasattr(facula, "nn") else plain)
    assert overrides.is_tensor_like(plain) and overrides.is_tensor_like(Scalar(1)) and not overrides.is_tensor_like(1)
    assert overrides.is_tensor_method_or_property(F.add) and overrides.is_tensor_method_or_property(F.shape.__get__) and not overrides.is_tensor_method_or_property(facula.ones)
    assert "torch.stack" == overrides.resolve_name(facula.stack) and overrides.resolve_name(len) is None
    assert {facula.is_tensor, F.as_subclass, F.__hash__} <= overrides.get_ignored_functions() and F.add not in overrides.get_ignored_functions()
    assert -1 == overrides.get_testing_overrides()[facula.stack]([x])
    assert F.__dict__["grad"].__get__ in overrides.get_default_nowrap_functions()


def test_a_function_can_be_made_to_ask():
    @overrides.wrap_torch_function(lambda x, y: (x, y))
    def double(x, y):
        return x.value

    HANDLED[double] = lambda x, y: "asked"

    assert "asked" == double(Scalar(1), 2)
    with pytest.raises(TypeError):
        overrides.handle_torch_function(len, (Scalar(1),), Scalar(1))


def test_frames_of_functions_that_ask_can_be_looked_into():
    with Log():  # from here on functions ask
        pass
    with pytest.raises(RuntimeError) as failed:
        facula.empty(0).max()

    # pytest, debuggers and notebooks read the locals of every frame; `max` has a closure
    names = [set(entry.frame.f_locals) for entry in failed.traceback]
    assert any("_facula_" in found and len(found) > 3 for found in names)


def test_what_a_program_puts_on_tensor_is_called_as_it_stands(monkeypatch):
    def doubled(self, other=None):
        return (type(self), type(other), self * 2)

    monkeypatch.setattr(F, "doubled", doubled, raising=False)
    monkeypatch.setattr(F, "twice", property(doubled), raising=False)

    class Later(F):
        pass

    x, y = kept(cls=Later), kept(cls=Other)

    assert (Later, Other) == x.doubled(y)[:2]
    assert Later is type(x.doubled()[2]) is type(x.twice[2])
