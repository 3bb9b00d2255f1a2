"""facula.func beside PyTorch's torch.func: one table of calls, run in both where PyTorch is installed, and by numbers where not."""

import pytest
from backend import BACKEND, near, plain, torch

F64 = torch.float64


def values(tree):
    """A tree of tensors as one of numbers, shapes and flags."""
    if isinstance(tree, dict):
        return {k: values(v) for k, v in tree.items()}
    if isinstance(tree, (tuple, list)):
        return [values(v) for v in tree]
    if hasattr(tree, "tolist"):
        return [tuple(tree.shape), tree.requires_grad, tree.tolist()]
    return tree


def agree(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(agree(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b))
    return a == b if isinstance(a, bool) or not isinstance(a, (int, float, complex)) else near(a, b)


def inputs(T):
    return T.tensor([1.0, 2.0, 3.0], dtype=T.float64), T.tensor([0.5, -1.0, 2.0], dtype=T.float64)


def tracked(T):
    return T.tensor([1.0, -2.0, 0.5], dtype=T.float64, requires_grad=True)


def weighted(w):
    return lambda x: (x * x * w).sum()


def silently(T, f):
    with T.no_grad():
        return f()


def written(z, x):
    z[..., 1:].mul_(x[..., :-1])
    return z


CALLS = {
    "grad": lambda T, x, y: T.func.grad(lambda x: (x**3).sum())(x),
    "grad of several": lambda T, x, y: T.func.grad(lambda x, y: (x * y * y).sum(), argnums=(1, 0))(x, y),
    "grad of the last": lambda T, x, y: T.func.grad(lambda x, y: (x * y * y).sum(), argnums=-1)(x, y),
    "grad with aux": lambda T, x, y: T.func.grad(lambda x: ((x * y).sum(), {"x": x * 2}), has_aux=True)(x),
    "grad and value": lambda T, x, y: T.func.grad_and_value(lambda x: ((x * x).sum(), x), has_aux=True)(x),
    "grad of a tree": lambda T, x, y: T.func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": x, "b": [y]}),
    "grad with keywords": lambda T, x, y: T.func.grad(lambda x, k: (x * k).sum())(x, k=y),
    "unused": lambda T, x, y: T.func.grad(lambda x, y: x.sum(), argnums=(0, 1))(x, y),
    "third": lambda T, x, y: T.func.grad(T.func.grad(T.func.grad(lambda x: x**4)))(x[1]),
    "of a tracked tensor": lambda T, x, y: T.func.grad(lambda x: (x * x).sum())(tracked(T)),
    "beside a tracked tensor": lambda T, x, y: T.func.grad(weighted(tracked(T)))(x),
    "beside a tracked tensor under no_grad": lambda T, x, y: silently(T, lambda: T.func.grad(weighted(tracked(T)))(x)),
    "with a silent part": lambda T, x, y: T.func.grad(lambda x: (x * silently(T, lambda: x * 2)).sum())(x),
    "vjp": lambda T, x, y: T.func.vjp(lambda x, y: (x * y, x.sum()), x, y)[1]((y, T.tensor(2.0, dtype=T.float64))),
    "vjp twice": lambda T, x, y: [T.func.vjp(lambda x: x.sin(), x)[1](v) for v in (x, y)],
    "vjp with aux": lambda T, x, y: T.func.vjp(lambda x: (x * y, x), x, has_aux=True)[0::2],
    "jvp": lambda T, x, y: T.func.jvp(lambda x: (x * x, x.sum()), (x,), (y,)),
    "jvp of a constant": lambda T, x, y: T.func.jvp(lambda x: y * 2, (x,), (y,)),
    "jvp with aux": lambda T, x, y: T.func.jvp(lambda x: (x * y, x), (x,), (y,), has_aux=True),
    "jvp of jvp": lambda T, x, y: T.func.jvp(lambda x: T.func.jvp(lambda z: z.sin(), (x,), (x,))[1], (x,), (y,)),
    "jvp of grad": lambda T, x, y: T.func.jvp(T.func.grad(lambda x: x.exp().sum()), (x,), (y,)),
    "linearize": lambda T, x, y: T.func.linearize(lambda x: x.sin(), x)[1](y),
    "jacrev": lambda T, x, y: T.func.jacrev(lambda x, y: {"a": x * y, "b": (x * y).sum()}, argnums=(0, 1))(x, y),
    "jacfwd": lambda T, x, y: T.func.jacfwd(lambda x, y: {"a": x * y, "b": (x * y).sum()}, argnums=(0, 1))(x, y),
    "jacrev of jacrev": lambda T, x, y: T.func.jacrev(T.func.jacrev(lambda x: x * x.sum()))(x),
    "jacrev with aux": lambda T, x, y: T.func.jacrev(lambda x: (x * x, x), has_aux=True)(x),
    "jacfwd with aux": lambda T, x, y: T.func.jacfwd(lambda x: (x * x, x), has_aux=True)(x),
    "jacrev of nothing": lambda T, x, y: (T.func.jacrev(lambda x: x[:0])(x), T.func.jacrev(lambda x: x * 2)(x[:0])),
    "hessian": lambda T, x, y: T.func.hessian(lambda x: (x.sin() * x.sum()).sum())(x),
    "hessian of a row": lambda T, x, y: T.func.hessian(lambda x: (x[..., 0] ** 3).sum() + (x[..., 1:] ** 2).sum())(x),
    "hessian of a diagonal": lambda T, x, y: T.func.hessian(lambda x: (T.outer(x.reshape(-1), x.reshape(-1)).diagonal(1) ** 2).sum())(x),
    "hessian of overlapping windows": lambda T, x, y: T.func.hessian(lambda x: (x.reshape(-1).unfold(0, 2, 1) ** 3).sum())(x),
    "hessian of as_strided": lambda T, x, y: T.func.hessian(lambda x: (x.as_strided((2,), (1,), 1) ** 3).sum())(x),
    "hessian through a write into a view": lambda T, x, y: T.func.hessian(lambda x: written(x * 1, x).pow(2).sum())(x),
    "hessian of several": lambda T, x, y: T.func.hessian(lambda x, y: (x * y * y).sum(), argnums=(0, 1))(x, y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_func_does_what_pytorch_does(name):
    reference = pytest.importorskip("torch")
    expected = values(CALLS[name](reference, *inputs(reference)))

    assert agree(expected, values(CALLS[name](torch, *inputs(torch))))


def test_gradient_of_a_sum_of_squares():
    assert near([2, 4], torch.func.grad(lambda x: (x * x).sum())(plain(1, 2)))


def test_history_beside_the_transform_stays():
    w = tracked(torch)
    g = torch.func.grad(lambda x: (x * x * w).sum())(plain(1, 2, 3))
    g.sum().backward()

    assert near([2, 4, 6], w.grad)


BAD = {
    "a vector": (RuntimeError, lambda x: torch.func.grad(lambda x: x)(x)),
    "no tensor": (RuntimeError, lambda x: torch.func.grad(lambda x: 2)(x)),
    "aux missing": (RuntimeError, lambda x: torch.func.grad(lambda x: x.sum(), has_aux=True)(x)),
    "argnum too large": (RuntimeError, lambda x: torch.func.grad(lambda x: x.sum(), argnums=3)(x)),
    "an integer tensor": (RuntimeError, lambda x: torch.func.grad(lambda x: x.sum())(torch.tensor(3))),
    "a number": (ValueError, lambda x: torch.func.grad(lambda x: x * 2.0)(3.0)),
    "jvp of no tuple": (RuntimeError, lambda x: torch.func.jvp(lambda x: x, x, x)),
    "jvp with too many tangents": (RuntimeError, lambda x: torch.func.jvp(lambda x: x, (x,), (x, x))),
    "a tangent of another shape": (RuntimeError, lambda x: torch.func.jvp(lambda x: x * 2, (x,), (x[:1],))),
    "a cotangent of another structure": (RuntimeError, lambda x: torch.func.vjp(lambda x: (x, x), x)[1](x)),
    "a cotangent of another shape": (RuntimeError, lambda x: torch.func.vjp(lambda x: x * 2, x)[1](x[:1])),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", BAD)
def test_func_refuses(name):
    error, call = BAD[name]
    with pytest.raises(error):
        call(plain(1, 2))


class Affine:
    """The least of a module: what functional_call asks for."""

    training = True

    def __init__(self):
        self._parameters = {"weight": plain(2, 3).requires_grad_(), "bias": None}
        self._buffers = {"shift": plain(1, 1)}
        self._modules = {}

    def named_parameters(self):
        return [(k, v) for k, v in self._parameters.items() if v is not None]

    def named_buffers(self):
        return list(self._buffers.items())

    def __call__(self, x, scale=1):
        return (x * self._parameters["weight"] + self._buffers["shift"]) * scale


@pytest.mark.skipif(BACKEND == "torch", reason="PyTorch wants its own Module")
class TestFunctionalCall:
    def test_uses_what_is_given_and_puts_back_what_was(self):
        m = Affine()
        before = m._parameters["weight"]

        assert near([20, 32], torch.func.functional_call(m, {"weight": plain(9, 15)}, (plain(1, 1),), {"scale": 2}))
        assert m._parameters["weight"] is before

    def test_gives_gradients_of_what_is_given(self):
        g = torch.func.grad(lambda p, x: torch.func.functional_call(Affine(), p, x).sum())({"weight": plain(1, 1)}, plain(3, 4))

        assert near([3, 4], g["weight"])

    def test_several_dicts(self):
        assert near([5, 6], torch.func.functional_call(Affine(), ({"weight": plain(0, 0)}, {"shift": plain(5, 6)}), plain(1, 1)))

    @pytest.mark.parametrize("error,given,options", [
        (AttributeError, {"part.weight": plain(1, 1)}, {}),
        (TypeError, {"weight": 3}, {}),
        (RuntimeError, {"weight": plain(1, 1)}, {"strict": True}),
        (ValueError, ({"weight": plain(1, 1)}, 3), {}),
        (ValueError, 3, {}),
        (ValueError, ({"weight": plain(1, 1)}, {"weight": plain(1, 1)}), {}),
    ])  # fmt: skip
    def test_refuses(self, error, given, options):
        with pytest.raises(error):
            torch.func.functional_call(Affine(), given, plain(1, 1), **options)

    def test_stacks_the_state_of_several(self):
        params, buffers = torch.func.stack_module_state([Affine(), Affine()])

        assert near([[2, 3], [2, 3]], params["weight"]) and params["weight"].requires_grad and (2, 2) == tuple(buffers["shift"].shape)
        with pytest.raises(RuntimeError):
            torch.func.stack_module_state([])
