"""What SummaryWriter writes for TensorBoard's plugins: precision-recall curves, hyperparameters, embeddings, graphs."""

from __future__ import annotations

import math
import os
import re
from collections import Counter

import facula
from facula.tensor_core import extend

from ._tensorboard_proto import _bytes, _double, _int, _metadata, _value

__all__ = ["embedding_files", "graph_definition", "hparams_summaries", "pr_curve"]


def _array(x):
    return facula.as_tensor(x).detach().to(facula.float64).reshape(-1).numpy()


# --- precision and recall


def pr_curve(tag: str, labels, predictions, thresholds: int, weights) -> bytes:
    """Counts and ratios at thresholds evenly spread over [0, 1]: (6, thresholds), rows tp, fp, tn, fn, precision, recall."""
    import numpy

    thresholds = min(thresholds, 127)
    labels, predictions = _array(labels), _array(predictions)
    if labels.shape != predictions.shape:
        raise ValueError(f"add_pr_curve: {labels.size} labels and {predictions.size} predictions. Give one for each.")
    if predictions.size and not (predictions.min() >= 0 and predictions.max() <= 1):
        raise ValueError(f"add_pr_curve: predictions are in [{predictions.min():g}, {predictions.max():g}]. Give probabilities.")
    weights = numpy.ones_like(labels) if weights is None else _array(weights)
    at = numpy.floor(predictions * (thresholds - 1)).astype(int)

    def at_least(what):
        counts = numpy.bincount(at, weights=what * weights, minlength=thresholds)
        return numpy.cumsum(counts[::-1])[::-1]

    tp, fp = at_least(labels), at_least(1 - labels)
    tn, fn = fp[0] - fp, tp[0] - tp
    rows = [tp, fp, tn, fn, tp / numpy.maximum(1e-7, tp + fp), tp / numpy.maximum(1e-7, tp + fn)]
    numbers = numpy.stack(rows).astype("<f4").tobytes()
    shape = b"".join(_bytes(2, _int(1, size)) for size in (6, thresholds))
    return _value(tag, _metadata("pr_curves", _int(2, thresholds)) + _bytes(8, _int(1, 1) + _bytes(2, shape) + _bytes(5, numbers)))


# --- hyperparameters

_STRING, _BOOL, _FLOAT64 = 1, 2, 3  # hparams.DataType


def _plain_value(v) -> bytes:
    """google.protobuf.Value"""
    if isinstance(v, bool):
        return _int(4, int(v))
    return _double(2, float(v)) if isinstance(v, (int, float)) else _bytes(3, v)


def hparams_summaries(hparams: dict, metrics: dict, domains: dict) -> list[bytes]:
    """Three summaries: the experiment, the begin of a session with these values, its end."""
    infos, given = b"", b""
    for name, v in hparams.items():
        if isinstance(v, facula.Tensor):
            v = v.item()
        if v is None:
            continue
        if not isinstance(v, (bool, int, float, str)):
            raise ValueError(f"add_hparams: value of {name} should be one of int, float, str, bool, or Tensor, it is a {type(v).__name__}.")
        kind = _BOOL if isinstance(v, bool) else _STRING if isinstance(v, str) else _FLOAT64
        domain = b""
        if name in domains:
            if not all(isinstance(d, str if kind == _STRING else bool if kind == _BOOL else (int, float)) for d in domains[name]):
                raise TypeError(f"add_hparams: hparam_domain_discrete[{name}] is {domains[name]!r}. Give values of the kind of {v!r}.")
            domain = _bytes(5, b"".join(_bytes(1, _plain_value(d)) for d in domains[name]))
        infos += _bytes(4, _bytes(1, name) + _int(4, kind) + domain)
        given += _bytes(1, _bytes(1, name) + _bytes(2, _plain_value(v)))
    infos += b"".join(_bytes(5, _bytes(1, _bytes(2, name))) for name in metrics)
    parts = (("experiment", _bytes(2, infos)), ("session_start_info", _bytes(3, given)), ("session_end_info", _bytes(4, _int(1, 1))))
    return [_value(f"_hparams_/{tag}", _metadata("hparams", content)) for tag, content in parts]


# --- embeddings


