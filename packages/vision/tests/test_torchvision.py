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


def test_a_state_dict_is_a_networks_weights():
    state = models.squeezenet1_1(num_classes=3).state_dict()
    net = models.squeezenet1_1(num_classes=3, weights=state)

    assert all(facula.equal(v, state[k]) for k, v in net.state_dict().items())
    with pytest.raises(RuntimeError, match="size mismatch"):
        models.squeezenet1_1(weights=state)


def test_own_weights_change_no_default():
    state = models.googlenet(num_classes=3, init_weights=False).state_dict()

    assert not models.googlenet(num_classes=3, init_weights=False, weights=state).transform_input


def test_weights_that_cannot_be_had_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("facula.vision.datasets.utils.download_url", lambda *_: (_ for _ in ()).throw(OSError("no network")))
    with pytest.raises(RuntimeError, match="ResNet18_Weights.IMAGENET1K_V1.*resnet18-f37072fd.pth.*no network.*weights="):
        models.resnet18(weights="DEFAULT")
    with pytest.raises(RuntimeError, match="ResNet50_Weights.IMAGENET1K_V1"):
        models.segmentation.fcn_resnet50()
    kept = tmp_path / ".cache/torch/hub/checkpoints/alexnet-owt-7be5be79.pth"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"other")
    with pytest.raises(RuntimeError, match="damaged"):
        models.alexnet(weights=models.AlexNet_Weights.DEFAULT)


def test_weights_are_named():
    with pytest.raises(TypeError, match="expected ResNet18_Weights but received ResNet34_Weights"):
        models.resnet18(weights=models.ResNet34_Weights.DEFAULT)
    with pytest.raises(KeyError):
        models.resnet18(weights="IMAGENET1K_V9")
    with pytest.raises(ValueError, match="resnet18"):
        models.get_model("nonsuch")
    with pytest.raises(ValueError, match="Nonsuch"):
        models.get_weight("Nonsuch.DEFAULT")
    assert models.get_model_weights(models.vit_b_16) is models.ViT_B_16_Weights
    assert models.get_model_builder("s3d") is models.video.s3d


def test_published_weights_have_torchvisions_names():
    assert models.ResNet50_Weights.DEFAULT is models.ResNet50_Weights["IMAGENET1K_V2"]
    assert models.Wide_ResNet50_2_Weights.DEFAULT.name == "IMAGENET1K_V2"
    assert models.VGG16_Weights.DEFAULT is models.VGG16_Weights.IMAGENET1K_V1
    assert isinstance(models.VGG11_BN_Weights.DEFAULT, models.WeightsEnum)
    assert not [n for n in models.list_models() if "eights" in n]


def test_models_are_listed_by_patterns_and_modules():
    assert ["resnet101", "resnet152", "resnet50"] == models.list_models(models, include=["resnet1*", "resnet5*"], exclude="*18")
    assert [] == models.list_models(module=pytest)


