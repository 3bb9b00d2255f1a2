import facula
import numpy
import pytest
from facula.vision import transforms as T

RAMP = numpy.arange(12, dtype="uint8").reshape(3, 4)
KINDS = {"array": lambda: RAMP, "tensor": lambda: facula.from_numpy(RAMP)[None]}


def numbers(picture):
    return picture.squeeze(0).tolist() if isinstance(picture, facula.Tensor) else picture.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "transform,expected",
    [
        (T.CenterCrop(2), RAMP[0:2, 1:3]),
        (T.CenterCrop((5, 4)), numpy.pad(RAMP, ((1, 1), (0, 0)))),
        (T.Pad(1, fill=7), numpy.pad(RAMP, 1, constant_values=7)),
        (T.Pad((1, 0), padding_mode="reflect"), numpy.pad(RAMP, ((0, 0), (1, 1)), "reflect")),
        (T.Pad((0, 1, 2, 0)), numpy.pad(RAMP, ((1, 0), (0, 2)))),
        (T.Pad((2, 1), padding_mode="symmetric"), numpy.pad(RAMP, ((1, 1), (2, 2)), "symmetric")),
        (T.Pad((5, 1), padding_mode="edge"), numpy.pad(RAMP, ((1, 1), (5, 5)), "edge")),
        (T.Pad((-1, 1, 0, -1), padding_mode="edge"), numpy.pad(RAMP[:2, 1:], ((1, 0), (0, 0)), "edge")),
        (T.Pad((-1, 1, 0, -1), fill=3), numpy.pad(RAMP[:2, 1:], ((1, 0), (0, 0)), constant_values=3)),
        (T.RandomHorizontalFlip(1.0), RAMP[:, ::-1]),
        (T.RandomVerticalFlip(1.0), RAMP[::-1]),
        (T.RandomHorizontalFlip(0.0), RAMP),
        (T.RandomCrop((3, 4)), RAMP),
        (T.RandomApply([T.CenterCrop(1)], p=1.1), RAMP[1:2, 2:3]),
        (T.Resize((3, 4)), RAMP),
    ],
    ids=str,
)
def test_transform_gives_the_same_for_every_kind_of_picture(kind, transform, expected):
    assert expected.tolist() == numbers(transform(KINDS[kind]()))


@pytest.mark.parametrize("kind", KINDS)
def test_crops_beyond_the_edge_are_zero(kind):
    assert [[0, 0], [0, 0], [0, 4]] == numbers(T.functional.crop(KINDS[kind](), -1, -1, 3, 2))


@pytest.mark.parametrize(
    "mode,taken",
    [("constant", [1, 1, 1]), ("edge", [3, 1, 2]), ("reflect", [1, 3, 1]), ("symmetric", [2, 2, 2])],
)
def test_the_gradient_of_padding_counts_how_often_a_pixel_is_taken(mode, taken):
    picture = facula.zeros(1, 1, 3, requires_grad=True)
    T.functional.pad(picture, [2, 0, 1, 0] if mode != "reflect" else [1, 0, 1, 0], padding_mode=mode).sum().backward()

    assert taken == picture.grad.flatten().tolist()


def test_to_tensor_scales_uint8_and_keeps_floats():
    scaled = T.ToTensor()(numpy.full((2, 2, 3), 255, "uint8"))
    kept = T.ToTensor()(numpy.full((2, 2), 2.5, "float32"))

    assert ((3, 2, 2), facula.float32, 1.0) == (tuple(scaled.shape), scaled.dtype, scaled.max().item())
    assert ((1, 2, 2), 2.5) == (tuple(kept.shape), kept.max().item())


def test_normalize_shifts_and_scales_each_channel():
    out = T.Normalize((1.0, 2.0), (2.0, 4.0))(facula.full((2, 1, 1), 4.0))

    assert [[[1.5]], [[0.5]]] == out.tolist()


