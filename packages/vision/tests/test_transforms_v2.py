"""What torchvision 0.28 gives for samples and seeds, stored in transforms_v2.json, and what the samples' rules are."""

import json
import pathlib

import facula
import pytest
from facula.vision import transforms, tv_tensors
from facula.vision.transforms import v2

STORED = json.loads((pathlib.Path(__file__).parent / "transforms_v2.json").read_text())
NAMES = {**vars(v2), "I": v2.InterpolationMode, "F": facula, "tv": tv_tensors, "v1": transforms}


def picture(dtype=facula.uint8):
    c, y, x = facula.arange(3).reshape(3, 1, 1), facula.arange(20).reshape(20, 1), facula.arange(24)
    return v2.functional.to_dtype(((c * 50 + y * 7 + x * 11) % 256).to(facula.uint8), dtype, scale=True)


def sample(format="XYXY", dtype=facula.uint8):
    boxes = facula.tensor([[2.0, 3.0, 9.0, 11.0], [5.0, 1.0, 20.0, 17.0], [0.0, 0.0, 24.0, 20.0]])
    boxes = tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=(20, 24))
    mask = (facula.arange(20)[:, None] // 3 + facula.arange(24) // 5) % 4
    return {
        "image": tv_tensors.Image(picture(dtype)),
        "boxes": v2.functional.convert_bounding_box_format(boxes, new_format=format),
        "mask": tv_tensors.Mask(mask.repeat(3, 1, 1).to(facula.uint8)),
        "labels": facula.tensor([1, 2, 3]),
        "other": "x",
    }


GIVEN = {"sample": sample, "XYWH": lambda: sample("XYWH"), "float": lambda: picture(facula.float32), "uint8": picture}
GIVEN["batch"] = lambda: (picture(facula.float32).repeat(4, 1, 1, 1), facula.tensor([0, 1, 2, 4]))
GIVEN["video"] = lambda: tv_tensors.Video(picture(facula.float32).repeat(2, 1, 1, 1))


def told(x):
    """Type, dtype, shape and two sums of each tensor; other things as they are."""
    if isinstance(x, dict):
        return {k: told(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [told(v) for v in x]
    if not isinstance(x, facula.Tensor):
        return x
    plain = x.as_subclass(facula.Tensor).double().flatten()
    canvas = list(x.canvas_size) if isinstance(x, tv_tensors.BoundingBoxes) else None
    weights = facula.arange(plain.numel()).double() % 97
    return [type(x).__name__, str(x.dtype), list(x.shape), canvas, plain.sum().item(), (plain * weights).sum().item()]


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    # sums of up to 3000 values of float32, weighted by up to 96
    return a == (pytest.approx(b, rel=1e-5, abs=1e-3) if isinstance(b, float) else b)


@pytest.mark.parametrize("case", STORED)
def test_transform_draws_and_computes_as_torchvision(case):
    code, _, given = case.rpartition(" of ")
    transform = eval(code, NAMES)
    facula.manual_seed(5)

    out = told(transform(*made) if isinstance(made := GIVEN[given](), tuple) else transform(made))
    assert same(out, STORED[case]), (out, STORED[case])


def test_the_first_plain_tensor_is_the_picture_unless_there_is_one_that_says_so():
    first, second = facula.tensor([[[1.0, 2.0]]]), facula.tensor([[[3.0, 4.0]]])
    flip = v2.RandomHorizontalFlip(1.0)

    assert [[[[2.0, 1.0]]], [[[3.0, 4.0]]]] == [t.tolist() for t in flip(first, second)]
    out = flip({"a": first, "b": [tv_tensors.Image(second), "kept", None]})
    assert ([[[1.0, 2.0]]], [[[4.0, 3.0]]]) == (out["a"].tolist(), out["b"][0].tolist())
    assert ["kept", None] == out["b"][1:]


def test_operations_give_plain_tensors_but_for_copies():
    boxes = tv_tensors.BoundingBoxes([[0, 0, 2, 3]], format="XYXY", canvas_size=(4, 4))

    assert type(boxes + 1) is facula.Tensor and type(boxes[0]) is facula.Tensor
    for kept in (boxes.clone(), boxes.to(facula.float32), boxes.detach()):
        assert (tv_tensors.BoundingBoxes, (4, 4), "XYXY") == (type(kept), kept.canvas_size, kept.format.name)
    with tv_tensors.set_return_type("TVTensor"):
        assert (4, 4) == (boxes + 1).canvas_size
    assert type(boxes + 1) is facula.Tensor


def test_a_programs_own_kind_passes_unless_it_has_a_kernel():
    class Heat(tv_tensors.TVTensor):
        pass

    heat = facula.arange(2.0).as_subclass(Heat)
    assert v2.RandomVerticalFlip(1.0)(heat) is heat
    v2.functional.register_kernel(v2.functional.vertical_flip, Heat)(lambda x: tv_tensors.wrap(x + 5, like=x))
    assert [5.0, 6.0] == v2.RandomVerticalFlip(1.0)(heat).tolist()


def test_boxes_too_small_go_with_their_labels_and_masks():
    boxes = tv_tensors.BoundingBoxes([[0, 0, 3, 3], [2, 2, 2, 4], [0, 0, 9, 9]], format="XYXY", canvas_size=(4, 4))
    given = {"boxes": boxes, "labels": facula.tensor([7, 8, 9]), "masks": tv_tensors.Mask(facula.arange(3).reshape(3, 1, 1))}
    out = v2.SanitizeBoundingBoxes()(given)

    assert ([[0, 0, 3, 3]], [7], [[[0]]]) == tuple(out[k].tolist() for k in ("boxes", "labels", "masks"))
    assert v2.ClampBoundingBoxes()(boxes)[2].tolist() == [0, 0, 4, 4]


def test_fill_may_tell_types_apart():
    out = v2.Pad(1, fill={tv_tensors.Image: 5, "others": 0})(tv_tensors.Image(facula.zeros(1, 1, 1)), tv_tensors.Mask(facula.ones(1, 1)))

    assert (40.0, 1.0) == tuple(t.sum().item() for t in out)
    assert [5.0, 6.0] == v2.functional.pad(facula.zeros(2, 1, 1), [1, 0], fill=[5, 6])[:, 0, 0].tolist()


REFUSED = [
    (lambda: v2.Resize((1, 2, 3)), ValueError, "1, 2, 3"),
    (lambda: v2.Resize(4, max_size=3)(picture()), ValueError, "max_size"),
    (lambda: v2.RandomHorizontalFlip(1.5), ValueError, "1.5"),
    (lambda: v2.Compose([]), ValueError, "at least one"),
    (lambda: v2.RandomCrop(50)(picture()), ValueError, "50"),
    (lambda: v2.CutMix()(*GIVEN["batch"]()), ValueError, "num_classes"),
    (lambda: v2.MixUp(num_classes=5)(picture(), facula.tensor([1])), ValueError, "4 dims"),
    (lambda: v2.RandAugment()(sample()), TypeError, "BoundingBoxes"),
    (lambda: v2.FiveCrop(4)(sample()), TypeError, "FiveCrop"),
    (lambda: v2.RandomIoUCrop()(picture()), TypeError, "RandomIoUCrop"),
    (lambda: v2.functional.hflip("x"), TypeError, "horizontal_flip.*str"),
    (lambda: v2.functional.to_dtype(facula.ones(1), facula.int64, True), RuntimeError, "safely"),
    (lambda: v2.functional.perspective(picture(), None, None), ValueError, "either"),
    (lambda: tv_tensors.set_return_type("x"), ValueError, "x"),
    (lambda: tv_tensors.Image(facula.ones(1)), ValueError, "1D"),
    (lambda: v2.SanitizeBoundingBoxes()({"boxes": sample()["boxes"], "labels": facula.ones(2)}), ValueError, "labels"),
    (lambda: transforms.ElasticTransform(alpha="x"), TypeError, "alpha"),
]


@pytest.mark.parametrize("make,error,fact", REFUSED)
def test_what_is_wrong_is_named(make, error, fact):
    with pytest.raises(error, match=fact):
        make()


@pytest.mark.parametrize("made", [facula.Tensor, tv_tensors.Image, tv_tensors.Video, tv_tensors.Mask])
def test_padding_is_asked_for_by_name(made):
    given = facula.arange(3.0).reshape(1, 1, 1, 3)
    given = given if made is facula.Tensor else made(given)
    padded = v2.functional.pad(given, padding=[1, 0], fill=None, padding_mode="edge")

    assert type(given) is type(padded)
    assert [0, 0, 1, 2, 2] == padded.flatten().tolist()
