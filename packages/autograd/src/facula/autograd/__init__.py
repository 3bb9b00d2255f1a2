"""Gradients: a tape over the core's operations, a table of derivatives, hooks, Functions.

>>> import facula
>>> x = facula.tensor([2.0, 3.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([4., 6.])
"""

from . import _core, rules  # noqa: F401
from ._api import attach_all as _attach_all
from ._api import backward, grad
from .variable import Variable
from ._record import fill as _fill
from ._tape import Tape as _Tape
from . import anomaly_mode, forward_ad, function, functional, grad_mode, gradcheck as _gradcheck_module, graph, profiler  # noqa: F401, I001
from .anomaly_mode import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
from .function import Function
from .grad_mode import enable_grad, enforce_grad_layout_policy, inference_mode, is_grad_enabled, is_inference, is_inference_mode_enabled, is_multithreading_enabled, no_grad
from .grad_mode import set_grad_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode", "gradcheck",
    "gradgradcheck", "graph", "inference_mode", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_inference", "is_inference_mode_enabled", "is_multithreading_enabled", "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip

_core.set_tape(_Tape())
_fill()
_attach_all()
