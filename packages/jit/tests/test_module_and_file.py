"""Traced modules, and traces in files."""

import importlib.util
import io
import json
import zipfile

import facula
import pytest

needs_nn = pytest.mark.skipif(importlib.util.find_spec("facula.nn") is None, reason="facula-nn is not installed")
x0 = facula.arange(8, dtype=facula.float32).reshape(4, 2) / 3


def saved(traced):
    file = io.BytesIO()
    facula.jit.save(traced, file)
    file.seek(0)
    return file


def net():
    from facula import nn

    facula.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 5), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Tanh(), nn.Linear(5, 3))


@needs_nn
def test_traced_module_is_a_module_with_the_same_parameters():
    module = net()
    traced = facula.jit.trace(module, x0)

    assert isinstance(traced, facula.nn.Module)
    assert list(module.state_dict()) == list(traced.state_dict())
    assert all(a is b for a, b in zip(module.parameters(), traced.parameters()))


@needs_nn
def test_traced_module_gives_the_modules_bits_and_writes_its_buffers():
    module = net()
    traced = facula.jit.trace(module, x0)
    module[0].weight.data.mul_(1.5)
    buffers = {k: v.clone() for k, v in module.state_dict().items()}
    facula.manual_seed(2)
    expected = module(x0)
    after = {k: v.clone() for k, v in module.state_dict().items()}
    module.load_state_dict(buffers)
    facula.manual_seed(2)

    actual = traced(x0)

    assert facula.equal(expected, actual)
    assert all(facula.equal(after[k], v) for k, v in module.state_dict().items())


@needs_nn
def test_saved_module_comes_back_with_its_parameters(tmp_path):
    module = net().eval()
    traced = facula.jit.trace(module, x0)
    traced.save(tmp_path / "net.zip")

    loaded = facula.jit.load(tmp_path / "net.zip")

    assert facula.equal(module(x0), loaded(x0))
    assert loaded.code == traced.code
    assert sorted(module.state_dict()) == sorted(loaded.state_dict())
    assert {n for n, _ in loaded.named_parameters()} == {n for n, _ in module.named_parameters()}
    assert all(p.requires_grad for p in loaded.parameters())


def test_saved_function_comes_back():
    weights = facula.tensor([[1.0, 2.0, 3.0]])

    def f(x, y):
        z = facula.zeros(4, 3)
        z[:, 0] = x[:, 0] * 0.1
        return z + weights.clamp(min=float("-inf"), max=2.5), (y[1:], x.to(facula.float64))

    traced = facula.jit.trace(f, (x0, facula.ones(3)))
    loaded = facula.jit.load(saved(traced))

    expected, actual = f(x0 + 1, facula.ones(3)), loaded(x0 + 1, facula.ones(3))
    assert facula.equal(expected[0], actual[0])
    assert facula.equal(expected[1][1], actual[1][1])
    assert str(loaded.graph) == str(traced.graph)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: {**text, "format": 99},
        lambda text: {**text, "nodes": [["no_such_row", [], [], None, True, False]]},
        lambda text: {**text, "nodes": [["add", [1], [0], None, True, False]]},
        lambda text: {**text, "inputs": [1000]},
        lambda text: {k: v for k, v in text.items() if k != "outputs"},
        lambda text: {**text, "inputs": [-1]},
        lambda text: {**text, "outputs": None},
        lambda text: {**text, "nodes": []},
        lambda text: {**text, "values": [[*v[:3], [-1], *v[4:]] for v in text["values"]]},
        lambda text: [],
    ],
)
def test_damaged_files_are_refused(damage):
    source = saved(facula.jit.trace(lambda x: x + 1, x0))
    with zipfile.ZipFile(source) as file:
        text, tensors = json.loads(file.read("graph.json")), file.read("tensors.pt")
    bad = io.BytesIO()
    with zipfile.ZipFile(bad, "w") as file:
        file.writestr("graph.json", json.dumps(damage(text)))
        file.writestr("tensors.pt", tensors)
    bad.seek(0)

    with pytest.raises(RuntimeError, match="jit.load"):
        facula.jit.load(bad)


@pytest.mark.parametrize("name,data", [("tensors.pt", bytes(50_000_000)), ("graph.json", b"[" * 200_000)])
def test_records_that_grow_are_refused(name, data):
    """A compressed record may be a thousand times its file, and lists in lists have no end."""
    bad = io.BytesIO()
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED if name == "tensors.pt" else zipfile.ZIP_STORED) as file:
        for n in ("graph.json", "tensors.pt"):
            file.writestr(n, data if n == name else b"{}")
    bad.seek(0)

    with pytest.raises(RuntimeError, match="compressed|Recursion"):
        facula.jit.load(bad)


def test_other_files_are_refused():
    with pytest.raises(RuntimeError, match="jit.load"):
        facula.jit.load(io.BytesIO(b"not a zip"))
    with pytest.raises(TypeError, match="int"):
        facula.jit.save(3, io.BytesIO())
    generator = facula.Generator()
    traced = facula.jit.trace(lambda x: x + facula.rand(2, generator=generator), x0, check_trace=False)
    with pytest.raises(RuntimeError, match="Generator"):
        facula.jit.save(traced, io.BytesIO())


def test_a_module_is_traced_by_the_names_of_its_methods():
    pytest.importorskip("facula.nn")
    module = facula.nn.Linear(3, 2)
    x, other = facula.randn(4, 3), facula.randn(5, 3)
    traced = facula.jit.trace_module(module, {"forward": (x,)}, check_inputs=[{"forward": (other,)}])

    assert facula.equal(module(other), traced(other))
    for mod, inputs, error in ((module, (x,), AttributeError), (module, {"forward": x, "other": x}, RuntimeError), (abs, {"forward": x}, AttributeError)):
        with pytest.raises(error):
            facula.jit.trace_module(mod, inputs)
