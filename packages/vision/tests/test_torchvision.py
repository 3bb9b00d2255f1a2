"""What torchvision 0.28 gives for the same seeds, stored in torchvision.json: pictures of uint8 exactly, first weights of models."""

import json
import pathlib

import facula
import pytest
from facula.vision import models, transforms

STORED = json.loads((pathlib.Path(__file__).parent / "torchvision.json").read_text())


def picture():
    c, y, x = facula.arange(3).reshape(3, 1, 1), facula.arange(20).reshape(20, 1), facula.arange(24)
    return ((c * 50 + y * 7 + x * 11) % 256).to(facula.uint8)


@pytest.mark.parametrize("case", STORED["transforms"])
def test_transform_draws_and_computes_as_torchvision(case):
    transform = eval(case, {**vars(transforms), "I": transforms.InterpolationMode})
    facula.manual_seed(5)
    out = transform(picture()).to(facula.int64)
    flat = out.reshape(-1)

    assert STORED["transforms"][case] == [
        list(out.shape),
        flat.sum().item(),
        (flat * (facula.arange(flat.numel()) % 97)).sum().item(),
    ]


@pytest.mark.parametrize("name", STORED["models"])
def test_model_has_torchvisions_keys_and_first_weights(name):
    stored = STORED["models"][name]
    facula.manual_seed(3)
    state = models.get_model(name, **stored["options"]).state_dict()

    assert stored["tensors"] == len(state)
    assert stored["numbers"] == sum(v.numel() for v in state.values())
    assert stored["keys"] == list(state)[1:40:7]
    assert stored["first"] == state[list(state)[0]].reshape(-1)[:3].tolist()
    assert stored["value"] == state[stored["last"]].reshape(-1)[:3].tolist()


def test_trained_weights_are_refused():
    with pytest.raises(ValueError, match="DEFAULT"):
        models.resnet18(weights="DEFAULT")
    with pytest.raises(ValueError, match="resnet18"):
        models.get_model("nonsuch")
    with pytest.raises(ValueError, match="ResNet18_Weights.IMAGENET1K_V1"):
        models.resnet18(weights=models.ResNet18_Weights.DEFAULT)
    with pytest.raises(RuntimeError, match="VGG16_Weights.IMAGENET1K_FEATURES.*load_state_dict"):
        models.VGG16_Weights.IMAGENET1K_FEATURES.get_state_dict(progress=True)


def test_published_weights_have_torchvisions_names():
    assert models.ResNet50_Weights.DEFAULT is models.ResNet50_Weights["IMAGENET1K_V2"]
    assert models.Wide_ResNet50_2_Weights.DEFAULT.name == "IMAGENET1K_V2"
    assert models.VGG16_Weights.DEFAULT is models.VGG16_Weights.IMAGENET1K_V1
    assert isinstance(models.VGG11_BN_Weights.DEFAULT, models.WeightsEnum)
    assert not [n for n in models.list_models() if "eights" in n]


@pytest.mark.parametrize("name", [n for n in models.list_models() if n in ("squeezenet1_1", "mobilenet_v2", "densenet121")])
def test_convolutional_models_learn(name):
    model = models.get_model(name, num_classes=3)
    out = model(facula.rand(2, 3, 40, 40))
    out.logsumexp(1).sum().backward()

    assert (2, 3) == tuple(out.shape)
    assert all(p.grad is not None for p in model.parameters())


def test_vgg_features_have_torchvisions_layout():
    plain, normed = (models.vgg.convolutions(models.vgg.DEPTHS["vgg16"], n) for n in (False, True))

    assert [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28] == [int(k.split(".")[0]) for k in plain.state_dict() if "weight" in k]
    assert 14_714_688 == sum(p.numel() for p in plain.parameters())
    assert "40.weight" in normed.state_dict()