@pytest.mark.parametrize("size,expected", [(2, (2, 2)), ((5, 3), (5, 3)), ([2], (2, 2))])
def test_resize_keeps_the_ratio_for_one_number(size, expected):
    assert expected == T.Resize(size)(RAMP).shape


def test_resize_averages_when_it_shrinks():
    out = T.Resize((1, 1))(numpy.array([[0, 10], [20, 30]], "uint8"))

    assert [[15]] == out.tolist()


CONVERTED = [
    ([0, 255], facula.uint8, facula.float32, [0.0, 1.0]),
    ([0.0, 0.5, 1.0], facula.float32, facula.uint8, [0, 127, 255]),
    ([0, 255], facula.uint8, facula.int32, [0, 255 << 23]),
    ([0, 255 << 23], facula.int32, facula.uint8, [0, 255]),
]


@pytest.mark.parametrize("values,source,target,expected", CONVERTED, ids=str)
def test_dtypes_are_converted_with_their_range(values, source, target, expected):
    assert expected == T.ConvertImageDtype(target)(facula.tensor(values, dtype=source)).tolist()


def test_grayscale_is_luma():
    rgb = facula.tensor([100.0, 200.0, 50.0]).reshape(3, 1, 1)

    assert pytest.approx(152.99) == T.Grayscale()(rgb).item()
    assert (3, 1, 1) == tuple(T.Grayscale(3)(rgb).shape)


def test_random_crop_draws_top_then_left():
    facula.manual_seed(0)
    picture = numpy.arange(100).reshape(10, 10)
    cropped = T.RandomCrop(4)(picture)

    facula.manual_seed(0)
    top, left = (facula.randint(0, 7, size=(1,)).item() for _ in range(2))
    assert picture[top : top + 4, left : left + 4].tolist() == cropped.tolist()


def test_random_resized_crop_and_erasing_keep_the_size_asked_for():
    picture = facula.ones(3, 12, 12)

    assert (3, 6, 5) == tuple(T.RandomResizedCrop((6, 5))(picture).shape)
    for value in (0, "random", (1.0, 2.0, 3.0)):
        erased = T.RandomErasing(p=1.0, value=value)(picture)
        assert picture.shape == erased.shape
        assert 1.0 == picture.min().item()


REFUSED = [
    (lambda: T.ToTensor()(facula.zeros(1, 2, 2)), TypeError, "Tensor"),
    (lambda: T.ToTensor()("picture"), TypeError, "str"),
    (lambda: T.ToTensor()(numpy.zeros(3)), ValueError, r"\(3,\)"),
    (lambda: T.Normalize((0,), (0,))(facula.zeros(1, 2, 2)), ValueError, "zero"),
    (lambda: T.Normalize((0,), (1,))(RAMP), TypeError, "ndarray"),
    (lambda: T.Normalize((0,), (1,))(facula.zeros(1, 2, 2, dtype=facula.uint8)), TypeError, "uint8"),
    (lambda: T.RandomCrop(5)(RAMP), ValueError, r"\(3, 4\)"),
    (lambda: T.Pad((1, 2, 3))(RAMP), ValueError, r"\(1, 2, 3\)"),
    (lambda: T.Pad(4, padding_mode="reflect")(KINDS["tensor"]()), RuntimeError, "4, 4.*2 at most"),
    (lambda: T.Pad(4, padding_mode="symmetric")(KINDS["tensor"]()), IndexError, "4, 4.*3 at most"),
    (lambda: T.Lambda(3), TypeError, "int"),
    (lambda: T.RandomErasing(value="any"), ValueError, "any"),
]


@pytest.mark.parametrize("make,error,fact", REFUSED)
def test_what_is_wrong_is_named(make, error, fact):
    with pytest.raises(error, match=fact):
        make()


def test_transforms_show_their_arguments():
    shown = repr(T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))]))

    assert "Compose(\n    ToTensor()\n    Normalize(mean=(0.5,), std=(0.5,))\n)" == shown
