"""vmap: against the function called example by example, alone and under and over gradients; and its calls beside PyTorch's."""

import pytest
from backend import BACKEND, leaf, near, plain, torch

vmap = torch.func.vmap
F64 = torch.float64


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return (a != a and b != b) or abs(a - b) <= 1e-9 * max(abs(a), 1e-3) or a == b


# ---- every public function -----------------------------------------------------------------------------------------------

try:
    from test_expressions import EXPRESSIONS
except BaseException:  # its module is skipped
    EXPRESSIONS = []

# What PyTorch refuses too: results whose shape depends on values; and compositions that write into memory of their own
UNBATCHED = {"x.masked_select(x>0)", "x[x>0]", "x.put(T.tensor([0]),x[0,:1])"}


def batch():
    x = torch.randn(3, 3, 3, dtype=F64)
    x[1] = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.5, -0.25], [-2.0, 2.0, 0.75]], dtype=F64)  # with ties
    return x


def alone(f, x):
    return torch.stack([f(row) for row in x])


@pytest.mark.skipif(BACKEND == "torch", reason="PyTorch batches fewer functions")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in UNBATCHED])
def test_an_expression_of_many_examples(expression):
    f, x = eval("lambda x: " + expression, {"T": torch}), batch()
    try:
        expected = alone(f, x)
    except (AttributeError, ModuleNotFoundError) as error:
        pytest.skip(str(error))
    actual = vmap(f)(x)

    assert tuple(expected.shape) == tuple(actual.shape) and expected.dtype == actual.dtype and same(expected.tolist(), actual.tolist())
    if not f(x[0].clone().requires_grad_()).requires_grad:
        return

    def loss(x):
        y = f(x)
        y = y.real if y.is_complex() else y
        return (y * y).sum()

    gradient = torch.func.grad(loss)
    expected = alone(gradient, x).tolist()

    assert same(expected, vmap(gradient)(x).tolist())
    assert same(expected, torch.func.grad(lambda x: vmap(loss)(x).sum())(x).tolist())


# ---- calls ---------------------------------------------------------------------------------------------------------------


def matrix(T):
    return T.arange(6.0, dtype=T.float64).reshape(2, 3)


def written(T, x):
    y = x * 1
    y[0] = x[1] * 10
    y[1:].mul_(2)
    y.add_(1)
    return y


