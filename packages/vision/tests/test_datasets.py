import gzip
import pathlib
import struct

import facula
import pytest
from facula.vision import datasets


def idx(shape, data, kind=0x08):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


def test_digits_are_split_by_digit():
    train, test = datasets.Digits(), datasets.Digits(train=False)

    assert (1433, 364) == (len(train), len(test))
    assert [36, 37, 36, 37, 37, 37, 37, 36, 35, 36] == facula.bincount(test.targets).tolist()
    assert (0, 255) == (train.data.min().item(), train.data.max().item())


def test_digits_are_the_published_ones():
    # The first picture of the collection, a zero, as scikit-learn's documentation prints it.
    first = [[0, 0, 5, 13, 9, 1, 0, 0], [0, 0, 13, 15, 10, 15, 5, 0], [0, 3, 15, 2, 0, 11, 8, 0]]

    picture, label = datasets.Digits(train=False)[0]

    assert 0 == label
    assert first == (picture.astype(float) * 16 / 255).round().astype(int).tolist()[:3]


def test_transforms_are_applied_to_pictures_and_labels():
    picture, label = datasets.Digits(transform=lambda p: p.shape, target_transform=str)[0]

    assert ((8, 8), "0") == (picture, label)


def test_a_data_set_has_its_two_transforms_as_one_of_pairs_and_prints_it():
    digits = datasets.Digits(target_transform=str)
    pair = datasets.vision.StandardTransform(lambda x: x + 1, None)

    assert (3, 4) == pair(2, 4)
    assert isinstance(digits.transforms, datasets.vision.StandardTransform)
    assert datasets.Digits().transforms is None

    class Two:
        def __repr__(self):
            return "Two(\n  a\n)"

    digits = datasets.Digits(transform=Two())
    digits.transform = lambda x: "replaced"

    assert "replaced" == digits[0][0]
    assert "StandardTransform\nTransform: Two(\n             a\n           )" == repr(digits.transforms)
    assert repr(digits).endswith("\n    " + repr(digits.transforms))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    "kind,data,expected",
    [
        (0x08, bytes([1, 255]), [1, 255]),
        (0x09, bytes([1, 255]), [1, -1]),
        (0x0B, struct.pack(">2h", 1, -2), [1, -2]),
        (0x0C, struct.pack(">2i", 1, -70000), [1, -70000]),
        (0x0D, struct.pack(">2f", 0.5, -2), [0.5, -2]),
        (0x0E, struct.pack(">2d", 0.1, -2), [0.1, -2]),
    ],
)
def test_idx_files_of_every_type_are_read(tmp_path, pack, kind, data, expected):
    path = tmp_path / "file"
    path.write_bytes(pack(idx((2,), data, kind)))

    assert expected == datasets.read_idx(path).tolist()


@pytest.mark.parametrize(
    "content,fact",
    [
        (b"", "does not start"),
        (b"PNG picture", "does not start"),
        (idx((2,), b"\1\2")[:6], "ends inside its header"),
        (idx((3,), b"\1\2"), "2 bytes"),
        (idx((1,), b"\1\2"), "it has more"),
        (idx((1 << 31, 1 << 31), b"\1"), "says that its shape is"),
        (gzip.compress(idx((2,), b"\1\2"))[:-9], "damaged"),
    ],
)
def test_a_file_that_is_not_whole_is_named(tmp_path, content, fact):
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(ValueError, match=fact) as caught:
        datasets.read_idx(path)
    assert str(path) in str(caught.value)


def mnist(folder, part="t10k", labels=2):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}-images-idx3-ubyte").write_bytes(idx((2, 2, 2), bytes(range(8))))
    (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx((labels,), bytes(range(labels)))))


@pytest.mark.parametrize("where", [".", "FashionMNIST/raw"])
def test_mnist_files_are_found_in_either_place(tmp_path, where):
    mnist(tmp_path / where)

    ds = datasets.FashionMNIST(tmp_path, train=False)

    assert (2, [[4, 5], [6, 7]], 1) == (len(ds), ds.data[1].tolist(), ds[1][1])
    assert 9 == ds.class_to_idx["Ankle boot"]


