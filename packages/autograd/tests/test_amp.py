"""autocast and GradScaler, held against PyTorch's on the CPU where it is installed."""

import warnings

import facula
import pytest

DTYPES = (
    ("a @ a", "bfloat16"), ("a + a", "float32"), ("(a @ a) + a", "float32"), ("(a @ a).relu()", "bfloat16"), ("X.cat([a, a @ a])", "float32"), ("(a @ a).prod()", "float32"),
    ("(a @ a).softmax(1)", "bfloat16"), ("a.double() @ a.double()", "float64"), ("X.stack([a @ a, a])", "float32"), ("(a @ a).sum()", "bfloat16"),
)  # fmt: skip


@pytest.mark.parametrize("text,dtype", DTYPES, ids=[d[0] for d in DTYPES])
def test_dtypes_under_autocast(text, dtype):
    def run(X):
        names = {"X": X, "a": X.full((2, 2), 1.25)}
        with X.autocast("cpu", dtype=X.bfloat16):
            return eval(text, names)

    assert f"torch.{dtype}" == str(run(facula).dtype)
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert str(run(torch).dtype) == str(run(facula).dtype)
    assert run(torch).double().tolist() == run(facula).double().tolist()


def test_gradients_come_back_in_the_parameters_dtype():
    w = facula.ones(2, 2, requires_grad=True)
    with facula.autocast("cpu"):
        (facula.ones(2, 2) @ w).sum().backward()

    assert facula.float32 is w.grad.dtype
    assert [[2.0, 2.0], [2.0, 2.0]] == w.grad.tolist()


def test_the_innermost_autocast_decides():
    a = facula.ones(2, 2)
    with facula.autocast("cpu", dtype=facula.bfloat16):
        assert facula.is_autocast_enabled("cpu")
        with facula.autocast("cpu", enabled=False):
            assert facula.float32 is (a @ a).dtype
            assert not facula.is_autocast_enabled("cpu")
        with facula.autocast("cpu", dtype=facula.float16):
            assert facula.float16 is (a @ a).dtype
            assert facula.float16 is facula.get_autocast_dtype("cpu")
        assert facula.bfloat16 is (a @ a).dtype
    assert facula.float32 is (a @ a).dtype


def test_as_decorator():
    @facula.autocast("cpu")
    def product(a):
        return a @ a

    assert facula.bfloat16 is product(facula.ones(2, 2)).dtype


def test_a_written_parameter_is_cast_again():
    w = facula.ones(2, 2, requires_grad=True)
    with facula.autocast("cpu"):
        first = facula.eye(2) @ w
        with facula.no_grad():
            w.mul_(3)
        second = facula.eye(2) @ w

    assert (4.0, 12.0) == (first.sum().item(), second.sum().item())


def test_cuda_and_strange_dtypes_are_off_with_a_warning():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        context = facula.autocast("cuda")
    with context:
        assert facula.float32 is (facula.ones(2, 2) @ facula.ones(2, 2)).dtype
    with pytest.warns(UserWarning, match="not supported"):
        facula.autocast("cpu", dtype=facula.float64)
    with pytest.raises(RuntimeError, match="abc"):
        facula.autocast("abc")


class Square(facula.autograd.Function):
    @staticmethod
    @facula.amp.custom_fwd(device_type="cpu", cast_inputs=facula.float32)
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @facula.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g @ x.t() + x.t() @ g


def test_custom_functions_leave_autocast():
    x = facula.eye(2, dtype=facula.bfloat16).requires_grad_()
    with facula.autocast("cpu"):
        y = Square.apply(x)
    y.sum().backward()

    assert (facula.float32, facula.bfloat16) == (y.dtype, x.grad.dtype)


def steps(X, poison):
    p = X.ones(2, requires_grad=True)
    sgd = X.optim.SGD([p], lr=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler = X.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = []
    for bad in poison:
        sgd.zero_grad()
        scaler.scale((p * (float("inf") if bad else 2.0)).sum()).backward()
        scaler.unscale_(sgd)
        scaler.step(sgd)
        scaler.update()
        seen.append((p.tolist(), scaler.get_scale()))
    return seen, scaler.state_dict()


def test_scaler_skips_infinite_steps_and_moves_the_scale():
    pytest.importorskip("facula.optim", reason="steps need facula-optim")
    seen, state = steps(facula, (False, True, False, False))

    assert [([0.0, 0.0], 8.0), ([0.0, 0.0], 4.0), ([-1.0, -1.0], 4.0), ([-2.0, -2.0], 8.0)] == seen
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert (seen, state) == steps(torch, (False, True, False, False))


def test_scaler_refuses_misuse():
    pytest.importorskip("facula.optim", reason="steps need facula-optim")
    p = facula.ones(1, requires_grad=True)
    sgd = facula.optim.SGD([p], lr=1.0)
    scaler = facula.amp.GradScaler("cpu")
    with pytest.raises(AssertionError, match="nothing was scaled"):
        scaler.update()
    scaler.scale(p.sum()).backward()
    with pytest.raises(AssertionError, match="inf checks"):
        scaler.update()
    scaler.step(sgd)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(sgd)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(sgd)
    with pytest.raises(AssertionError, match="growth"):
        facula.amp.GradScaler("cpu", growth_factor=1.0)
