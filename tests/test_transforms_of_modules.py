"""facula.func and forward mode over facula.nn: per-example gradients, ensembles, random masks, tangents."""

import pytest

import facula
from facula import func, nn
from facula.autograd import forward_ad

MODULES = {
    "linear": (lambda: nn.Linear(4, 3), (5, 4)),
    "two layers": (lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), (5, 4)),
    "convolution": (lambda: nn.Conv2d(2, 3, 3), (5, 2, 6, 6)),
    "convolution of lines": (lambda: nn.Conv1d(2, 3, 3), (5, 2, 6)),
    "layer norm": (lambda: nn.LayerNorm(4), (5, 4)),
    "group norm": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.GroupNorm(2, 4)), (5, 1, 2, 6, 6)),
    "pooling": (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.MaxPool2d(2), nn.Flatten(0)), (5, 2, 6, 6)),
    "gelu and softmax": (lambda: nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Softmax(-1)), (5, 4)),
    "recurrent": (lambda: nn.LSTM(4, 3), (3, 6, 2, 4)),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), (2, 2, 3, 4)),
}


def first(out):
    return out[0] if isinstance(out, tuple) else out


def near(a, b):
    return bool(((a - b).abs() <= 1e-5 + 1e-4 * b.abs()).all())


@pytest.fixture(autouse=True)
def seeded():
    facula.manual_seed(3)


@pytest.mark.parametrize("name", MODULES)
def test_per_example_gradients_are_those_of_each_example(name):
    make, shape = MODULES[name]
    model, x = make(), facula.randn(*shape)
    params = {k: v.detach() for k, v in model.named_parameters()}

    def loss(params, x):
        return (first(func.functional_call(model, params, (x,))) ** 2).sum()

    found = func.vmap(func.grad(loss), in_dims=(None, 0))(params, x)
    for k in params:
        expected = facula.stack([func.grad(loss)(params, e)[k] for e in x])
        assert near(found[k], expected), k


@pytest.mark.parametrize("name", MODULES)
def test_tangents_of_a_module_are_differences(name):
    make, shape = MODULES[name]
    model = make().double()
    x, v = (facula.randn(*shape[1:], dtype=facula.float64) for _ in range(2))
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(first(model(forward_ad.make_dual(x, v)))).tangent
    with facula.no_grad():
        expected = (first(model(x + 1e-6 * v)) - first(model(x - 1e-6 * v))) / 2e-6

    assert near(tangent.detach(), expected)


def test_an_ensemble_of_models():
    models = [nn.Linear(4, 3) for _ in range(3)]
    params, buffers = func.stack_module_state(models)
    base, x = nn.Linear(4, 3), facula.randn(2, 4)
    found = func.vmap(lambda p, b, x: func.functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)

    assert near(found.detach(), facula.stack([m(x) for m in models]).detach())


@pytest.mark.parametrize("randomness,alike", [("same", True), ("different", False)])
def test_masks_of_dropout(randomness, alike):
    found = func.vmap(nn.Dropout(0.5), randomness=randomness)(facula.ones(2, 64))

    assert alike == facula.equal(found[0], found[1])


def test_dropout_needs_to_be_told():
    with pytest.raises(RuntimeError, match="randomness"):
        func.vmap(nn.Dropout(0.5))(facula.ones(2, 8))


def test_batch_norm_without_statistics_goes_through_vmap():
    net = func.replace_all_batch_norm_modules_(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(0)))
    x = facula.randn(3, 2, 1, 5, 5)

    assert net[1].running_mean is None and net[1].num_batches_tracked is None and not net[1].track_running_stats
    assert facula.allclose(facula.stack([net(example) for example in x]), facula.vmap(net)(x), atol=1e-5)