def test_missing_mnist_files_are_named_with_where_they_were_looked_for(tmp_path):
    mnist(tmp_path, "train")

    with pytest.raises(RuntimeError) as caught:
        datasets.MNIST(tmp_path, train=False)

    for fact in ("t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte", str(tmp_path), "MNIST/raw", "download=True"):
        assert fact in str(caught.value)


def test_mnist_files_that_do_not_belong_together_are_refused(tmp_path):
    mnist(tmp_path, labels=3)

    with pytest.raises(RuntimeError, match="one data set"):
        datasets.MNIST(tmp_path, train=False)


def test_folders_are_classes(tmp_path):
    for name in ("b/two.txt", "a/one.txt", "a/deep/three.txt", "a/skipped.jpg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.stem)

    ds = datasets.DatasetFolder(tmp_path, loader=lambda path: pathlib.Path(path).read_text(), extensions=(".txt",))

    assert {"a": 0, "b": 1} == ds.class_to_idx
    assert [("one", 0), ("three", 0), ("two", 1)] == [ds[i] for i in range(3)]


def test_a_class_without_files_is_named(tmp_path):
    (tmp_path / "empty").mkdir()

    with pytest.raises(FileNotFoundError, match="empty"):
        datasets.ImageFolder(tmp_path)
    assert 0 == len(datasets.ImageFolder(tmp_path, allow_empty=True))


@pytest.mark.parametrize(
    "make,prefix,kind",
    [
        (lambda root: datasets.KMNIST(root, train=False), "t10k", "ubyte"),
        (lambda root: datasets.EMNIST(root, "letters", train=False), "emnist-letters-test", "ubyte"),
        (lambda root: datasets.QMNIST(root, train=False), "qmnist-test", "int"),
        (lambda root: datasets.QMNIST(root, what="nist"), "xnist", "int"),
    ],
    ids=["KMNIST", "EMNIST", "QMNIST", "nist"],
)
def test_relatives_of_mnist_are_read(tmp_path, make, prefix, kind):
    (tmp_path / f"{prefix}-images-idx3-ubyte").write_bytes(idx((2, 2, 3), bytes(range(12))))
    labels = idx((2,), bytes([7, 9])) if kind == "ubyte" else idx((2, 3), struct.pack(">6i", 7, 1, -2, 9, 3, 4), 0x0C)
    (tmp_path / f"{prefix}-labels-idx{1 if kind == 'ubyte' else 2}-{kind}").write_bytes(labels)

    ds = make(tmp_path)
    picture, label = ds[1]

    assert (2, 9, int) == (len(ds), label, type(label))
    assert [[6, 7, 8], [9, 10, 11]] == picture.tolist()


def test_qmnist_gives_all_it_knows_of_a_digit(tmp_path):
    (tmp_path / "qmnist-test-images-idx3-ubyte").write_bytes(idx((10002, 1, 1), bytes(10002)))
    (tmp_path / "qmnist-test-labels-idx2-int").write_bytes(idx((10002, 2), struct.pack(">20004i", *range(20004)), 0x0C))

    rest = datasets.QMNIST(tmp_path, what="test50k", compat=False)

    assert (2, [20002, 20003]) == (len(rest), rest[1][1].tolist())
    assert 10000 == len(datasets.QMNIST(tmp_path, what="test10k"))
    assert "Split: test50k" in repr(rest)


def test_relatives_of_mnist_refuse_what_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="'capitals' for argument split.*letters"):
        datasets.EMNIST(tmp_path, "capitals")
    with pytest.raises(ValueError, match="'all' for argument what.*test50k"):
        datasets.QMNIST(tmp_path, what="all")
    with pytest.raises(RuntimeError, match="gzip.zip"):
        datasets.EMNIST(tmp_path, "letters", download=True)
    with pytest.raises(RuntimeError, match="xnist-images-idx3-ubyte"):
        datasets.QMNIST(tmp_path, what="nist", download=True)
    assert (47, 62, 27) == tuple(len(datasets.EMNIST.classes_split_dict[n]) for n in ("balanced", "byclass", "letters"))