CALLS = {
    "one argument": lambda T, v, x: v(lambda x: x.sum())(x),
    "two arguments": lambda T, v, x: v(lambda x, y: x * y.sum())(x, x * 2),
    "another dim": lambda T, v, x: v(lambda x: x * 2, in_dims=1)(x),
    "the last dim": lambda T, v, x: v(lambda x: x * 2, in_dims=-1, out_dims=-1)(x),
    "None for one": lambda T, v, x: v(lambda x, y: x * y, in_dims=(0, None))(x, x[0]),
    "a number": lambda T, v, x: v(lambda x, k: x * k, in_dims=(0, None))(x, 3),
    "keywords": lambda T, v, x: v(lambda x, k: x * k)(x, k=3),
    "a tree": lambda T, v, x: v(lambda d: {"s": d["a"] + d["b"][0], "t": (d["a"],)}, in_dims=({"a": 0, "b": [None]},))({"a": x, "b": [x[0]]}),
    "results at several dims": lambda T, v, x: v(lambda x: (x, x), out_dims=(0, 1))(x),
    "a constant result": lambda T, v, x: v(lambda x: T.ones(2))(x),
    "a constant result as it is": lambda T, v, x: v(lambda x: T.ones(2), out_dims=None)(x),
    "shapes inside": lambda T, v, x: v(lambda x: x.reshape(x.shape[0], 1).expand(3, x.dim() + 1))(x),
    "no examples": lambda T, v, x: v(lambda x: x * 2)(x[:0]),
    "chunks": lambda T, v, x: v(lambda x: (x.sum(), x), out_dims=(0, 1), chunk_size=2)(T.cat([x, x, x])),
    "matrix and vector": lambda T, v, x: v(lambda a: x.mv(a))(x),
    "vector and vector": lambda T, v, x: v(T.dot)(x, x),
    "a matrix of each": lambda T, v, x: v(lambda a, b: a @ b)(x.reshape(2, 3, 1), x.reshape(2, 1, 3)),
    "numbers and vectors": lambda T, v, x: v(lambda a, b: a * b)(x[:, 0], x),
    "a number promotes less": lambda T, v, x: v(lambda a, b: a * b)(x[:, 0], x.to(T.float32)),
    "inside one another": lambda T, v, x: v(lambda a: v(lambda b: a * b)(x))(x),
    "inside one another, other dims": lambda T, v, x: v(v(lambda a, b: a - b, in_dims=(0, None)), in_dims=(None, 0))(x[0], x[1]),
    "three deep": lambda T, v, x: v(v(v(lambda a: a * a)))(T.stack([x, x])),
    "written": lambda T, v, x: v(lambda a: written(T, a))(x),
    "written in place": lambda T, v, x: (v(lambda a: a.add_(1))(x), x),
    "where": lambda T, v, x: v(lambda a: T.where(a > 1, a, a * 0))(x),
    "max": lambda T, v, x: v(lambda a: a.max(0))(x),
    "argmax": lambda T, v, x: v(lambda a: a.argmax())(x),
    "sort": lambda T, v, x: v(lambda a: (-a).sort()[0])(x),
    "index": lambda T, v, x: v(lambda a: a[T.tensor([0, 2])])(x),
    "index of each": lambda T, v, x: v(lambda a, i: a[i])(x, T.tensor([0, 2])),
    "gather": lambda T, v, x: v(lambda a, i: a.gather(0, i))(x, T.tensor([[0, 2], [1, 1]])),
    "split": lambda T, v, x: v(lambda a: a.split(2)[0])(x),
    "unbind": lambda T, v, x: v(lambda a: a.unbind()[1])(x),
    "cat": lambda T, v, x: v(lambda a: T.cat([a, x[0]]))(x),
    "softmax": lambda T, v, x: v(lambda a: a.softmax(0))(x),
    "matrices": lambda T, v, x: v(lambda a, w: w @ a)(x, T.stack([x, x])),
    "per-example gradients": lambda T, v, x: v(T.func.grad(lambda w, a: ((w * a).sum()) ** 2), in_dims=(None, 0))(x[1], x),
    "per-example Hessians": lambda T, v, x: v(T.func.hessian(lambda a: a.exp().sum()))(x),
    "per-example Jacobians": lambda T, v, x: v(T.func.jacrev(lambda a: a * a.sum()))(x),
    "gradient through": lambda T, v, x: T.func.grad(lambda w: v(lambda a: (w * a).sum() ** 2)(x).sum())(x[1]),
    "gradient of gradients": lambda T, v, x: T.func.grad(lambda x: v(T.func.grad(lambda a: (a**3).sum()))(x).sum())(x),
    "gradients that may be written to": lambda T, v, x: v(T.func.grad(lambda a: (a * T.arange(3)).sum()))(x).add_(1),
    "gradients of what a mask puts in": lambda T, v, x: v(T.func.grad(lambda a: (a.masked_scatter(a > 1, a * a) * T.arange(3)).sum()))(x - 1),
    "tangents of what a mask puts in": lambda T, v, x: v(lambda a: T.func.jvp(lambda a: a.masked_scatter(a > 1, a * a), (a,), (a + 1,)))(x),
    "jvp through": lambda T, v, x: T.func.jvp(lambda x: v(lambda a: a.sin().sum())(x), (x,), (x,)),
    "the same random numbers": lambda T, v, x: v(lambda a: (T.rand(2), a), randomness="same")(x)[0].std(0),
    "other random numbers": lambda T, v, x: v(lambda a: T.rand(2).shape == (2,) and T.rand(2) * 0, randomness="different")(x),
}


def values(tree):
    if isinstance(tree, dict):
        return [values(v) for v in tree.values()]
    if isinstance(tree, (tuple, list)):
        return [values(v) for v in tree]
    return [list(tree.shape), str(tree.dtype), tree.tolist(), tree.requires_grad]


def agree(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b))
    return a == b if isinstance(a, (str, bool)) else same(a, b)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_vmap_does_what_pytorch_does(name):
    reference = pytest.importorskip("torch")
    expected = values(CALLS[name](reference, reference.func.vmap, matrix(reference)))

    assert agree(expected, values(CALLS[name](torch, vmap, matrix(torch))))


def test_sum_of_each_row():
    assert near([3, 7], vmap(lambda x: x.sum())(torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64)))


def test_history_of_what_goes_in_and_of_what_is_closed_over():
    x, w = leaf(1, 2, 3, 4, shape=(2, 2)), leaf(5, 6)
    vmap(lambda a: (a * w).sum() * a[0])(x).sum().backward()

    assert near([[22, 6], [54, 18]], x.grad) and near([10, 14], w.grad)


WRITES = {
    "mul_": lambda c, a: c.mul_(a + 1),
    "div_": lambda c, a: c.div_(a + 1),
    "atan2_": lambda c, a: c.atan2_(a + 1),
    "lerp_": lambda c, a: c.lerp_(a + 1, a),
    "xlogy_": lambda c, a: c.xlogy_(a + 1),
    "sin_": lambda c, a: c.sin_(),
    "square_": lambda c, a: c.square_(),
    "clamp_": lambda c, a: c.clamp_(0.3, 0.5),
    "logit_": lambda c, a: c.logit_(),
    "cumprod_": lambda c, a: c.cumprod_(0),
    "float_power_": lambda c, a: c.float_power_(a),
    "add_": lambda c, a: c.add_(a),
}


