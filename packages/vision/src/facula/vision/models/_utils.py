"""What networks for whole pictures, boxes and clips take from networks for classes."""

from __future__ import annotations

from collections import OrderedDict

from facula import nn

from .mobilenetv2 import _make_divisible

__all__ = ["IntermediateLayerGetter", "_make_divisible"]


class IntermediateLayerGetter(nn.ModuleDict):
    """The layers of a network up to the last that is asked for; gives an OrderedDict of what those of return_layers compute.

    return_layers: name of a direct child to the name of its result. Layers run in the order in which they were registered.

    >>> from facula.vision.models._utils import IntermediateLayerGetter
    >>> net = facula.nn.Sequential(facula.nn.Linear(2, 3), facula.nn.ReLU(), facula.nn.Linear(3, 1))
    >>> {k: v.shape for k, v in IntermediateLayerGetter(net, {"0": "hidden"})(facula.zeros(1, 2)).items()}
    {'hidden': torch.Size([1, 3])}
    """

    _version = 2

    def __init__(self, model: nn.Module, return_layers: dict[str, str]) -> None:
        children = dict(model.named_children())
        names = {str(k): str(v) for k, v in return_layers.items()}
        if not names.keys() <= children.keys():
            raise ValueError(f"return_layers are not present in model: {sorted(names.keys() - children.keys())}; it has {list(children)}.")
        last = max(list(children).index(k) for k in names)
        super().__init__(dict(list(children.items())[: last + 1]))
        self.return_layers = return_layers
        self._names = names

    def forward(self, x) -> OrderedDict:
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self._names:
                out[self._names[name]] = x
        return out