def embedding_files(log_dir: str, mat, metadata, label_img, step, tag: str, header) -> str:
    """Write tensors.tsv, metadata.tsv and sprite.png; returns the paragraph of projector_config.pbtxt that names them."""
    mat = facula.as_tensor(mat).detach()
    if mat.dim() != 2:
        raise ValueError(f"add_embedding: mat should be 2D, where mat.size(0) is the number of data points, it has shape {tuple(mat.shape)}.")
    place = f"{0 if step is None else step:05d}/" + re.sub(r"[^\w.-]", lambda m: f"%{ord(m[0]):02x}", tag)
    folder = os.path.join(log_dir, place)
    os.makedirs(folder, exist_ok=True)
    said = [f'tensor_name: "{tag}:{0 if step is None else step:05d}"']
    if metadata is not None:
        if len(metadata) != len(mat):
            raise ValueError(f"add_embedding: #labels should equal with #data points, there are {len(metadata)} and {len(mat)}.")
        lines = ["\t".join(map(str, row)) for row in ([header] if header else []) + list(metadata)] if header else [str(row) for row in metadata]
        _write(folder, "metadata.tsv", lines)
        said.append(f'metadata_path: "{place}/metadata.tsv"')
    if label_img is not None:
        if len(label_img) != len(mat) or label_img.dim() != 4 or label_img.shape[2] != label_img.shape[3]:
            raise ValueError(f"add_embedding: label_img has shape {tuple(label_img.shape)}. Give one square picture (C, H, H) for each of {len(mat)} points.")
        _sprite(folder, label_img)
        size = label_img.shape[2]
        said += ["sprite {", f'  image_path: "{place}/sprite.png"', f"  single_image_dim: {size}", f"  single_image_dim: {size}", "}"]
    _write(folder, "tensors.tsv", ["\t".join(map(str, row)) for row in mat.tolist()])
    said.append(f'tensor_path: "{place}/tensors.tsv"')
    return "embeddings {\n" + "".join(f"  {line}\n" for line in said) + "}\n"


def _write(folder: str, name: str, lines: list[str]) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _sprite(folder: str, pictures) -> None:
    from facula.vision.utils import make_grid, save_image

    side = math.ceil(math.sqrt(len(pictures)))
    pictures = pictures.float() / 255 if not pictures.is_floating_point() else pictures
    missing = side * side - len(pictures)
    full = facula.cat([pictures, facula.zeros(missing, *pictures.shape[1:])]) if missing else pictures
    save_image(make_grid(full, nrow=side, padding=0), os.path.join(folder, "sprite.png"))


# --- graphs


class _Recorder:
    """The rows that a module runs, by the names of the modules that run them."""

    def __init__(self, model) -> None:
        self.nodes: list[bytes] = []
        self.names: dict[int, str] = {}
        self.kept: list = []
        self.count: Counter[str] = Counter()
        self.root = type(model).__name__
        self.scope = [self.root]
        self.parameters: dict[int, str] = {}
        places = {"": self.root}
        for name, module in model.named_modules():
            if name:
                above, _, last = name.rpartition(".")
                places[name] = f"{places[above]}/{type(module).__name__}[{last}]"
            own = (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
            self.parameters.update((id(t), f"{places[name]}/{n}") for n, t in own)

    def add(self, name: str, kind: str, inputs: list[str], tensor=None) -> None:
        attributes = b""
        if tensor is not None:
            shape = b"".join(_bytes(2, _int(1, size)) for size in tensor.shape)
            attributes = _bytes(5, _bytes(1, "_output_shapes") + _bytes(2, _bytes(1, _bytes(7, shape))))
        self.nodes.append(_bytes(1, _bytes(1, name) + _bytes(2, kind) + b"".join(_bytes(3, i) for i in inputs) + attributes))

    def know(self, tensor, name: str) -> None:
        self.names[id(tensor)] = name
        self.kept.append(tensor)  # so that no other gets its id

    def name_of(self, tensor) -> str:
        if id(tensor) not in self.names:
            name = self.parameters.get(id(tensor))
            if name is None:
                name = f"{self.root}/Constant[{self.count['constant']}]"
                self.count["constant"] += 1
            self.add(name, "Parameter" if id(tensor) in self.parameters else "Constant", [], tensor)
            self.know(tensor, name)
        return self.names[id(tensor)]

    def row(self, op, args, kwargs):
        out = extend.call(op, *args, **kwargs)
        inputs = [self.name_of(t) for a in args for t in (a if isinstance(a, (tuple, list)) else (a,)) if isinstance(t, facula.Tensor)]
        base = f"{'/'.join(self.scope)}/{op.name}"
        name = f"{base}_{self.count[base]}" if self.count[base] else base
        self.count[base] += 1
        made = [t for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, facula.Tensor)]
        self.add(name, f"aten::{op.name}", inputs, made[0] if made else None)
        for t in made:
            self.know(t, name)
        return out


def graph_definition(model, inputs) -> bytes:
    """GraphDef of what the model runs on these inputs: a node for each input, parameter, row and output."""
    inputs = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    recorder = _Recorder(model)
    for k, x in enumerate(inputs):
        if isinstance(x, facula.Tensor):
            recorder.add(f"input/input{k}", "IO Node", [], x)
            recorder.know(x, f"input/input{k}")
    handles = []
    for name, module in model.named_modules():
        if name:
            said = f"{type(module).__name__}[{name.rpartition('.')[2]}]"
            handles.append(module.register_forward_pre_hook(lambda m, a, said=said: recorder.scope.append(said)))
            handles.append(module.register_forward_hook(lambda m, a, o: recorder.scope.pop() and None, always_call=True))
    try:
        with facula.no_grad(), extend.interpreter(recorder.row):
            out = model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    from facula.utils._pytree import tree_leaves

    for k, t in enumerate(t for t in tree_leaves(out) if isinstance(t, facula.Tensor)):
        recorder.add(f"output/output.{k + 1}", "IO Node", [recorder.name_of(t)], t)
    return b"".join(recorder.nodes) + _bytes(4, _int(1, 22))  # versions.producer