@pytest.mark.parametrize("name", WRITES)
def test_history_of_the_examples_through_what_is_written_over(name):
    def f(a):
        return WRITES[name](a.clone().add_(0.1), a)

    x, y = leaf(0.1, 0.2, 0.3, 0.4, shape=(2, 2)), leaf(0.1, 0.2, 0.3, 0.4, shape=(2, 2))
    (vmap(f)(x) * plain(1, 2)).sum().backward()
    (alone(f, y) * plain(1, 2)).sum().backward()

    assert same(y.grad.tolist(), x.grad.tolist())


def test_no_grad_inside():
    x = leaf(1, 2)
    with torch.no_grad():
        assert not vmap(lambda a: a * 2)(x).requires_grad


BAD = {
    "item": (RuntimeError, lambda x: vmap(lambda a: a.sum().item())(x)),
    "control flow": (RuntimeError, lambda x: vmap(lambda a: a if a.sum() > 0 else -a)(x)),
    "nonzero": (RuntimeError, lambda x: vmap(lambda a: a.nonzero())(x)),
    "a mask": (RuntimeError, lambda x: vmap(lambda a: a[a > 1])(x)),
    "in_dims of None": (ValueError, lambda x: vmap(lambda a: a, in_dims=None)(x)),
    "in_dims of None for all": (ValueError, lambda x: vmap(lambda a: a, in_dims=(None,))(x)),
    "a dim that is not there": (ValueError, lambda x: vmap(lambda a: a, in_dims=3)(x)),
    "other sizes": (ValueError, lambda x: vmap(lambda a, b: a)(x, x[:1])),
    "a number as example": (ValueError, lambda x: vmap(lambda a, b: a)(x, 3)),
    "too many in_dims": (ValueError, lambda x: vmap(lambda a: a, in_dims=(0, 0))(x)),
    "text for in_dims": (ValueError, lambda x: vmap(lambda a: a, in_dims="a")(x)),
    "no inputs": (ValueError, lambda x: vmap(lambda: 3)()),
    "no tensor returned": (ValueError, lambda x: vmap(lambda a: 3)(x)),
    "out_dims None": (ValueError, lambda x: vmap(lambda a: a, out_dims=None)(x)),
    "too many out_dims": (ValueError, lambda x: vmap(lambda a: (a, a), out_dims=(0, 1, 2))(x)),
    "an out_dim that is not there": (IndexError, lambda x: vmap(lambda a: a, out_dims=5)(x)),
    "randomness of a wrong name": (RuntimeError, lambda x: vmap(lambda a: a, randomness="no")(x)),
    "random numbers": (RuntimeError, lambda x: vmap(lambda a: torch.rand(2))(x)),
    "no chunks": (ValueError, lambda x: vmap(lambda a: a, chunk_size=0)(x)),
    "a write to what is one for all": (RuntimeError, lambda x: vmap(lambda a: torch.ones(3, dtype=F64).add_(a))(x)),
    "a write of more than fits": (RuntimeError, lambda x: vmap(lambda a: a[:1].mul_(a))(x)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BAD)
def test_vmap_refuses(name):
    error, call = BAD[name]
    with pytest.raises(error):
        call(matrix(torch))
    assert near(3.0, plain(1, 2).sum())  # nothing listens any more


# ---- Functions -------------------------------------------------------------------------------------------------------------


class Square(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


class Cubed(torch.autograd.Function):
    """Its derivative is a result, which is saved."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx, g, g_slope):
        x, slope = ctx.saved_tensors
        return g * slope + g_slope * 6 * x


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(x, k):
        return x * 3 * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.k, None

    @staticmethod
    def vmap(info, in_dims, x, k):
        assert 2 == info.batch_size and "error" == info.randomness and in_dims[1] is None
        return Tripled.apply(x.movedim(in_dims[0], 0), k), 0


class Bare(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g


# name: (function, its slope, the slope's)
FUNCTIONS = {
    "generated": (lambda x: Square.apply(x).sum(), lambda x: 2 * x, lambda x: x * 0 + 2),
    "of a saved result": (lambda x: Cubed.apply(x)[0].sum(), lambda x: 3 * x * x, lambda x: 6 * x),
    "its own": (lambda x: Tripled.apply(x, 2).sum(), lambda x: x * 0 + 6, None),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_inside_vmap(name):
    f, slope, second = FUNCTIONS[name]
    x = matrix(torch)

    assert same(alone(f, x).tolist(), vmap(f)(x).tolist())
    assert same(slope(x).tolist(), vmap(torch.func.grad(f))(x).tolist())
    assert same(slope(x).tolist(), torch.func.grad(lambda x: vmap(f)(x).sum())(x).tolist())
    x.requires_grad_()
    found = vmap(torch.func.grad(f))(x)
    assert found.requires_grad == (second is not None)
    if second is not None:
        assert same(second(x).tolist(), torch.autograd.grad(found.sum(), x)[0].tolist())


def test_a_function_without_a_rule_is_refused():
    with pytest.raises(RuntimeError, match="vmap"):
        vmap(Bare.apply)(matrix(torch))
