"""How Module.to and its like, and load_state_dict, change parameters: PyTorch's torch.__future__.

Usually a parameter stays the object that it is and gets other data. `overwrite` makes a new one at every conversion; `swap` keeps
the object and exchanges all that it holds, its class too, which is what parameters of other classes need.
"""

from __future__ import annotations

modes = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions put new parameters into a module."""
    modes["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Do conversions put new parameters into a module?"""
    return modes["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions and load_state_dict use facula.utils.swap_tensors."""
    modes["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Do conversions and load_state_dict use facula.utils.swap_tensors?"""
    return modes["swap"]
