"""What type checkers read of a module: subclasses may define forward as they like, and its state is a dict of names."""

import collections.abc
import typing

from facula import nn


def test_forward_is_a_variable_so_that_subclasses_choose_its_parameters():
    assert collections.abc.Callable[..., typing.Any] == typing.get_type_hints(nn.Module)["forward"]


def test_state_dict_is_a_dict_of_names():
    assert dict[str, typing.Any] == typing.get_type_hints(nn.Module.state_dict)["return"]
