"""Deprecated orders of arguments, numbers before tensors, in programs of PyTorch."""

import pytest
from facula.torch import enabled

CALLS = {
    "torch.add(m, 2, w)": "torch.add(m, w, alpha=2)",
    "m.add(2, w)": "m.add(w, alpha=2)",
    "m.clone().add_(-0.5, w)": "m.add(w, alpha=-0.5)",
    "torch.sub(m, 2, w)": "torch.sub(m, w, alpha=2)",
    "m.clone().sub_(2, w)": "m.sub(w, alpha=2)",
    "torch.addcmul(m, 2, w, w)": "torch.addcmul(m, w, w, value=2)",
    "m.clone().addcmul_(0.1, w, w)": "torch.addcmul(m, w, w, value=0.1)",
    "m.clone().addcdiv_(-0.1, w, w)": "torch.addcdiv(m, w, w, value=-0.1)",
    "torch.addmm(2, m, w, w)": "torch.addmm(m, w, w, beta=2)",
    "torch.addmm(2, m, 3, w, w)": "torch.addmm(m, w, w, beta=2, alpha=3)",
    "torch.addmm(2, m, 3, w, w, out=torch.empty(2, 2))": "torch.addmm(m, w, w, beta=2, alpha=3)",
    "m.addmm(2, w, w)": "torch.addmm(m, w, w, beta=2)",
    "m.clone().addmm_(2, 3, w, w)": "torch.addmm(m, w, w, beta=2, alpha=3)",
    "torch.addmv(2, v, 3, m, v)": "torch.addmv(v, m, v, beta=2, alpha=3)",
    "torch.addr(2, m, 3, v, v)": "torch.addr(m, v, v, beta=2, alpha=3)",
    "torch.addbmm(2, m, 3, b, b)": "torch.addbmm(m, b, b, beta=2, alpha=3)",
    "m.clone().addbmm_(2, b, b)": "torch.addbmm(m, b, b, beta=2)",
    "torch.baddbmm(2, b, 3, b, b)": "torch.baddbmm(b, b, b, beta=2, alpha=3)",
    "b.clone().baddbmm_(2, 3, b, b)": "torch.baddbmm(b, b, b, beta=2, alpha=3)",
}


def names(torch):
    generator = torch.Generator().manual_seed(0)
    m, w, v, b = (torch.rand(*size, generator=generator) + 0.5 for size in ((2, 2), (2, 2), (2,), (3, 2, 2)))
    return {"torch": torch, "m": m, "w": w, "v": v, "b": b[:, :, :] if b.dim() else b}


@pytest.mark.parametrize("older", CALLS)
def test_numbers_before_tensors_are_taken_with_a_warning(older):
    with enabled(shadow=True) as torch:
        known = names(torch)
        expected = eval(CALLS[older], known)
        with pytest.warns(UserWarning, match="deprecated"):
            actual = eval(older, known)

        assert torch.equal(expected, actual)


@pytest.mark.parametrize("call", ["m.add(w, w)", "torch.add(m, w, 2, 3)", "m.addmm(1, 2, 3, w, w)", "m.add_(2, w, alpha=3)", "torch.addmm(m, w, w, w)"])
def test_what_is_no_form_is_refused(call):
    with enabled(shadow=True) as torch, pytest.raises(TypeError):
        eval(call, names(torch))


def test_methods_are_the_cores_again_afterwards():
    import facula

    before = facula.Tensor.add_
    with enabled(shadow=True):
        assert facula.Tensor.add_ is not before

    assert facula.Tensor.add_ is before
