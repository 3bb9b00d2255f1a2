"""Tracing: a function's rows recorded through the interpret door, and an interpreter that runs them again.

>>> import facula
>>> f = facula.jit.trace(lambda x: facula.relu(x) * 2, facula.tensor([-1.0, 3.0]))
>>> print(f.code)
def forward(x):
    v0 = relu(x)
    v1 = mul(v0, 2)
    return v1
>>> f(facula.tensor([4.0, -4.0]))
tensor([8., 0.])
"""

from ._errors import TracerWarning, TracingCheckError
from ._file import load, save
from ._trace import is_tracing, trace
from ._trace_module import trace_module
from ._traced import TracedFunction
from .graph import Graph, Node, Value

__all__ = [
    "Graph",
    "Node",
    "TracedFunction",
    "TracerWarning",
    "TracingCheckError",
    "Value",
    "is_tracing",
    "load",
    "save",
    "trace",
    "trace_module",
]
