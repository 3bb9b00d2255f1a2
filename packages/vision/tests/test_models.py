import facula
import pytest
from facula.vision import models

# Numbers of parameters as published with torchvision's models.
SIZES = {"resnet18": 11_689_512, "resnet34": 21_797_672, "resnet50": 25_557_032}


@pytest.mark.parametrize("name", SIZES)
def test_resnet_has_the_published_number_of_parameters(name):
    assert SIZES[name] == sum(p.numel() for p in getattr(models, name)().parameters())


@pytest.mark.parametrize(
    "make,shape",
    [
        (lambda: models.mlp(hidden=(16, 8)), (2, 1, 8, 8)),
        (lambda: models.lenet(image_size=8), (2, 1, 8, 8)),
        (lambda: models.lenet(), (2, 1, 28, 28)),
        (lambda: models.resnet18(num_classes=10), (2, 3, 32, 32)),
        (lambda: models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], 10), (2, 3, 32, 32)),
    ],
)
def test_model_gives_ten_scores_a_picture_and_learns(make, shape):
    model = make()
    out = model(facula.rand(shape))
    out.sum().backward()

    assert (2, 10) == tuple(out.shape)
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize("build", [models.resnet18, models.mobilenet_v3_small])
def test_builders_take_what_they_took_before_0_13(build):
    with facula.device("meta"):
        with pytest.warns(UserWarning, match="'pretrained' is deprecated"):
            assert isinstance(build(pretrained=False, num_classes=3), facula.nn.Module)
        with pytest.warns(UserWarning, match="'weights' and 'progress' as positional"):
            build(None, False)
        with pytest.raises(TypeError, match="by name, once"):
            build(None, weights=None)


def test_layers_of_a_network_come_in_an_ordered_dict():
    from collections import OrderedDict

    from facula.vision.models._utils import IntermediateLayerGetter

    found = IntermediateLayerGetter(facula.nn.Sequential(facula.nn.Linear(2, 3), facula.nn.ReLU()), {"1": "b", "0": "a"})(facula.ones(1, 2))
    assert ["a", "b"] == list(found)
    assert type(found) is OrderedDict
