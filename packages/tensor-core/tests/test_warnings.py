"""Which calls warn, and how often: PyTorch's category, and for some once in a program. What PyTorch does is looked up where it is installed."""

import warnings

import facula
import numpy
import pytest


ONCE = """
T.bucketize(T.ones(4, 4).t(), T.tensor([1.0, 2.0]))
T.bucketize(T.ones(3), T.arange(6.0)[::2])
T.searchsorted(T.arange(6.0)[::2], T.ones(3, dtype=T.float64))
T.searchsorted(T.arange(6.0), T.ones(6)[::2])
T.cross(T.ones(3), T.ones(3))
T.chain_matmul(T.eye(2), T.eye(2))
T.qr(T.eye(2))
T.eye(2).cholesky()
T.lu(T.eye(2))
T.triangular_solve(T.eye(2), T.eye(2))
T.index_reduce(T.ones(2), 0, T.tensor([0]), T.ones(1), "prod")
T.ones(2).scatter(0, T.tensor([0]), T.ones(1), reduce="multiply")
T.ones(2, dtype=T.complex64).float()
T.ones(2, dtype=T.complex64).to(T.int64)
T.ones(2, dtype=T.complex64).to("cpu", T.float32)
T.ones(2, dtype=T.complex64).type(T.float64)
float(T.ones(1, requires_grad=True))
complex(T.ones(1, requires_grad=True) * 2)
T.FloatStorage([1, 2])
T.FloatStorage(2)
T.ones(2).storage()
T.ones(2, 2, 2).T
T.add(T.ones(2), 2, T.ones(2))
T.ones(2).addcmul(2, T.ones(2), T.ones(2))
T.ones(2).addcdiv_(2, T.ones(2), T.ones(2))
T.addmm(1, T.eye(2), 1, T.eye(2), T.eye(2))
T.eye(2).addmm_(2, T.eye(2), T.eye(2))
T.meshgrid(T.ones(2), T.ones(2))
T.stft(T.ones(64), 16, return_complex=True)
T.istft(T.ones(9, 9, dtype=T.complex64), 16)
T.where(T.ones(2, dtype=T.uint8), T.ones(2), T.zeros(2))
T.from_numpy(numpy.broadcast_to(numpy.ones(1), (2,)))
T.as_tensor(numpy.broadcast_to(numpy.ones(1), (2,)))
T.tensor([numpy.ones(2)])
T.frombuffer(b"abcd", dtype=T.uint8)
T.set_default_tensor_type("torch.FloatTensor")
""".strip().split("\n")
EACH_TIME = """
T.zeros(1).expand(3).index_put_((T.tensor([0]),), T.tensor(1.0))
T.zeros(1).expand(3).__setitem__(T.tensor([0, 1]), 1)
T.zeros(2, 1).expand(2, 3).__setitem__((0, T.tensor([1])), 1.0)
""".strip().split("\n")
NEVER = """
T.ones(2, dtype=T.complex64).bool()
T.ones(0, dtype=T.complex64).float()
T.ones(2, dtype=T.complex64).to(T.complex128)
T.ones(2, dtype=T.complex64, device="meta").float()
T.ones(1).expand(1).index_put_((T.tensor([0]),), T.tensor(1.0))
T.searchsorted(T.arange(3.0), 2.0)
T.cross(T.ones(2, 3), T.ones(2, 3), -1)
int(T.ones(1, requires_grad=True))
T.ones(1, requires_grad=True).item()
float(T.ones(1))
T.linalg.qr(T.eye(2))
T.UntypedStorage(2)
""".strip().split("\n")


def told(module, expression, times=2):
    """The categories of the warnings of each of some calls."""
    answer = []
    for _ in range(times):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            eval(expression, {"T": module, "numpy": numpy})
        answer.append([w.category.__name__ for w in heard])
    return answer


@pytest.mark.parametrize("expression", ONCE)
def test_once_in_a_program(expression):
    assert [["UserWarning"], []] == told(facula, expression)


def test_older_orders_of_arguments_are_told_of_once_whatever_their_numbers_and_functions():
    first = told(facula, "T.ones(2).addcdiv_(0.5, T.ones(2), T.ones(2))", 1)
    others = told(facula, "T.ones(2).addcdiv_(0.25, T.ones(2), T.ones(2))", 1) + told(facula, "T.ones(2).sub(2, T.ones(2))", 1)

    assert ([["UserWarning"]], [[], []]) == (first, others)


def test_a_window_is_missed_once_on_each_way():
    assert [[["UserWarning"]]] * 2 == [told(facula, f"T.{call}", 1) for call in ("stft(T.ones(64), 16, return_complex=True)", "istft(T.ones(9, 9, dtype=T.complex64), 16)")]


@pytest.mark.parametrize("expression", EACH_TIME)
def test_each_time(expression):
    assert [["UserWarning"], ["UserWarning"]] == told(facula, expression)


@pytest.mark.parametrize("expression", NEVER)
def test_never(expression):
    assert [[], []] == told(facula, expression)


def test_set_warn_always_makes_it_each_time():
    with warnings.catch_warnings():
        facula.set_warn_always(True)
        heard = told(facula, "T.qr(T.eye(2))")
        facula.set_warn_always(False)

    assert [["UserWarning"], ["UserWarning"]] == heard


def test_a_number_taken_without_recording_is_no_surprise():
    x = facula.ones(1, requires_grad=True)
    with facula.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")

        assert 1.0 == float(x)


@pytest.mark.parametrize("expression", ONCE + EACH_TIME + NEVER)
def test_pytorch_warns_alike(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    torch.storage._reset_warn_typed_storage_removal()
    facula_heard = told(facula, expression, 1)
    try:
        assert told(torch, expression, 1) == facula_heard
    finally:
        torch.set_warn_always(before)
