"""Parameters of users' tensor classes."""

import pytest
from backend import torch

nn = torch.nn


class Own(torch.Tensor):
    pass


def test_a_parameter_of_a_class_stays_of_the_class():
    p = nn.Parameter(torch.ones(2).as_subclass(Own))
    layer = nn.Module()
    layer.weight = p

    assert type(p) is Own and isinstance(p, nn.Parameter) and p.requires_grad and p.is_leaf
    assert [p] == list(layer.parameters()) and type(p * 2) is Own
    (p * 2).sum().backward()
    assert [2.0, 2.0] == p.grad.tolist() and type(p.grad) is torch.Tensor


def test_a_parameter_is_an_ordinary_tensor():
    p = nn.Parameter(torch.ones(2))

    assert type(p + 1) is torch.Tensor and type(p.clone()) is torch.Tensor and not isinstance(torch.ones(2), nn.Parameter)
    assert type(p + torch.ones(2).as_subclass(Own)) is Own


def test_a_layer_passes_the_class_through():
    layer = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3))

    assert type(layer(torch.ones(1, 2).as_subclass(Own))) is Own


def test_a_class_that_loses_itself_cannot_be_a_parameter():
    class Lost(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            out = super().__torch_function__(func, types, args, kwargs)
            return out.as_subclass(torch.Tensor) if func.__name__ == "detach" else out

    with pytest.raises(RuntimeError):
        nn.Parameter(torch.ones(2).as_subclass(Lost))


def test_a_parameter_of_a_class_says_both():
    class Named(nn.Parameter):
        pass

    assert "Parameter(Own([1., 1.], requires_grad=True))" == repr(nn.Parameter(torch.ones(2).as_subclass(Own)))
    assert "Own([1., 1.])" == repr(torch.ones(2).as_subclass(Own))
    assert "Parameter containing:\nParameter(Named([1., 1.], requires_grad=True))" == repr(Named(torch.ones(2)))
    assert "Parameter containing:\ntensor([1., 1.], requires_grad=True)" == repr(nn.Parameter(torch.ones(2)))
