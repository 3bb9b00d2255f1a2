"""torch.fx.experimental.optimization: traced networks made shorter for inference."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from facula import fx, nn
from facula.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout", "replace_node_module"]

_FUSED = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))


def matches_module_pattern(pattern: Iterable[type], node: fx.Node, modules: dict[str, Any]) -> bool:
    """Whether node and the one that it takes its first argument from call modules of just these two types, in their order."""
    if not node.args:
        return False
    return all(
        isinstance(n, fx.Node) and n.op == "call_module" and type(modules.get(n.target)) is kind for kind, n in zip(pattern, (node.args[0], node))
    )


def replace_node_module(node: fx.Node, modules: dict[str, Any], new_module: nn.Module) -> None:
    """Put new_module where node's is, in the network and in modules, its named_modules as a dict."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> fx.GraphModule:
    """model, in evaluation, with every batch norm folded into the convolution before it.

    inplace: the modules of model itself change, not of a copy. no_trace: a GraphModule is taken as it is.
    A convolution whose result goes elsewhere too keeps its batch norm, and so does one without running statistics.

    >>> from facula.torch._fx_optimization import fuse
    >>> net = facula.nn.Sequential(facula.nn.Conv2d(1, 2, 3), facula.nn.BatchNorm2d(2)).eval()
    >>> [n.op for n in fuse(net).graph.nodes]
    ['placeholder', 'call_module', 'output']
    """
    model = model if inplace else copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    modules, graph = dict(traced.named_modules()), copy.deepcopy(traced.graph)
    for pattern in _FUSED:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            conv, norm = modules[node.args[0].target], modules[node.target]
            if norm.track_running_stats:
                replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, norm))
                node.replace_all_uses_with(node.args[0])
                graph.erase_node(node)
    return fx.GraphModule(traced, graph)


class _WithoutDropout(fx.Transformer):
    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(self.submodules[target], nn.Dropout):
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: nn.Module) -> nn.Module:
    """model, traced, without its Dropout modules.

    >>> from facula.torch._fx_optimization import remove_dropout
    >>> net = facula.nn.Sequential(facula.nn.Linear(2, 2), facula.nn.Dropout())
    >>> [n.op for n in remove_dropout(net).graph.nodes]
    ['placeholder', 'call_module', 'output']
    """
    return _WithoutDropout(fx.symbolic_trace(model)).transform()


def extract_subgraph(orig_module: nn.Module, nodes: list[fx.Node], inputs: list[fx.Node], outputs: list[fx.Node]) -> fx.GraphModule:
    """A module of these nodes alone: its arguments stand for inputs, and it gives the outputs as a tuple."""
    graph = fx.Graph()
    copies = {n: graph.placeholder(n.name) for n in inputs}
    for n in nodes:
        copies[n] = graph.node_copy(n, lambda argument: copies[argument])
    graph.output([copies[n] for n in outputs])
    graph.lint()
    return fx.GraphModule(orig_module, graph)
