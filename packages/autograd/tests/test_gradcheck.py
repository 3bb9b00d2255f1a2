"""gradcheck tells right gradients from wrong ones."""

import pytest
from backend import leaf, plain, torch

gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("f", [
    lambda x, y: x * y, lambda x, y: (x * y).sum(), lambda x, y: (x * x, y.exp()), lambda x, y: x / y + x,
    lambda x, y: x[0:1] * y, lambda x, y: torch.cat([x, y]).view(2, 2).t(),
])
def test_right_gradients_pass(f, fast):
    assert gradcheck(f, (leaf(1.5, 2.5), leaf(0.5, 0.7)), fast_mode=fast)
    assert gradgradcheck(f, (leaf(1.5, 2.5), leaf(0.5, 0.7)), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_gradients_fail(fast):
    with pytest.raises(RuntimeError, match="(?i)jacobian"):
        gradcheck(Wrong.apply, (leaf(1.5, 2.5),), fast_mode=fast)

    assert gradcheck(Wrong.apply, (leaf(1.5, 2.5),), fast_mode=fast, raise_exception=False) is False


def test_inputs_without_grad_are_passed_on():
    assert gradcheck(lambda x, c, k: x * c * k, (leaf(1.5, 2.5), plain(2, 3), 4))


def test_a_function_of_nothing_that_requires_grad_is_refused():
    with pytest.raises(ValueError):
        gradcheck(lambda x: x * 2, (plain(1),))


def test_complex_functions():
    z = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128).requires_grad_()

    assert gradcheck(lambda z: z * z, (z,))
    assert gradcheck(lambda z: (z * z.conj()).real, (z,))


def test_real_to_complex_functions():
    c = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128)

    assert gradcheck(lambda x: x * c, (leaf(1, 2),))


def test_leaves_keep_their_values_and_gradients():
    x = leaf(1.5, 2.5)
    gradcheck(lambda x: x * x, (x,))

    assert [1.5, 2.5] == x.tolist() and x.grad is None


class WrongForward(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, v):
        return v * ctx.saved_tensors[0]


def test_wrong_tangents_fail():
    assert gradcheck(WrongForward.apply, (leaf(1.5, 2.5),))
    with pytest.raises(RuntimeError):
        gradcheck(WrongForward.apply, (leaf(1.5, 2.5),), check_forward_ad=True)


def test_tangents_and_batches_of_what_is_right_pass():
    assert gradcheck(lambda x, y: (x * y).exp(), (leaf(1.5, 2.5), leaf(0.5, 0.7)), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(lambda x, y: (x * y).exp(), (leaf(1.5, 0.5), leaf(0.5, 0.7)), check_fwd_over_rev=True)


@pytest.mark.parametrize("options", [{"check_backward_ad": False}, {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True}])
def test_contradicting_options_are_refused(options):
    with pytest.raises((ValueError, AssertionError)):
        gradcheck(lambda x: x, (leaf(1.5),), **options)


@pytest.mark.parametrize("masked", [None, True])
def test_sparse_inputs_are_checked_by_their_values(masked):
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=torch.float64).to_sparse().requires_grad_()

    assert torch.autograd.gradcheck(lambda s: s.to_dense() * 2, (x,), masked=bool(masked))


def hooked(x):
    y = x.clone()
    y.register_hook(lambda g: g + 1e-2)
    return y


class SparseBackward(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x.clone())
    backward = staticmethod(lambda ctx, g: g.to_sparse())


REFUSED = [
    (lambda: gradcheck(lambda x: x.to_sparse(), (leaf(1.0, 2.0),), raise_exception=False), ValueError, "Sparse output is not supported"),
    (lambda: gradcheck(lambda x: torch.cat([x, x]) if bool((x >= 1).all()) else x, (leaf(1.0),)), AssertionError, "same shape when inputs are perturbed"),
    (lambda: gradcheck(lambda x: x.float() if bool((x >= 1).all()) else x, (leaf(1.0),)), AssertionError, "same dtype when inputs are perturbed"),
    (lambda: gradcheck(hooked, (leaf(1.0),), atol=0.1), RuntimeError, "backward not multiplied by grad_output"),
    (lambda: gradcheck(hooked, (leaf(1.0),)), RuntimeError, "Jacobian mismatch for output 0 with respect to input 0"),
    (lambda: gradcheck(hooked, (leaf(1.0),), fast_mode=True), RuntimeError, "Jacobian mismatch for output 0 with respect to input 0"),
    (lambda: gradcheck(SparseBackward.apply, (leaf(1.0),)), RuntimeError, "grad is incorrect layout"),
    (lambda: gradcheck(lambda x: x.detach() * 2, (leaf(1.0),)), RuntimeError, "Numerical gradient for function expected to be zero"),
]


@pytest.mark.parametrize("call,kind,words", REFUSED)
def test_what_is_wrong_is_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_tangents_of_several_directions_at_once_are_checked():
    assert gradcheck(lambda a, b: (a.clone(), a + b), (leaf(1.0, 2.0), 1), check_forward_ad=True, check_backward_ad=False, check_batched_forward_grad=True)
    assert gradcheck(lambda a, b: a.clone(), (leaf(1.0), leaf(2.0)), check_forward_ad=True, check_batched_forward_grad=True)


def test_a_function_that_draws_in_a_state_put_back_is_checked_as_one():
    state = torch.get_rng_state()

    def noisy(x):
        kept = torch.get_rng_state()
        try:
            return x * torch.rand(3, dtype=x.dtype)
        finally:
            torch.set_rng_state(kept)

    assert gradcheck(noisy, (leaf(1.5, 2.5, 0.5),), fast_mode=True)
    assert bool((torch.get_rng_state() == state).all())
    assert gradgradcheck(noisy, (leaf(1.5, 2.5, 0.5),))  # whose weights are drawn before


def test_the_projection_refuses_nothing_that_the_whole_comparison_takes():
    class SlightlyOff(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(50, 50).clone()

        @staticmethod
        def backward(ctx, g):
            return g.sum(0) + g.sum() * 0.9e-5

    x = torch.ones(50, dtype=torch.float64, requires_grad=True)
    for fast in (False, True):
        assert gradcheck(SlightlyOff.apply, (x,), fast_mode=fast)
