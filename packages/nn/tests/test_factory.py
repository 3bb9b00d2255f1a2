"""factory_kwargs, and the attributes of Module that subclasses set."""

import pytest
from backend import torch

nn = torch.nn


def test_factory_kwargs_are_gathered():
    assert {} == nn.factory_kwargs(None)
    assert {"dtype": 1, "device": 2} == nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"device": 2}})


@pytest.mark.parametrize("kwargs", [{"size": 3}, {"dtype": 1, "factory_kwargs": {"dtype": 2}}])
def test_factory_kwargs_refuse(kwargs):
    with pytest.raises(TypeError):
        nn.factory_kwargs(kwargs)


def test_arguments_go_on_to_the_next_base_where_a_class_says_so():
    class Base:
        def __init__(self, size):
            self.size = size

    class Part(nn.Module, Base):
        call_super_init = True

    assert 3 == Part(3).size and not nn.Module.dump_patches
    with pytest.raises(TypeError):
        nn.Module(3)


@pytest.mark.parametrize("name, error", [("xpu", AssertionError), ("mtia", AssertionError), ("ipu", RuntimeError)])
def test_a_module_cannot_go_where_there_is_no_device(name, error):
    with pytest.raises(error):
        getattr(nn.Linear(2, 2), name)()
