"""The files of PyTorch in which programs see classes defined: `type(layer)` tells torch.nn.modules.linear.Linear, and so does a pickle."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

from ._names import FILES
from ._places import NN_FILES
from ._resolve import MissingName, resolve

# Namespaces whose classes are renamed when a program first asks for one, with those that it makes objects of.
NAMESPACES = {
    "torch.nn": ("torch.nn.parameter", "torch.nn.parallel", "torch.nn.utils.rnn", "torch.nn.utils.parametrizations", "torch.nn.utils.parametrize"),
    "torch.nn.utils.prune": (),
    "torch.optim": ("torch.optim.lr_scheduler",),
    "torch.optim.swa_utils": (),
    "torch.distributions": ("torch.distributions.transforms", "torch.distributions.constraints"),
    "torch.utils.data": (),
    "torch.jit": (),
    "torchvision.models": ("torch.nn",),
    "torchvision.datasets": (),
    "torchvision.transforms": (),
}
_PARTS = {"facula.data": "torch.utils.data", "facula.vision": "torchvision", "facula.dist": "torch.distributed"}
# of torch.nn.modules, where our own file's name does not tell it
_FILES = (
    ("BatchNorm|_NormBase", "batchnorm"), ("InstanceNorm", "instancenorm"), ("Pixel", "pixelshuffle"), ("ChannelShuffle", "channelshuffle"),
    ("Upsampl", "upsampling"), ("Fold$|Unfold$", "fold"), ("MultiheadAttention$", "activation"), ("Linear$", "linear"), ("Conv", "conv"),
)  # fmt: skip
_OURS = {ours: theirs for theirs, ours in NN_FILES.items()} | {"flatten": "flatten", "parameter_containers": "container"}
_OF_DISTRIBUTIONS = {
    "StudentT": "studentT", "FisherSnedecor": "fishersnedecor", "LKJCholesky": "lkj_cholesky", "ExponentialFamily": "exp_family",
    "LogitRelaxedBernoulli": "relaxed_bernoulli", "ExpRelaxedCategorical": "relaxed_categorical", "RelaxedOneHotCategorical": "relaxed_categorical",
    "OneHotCategoricalStraightThrough": "one_hot_categorical", "LowRankMultivariateNormal": "lowrank_multivariate_normal",
}  # fmt: skip


def _files(kind: type) -> Iterator[str]:
    """Where PyTorch would define a class of ours: likely names of files, the likeliest first."""
    module, name = kind.__module__, kind.__name__
    last = module.rpartition(".")[2]
    if module.startswith("facula.nn.") and module.count(".") == 2:
        if last not in ("vision", "normalization", "multihead", "lazy", "linear", "activation") and last in _OURS:
            yield f"torch.nn.modules.{_OURS[last]}"
        for pattern, file in _FILES:
            if re.search(pattern, name):
                yield f"torch.nn.modules.{file}"
        if last in _OURS:
            yield f"torch.nn.modules.{_OURS[last]}"
    elif module.startswith("facula.distributions"):
        yield "torch.distributions.transforms" if "_transform" in module else "torch.distributions." + (
            _OF_DISTRIBUTIONS.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        )
    elif module.startswith("facula.optim.lr_scheduler"):
        yield "torch.optim.lr_scheduler"
    elif module.startswith("facula.optim"):
        if name in ("Adafactor", "Muon"):  # these say so
            yield "torch.optim"
        yield "torch.optim." + re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", name).lower()
    part = next((part for part in _PARTS if f"{module}.".startswith(f"{part}.")), "facula")
    yield _PARTS.get(part, "torch") + module[len(part) :]


def _home(kind: type, namespace: str) -> str | None:
    """The file in which programs find the class; the namespace itself where no file has it."""
    for file in (*_files(kind), namespace):
        try:
            place = importlib.import_module(FILES[file]) if file in FILES else resolve(file)
            if getattr(place, kind.__qualname__, None) is kind:
                return file
        except (MissingName, ImportError):
            continue
    return None


def _classes(target: types.ModuleType) -> list[type]:
    """Our classes in a namespace, those that they descend from, and the others of their files."""
    found = {kind: None for value in vars(target).values() if isinstance(value, type) for kind in value.__mro__}
    files = {kind.__module__: None for kind in found if kind.__module__.startswith("facula.")}
    for file in files:
        found.update({kind: None for kind in vars(sys.modules[file]).values() if isinstance(kind, type) and kind.__module__ == file})
    return [kind for kind in found if kind.__module__ in files and not kind.__module__.startswith(("facula.tensor_core", "facula.torch"))]


def rename(alias: str, saved: dict[type, str]) -> None:
    """Give the classes of a namespace, and of those that come along with it, PyTorch's homes. saved: what they had."""
    for namespace in (alias, *NAMESPACES[alias]):
        for kind in _classes(resolve(namespace)):
            if kind not in saved and (home := _home(kind, namespace)) is not None:
                _read_annotations(kind)
                saved[kind], kind.__module__ = kind.__module__, home


def _read_annotations(kind: type) -> None:
    """Texts become what they say, while the class still tells the file whose names they use: typing.get_type_hints asks by __module__."""
    said = kind.__annotations__  # its own, from Python 3.10 on
    if any(isinstance(value, str) for value in said.values()):
        names = vars(sys.modules[kind.__module__])
        kind.__annotations__ = {key: _meant(value, names) if isinstance(value, str) else value for key, value in said.items()}


def _meant(text: str, names: dict[str, Any]) -> Any:
    try:
        return eval(text, names)
    except NameError:  # known to type checkers only
        return Any


def of_function(function: types.FunctionType) -> tuple[str, str] | None:
    """(namespace, name) under which programs find a function of ours."""
    if not (function.__module__ or "").startswith("facula."):
        return None
    name = function.__name__
    for namespace in ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"):
        if getattr(resolve(namespace), name, None) is function:
            return namespace, name
    return None
