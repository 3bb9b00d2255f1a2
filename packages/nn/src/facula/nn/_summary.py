"""nn.summary: a model as a table of layers, shapes, parameters and multiply-adds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import facula
from facula import Tensor

from . import conv, embedding, linear, multihead, normalization, rnn
from .module import Module

__all__ = ["Line", "Summary", "summary"]


@dataclass
class Line:
    """One call of a module: where it is in the tree, what it is, what came out, and the work with that of what it called."""

    name: str
    kind: str
    depth: int
    shape: Any = None
    parameters: int = 0  # of this module and those below it that were not counted before
    trainable: int = 0
    multiply_adds: int = 0
    output_bytes: int = 0
    module: Any = field(default=None, repr=False)


@dataclass
class Summary:
    """What `summary` found; its text is the table."""

    lines: list[Line]
    parameters: int
    trainable: int
    multiply_adds: int
    parameter_bytes: int
    output_bytes: int

    def __str__(self) -> str:
        head = ("Layer", "Output shape", "Parameters", "Multiply-adds")
        rows = [
            ("  " * line.depth + (f"{line.name}: {line.kind}" if line.name else line.kind), _shape_text(line.shape), _count(line.parameters), _count(line.multiply_adds))
            for line in self.lines
        ]
        widths = [max(len(row[k]) for row in [head, *rows]) for k in range(4)]

        def text(row: tuple) -> str:
            left = [cell.ljust(w) for cell, w in zip(row[:2], widths[:2])]
            right = [cell.rjust(w) for cell, w in zip(row[2:], widths[2:])]
            return "  ".join(left + right).rstrip()

        rule = "-" * (sum(widths) + 6)
        frozen = self.parameters - self.trainable
        foot = [
            f"Parameters: {self.parameters:,} ({self.trainable:,} trainable, {frozen:,} frozen), {_bytes(self.parameter_bytes)}",
            f"Multiply-adds: {self.multiply_adds:,}",
            f"Outputs of all layers: {_bytes(self.output_bytes)}",
        ]
        return "\n".join([text(head), rule, *map(text, rows), rule, *foot])

    __repr__ = __str__


def _count(n: int) -> str:
    return f"{n:,}" if n else "-"


def _bytes(n: int) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def _shape_text(shape: Any) -> str:
    if shape is None:
        return "-"
    if isinstance(shape, list):
        return ", ".join(_shape_text(s) for s in shape)
    return str(shape)


def _leaves(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in _leaves(v)]
    return []


def multiply_adds(module: Module, inputs: tuple, output: Any) -> int:
    """Products that are added up in one call of `module` itself, not of what it calls. Elementwise work counts as none,
    but for norms, which multiply every element once by its weight."""
    outputs = _leaves(output)
    if not outputs:
        return 0
    out = outputs[0]
    if isinstance(module, linear.Linear):
        return out.numel() * module.in_features
    if isinstance(module, linear.Bilinear):
        return out.numel() * module.in1_features * (module.in2_features + 1)
    if isinstance(module, conv._ConvTransposeNd):
        return _leaves(inputs)[0].numel() * math.prod(module.weight.shape[1:])
    if isinstance(module, conv._ConvNd):
        return out.numel() * math.prod(module.weight.shape[1:])
    if isinstance(module, (normalization._NormBase, normalization._LastDims, normalization.GroupNorm)):
        return out.numel() if getattr(module, "weight", None) is not None else 0
    if isinstance(module, embedding.EmbeddingBag):
        return _leaves(inputs)[0].numel() * module.embedding_dim
    if isinstance(module, rnn.RNNBase):
        x = _leaves(inputs)[0]
        steps = x.numel() // max(x.size(-1), 1)
        return steps * sum(p.numel() for p in module.parameters() if p.dim() == 2)
    if isinstance(module, rnn.RNNCellBase):
        return out.numel() // module.hidden_size * sum(p.numel() for p in module.parameters() if p.dim() == 2)
    if isinstance(module, multihead.MultiheadAttention):
        return _attention(module, inputs)
    return 0


def _attention(module: Any, inputs: tuple) -> int:
    """Projections, scores and their weighted sum, and the projection of the result."""
    query, key, value = (_leaves(inputs) * 3)[:3]
    along = 1 if module.batch_first and query.dim() == 3 else 0
    rows_q, rows_k = query.numel() // query.size(-1), key.numel() // key.size(-1)
    keys, e = key.size(along), module.embed_dim
    return rows_q * e * e * 2 + rows_k * e * (module.kdim + module.vdim) + 2 * rows_q * keys * e


def summary(model: Module, input: Any = None, *, depth: int | None = None, **kwargs: Any) -> Summary:
    """A table of `model`'s layers with output shapes, parameters and multiply-adds of one call; print it.

    input: a tensor, a tuple of arguments, or the shape of a float tensor of zeros as a tuple of ints; None only counts
    parameters. kwargs go to the model. Multiply-adds are those of layers; a product that a forward writes out is not seen. depth: how many levels are listed. A parameter shared by layers is counted once.
    The model runs once in evaluation mode without gradients, and is left in the mode it was in.
    """
    lines: list[Line] = []
    paths: dict[int, str] = {}
    for name, module in model.named_modules():
        paths.setdefault(id(module), name)
    if input is not None or kwargs:
        _run(model, _arguments(input), kwargs, paths, lines)
    else:
        lines += [_line(module, name) for name, module in model.named_modules()]
    seen: set[int] = set()
    for line in lines:
        new = [p for p in line.module.parameters() if id(p) not in seen]
        line.parameters, line.trainable = sum(p.numel() for p in new), sum(p.numel() for p in new if p.requires_grad)
        if not line.module._modules:
            seen.update(id(p) for p in new)
    parameters = list(model.parameters())
    return Summary(
        [line for line in lines if depth is None or line.depth <= depth],
        sum(p.numel() for p in parameters),
        sum(p.numel() for p in parameters if p.requires_grad),
        lines[0].multiply_adds,
        sum(t.nbytes for t in [*parameters, *model.buffers()]),
        sum(line.output_bytes for line in lines if not line.module._modules),
    )


def _arguments(input: Any) -> tuple:
    if isinstance(input, tuple) and input and all(isinstance(n, int) for n in input):
        return (facula.zeros(input),)
    return input if isinstance(input, tuple) else () if input is None else (input,)


def _line(module: Module, path: str) -> Line:
    return Line(path.rpartition(".")[2], type(module).__name__, path.count(".") + 1 if path else 0, module=module)


def _run(model: Module, args: tuple, kwargs: dict, paths: dict[int, str], lines: list[Line]) -> None:
    """Call the model with a pair of hooks at every module; fills `lines` in the order of the calls."""
    waiting: list[Line] = []

    def before(module: Module, inputs: tuple) -> None:
        line = _line(module, paths[id(module)])
        lines.append(line)
        waiting.append(line)

    def after(module: Module, inputs: tuple, given: dict, output: Any) -> None:
        line = waiting.pop()
        outputs = _leaves(output)
        shapes = [tuple(t.shape) for t in outputs]
        line.shape = shapes[0] if len(shapes) == 1 else shapes or None
        line.output_bytes = sum(t.nbytes for t in outputs)
        line.multiply_adds += multiply_adds(module, (*inputs, *given.values()), output)
        if waiting:  # a container shows the sum of what it calls
            waiting[-1].multiply_adds += line.multiply_adds

    handles = []
    modes = [(m, m.training) for m in model.modules()]
    for module in model.modules():
        handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after, with_kwargs=True))
    try:
        model.eval()
        with facula.no_grad():
            model(*args, **kwargs)
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            module.training = mode
