"""call_for_per_sample_grads beside one backward for each sample."""

import facula
import pytest
from facula import nn
from facula.nn.utils._per_sample_grad import call_for_per_sample_grads

MODULES = {
    "linear of rows": (lambda: nn.Linear(3, 2), lambda: facula.rand(4, 5, 3)),
    "embedding": (lambda: nn.Embedding(6, 3), lambda: facula.randint(6, (4, 3))),
    "convolution of groups": (lambda: nn.Conv1d(4, 6, 3, groups=2, padding=1), lambda: facula.rand(3, 4, 8)),
    "group norm": (lambda: nn.GroupNorm(2, 4), lambda: facula.rand(3, 4, 5)),
    "instance norm": (lambda: nn.InstanceNorm2d(3, affine=True), lambda: facula.rand(4, 3, 5, 5)),
    "layer norm": (lambda: nn.LayerNorm(4), lambda: facula.rand(3, 2, 4)),
    "several": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)), lambda: facula.rand(4, 1, 4, 4)),
}


@pytest.mark.parametrize("reduction", ["sum", "mean"])
@pytest.mark.parametrize("name", MODULES)
def test_gradients_are_those_of_each_sample(name, reduction):
    make, draw = MODULES[name]
    facula.manual_seed(0)
    module, x = make(), draw()
    expected = []
    for sample in x:
        module.zero_grad()
        module(sample.unsqueeze(0)).pow(2).sum().backward()
        expected.append([p.grad.clone() for p in module.parameters()])
    module.zero_grad()
    loss = call_for_per_sample_grads(module, loss_reduction=reduction)(x).pow(2).flatten(1).sum(1)
    (loss.sum() if reduction == "sum" else loss.mean()).backward()

    for p, each in zip(module.parameters(), zip(*expected)):
        assert p.grad is None
        facula.testing.assert_close(p.grad_sample, facula.stack(each), rtol=1e-5, atol=1e-5)


def test_samples_may_be_the_second_dim():
    linear, x = nn.Linear(3, 2), facula.rand(5, 4, 3)
    result = call_for_per_sample_grads(linear, batch_first=False)(x)
    result.sum().backward()

    assert (5, 4, 2) == result.shape
    facula.testing.assert_close(linear.weight.grad_sample, x.sum(0).unsqueeze(1).expand(4, 2, 3))


def test_frozen_parameters_have_no_gradients():
    linear = nn.Linear(3, 2)
    linear.bias.requires_grad_(False)
    call_for_per_sample_grads(linear)(facula.rand(4, 3)).sum().backward()

    assert not hasattr(linear.bias, "grad_sample") and (4, 2, 3) == linear.weight.grad_sample.shape


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: call_for_per_sample_grads(m, loss_reduction="none"),
        lambda m: call_for_per_sample_grads(m.forward),
        lambda m: call_for_per_sample_grads(m, batch_size=0),
        lambda m: call_for_per_sample_grads(m, batch_size=2.0),
        lambda m: call_for_per_sample_grads(m)(3),
        lambda m: call_for_per_sample_grads(nn.Bilinear(3, 3, 1))(facula.rand(2, 3), facula.rand(4, 3)),
    ],
)
def test_what_is_no_batch_is_refused(ask):
    with pytest.raises(RuntimeError, match="call_for_per_sample_grads"):
        ask(nn.Linear(3, 2))


def test_gradients_that_are_left_are_refused():
    linear = nn.Linear(3, 2)
    call_for_per_sample_grads(linear)(facula.rand(4, 3)).sum().backward()
    with pytest.raises(RuntimeError, match="grad_sample"):
        call_for_per_sample_grads(linear)