@pytest.mark.parametrize("name", [n for n in models.list_models() if n in ("squeezenet1_1", "mobilenet_v2", "densenet121")])
def test_convolutional_models_learn(name):
    model = models.get_model(name, num_classes=3)
    out = model(facula.rand(2, 3, 40, 40))
    out.logsumexp(1).sum().backward()

    assert (2, 3) == tuple(out.shape)
    assert all(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize(
    "name, size, parameters, tensors, outputs",
    [
        ("googlenet", 32, 9_951_413, 364, ("logits", "aux_logits2", "aux_logits1")),
        ("inception_v3", 299, 24_362_990, 580, ("logits", "aux_logits")),
    ],
)
def test_inceptions_have_torchvisions_layout(name, size, parameters, tensors, outputs):
    """Numbers of torchvision's own networks of seven classes."""
    model = models.get_model(name, num_classes=7, init_weights=False, transform_input=True)
    x = facula.rand(2, 3, size, size)

    assert (parameters, tensors) == (sum(p.numel() for p in model.parameters()), len(model.state_dict()))
    out = model(x)
    assert outputs == out._fields
    assert all((2, 7) == tuple(scores.shape) for scores in out)
    assert (2, 7) == tuple(model.eval()(x[..., :75, :75]).shape)


def test_inceptions_without_classifiers_on_the_way_give_scores():
    model = models.googlenet(num_classes=3, aux_logits=False, init_weights=True)

    assert (2, 3) == tuple(model(facula.rand(2, 3, 32, 32)).shape)
    assert all(0.009 < float(p.std()) < 0.011 for n, p in model.named_parameters() if n.endswith("conv.weight") and p.numel() > 10_000)
    with pytest.warns(FutureWarning, match="init_weights"):
        models.GoogLeNet(num_classes=3)


def test_vgg_features_have_torchvisions_layout():
    plain, normed = (models.vgg.convolutions(models.vgg.DEPTHS["vgg16"], n) for n in (False, True))

    assert [0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28] == [int(k.split(".")[0]) for k in plain.state_dict() if "weight" in k]
    assert 14_714_688 == sum(p.numel() for p in plain.parameters())
    assert "40.weight" in normed.state_dict()


@pytest.mark.parametrize("code", STORED["networks"])
def test_a_network_computes_and_learns_as_torchvisions(code):
    stored = STORED["networks"][code]
    facula.manual_seed(3)
    net = eval(code, vars(models) | vars(models.convnext) | vars(models.swin_transformer) | vars(models.efficientnet) | vars(models.vision_transformer))
    state = net.state_dict()
    pictures = (facula.linspace(-1, 1, 2 * 3 * 32 * 32).sin().reshape(2, 3, 32, 32) * 37 % 1).contiguous()
    if "VisionTransformer(16" in code:
        pictures = pictures[:, :, ::2, ::2]
    for p in net.heads.parameters() if hasattr(net, "heads") else ():  # its scores start as zeros
        facula.nn.init.constant_(p, 0.1) if p.dim() < 2 else facula.nn.init.normal_(p)
    facula.manual_seed(4)
    out = net.train()(pictures)
    out.pow(2).sum().backward()

    assert stored["keys"] == list(state)[::5]
    assert stored["numbers"] == sum(v.numel() for v in state.values())
    assert stored["sum"] == pytest.approx(sum(v.double().abs().sum().item() for v in state.values()), rel=1e-4)
    assert stored["out"] == pytest.approx(out.flatten()[:4].tolist(), rel=1e-4, abs=1e-5)
    assert stored["grads"] == pytest.approx(sum(p.grad.double().abs().sum().item() for p in net.parameters()), rel=1e-4)


@pytest.mark.parametrize("name", STORED["sizes"])
def test_a_network_has_torchvisions_size(name):
    on_another = hasattr(models.segmentation, name) or hasattr(models.detection, name)
    with facula.device("meta"):
        state = models.get_model(name, **({"weights_backbone": None} if on_another else {})).state_dict()

    assert STORED["sizes"][name] == [len(state), sum(v.numel() for v in state.values()), list(state)[-9]]


def test_networks_of_patches_and_stages_say_what_does_not_fit():
    tiny = models.VisionTransformer(16, 8, 1, 2, 8, 12)
    with pytest.raises(AssertionError, match="16.*(8, 16)"):
        tiny(facula.zeros(1, 3, 8, 16))
    with pytest.raises(AssertionError, match="17.*4"):
        models.VisionTransformer(17, 4, 1, 2, 8, 12)
    for make in (models.ConvNeXt, lambda s: models.EfficientNet(s, 0.2)):
        with pytest.raises(ValueError, match="empty"):
            make([])
        with pytest.raises(TypeError, match="List"):
            make([1])
    with pytest.raises(ValueError, match="3"):
        models.EfficientNet([models.efficientnet.MBConvConfig(1, 3, 3, 8, 8, 1)], 0.2)


def test_older_files_of_a_transformer_are_read():
    net = models.VisionTransformer(16, 8, 1, 2, 8, 12)
    state = net.state_dict()
    older = {k.replace("mlp.0.", "mlp.linear_1.").replace("mlp.3.", "mlp.linear_2."): v for k, v in state.items()}

    assert any("linear_2" in k for k in older)
    net.load_state_dict(older)
