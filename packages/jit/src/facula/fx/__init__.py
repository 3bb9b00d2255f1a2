"""Programs as graphs that can be read, changed and run: symbolic tracing of functions and modules.

>>> import facula
>>> from facula import fx
>>> net = fx.symbolic_trace(lambda x: facula.relu(x) + 1)
>>> print(net.code.strip())
def forward(self, x):
    relu = torch.relu(x);  x = None
    add = relu + 1;  relu = None
    return add
>>> net(facula.tensor([-1.0, 2.0]))
tensor([1., 3.])

symbolic_trace runs the Python code once, with a Proxy for each argument: what is done to one becomes a Node of the Graph, and a
GraphModule is the graph with the parameters it names, and Python code written from it.
"""

from facula import nn as _nn  # noqa: F401 - said here, in words, where facula-nn is not installed

from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
