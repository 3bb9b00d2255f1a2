"""ShapeProp: runs a graph once and notes shape and dtype of every value in node.meta["tensor_meta"]."""

from __future__ import annotations

from typing import Any, NamedTuple

import facula
from facula import Tensor

from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is noted of a tensor.

    >>> from facula.fx.passes.shape_prop import ShapeProp
    >>> traced = facula.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(facula.ones(2, 3))
    >>> next(iter(traced.graph.nodes)).meta["tensor_meta"].dtype
    torch.float32
    """

    shape: facula.Size
    dtype: facula.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    formats = (facula.contiguous_format, facula.channels_last, facula.channels_last_3d) if include_contiguity else ()
    wide = {facula.channels_last: 4, facula.channels_last_3d: 5}
    found = next((f for f in formats if wide.get(f, result.ndim) == result.ndim and result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found, False, {})


class ShapeProp(Interpreter):
    """ShapeProp(module).propagate(*inputs).

    >>> from facula.fx.passes.shape_prop import ShapeProp
    >>> traced = facula.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(facula.ones(2, 3))
    >>> [node.meta["tensor_meta"].shape for node in traced.graph.nodes]
    [torch.Size([2, 3]), torch.Size([3]), torch.Size([3])]
    """

    def __init__(self, gm: GraphModule, fake_mode: None = None) -> None:
        if fake_mode is not None:
            raise TypeError("ShapeProp: fake_mode must be None: the graph runs on the tensors given.")
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """The node's value, noted."""
        result = super().run_node(n)
        found = False

        def note(a: Any) -> Any:
            nonlocal found
            if isinstance(a, Tensor):
                found = True
                return _extract_tensor_metadata(a)
            return a

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run with these arguments; returns what the program returns."""
        return super().run(*args)
