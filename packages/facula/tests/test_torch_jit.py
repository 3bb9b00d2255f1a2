"""Scripts and traces beside PyTorch's: what they make of their arguments, what they are, what comes back from a file."""

import copy
import io
import pickle
from typing import Dict, List, Optional, Tuple

import facula.torch
import numpy as np
import pytest

real = pytest.importorskip("torch")

with facula.torch.enabled(shadow=True):
    import torch as ours


def scaled(x, by: float):
    return x * by


def counted(x, by: int):
    return x * by


def switched(x, by: bool):
    return x if by else -x


def chosen(x, by: Optional[float] = None):
    if by is None:
        return x
    return x * by


def listed(x, by: List[float]):
    return x * by[0]


def paired(x, by: Tuple[float, int]):
    return x * by[0] * by[1]


def named(x, by: Dict[str, float]):
    return x * by["a"]


def defaulted(x, by: float = 2):
    return x * by


def spelled(x, by: str):
    return x if by == "a" else -x


VALUES = [
    3, True, 2.5, 0.0, "a", None, 3j, np.float32(2.5), np.int64(2), "one", "two", [1, 2], (1, 2), [1.0, 2], ["a"], (1.0, 2.0), (1,), {"a": 1}, {"a": "b"}, {1: 1.0},
]  # fmt: skip
FUNCTIONS = [scaled, counted, switched, chosen, listed, paired, named, defaulted, spelled]


def outcome(torch, script, *args, **options):
    """What the script gives, or the class of what it raises. "one" is a tensor of one element, "two" of two."""
    x = torch.tensor([1, 2])
    texts = {"one": torch.tensor(2.5), "two": torch.tensor([1.0, 2.0])}
    try:
        result = script(x, *(texts.get(a, a) if type(a) is str else a for a in args), **options)
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return str(result.dtype).rpartition(".")[2], result.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_script_takes_its_arguments_as_they_are_annotated(function):
    theirs, mine = real.jit.script(function), ours.jit.script(function)

    for value in VALUES:
        if function is named and value is None:  # a TypeError of PyTorch's cast, which has no text of its own
            continue
        assert outcome(real, theirs, value) == outcome(ours, mine, value), value
    for args, options in [((), {}), ((), {"by": 3}), ((), {"no": 3}), ((2, 3), {}), ((2,), {"by": 3})]:
        assert outcome(real, theirs, *args, **options) == outcome(ours, mine, *args, **options), (args, options)


@pytest.mark.filterwarnings("ignore")
def test_scripts_and_traces_are_of_their_classes():
    x, net = ours.ones(1, 2), ours.nn.Sequential(ours.nn.Linear(2, 3), ours.nn.ReLU())
    script, function, module = ours.jit.script(scaled), ours.jit.trace(lambda a: a * 2, x), ours.jit.trace(net, x)

    assert [isinstance(one, ours.jit.ScriptFunction) for one in (script, function, module, net, scaled)] == [True, True, False, False, False]
    assert [isinstance(one, ours.jit.ScriptModule) for one in (script, function, module, net)] == [False, False, True, False]
    assert not isinstance(module, type("Mine", (ours.jit.ScriptModule,), {}))


def test_a_trace_s_class_says_that_it_is_torch_jit_s(served):
    module, function = served.jit.trace(served.nn.Linear(1, 1), served.ones(1, 1)), served.jit.trace(lambda x: x, served.ones(1))

    assert "torch.jit" in str(type(module)) and "torch.jit" in str(type(function))


@pytest.mark.filterwarnings("ignore")
def test_a_script_is_copied_and_pickled_as_functions_are(monkeypatch):
    script = ours.jit.script(scaled)
    monkeypatch.setitem(globals(), "scaled", script)

    assert copy.deepcopy({"a": script})["a"](ours.tensor(2), 1.5) == 3
    assert pickle.loads(pickle.dumps(script)) is script
    assert "by: float" in script.code and script.__name__ == script.name == "scaled"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("torch", [real, ours], ids=["pytorch", "facula"])
def test_a_trace_comes_back_from_a_file_as_a_module(torch):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3)), torch.nn.ReLU()).eval()
    x, file = torch.ones(4, 2), io.BytesIO()
    torch.jit.save(torch.jit.trace(net, x), file, _extra_files={"labels": "a,b"})
    file.seek(0)
    extra = {"labels": ""}

    loaded = torch.jit.load(file, "cpu", extra).eval().to("cpu")

    assert b"a,b" == extra["labels"]
    assert isinstance(loaded, torch.nn.Module) and isinstance(loaded, torch.jit.ScriptModule) and loaded.original_name == "Sequential"
    assert list(net.state_dict()) == list(loaded.state_dict()) and len(list(net.parameters())) == len(list(loaded.parameters()))
    assert torch.equal(net(x), loaded(x))
    torch.optim.SGD(loaded.parameters(), 0.1).zero_grad()
    loaded(x).sum().backward()
    assert dict(loaded.named_parameters())["0.0.bias"].grad is not None
    loaded.load_state_dict({key: value * 0 for key, value in net.state_dict().items()})
    assert not loaded(x).any()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("torch", [real, ours], ids=["pytorch", "facula"])
def test_a_traced_function_comes_back_as_a_module_too(torch):
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(lambda a: a * 2, torch.ones(2)), file)
    file.seek(0)

    assert isinstance(loaded := torch.jit.load(file), torch.nn.Module) and loaded(torch.ones(2)).tolist() == [2, 2]
